"""Instructions that go with an order: the prompt of its type, the shape of a reply, the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.model.requests import REPLY_TO
from compiler.replies.prompts import prompt, prompt_id

_SENTENCES = (
    "a claim without `words` says what its quote says",
    "every sentence cites ids of request.claims; one without a citation is refused",
    "no number, date, name or negation that the cited claims do not have, and no negation left out",
    "other words for the same are kept if a later `check` order says that they follow",
)
# What is refused at once, by type of order.
RULES: Mapping[str, tuple[str, ...]] = {
    "extract": (
        "quote: letter by letter from request.text (white space may differ), at most 2,000 characters",
        'statement: "" where the quote speaks for itself; else no number, date, name or negation that the quote lacks',
        "about: at least one name of a concept, the main one first",
        "terms: names as the text, a heading or the title writes them; a concept becomes an article if a term "
        "sets it off (definition, heading, acronym, alias, emphasis, glossary) and a claim is about it",
        "english: only where request.language is not en; need not stand in the text",
        "with request.fresh: only claims from these passages; what stands is kept by itself",
        'nothing worth keeping in it: {"claims": [], "terms": []}',
    ),
    "compose": (*_SENTENCES, "with request.fresh: only sentences that cite one of these claims; the rest stays"),
    "cards": (
        "a claim without `words` says what its quote says",
        "cites: ids of request.claims, one of them of the card's kind (definitional: definition; mechanistic: "
        "mechanism; relational: relation; applied: application or limitation)",
        "the answer says no more than the cited claims; the question does not give it away",
        "at most two of a kind; none like another, nor like those in request.standing",
        "question and answer can be understood alone; the question ends with a question mark",
        'no card worth having: {"cards": []}',
    ),
    "match": ("in doubt: unsure; what is joined wrongly costs more than what stays apart",),
    "reconcile": ("in doubt: unsure; a false alarm costs more than one that is missed",),
    "check": (
        "judge request.words by request.evidence alone; in doubt: unsure, which keeps them out",
        "of your own words somebody else should judge: leave them where you can",
    ),
    "answer": (*_SENTENCES, "what the claims do not tell goes into `missing`, in one sentence"),
}


def instructions(types: Iterable[str]) -> dict[str, Any]:
    """Return the instructions by type of order."""
    return {of: _instructions_for(of) for of in sorted(set(types))}


def prompt_names(types: Iterable[str]) -> dict[str, str]:
    """Return the names of the prompts by type of order, for agents that have read them; a name changes with
    its text."""
    return {of: prompt_id(of) for of in sorted(set(types))}


def _instructions_for(of: str) -> dict[str, Any]:
    """Return the instructions for one type of order."""
    return {
        "prompt": prompt_id(of),
        "instructions": prompt(of).text,
        "rules": list(RULES[of]),
        "reply_schema": REPLY_TO[of].model_json_schema(),
    }
