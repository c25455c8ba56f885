"""HTML of an untrusted Anki field as plain Markdown: bold, lists, tables, code and formulas stay, all else is inert
text.

Nothing of the markup is passed on: what is written here is built from a few known elements, and every character
of text is escaped. Pictures and sounds become embeds of files that the caller has named.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vault.model.markdown import escape
from vault.text.formatting import clean, normal

Embed = Callable[[str], str]  # the name of a medium, as the field says it -> Markdown
_DEEPEST = 16
_ELEMENT = re.compile(  # both ways end at the next `<`, so that however many are never closed, none is read twice
    r"<(?P<end>/?)(?P<tag>[A-Za-z!?][A-Za-z0-9]*)"
    r"(?:(?P<quoted>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)|(?P<bare>[^<>]*))>"
)
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")
_RAW = frozenset(("script", "style", "textarea", "title"))  # what they hold is no markup
_RAW_END = re.compile(r"</(?:script|style|textarea|title)\b[^<>]*>", re.IGNORECASE)
_NEVER_NESTED = frozenset("li td th tr p dt dd option".split())
_DEAD = frozenset("script style head title iframe object embed noscript template svg math textarea select".split())
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_BLOCKS = frozenset(
    "address article aside center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header"
    " main nav p section summary".split()
)
_APART = frozenset(("p", "blockquote", "pre", "table", "ul", "ol"))  # a blank line before and after
_STRONG, _EMPHASIS, _STRUCK = ("b", "strong"), ("i", "em", "cite", "dfn"), ("s", "del", "strike")
_MARKS = {**dict.fromkeys(_STRONG, "**"), **dict.fromkeys(_EMPHASIS, "*"), **dict.fromkeys(_STRUCK, "~~")}
_SOUND = re.compile(r"\[sound:([^\]\n]{1,300})\]")
_FORMULA = re.compile(  # none holds its own beginning, so that many which never end are not each read to the end
    r"\\\((?P<a>(?:(?!\\\().)+?)\\\)|\\\[(?P<b>(?:(?!\\\[).)+?)\\\]|\[\$\](?P<c>(?:(?!\[\$\]).)+?)\[/\$\]"
    r"|\[\$\$\](?P<d>(?:(?!\[\$\$\]).)+?)\[/\$\$\]|\[latex\](?P<e>(?:(?!\[latex\]).)+?)\[/latex\]",
    re.DOTALL | re.IGNORECASE,
)
_OURS = re.compile("[\ue000-\ue003]")  # what stands for pieces laid aside, here and with the caller
_STYLE_DIRECTION = re.compile(r"\bdirection\s*:\s*(rtl|ltr)\b", re.IGNORECASE)
_CARD_RTL = re.compile(r"\.card\b[^{}]{0,200}\{[^{}]*\bdirection\s*:\s*rtl\b", re.IGNORECASE)
# Marks that turn the direction of text; as the direction of letters is known without them, they are left out.
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_KEPT = re.compile("\ue000(\\d{1,6})\ue001")
_SMALL = re.compile(r"[\w+\-−,. ]{1,24}")


@dataclass(slots=True)
class _Node:
    """An element, or (with `tag` "") the text `words`."""

    tag: str
    words: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    below: list[_Node] = field(default_factory=list)


class _Tree:
    """Builds the elements; a wrong closing tag is ignored, what is nested too deep stays flat.

    Not by Python's parser of HTML, which needs minutes for a field of `<a <a <a ...`: this one looks at each character
    a fixed number of times.
    """

    def __init__(self, source: str) -> None:
        self.top = _Node("top")
        self._open = [self.top]
        at = 0
        while at < len(source):
            at = self._parse_at(source, at)

    def _parse_at(self, source: str, at: int) -> int:
        """Parse the text or tag at `at`; return where the next one begins."""
        if source[at] != "<":
            end = source.find("<", at)
            end = len(source) if end < 0 else end
            self._words(html.unescape(source[at:end]))
            return end
        if source.startswith("<!--", at):
            end = source.find("-->", at)
            return len(source) if end < 0 else end + 3
        found = _ELEMENT.match(source, at)
        if found is None:
            self._words("<")
            return at + 1
        tag = found["tag"].lower()
        if found["end"]:
            self._close(tag)
        elif found["tag"][0] not in "!?":
            self._start(tag, found["quoted"] or found["bare"] or "")
            if tag in _RAW:
                closing = _RAW_END.search(source, found.end())
                self._close(tag)
                return closing.end() if closing is not None else len(source)
        return found.end()

    def _words(self, words: str) -> None:
        """Add text."""
        self._open[-1].below.append(_Node("", words))

    def _start(self, tag: str, attributes: str) -> None:
        """Add an opening tag."""
        given = {m[1].lower(): html.unescape(m[2] or m[3] or m[4] or "") for m in _ATTRIBUTE.finditer(attributes)}
        if self._open[-1].tag == tag and tag in _NEVER_NESTED:
            self._open.pop()
        node = _Node(tag, attributes=given)
        self._open[-1].below.append(node)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(node)

    def _close(self, tag: str) -> None:
        """Close the element of a tag."""
        for depth in range(len(self._open) - 1, 0, -1):
            if self._open[depth].tag == tag:
                del self._open[depth:]
                return


def markdown(source: str, embed: Embed) -> str:
    """Return `source` (HTML) as inert Markdown without blank ends; `embed` gives the Markdown of media by name."""
    text = _OURS.sub("", clean(_undirected(source)))
    kept: list[str] = []
    text = _SOUND.sub(lambda m: _placeholder(kept, embed(html.unescape(m[1]).strip())), _formulas(text, kept))
    if "<" not in text and "&" not in text:
        return _tidy(_Writer(embed, kept).plain(re.sub(r"\s+", " ", text).strip()))
    return _tidy(_Writer(embed, kept).inside(_Tree(text).top))


def _undirected(text: str) -> str:
    """Return the text without marks of direction."""
    return _DIRECTION.sub("", text)


def is_rtl(source: str, *, style: str = "") -> bool:
    """Return whether more letters of `source` (HTML) are in elements that run from right to left than in others.

    `style` is the style sheet of the card, which may turn it as a whole.
    """
    if "rtl" not in source.lower() and "rtl" not in style.lower():
        return False
    counts = {True: 0, False: 0}
    nodes = [(_Tree(source).top, _CARD_RTL.search(style) is not None)]
    while nodes:
        node, rtl = nodes.pop()
        rtl = _direction(node, rtl=rtl)
        counts[rtl] += sum(map(str.isalnum, node.words))
        nodes += [(below, rtl) for below in node.below if below.tag not in _DEAD]
    return counts[True] > counts[False]


def _direction(node: _Node, *, rtl: bool) -> bool:
    """Return whether an element in one of the direction `rtl` runs from right to left."""
    said = _STYLE_DIRECTION.search(node.attributes.get("style", ""))
    word = said[1] if said else node.attributes.get("dir", "")
    return word.strip().lower() == "rtl" if word.strip().lower() in ("rtl", "ltr") else rtl


def _placeholder(kept: list[str], piece: str) -> str:
    """Store a piece and return the character that holds its place."""
    kept.append(piece)
    return f"\ue000{len(kept) - 1}\ue001"


def _formulas(text: str, kept: list[str]) -> str:
    """Return `text` with its formulas replaced by placeholders: they may hold what looks like markup, and tags."""

    def found(m: re.Match[str]) -> str:
        kind = m.lastgroup or "a"
        made = formula(m[kind], display=kind in "bd", latex=kind == "e")
        return m[0] if made is None else _placeholder(kept, made)

    return _FORMULA.sub(found, text) if "\\" in text or "[" in text else text


def formula(source: str, *, display: bool, latex: bool = False) -> str | None:
    """Return a formula between dollars; None where it would not stay one, and is better seen as text."""
    words = re.sub(r"<br\s*/?>|</?(?:div|p)\b[^>]*>", " ", source, flags=re.IGNORECASE)
    words = html.unescape(re.sub(r"</?[A-Za-z][^>]*>", "", words)).replace("\xa0", " ")
    words = re.sub(r"\s+", " ", normal(_undirected(words))).strip()
    if latex:
        whole = re.fullmatch(
            r"\$\$(.+)\$\$|\\\[(.+)\\\]|\$(.+)\$|\\begin\{(?:displaymath|math)\}(.+)\\end\{.+\}", words
        )
        display = words.startswith(("$$", "\\[", "\\begin{d"))
        words = next(filter(None, whole.groups())).strip() if whole else ""
    made = f"$${words}$$" if display else f"${words}$"
    return made if words and escape(made) == made else None


@dataclass(slots=True)
class _Writer:
    """Writes elements as Markdown."""

    embed: Embed
    kept: list[str]

    def inside(self, node: _Node) -> str:
        """Return the Markdown of what an element holds."""
        return "".join(self._pieces(node))

    def _pieces(self, node: _Node) -> Iterator[str]:
        """Yield the Markdown of each part of an element."""
        words: list[str] = []
        for piece, is_text in self._tokens(node):
            if is_text:
                words.append(piece)
                continue
            yield self._words(words)
            words = []
            yield piece
        yield self._words(words)

    def _tokens(self, node: _Node) -> Iterator[tuple[str, bool]]:
        """Yield (piece, whether it is bare text): text on both sides of an element without meaning is one text."""
        for below in node.below:
            if not below.tag:
                yield below.words, True
            elif below.tag in _DEAD:
                continue
            elif (made := self._element(below)) is not None:
                yield made, False
            else:
                yield from self._tokens(below)

    def _words(self, words: list[str]) -> str:
        """Return bare texts as one."""
        return self.plain(re.sub(r"[ \t\r\n\f\xa0]+", " ", "".join(words))) if words else ""

    def plain(self, text: str) -> str:
        """Return bare text, every character of it shown as it is, with placeholders filled."""
        out = []
        for n, piece in enumerate(_KEPT.split(normal(_undirected(text)))):
            if n % 2:
                out.append(self.kept[int(piece)] if int(piece) < len(self.kept) else "")
            else:
                out.append("".join(f"\\{p}" if p in ("$", "`") else escape(p) for p in re.split(r"([$`])", piece)))
        return "".join(out)

    def _element(self, node: _Node) -> str | None:
        """Return the Markdown of an element; None for one that means nothing."""
        tag = node.tag
        if tag in _MARKS:
            return marked(self.inside(node), _MARKS[tag])
        if tag == "br":
            return "\n"
        if tag == "hr":
            return "" if node.attributes.get("id") == "answer" else "\n\n---\n\n"
        if tag == "img":
            source = node.attributes.get("src", "").strip()
            return self.embed(source) if source else ""
        if tag in ("sub", "sup"):
            return self._small(node, "_" if tag == "sub" else "^")
        if tag == "rt":
            return f"({self.inside(node).strip()})"
        if tag in ("rp", "wbr"):
            return ""
        if tag == "a":
            return self._link(node)
        return self._block(node)

    def _block(self, node: _Node) -> str | None:
        """Return the Markdown of a block element; None for others."""
        tag = node.tag
        if tag in ("code", "tt", "kbd", "samp"):
            return _code(self._raw(node))
        if tag == "pre":
            return _fence(self._raw(node))
        if tag in ("ul", "ol"):
            return f"\n\n{self._listed(node)}\n\n"
        if tag == "table":
            return f"\n\n{self._table(node)}\n\n"
        if tag == "blockquote":
            quoted = _tidy(self.inside(node)).split("\n")
            return "\n\n" + "\n".join(f"> {line}".rstrip() for line in quoted) + "\n\n"
        if tag in _BLOCKS or tag in ("li", "tr"):
            gap = "\n\n" if tag in _APART else "\n"
            return gap + self.inside(node).strip(" ") + gap
        return " " + self.inside(node) + " " if tag in ("td", "th") else None

    def _small(self, node: _Node, mark: str) -> str:
        """Return the Markdown of a subscript or superscript."""
        words = self._raw(node).strip()
        if _SMALL.fullmatch(words) and (made := formula(f"{mark}{{{words}}}", display=False)) is not None:
            return made
        return self.plain(f"{mark}(") + self.inside(node) + self.plain(")")

    def _link(self, node: _Node) -> str | None:
        """Return the text of a link and its address in words, as an untrusted link must not be followed by accident."""
        target = node.attributes.get("href", "").strip()
        words = self.inside(node)
        if re.match(r"https?://", target) and len(target) <= 500 and target not in self._raw(node):
            return words + self.plain(f" ({target})")
        return words

    def _raw(self, node: _Node) -> str:
        """Return the text of an element and of all below it, with line breaks and without Markdown."""
        if not node.tag:
            return _KEPT.sub(lambda m: self.kept[int(m[1])] if int(m[1]) < len(self.kept) else "", node.words)
        if node.tag == "br":
            return "\n"
        inner = "".join(self._raw(below) for below in node.below if below.tag not in _DEAD)
        return f"{inner}\n" if node.tag in ("div", "p") else inner

    def _listed(self, node: _Node) -> str:
        """Return the Markdown of a list."""
        lines = []
        items = [below for below in node.below if below.tag in ("li", "ul", "ol")]
        for number, item in enumerate(items, 1):
            mark = f"{number}. " if node.tag == "ol" else "- "
            words = _tidy(self.inside(item)) if item.tag == "li" else self._listed(item)
            words = re.sub(r"\n{2,}", "\n", words) if "```" not in words else words
            lines.append(mark + words.replace("\n", "\n" + " " * len(mark)))
        return "\n".join(lines)

    def _table(self, node: _Node) -> str:
        """Return the Markdown of a table."""
        rows = [[self._cell(c) for c in row.below if c.tag in ("td", "th")] for row in _rows(node)]
        rows = [row for row in rows if row]
        if not rows:
            return self.inside(_Node("div", below=[n for n in node.below if n.tag not in ("table",)]))
        width = max(map(len, rows))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])

    def _cell(self, node: _Node) -> str:
        """Return the Markdown of a cell."""
        return re.sub(r"\s*\n\s*", " ", _tidy(self.inside(node)))


def _rows(node: _Node) -> Iterator[_Node]:
    """Yield the rows of a table."""
    for below in node.below:
        if below.tag == "tr":
            yield below
        elif below.tag in ("tbody", "thead", "tfoot"):
            yield from _rows(below)


def marked(words: str, mark: str) -> str:
    """Return `words` between two marks, blanks at its ends outside; unmarked where the marks would not work."""
    inner = words.strip()
    if not inner or "\n" in inner or inner.startswith("*") or inner.endswith("*") or mark in inner:
        return words
    before, after = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{before}{mark}{inner}{mark}{after}"


def _code(raw: str) -> str:
    """Return inline code."""
    words = clean(_undirected(raw)).strip("\n")
    if "\n" in words:
        return _fence(words)
    made = f"`{words}`"
    return made if words.strip() and escape(made) == made else _Writer(lambda _: "", []).plain(words)


def _fence(raw: str) -> str:
    """Return a fenced block of code."""
    words = clean(_undirected(raw)).replace("<%", "< %").strip("\n").rstrip()
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", words)), default=0))
    return f"\n\n{ticks}\n{words}\n{ticks}\n\n" if words.strip() else ""


def _tidy(text: str) -> str:
    """Return the text without blank ends of lines and with at most one blank line, except in code."""
    out: list[str] = []
    fence = ""
    for line in text.split("\n"):
        shown = line.rstrip() if fence else re.sub(r"^ (?! )", "", line.rstrip())
        if (found := re.match(r"\s*(`{3,})$", shown)) is not None:
            fence = "" if fence == found[1] else fence or found[1]
        if shown or fence or (out and out[-1]):
            out.append(shown)
    text = "\n".join(out).strip("\n")
    return re.sub(r"\A(?:---\n+)+|(?:\n+---)+\Z", "", text).strip("\n")
