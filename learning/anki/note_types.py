"""The note types that the vault's cards have in Anki; their ids and names stay for ever, in every vault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CARD_ID = "CardId"  # the field by which a note is known, the last of each type
FIELDS = ("Question", "Answer", "Kind", "Concept", "Quote", "Source", CARD_ID)
CLOZE_FIELDS = ("Text", "Kind", "Concept", "Quote", "Source", CARD_ID)
# Kind and concept are below the answer, as on the front they could tell it.
_FOOT = """\
{{#Quote}}<blockquote class="retain-quote" dir="auto">{{Quote}}</blockquote>{{/Quote}}
{{#Source}}<div class="retain-source">{{Source}}</div>{{/Source}}
<div class="retain-kind">{{Kind}}{{#Kind}}{{#Concept}} · {{/Concept}}{{/Kind}}{{Concept}}</div>"""
STYLE = """\
.card { font-family: system-ui, sans-serif; font-size: 20px; text-align: start; overflow-wrap: break-word; }
.card { box-sizing: border-box; max-width: 42em; margin: 0 auto; padding: 1em; }
#answer { margin: 1em 0; }
.retain-kind, .retain-source { font-size: 14px; margin-top: 0.6em; }
.retain-kind { opacity: 0.7; }
.retain-question { font-weight: 600; }
blockquote { margin: 1em 0 0.3em; border-inline-start: 3px solid #8888; padding-inline-start: 0.8em; }
.retain-quote { font-size: 16px; }
img { max-width: 100%; height: auto; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: 0.6em 0; font-size: 0.8em; }
th, td { border: 1px solid #8888; padding: 0.2em 0.4em; overflow-wrap: normal; }
code, pre { direction: ltr; unicode-bidi: isolate; font-size: 0.9em; font-weight: normal; }
pre { overflow-x: auto; text-align: left; padding: 0.6em; border-radius: 4px; background: #8882; }
pre code { font-size: 1em; }
a { color: #1d4ed8; } .nightMode a, .night_mode a { color: #93c5fd; }
"""
MOST_SIBLINGS = 10  # cards of a note whose sides have nothing in common
MOST_COMPARED = 2 * MOST_SIBLINGS  # fields that an import compares with those that were exported
_CLOZE_STYLE = """\
.cloze { font-weight: bold; color: #1d4ed8; } .nightMode .cloze, .night_mode .cloze { color: #93c5fd; }
"""


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of card of a note type: Anki's templates of front and back."""

    name: str
    front: str
    back: str


@dataclass(frozen=True, slots=True)
class NoteType:
    """A note type of ours."""

    id: int
    name: str
    fields: tuple[str, ...]
    templates: tuple[Template, ...]
    is_cloze: bool = False

    @property
    def style(self) -> str:
        """Return the style sheet of its cards."""
        return STYLE + _CLOZE_STYLE if self.is_cloze else STYLE


def _asking(name: str, asked: str, answer: str) -> Template:
    """Return the template that asks for one field by another."""
    front = f'{{{{#{asked}}}}}<div class="retain-question">{{{{{asked}}}}}</div>{{{{/{asked}}}}}'
    back = f'{{{{FrontSide}}}}\n<hr id="answer">\n<div class="retain-answer">{{{{{answer}}}}}</div>\n{_FOOT}'
    return Template(name, front, back)


_NUMBERS = range(1, MOST_SIBLINGS + 1)
_THERE = _asking("Card", "Question", "Answer")
_BACK = _asking("Reversed", "Answer", "Question")
_HIDING = Template(
    "Cloze",
    '<div class="retain-answer">{{cloze:Text}}</div>',
    f'<div class="retain-answer">{{{{cloze:Text}}}}</div>\n{_FOOT}',
)
BASIC = NoteType(1_763_719_210, "retain", FIELDS, (_THERE,))
BOTH_WAYS = NoteType(1_763_719_212, "retain (and reversed)", FIELDS, (_THERE, _BACK))
CLOZE = NoteType(1_763_719_213, "retain cloze", CLOZE_FIELDS, (_HIDING,), is_cloze=True)
SIBLINGS = NoteType(
    1_763_719_214,
    "retain (siblings)",
    (*(f"{side} {n}" for n in _NUMBERS for side in ("Question", "Answer")), *FIELDS[2:]),
    tuple(_asking(f"Card {n}", f"Question {n}", f"Answer {n}") for n in _NUMBERS),
)


def fields_among(names: Iterable[str]) -> tuple[str, ...]:
    """Return the fields of the note type of ours that has these names."""
    names = set(names)
    return next((type_.fields for type_ in (CLOZE, SIBLINGS) if type_.fields[0] in names), FIELDS)
