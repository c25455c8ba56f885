"""Whatever the bytes: the readers of notebooks, LaTeX, Org, reStructuredText, code and chats give sound source text or
one clear refusal."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.readers.read import read_source
from tests.batteries import examples
from vault.errors import Unreadable
from vault.text.formatting import normal

NAMES = ["a.ipynb", "a.tex", "a.org", "a.rst", "a.py", "a.js", "a.lua", "a.qmd", "a.mdx", "chat.json"]
SIGNS = {
    "a.tex": [
        "\\section{", "\\emph{", "}", "{", "\\begin{itemize}", "\\item", "[x]", "\\end{itemize}",
        "\\begin{tabular}{c}", "&", "\\\\", "\\end{tabular}", "$", "$$", "\\[", "\\]", "%", "\\cite{k}", "\\ref{k}",
        "\\label{k}", "\\footnote{", "``", "\\newcommand{\\x}[1]{a #1}", "\\x", "\\def\\y{b}", "\\y", "\\verb|a|",
        "\\begin{verbatim}", "\\end{verbatim}", "~", "\\begin{document}", "\\end{document}", "\\title{", "\\caption{",
        "\\includegraphics{a}", '\\"', "\\begin{equation}", "\\end{equation}", "\\begin{thebibliography}{9}",
        "\\bibitem{k}", "\\href{u}{", "\\bf", "\\input{x}", "---", "\\begin{thm}[",
    ],
    "a.org": [
        "* ", "** TODO ", "- ", "+ a :: ", "1. ", "|", "|-", "*", "/", "=", "~", "[[", "][", "]]", "[fn:1]", "[fn::",
        ":a:\n", ":END:\n", "#+begin_src x\n", "#+end_src\n", "#+begin_quote\n", "#+end_quote\n", "#+TITLE: ",
        "#+caption: ", "$", "\\(", "\\)", "\\alpha", ": ", "<2024-01-01>", "[cite:@k]", "\\begin{align}\n",
        "\\end{align}\n", "[[a.png]]", "    ",
    ],
    "a.rst": [
        "===\n", "---\n", "* ", "- ", "1. ", "``", "`", "**", "*", "|", ":role:`x`", ".. note:: ", ".. code:: x\n",
        ".. image:: a\n", "::\n", ">>> ", "[1]_", "a_", "`l <u>`_", "+--+\n", "== ==\n", "    ", "   ", ".. ", ":a: ",
        "\\", ".. figure:: b\n",
    ],
    "a.py": [
        '"""', "'''", "# ", "def f():\n", "class A:\n", "    ", "x = 1\n", "Args:\n", "----\n", '"', "@d\n", ">>> ",
        "`",
    ],
    "a.js": [
        "/*", "*/", "/**", " * ", "// ", "`", '"', "function f(", ") {\n", "}\n", "class A {\n", "@param x",
        "const a = (",
    ],
    "a.lua": [
        "--[[", "]]", "-- ", "[[", "function f()\n", '"',
    ],
    "a.qmd": [
        "```{r}\n", "#| fig-cap: ", "::: {.x}\n", ":::\n", "[@k]", "@k", "@fig-a", "\\@ref(a)", "\\(", "\\)",
        "[a]{.b}", "{{< a >}}",
    ],
    "a.mdx": [
        "import {\n", "} from 'x'\n", "export const a = ", "{", "}", "<A b={", "/>", "</A>", "{a.b}", "    ", "\\\\(",
        "\\\\)",
    ],
}  # fmt: skip
WORDS = [
    "word ",
    "Two words. ",
    "\n",
    "\n\n",
    "é",
    "\u0301",
    "注意力",
    "&amp;",
    "<b hidden>",
    "\u202e",
    "\x07",
    "\t",
    "<script>",
]


def sound(data: bytes, name: str) -> None:
    """The promises that all source text keeps; or a refusal in one line."""
    try:
        source = read_source(data, name)
    except Unreadable as refusal:
        assert refusal.what and "\n" not in str(refusal)
        return
    text = source.text
    assert text.strip() and unicodedata.is_normalized("NFC", text) and normal(text) == text
    assert "\n\n\n" not in text and text == text.strip("\n")
    assert all(0 <= m.start < m.end <= len(text) and text[m.start : m.end].strip() for m in source.marks)
    starts = [p.start for p in source.places]
    assert starts == sorted(set(starts)) and starts[0] == 0 and starts[-1] < len(text)
    assert all(p.label and " · " not in p.label and "\n" not in p.label for p in source.places)
    assert " ".join(text[s.start : s.end] for s in source.segments).split() == text.split()
    assert source.title == " ".join(source.title.split()) and source.title
    assert read_source(data, name) == source, "the same bytes give the same text"


@given(st.binary(max_size=300), st.sampled_from(NAMES))
@settings(max_examples=examples(200))
def test_any_bytes(data: bytes, name: str) -> None:
    sound(data, name)


@given(
    st.text(max_size=200), st.sampled_from(["utf-8", "utf-16", "cp1252", "gb18030", "koi8-r"]), st.sampled_from(NAMES)
)
@settings(max_examples=examples(200))
def test_any_text_in_any_encoding(text: str, encoding: str, name: str) -> None:
    sound(text.encode(encoding, "replace"), name)


@pytest.mark.parametrize("name", list(SIGNS))
@given(data=st.data())
@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
def test_any_mixture_of_a_languages_signs(name: str, data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(SIGNS[name] + WORDS), max_size=50))
    sound("".join(parts).encode(), name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "cells cell_type source outputs output_type data text/plain image/png text name metadata attachments"
                " nbformat chat_messages sender content type mapping current_node message author role parts parent"
                " children title create_time created_at worksheets level input language authors".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@given(JSON, st.sampled_from(["cells", "chat_messages", "mapping", "worksheets"]), st.booleans())
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
def test_any_json_with_the_keys_of_notebooks_and_chats(value: object, key: str, listed: bool) -> None:
    whole: object = {key: value, "nbformat": 4}
    data = json.dumps([whole] if listed else whole).encode()
    sound(data, "a.ipynb")
    sound(data.replace(b'"mapping": {', b'"mapping": {"a": {"id": 1}, ') if key == "mapping" else data, "chat.json")


CELL_KINDS = st.sampled_from(["markdown", "code", "raw", "x"])
CELLS = st.fixed_dictionaries({"cell_type": CELL_KINDS, "source": JSON, "outputs": JSON, "attachments": JSON})


@given(st.lists(CELLS, max_size=4))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
def test_any_cells(cells: list[object]) -> None:
    sound(json.dumps({"cells": cells, "nbformat": 4}).encode(), "a.ipynb")
