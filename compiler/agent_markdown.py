"""Where the links and pictures of an agent's report lead, as a parser of Markdown reads them and not as they look."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.agent_addresses import Fault, address_fault, css_fault, hidden_address, plain_words
from vault.note import body_of, read_properties

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_SECONDS = 12.0  # of the processor, for parsing one page; what takes longer is not judged, and so not kept
MAX_WORK = 100_000_000  # sum of the squares of the marks in each paragraph: the parser's worst case is quadratic
MAX_NESTING = 60
MAX_AGAIN = 3  # code in code that is read once more, as words
_SPECIAL = re.compile(r"[\[\]!*_`<]")
_COMMENT = re.compile(r"<!--(?!>)[^<>]*?-->\s*")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{0,2000})\]\]")
_DRAWS = re.compile(  # properties and directives by which slides and plugins fetch pictures, styles and scripts
    r"(?i)theme|css|style|script|^head$|include|plugin|image|img|banner|cover|background|parallax|logo|icon|thumb|avatar"
    r"|picture|photo|video|audio|^bg$|highlight|dependenc|remote"
)
_ADDRESS = re.compile(r"(?i)https?:|//|\\\\")
_DIRECTIVE = re.compile(
    r"(?i)[\w-]*(?:theme|css|style|image|background|bg|video|audio|iframe|logo|src|url)[\w-]*\s*[:=(]"
)
_MERMAID_ACTS = re.compile(
    r"(?im)^\s*(?:click|links?|callback)\b|;\s*(?:click|links?|callback)\b|\bhref\b|%%\s*\{|\bimg\s*:|\$(?:link|sprite)"
    r"|^\s*(?:config|init)\s*:|themeCSS|<(?!br\s*/?>)[a-z/!?]|://|@import|\burl\s*\(|(?:java|vb)script:|\]\("
)
_PROGRAM = re.compile(r"(?i)\s*(?!https?:|mailto:)[a-z][a-z0-9+.-]*:\S+\s*\Z")
_SHOWN = {"softbreak": "\n", "hardbreak": "\n", "code_inline": " ", "image": " "}
_REFERRING = re.compile(r"(?i)(?:doi|urn|isbn|issn|arxiv|pmid|pmcid|hdl|ark):[^\s/]")


class _TooMuch(Exception):
    """The parser would need too long."""


@cache
def _parser(tags: bool) -> MarkdownIt:
    """A parser that takes every address for one; with `tags`, HTML for HTML."""
    from markdown_it import MarkdownIt

    class Open(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return True

        def normalizeLink(self, url: str) -> str:
            return url

    md = Open("commonmark", {"html": tags, "maxNesting": MAX_NESTING}).enable("table")
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


def parsed_fault(text: str, plain_fences: frozenset[str], depth: int) -> Fault | None:
    """The first link, picture, property or piece of code that may not stand in a report, as the parser sees it."""
    reader = _Reader(plain_fences, depth, time.thread_time() + MAX_SECONDS)
    front = text[: len(text) - len(body_of(text))]
    try:
        faults = [*reader.front(text)] if front else []
        return min(faults, default=None) or next(reader.faults(text[len(front) :], front.count("\n")), None)
    except (_TooMuch, RecursionError):
        return 0, "a page that takes too long to be judged: too many marks, or nested too deeply"


class _Reader:
    def __init__(self, plain_fences: frozenset[str], depth: int, until: float) -> None:
        self.plain_fences, self.depth, self.until = plain_fences, depth, until

    def faults(self, text: str, above: int, again: int = 0) -> Iterator[Fault]:
        """What may not stand in a piece of Markdown that has so many lines above it."""
        commented = False
        env: dict[str, Any] = {"until": self.until}
        for token, line in _walk(_parser(True).parse(text, env)):
            if token.type in ("html_block", "html_inline"):
                yield from self._html(token.content, above + line)
                commented = True
            else:
                yield from self._token(token, above + line, again)
        yield from self._definitions(env, above)
        if commented:  # what stands beside a comment is no Markdown to this parser; to others it is
            env = {"until": self.until}
            for token, line in _walk(_parser(False).parse(_COMMENT.sub(_blank, text), env)):
                yield from self._token(token, above + line, again)
            yield from self._definitions(env, above)

    def _token(self, token: Token, line: int, again: int) -> Iterator[Fault]:
        if token.level >= MAX_NESTING - 1:
            raise _TooMuch
        if token.type == "inline":
            yield from self._wikilinks(token, line)
        elif token.type == "link_open":
            if why := address_fault(str(token.attrGet("href") or ""), depth=self.depth):
                yield line, f"a link that acts: {why}"
        elif token.type == "image":
            if why := address_fault(str(token.attrGet("src") or ""), picture=True, depth=self.depth):
                yield line, f"a picture from elsewhere: {why}"
        elif token.type == "fence":
            yield from self._fence(token, line, again)
        elif token.type == "code_block":  # others may take what is indented for words
            yield from self._words(token.content, line - 1, again)

    def _wikilinks(self, token: Token, line: int) -> Iterator[Fault]:
        words = "".join(_SHOWN.get(child.type, child.content) for child in token.children or ())
        for found in _WIKILINK.finditer(words):
            target = found[2].split("|", 1)[0].removesuffix("\\")
            if why := address_fault(target, picture=bool(found[1]), depth=self.depth):
                what = "a page drawn in from elsewhere" if found[1] else "a link that acts"
                yield line + words.count("\n", 0, found.start()), f"{what}: {why}"

    def _fence(self, token: Token, line: int, again: int) -> Iterator[Fault]:
        language = (token.info.split() or [""])[0].strip("{}").casefold()
        if token.info.strip() and language not in self.plain_fences:
            yield line, f"a fence in the language {language[:40]}, which a plugin may run"
        if language == "mermaid" and (found := _MERMAID_ACTS.search(plain_words(token.content))):
            yield line + token.content.count("\n", 0, found.start()) + 1, "a diagram that acts"
        if token.level:  # where the list or the quote ends, others may see it elsewhere
            yield from self._words(token.content, line, again)

    def _words(self, text: str, above: int, again: int) -> Iterator[Fault]:
        if again >= MAX_AGAIN:
            raise _TooMuch
        yield from self.faults(text, above, again + 1)

    def _html(self, content: str, line: int) -> Iterator[Fault]:
        for comment in _COMMENT.finditer(content):
            words = plain_words(comment[0])
            if (_ADDRESS.search(words) and _DIRECTIVE.search(words)) or hidden_address(words) is not None:
                yield line, "a comment by which a program for slides fetches something"
        if re.search(r"<(?!https?://)[A-Za-z/!?]", _COMMENT.sub("", content)):
            yield line, "HTML"

    def _definitions(self, env: dict[str, Any], above: int) -> Iterator[Fault]:
        """Addresses that are given names, whether a link uses them or not."""
        references: dict[str, Any] = env.get("references", {})
        for label, given in [*references.items(), *((r["label"], r) for r in env.get("duplicate_refs", []))]:
            href = str(given["href"])
            if label.startswith("^") and _REFERRING.match(href):
                continue  # the words of a footnote, to Obsidian
            if why := address_fault(href, depth=self.depth):
                yield above + given["map"][0] + 1, f"a link that acts: {why}"

    def front(self, text: str) -> Iterator[Fault]:
        """What the properties say: they are shown as links, and slides are made by them."""
        properties = read_properties(text)
        first = text.find("\n") + 1
        inner = text[first : len(text.rstrip("\n .-")) + 1]
        yield from self.faults(inner, 1, 1)  # to whom it is no front matter, it is words
        if re.search(r"(?m)^\s*[\w\"'?{-][^:\n]*:", inner):
            yield from ((p.line, p.message) for p in properties.problems)
        for path, value in _strings(properties.values, ()):
            key, words = path[-1] if path else "", plain_words(value)
            line = _line_of(text, path)
            draws = any(_DRAWS.search(part) for part in path)
            if draws and _ADDRESS.search(words):
                yield line, f"a property that fetches something: {key[:40]}"
            elif draws and css_fault(value) and re.search(r"[(@\\]", value):
                yield line, f"a style that fetches something: {key[:40]}"
            elif hidden_address(words) is not None or (_PROGRAM.match(words) and not _REFERRING.match(words)):
                yield line, f"an address that a program would open: {key[:40]}"
            elif re.search(r"<(?!https?://)[A-Za-z/!?]", words) or "{{" in words:
                yield line, f"HTML, or a template: {key[:40]}"
            else:
                yield from ((line, why) for _, why in self.faults(value, 0, 1))


def _walk(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Every token with its line, those inside paragraphs and inside the words of pictures too."""
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


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _strings(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, str(key)), str(key)
            yield from _strings(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, path)
    elif isinstance(value, str):
        yield path, value


def _line_of(text: str, path: tuple[str, ...]) -> int:
    found = re.search(rf"(?m)^[\"']?{re.escape(path[0])}[\"']?[ \t]*:", text) if path else None
    return text.count("\n", 0, found.start()) + 1 if found is not None else 1
