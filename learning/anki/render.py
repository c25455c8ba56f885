"""A note of an Anki package as a card: its two sides as inert Markdown, or the reason why it cannot be one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from learning.anki.html_to_markdown import is_rtl, markdown
from learning.anki.read_package import IMAGE_OCCLUSION, AnkiCard, AnkiNote, NoteType
from learning.anki.tags import user_tags
from learning.anki.template import Sheet, TooLarge, is_empty, sides
from vault.model.card import MAX_CARD
from vault.model.markdown import escape
from vault.text.formatting import clean_line

MAX_FILES = 500  # pictures and sounds that one card may name
LARGEST = MAX_CARD - 2000  # characters of a card's two sides; the rest is for its id and its stamp
MAX_STYLE = 100_000  # characters of a style sheet that are read
SIDES = ("question", "answer")
_MAX_NAME = 1000  # characters of a file's name
_OCCLUSION = "image-occlusion:"
_SHAPE = re.compile(r"image-occlusion:([a-zA-Z]{1,20})")
_PICTURE = re.compile(r"""<img\s[^<>]{0,500}?src=["']([^"'<>]{1,300})["']""", re.IGNORECASE)
_MOST_PICTURES = 10  # of a note that covers parts of them


@dataclass(slots=True)
class Rendered:
    """One card. `fault` says why it cannot be one here, else ""; `not_understood` what of its template
    it has to do without.

    `names` are the pictures and sounds that its sides name, which stand there as numbers between two marks.
    """

    fault: str = ""
    too_large: bool = False
    not_understood: set[str] = field(default_factory=set)
    question: str = ""
    answer: str = ""
    names: list[str] = field(default_factory=list)
    tags: tuple[str, ...] = ()
    lost: str = ""  # of image occlusion: what of the note is not kept
    rtl: tuple[str, ...] = ()  # the SIDES that are written from right to left


def deck_name(name: str) -> str:
    """Return a deck's name for the vault."""
    return (clean_line(name).strip(": ") or "Default")[:300]


def render(card: AnkiCard, note: AnkiNote, type_: NoteType | None, deck: str) -> Rendered:
    """Return the card that Anki shows of `note` in `deck`."""
    out = Rendered(_fault(card, note, type_))
    if type_ is not None and _is_occlusion(note, type_):
        out.names = [name[:_MAX_NAME] for value in note.values for name in _PICTURE.findall(value)][:_MOST_PICTURES]
        out.lost = _lost(note, type_)
    if out.fault or type_ is None:
        return out

    def embed(name: str) -> str:
        if re.match(r"(?:https?:|data:|file:|//)", name, re.IGNORECASE):
            return escape(f"[picture not included: {clean_line(name)[:200]}]")
        out.names.append(name[:_MAX_NAME])
        return f"\ue002{len(out.names) - 1}\ue003"

    sheet = Sheet(_values(note, type_, card, deck), card.ord, rtl=type_.rtl)
    template = type_.templates[0 if type_.cloze else card.ord]
    out.not_understood = sheet.not_understood
    try:
        made = sides(template.front, template.back, sheet)
    except TooLarge as error:
        out.fault, out.too_large = f"its template is too large for a card: {error}", True
        return out
    out.question, out.answer = (_led(markdown(side, embed)) for side in made)
    out.rtl = tuple(n for n, side in zip(SIDES, made, strict=True) if is_rtl(side, style=type_.style[:MAX_STYLE]))
    if not out.question.strip():
        out.fault = "its front is blank"
    elif len(out.question) + len(out.answer) > LARGEST:
        out.fault, out.too_large = "it is larger than the limit for a card (64 KiB)", True
    elif len(out.names) > MAX_FILES:
        out.fault, out.too_large = f"it uses more than {MAX_FILES} pictures and sounds", True
    out.tags = tuple(sorted(user_tags(note.tags).values()))
    return out


def _fault(card: AnkiCard, note: AnkiNote, type_: NoteType | None) -> str:
    """Return why the card cannot be rendered; "" if it can."""
    if type_ is None or not type_.templates or not type_.fields:
        return "its note type is not in the package"
    if _is_occlusion(note, type_):
        return "image occlusion: these cards cannot be converted to text"
    if card.ord < 0 or (not type_.cloze and card.ord >= len(type_.templates)):
        return "its template is not in the package"
    return "" if note.guid.strip() else "its note has no GUID, so it cannot be recognized in later imports"


def _is_occlusion(note: AnkiNote, type_: NoteType) -> bool:
    """Return whether a note covers parts of a picture."""
    return type_.stock == IMAGE_OCCLUSION or (type_.cloze and any(_OCCLUSION in value for value in note.values))


def _lost(note: AnkiNote, type_: NoteType) -> str:
    """Return what is not kept of a note that covers parts of a picture: its masks by shape, and fields of text."""
    shapes = Counter(shape.lower() for value in note.values for shape in _SHAPE.findall(value))
    masks = ", ".join(f"{count} {shape}" for shape, count in sorted(shapes.items()))
    texts = [
        clean_line(name)[:60]
        for name, value in zip(type_.fields, note.values, strict=False)
        if not (is_empty(value) or _OCCLUSION in value or _PICTURE.search(value))
    ]
    found = [f"the masks ({masks})"] if masks else []
    return " and ".join(found + ([f"the text in {', '.join(texts[:10])}"] if texts else []))[:900]


def _values(note: AnkiNote, type_: NoteType, card: AnkiCard, deck: str) -> dict[str, str]:
    """Return what a template may use; fields go before Anki's own names, and are the first in order."""
    padded = (*note.values, *[""] * len(type_.fields))
    named = dict(zip(type_.fields, padded, strict=False))
    template = type_.templates[0 if type_.cloze else card.ord].name
    facts = {"Tags": " ".join(note.tags), "Type": type_.name, "Deck": deck, "Card": template, "CardFlag": ""}
    return named | {k: escape_html(v) for k, v in facts.items() if k not in named and k != ""} | _sub(named, deck)


def _sub(named: Mapping[str, str], deck: str) -> dict[str, str]:
    """Return the values with the name of the innermost deck."""
    return {} if "Subdeck" in named else {"Subdeck": escape_html(deck.rsplit("::", 1)[-1])}


def escape_html(text: str) -> str:
    """Return the text with HTML's signs escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _led(words: str) -> str:
    """Return a side that begins with code with a word before it: a fence right after `Q:` would not be read as one."""
    return f"(code)\n{words}" if words.startswith(("```", "~~~")) else words
