"""An open vault: its settings, files, decks and ledgers. Every write goes through the guard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vault.config.notes import ABOVE, HERE, NoteRules
from vault.config.settings import FILE, Settings, read_settings
from vault.config.user import personal_vault
from vault.diagnostic import Diagnostic
from vault.errors import Damaged, Refused, VaultNotFound
from vault.files.folder import Folder
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import is_conflict_copy
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, PROPOSALS, SUMMARIES, TOPICS
from vault.log import ledger
from vault.model.card import Deck, parse_deck

if TYPE_CHECKING:
    from vault.files.guard import Guard, Scope
    from vault.log import ledger
    from vault.model.card import Deck


@dataclass(frozen=True, slots=True)
class Vault:
    """`root` is absolute with links resolved; `notices` are problems of the settings.

    `keeps_caches` is false for a vault opened with settings that are only tried.
    """

    root: Path
    settings: Settings
    notices: tuple[Diagnostic, ...] = ()
    keeps_caches: bool = True
    _asked: dict[str, Path | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def personal(self) -> Path | None:
        """Return the folder of the personal vault; None if none is set. It may not exist now.

        Read from the user's settings once. Raises Damaged if those cannot be read.
        """
        if "personal" not in self._asked:
            self._asked["personal"] = personal_vault(self.settings.vault_id)
        return self._asked["personal"]

    def guard(self, scope: Scope) -> Guard:
        """Return the writer for `scope`: in the personal vault for the two PERSONAL scopes, else in this one.

        Raises Refused without a personal vault.
        """
        personal = self.personal
        if scope not in (Scope.PERSONAL, Scope.RESTORE_PERSONAL):
            return Guard(self.root, scope, forbidden=self.kept_out())
        if personal is None:
            hint = f"set one with `retain init {self.root} --personal DIR`"
            raise Refused("this vault has no personal vault", hint=hint)
        return Guard(personal, scope, forbidden=(self.root,))

    def kept_out(self) -> tuple[Path, ...]:
        """Return the folders that are never written in this vault's name: `forbidden` of a Guard or export.

        They are the personal vault, and the folders of notes that are sources in place.
        """
        personal = () if self.personal is None else (self.personal,)
        return (*personal, *self._note_folders())

    @property
    def notes(self) -> NoteRules:
        """Return which files outside `raw/` are sources; this vault's own folder never is."""
        rules = self.settings.notes
        return replace(rules, exclude=(*rules.exclude, f"../{self.root.name}")) if rules.folders else rules

    def is_source(self, path: str) -> bool:
        """Return whether a vault path is that of a source: in `raw/`, or of a note in place."""
        return path.startswith("raw/") or (bool(self.settings.notes.folders) and self.notes.covers(path))

    def has_file(self, path: str) -> bool:
        """Return whether the vault has a file of this name, which may be any words of a document: too long for one."""
        try:
            return (self.root / path).is_file()
        except (OSError, ValueError):
            return False

    def note_path(self, target: str) -> str:
        """Return the vault path of the note in place, or the file beside one, that a link means; "" if there is none.

        `target` is a path, with or without `.md`, in the folder that holds all notes.
        """
        if not self.settings.notes.folders or ".." in target.split("/"):
            return ""
        tried = (f"{above}{target}{suffix}" for above in ("", "../") for suffix in ("", ".md"))
        return next((path for path in tried if self.is_source(path) and self.has_file(path)), "")

    def _note_folders(self) -> list[Path]:
        """Return the folders with notes in place; of the whole vault, the folders in it that hold them."""
        found = []
        for folder in self.settings.notes.folders:
            if folder not in (HERE, ABOVE):
                found.append(self.root / folder)
                continue
            prefix, rules = "" if folder == HERE else "../", self.notes
            with suppress(OSError), os.scandir(self.root / folder) as entries:
                found += [Path(e.path) for e in entries if e.is_dir() and rules.enters(prefix + e.name)]
        return found

    def read_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file in the vault, following no link; None if there is none.

        A path that begins with `../` is one of the folder that holds the vault, and of a source there.
        """
        if path.startswith("../") and self.is_source(path):
            return Folder(self.root.parent).read(path.removeprefix("../"))
        return Folder(self.root).read(path)

    def read_text(self, path: str) -> str | None:
        """Return the text of a file in the vault; None if there is none. Raises Damaged if it is not UTF-8."""
        data = self.read_bytes(path)
        if data is None:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise Damaged(
                "not UTF-8", where=f"{path}:{line}", hint="save it as UTF-8, or restore it from git"
            ) from error

    def paths(self, folder: str, suffix: str) -> list[str]:
        """Return the vault paths of the regular files in `folder` that end in `suffix`, sorted.

        Conflict versions beside an edited file are left out, but not those of logs (`suffix` ".jsonl"): their lines
        count in any order and number, so that the copies of two machines are read together.
        """
        return [path for path in self._files(folder, suffix) if suffix == ".jsonl" or not is_conflict_copy(path)]

    def conflict_copies(self) -> list[str]:
        """Return the vault paths of conflict versions beside edited files; not of the review log, which reads them."""
        pages = (CONCEPTS, TOPICS, SUMMARIES, ANSWERS, FLASHCARDS)
        folders = ["wiki", "learning", "ledger", *pages, *(f"{PROPOSALS}/{folder}" for folder in pages)]
        found = [path for folder in folders for path in self._files(folder, "") if is_conflict_copy(path)]
        return [path for path in found if not path.startswith("learning/reviews")]

    def _files(self, folder: str, suffix: str) -> list[str]:
        try:
            with os.scandir(self.root / folder) as entries:
                names = [
                    e.name
                    for e in entries
                    if e.name.endswith(suffix) and not e.name.startswith(".") and e.is_file(follow_symlinks=False)
                ]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except PermissionError as error:  # empty is the last thing to take it for
            hint = f"`chmod u+rwx {folder}`, or check its owner"
            raise Refused("this folder cannot be listed", where=folder, hint=hint) from error
        return [f"{folder}/{name}" for name in sorted(names)]

    def decks(self) -> Iterator[Deck]:
        """Yield every deck, by name. An unreadable one is an empty deck with a diagnostic."""
        try:
            paths = self.paths(FLASHCARDS, ".md")
        except Refused as error:
            yield Deck(FLASHCARDS, "", (), (Diagnostic(FLASHCARDS, 0, "unreadable", error.what, error.hint),))
            return
        yield from filter(None, map(self.deck, paths))

    def deck(self, path: str) -> Deck | None:
        """Return one deck; None if it is gone. An unreadable one is an empty deck with a diagnostic."""
        try:
            text = self.read_text(path)
        except (Damaged, Refused) as error:
            line = error.where.removeprefix(f"{path}:")
            if line.isdecimal():
                found = Diagnostic(path, int(line), "not-utf-8", error.what, error.hint)
            else:
                found = Diagnostic(path, 0, "unreadable", error.what, error.hint or f"`chmod u+rw {path}`")
            return Deck(path, "", (), (found,))
        return None if text is None else parse_deck(text, path)

    def ledger_events(self, path: str) -> tuple[list[ledger.Event], list[Diagnostic]]:
        """Return the events of a ledger and diagnostics; no events if it does not exist."""
        return ledger.decode(self.read_bytes(path) or b"", path)


def open_vault(explicit: str | None, environment: str | None, start: Path) -> Vault:
    """Return the vault at `explicit`, else at `environment` (RETAIN_VAULT), else the nearest at `start` or above.

    Raises VaultNotFound; Damaged, SchemaTooNew or Refused from its settings.
    """
    root = vault_root(explicit, environment, start)
    try:
        text = (root / FILE).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8", where=FILE, hint="restore it from git") from error
    except OSError as error:
        raise Damaged(f"cannot be read: {error.strerror}", where=str(root / FILE)) from error
    settings, notices = read_settings(text)
    return Vault(root, settings, tuple(notices))


def vault_root(explicit: str | None, environment: str | None, start: Path) -> Path:
    """Return the folder of the vault that `open_vault` opens. Raises: VaultNotFound."""
    given = explicit or environment
    if given:
        root = Path(given).expanduser()
        source = "--vault" if explicit else "RETAIN_VAULT"
        try:
            there = (root / FILE).is_file()
        except OSError as error:
            raise VaultNotFound(
                f"{source} cannot be checked: {os.strerror(error.errno or 0).lower()}",
                where=str(root),
                hint="check the owners and permissions of its parent folders",
            ) from error
        if not there:
            raise VaultNotFound(
                f"{source} is not a vault: it has no {FILE}",
                where=str(root),
                hint=f"create one with `retain init {root}`",
            )
    else:
        # Not `Path.is_file`, which raises in a folder that only others may enter: a vault may still lie above it.
        found = next((p for p in [start, *start.parents] if os.path.isfile(p / FILE)), None)  # noqa: PTH113
        if found is None:
            raise VaultNotFound(
                f"no {FILE} in this folder or its parent folders",
                where=str(start),
                hint="create a vault with `retain init DIR`, or use --vault DIR",
            )
        root = found
    return root.resolve(strict=True)
