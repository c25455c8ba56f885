"""The number of files in a folder that is to become a vault; nothing is opened."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MOST = 20_000  # files that are counted


@dataclass(frozen=True, slots=True)
class Survey:
    """The number of files: `notes` end in .md; `more` if counting stopped early."""

    notes: int = 0
    others: int = 0
    obsidian: bool = False
    git: bool = False
    more: bool = False

    @property
    def empty(self) -> bool:
        return not (self.notes or self.others or self.obsidian or self.git)


def survey(folder: Path) -> Survey:
    """Count the files below `folder`, without hidden and unreadable folders."""
    notes = others = 0
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found = sum(name.endswith(".md") for name in names)
        notes, others = notes + found, others + len(names) - found
        if notes + others > MOST:
            break
    obsidian, git = (folder / ".obsidian").is_dir(), (folder / ".git").exists()
    return Survey(notes, others, obsidian, git, notes + others > MOST)
