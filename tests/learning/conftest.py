"""A small vault on disk, for tests of the desk and of what stands on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault.config.settings import Settings, render_settings
from vault.vault import Vault, open_vault

SETTINGS = Settings("01KB0000000000000000000000", "Mind", timezone="Europe/Berlin")
DECKS = {
    "spacing-effect": """\
---
concept: k3v9m2x7ad
tags:
  - memory
---

# Spacing effect

## Definitional

Q: What is the spacing effect?
A: Spread-out study is *remembered* longer.
> [[wiki/summaries/the-spacing-effect#^c-7f3a9c1e2k|1]]
<!-- card aaaaaaaaa1 2c4b9d -->

## Mechanistic

Q: Why does spacing work?
A: Each repetition is harder to recall, so it teaches more.
> [[wiki/summaries/the-spacing-effect#^c-51e09ab2xy|1]]
<!-- card aaaaaaaaa2 2c4b9d -->
""",
    "interleaving": """\
---
concept: m8x1v6tqc0
tags:
  - practice
---

# Interleaving

## Definitional

Q: What is interleaving?
A: Mixing kinds of problem in one sitting.
<!-- card bbbbbbbbb1 -->
""",
}
GRAPH = """\
- [[wiki/concepts/interleaving|Interleaving]] needs [[wiki/concepts/spacing-effect|Spacing effect]]
- [[wiki/concepts/spacing-effect|Spacing effect]] relates to [[wiki/concepts/interleaving|Interleaving]]
"""
SUMMARY = """\
---
type: summary
id: s0m3s0urc3
title: The spacing effect
source: raw/articles/the-spacing-effect.md
---

# The spacing effect

> [!quote]
> study spread out over time is remembered longer
>
> definition · current · line 14

^c-7f3a9c1e2k
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Two concepts with three cards, of which the first two share a concept that the third one needs."""
    root = tmp_path / "mind"
    for folder in ("learning/flashcards", "ledger", "wiki/concepts", "wiki/summaries"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(SETTINGS))
    for stem, text in DECKS.items():
        (root / "learning/flashcards" / f"{stem}.md").write_text(text)
        (root / "wiki/concepts" / f"{stem}.md").write_text(f"---\ntype: concept\n---\n\n# {stem}\n")
    (root / "wiki/_graph.md").write_text(GRAPH)
    (root / "wiki/summaries/the-spacing-effect.md").write_text(SUMMARY)
    return open_vault(str(root), None, tmp_path)
