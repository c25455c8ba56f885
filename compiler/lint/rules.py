"""The rules of `retain lint`, and the findings of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compiler.lint import answers, cards, claims, freshness, links, pages
from compiler.lint.wiki import Wiki
from compiler.sources.freshness import LATE
from vault.diagnostic import Diagnostic

Found = Iterable[tuple[str, int, str, str]]  # (path, line, what is wrong, remedy)


@dataclass(frozen=True, slots=True)
class Rule:
    """`code` names a finding, `about` says what is found and why it matters, `check` finds it."""

    code: str
    about: str
    check: Callable[[Wiki], Found]


RULES: tuple[Rule, ...] = (
    Rule("broken-link", "A link to a note, heading or claim that is not there.", links.broken),
    Rule("ambiguous-link", "A link without a folder that several notes could be meant by.", links.ambiguous),
    Rule("orphan", "An article that no other article, topic or note of yours links to.", links.orphans),
    Rule(
        "unindexed", "A page that no index lists, so that agents and search engines do not come to it.", links.unindexed
    ),
    Rule("near-duplicate", "Two articles whose names differ in spelling only.", pages.near_duplicates),
    Rule("no-definition", "An article that does not begin with a statement of what its subject is.", pages.undefined),
    Rule("missing-page", "A term that the sources use and no page explains.", pages.missing),
    Rule("thin", "An article of one statement.", pages.thin),
    Rule("stale", "A page that was to be looked at again by now, by its `freshness`.", pages.stale),
    Rule("quarantined", "A page that an agent wrote and that is held back.", pages.quarantined),
    Rule("confidence", "A page whose confidence is higher than its evidence allows.", pages.overconfident),
    Rule("unreadable", "A page that cannot be read.", pages.unreadable),
    Rule("uncited", "A statement in an article without a citation.", claims.uncited),
    Rule(
        "superseded", "A page that cites a claim of an older edition though a newer one has others.", claims.superseded
    ),
    Rule("retracted", "A page that cites a claim that its source does not make any more.", claims.retracted),
    Rule(
        "contradiction", "Two sources that contradict each other on an article's subject, undecided.", claims.undecided
    ),
    Rule("circular", "A page or card that rests on an answer, which is evidence of nothing.", answers.circular),
    Rule("answer-stale", "An answer that rests on a claim that has changed since.", answers.stale),
    Rule("not-compiled", "A file in raw/ of which the wiki knows nothing.", claims.not_compiled),
    Rule(LATE, "A source not looked at for longer than `[freshness]` in retain.toml allows.", freshness.late),
    Rule("card-long", "An answer longer than one recalls at once.", cards.too_long),
    Rule("card-double", "Two cards that ask the same.", cards.doubles),
    Rule("card-leaks", "A question that has its answer in it.", cards.leaking),
    Rule("card-unclear", 'A question that says "it" or "this" of something that it does not name.', cards.unclear),
    Rule("card-unsupported", "A card of the compiler's that cites no claim.", cards.unsupported),
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
