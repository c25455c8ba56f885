"""A vault with an agent at work in it: a plain function that writes files between begin and settle."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from compiler.agent_session import Outcome, Run, begin, settle
from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verdict import Verdict
from compiler.verification.verify import verify
from vault.log import ledger
from vault.vault import Vault, open_vault

PAGE = "wiki/concepts/retrieval-practice.md"
OTHER = "wiki/concepts/spacing-effect.md"
DECK = "learning/flashcards/retrieval-practice.md"
TESTING = "wiki/summaries/testing"
STARTED = datetime(2026, 11, 22, 9, tzinfo=UTC)
# A sentence that the claims bear out, and a card.
SOUND = "Recalling an answer from memory makes the next recall easier."


@dataclass
class Scene:
    """`clock` goes on by a minute with everything that happens."""

    vault: Vault
    clock: datetime = STARTED
    run: Run | None = field(default=None)

    @classmethod
    def copied(cls, compiled: Path, root: Path) -> Scene:
        shutil.copytree(compiled, root)
        return cls(open_vault(str(root), None, root))

    @property
    def root(self) -> Path:
        return self.vault.root

    def now(self) -> datetime:
        self.clock += timedelta(minutes=1)
        return self.clock

    # --- files ----------------------------------------------------------------------------------------------------

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    def change(self, path: str, old: str, new: str) -> None:
        before = self.text(path)
        assert old in before, f"{old!r} stands in {path}"
        self.write(path, before.replace(old, new, 1))

    def add(self, path: str, text: str) -> None:
        self.write(path, self.text(path).rstrip("\n") + f"\n\n{text}\n")

    def there(self, path: str) -> bool:
        return (self.root / path).exists()

    def tree(self, *but: str) -> dict[str, bytes]:
        """Every file of the vault, less caches and what begins with one of `but`."""
        files = (p for p in self.root.rglob("*") if p.is_file() and not p.is_symlink())
        named = {p.relative_to(self.root).as_posix(): p.read_bytes() for p in files}
        return {path: data for path, data in named.items() if not path.startswith((".retain/", *but))}

    def claim(self, words: str, summary: str = TESTING) -> str:
        """A citation of the claim whose quote holds the words."""
        head = self.text(f"{summary}.md").partition("## Claims")[2].partition(words)[2]
        return f"[[{summary}#^c-{head.partition('^c-')[2][:10]}|1]]"

    # --- what happens ---------------------------------------------------------------------------------------------

    def begin(self) -> Run:
        self.run = begin(self.vault, ["claude", "-p", "work"], self.now())
        return self.run

    def settle(self) -> Outcome:
        assert self.run is not None
        return settle(self.vault, self.run, self.now())

    def agent(self, work: Callable[[], object]) -> Outcome:
        """One whole run."""
        self.begin()
        work()
        return self.settle()

    def compile(self, **options: object) -> Report:
        return compile_vault(self.vault, Options(**options), self.now(), lambda event: None)  # type: ignore[arg-type]

    def rebuild(self) -> Report:
        return self.compile(fresh=True, command="rebuild")

    def verify(self) -> Verdict:
        return verify(self.vault, lambda event: None)

    def events(self, path: str = ledger.IDS) -> list[ledger.Event]:
        return ledger.ordered(self.vault.ledger_events(path)[0])


def why(settled: Outcome) -> str:
    """All reasons for which something was set aside, as one text."""
    return "\n".join(f"{q.path}:{q.line}: {q.why}" for q in settled.quarantined)


def quarantined(settled: Outcome) -> set[str]:
    return {q.path for q in settled.quarantined}


def kept(settled: Outcome) -> set[tuple[str, str]]:
    return {(k.what, k.path) for k in settled.kept}
