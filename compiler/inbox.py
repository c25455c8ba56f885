"""What waits for the human's word, from whatever source it comes: listed, decided, taken back.

A source (`compiler.inbox_sources`) says what waits and which files a decision changes; here is what all of them share:
ids, the ledger, the copies of what is replaced, and the one order in which it is done. The decision is in the ledger
before a file changes, so that what a killed process left can be taken back or is offered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from compiler.inbox_events import TYPE, UNDO, Choice, reason_of, standing
from vault import ledger
from vault.agent_run import refuse_beside_agents
from vault.clean import clean_line
from vault.diagnostic import Diagnostic
from vault.errors import EditedMeanwhile, NotFound, Refused, RetainError, UsageError
from vault.folder import sha256_hex
from vault.guard import Guard, Scope
from vault.ids import digest12, mint
from vault.ledger import Event
from vault.locks import lock
from vault.store import PROPOSALS, Vault

_HALF = 4  # characters of an id that say which item it is; as many more say how it stands


@dataclass(frozen=True, slots=True)
class View:
    """Two texts to be looked at side by side. `part` is what can be decided on its own: a card's id; else ""."""

    title: str
    mine: str
    offered: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One question to the human. `digest` names the version that is offered, `state` what stands there now.

    `kind` is article, topic, summary, deck or one of another source's; `since` an instant, or "". `concept` is the id
    of what it is about, under which a prompt finds the reason of a rejection. `note` is what else is to be known.
    """

    kind: str
    path: str
    about: str
    since: str
    digest: str
    state: str
    views: tuple[View, ...]
    concept: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """Eight characters: another question has another first half, another version of either side another second."""
        return self.stem + mint("inbox-state", f"{self.digest}\x1f{self.state}")[:_HALF]

    @property
    def stem(self) -> str:
        return mint("inbox", f"{self.kind}\x1f{self.path or self.about}")[:_HALF]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(view.part for view in self.views if view.part)


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a decision changes, from these bytes to those; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None


class Source(Protocol):
    """Where questions come from. What it gives is compared with the disk again before anything is written."""

    kinds: tuple[str, ...]
    told: Mapping[Choice, str]  # what a choice means for them, where it isn't what it means for pages

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterable[Item]:
        """All that waits; reads only. `decided` are the events of the ledger of decisions, ordered."""
        ...

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        """The files that a decision on `parts` of an item changes, in that order; none where the ledger is enough."""
        ...

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        """What else the decision's event is to hold."""
        ...


@dataclass(frozen=True, slots=True)
class Undone:
    """A decision that was taken back; `restored` are the files that are as they were before it."""

    decision: str
    path: str
    about: str
    restored: tuple[str, ...]


def items(vault: Vault) -> list[Item]:
    """All that waits, by kind and path. Reads only."""
    return _items(vault, _decided(vault))


def waiting(vault: Vault) -> tuple[int, list[Diagnostic]]:
    """How much waits; 0 and why where that cannot be told, as whoever asks has other things to tell."""
    try:
        return len(items(vault)), []
    except RetainError as error:
        return 0, [Diagnostic(error.where, 0, "inbox", error.what, error.hint)]


def find(vault: Vault, name: str) -> Item:
    """The item with this id, or the only one whose id begins so, or whose path it is. Raises: NotFound."""
    found = items(vault)
    for asked in ([i for i in found if i.id == name], [i for i in found if name in (i.path, f"{i.path[:-3]}")]):
        if asked:
            return asked[0]
    begun = [i for i in found if len(name) >= _HALF and i.id.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    raise _unknown(name, found)


def decide(
    vault: Vault,
    names: Sequence[str] | None,
    choice: Choice,
    at: datetime,
    *,
    reason: str = "",
    part: str = "",
    via: str = "cli",
) -> list[Item]:
    """Settle the items with these ids (None: all of them), or one `part` of one; gives them as they were.

    Raises: NotFound, and nothing is decided, where one of them is not as it was when its id was shown; UsageError for
    a rejection without a reason; LockHeld; Refused while an agent's work is not settled; what the guard raises.
    """
    reason = reason_of(reason)
    if choice is Choice.REJECT and not reason:
        raise UsageError("a rejection says why", hint='--because "what is wrong with it"; without a reason: keep')
    with lock(vault.root, "publish", purpose="settling the inbox"):
        refuse_beside_agents(vault)
        found = _items(vault, _decided(vault))
        meant = found if names is None else [_exactly(name, found) for name in dict.fromkeys(names)]
        if part and (len(meant) != 1 or part not in meant[0].parts):
            raise NotFound(
                f"no card {clean_line(part)[:40]} waits there", hint="`retain inbox show ID` names its cards"
            )
        for item in meant:
            _settle(vault, item, choice, [part] if part else list(item.parts), reason, at, via)
        return meant


def undo(vault: Vault, at: datetime, *, via: str = "cli") -> Undone:
    """Take back the last decision that counts; files that it replaced get their bytes back.

    Raises: NotFound where there is none; EditedMeanwhile where such a file was changed since; LockHeld; Refused.
    """
    with lock(vault.root, "publish", purpose="settling the inbox"):
        refuse_beside_agents(vault)
        decided = _decided(vault)
        stands = standing(decided)
        if not stands:
            raise NotFound("nothing was decided in the inbox", hint="`retain inbox` lists what waits")
        last = stands[-1]
        guard = vault.guard(Scope.INBOX)
        back = _way_back(vault, guard, last)
        head: Event = {
            "v": 1,
            "type": TYPE,
            "decision": UNDO,
            "path": str(last.get("path", "")),
            "voids": str(last["id"]),
        }
        guard.append(ledger.DECISIONS, ledger.encode(head | {"at": ledger.after(decided, at), "via": via}))
        for change in back:
            _apply(guard, change)
        names = tuple(change.path for change in back)
        return Undone(str(last["decision"]), str(last.get("path", "")), str(last.get("title", "")), names)


def source_of(kind: str) -> Source:
    """Whose items of that kind are."""
    from compiler.inbox_sources import sources

    return next(source for source in sources() if kind in source.kinds)


def _items(vault: Vault, decided: Sequence[Event]) -> list[Item]:
    from compiler.inbox_sources import sources

    found = [item for source in sources() for item in source.items(vault, decided)]
    order = {kind: n for n, kind in enumerate(k for source in sources() for k in source.kinds)}
    return sorted(found, key=lambda item: (order[item.kind], item.path, item.about))


def _decided(vault: Vault) -> list[Event]:
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


def _exactly(name: str, found: Sequence[Item]) -> Item:
    """The item with this very id: how both sides stand is in it, so nobody decides on what they have not seen."""
    item = next((i for i in found if i.id == name), None)
    if item is not None:
        return item
    raise _unknown(name, found)


def _unknown(name: str, found: Sequence[Item]) -> NotFound:
    shown = clean_line(name)[:80]
    same = next((i for i in found if len(name) == 2 * _HALF and i.stem == name[:_HALF]), None)
    if same is not None:
        hint = f"look at it again: `retain inbox show {same.id}`"
        return NotFound(f"{shown} is not as it was shown: one side has changed since", where=same.path, hint=hint)
    begun = [i.id for i in found if name and i.id.startswith(name)]
    if begun:
        return NotFound(f"an id is needed in full, and {shown} is not one", hint=f"there is {', '.join(begun[:5])}")
    return NotFound(f"nothing with the id {shown} waits in the inbox", hint="`retain inbox` lists what does")


def _settle(
    vault: Vault, item: Item, choice: Choice, parts: Sequence[str], reason: str, at: datetime, via: str
) -> None:
    """Copies first, then the ledger, then the files; a file that would not be written takes the decision back."""
    source, guard = source_of(item.kind), vault.guard(Scope.INBOX)
    changes = source.changes(vault, item, choice, parts)
    decided = _decided(vault)
    instant = ledger.after(decided, at)
    id_ = digest12("\x1f".join([item.id, choice, instant]))
    event: Event = {"v": 1, "type": TYPE, "id": id_, "decision": choice.value, "of": item.kind, "path": item.path}
    event |= {"digest": item.digest, "about": item.concept, "title": clean_line(item.about)[:200]}
    event |= {"reason": reason} if reason else {}
    event |= source.facts(item, parts)
    event |= {"files": {c.path: [_digest(c.before), _digest(c.after)] for c in changes}} if changes else {}
    from vault.copies import Copies  # a database: listing needs none

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
    """The event that takes another one back."""
    head: Event = {"v": 1, "type": TYPE, "decision": UNDO, "path": str(event.get("path", ""))}
    return head | {"voids": str(event["id"]), "at": at, "via": via}


def _apply(guard: Guard, change: Change) -> None:
    expect = _digest(change.before) or None
    if change.after is not None:
        guard.write(change.path, change.after, expect=expect)
    elif expect is not None:
        guard.remove(change.path, expect=expect)


def _way_back(vault: Vault, guard: Guard, event: Event) -> list[Change]:
    """The changes that undo a decision. Raises: EditedMeanwhile; Refused where a copy is not on this machine."""
    from vault.copies import Copies

    out: list[Change] = []
    with Copies.open(vault.settings.vault_id) as copies:
        for path, (before, after) in reversed(_files(event.get("files"))):
            now = guard.read(path)
            ours = path.startswith(f"{PROPOSALS}/")
            if _digest(now) == before:
                continue
            if _digest(now) != after:
                if ours:
                    continue  # the machine has laid something newer there
                hint = "your edit stays; take what you want of the old text from git"
                raise EditedMeanwhile("it was edited since the decision", where=path, hint=hint)
            data = copies.get(before) if before else None
            if before and data is None:
                if ours:
                    continue  # the next compile lays it there again
                hint = "take it from git; the decision was made on another machine"
                raise Refused("no copy of the old text is on this machine", where=path, hint=hint)
            out.append(Change(path, now, data))
    return out


def _files(given: object) -> list[tuple[str, tuple[str, str]]]:
    """Path -> digests before and after, of an event that a stranger may have written."""
    found = given.items() if isinstance(given, dict) else ()
    return [
        (str(path), (str(both[0]), str(both[1]))) for path, both in found if isinstance(both, list) and len(both) == 2
    ]


def _digest(data: bytes | None) -> str:
    return sha256_hex(data) if data is not None else ""
