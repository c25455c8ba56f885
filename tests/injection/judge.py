"""What hostile sources and obedient models must not have done: to files, pages, what is printed and exported."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.sandbox.tree import Entry, Tree
from vault.model.card import parse_deck
from vault.model.frontmatter import body_of, read_properties
from vault.model.wikilink import links
from vault.text.formatting import normal

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
OURS = ("vault/wiki", "vault/learning", "vault/output", "vault/.retain", "out")  # where retain may make what it likes
GROWING = re.compile(
    r"vault/(?:ledger/(?:replies/)?[A-Za-z0-9]+\.jsonl|learning/reviews\.jsonl)"
)  # where it may only add
_OWN = re.compile(r"home/(?:\.config|\.local|\.cache)(?:/.*)?|home")  # settings and state of retain's own
_TYPES = {"wiki/concepts": {"concept"}, "wiki/summaries": {"summary"}, "learning/flashcards": {"flashcards"}}
_ACTIVE = re.compile(r"<%|%%|\b(?!https?:)[a-z][a-z0-9+.-]*://")
_INERT = re.compile(r"\\.|`[^`\n]+`|\$\$[^$`\n]+\$\$|\$[^$`\n]+\$", re.DOTALL)
_ASIDE = re.compile(r"^(`{3,})text\n.*?^\1$", re.DOTALL | re.MULTILINE)
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")
_MADE_UP = r"\^c-a{10}|<!-- card a{10}.*-->|%% card a{10}.*%%"  # an id as the sources of these tests have it
_CARD = re.compile(r"^%% card [0-9a-z]{10}(?: [0-9a-f]{6})? %%$", re.MULTILINE)
_ANKI_ACTS = re.compile(
    r"<\s*(?:script|iframe|object|embed|style|svg|a\b|form)|<[^<>]*\son\w+\s*=|\[(?:sound|latex|\$|anki)|\{\{"
)

_LINK = re.compile(r'<a href="https?://[^"<>\s]+">')  # what an export makes of the address of a source


def harm_to_files(before: Tree, after: Tree, base: str, added: dict[str, bytes]) -> list[str]:
    """Every change between two looks at `base` that nobody was to make; `added` are new sources of the human's."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        name = path.removeprefix(f"{base}/")
        old, new = before.get(path), after.get(path)
        if new is not None and (why := _odd(name, new, old)):
            found.append(f"{name}: {why}")
        if (old and old.substance) == (new and new.substance) or _OWN.fullmatch(name):
            continue
        if name in added and old is None and new is not None and new.data == added[name]:
            continue
        if GROWING.fullmatch(name):
            if new is None or not new.data.startswith(old.data if old else b""):
                found.append(f"{name}: more than added to")
        elif not any(name == each or name.startswith(f"{each}/") for each in OURS):
            found.append(f"{name}: {'made' if old is None else 'gone' if new is None else 'changed'}")
    return found


def _odd(name: str, new: Entry, old: Entry | None) -> str:
    """Why something new is nothing that retain makes: a link, a device, a name that hides something."""
    if old is not None:
        return ""
    if new.kind not in (stat.S_IFREG, stat.S_IFDIR):
        return "neither a file nor a folder"
    if new.kind == stat.S_IFREG and new.about[4] != 1:
        return "has two names"
    if name.startswith(OURS) and (normal(name) != name or re.search(r'[\\:*?"<>|%]', name)):
        return "a name that no page may have"
    return ""


def harm_in_print(printed: Iterable[str]) -> list[str]:
    """What a terminal would obey, with some words around it."""
    return [repr(text[max(0, f.start() - 40) : f.end() + 40]) for text in printed for f in CONTROL.finditer(text)][:5]


def harm_in_pages(root: Path) -> list[str]:
    """What lives in the pages and decks of a vault, and what they claim to be and are not."""
    found = []
    for page in sorted(p for top in ("wiki", "learning", "output") for p in (root / top).rglob("*.md")):
        name = page.relative_to(root).as_posix()
        text = page.read_text(encoding="utf-8")
        found += [f"{name}: {why}" for why in _harm_in(name, text)]
    return found


def _harm_in(name: str, text: str) -> Iterator[str]:
    if CONTROL.search(text) or normal(text) != text:
        yield "hidden or control characters"
    body = body_of(text)
    if name.startswith("output/quarantine/"):  # what was set aside lies in a fence of words
        body = _ASIDE.sub("", body)
    properties = read_properties(text)
    if properties.problems:
        yield f"front matter: {properties.problems[0].message}"
    types = _TYPES.get(name.rpartition("/")[0])
    if types and properties.text("type") not in types:
        yield f"of type {properties.text('type')!r}"
    if properties.text("id") == "aaaaaaaaaa" or re.search(_MADE_UP, _INERT.sub(" ", body)):
        yield "an id that a source made up"
    if not name.startswith("learning/flashcards/") and "<!--" in _INERT.sub("", body):
        yield "a comment"
    yield from _live(body)
    for link in links(_INERT.sub(" ", body.replace("\\|", "|"))):  # the bar of a link in a table is escaped
        if not link.target.startswith(("wiki/", "raw/", "learning/", "output/")) or ".." in link.target:
            yield f"a link to {link.target!r}"
    # What a link of ours is called is no address of its own.
    own = _CARD.sub(" ", body) if name.startswith("learning/flashcards/") else body
    bare = _WIKILINK.sub(" ", _INERT.sub(" ", own))
    if active := _ACTIVE.search(bare):
        yield f"{active[0]!r} outside code"


def _live(body: str) -> Iterator[str]:
    for token in _tokens(MarkdownIt("commonmark").parse(body)):
        if token.type in ("html_inline", "html_block"):
            yield f"HTML: {token.content[:80]!r}"
        elif token.type == "image":
            yield f"a picture from {token.attrs.get('src')!r}"
        elif token.type == "link_open" and not str(token.attrs["href"]).startswith("raw/"):
            yield f"a link to {token.attrs['href']!r}"
        elif token.type == "code_inline" and re.match(r"\$?=", token.content):
            yield f"a query: {token.content[:80]!r}"
        elif token.type == "fence" and token.info.startswith(("dataview", "js", "button", "meta")):
            yield f"a fence that a plugin runs: {token.info!r}"


def _tokens(found: Sequence[Token]) -> Iterator[Token]:
    for token in found:
        yield token
        yield from _tokens(token.children or [])


def harm_in_exports(package: bytes, table: str) -> list[str]:
    """What would act in Anki, or in a spreadsheet."""
    found = []
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        names = archive.namelist()
        database = sqlite3.connect(":memory:")
        database.deserialize(archive.read("collection.anki2"))
    if any(not re.fullmatch(r"collection\.anki2|media|\d+", name) for name in names):
        found.append(f"names in the package: {names}")
    for fields, tags in database.execute("SELECT flds, tags FROM notes"):
        if (
            _ANKI_ACTS.search(_LINK.sub("", fields))
            or CONTROL.search(fields.replace("\x1f", ""))
            or fields.count("\x1f") != 6
        ):
            found.append(f"a note: {fields[:200]!r}")
        if CONTROL.search(tags) or re.search(r"[\"<>\[\]{}]", tags):
            found.append(f"tags: {tags!r}")
    database.close()
    for row in csv.reader(io.StringIO(table)):
        found += [f"a cell: {cell[:80]!r}" for cell in row if cell[:1] in tuple("=+-@\t\r|%") or CONTROL.search(cell)]
    return found


def cards_not_in_ledger(root: Path) -> list[str]:
    """The ids in decks that the ledger does not know."""
    births = (root / "ledger/ids.jsonl").read_text(encoding="utf-8")
    decks = sorted((root / "learning/flashcards").glob("*.md"))
    cards = [c.id for deck in decks for c in parse_deck(deck.read_text(encoding="utf-8"), deck.name).cards]
    return [str(id_) for id_ in cards if id_ is None or f'"{id_}"' not in births]
