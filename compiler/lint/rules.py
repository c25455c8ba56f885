"""The rules of `retain lint`, and the findings of all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compiler.lint import (
    answers,
    card_text,
    cards,
    claims,
    freshness,
    groups,
    links,
    logs,
    names,
    pages,
    records,
    support,
    terms,
)
from compiler.lint.wiki import Wiki
from compiler.sources.freshness import LATE
from vault.diagnostic import Diagnostic

_NUMBER = re.compile(r"\d+")
Found = Iterable[tuple[str, int, str, str]]  # (path, line, what is wrong, remedy)


@dataclass(frozen=True, slots=True)
class Rule:
    """`code` names a finding, `about` says what is found and why it matters, `check` finds it."""

    code: str
    about: str
    check: Callable[[Wiki], Found]


RULES: tuple[Rule, ...] = (
    Rule("broken-link", "A link to a note, heading or claim that does not exist.", links.broken),
    Rule("ambiguous-link", "A link without a folder that could mean several notes.", links.ambiguous),
    Rule("orphan", "An article that no other article, topic or note links to.", links.orphans),
    Rule(
        "unindexed",
        "A page or answer that `wiki/_index.md` does not list, so that agents do not find it.",
        links.unindexed,
    ),
    Rule(
        "one-way-link",
        "An article that mentions another one without a link, although that one links to it.",
        links.one_way,
    ),
    Rule("suggested-link", "A page that mentions an article without linking to it.", links.suggested),
    Rule("missing-note", "A name that several notes link to, although there is no such note.", links.unexplained),
    Rule("near-duplicate", "Two articles whose names differ only in spelling.", names.near_duplicates),
    Rule("suspected-duplicate", "Two names that may be the same concept; you need to decide.", names.suspected),
    Rule("no-definition", "An article that does not start by saying what its subject is.", pages.undefined),
    Rule("missing-page", "A term that many pages use but none explains.", terms.missing),
    Rule("suggested-topic", "Articles that link to each other but have no topic.", groups.suggested_topics),
    Rule("thin", "An article that other pages link to but that has at most one statement.", pages.thin),
    Rule(
        "stale",
        "A page not updated within its `freshness` (30, 90 or 365 days), which lowers its confidence by one level.",
        pages.stale,
    ),
    Rule("quarantined", "Quarantined text written by an agent, and how to release it.", pages.quarantined),
    Rule("confidence", "A page whose confidence is higher than its evidence supports.", pages.overconfident),
    Rule(
        "conflicted",
        "An unfinished merge, or a second version of a file that a sync program or retain saved next to it.",
        pages.conflicted,
    ),
    Rule("unreadable", "A page that cannot be read.", pages.unreadable),
    Rule(
        "uncited", "A statement without a citation in an article, an answer or the summary of a source.", claims.uncited
    ),
    Rule(
        "unsupported",
        "A statement that the claims it cites do not support, or a quote that was changed.",
        support.sentences,
    ),
    Rule("superseded", "A page that cites a claim from an older edition of a source.", claims.superseded),
    Rule("retracted", "A page that cites a claim that is no longer in its source.", claims.retracted),
    Rule("contradiction", "Two contradictory statements with nothing to decide between them.", claims.contradictions),
    Rule(
        "numbers", "Two different numbers for the same thing, on two pages or cards or in two sources.", claims.numbers
    ),
    Rule(
        "lost",
        "A page, claim or card that is recorded as current in ledger/ but is not in any file.",
        records.without_file,
    ),
    Rule(
        "unrecorded",
        "A page, claim or card whose id is not recorded in ledger/, or is used twice.",
        records.without_record,
    ),
    Rule(
        "source-changed",
        "A source whose file was deleted or has changed since it was compiled.",
        records.changed_source,
    ),
    Rule("circular", "A page or card that cites an answer (answers do not count as evidence).", answers.circular),
    Rule("answer-stale", "An answer that cites a claim that has changed since.", answers.stale),
    Rule("not-compiled", "A file in raw/ that has not been compiled.", claims.not_compiled),
    Rule(LATE, "A source not reviewed for longer than `[freshness]` in retain.toml allows.", freshness.late),
    Rule("card-long", "An answer that is too long to recall at once.", cards.too_long),
    Rule("card-double", "Two cards that ask the same question.", cards.doubles),
    Rule("card-ambiguous", "Two cards that ask the same question but have different answers.", cards.ambiguous),
    Rule("card-damaged", "Text in a deck that cannot be read as a card.", card_text.damaged),
    Rule("card-leaks", "A question that contains its answer.", cards.leaking),
    Rule("card-unclear", 'A question that uses "it" or "this" without saying what it refers to.', cards.unclear),
    Rule("card-unsupported", "A card whose evidence is missing or does not support its answer.", support.cards),
    Rule(logs.LOST, "A log that has lost records.", logs.lost),
    Rule(logs.DAMAGED, "A line of a log that cannot be read.", logs.damaged),
)


def lint(wiki: Wiki, codes: Sequence[str] = ()) -> list[Diagnostic]:
    """Return what is wrong with a wiki, by the rules with these codes or by all; in order of path, line and code."""
    found = [
        Diagnostic(path, line, rule.code, what, remedy)
        for rule in RULES
        if not codes or rule.code in codes
        for path, line, what, remedy in rule.check(wiki)
    ]
    return sorted(set(found))


def no_longer_found(before: Sequence[Diagnostic], now: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings of an earlier check that a later one has no more.

    One that only names another line, or another number of things, is still found.
    """
    left = Counter(map(_matter, now))
    gone = []
    for each in before:
        if left[_matter(each)]:
            left[_matter(each)] -= 1
        else:
            gone.append(each)
    return gone


def _matter(found: Diagnostic) -> tuple[str, str, str]:
    """Return what a finding is about: its rule, its file, and its words without numbers."""
    return found.code, found.path, _NUMBER.sub("", found.message)
