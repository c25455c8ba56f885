"""Vaults for tests: a folder with settings, the folders of a vault and whatever files a test writes down."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from vault.config.settings import FILE, Settings, render_settings
from vault.ids import ulid
from vault.vault import Vault, open_vault

SETTINGS = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="test")
FOLDERS = ("raw/articles", "wiki", "learning/flashcards", "ledger", "insights", "output")
DOCUMENTS = Path(__file__).parent / "compiler" / "documents"  # two short ones, with plain definitions


def make_vault(root: Path, files: Mapping[str, str], settings: Settings = SETTINGS) -> Vault:
    """Write a vault at `root` with these files, each a text at a path, and open it."""
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / FILE).write_text(render_settings(settings), encoding="utf-8")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return open_vault(str(root), None, root)


def vault_with_sources(root: Path, sources: Mapping[str, str]) -> Vault:
    """Write a vault whose `raw/articles` holds these sources, each a text under its name."""
    return make_vault(root, {f"raw/articles/{name}": text for name, text in sources.items()})


def copy_vault(vault: Path, root: Path) -> Vault:
    """Copy the vault at `vault` to `root` and open the copy."""
    shutil.copytree(vault, root)
    return open_vault(str(root), None, root)
