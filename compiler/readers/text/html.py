"""The reader of HTML: the article in a web page, without the page's furniture around it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from compiler.readers.bibliography import resolve_cites
from compiler.readers.decode import decode
from compiler.readers.html_elements import BLOCKS, SILENT, parse_html, remove_element, words_of
from compiler.readers.html_hidden import hidden_selectors, is_hidden, reveal
from compiler.readers.html_walker import TreeWalker
from compiler.readers.page import OMISSION, Page
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import clean_line, normal

MAX_DEPTH = 400  # nested elements; deeper pages are read whole, too
MAX_GUIDED = 5_000_000  # characters; in a longer page the content is not searched for, all of it is read
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)|<\?xml[^>]{0,100}encoding=["']([\w.-]+)""", re.I
)
SAME_AS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "x-sjis": "cp932", "euc-kr": "cp949",
    "iso-8859-9": "cp1254", "tis-620": "cp874",
}  # fmt: skip
_TEX_SCRIPT = re.compile(r"mathjax|katex", re.IGNORECASE)
_TEX = re.compile(
    r"(?<!\\)\\\((.{1,600}?)\\\)|(?<!\\)\\\[(.{1,1200}?)\\\]", re.DOTALL
)  # as these scripts find formulas
_TEMPLATE_TAG = re.compile(r"\{%-?\s*[\w#].{0,300}?%\}|\{#.{0,300}?#\}", re.DOTALL)
_INSERTED = re.compile(r"\{\{[^{}]{1,300}\}\}")
_LITERAL = ("pre", "code", "script", "style", "kbd", "samp", "textarea")
_ARTICLES = ("dt-article", "d-article", "article", "main")
_FURNITURE = {
    "nav", "navbar", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "footer", "share", "sharing",
    "social", "cookie", "cookies", "advert", "advertisement", "ads", "promo", "newsletter", "subscribe", "related",
    "recommended", "recommendations", "comments", "disqus", "pagination", "pager", "toc", "tableofcontents", "skip",
    "skiplink", "editsection", "navbox", "catlinks", "popup", "modal", "masthead", "siteheader", "authorbio", "byline",
    "metadata", "postmeta", "tags", "taglist", "hatnote", "noprint", "headerlink", "copybutton", "feedback", "rating",
}  # fmt: skip
_FURNITURE_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search", "alert", "dialog", "menu"}
_NAME_PARTS = re.compile(r"[-_\s]+|(?<=[a-z])(?=[A-Z])")
_META = {
    "author": ("author", "citation_author", "article:author", "dc.creator"),
    "published": ("article:published_time", "citation_publication_date", "date", "dc.date"),
    "description": ("description", "og:description"),
    "site": ("og:site_name",),
    "license": ("license", "dcterms.license", "dc.rights.license", "dcterms.rights", "dc.rights"),
}


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the page's article onto `page`; return its properties (title, author, source ...) and problems."""
    text, problems = _decoded(data)
    root = parse_html(normal(text)) if text.strip() else None
    if root is None:
        raise Unreadable("it has no text")
    properties = _properties(root)
    problems += _without_templates(root)
    resolve_cites(root)
    _set_formulas(root)
    hidden: set[str] = set()
    for style in root.iter("style"):
        hidden |= hidden_selectors(style.text or "")
    body = next(root.iter("body"), root)
    revealed = reveal(body, hidden)
    if revealed:
        problems.append(Problem("shown-by-script", "most of its text is loaded by a script, which was not run"))
    for element in [e for e in body.iterdescendants() if isinstance(e.tag, str) and is_hidden(e, hidden)]:
        remove_element(element)  # before the content is searched for
    sizes = _sizes(body)
    main = body if revealed else _main(body, text, sizes)
    _prune(main, sizes)
    TreeWalker(page, lambda element: element.sourceline or 0, hidden).walk(main)
    return properties, problems


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """Return the page's characters by its byte order mark, the encoding it declares, or a guess."""
    declared = _CHARSET.search(data[:4096])
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = (declared[1] or declared[2]).decode("ascii", "replace").lower()
        try:
            if not name.startswith("utf"):
                return data.decode(SAME_AS.get(name, name)), []
        except (UnicodeDecodeError, LookupError):
            pass
    return decode(data)


def _without_templates(root: Any) -> list[Problem]:
    """Remove the tags of templates from a page that was not yet generated; return how many words they leave out."""
    left_out = 0

    def plain(words: str | None) -> str | None:
        nonlocal left_out
        if not words or "{" not in words:
            return words
        words, count = _INSERTED.subn(OMISSION, _TEMPLATE_TAG.sub("", words))
        left_out += count
        return words

    literal = {e for name in _LITERAL for e in root.iter(name)}
    inside = {child for element in literal for child in element.iter()}
    seen = [w for e in root.iter() if e not in inside for w in (e.text, *(child.tail for child in e)) if w]
    if not any("{%" in words and _TEMPLATE_TAG.search(words) for words in seen):
        return []
    for element in root.iter():
        element.text = element.text if element in inside else plain(element.text)
        element.tail = element.tail if element in inside and element not in literal else plain(element.tail)
    message = f"text inserted by a template was replaced by […]: {left_out}"
    return [Problem("computed-words", message)] if left_out else []


def _set_formulas(root: Any) -> None:
    """Make elements of the formulas in TeX that a script of the page would set."""
    if not any(_TEX_SCRIPT.search(script.get("src") or "") for script in root.iter("script")):
        return
    inside = {child for name in _LITERAL for element in root.iter(name) for child in element.iter()}
    for element in [e for e in root.iter() if isinstance(e.tag, str)]:
        parent = element.getparent()
        if element not in inside and "\\" in (element.text or ""):
            element.text = _with_formulas(element, 0, element.text)
        if parent is not None and parent not in inside and "\\" in (element.tail or ""):
            element.tail = _with_formulas(parent, parent.index(element) + 1, element.tail)


def _with_formulas(parent: Any, at: int, words: str) -> str:
    """Insert elements for the formulas in words, from position `at` on; return the words before the first."""
    found = list(_TEX.finditer(words))
    ends = [*(m.start() for m in found[1:]), len(words)]
    for n, (formula, end) in enumerate(zip(found, ends, strict=False)):
        made = parent.makeelement("x-math" if formula[1] is not None else "x-math-block")
        made.text, made.tail = formula[1] or formula[2], words[formula.end() : end]
        parent.insert(at + n, made)
    return words[: found[0].start()] if found else words


def _properties(root: Any) -> dict[str, str]:
    """Return what the page's head says of it."""
    meta: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (element.get("property") or element.get("name") or "").lower()
        content = clean_line(element.get("content") or "")[:2000]
        if name and content:
            meta.setdefault(name, content)
    out = {key: value for key, names in _META.items() if (value := next((meta[n] for n in names if n in meta), ""))}
    link = next((e.get("href") for e in root.iter("link") if (e.get("rel") or "").lower() == "canonical"), None)
    source = link or meta.get("og:url", "")
    if source:
        out["source"] = clean_line(source)[:2000]
    if "license" not in out and (licence := _linked_license(root)):
        out["license"] = licence
    title = meta.get("citation_title") or meta.get("og:title")
    if not title:
        element = root.find("head/title")
        title = words_of(element) if element is not None else ""
        site = out.get("site", "")
        for bar in (" | ", " - ", " – ", " — ", " · "):
            head, _, tail = title.rpartition(bar)
            if head and tail == site:
                title = head
    if title:
        out["title"] = clean_line(title)[:2000]
    return out


def _linked_license(root: Any) -> str:
    """Return the address of the licence that the page's head links to; "" without one."""
    linked = (e.get("href") for e in root.iter("link") if "license" in (e.get("rel") or "").lower().split())
    return next((clean_line(address)[:2000] for address in linked if address), "")


def _sizes(body: Any) -> dict[Any, int]:
    """Return element -> roughly how many characters a reader could see in it, without scripts and drawings."""
    sizes: dict[Any, int] = {}
    for element in reversed(list(body.iter())):  # children come after their parents in document order
        seen = sizes.get(element, 0) + len((element.text or "").strip())
        sizes[element] = 0 if element.tag in SILENT else seen
        parent = element.getparent()
        if parent is not None and element is not body:
            sizes[parent] = sizes.get(parent, 0) + sizes[element] + len((element.tail or "").strip())
    return sizes


def _main(body: Any, text: str, sizes: dict[Any, int]) -> Any:
    """Return the element that holds the article: the one that the page marks, else the one with most paragraphs."""
    for name in _ARTICLES:
        found = [e for e in body.iter(name) if next(e.iterancestors(name), None) is None]
        if len(found) == 1 and sizes[found[0]] >= 0.3 * sizes[body]:
            return found[0]
    role = [e for e in sizes if e.get("role") == "main"]
    if len(role) == 1:
        return role[0]
    if len(text) > MAX_GUIDED or _depth(body) > MAX_DEPTH:
        return body
    return _content_by_trafilatura(body, text)


def _depth(body: Any) -> int:
    """Return how deeply elements are nested."""
    depths: dict[Any, int] = {body: 0}
    for element in body.iterdescendants():
        depths[element] = depths[element.getparent()] + 1
    return max(depths.values())


def _content_by_trafilatura(body: Any, text: str) -> Any:
    """Return the smallest element around nearly all paragraphs that trafilatura takes for the page's content."""
    from trafilatura import bare_extraction

    document = bare_extraction(
        text, include_comments=False, include_tables=True, favor_recall=True, with_metadata=False
    )
    content = getattr(document, "body", None)
    if content is None:
        return body
    wanted = {key for e in content.iter("p", "head", "item", "quote", "cell", "code") if len(key := _key(e)) >= 12}
    hits: Counter[Any] = Counter()
    for element in body.iter():
        if element.tag in BLOCKS and _key(element) in wanted:
            hits[element] += 1
            for ancestor in element.iterancestors():
                hits[ancestor] += 1
    at = body
    while True:
        inner = next((e for e in at if hits[e] and hits[e] >= 0.9 * hits[at] and e.tag in BLOCKS and hits[e] > 1), None)
        if inner is None:
            return at
        at = inner


def _key(element: Any) -> str:
    """Return the first letters of an element's text, which identify a paragraph in two trees."""
    out = ""
    for words in element.itertext():
        out += "".join(c for c in words[:200] if c.isalnum())
        if len(out) >= 40:
            break
    return out[:40].lower()


def _prune(main: Any, sizes: dict[Any, int]) -> None:
    """Remove navigation, side matter, sharing buttons and the like from the tree."""
    for element in [e for e in main.iterdescendants() if sizes[e] < 0.35 * sizes[main] and _is_furniture(e)]:
        remove_element(element)


def _is_furniture(element: Any) -> bool:
    """Return whether an element is not part of the article."""
    if element.tag in ("nav", "footer", "aside") or element.get("role") in _FURNITURE_ROLES:
        return True
    if element.tag in ("body", "main", "article", "p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "em", "strong", "code"):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    parts = {part.lower() for part in _NAME_PARTS.split(names)}
    return bool(parts & _FURNITURE) or (element.tag == "header" and next(element.iter("h1", "h2"), None) is None)
