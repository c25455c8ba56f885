"""Kinds of HTML elements (blocks, page furniture, data tables, glossaries), and the parsing of a page."""

from __future__ import annotations

import re
from typing import Any

from vault.errors import Unreadable
from vault.model.source import Mark, MarkKind

SILENT = {
    "script", "style", "template", "noscript", "head", "iframe", "object", "embed", "svg", "canvas", "audio",
    "video", "map", "select", "button", "input", "textarea", "option", "datalist", "progress", "meter", "nav",
    "footer", "dialog", "frameset", "noframes", "applet", "link", "meta", "d-bibliography",
    "dt-bibliography", "d-appendix-placeholder", "annotation-xml",
}  # fmt: skip
BLOCKS = {
    "p", "div", "section", "article", "main", "header", "aside", "figure", "figcaption", "blockquote", "ul", "ol",
    "li", "dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "pre", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "address", "details", "summary", "fieldset", "legend", "center", "body", "html",
    "form", "hgroup", "dt-article", "d-article", "d-title", "d-abstract", "d-byline", "d-appendix",
    "d-footnote-list", "x-note", "x-example",
}  # fmt: skip
EMPHASIS = {"em", "i", "strong", "b", "mark", "dfn"}
NOTES = {"d-footnote", "dt-fn", "x-note"}
_END_OF_PAGE = re.compile(r"</(?:body|html)(\s*)>", re.IGNORECASE)  # what follows is shown too, and lost by the parser
MAX_ATTRIBUTES = 10_000  # of one element: the parser compares each with all before it
# Possessive throughout, so that each character is looked at once; an attribute is never missed, whatever its quotes.
_VALUE = r"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_ATTRIBUTE = re.compile(rf"[\s/]*+[^\s>/][^\s=>/]*+{_VALUE}")
_TAG = re.compile(rf"<[A-Za-z][^\s>/]*+(?:{_ATTRIBUTE.pattern})*+")
_PERMALINK = re.compile(r"\b(?:anchor|headerlink|permalink|header-anchor|heading-link)\b")
_BACK = re.compile(r"[\W_]*[↩^][\W_]*|back")
EXPLAINS = re.compile(  # the head of a column that explains another
    r"\b(?:definition|description|meaning|explanation|what it (?:is|does|means)|bedeutung|beschreibung|erklärung"
    r"|signification|descripción|significado)\b|定义|描述|说明|含义|意味|説明",
    re.IGNORECASE,
)
TABLE_MAX_CELL = 600  # characters; a table with longer cells lays out a page, it holds no data
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)[-:\s]\s*([\w+#.-]{1,30})", re.I)
_SOURCE_CODE = re.compile(r"(?:^|\s)sourceCode\s+([\w+#-]{1,30})")
_NO_LANGUAGE = {"none", "plain", "plaintext", "text", "txt", "default", "nohighlight", "source", "notranslate"}


def code_language(pre: Any) -> str:
    """Return the language of a code block in lower case, by its attributes or those of its parents; "" if unknown."""
    stated = pre.get("data-language") or pre.get("lang") or ""
    for element in (pre, next(iter(pre.iterchildren("code")), None), pre.getparent()):
        if not stated and element is not None:
            names = element.get("class") or ""
            found = _LANGUAGE.search(names) or _SOURCE_CODE.search(names)
            stated = found[1] if found else ""
    language = stated.strip().lower()
    return language if re.fullmatch(r"[\w+#.-]{1,30}", language) and language not in _NO_LANGUAGE else ""


def is_link_farm(text: str, marks: list[Mark]) -> bool:
    """Return whether a block is mostly links to elsewhere: translations, discussions, a menu."""
    links = [m.end - m.start for m in marks if m.kind is MarkKind.LINK]
    return len(links) >= 5 and sum(links) > 0.5 * len(text)


def words_of(element: Any) -> str:
    """Return the element's words on one line."""
    return " ".join("".join(element.itertext()).split())


def is_dead_link(element: Any) -> bool:
    """Return whether a link is page furniture: a heading's own anchor, a jump back from a footnote."""
    words = words_of(element)
    if words in ("¶", "#", "§", "🔗", "↩", "↩︎", "^"):
        return True
    if _PERMALINK.search(element.get("class") or "") and len(words) <= 2:
        return True
    return (element.get("href") or "").startswith("#") and _BACK.fullmatch(words) is not None


def _rows(table: Any) -> list[Any]:
    """Return the rows of a table, without those of tables inside it."""
    return [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]


def holds_data(table: Any) -> bool:
    """Return whether a table holds data rather than the layout of a page."""
    if next(table.iterdescendants("table"), None) is not None:
        return False
    rows = _rows(table)
    if not rows:
        return False
    cells = [[c for c in row if c.tag in ("td", "th")] for row in rows]
    if max(map(len, cells)) < 2 or any(next(table.iter(t), None) is not None for t in ("pre", "h1", "h2", "h3")):
        return False
    has_head = next(table.iter("th"), None) is not None
    return (has_head or len(rows) > 1) and all(len(words_of(c)) <= TABLE_MAX_CELL for row in cells for c in row)


def is_glossary(table: Any) -> bool:
    """Return whether the table's second column explains the first, whose cells are terms."""
    rows = _rows(table)
    heads = [c for c in rows[0] if c.tag in ("td", "th")] if rows else []
    return len(heads) in (2, 3) and EXPLAINS.search(words_of(heads[1])) is not None


def parse_html(markup: str) -> Any:
    """Return the tree of an HTML document; None if it is empty.

    Raises: Unreadable if its elements are nested so deeply that the parser gave up, or one has too many attributes.
    """
    from lxml import etree

    long = (tag[0] for tag in _TAG.finditer(markup) if len(tag[0]) > MAX_ATTRIBUTES)
    if any(sum(1 for _ in _ATTRIBUTE.finditer(tag)) > MAX_ATTRIBUTES for tag in long):
        raise Unreadable(f"one of its elements has more than {MAX_ATTRIBUTES:,} attributes")
    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_END_OF_PAGE.sub(r"</x-end\1>", markup).encode(), parser)
    except etree.XMLSyntaxError:
        root = None
    if any("depth" in error.message for error in parser.error_log.filter_from_fatals()):
        raise Unreadable("its elements are nested too deeply to be read")
    return root


def remove_element(element: Any) -> None:
    """Remove an element from its tree; the words after it stay."""
    parent, before = element.getparent(), element.getprevious()
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
