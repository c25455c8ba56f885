"""The command `completion`, and what shells complete besides commands and options: ids and names of the vault."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from cli import output
from cli.environment import here
from vault.text.formatting import clean_line

if TYPE_CHECKING:
    from vault.vault import Vault

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_RETAIN_COMPLETE"  # the scripts run `retain` with it
MOST = 200  # proposals; who has typed nothing yet can't read more
_SAFE = re.compile(r"[\w.+-]+")  # a word that no shell takes for a command: files in a vault may be named anything
Found = Iterable[tuple[str, str]]  # (word, help)
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, files, and the ids and names of cards, gaps and concepts of the vault.

    \b
    bash 4.4+  add this line to ~/.bashrc:
                 eval "$(retain completion bash)"
    zsh        add this line to ~/.zshrc, after compinit:
                 eval "$(retain completion zsh)"
    fish       run this once:
                 retain completion fish > ~/.config/fish/completions/retain.fish

    \b
    Examples:
      retain completion bash > ~/.local/share/bash-completion/completions/retain
      retain completion fish | source
    """
    script = get_completion_class(shell)
    assert script is not None
    root = click.get_current_context().find_root()
    output.show_file(script(root.command, {}, "retain", VARIABLE).source().encode())


def _completer(find: Callable[[Vault], Found]) -> Completer:
    """Return a callback of click that proposes what `find` finds in the vault; nothing where that fails."""

    def complete(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            found = find(_vault(context))
        except Exception:  # noqa: BLE001 (a message would stand in the middle of the command line being typed)
            return []
        key = typed.casefold()
        fitting = ((word, help_) for word, help_ in found if word.casefold().startswith(key) and _SAFE.fullmatch(word))
        return [CompletionItem(word, help=clean_line(help_)[:80]) for word, help_ in itertools.islice(fitting, MOST)]

    return complete


def _vault(context: click.Context) -> Vault:
    from vault.vault import open_vault

    given = context.params.get("vault_dir") or context.find_root().params.get("vault")
    return open_vault(given, os.environ.get("RETAIN_VAULT"), here())


def _cards(vault: Vault) -> Found:
    """Return the ids of the cards with their concepts and kinds."""
    from learning.store.cards import read_cards
    from learning.store.index import with_index

    def named(database: Any) -> list[tuple[str, str]]:
        cards = read_cards(vault, database)
        places = ((card, cards.place(card)) for card in cards)
        return [(card, f"{place.title} ({place.kind})") for card, place in places]

    return with_index(vault, named)


def _concepts(vault: Vault) -> Found:
    """Return the file names of the articles, by which commands know concepts."""
    from vault.layout import CONCEPTS

    return [(path.rpartition("/")[2].removesuffix(".md"), "") for path in vault.paths(CONCEPTS, ".md")]


def _gaps(vault: Vault) -> Found:
    """Return the ids of the gaps with what they lack."""
    from learning.agenda.gap_decisions import read_agenda

    return [(gap.id, f"{gap.what}: {gap.missing}") for gap in read_agenda(vault)]


def _inbox(vault: Vault) -> Found:
    """Return the ids of the items in the inbox with what they are about."""
    from vault.inbox.listing import items

    return [(item.id, item.about) for item in items(vault)]


card_ids, concept_names, gap_ids, inbox_ids = map(_completer, (_cards, _concepts, _gaps, _inbox))
