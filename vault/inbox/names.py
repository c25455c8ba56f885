"""Inbox questions about two names: are they one concept or two?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from vault.ids import digest12
from vault.inbox.events import Choice, current_decisions
from vault.inbox.items import Change, Item, View
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import clean_line, normal
from vault.vault import Vault

KIND = "names"
_DOUBT = b'"doubt"'  # in each event of the ledger of ids on two names


class Names:
    """Pairs of names: accepted, the next compile makes them one concept; kept or rejected, they stay two."""

    kinds: tuple[str, ...] = (KIND,)
    messages: Mapping[Choice, str] = MappingProxyType(
        {
            Choice.ACCEPT: "one concept: the next `retain compile` merges them",
            Choice.KEEP: "two concepts: they stay separate",
            Choice.REJECT: "two concepts: they stay separate",
        }
    )

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        if _DOUBT not in (vault.read_bytes(ledger.IDS) or b""):
            return  # most vaults have none, and their ledger of ids is long
        events = vault.ledger_events(ledger.IDS)[0]
        created = [e for e in events if e.get("of") == "doubt" and e.get("type") == "birth" and _is_whole(e)]
        if not created:
            return
        ids = ledger.fold(e for e in events if e.get("of") == "doubt")
        decided_pairs = {tuple(keys) for e in current_decisions(decided) if isinstance(keys := names_of(e), list)}
        for event in sorted({str(e["id"]): e for e in created}.values(), key=lambda e: str(e["key"])):
            if ids.alive(str(event["id"])) and tuple(event["names"]) not in decided_pairs:
                yield _item(event)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        return ()

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        return {"names": list(item.state.split("\x1f"))}


def names_of(decision: Event) -> list[str] | None:
    """Return the two keys that an inbox decision is about; None for other decisions."""
    keys = decision.get("names")
    return keys if decision.get("of") == KIND and _is_two(keys) else None


def _is_two(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) and 0 < len(v) <= 200 for v in value)


def _is_whole(event: Event) -> bool:
    return _is_two(event.get("names")) and _is_two(event.get("titles")) and isinstance(event.get("key"), str)


def _item(event: Event) -> Item:
    one, other = (clean_line(normal(title)) for title in event["titles"])
    said = event.get("said")
    words = [clean_line(normal(str(s))) for s in said] if isinstance(said, list) and len(said) == 2 else ["", ""]
    mine, offered = (f"{title}: {text}\n" for title, text in zip((one, other), words, strict=True))
    view = View(f"{one} / {other}", mine, offered)
    keys = "\x1f".join(event["names"])
    note = clean_line(normal(str(event.get("why", ""))))[:300]
    note = f"one concept (accept) or two (keep)? {note}".strip()
    return Item(KIND, "", f"{one} / {other}", str(event["at"]), digest12(keys), keys, (view,), "", note)
