"""Carry out a decision about concepts: it is recorded in the ledger, then a build follows that asks no model.

A process killed between the two leaves the work to the next compile. Where a model's words are missing for what became
of a concept, the decision stands all the same, and `retain compile --engine ...` finishes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compiler.articles.renames import new_paths
from compiler.build.compile import Options, compile_vault
from compiler.build.last_engine import last_engine
from compiler.concepts.decisions import Decision, Op, event_of
from compiler.concepts.edits import Known, Shelf, dated
from compiler.model.report import Report
from compiler.protocol.requests import Request
from compiler.replies.asker import Waiting
from compiler.sources.inventory import scan
from vault.audit.agent_runs import refuse_beside_agents
from vault.diagnostic import Diagnostic
from vault.files.guard import Scope
from vault.files.write_scopes import is_conflict_copy
from vault.layout import CONCEPTS
from vault.locks import lock
from vault.log import ledger
from vault.model.frontmatter import human_edited
from vault.model.wikilink import links
from vault.vault import Vault

Make = Callable[[Shelf], Decision]
_NOTES = ("insights", "wiki", "output", "learning")  # folders whose notes may link to a page


@dataclass(frozen=True, slots=True)
class Effect:
    """What came of a decision. `waiting` says which questions are open for a model, "" if all is done."""

    decision: Decision
    written: tuple[str, ...]
    removed: tuple[str, ...]
    report: Report | None
    before: Shelf
    after: Shelf
    waiting: str = ""

    @property
    def without_effect(self) -> bool:
        """Return whether a split left one concept, as no claim that makes an article is about the other."""
        ended = self.report is not None and self.after is not self.before
        return ended and self.decision.op is Op.SPLIT and self.after.called(self.decision.name) is None

    @property
    def concepts(self) -> list[Known]:
        """Return the concepts that are new, or have another title or other aliases than before."""
        known = {k.id: (k.title, k.aliases) for k in self.before.concepts}
        return [k for k in self.after.concepts if known.get(k.id) != (k.title, k.aliases)]


def take_effect(vault: Vault, make: Make, at: datetime, progress: Callable[[dict[str, Any]], None]) -> Effect:
    """Record a decision about concepts in the ledger, then build; return what came of it.

    Raises: UsageError or NotFound from `make`, when nothing is written; LockHeld; what the build raises, when the
    decision is recorded and the next compile follows it.
    """
    with lock(vault.root, "publish", purpose="recording a decision about concepts"):
        refuse_beside_agents(vault)
        before = Shelf.of(vault)
        decision = dated(make(before), before, at)
        vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event_of(decision)))
    report, waiting = None, ""
    try:
        report = compile_vault(vault, Options(last_engine(vault), wait_s=60), at, progress)
    except Waiting as error:
        waiting = f"{_counted(error.requests)} open"
    return _effect(decision, report, before, Shelf.of(vault), waiting)


def try_out(vault: Vault, make: Make, at: datetime, progress: Callable[[dict[str, Any]], None]) -> Effect:
    """Return what would come of a decision; nothing is written. Raises as `take_effect` does."""
    before = Shelf.of(vault)
    decision = dated(make(before), before, at)
    options = Options(last_engine(vault), dry_run=True, fresh=False, decisions=(event_of(decision),))
    report = compile_vault(vault, options, at, progress)
    asked = f"{_counted(report.open, 'would be')} open" if report.open else ""
    return _effect(decision, report, before, before, asked)


def _counted(requests: Sequence[Request], verb: str = "") -> str:
    """Return how many questions there are, by the names of their types in `retain agent next`."""
    types = ", ".join(f"{n} {type_}" for type_, n in sorted(Counter(r.type for r in requests).items()))
    one = len(requests) == 1
    return f"{len(requests)} {'question' if one else 'questions'} ({types}) {verb or ('is' if one else 'are')}"


def _effect(decision: Decision, report: Report | None, before: Shelf, after: Shelf, waiting: str) -> Effect:
    """Return what came of a decision, with what the build wrote and removed."""
    written = tuple(report.written) if report else ()
    removed = tuple(report.removed) if report else ()
    return Effect(decision, tuple(p for p in written if p not in removed), removed, report, before, after, waiting)


def stale_links(vault: Vault) -> Iterator[Diagnostic]:
    """Yield the links in the user's notes to concepts that moved, and old pages that the user edited.

    Generated pages are rewritten and have none. Nothing is changed: the notes are the user's.
    """
    ids = ledger.fold(vault.ledger_events(ledger.IDS)[0])
    there = set(vault.paths(CONCEPTS, ".md"))
    moved = new_paths(ids, CONCEPTS)
    targets = {old.removesuffix(".md"): new.removesuffix(".md") for old, new in moved.items() if old not in there}
    targets |= {old.rpartition("/")[2]: new for old, new in targets.items()}  # Obsidian's short links
    for old in sorted(moved.keys() & there):
        if human_edited((vault.read_bytes(old) or b"").decode("utf-8", "replace")):
            hint = f"copy what you want to keep into {moved[old]}, then delete this page"
            yield Diagnostic(
                old, 0, "old-page", "you edited this page, but its concept was merged, split or renamed", hint
            )
    for folder in _NOTES if targets else ():
        for file in scan(vault.root, folder).files:
            if file.path.endswith(".md") and not is_conflict_copy(file.path):
                yield from _stale(file.path, (vault.read_bytes(file.path) or b"").decode("utf-8", "replace"), targets)


def _stale(path: str, text: str, targets: dict[str, str]) -> Iterator[Diagnostic]:
    """Yield the links in one note that lead to an old path; `targets` maps old paths to new ones."""
    for number, line in enumerate(text.split("\n"), 1):
        for link in links(line) if "[[" in line else ():
            new = targets.get(link.target.strip().removesuffix(".md"))
            if new is not None:
                yield Diagnostic(
                    path, number, "old-link", f"links to {link.target}", f"it is now {new}: change the link"
                )
