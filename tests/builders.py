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


# Two documents that use a capstan and a cleat as if known.
NEEDY = {
    "raw/articles/rigging.md": """# Rigging

A halyard is a rope that hoists a sail. It runs over a block at the top of the mast, and the crew wind it on a capstan.

On small boats the halyard ends at a cleat instead, since nobody needs a capstan for a sail of ten square metres. A rope
holds on a cleat by friction alone.
""",
    "raw/articles/anchors.md": """# Anchors

An anchor is a hook of iron that holds a ship at one place. The chain of the anchor leads over the bow to the capstan.

Six sailors turn the capstan until the anchor is home. A worn capstan slips in heavy weather.

In harbour the crew make the rope fast to a cleat on the quay. Every boat finds a cleat there.
""",
}
NEEDED = "# Gear on deck\n\nA capstan is a drum on deck that sailors turn to haul a rope or a chain.\n"
