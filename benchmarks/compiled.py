"""Vaults to be measured: one compiled here from a folder of documents, or a copy of one whose replies others gave."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.made_concepts import files_of
from benchmarks.measure import RETAIN
from compiler.replies.journal import FOLDER as REPLIES
from compiler.replies.journal import Journal
from vault.errors import UsageError
from vault.model.card import Card, Deck
from vault.vault import Vault, open_vault

_CACHES = (".retain", ".git", ".obsidian")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A vault made from the documents, what the compile said, what verify said, and how long the compile took."""

    vault: Vault
    report: dict[str, Any]
    verdict: dict[str, Any]
    seconds: float

    def cards(self) -> list[tuple[Deck, Card]]:
        return [(deck, card) for deck in self.vault.decks() for card in deck.cards]

    def replies(self) -> dict[str, Any]:
        """What the journal holds: replies by kind and by who gave them, tokens and money."""
        entries = Journal.of(self.vault)[0].entries
        return {
            "by_kind": dict(sorted(Counter(e.of for e in entries).items())),
            "by_engine": dict(sorted(Counter(e.engine for e in entries).items())),
            "input_tokens": sum(e.tokens[0] for e in entries),
            "output_tokens": sum(e.tokens[1] for e in entries),
            "usd": round(sum(e.usd or 0.0 for e in entries), 6),
        }


def part_of(folder: Path, only: Sequence[str], vault: Path | None, work: Path) -> Path:
    """The documents that are measured: those of `folder` whose paths match `only` and whose bytes `vault` has in raw/.

    All of them are `folder` itself; fewer are copied below `work`, each under its path. Raises UsageError for none.
    """
    held = {_digest(p) for p, _ in files_of(vault / "raw")} if vault is not None else None
    every = list(files_of(folder))
    kept = [(p, name) for p, name in every if not only or any(fnmatch.fnmatch(name, pattern) for pattern in only)]
    kept = [(p, name) for p, name in kept if held is None or _digest(p) in held]
    if not kept:
        raise UsageError("no document is left to measure", where=str(folder), hint="mind --only, and the vault's raw/")
    if len(kept) == len(every):
        return folder
    part = work / "part"
    for path, name in kept:
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, part / name)
    return part


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compile_folder(folder: Path, work: Path, journal: Sequence[Path] = ()) -> Compiled:
    """A new vault below `work`, compiled from the documents in `folder` by the commands that anybody would type.

    With `journal`, its replies are put where a compile keeps them, and nobody else is asked.
    """
    root = work / ("journal" if journal else "extractive")
    _retain("init", str(root), "--no-git")
    _retain("--vault", str(root), "add", str(folder))
    for file in journal:
        (root / REPLIES).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, root / REPLIES / file.name)
    return _compiled(root, "compile", "--engine", "journal" if journal else "extractive")


def copy_of(vault: Path, work: Path) -> Compiled:
    """A copy of the vault, rebuilt from its journal; as it stands, where questions are still open."""
    root = work / "journal"
    shutil.copytree(vault, root, ignore=shutil.ignore_patterns(*_CACHES), symlinks=True)
    seen = json.loads(_retain("--vault", str(root), "compile", "--engine", "journal", "--dry-run", "--json"))
    if seen.get("asked"):
        return Compiled(open_vault(str(root), None, root), seen, _verified(root), 0.0)
    return _compiled(root, "rebuild")


def _compiled(root: Path, *command: str) -> Compiled:
    start = time.perf_counter()
    report = json.loads(_retain("--vault", str(root), *command, "--json"))
    spent = time.perf_counter() - start
    return Compiled(open_vault(str(root), None, root), report, _verified(root), spent)


def _verified(root: Path) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads(_retain("--vault", str(root), "verify", "--json"))
    return verdict


def _retain(*arguments: str) -> str:
    """What the command says on stdout. Raises RuntimeError where it did more than find something."""
    done = subprocess.run([RETAIN, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"retain {' '.join(arguments)} left with {done.returncode}:\n{done.stderr}")
    return done.stdout
