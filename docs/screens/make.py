"""Makes the pictures in this folder: the app on a vault from the example, with clock and dice standing still.

usage: python docs/screens/make.py   (from a checkout, with retain installed)
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor"})
for name in ("NO_COLOR", "COLORFGBG", "ANTHROPIC_API_KEY"):
    os.environ.pop(name, None)

from textual.pilot import Pilot  # noqa: E402

from docs.screens.example_vault import environment, made_vault, retain  # noqa: E402
from tui.app import RetainApp  # noqa: E402
from tui.context import Context  # noqa: E402
from tui.preferences import Preferences  # noqa: E402
from vault.model.card import parse_deck  # noqa: E402
from vault.model.frontmatter import read_properties  # noqa: E402
from vault.vault import Vault  # noqa: E402

_FONT = re.compile(
    r"\s*@font-face \{.*?\}", re.DOTALL
)  # fetched from the web: it would tell its server who reads the docs
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
SIZE = (100, 30)
ARTICLE = "the article with most cards"
# What each picture shows: the screen, what it is about, the keys pressed there.
PICTURES = {
    "home": ("home", "", ""),
    "review": ("review", "", "space s"),
    "article": ("article", ARTICLE, ""),
    "gaps": ("gaps", "", ""),
    "stats": ("stats", "", "3"),
    "inbox": ("inbox", "", ""),  # last: for it the vault is edited
}


async def rest(pilot: Pilot[int]) -> None:
    """Wait until nothing is read any more."""
    for _ in range(20):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause(0.02)


def shown_deck(vault: Vault) -> Path:
    """Return the deck with most cards, the first by name of several."""
    decks = sorted((vault.root / "learning/flashcards").glob("*.md"))
    return max(decks, key=lambda deck: len(parse_deck(deck.read_text("utf-8"), deck.name).cards))


def edit(vault: Vault) -> None:
    """A human edits an article and a card, and then the card's source says something else."""
    deck = shown_deck(vault)
    article = vault.root / "wiki/concepts" / deck.name
    article.write_text(f"{article.read_text('utf-8')}\nI have seen this myself.\n", encoding="utf-8")
    card = max(parse_deck(deck.read_text("utf-8"), deck.name).cards, key=lambda card: len(card.answer))
    words = deck.read_text("utf-8").replace(f"A: {card.answer}", "A: The same in my own words.")
    deck.write_text(words, encoding="utf-8")
    summary = vault.root / f"{card.support[0].summary}.md"
    source = vault.root / read_properties(summary.read_text("utf-8")).text("source")
    start = card.answer.removeprefix("A ").removeprefix("The ").rstrip(".")
    before = source.read_text("utf-8")
    after = before.replace(start, f"{start}, as it was found later")
    assert before != after, f"the answer is not in {source.name} word for word"
    source.write_text(after, encoding="utf-8")
    retain(vault.root.parent, "--vault", str(vault.root), "compile")
    for proposal in (vault.root / "output/proposals").rglob("*.md"):
        os.utime(proposal, (NOW.timestamp(), NOW.timestamp()))


async def picture(vault: Vault, name: str) -> None:
    screen, about, keys = PICTURES[name]
    about = f"wiki/concepts/{shown_deck(vault).name}" if about == ARTICLE else about
    words = environment(vault.root.parent)
    app = RetainApp(
        Context(vault, lambda: NOW, environment=words, preferences=Preferences(theme="dark")), screen, about
    )
    if screen == "review":
        app.hold_review()
    async with app.run_test(size=SIZE) as pilot:
        await rest(pilot)
        for key in keys.split():
            await pilot.press(key)
            await rest(pilot)
        (HERE / f"{name}.svg").write_text(_FONT.sub("", app.export_screenshot()), encoding="utf-8")
    app.end_session()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_CONFIG_HOME="/home/you/.config", XDG_STATE_HOME=f"{folder}/.local/state")
        vault = made_vault(Path(folder), NOW)
        for name in PICTURES:
            if name == "inbox":
                edit(vault)
            asyncio.run(picture(vault, name))


if __name__ == "__main__":
    main()
