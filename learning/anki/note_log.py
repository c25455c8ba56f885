"""What Anki knows of each card: `learning/anki/notes.jsonl`, to which lines are only appended.

{"v":1,"type":"export","card":"k7q2m9xd3f","at":"2026-11-21T09:30:00.000Z","vault":"0f3a9c1e2b","note":"…","fields":"…"}

    export      the note was written into a package; `note` and `fields` are digests, `at` is Anki's "modified"
    sync        the same, of a note that a running Anki holds
    create      a sync made the note in Anki: its `number` there and its `guid`, "" while that is unknown
    conflict    note and card were both edited: `fields` are those in Anki, `front` and `back` their words;
                without `fields`, it is settled; `several` of a note that is not one card with question and answer
    suspension  whether the card is suspended in Anki was imported, as of `at`
    import      a package had a version of the note that is newer in Anki; `at` is Anki's "modified"

The state depends neither on the order of the lines nor on their repetition, so that clones merge by union.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from vault.files.folder import Folder
from vault.files.guard import Scope
from vault.ids import CardId, vault_digest
from vault.log.ledger import FAR, NOTES, Event, decode, encode, parse_instant
from vault.log.older_files import older_lines
from vault.log.review_log import unix_ms
from vault.vault import Vault


@dataclass(slots=True)
class NoteRecord:
    """What is known of a card's note in Anki.

    `digest` is of the note as given out last, by a package or a sync, `modified` the Unix second since when it says so
    (0: it was never given out). The digests of its fields are in `given` if they were ever given out, in `synced` if
    Anki held them at the last sync. `created` maps numbers of notes that a sync created to their GUIDs, "" while
    unknown. `suspension` is the Unix second of the last suspension imported, -1 for none. `tags` are those that it was
    ever given, `synced_tags` those that it had in Anki after the last sync. `imported` is the last second in which the
    note was modified in Anki, as far as packages told. `fields` is the digest of the fields that were given out last.
    """

    digest: str = ""
    modified: int = 0
    given: set[str] = field(default_factory=set)
    synced: set[str] = field(default_factory=set)
    created: dict[int, str] = field(default_factory=dict)
    suspension: int = -1
    _synced_at: int = 0
    tags: set[str] = field(default_factory=set)
    synced_tags: set[str] = field(default_factory=set)
    imported: int = 0
    fields: str = ""
    conflict: tuple[int, str] = (0, "")  # the second, and the digest of the fields in Anki

    @property
    def guid(self) -> str:
        """Return the GUID that Anki chose for the newest note that a sync created; "" if none is known."""
        return next((guid for _, guid in sorted(self.created.items(), reverse=True) if guid), "")

    @property
    def lacks_guid(self) -> bool:
        """Return whether a sync created the note and its GUID is unknown: a package would add a second note."""
        return bool(self.created) and not self.guid

    def apply(self, event: Event) -> None:
        """Add one event; one that is invalid (of a newer version, say) is ignored."""
        second = _second(event["at"])
        number, guid = event.get("number"), _text(event, "guid")
        match event["type"]:
            case "export" | "sync" if second > 0:  # Anki fails on a note of the second 0
                synced = event["type"] == "sync"
                self._give_tags(second, _texts(event, "tags"), synced=synced)
                self._give(second, _text(event, "note"), _text(event, "fields"), synced=synced)
            case "create" if type(number) is int:
                self.created[number] = max(guid, self.created.get(number, ""))
            case "conflict":
                self.conflict = max(self.conflict, (second, _text(event, "fields")))
            case "import":
                self.imported = max(second, self.imported)
            case "suspension":
                self.suspension = max(second, self.suspension)

    def _give_tags(self, second: int, tags: set[str], *, synced: bool) -> None:
        """Add the tags that were given out at `second`; of two syncs then, what both had counts."""
        self.tags |= tags
        if synced and second >= self._synced_at:
            self.synced_tags = tags & self.synced_tags if second == self._synced_at else tags

    def _give(self, second: int, digest: str, fields: str, *, synced: bool) -> None:
        """Add what was given out at `second`. Of two clones that gave out other words then, neither is the last."""
        if second == self.modified and (digest, fields) != (self.digest, self.fields):
            self.digest = self.fields = ""
        elif second > self.modified:
            self.digest, self.fields, self.modified = digest, fields, second
        self.given.add(fields)
        if synced and second >= self._synced_at:
            self.synced = {fields} | (self.synced if second == self._synced_at else set())
            self._synced_at = second


@lru_cache(4096)  # an export writes many lines of one instant
def _second(instant: str) -> int:
    return unix_ms(parse_instant(instant)) // 1000


def _text(event: Event, key: str) -> str:
    """Return the text under a key; "" for what no note of Anki's could hold."""
    value = event.get(key)
    return value if isinstance(value, str) and value.isprintable() else ""


def _texts(event: Event, key: str) -> set[str]:
    """Return the texts in a list under a key; none where it is no list."""
    value = event.get(key)
    found = value if isinstance(value, list) else []
    return {word for word in found if isinstance(word, str) and word.isprintable()}


def fold(events: Iterable[Event], vault_id: str) -> dict[CardId, NoteRecord]:
    """Return the state after `events`, in any order; those of another vault, as of a copied folder, do not count."""
    records: dict[CardId, NoteRecord] = {}
    vault = vault_digest(vault_id)
    for event in events:
        card = event.get("card")
        if event.get("vault") == vault and isinstance(card, str) and event["at"] < FAR:
            records.setdefault(CardId(card), NoteRecord()).apply(event)
    return records


def read_notes(vault: Vault) -> Mapping[CardId, NoteRecord]:
    """Return what is known of each card's note in Anki. Raises: Refused if the log cannot be read."""
    folder, _, _ = NOTES.rpartition("/")
    files = [vault.read_bytes(path) or b"" for path in vault.paths(folder, ".jsonl")]  # and copies of sync programs
    id_ = vault.settings.vault_id
    return fold(decode(b"\n".join([*files, older_lines(Folder(vault.root), NOTES, id_)]), NOTES)[0], id_)


def record(vault: Vault, events: Iterable[Event]) -> None:
    """Append the events to the log. Raises: WriteFailed, Refused."""
    if lines := b"".join(map(encode, events)):
        vault.guard(Scope.LOG).append(NOTES, lines)
