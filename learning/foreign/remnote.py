"""Outlines of RemNote as text: what RemNote exports as Markdown or plain text, and what it lets one paste.

    Question >> Answer      forwards; `<<` backwards, `<>` both ways, `>>>` with the answer in the lines below
    Concept :: Definition   both ways; `:>` and `:<` one way, `:::` with the answer below
    Property ;; Value       forwards, of the line above; `;<>` both ways, `;;;` with the answer below
    A text with {{words}}   a cloze; `>-`, `:-` and `;-` are cards that were switched off

RemNote's JSON (`.rem`) has no published description and is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from learning.foreign.cards import ForeignCard, Reading
from learning.foreign.tree import Tree, unique_key
from vault.text.formatting import plural

_LINE = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d+[.)])?[ \t]+(?P<text>\S.*)|(?P<bare>\S.*)")
_BELOW = re.compile(r"(?P<front>.+?)\s*(?P<sign>>>>|:::|;;;|↓|>>1\.|::1\.|;;1\.)\s*")
_ONE = re.compile(r"(?P<front>.+?)\s*(?P<sign><>|>>|<<|::|:>|:<|;<>|;;|;<|→|←|↔|>-|:-|;-)\s*(?P<back>\S.*)")
_BOTH = frozenset({"<>", "::", ";<>", "↔"})
_BACKWARDS = frozenset({"<<", ":<", ";<", "←"})
_OFF = frozenset({">-", ":-", ";-"})
_CERTAIN = re.compile(r"[^`>\s] ?>>>? ?[^`>\s]|\S ?>>>\s*$|\S ?(?:<>|;<>|:>|:<) ?\S|\S ?:::\s*$")
_DELETION = re.compile(r"\{\{(?P<words>[^{}]+?)\}\}(?:\{\((?P<hint>[^)]*)\)\})?")
_TAG = re.compile(r"\s##?(?:\[\[(?P<long>[^\]]+)\]\]|(?P<short>[\w/-]+))")


@dataclass(slots=True)
class _Rem:
    """A line of the outline with those below it; `above` is the text of the one that it is below."""

    text: str
    line: int
    depth: int
    above: str = ""
    below: list[_Rem] = field(default_factory=list)


def read(tree: Tree) -> Reading:
    """Return the cards of the outlines in `tree`."""
    reading, keys, off = Reading(pictures=tree.picture), dict[str, int](), 0
    for path, text in tree.texts(reading, (".md", ".txt")):
        stem = path.rsplit("/", 1)[-1].rpartition(".")[0] or path
        for rem in _outline(text):
            card, is_off = _card(rem, path, reading)
            off += is_off
            if card is not None:
                words, tags = _without_tags(card)
                key = f"{stem}\x1f{rem.above}\x1f{card.question}"
                reading.cards.append(unique_key(replace(words, key=key, deck=stem, tags=tags, base=path), keys))
    if off:
        reading.remarks.append(f"skipped {plural(off, 'card')} that you disabled in RemNote (>-, :-, ;-)")
    return reading


def looks_like(text: str) -> bool:
    """Return whether the text is an outline with two cards or more by signs that are RemNote's alone."""
    bullets = [line.strip()[2:] for line in text[:200_000].split("\n") if line.lstrip()[:2] in ("- ", "* ")]
    return sum(_CERTAIN.search(line) is not None for line in bullets) > 1


def _outline(text: str) -> list[_Rem]:
    """Return every line of an outline that is not blank."""
    every: list[_Rem] = []
    open_: list[_Rem] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        indent = (found["indent"] or "").expandtabs(4)
        rem = _Rem((found["text"] or found["bare"]).strip(), number, len(indent) if found["text"] else -1)
        while open_ and open_[-1].depth >= rem.depth:
            open_.pop()
        if open_:
            rem.above = _front_of(open_[-1].text)
            open_[-1].below.append(rem)
        open_.append(rem)
        every.append(rem)
    return every


def _front_of(text: str) -> str:
    """Return the words of a line before its sign."""
    found = _ONE.fullmatch(text) or _BELOW.fullmatch(text)
    return found["front"] if found else text


def _card(rem: _Rem, path: str, reading: Reading) -> tuple[ForeignCard | None, bool]:
    """Return the card of a line, None for one that is none; and whether it was switched off."""
    if found := _BELOW.fullmatch(rem.text):
        if not rem.below:
            reading.add_problem(
                path, rem.line, f"there is no answer below `{found['sign']}`", "indent the lines of the answer"
            )
            return None, False
        marks = (f"{n}." if found["sign"].endswith("1.") else "-" for n in range(1, len(rem.below) + 1))
        answer = "\n".join(f"{mark} {each.text}" for mark, each in zip(marks, rem.below, strict=True))
        return ForeignCard("", _asked(found["front"], found["sign"], rem), answer, path, rem.line), False
    if (found := _ONE.fullmatch(rem.text)) and not _inside_cloze(rem.text, found.start("sign")):
        if found["sign"] in _OFF:
            return None, True
        front, back = _asked(found["front"], found["sign"], rem), found["back"].strip()
        if found["sign"] in _BACKWARDS:
            front, back = back, front
        return ForeignCard("", front, back, path, rem.line, is_reversed=found["sign"] in _BOTH), False
    if _DELETION.search(rem.text):
        return ForeignCard("", _marked(rem.text), None, path, rem.line), False
    return None, False


def _inside_cloze(text: str, at: int) -> bool:
    return any(m.start() < at < m.end() for m in _DELETION.finditer(text))


def _asked(front: str, sign: str, rem: _Rem) -> str:
    """Return what a card asks: a property is one of the line above."""
    return f"{rem.above}: {front}" if sign.startswith(";") and rem.above else front


def _marked(text: str) -> str:
    """Return a cloze with Anki's marks, each deletion a card."""
    numbers = iter(range(1, 1_000))
    return _DELETION.sub(
        lambda m: f"{{{{c{next(numbers)}::{m['words']}{'::' + m['hint'] if m['hint'] else ''}}}}}", text
    )


def _without_tags(card: ForeignCard) -> tuple[ForeignCard, tuple[str, ...]]:
    """Return the card without the tags at its end, and these."""
    whole = card.question if card.answer is None else card.answer
    tags = tuple(dict.fromkeys((m["long"] or m["short"]) for m in _TAG.finditer(whole)))
    bare = _TAG.sub("", whole).strip() or whole
    return (replace(card, question=bare) if card.answer is None else replace(card, answer=bare)), tags
