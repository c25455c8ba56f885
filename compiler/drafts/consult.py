"""The stages of a compile with a model: read, settle, write, check; each asks only for what no answer covers yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.claims.extract import Extracted
from compiler.concepts.rulings import Rulings
from compiler.drafts import plan
from compiler.drafts.drafts import Drafts, checks, drafts_of
from compiler.drafts.evidence import extracted_of
from compiler.drafts.names import Group, groups_of, languages_of, settled
from compiler.drafts.plan import Rejected, Sizes
from compiler.drafts.shelf import Shelf
from compiler.language import names
from compiler.protocol.passages import Document
from compiler.replies.asker import Asker
from compiler.replies.knowledge import Knowledge
from vault.ids import SourceId
from vault.log.ledger import Ids

_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A term that documents use and none explains, with the blocks that use it."""

    name: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consulted:
    """What the answers give for a build. `rulings` have the names that SETTLE joined.

    `failed` are the sources of which nobody read some passages, `small` those that a small model read; rules read both.
    `unwritten` are the keys of concepts with a page that nobody wrote, by source; rules write about these.
    """

    shelf: Shelf
    groups: list[Group]
    drafts: Drafts
    extracted: dict[SourceId, Extracted]
    rulings: Rulings
    unexplained: list[Unexplained]
    topics: list[tuple[str, tuple[str, ...]]]
    failed: frozenset[str]
    small: frozenset[str]
    unwritten: Mapping[str, frozenset[str]]


def consult(
    documents: Sequence[Document],
    asker: Asker,
    rulings: Rulings,
    ids: Ids,
    sizes: Sizes,
    rejected: Mapping[str, Rejected],
) -> Consulted:
    """Have everything asked that no answer covers yet, and return what may be used of all answers.

    `rejected` says by title why and when the user rejected versions of an article. Raises: what the asker raises.
    """
    shelf = Shelf(documents)
    asker.ask(plan.reads(shelf, asker.knowledge(), sizes), "read")
    knowledge = asker.knowledge()
    groups = groups_of(knowledge, shelf, rulings, ids)
    if not asker.open:
        asker.ask(plan.settles(groups, shelf, knowledge), "settle")
        knowledge = asker.knowledge()
    joined = settled(rulings, knowledge, languages_of(knowledge, shelf))
    groups = groups_of(knowledge, shelf, joined, ids)
    for _ in range(_ROUNDS):  # what an answer left out, and what one request could not hold, is asked for again
        if not asker.open and (asked := plan.writes(groups, shelf, knowledge, sizes, rejected)):
            asker.ask(asked, "write")
            knowledge = asker.knowledge()
    drafts = drafts_of(groups, shelf, knowledge)
    if not asker.open:
        by = sorted({draft.by for draft in drafts.articles if draft.by})
        asker.ask(checks(drafts, shelf, sizes, by), "check")
        knowledge = asker.knowledge()
        drafts = drafts_of(groups, shelf, knowledge)
    return Consulted(
        shelf,
        groups,
        drafts,
        extracted_of(drafts, shelf, knowledge, groups),
        joined,
        _unexplained(knowledge, shelf, groups),
        [(c.topic, c.titles) for reply in knowledge.settled for c in reply.clusters if c.topic],
        frozenset(b.partition(":")[0] for b in knowledge.failed_blocks if b in shelf.blocks),
        frozenset(b.partition(":")[0] for b in knowledge.small_blocks if b in shelf.blocks),
        _unwritten(groups, drafts) if not asker.open else {},
    )


def _unwritten(groups: Sequence[Group], drafts: Drafts) -> dict[str, frozenset[str]]:
    """Return the keys of groups that are to have a page and have no draft, by source."""
    written = {draft.group.key for draft in drafts.articles}
    found: dict[str, set[str]] = {}
    for group in groups:
        if group.page and group.key not in written:
            for source in {b.partition(":")[0] for b in group.blocks}:
                found.setdefault(source, set()).update(group.keys)
    return {source: frozenset(keys) for source, keys in found.items()}


def _unexplained(knowledge: Knowledge, shelf: Shelf, groups: Sequence[Group]) -> list[Unexplained]:
    """Return the terms that readers found unexplained, but for those that another document explains."""
    taught = {names.key(n) for g in groups for n in (g.title, *g.titles, *g.aliases)}
    found: dict[str, tuple[str, dict[str, None]]] = {}
    for reading in knowledge.readings:
        for term in reading.reply.terms:
            key = names.key(term.name)
            own = [b for b in term.blocks if b in reading.blocks and b in shelf.blocks]
            if key and key not in taught and own:
                name, blocks = found.setdefault(key, (term.name, {}))
                blocks |= dict.fromkeys(own)
                found[key] = name, blocks
    return [Unexplained(name, tuple(blocks)) for name, blocks in found.values()]
