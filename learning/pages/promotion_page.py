"""`output/promotion-queue.md`: candidates with a question each, and the user's ticks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learning.pages.promotion import Candidate, Promotion, Reason
from vault.model.frontmatter import Value, read_properties, render_note
from vault.model.markdown import escape, unescape
from vault.model.wikilink import links, note_link
from vault.text.formatting import clean_line

# What a concept is asked by; the words are ours, the title is all that comes from the wiki.
_QUESTIONS = {
    Reason.SETTLED: "Sources contradicted each other on {}; that is now resolved. What do you think is true, and why?",
    Reason.CHANGED: "What you learnt about {} has changed. What does that change for you?",
    Reason.STABLE: "What do you now think of {}?",
}
_FORMER_QUESTIONS = {  # of pages that earlier versions wrote
    Reason.SETTLED: "Sources contradicted each other on {}, and that is settled. What do you hold to be true, and why?",
    Reason.CHANGED: "What you had learnt of {} has changed. What does that change for you?",
}
_HEADINGS = {
    Reason.SETTLED: "No longer contested",
    Reason.CHANGED: "Changed since you learnt it",
    Reason.STABLE: "All four kinds of card known",
}
_DISMISSED = "Dismissed"
_READ_AS_DISMISSED = (_DISMISSED.casefold(), "struck")  # the second as earlier versions wrote it
_NOTHING = (
    "There is nothing to write about yet. A concept is listed here when you have remembered its cards of all four kinds"
    " for three weeks, when its sources no longer contradict each other, or when what you learnt about it has changed."
)
_ITEM = re.compile(r"- \[(?P<tick>[ xX])\] (?P<words>.*) \^(?P<mark>p-(?P<reason>[a-z]+)-[0-9a-z]{10,12})[ \t]*")
_HEADING = re.compile(r"## +(.+?)[ \t]*")


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate as the page has it. `article` is the vault path that it links to, "" for none; `line` is 1-based."""

    mark: str
    reason: Reason
    title: str
    article: str
    ticked: bool
    struck: bool  # it stands below the heading of those that the human struck
    line: int


def question(reason: Reason, title: str) -> str:
    """Return the question on a concept of that title; `title` is inserted as it is."""
    return _QUESTIONS[reason].format(title)


def render_queue(promotion: Promotion) -> str:
    """Return the page's text."""
    properties: dict[str, Value] = {"type": "promotion-queue", "as_of": promotion.as_of}
    properties["candidates"] = len(promotion.waiting)
    parts = [
        "# Concepts to write about",
        "Concepts that you now know well, that have changed, or on which sources no longer contradict each other."
        " `retain insight` opens your editor with a note of your own that contains only the question: you write the"
        " rest. Tick a concept to dismiss it; untick it to restore it.",
    ]
    for reason in Reason:
        items = [_line(c, " ") for c in promotion.waiting if c.reason is reason]
        parts += [f"## {_HEADINGS[reason]}", "\n".join(items)] if items else []
    if not promotion.waiting:
        parts.append(_NOTHING)
    if promotion.struck:
        parts += [f"## {_DISMISSED}", "\n".join(_line(c, "x") for c in promotion.struck)]
    return render_note(properties, "\n" + "\n\n".join(parts) + "\n")


def _line(candidate: Candidate, tick: str) -> str:
    """Return the line of a candidate."""
    title = candidate.title
    shown = note_link(candidate.article, title) if candidate.article else escape(clean_line(title)) or "untitled"
    return f"- [{tick}] {question(candidate.reason, shown)} ^{candidate.mark}"


def parse_queue(text: str) -> list[Item]:
    """Return the items of the page, in order; other lines, such as a user's remarks, are ignored."""
    items: list[Item] = []
    struck = False
    for number, line in enumerate(text.split("\n"), 1):
        heading = _HEADING.fullmatch(line.rstrip("\r"))
        if heading is not None:
            struck = heading[1].casefold() in _READ_AS_DISMISSED
        found = _ITEM.fullmatch(line.rstrip("\r"))
        reason = next((r for r in Reason if found and r.value == found["reason"]), None)
        if found is None or reason is None:
            continue
        link = next(links(found["words"]), None)
        title, article = (link.alias, f"{link.target}.md") if link else (_named(reason, found["words"]), "")
        items.append(Item(found["mark"], reason, title, article, found["tick"] != " ", struck, number))
    return items


def _named(reason: Reason, words: str) -> str:
    """Return the title in a question that has no link."""
    former = _FORMER_QUESTIONS.get(reason, "")
    form = former if former and words.endswith(former.partition("{}")[2]) else _QUESTIONS[reason]
    before, _, after = form.partition("{}")
    return unescape(words.removeprefix(before).removesuffix(after))


def ticks(text: str, promotion: Promotion) -> list[tuple[Candidate, str]]:
    """Return the user's decisions on the page: (candidate, "strike" or "reopen").

    A candidate may stand there twice, where git kept the lines of both sides: then one tick is enough.
    """
    items = parse_queue(text)
    ticked = {item.mark for item in items if item.ticked}
    freed = {item.mark for item in items if item.struck} - ticked
    strikes = [(c, "strike") for c in promotion.waiting if c.mark in ticked]
    return strikes + [(c, "reopen") for c in promotion.struck if c.mark in freed]


def waiting(items: Iterable[Item]) -> Sequence[Item]:
    """Return the items that wait for a note."""
    return [item for item in items if not item.struck and not item.ticked]


def count(text: str) -> int:
    """Return how many candidates the page lists."""
    number = read_properties(text).text("candidates")
    return int(number) if number.isdecimal() else 0
