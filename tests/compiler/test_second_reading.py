"""Quotes are compared with a second reading of the raw file: what stands there passes, what only seems to does not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from compiler.verification.second_reading import Comparison, answer, readings
from compiler.verification.verify import verify
from tests.builders import copy_vault, vault_with_sources
from tests.commands import retain
from vault.vault import Vault

QUOTE = "A fibre’s limit is the load at which 1.5% of them fail."


def zipped(**parts: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/"), text)
    return packed.getvalue()


def word(*runs: str) -> bytes:
    texts = "".join(f"<w:r><w:t>{run}</w:t></w:r>" for run in runs)
    body = f'<w:document xmlns:w="urn:w"><w:p>{texts}<w:instrText>HYPERLINK</w:instrText></w:p></w:document>'
    return zipped(**{"word__document.xml": body})


def notebook(*cells: str) -> bytes:
    return json.dumps(
        {"cells": [{"cell_type": "markdown", "source": cell.splitlines(True)} for cell in cells]}
    ).encode()


PAGE = "<style>p {}</style><p>A <b>fibre&rsquo;s</b> limit<!-- no --> is the load at which 1.5% of them fail.</p>"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("markdown", b'A **fibre\'s** [limit](a/b.md "x")[^2] is the\nload at which 1\\.5% of <em>them</em> fail.\n'),
        ("markdown", b"A fibre's limit^[Seen in [3].] is the load [@key, p. 2] at which 1.5% of them fail{.x}."),
        ("markdown", b"A fibre's limit is ~~not~~ the load at which 1.5% of ~~all of~~ them fail."),
        ("text", b"A :term:`fibre`'s `limit <https://x.org>`_ [#n]_ is the\nload at which 1.5% of *them* fail."),
        ("org", b"A /fibre/'s [[file:x.org][limit]] is the load[fn:1] at which 1.5% of them fail."),
        ("asciidoc", b"A ((fibre))'s link:x.html[limit] is the load<<a,>> at which 1.5% of __them__ fail."),
        ("latex", rb"A \textit{fibre}'s limit~\cite{x} is the % no" + b"\n" + rb"load at which 1.5\% of them fail."),
        ("latex", rb"\newcommand{\of}[1]{of #1} A fibre's limit is the load at which 1.5\% \of{them} fail."),
        ("html", PAGE.encode()),
        ("epub", zipped(**{"a__one.xhtml": PAGE})),
        ("docx", word("A fib", "re's limit is the load at which 1.5%", " of them fail.")),
        ("pptx", zipped(**{"ppt__slides__slide1.xml": '<a xmlns:a="urn:a"><a:t>' + QUOTE + "</a:t></a>"})),
        ("notebook", notebook("# Fibres", "A *fibre's* limit is\nthe load at which 1.5% of them fail.")),
        ("csv", b'term,meaning\nlimit,"A fibre\'s limit is the load at which 1.5% of them fail."\n'),
        ("code", b"# A fibre's limit is the load\n# at which 1.5% of them fail.\nx = 1\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # an archive's bytes hold the time of day
)
def test_a_quote_is_found_under_the_markup_of_its_format(kind: str, data: bytes) -> None:
    file = Comparison(readings(data, kind))
    assert file.difference(QUOTE) == ""
    for wrong in (QUOTE.replace("load", "road"), QUOTE.replace("1.5", "15"), QUOTE.replace("which ", "")):
        assert "is different in" in file.difference(wrong)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("markdown", "Wool is soft. <!-- {} --> Wool is warm."),
        ("html", "<p>Wool is soft.</p><script>var x = '{}';</script><!-- {} --><p>Wool is warm.</p>"),
        ("text", "Wool is soft.\n\n.. {}\n\nWool is warm.\n"),
        ("latex", "Wool is soft.\n% {}\nWool is warm.\n"),
        ("asciidoc", "Wool is soft.\n\n////\n{}\n////\n\nWool is warm.\n"),
        ("org", "Wool is soft.\n# {}\nWool is warm.\n"),
    ],
)
def test_words_of_a_comment_or_script_are_no_words_of_the_file(kind: str, text: str) -> None:
    file = Comparison(readings(text.replace("{}", QUOTE).encode(), kind))
    assert file.difference(QUOTE)
    assert file.difference("Wool is soft. Wool is warm.") == ""


@pytest.mark.parametrize(
    ("kind", "encoding"), [("text", "koi8_r"), ("markdown", "cp1253"), ("text", "utf-16-le"), ("csv", "utf-32")]
)
def test_text_in_an_old_encoding_is_read_as_it(kind: str, encoding: str) -> None:
    quote = "Η ίνα είναι μαλακή." if encoding == "cp1253" else "Шерсть согревает, когда она сухая."
    file = Comparison(readings(f"{quote}\n".encode(encoding), kind))
    assert file.difference(quote) == ""
    assert file.difference(quote.replace("а", "о").replace("ν", "μ"))


def test_a_notebook_has_comments_as_words_in_its_code_and_in_no_other_cell() -> None:
    words = "Q: Mine? A: Yes. <!-- card {} -->"
    shown = [{"output_type": "stream", "text": [words.format("two")]}]
    cells = [
        {"cell_type": "markdown", "source": words.format("none")},
        {"cell_type": "code", "source": ["# ", words.format("one")], "outputs": shown},
    ]
    file = Comparison(readings(json.dumps({"cells": cells}).encode(), "notebook"))
    assert file.difference(words.format("one")) == file.difference(words.format("two")) == ""
    assert file.difference(words.format("none"))


@pytest.mark.parametrize("kind", ["markdown", "notebook"])
def test_tags_in_a_code_span_are_words_and_those_outside_are_none(kind: str) -> None:
    text = "A <em>list</em> is a `vector<int>` of ``a`<b>~~c~~`` and [`x<y>`](z.md).<!-- `no -->\n"
    file = Comparison(readings(notebook(text) if kind == "notebook" else text.encode(), kind))
    assert file.difference("A list is a vector<int> of a`<b>~~c~~ and x<y>.") == ""
    assert file.difference("A list is a vector of") and file.difference("no")


def test_a_difference_names_the_place_where_the_file_goes_on_otherwise() -> None:
    file = Comparison(["Wool is warm when dry. Linen cools."])
    assert "“Wool is warm”" in file.difference("Wool is warm and wet.")


def test_words_go_on_only_in_the_next_column_or_at_the_top_of_the_next_page() -> None:
    filler = [f"line {n} of the page that goes on and on for a while" for n in range(60)]
    first = ["recall is", "1 a note", "good for me", *filler, "recall is good for me, and", "2 a note", "17"]
    second = ["chapter two", "for you", *filler, "for him"]
    text = "\n".join(first) + "\f" + "\n".join(second) + "\f"
    file = Comparison([text], paged=True)
    for quote in ("recall is good for me", "recall is good for me, and for you"):
        assert file.difference(quote) == "", quote
    for quote in ("for me, and for him", "for me, or for you", "good for you", "for you recall is", "is for you"):
        assert file.difference(quote), quote
    assert Comparison([text]).difference("recall is good for me, and for you")


def test_what_cannot_be_read_a_second_time_is_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, kind, reason in (
        ("a.pdf", "pdf", "pdftotext"),
        ("a.docx", "docx", "cannot read"),
        ("a.x", "x", "no second"),
    ):
        (tmp_path / name).write_bytes(b"?")
        message = {"path": str(tmp_path / name), "sha256": hashlib.sha256(b"?").hexdigest(), "kind": kind}
        assert reason in answer({**message, "quotes": ["a"]})["not_compared"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text", "Wool" + ("\n" + 8 * " ") * 100),
        ("text", "Wool" + 100_000 * " "),
        ("markdown", "Wool" + 100_000 * "<!--"),
        ("markdown", "Wool" + 100_000 * "<s>"),
        ("markdown", "Wool" + 100_000 * "^["),
        ("asciidoc", "Wool" + 100_000 * "((("),
    ],
)
def test_markup_that_never_ends_takes_no_quadratic_time(kind: str, text: str) -> None:
    assert Comparison(readings(text.encode(), kind)).difference("Wool") == ""


def _encrypted() -> bytes:
    """Return a zip archive whose entries are marked as encrypted, in their headers and in the directory."""
    data = bytearray(word(QUOTE))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def _compressed(method: int) -> bytes:
    """Return a zip archive whose entries name another method of compression than the one that made them."""
    data = bytearray(word(QUOTE))
    at = data.index(b"PK\1\2") + 10
    data[8:10] = data[at : at + 2] = method.to_bytes(2, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [("html", b"<![foo[ x"), ("docx", _encrypted()), ("docx", _compressed(99)), ("docx", _compressed(8))],
    ids=["no markup", "encrypted", "unknown compression", "wrong compression"],  # the bytes hold the time
)
def test_a_file_that_the_second_reader_cannot_read_is_a_note(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    message = {"path": str(tmp_path / "a"), "sha256": hashlib.sha256(data).hexdigest(), "kind": kind, "quotes": ["a"]}
    assert "cannot read" in answer(message)["not_compared"]


def test_a_sound_vault_has_no_differences(tmp_path: Path, compiled_once: Path) -> None:
    verdict = verify(copy_vault(compiled_once, tmp_path / "vault"), lambda event: None, compare=True)
    assert verdict.clean and verdict.claims > 5 and verdict.not_compared == []


@pytest.fixture
def defined(tmp_path: Path) -> Vault:
    r"""A vault whose quote is the reader's: the file's \def prints words that its own do not hold."""
    body = "\\section{Wool}\n\\textbf{Wool} is a fibre that is \\both{warm}.\n"
    text = "\\def\\both#1{#1 and #1}\n\\begin{document}\n" + body + "\\end{document}\n"
    vault = vault_with_sources(tmp_path / "vault", {"wool.tex": text})
    assert retain("compile", cwd=vault.root).code == 0
    return vault


def test_verify_names_each_source_that_it_compares_and_each_that_it_cannot(tmp_path: Path) -> None:
    texts = {
        "wool.html": "<p>Wool is a fibre that keeps warm.</p><![foo[ x",
        "silk.md": "Silk is a fibre that is soft.\n",
    }
    vault = vault_with_sources(tmp_path / "vault", texts)
    assert retain("compile", cwd=vault.root).code == 0
    done = retain("verify", "--progress", "jsonl", cwd=vault.root)
    assert (
        "1 source not checked with a second parser:\n  raw/articles/wool.html: the second parser cannot read it"
        in done.stdout
    )
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    compared = [(each["path"], each["of"]) for each in events if each["event"] == "compare"]
    assert compared == [("wiki/summaries/silk.md", 2), ("wiki/summaries/wool.md", 2)] and done.code == 0


def test_verify_lists_quotes_that_the_second_reading_lacks(defined: Vault) -> None:
    done = retain("verify", cwd=defined.root)
    assert done.code == 0
    assert "1 quote not found by the second parser" in done.stdout and "raw/articles/wool.tex, Wool" in done.stdout
    found = retain("verify", "--json", cwd=defined.root).json()
    assert [each["path"] for each in found["differences"]] == ["wiki/summaries/wool.md"] and not found["unverified"]
    assert retain("verify", "--no-compare", cwd=defined.root).code == 0
