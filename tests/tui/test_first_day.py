"""The first day in a real terminal: from an empty vault to a document, its cards, and a package for Anki."""

from __future__ import annotations

import time

from tests.tui.test_terminal import Tmux, command, tmux
from tests.tui.test_work import TIDES
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

__all__ = ["tmux"]  # the fixture


def test_from_an_empty_vault_to_cards_in_anki(tmux: Tmux, bare: Vault) -> None:
    folder = bare.root.parent
    document, package = folder / f"{bare.root.name}-tides.md", folder / f"{bare.root.name}.apkg"
    document.write_text(TIDES, encoding="utf-8")
    tmux.start(command(bare), folder=folder)
    tmux.see("This vault is empty")
    tmux.type("1")
    tmux.see("File, folder or web address to add:")
    tmux.run("send-keys", "-l", str(document))
    tmux.type("Enter")
    added = tmux.see("Added to the vault as")
    assert f"raw/articles/{document.name}" in added
    tmux.type("m")
    tmux.see("Compiled in")
    tmux.type("n")
    tmux.see("Start a job")
    tmux.type("4")
    tmux.see(usual := f"~/{bare.root.name}.apkg")
    while usual in tmux.run("capture-pane", "-p"):
        tmux.type("C-u")
        time.sleep(0.2)
    tmux.run("send-keys", "-l", str(package))
    tmux.see(str(package)[-20:])
    tmux.type("Enter")
    tmux.see("Exported in")
    assert package.is_file()
    tmux.type("Escape")
    tmux.see("to begin")
    tmux.type("C-p")
    tmux.see("Type a command, or the name of an article")
    tmux.run("send-keys", "-l", "tide")
    tmux.see("  Tide\n")
    tmux.type("Enter")
    tmux.see("wiki/concepts/tide.md")
    tmux.type("Escape")
    review(tmux)
    tmux.type("q")
    tmux.see("left with 0")
    assert (bare.root / LOG_PATH).is_file()
    for path in (document, package):
        path.unlink()


def review(tmux: Tmux) -> None:
    """Rate all cards that home offers, and read the end."""
    tmux.see("to begin")
    tmux.type("Enter")
    screen = tmux.see(" left: ")
    done, cards = 0, int(screen.split(" left: ")[0].split()[-1])
    while done < cards:
        tmux.see("space shows the answer")
        tmux.type("Space")
        tmux.see("4 Easy")
        tmux.type("4")
        done += 1
        tmux.see(f"{done} done")
    end = tmux.see("Streak")
    assert "1 day in a row" in end and "Tomorrow" in end and "Next card" in end
    tmux.type("Escape")
    tmux.see("Done for today.")
