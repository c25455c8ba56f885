"""A small vault with two documents, made anew for every test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vault.ids import ulid
from vault.settings import Settings, render_settings
from vault.store import Vault, open_vault

DOCUMENTS = Path(__file__).parent / "documents"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    for folder in ("raw/articles", "wiki", "learning/flashcards", "ledger", "insights", "output"):
        (root / folder).mkdir(parents=True)
    settings = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="test")
    (root / "retain.toml").write_text(render_settings(settings))
    for document in DOCUMENTS.iterdir():
        shutil.copyfile(document, root / "raw/articles" / document.name)
    (root / "insights/mine.md").write_text("mine alone\n")
    return open_vault(str(root), None, root)
