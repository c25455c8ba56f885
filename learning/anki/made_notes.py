"""Notes that a sync created in Anki one by one: Anki chose their GUIDs, so they are recorded here.

Only what stands here is believed of such a note. Its tag and its field CardId could be in any stranger's deck.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from vault.errors import Refused, WriteFailed
from vault.files.guard import Scope
from vault.ids import CardId
from vault.vault import Vault

MADE = ".retain/anki-notes.json"


@dataclass(frozen=True, slots=True)
class Made:
    """A created note by Anki's number; `guid` is "" until a package from Anki has shown it."""

    number: int
    guid: str = ""


def read_made(vault: Vault) -> dict[CardId, Made]:
    """Return by card the note that a sync created of it; empty where the file is missing or damaged."""
    try:
        found = json.loads(vault.read_bytes(MADE) or b"{}")
        return {CardId(card): Made(int(number), str(guid)) for card, (number, guid) in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def record_made(vault: Vault, made: Mapping[CardId, Made]) -> None:
    """Record created notes. Without it they count as foreign notes in a package from Anki."""
    kept = {card: [one.number, one.guid] for card, one in (read_made(vault) | dict(made)).items()}
    data = json.dumps(kept, indent=0, sort_keys=True).encode()
    with suppress(WriteFailed, Refused):
        vault.guard(Scope.LOG).update(MADE, lambda _: data)


def newly_made(made: Mapping[CardId, Made], seen: Iterable[tuple[CardId, int, str]]) -> dict[CardId, Made]:
    """Return those of `made` whose GUID is known now; `seen` are (card, number, GUID) of notes in a package
    from Anki.
    """
    return {
        card: replace(made[card], guid=guid)
        for card, number, guid in seen
        if card in made and made[card].number == number and made[card].guid != guid
    }
