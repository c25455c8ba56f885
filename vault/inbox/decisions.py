"""Decides inbox questions and undoes decisions: first copies of what is replaced, then the ledger, then the files.

The decision is in the ledger before a file changes, so that a killed process can be undone or the question is asked
again. The copies are stored outside the vault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vault.audit.agent_runs import refuse_beside_agents
from vault.audit.blobs import Copies
from vault.errors import EditedMeanwhile, NotFound, Refused, RetainError, UsageError
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.ids import digest12
from vault.inbox.events import TYPE, UNDO, Choice, current_decisions, reason_of
from vault.inbox.items import Change, Item
from vault.inbox.listing import decisions, exact, items_given, source_of
from vault.layout import PROPOSALS
from vault.locks import lock
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.frontmatter import human_edited
from vault.text.formatting import clean_line
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Undone:
    """A decision that was undone; `restored` are the files that were restored."""

    decision: str
    path: str
    about: str
    restored: tuple[str, ...]


def decide(
    vault: Vault,
    names: Sequence[str] | None,
    choice: Choice,
    at: datetime,
    *,
    reason: str = "",
    part: str = "",
    kind: str = "",
    via: str = "cli",
) -> list[Item]:
    """Decide the items with these ids, or one `part` of one; return the items.

    None means all proposals for pages and cards; with `kind`, all of that kind. Questions about names are only decided
    by id or kind.

    Raises: NotFound, and nothing is decided, where one of them changed since its id was shown; UsageError for
    a rejection without a reason; LockHeld; Refused while an agent's work is not checked; what the guard raises.
    """
    reason = reason_of(reason)
    if choice is Choice.REJECT and not reason:
        raise UsageError(
            "a rejection needs a reason", hint='add --because "what is wrong", or use `keep` if you have no reason'
        )
    with lock(vault.root, "publish", purpose="deciding inbox items"):
        refuse_beside_agents(vault)
        found = items_given(vault, decisions(vault))
        if names is None:
            meant = [item for item in found if (item.kind == kind if kind else item.path)]
        else:
            meant = [exact(name, found) for name in dict.fromkeys(names)]
        if part and (len(meant) != 1 or part not in meant[0].parts):
            raise NotFound(
                f"this item has no card {clean_line(part)[:40]} to decide on",
                hint="`retain inbox show ID` lists its cards",
            )
        for item in meant:
            _decide(vault, item, choice, [part] if part else list(item.parts), reason, at, via)
        return meant


def undo(vault: Vault, at: datetime, *, via: str = "cli") -> Undone:
    """Undo the last decision and restore the files that it replaced.

    Raises: NotFound where there is none; EditedMeanwhile where such a file was changed since; LockHeld; Refused.
    """
    with lock(vault.root, "publish", purpose="deciding inbox items"):
        refuse_beside_agents(vault)
        decided = decisions(vault)
        current = current_decisions(decided)
        if not current:
            raise NotFound("no inbox decision to undo", hint="`retain inbox` lists the items")
        last = current[-1]
        guard = vault.guard(Scope.INBOX)
        back = _undo_changes(vault, guard, last)
        head: Event = {
            "v": 1,
            "type": TYPE,
            "decision": UNDO,
            "path": str(last.get("path", "")),
            "voids": str(last["id"]),
        }
        with Copies.open(vault.settings.vault_id) as copies:
            copies.put_all([change.before for change in back if change.before is not None])
        guard.append(ledger.DECISIONS, ledger.encode(head | {"at": ledger.after(decided, at), "via": via}))
        for change in back:
            _apply(guard, change)
        names = tuple(change.path for change in back)
        return Undone(str(last["decision"]), str(last.get("path", "")), str(last.get("title", "")), names)


def _decide(
    vault: Vault, item: Item, choice: Choice, parts: Sequence[str], reason: str, at: datetime, via: str
) -> None:
    """Store copies, then the ledger event, then the files; if a file can't be written, undo the decision."""
    source, guard = source_of(item.kind), vault.guard(Scope.INBOX)
    changes = source.changes(vault, item, choice, parts)
    decided = decisions(vault)
    instant = ledger.after(decided, at)
    id_ = digest12("\x1f".join([item.id, choice, instant]))
    event: Event = {"v": 1, "type": TYPE, "id": id_, "decision": choice.value, "of": item.kind, "path": item.path}
    event |= {"digest": item.digest, "about": item.concept, "title": clean_line(item.about)[:200]}
    event |= {"reason": reason} if reason else {}
    event |= source.facts(item, parts)
    event |= {"files": {c.path: [_digest(c.before), _digest(c.after)] for c in changes}} if changes else {}
    with Copies.open(vault.settings.vault_id) as copies:
        copies.put_all([c.before for c in changes if c.before is not None])
    guard.append(ledger.DECISIONS, ledger.encode(event | {"at": instant, "via": via}))
    try:
        for change in changes:
            _apply(guard, change)
    except RetainError:
        later = ledger.after([*decided, {"at": instant}], at)
        guard.append(ledger.DECISIONS, ledger.encode(_voiding(event, later, via)))
        raise


def _voiding(event: Event, at: str, via: str) -> Event:
    """Return the event that undoes another one."""
    head: Event = {"v": 1, "type": TYPE, "decision": UNDO, "path": str(event.get("path", ""))}
    return head | {"voids": str(event["id"]), "at": at, "via": via}


def _apply(guard: Guard, change: Change) -> None:
    expect = _digest(change.before) or None
    if change.after is not None:
        guard.write(change.path, change.after, expect=expect)
    elif expect is not None:
        guard.remove(change.path, expect=expect)


def _undo_changes(vault: Vault, guard: Guard, event: Event) -> list[Change]:
    """Return the changes that undo a decision. Raises: EditedMeanwhile; Refused if a copy is not on this machine."""
    out: list[Change] = []
    with Copies.open(vault.settings.vault_id) as copies:
        for path, (before, after) in reversed(_files(event.get("files"))):
            now = guard.read(path)
            ours = path.startswith(f"{PROPOSALS}/")
            if _digest(now) == before:
                continue
            if _digest(now) != after:
                if ours:
                    continue  # a newer proposal is there
                hint = "your edit was kept; if you need the old text, copy it from git"
                raise EditedMeanwhile("it has been edited since the decision", where=path, hint=hint)
            if not before and not ours and human_edited((now or b"").decode("utf-8", "replace")):
                hint = "delete it by hand if you don't want it"
                raise Refused("you edited it: undoing would delete your text", where=path, hint=hint)
            data = copies.get(before) if before else None
            if before and data is None:
                if ours:
                    continue  # the next compile writes it again
                hint = "restore it from git; the decision was made on another machine"
                raise Refused("there is no copy of the old text on this machine", where=path, hint=hint)
            out.append(Change(path, now, data))
    return out


def _files(given: object) -> list[tuple[str, tuple[str, str]]]:
    """Return (path, (digest before, digest after)) of an event, which may be untrusted."""
    found = given.items() if isinstance(given, dict) else ()
    return [
        (str(path), (str(both[0]), str(both[1]))) for path, both in found if isinstance(both, list) and len(both) == 2
    ]


def _digest(data: bytes | None) -> str:
    return sha256_hex(data) if data is not None else ""
