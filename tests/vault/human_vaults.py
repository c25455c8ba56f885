"""Two vaults full of notes to watch over, and what their files hold."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from vault.audit.changes import Change
from vault.audit.watcher import Audit, AuditReport, Outcome
from vault.config.settings import Settings
from vault.config.user import set_personal_vault
from vault.vault import Vault

START = datetime(2026, 11, 22, 10, tzinfo=UTC)
FOLDERS = ("insights", "raw/articles", "raw/repos/x/.github", "personal", "personal/journal", "personal/.obsidian")
Tree = dict[str, tuple[str, bytes, int]]


@dataclass
class Two:
    """A vault with a personal vault beside it; `vault` and `personal` are folders of `base`."""

    base: Path
    vault: Vault
    ticks: int = 0

    @property
    def root(self) -> Path:
        return self.vault.root

    @property
    def personal(self) -> Path:
        return self.base / "personal"

    def now(self) -> datetime:
        self.ticks += 1
        return START + timedelta(minutes=self.ticks)

    def look(self, *, quick: bool = False, force: bool = False) -> AuditReport:
        with Audit.open(self.vault) as audit:
            return audit.scan(self.now(), quick=quick, force=force)

    def restore(self, changes: tuple[Change, ...]) -> Outcome:
        with Audit.open(self.vault) as audit:
            return audit.restore(changes, self.now())

    def accept(self, changes: tuple[Change, ...]) -> Outcome:
        with Audit.open(self.vault) as audit:
            return audit.accept(changes, self.now())

    def undo(self) -> Outcome:
        with Audit.open(self.vault) as audit:
            return audit.undo(self.now())

    def place(self, name: str) -> Path:
        """A folder of `FOLDERS` on the disk."""
        return (self.base if name.startswith("personal") else self.root) / name

    def tree(self) -> Tree:
        """Every file of the human's, as kind, bytes and mode; read by other means than the product's."""
        found: Tree = {}
        for top in (self.root / "insights", self.root / "raw", self.personal):
            for here, folders, names in os.walk(top):
                for name in [*names, *(f for f in folders if Path(here, f).is_symlink())]:
                    path = Path(here, name)
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        found[str(path)] = ("file", path.read_bytes(), stat.S_IMODE(status.st_mode))
                    elif stat.S_ISLNK(status.st_mode):
                        found[str(path)] = ("link", os.fsencode(path.readlink()), 0)
                    else:
                        found[str(path)] = ("odd", b"", 0)
        return found


def two_vaults(base: Path, *, vault_id: str = "01JD0000000000000000000000") -> Two:
    """Both, with nothing in them."""
    for name in ("vault/insights", "vault/raw", "vault/wiki", "personal"):
        (base / name).mkdir(parents=True)
    set_personal_vault(vault_id, base / "personal")
    return Two(base, Vault((base / "vault").resolve(), Settings(vault_id=vault_id, name="v")))


def fill(two: Two, chance: Random, files: int = 24) -> None:
    """Notes and other bytes, some of them alike, some empty, under names as people give them."""
    for number in range(files):
        folder = two.place(FOLDERS[number % len(FOLDERS)])
        folder.mkdir(parents=True, exist_ok=True)
        name = (
            chance.choice(("note", "Über das Vergessen", "日記", "a b", ".hidden", "#tag [x]|y", "it's 100%"))
            + f" {number}.md"
        )
        size = chance.choice((0, 1, 40, 700, 9_000))
        data = b"alike" * 20 if number % 9 == 0 else chance.randbytes(size)
        path = folder / name
        path.write_bytes(data)
        path.chmod(chance.choice((0o644, 0o600, 0o664, 0o755)))
