"""What an agent leaves in output/: nothing of it acts when it is shown or clicked, however its address is hidden."""

from __future__ import annotations

import re
import time
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compiler.agents.addresses import address_fault
from compiler.agents.inert import MAX_TEXT, file_fault
from tests.batteries import examples

NEW = "//new?file=insights/mine&content=x&overwrite=true"
PIXEL = "https://evil.example/p.png"

HOSTILE_MD = {
    "a scheme with a reference": f"[src](obsidian&colon;{NEW})",
    "a number for a letter": "[o](&#111;bsidian:new?x)",
    "a hexadecimal number": "[o](&#x6F;bsidian&#x3a;new?x)",
    "an escaped colon": "[o](obsidian\\://new?x)",
    "an escaped slash": "[o](obsidian:\\/\\/new?x)",
    "a definition": "[o]\n\n[o]: obsidian&colon;//new?x",
    "a definition that nothing uses": "words\n\n[o]: <obsidian&#58;//new?x>",
    "a definition in a quote": "> [o]: obsidian&colon;//new?x\n\nSee [o].",
    "a definition in a list": "- [o]: vscode&colon;//file/x\n\nSee [o].",
    "a definition over lines": "[o]:\nobsidian&colon;//new?x\n\nSee [o].",
    "percent": "[o](%6fbsidian:new?x)",
    "percent for the colon": "[o](obsidian%3A//new?x)",
    "percent twice": "[o](obsidian%253A//new?x)",
    "percent in references": "[o](obsidian&#37;3A//new?x)",
    "upper case": "[o](OBSIDIAN&colon;//new?x)",
    "mixed case": "[o](oBsIdIaN&#58;new?x)",
    "a tab inside": "[o](obsi&Tab;dian:new?x)",
    "a line inside": "[o](java&NewLine;script:alert)",
    "a control character inside": "[o](&#1;javascript:alert)",
    "a soft hyphen inside": "[o](obsi\u00addian&colon;//new?x)",
    "angle brackets and spaces": "[o](< obsidian&colon;//new?file=a b >)",
    "a host without a scheme": "[o](//evil.example/x)",
    "backslashes for a host": "[o](\\\\\\\\evil.example\\\\x)",
    "javascript": "[o](javascript&colon;alert(1))",
    "data": "[o](data&colon;text/html,x)",
    "a file of the machine": "[o](file&colon;///etc/passwd)",
    "a drive": "[o](c:/windows/x)",
    "any other program": "[o](ms-msdt:/id)",
    "a telephone": "[o](tel:+49123)",
    "out of the vault": "[o](../../../../etc/passwd)",
    "out of the vault by percent": "[o](..%2f..%2f..%2f..%2fetc/passwd)",
    "an absolute path": "[o](/etc/passwd)",
    "a program in the vault": "[o](../../raw/setup.exe)",
    "an autolink": f"<obsidian:{NEW}>",
    "a bare address": f"Look at obsidian:{NEW} now.",
    "a bare address in references": f"Look at obsidian&colon;{NEW} now.",
    "a bare scheme": "Look at vscode:extension/x now.",
    "a table": "| a | b |\n|---|---|\n| x | [o](obsidian&colon;//new?x) |",
    "a callout": "> [!note] [o](obsidian&colon;//new?x)",
    "a callout in a quote in a list": "- > > [!tip]- T\n  > > [o](obsidian&colon;//new?x)",
    "a footnote": "Words[^1].\n\n[^1]: [o](obsidian&colon;//new?x)",
    "a footnote that is an address": "Words[^1].\n\n[^1]: obsidian&colon;//new?x",
    "an inline footnote": "Words^[see [o](obsidian&colon;//new?x)].",
    "a heading": "# [o](obsidian&colon;//new?x)",
    "beside a comment": "<!-- a --> [o](obsidian&colon;//new?x)",
    "behind a comment": "words <!-- a --> [o](obsidian&colon;//new?x)",
    "emphasis": "**[*o*](obsidian&colon;//new?x)**",
    "a picture in a link": "[![a](a.png)](obsidian&colon;//new?x)",
    "code that is none": "# a `b\n[o](obsidian&colon;//new?x)` c",
    "HTML that looks like code": "# a `b\n<script>x</script>` c",
    "math for a bracket": "[a $]$ b](obsidian&colon;//new?x)",
    "math for a backtick": "$`$ [o](obsidian&colon;//new?x) $`$",
    "a comment for a bracket": "[a %%](https://ok.org) %%](obsidian&colon;//new?x)",
    "a comment over a fence": "%%\n```text\n%%\n[o](obsidian&colon;//new?x)\n```",
    "a formula over a fence": "$$\n\n```text\n\n$$\n\n[o](obsidian&colon;//new?x)\n\n```",
    "a formula over lines": "$$\n\\href{obsidian:new}{x}\n$$",
    "indented code": "words\n\n    [o](obsidian&colon;//new?x)",
    "a fence in a list": "- ```\n  [o](obsidian&colon;//new?x)\n  ```",
    "a fence whose language is hidden": "```&#100;ataviewjs\nx\n```",
    "dataview": "```dataviewjs\napp.vault.delete(x)\n```",
    "a template": "<%* tp.file.delete() %>",
    "a wikilink": f"[[obsidian:{NEW}|words]]",
    "a wikilink in references": "[[obsidian&colon;//new?x]]",
    "a wikilink that leads out": "[[../../../../etc/passwd]]",
    "an embed": f"![[{PIXEL}]]",
    "a picture": f"![p]({PIXEL})",
    "a picture in references": "![p](https&colon;//evil.example/x.png)",
    "a picture by a definition": f"![p][q]\n\n[q]: {PIXEL}",
    "a picture by its own words": f"![q]\n\n[q]: {PIXEL}",
    "a picture without a scheme": "![p](//evil.example/x.png)",
    "a picture with backslashes": "![p](\\\\\\\\evil.example\\\\x.png)",
    "a picture of data": "![p](data:image/svg+xml;base64,AA)",
    "a picture in a table": f"| a |\n|---|\n| ![p]({PIXEL}) |",
    "a picture in a picture": f"![a ![b]({PIXEL}) c](x.png)",
    "a picture beside math": f"![a $]$]({PIXEL})",
    "a property": '---\nurl: "obsidian\\x3a//new?x"\n---\n\nwords',
    "a property in Markdown": '---\nsee: "[o](obsidian&colon;//new?x)"\n---\n\nwords',
    "a property with a scheme": "---\nsee: vscode:extension/x\n---\n\nwords",
    "a remote background": f"---\nmarp: true\nbackgroundImage: url('{PIXEL}')\n---\n\nwords",
    "a remote theme": "---\ntheme: https://evil.example/x.css\n---\n\nwords",
    "a style that fetches": "---\nstyle: |\n  section { background: u\\72l(x) }\n---\n\nwords",
    "a picture in a footer": f"---\nfooter: '![x]({PIXEL})'\n---\n\nwords",
    "a directive of slides": f"<!-- _backgroundImage: url({PIXEL}) -->\n\n# A",
    "a slide's background": f'<!-- .slide: data-background="{PIXEL}" -->\n\n# A',
    "a diagram that is clicked": '```mermaid\ngraph TD\nA --> B\nclick A "obsidian://new?x"\n```',
    "a diagram with a picture": f'```mermaid\ngraph TD\nA["<img src={PIXEL}>"]\n```',
    "HTML": '<a href="obsidian:new">x</a>',
    "Markdown in HTML": "<div>\n\n[o](obsidian&colon;//new?x)\n\n</div>",
    "a carriage return": "```text\r[o](obsidian&colon;//new?x)\r```",
    "quotes beyond all measure": ">" * 70 + " [o](obsidian&colon;//new?x)",
}  # fmt: skip
HARMLESS = {
    "r01.md": "# R\n\nSee [x](https://x.org/a?b=c#d), <https://x.org>, http://x.org and `<b>`.\n",
    "r02.md": "[mail](mailto:a@example.org), [page](../../wiki/concepts/recall.md), [here](#a-heading)\n",
    "r03.md": "```python\nopen('obsidian://new?x')\n```\n\n```html\n<a href='javascript:x'>x</a>\n```\n",
    "r04.md": "Such an address, `[x](obsidian&colon;//new)`, is refused; ``a `javascript:x` b`` too.\n",
    "r05.md": "![a figure](../figures/f.png)\n\n![b][f]\n\n[f]: ../figures/g%20h.svg 'A figure'\n",
    "r06.md": "| a | b |\n|---|--:|\n| [x](https://x.org) | $x < y$ |\n| [[wiki/concepts/recall\\|recall]] | 2 |\n",
    "r07.md": "Einstein: $E = mc^2$ and\n\n$$\n\\sum_{i=1}^n x_i\n$$\n\nThen `code`.\n",
    "r08.md": "Recall helps. [[wiki/summaries/testing#^c-ckwfecvb08|1]]\n\n- [[wiki/concepts/recall|Recall: a page]]\n",
    "r09.md": "---\nmarp: true\ntheme: gaia\nheader: 'Recall: what it does'\n---\n\n# A\n\n---\n\n# B\n",
    "r10.md": "---\ntitle: Recall\nsource: https://example.org/a\ntags: [a, b/c]\ndate: 2026-11-22 10:30\n---\n\n# R\n",
    "r11.md": "<!-- a note -->\n\n# R\n\n![[wiki/assets/x.png|300]]\n\n![[wiki/concepts/recall#How it works]]\n",
    "r12.md": "```mermaid\ngraph TD\n  A[Recall] -->|helps| B(Memory)\n  B --> C{Is it: so?}\n```\n",
    "r13.md": "Words[^1] and more[^b].\n\n[^1]: Roediger 2006, https://doi.org/10.1/x\n[^b]: doi:10.1000/182\n",
    "r14.md": "> [!note] Note: this\n> A callout with [a link](https://x.org).\n",
    "r15.md": "Ratio 3:1, at 10:30, note: e.g. a:b, C++ and std::vector, key=value, 50 %, costs $5 or $6.\n",
    "r16.md": "1. one\n   - two\n     - three with `code`\n\n     ```text\n     plain\n     ```\n"
    "2. **bold** _it_ ~~no~~ ==mark==\n",
    "r17.md": "- [ ] a task\n- [x] one that is done [x](https://x.org)\n",
    "r18.md": "A [link to a heading](recall.md#a:b), [with (parens)](https://en.wikipedia.org/wiki/A_(b)).\n",
    "r19.md": "Umlaute: [Überblick](../%C3%9Cberblick.md), 中文：[页](页.md), émigré\n",
    "r20.md": "[a]: https://x.org 'x'\n\nSee [a], and [b][a].\n",
    "r21.md": "Hidden %%a comment%% words, and an \\* escaped \\[bracket\\].\n",
    "r22.md": "---\n\n# A slide\n\nwords\n\n---\n\n# Another\n",
    "r23.md": "[a long address](https://x.org/search?q=%E4%B8%AD%2Fa&redirect=https%3A%2F%2Fy.org&colon;=1)\n",
    "r24.md": "<!-- paginate: false -->\n\n# A\n\n<!-- speaker: say that it helps; see https://x.org -->\n",
    "r25.markdown": "Figure 1: a\n:   b\n\n***\n\nSetext\n======\n\n    indented code: x = y[0]\n",
    "r26.md": "- a list\n\n  ```python\n  print({'a': 1}[k])\n  ```\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_MD)
@pytest.mark.parametrize("above", ["", "# R\n\nWords.\n\n"])
def test_no_markdown_leads_to_a_program_or_fetches(name: str, above: str) -> None:
    text = HOSTILE_MD[name]
    above = "" if text.startswith("---") else above
    fault = file_fault("output/reports/r.md", f"{above}{text}\n".encode())
    assert fault is not None and fault[1], name
    assert above.count("\n") < fault[0] <= (above + text).count("\n") + 1 or "too long" in fault[1], fault


@pytest.mark.parametrize("suffix", ["html", "htm", "xhtml", "svg", "xml", "HTML", "svgz", "mht"])
def test_no_page_of_the_web_and_no_drawing_stays(suffix: str) -> None:
    assert file_fault(f"output/reports/p.{suffix}", b"<p>words</p>") is not None


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_shows_stays(name: str) -> None:
    assert file_fault(f"output/reports/{name}", HARMLESS[name].encode()) is None


def test_the_line_is_named() -> None:
    text = "# R\n\nwords\nwords\n[o](obsidian&colon;x) words\n"
    assert (file_fault("output/r.md", text.encode()) or (0, ""))[0] == 5
    assert (file_fault("output/r.md", b"a\n\n| a |\n|---|\n| b |\n| ![x](https://x/y) |\n") or (0, ""))[0] == 6


# --- hidden at random, and judged by what the parser makes of it -----------------------------------------------------

_HOSTILE = st.sampled_from(
    ["obsidian://new?f=x", "javascript:alert(1)", "vscode://x/y", "file:///etc", "foo:bar", "//evil/x"]
)
_HARMLESS = st.sampled_from(
    ["https://x.org/a", "mailto:a@b.org", "../../wiki/a.md", "a.md", "#a", "http://x.org/?q=a:b"]
)
_PLAIN_WAYS = ("as it is", "decimal", "hexadecimal", "escaped")
_WAYS = (*_PLAIN_WAYS, "case", "tab", "percent")
_NAMED = {":": "&colon;", "/": "&sol;", "?": "&quest;", "#": "&num;", ".": "&period;"}
_PLACES = (
    "[x]({})", "[x](<{}>)", "> - [x]({} 'title')", "| a |\n|---|\n| [x]({}) |", "[x]\n\n[x]: {}", "# a **[x]({})**",
    "[x][y]\n\n> [y]: <{}>", "<!-- a -->\n[x]({})", "- a\n  1. [![a](b.png)]({})", "> [!note]\n> words [x]({}) words",
)  # fmt: skip


@st.composite
def _written(draw: st.DrawFn, addresses: st.SearchStrategy[str], ways: tuple[str, ...]) -> str:
    out = []
    for letter in draw(addresses):
        way = draw(st.sampled_from(ways))
        if way == "decimal":
            letter = f"&#{'0' * draw(st.integers(0, 3))}{ord(letter)};"
        elif way == "hexadecimal":
            letter = draw(st.sampled_from([f"&#x{ord(letter):x};", f"&#X{ord(letter):X};", _NAMED.get(letter, letter)]))
        elif way == "escaped" and not letter.isalnum():
            letter = f"\\{letter}"
        elif way == "case":
            letter = letter.swapcase()
        elif way == "percent":
            letter = f"%{ord(letter):02x}"
        elif way == "tab":
            letter = f"{draw(st.sampled_from(['&Tab;', '&NewLine;', '&#1;', '&ZeroWidthSpace;', '']))}{letter}"
        out.append(letter)
    return "".join(out)


def _leads(text: str) -> list[str]:
    """All addresses that links of the page have, as they are rendered: this is not our own parser."""
    md = MarkdownIt("commonmark").enable("table")
    md.validateLink = lambda url: True  # type: ignore[method-assign]
    html = MarkdownIt.render(md, text)
    found = re.findall(r'href="([^"]*)"', html)
    return [
        re.sub("[\x00-\x20\u200b\ufffd]", "", unquote(unquote(f))).replace("&amp;", "&").replace("\\", "/")
        for f in found
    ]


@settings(max_examples=examples(400), deadline=None)
@given(address=_written(_HOSTILE, _WAYS), place=st.sampled_from(_PLACES))
def test_however_it_is_written_what_leads_to_a_program_is_refused(address: str, place: str) -> None:
    text = place.format(address) + "\n"
    for lead in _leads(text):
        if not re.match(r"(?i)https?://|mailto:|[^:/]*(?:[/?#]|$)", lead) or lead.startswith("//"):
            assert file_fault("output/reports/r.md", text.encode()) is not None, (text, lead)


@settings(max_examples=examples(200), deadline=None)
@given(address=_written(_HARMLESS, _PLAIN_WAYS), place=st.sampled_from(_PLACES))
def test_however_it_is_written_what_leads_to_the_web_or_the_vault_stays(address: str, place: str) -> None:
    text = place.format(address) + "\n"
    if _leads(text) and "<{" not in place:
        assert file_fault("output/reports/r.md", text.encode()) is None, text


# --- what takes long ------------------------------------------------------------------------------------------------

LONG = [
    "[", "![", "](", "[](", "[a](", "[a][", "> ", "- ", "`", "`` ` ", "*", "_a", "**a ", "<", "<a ", "<!--", "&", "\\",
    "$", "$`", "%%", "|", "[[", "![[", "[a]: x\n", "[a\n", "a.", "a:", ":// ", "](%25", "]: a", "]:a&b:", "&amp;" * 9,
    "\t", " ", "```\n", "``` ", "- a\n", "|a|b\n", "a\n\n", "1. ", "a\n> b\n", "<https://a>", "[^1]: a\n", "{{", "#",
    "=", "---\n", "x" * 70, "../",
]  # fmt: skip


def _judged(text: str) -> float:
    """Seconds of the processor."""
    began = time.process_time()
    file_fault("output/r.md", text.encode())
    return time.process_time() - began


@pytest.mark.torture
@pytest.mark.parametrize("mark", LONG)
def test_no_marks_keep_the_gate_for_long(mark: str) -> None:
    assert _judged(mark * ((MAX_TEXT >> 4) // len(mark))) < 30


@pytest.mark.torture
@pytest.mark.parametrize("mark", ["[", "a:\n\n", "[a]: x\n", "&"])
def test_no_page_of_the_largest_size_keeps_the_gate_for_long(mark: str) -> None:
    assert _judged(mark * (MAX_TEXT // len(mark))) < 60


def test_the_rules_themselves() -> None:
    assert (
        address_fault("https://x.org") == address_fault("", picture=True) == address_fault("a/../b.md", depth=0) == ""
    )
    assert address_fault("../a.md", depth=1) == "" and address_fault("../a.md", depth=0)
    assert address_fault("%25" * 2_000) and address_fault("&amp;" * 9_000) and address_fault("%2525252525253a")
