"""Whether a text of an agent's does anything but be read: in an article or a card nothing may, in a report little.

In articles and cards all that could act is refused, whatever a plugin makes of it; what is left is words, emphasis,
lists, tables, wikilinks, plain code and plain math. In doubt about what Markdown would make of a mark, it acts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from compiler.agent_addresses import Fault as Fault
from compiler.agent_addresses import hidden_address, plain_words
from compiler.agent_markdown import parsed_fault
from vault.clean import normal
from vault.conflict import sides
from vault.exhibit import LANGUAGES, UNNAMED

MAX_LINE = 20_000  # characters; beyond, reading itself becomes slow
MAX_CARD_LINE = 4_000
MAX_BLOCKS = 100_000  # paragraphs of a report
_RUN = re.compile(r"[ \t]{100}|[#>|`~$*_\[\](){}<-]{500}")

# Links only: what `![[` draws in is for `_ACTS` and `_OUTPUT_ACTS` to see.
_NEXT = re.compile(r"\\[!-/:-@\[-`{-~]|`+|\$|(?<!!)\[\[(?:[^\[\]\n`<>$\\]|\\\|)*\]\]")
_MATH = re.compile(r"\$\$[^$`\n]+\$\$|\$(?![\s$])(?:[^$`\n]*[^\s$`\\])?\$(?!\d)")
_QUERY = re.compile(r"\s*(?:\$?=|(?:dv|dvjs|INPUT|VIEW|BUTTON|QUERY)\b|!|\{)")
_TEX_ACTS = re.compile(r"\\(?:href|url|style|class|cssId|html\w*|require|def|newcommand|let|unicode|includegraphics)\b")
_MARKUP = re.compile(r"<[A-Za-z/!?%]|\]\(|!\[")
_ACTS = (  # what is looked for in words, less escapes, wikilinks, code and math; and what it is
    (re.compile(r"<%|%>"), "a template that a plugin would run (<%)"),
    (re.compile(r"<!--|-->"), "a comment"),
    (re.compile(r"<[A-Za-z/!?]"), "HTML, or an address in < >"),
    (re.compile(r"%%"), "a hidden comment (%%)"),
    (re.compile(r"\{\{|\}\}|\{%"), "a template ({{)"),
    (re.compile(r"!\["), "a picture or page drawn in from elsewhere"),
    (re.compile(r"\]\(|\]\[|^ {0,3}\[[^\]\n]*\]:|\[\^"), "a link that is no wikilink"),
    (re.compile(r"\[\[|\]\]"), "a broken wikilink"),
    (re.compile(r"[`$]"), "code or math that is not closed, or a fence without a plain language"),
    (re.compile(r"^[ \t>]*~{3,}"), "a fence without a plain language"),
    (re.compile(r"::(?:\s|$)|[\[(][\w -]+::"), "a field that a plugin reads (::)"),
    (re.compile(r"(?i)\b(?!https?:)[a-z][a-z0-9+.-]*://"), "an address that a program would open"),
    (
        re.compile(r"(?i)\b(?:javascript|vbscript|data|file|obsidian|shell|mailto|tel|sms):(?=\S)"),
        "an address that acts",
    ),
    (re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\s*$"), "a block id"),
    (re.compile(r"(?<![\w&/#])#(?=[^\W\d_])"), "a tag"),
)
_TAG = re.compile(r"<(?!https?://[^<>\s]*>|mailto:[^<>\s]*>)[A-Za-z/!?]", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_BRACKET_IN = re.compile(r"%%[^%\n]*[\[\]][^%\n]*%%")
_HTML_COMMENT = re.compile(r"<!--(?!>)(?!\s*card\b)[^<>%-]*-->")
_PLAIN_FENCES = frozenset(
    {*LANGUAGES, UNNAMED, "text", "txt", "plain", "plaintext", "md", "markdown", "quote", "mermaid"}
)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*)$")
_ODD_FENCE = re.compile(
    r"[ \t>*+.)\d-]*(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*)$"
)  # in a list, a quote, indented


def unreadable(text: str, longest: int = MAX_LINE) -> Fault | None:
    """What keeps a text from being judged at all: hidden or control characters, conflict markers, endless lines."""
    if sides(text) is not None:
        return 1, "conflict markers"
    plain = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    for number, line in enumerate(plain.split("\n"), 1):
        if normal(line) != line:
            return number, "hidden or control characters"
        if len(line) > longest:
            return number, f"a line of more than {longest} characters"
        if _RUN.search(line):
            return number, "an endless run of spaces or marks"
    return None


def acting(lines: Sequence[tuple[int, str]]) -> Fault | None:
    """The first thing in these (number, line) that is more than words; None if nothing is."""
    for number, line in lines:
        words, inside = _parted(line)
        fault = _fault_inside(inside) or next((why for mark, why in _ACTS if mark.search(words)), "")
        if not fault:
            address = hidden_address(plain_words(_parted(line, escapes=True)[0]))
            fault = address[1] if address is not None else ""
        if fault:
            return number, fault
    return None


def _parted(text: str, *, escapes: bool = False) -> tuple[str, list[str]]:
    """(`text` with spaces for its escapes, wikilinks, code and math; each span of code or math, with its marks).

    With `escapes`, these stay as they are.

    Read from left to right, as Markdown is: what stands in code escapes nothing, and an escaped mark opens nothing.
    """
    runs: dict[int, list[int]] = defaultdict(list)  # length of a run of backticks -> where such runs begin
    for run in re.finditer("`+", text):
        runs[len(run[0])].append(run.start())
    out: list[str] = []
    inside: list[str] = []
    at = 0
    while found := _NEXT.search(text, at):
        out.append(text[at : found.start()])
        at = found.end()
        if found[0][0] in "`$":
            end = _code_end(runs, found) if found[0][0] == "`" else _math_end(text, found.start())
            if not end:
                out.append(found[0])  # a mark without its fellow
                continue
            inside.append(text[found.start() : end])
            at = end
        kept = escapes and found[0][0] == "\\"
        out.append(found[0] if kept else re.sub(r"[^\n]", " ", text[found.start() : at]))
    out.append(text[at:])
    return "".join(out), inside


def _code_end(runs: dict[int, list[int]], opening: re.Match[str]) -> int:
    """Where the code that a run of backticks opens ends; 0 if nothing closes it."""
    length = len(opening[0])
    closing = runs[length]
    index = bisect_left(closing, opening.end())
    return closing[index] + length if index < len(closing) else 0


def _math_end(text: str, start: int) -> int:
    found = _MATH.match(text, start)
    return found.end() if found else 0


def _fault_inside(spans: Sequence[str]) -> str:
    """Why code or math among the spans does more than show; "" if none does."""
    for span in spans:
        if span.startswith("`") and (_QUERY.match(span.strip("`")) or "<%" in span):
            return "code that a plugin would run"
        if span.startswith("$") and (_TEX_ACTS.search(span) or _MARKUP.search(span)):
            return "math that acts"
    return ""


def acting_in_output(text: str, path: str = "output/x.md") -> Fault | None:
    """The first thing in a report or in slides that Obsidian or a plugin would act on; None if nothing is.

    Comments, links to the web, links to files and pictures of the vault are allowed. The text is looked at twice: as
    words, in which nothing may look like an address that acts, whatever a reader of Markdown makes of the marks round
    it; and as a parser reads it.
    """
    if (control := _CONTROL.search(text)) is not None:
        return text.count("\n", 0, control.start()) + 1, "control characters"
    return _acting_words(text) or parsed_fault(text, _PLAIN_FENCES, path.count("/"))


def _acting_words(text: str) -> Fault | None:
    """What acts in a text's words, each paragraph by itself."""
    hidden = {"%%": False, "$$": False}  # whether a comment or a formula is open that goes over paragraphs
    for count, (first, lines, info) in enumerate(_blocks(text)):
        if count > MAX_BLOCKS:
            return first, f"more than {MAX_BLOCKS} paragraphs"
        if info and info.split()[0].strip("{}").casefold() not in _PLAIN_FENCES:
            return first, f"a fence in the language {info.split()[0][:40]}, which a plugin may run"
        block = "\n".join(lines)
        if (at := block.find("<%")) >= 0:
            return first + block.count("\n", 0, at), "a template that a plugin would run (<%)"
        if info is not None:
            if any(hidden.values()):
                return first, "a fence in a comment or in a formula: others see its end elsewhere"
            continue
        bare = _HTML_COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), block)
        words, inside = _parted(bare)
        for mark in hidden:
            hidden[mark] ^= words.count(mark) % 2 == 1
        if fault := _fault_inside(inside) or _fault_across(words, inside, hidden["$$"]):
            return first, fault
        # Where math or a comment is open, others may see no code where we do.
        loose = "$" in words or "%%" in words or any(hidden.values())
        shown = plain_words(bare if loose else _parted(bare, escapes=True)[0])
        for pattern, why in ((_TAG, "HTML"), (_TEMPLATE, "a template ({{)")):
            if (found := pattern.search(words)) is not None:
                return first + words.count("\n", 0, found.start()), why
        if (address := hidden_address(shown)) is not None:
            return first + shown.count("\n", 0, address[0]), address[1]
        if "![[" in block and (embed := re.search(r"!\[\[[ \t\n]{0,9}[A-Za-z][A-Za-z0-9+.-]{0,60}:", block)):
            return first + block.count("\n", 0, embed.start()), "a page drawn in from elsewhere"
    return None


def _fault_across(words: str, inside: Sequence[str], in_formula: bool) -> str:
    """Why words act in which a comment or a formula may begin or end elsewhere than we think; "" if they don't."""
    if ("$" in words or in_formula) and _TEX_ACTS.search(words):
        return "math that acts"
    brackets = any(span[0] == "$" and ("[" in span or "]" in span) for span in inside) or _BRACKET_IN.search(words)
    if brackets and re.search(r"!\[(?!\[)", words):
        return "a picture beside a comment or a formula with brackets: others see its address elsewhere"
    return ""


def _blocks(text: str) -> Iterator[tuple[int, list[str], str | None]]:
    """(first line, its lines, None) of each paragraph; of each fence, its info in the place of None.

    Only a fence that begins its line is one for sure. Of any other its language is looked at, and what it holds is
    taken for words.
    """
    fence, first, info = "", 1, ""
    held: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        found = _FENCE.match(line)
        if fence:
            held.append(line)
            if found is not None and found["fence"].startswith(fence) and not found["info"].strip():
                yield first, held, info
                fence, held, first = "", [], number + 1
            continue
        odd = _ODD_FENCE.match(line) if found is None else None
        if odd is not None and odd["info"].strip():
            yield number, [], odd["info"].strip()
        if found is None and line.strip():
            held.append(line)
            continue
        if held:
            yield first, held, None
        held, first = [], number + 1
        if found is not None:
            fence, info, first, held = found["fence"], found["info"].strip(), number, [line]
    if held:
        yield first, held, info if fence else None
