"""Whether a file that an agent left does anything but be read: links that run something, HTML, templates, pictures
from elsewhere, plugin code. A file with any of it is not mended: it goes to quarantine."""

from __future__ import annotations

import html
import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.agents.addresses import address_fault, hidden_address
from compiler.agents.canvas import canvas_fault
from vault.model.exhibit import LANGUAGES, UNNAMED
from vault.model.frontmatter import body_of, read_properties
from vault.text.diff import sides
from vault.text.formatting import clean_line, normal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Fault = tuple[int, str]  # 1-based line (0: the whole file), why

MAX_TEXT = 2 << 20  # bytes of a page that is looked into
MAX_LINE = 20_000  # characters; reading itself becomes slow beyond
MAX_SECONDS = 12.0  # of the processor, for parsing one page
MAX_WORK = 100_000_000  # sum of the squares of the marks in each paragraph: the parser's worst case is quadratic
MAX_NESTING = 60
MAX_AGAIN = 3  # levels of code in code that are read as words

_PAGES = frozenset({"md", "markdown"})
_TABLES = frozenset({"csv", "tsv"})
_CANVAS = "canvas"
_OTHER = frozenset(
    "txt json jsonl yaml yml toml tex bib rst org log py r jl ipynb png jpg jpeg gif webp pdf pptx docx xlsx odt odp"
    " ods mp3 mp4 wav webm epub apkg dot mmd puml".split()
)
_WEB = frozenset({"html", "htm", "svg", "xhtml", "xml"})
_FORMULA = re.compile(r"\s*[\"']?\s*(?:=|@|[+-](?![\d.,]+%?[\"']?$))")
_PLAIN_FENCES = frozenset(
    {*LANGUAGES, UNNAMED, "text", "txt", "plain", "plaintext", "md", "markdown", "quote", "mermaid"}
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_RUN = re.compile(r"[ \t]{100}|[#>|`~$*_\[\](){}<-]{500}")
_SPECIAL = re.compile(r"[\[\]!*_`<]")
_COMMENT = re.compile(r"<!--(?!>)[^<>]*?-->\s*")
_TAG = re.compile(r"<(?!https?://)[A-Za-z/!?]")
_TEX_ACTS = re.compile(r"\\(?:href|url|style|class|cssId|html\w*|require|def|newcommand|let|unicode|includegraphics)\b")
_HIDING = re.compile(r"%%.*?%%|\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)  # Obsidian's comments and math
_MARKS = re.compile(r"[`$]|%%|~{3,}")
_QUERY = re.compile(r"\s*(?:\$?=|(?:dv|dvjs|INPUT|VIEW|BUTTON|QUERY)\b|!|\{)")  # code that plugins run
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{0,2000})\]\]")
_MERMAID_ACTS = re.compile(
    r"(?im)^\s*(?:click|links?|callback)\b|;\s*(?:click|links?|callback)\b|\bhref\b|%%\s*\{|\bimg\s*:|\$(?:link|sprite)"
    r"|^\s*(?:config|init)\s*:|themeCSS|<(?!br\s*/?>)[a-z/!?]|://|@import|\burl\s*\(|(?:java|vb)script:|\]\("
)
_FETCHES = re.compile(  # properties by which slides and plugins fetch pictures, styles and scripts
    r"(?i)theme|css|style|script|\bhead\b|include|plugin|image|img|banner|cover|background|parallax|logo|icon|thumb|avatar"
    r"|picture|photo|video|audio|\bbg\b|highlight|dependenc|remote"
)
_FETCHED = re.compile(r"(?i)https?:|//|\\|[(@]")
_DIRECTIVE = re.compile(
    r"(?i)[\w-]*(?:theme|css|style|image|background|bg|video|audio|iframe|logo|src|url)[\w-]*\s*[:=(]"
)
_ACTS_IN_PROPERTY = re.compile(
    r"(?i)\]\(|!\[|<[a-z/!?]|\{\{|(?<![a-z0-9+.-])(?!https?:|mailto:|doi:|urn:|isbn:|issn:|arxiv:)[a-z][a-z0-9+.-]*:[^\s:]"
)
_REFERENCE = re.compile(r"(?i)(?:doi|urn|isbn|issn|arxiv|pmid|pmcid|hdl|ark):[^\s/]")
_SHOWN = {"softbreak": "\n", "hardbreak": "\n", "code_inline": " ", "image": " "}


class _TooMuch(Exception):
    """The parser would need too long."""


def file_fault(path: str, data: bytes | None) -> Fault | None:
    """Return why a file can't stay in `output/`; None if it can. `data` is None for one too large to be looked into."""
    suffix = path.rpartition(".")[2].casefold() if "." in path.rsplit("/", 1)[-1] else ""
    if suffix in _OTHER:
        return None
    if suffix in _WEB:
        return 0, "HTML, SVG and XML can run code when they are opened: write Markdown, save figures as PNG"
    if suffix not in _PAGES | _TABLES | {_CANVAS}:
        return 0, f"an unsupported file type: {clean_line(suffix)[:20] or 'no file extension'}"
    text, fault = text_of(data)
    if fault is not None:
        return fault
    if suffix == _CANVAS:
        why = canvas_fault(text, lambda words: markdown_fault(words, "x.md"))  # its links begin at the vault's root
        return (0, why) if why else None
    return _formula(text, suffix) if suffix in _TABLES else markdown_fault(text, path)


def text_of(data: bytes | None) -> tuple[str, Fault | None]:
    """Return the text of a page, with ends of lines as \\n; or why there is none."""
    if data is None or len(data) > MAX_TEXT:
        return "", (0, f"a page of more than {MAX_TEXT >> 20} MiB")
    try:
        return data.decode().replace("\r\n", "\n"), None
    except UnicodeDecodeError:
        return "", (0, "not UTF-8")


def _formula(text: str, suffix: str) -> Fault | None:
    """Return the first cell that a spreadsheet would compute."""
    separators = "[,;]" if suffix == "csv" else "[\t;]"
    for number, line in enumerate(text.split("\n"), 1):
        if any(_FORMULA.match(cell) for cell in re.split(separators, line.rstrip("\r"))):
            return number, "a cell that a spreadsheet would read as a formula"
    return None


def unreadable(text: str) -> Fault | None:
    """Return what keeps an article from being read: hidden characters, conflict markers, endless lines; else None."""
    if sides(text) is not None:
        return 1, "conflict markers"
    for number, line in enumerate(unicodedata.normalize("NFC", text).split("\n"), 1):
        if normal(line) != line:
            return number, "hidden or control characters"
        if len(line) > MAX_LINE or _RUN.search(line):
            return number, f"a line of more than {MAX_LINE} characters, or a very long run of spaces or punctuation"
    return None


def markdown_fault(text: str, path: str = "output/x.md") -> Fault | None:
    """Return the first thing in a page that Obsidian or a plugin would act on; None if nothing is.

    Allowed are comments, links to the web and to files of the vault, and pictures of the vault. Where the text holds
    math or comments of Obsidian's, which the parser doesn't know, it is read again without them, and without any mark
    of code: what one reader takes for code or math may be a link to another.
    """
    for pattern, why in (
        (_CONTROL, "control characters"),
        (re.compile("<%"), "a template that a plugin would run (<%)"),
    ):
        if (match := pattern.search(text)) is not None:
            return text.count("\n", 0, match.start()) + 1, why
    reader = _Reader(path.count("/"))
    body = body_of(text)
    above = text.count("\n", 0, len(text) - len(body))
    try:
        found = _front_fault(text) or next(reader.faults(body, above), None)
        if found is None and reader.ambiguous:
            if (math := _TEX_ACTS.search(body)) is not None:
                return above + body.count("\n", 0, math.start()) + 1, "math with active content"
            views = (_HIDING.sub(_newlines, body), re.sub(r"(?m)^[ \t]+", "", _MARKS.sub(" ", body)))
            found = next((fault for view in views for fault in reader.faults(view, above)), None)
    except (_TooMuch, RecursionError):
        return 0, "a page that takes too long to check: too much markup, or nested too deeply"
    return found


class _Reader:
    """Reads Markdown as a parser does. `ambiguous` says whether math or comments stood among the words."""

    def __init__(self, depth: int) -> None:
        self.depth, self.until, self.ambiguous = depth, time.thread_time() + MAX_SECONDS, False

    def faults(self, text: str, above: int, again: int = 0) -> Iterator[Fault]:
        """Yield what acts in a piece of Markdown that has so many lines above it."""
        env: dict[str, Any] = {"until": self.until}
        commented = False
        for token, line in _walk(_parser().parse(text, env)):
            commented = commented or token.type in ("html_block", "html_inline")
            yield from self._token(token, above + line, again)
        references: dict[str, Any] = env.get("references", {})
        for label, given in [*references.items(), *((r["label"], r) for r in env.get("duplicate_refs", []))]:
            href = str(given["href"])
            is_footnote = label.startswith("^") and _REFERENCE.match(href)
            if not is_footnote and (why := address_fault(href, depth=self.depth)):
                yield above + given["map"][0] + 1, f"a link with active content: {why}"
        if commented:  # what stands beside a comment is no Markdown to this parser; to others it is
            yield from self._again(_COMMENT.sub(_newlines, text), above, again)

    def _again(self, text: str, above: int, again: int) -> Iterator[Fault]:
        if again >= MAX_AGAIN:
            raise _TooMuch
        yield from self.faults(text, above, again + 1)

    def _token(self, token: Token, line: int, again: int) -> Iterator[Fault]:
        if token.level >= MAX_NESTING - 1:
            raise _TooMuch
        match token.type:
            case "inline":
                yield from self._words(token, line)
            case "link_open":
                if why := address_fault(str(token.attrGet("href") or ""), depth=self.depth):
                    yield line, f"a link with active content: {why}"
            case "image":
                if why := address_fault(str(token.attrGet("src") or ""), picture=True, depth=self.depth):
                    yield line, f"an external picture: {why}"
            case "html_block" | "html_inline":
                yield from self._html(token.content, line)
            case "code_inline":
                if _QUERY.match(token.content):
                    yield line, "code that a plugin would run"
            case "fence":
                yield from self._fence(token, line, again)
            case "code_block":  # others may take what is indented for words
                yield from self._again(token.content, line - 1, again)

    def _words(self, token: Token, line: int) -> Iterator[Fault]:
        words = "".join(_SHOWN.get(child.type, child.content) for child in token.children or ())
        self.ambiguous = self.ambiguous or "$" in words or "%%" in words
        for link in _WIKILINK.finditer(words):
            target = link[2].split("|", 1)[0].removesuffix("\\")
            if why := address_fault(target, picture=bool(link[1]), depth=self.depth):
                what = "an embedded external page" if link[1] else "a link with active content"
                yield line + words.count("\n", 0, link.start()), f"{what}: {why}"
        if (address := hidden_address(words, self.depth)) is not None:
            yield line + words.count("\n", 0, address[0]), address[1]
        if (template := words.find("{{")) >= 0:
            yield line + words.count("\n", 0, template), "a template ({{)"

    def _fence(self, token: Token, line: int, again: int) -> Iterator[Fault]:
        language = (token.info.split() or [""])[0].strip("{}").casefold()
        if token.info.strip() and language not in _PLAIN_FENCES:
            yield line, f"a code block in the language {language[:40]}, which a plugin may run"
        if language == "mermaid" and _MERMAID_ACTS.search(html.unescape(token.content)):
            yield line, "a diagram with active content"
        if token.level:  # where the list or the quote ends, others may see it elsewhere
            yield from self._again(token.content, line, again)

    def _html(self, content: str, line: int) -> Iterator[Fault]:
        for comment in _COMMENT.findall(content):
            if (_FETCHED.search(comment) and _DIRECTIVE.search(comment)) or hidden_address(comment, self.depth):
                yield line, "a comment that makes presentation software load something"
        if _TAG.search(_COMMENT.sub("", content)):
            yield line, "HTML"


def _front_fault(text: str) -> Fault | None:
    """Return what acts in the properties: they are shown as links, and slides are made by them."""
    properties = read_properties(text)
    if properties.problems:
        return (properties.problems[0].line, properties.problems[0].message) if ":" in text[: properties.body] else None
    for key, value in _strings(properties.values, ""):
        words = html.unescape(value)
        if (_FETCHES.search(key) and _FETCHED.search(words)) or _ACTS_IN_PROPERTY.search(words):
            return 1, f"a property that runs or fetches something: {clean_line(key)[:40]}"
    return None


def _strings(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield every string of the properties, names too, with the names that lead to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(str(name), key)
            yield from _strings(inner, f"{key} {name}".strip())
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)
    elif isinstance(value, str):
        yield key, value


@cache
def _parser() -> MarkdownIt:
    """Return a parser that takes every address for one, and stops when it has worked too long."""
    from markdown_it import MarkdownIt

    class Open(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return True

        def normalizeLink(self, url: str) -> str:
            return url

    md = Open("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable("table")
    md.core.ruler.before("inline", "bound", _bound)
    md.block.ruler.before("table", "clock", _clock, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.inline.ruler.before("text", "clock", _clock)
    return md


def _bound(state: Any) -> None:
    work = sum(sum(1 for _ in _SPECIAL.finditer(t.content)) ** 2 for t in state.tokens if t.type == "inline")
    if work > MAX_WORK:
        raise _TooMuch


def _clock(state: Any, *_: Any) -> bool:
    if time.thread_time() > state.env["until"]:
        raise _TooMuch
    return False


def _walk(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Yield every token with its line, those inside paragraphs and inside the words of pictures too."""
    at = 1
    for token in tokens:
        if token.map:
            at = token.map[0] + 1
        yield token, at
        line = at
        for child in _inside(token):
            yield child, line
            line += child.type in ("softbreak", "hardbreak")


def _inside(token: Token) -> Iterator[Token]:
    for child in token.children or ():
        yield child
        yield from _inside(child)


def _newlines(match: re.Match[str]) -> str:
    """Return the ends of lines of what is taken out, so that the numbers of the others stay."""
    return "\n" * match[0].count("\n")
