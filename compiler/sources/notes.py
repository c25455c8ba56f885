"""What a note says of itself: its tags, its other names, the notes that it links to, and whether it is for learning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

from vault.config.notes import NoteRules
from vault.model.frontmatter import Properties, read_properties
from vault.model.wikilink import links
from vault.text.formatting import clean_line

MOST_BYTES = 1 << 20  # of a note that are looked through
_MOST = 200  # tags, names or links of a note
_LONGEST = 120  # characters of a name
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]{1,100})", re.MULTILINE)
_WORDLESS = re.compile(
    r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)|<[^>]*>|%%.*?%%|^[ \t]*#+[ \t]", re.DOTALL | re.MULTILINE
)
_WORD = re.compile(r"[^\W_]")
_NUMBER = re.compile(r"[\d/_-]+")


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """`tags` are case folded, without `#`; `links` are the names of the notes that it links to, without folders."""

    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    learning: bool = True
    has_words: bool = True

    def is_left_out(self, rules: NoteRules) -> bool:
        """Return whether the note is no source: by its tags, by `learning: false`, or because nothing is in it."""
        return not (self.learning and self.has_words) or rules.leaves_out(self.tags)

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> NoteFacts:
        data = json.loads(text)
        tags, aliases, links_ = (tuple(map(str, data[key])) for key in ("tags", "aliases", "links"))
        return cls(tags, aliases, links_, bool(data["learning"]), bool(data["has_words"]))


@dataclass
class _Note:
    """The parts of a note's text."""

    text: str

    @cached_property
    def properties(self) -> Properties:
        return read_properties(self.text)

    @cached_property
    def prose(self) -> str:
        """Return the body without code."""
        return _CODE.sub(" ", _FENCED.sub("\n", self.text[self.properties.body :]))

    def tags(self) -> Iterator[str]:
        """Yield the tags in the properties and in the text, as Obsidian counts them."""
        for key in ("tags", "tag"):
            for given in self.properties.texts(key):
                yield from re.split(r"[,\s]+", given)
        yield from (found[1] for found in _TAG.finditer(self.prose))

    def aliases(self) -> Iterator[str]:
        for key in ("aliases", "alias"):
            yield from self.properties.texts(key)

    def links(self) -> Iterator[str]:
        for link in links(self.prose):
            if not link.embed:
                yield note_name(link.target)


def note_name(path: str) -> str:
    """Return the name of a note by its path or by a link to it, without its folders and `.md`."""
    name = path.strip().rpartition("/")[2]
    return clean_line(name[:-3] if name.lower().endswith(".md") else name)


def is_note(rules: NoteRules, path: str) -> bool:
    """Return whether the file at a vault path is a note in place, which may say something of itself."""
    return path.lower().endswith(".md") and rules.covers(path)


def facts_of(data: bytes) -> NoteFacts:
    """Return what the bytes of a note say of it."""
    note = _Note(data[:MOST_BYTES].decode("utf-8", "replace").replace("\r\n", "\n"))
    tags = (tag.removeprefix("#").strip("/").casefold() for tag in note.tags())
    return NoteFacts(
        tuple(dict.fromkeys(tag for tag in tags if tag and not _NUMBER.fullmatch(tag)))[:_MOST],
        _names(note.aliases()),
        _names(note.links()),
        note.properties.text("learning").casefold() not in ("false", "no"),
        _WORD.search(_WORDLESS.sub(" ", note.text[note.properties.body :])) is not None,
    )


def _names(given: Iterator[str]) -> tuple[str, ...]:
    """Return names, each once, without those that are empty or too long to be one."""
    found = dict.fromkeys(clean_line(name) for name in given)
    return tuple(name for name in found if name and len(name) <= _LONGEST)[:_MOST]
