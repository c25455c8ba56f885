"""The commands `card new` and `card delete`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cli import output
from cli.environment import now
from cli.options import opened, vault_json_options
from cli.review.card_edit import with_new_words
from cli.review.card_ids import ids_of
from cli.shell import card_ids
from cli.workspace import opened_desk, render_saved
from learning.cards.delete import delete_cards, last_deletion, restore_cards
from learning.cards.edit import Words
from learning.cards.new import DEFAULT_DECK, Added, Draft, add_card
from vault.errors import UsageError
from vault.model.card import CardKind
from vault.text.formatting import clean_line, plural

_FORM = (
    "<!-- Save and close to add the card. For a cloze, write one line in place of the two:"
    " C: The {{c1::words}} to hide -->\n\n"
)


@click.command("new")
@click.option("--question", help="The question.")
@click.option("--answer", help="The answer.")
@click.option("--cloze", metavar="TEXT", help="Text with {{c1::words}} to hide; one card for each number.")
@click.option("--from", "source_file", metavar="FILE", help="Read Q: and A:, or C:, from a file or from stdin (-).")
@click.option("--reversed", "is_reversed", is_flag=True, help="Also create a reversed card.")
@click.option("--kind", type=click.Choice([kind.value for kind in CardKind]), help="The kind of card.")
@click.option(
    "--deck", default="", metavar="NAME", help=f"The deck or concept, or a new deck (default: {DEFAULT_DECK})."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Add this tag; repeatable.")
@click.option("--source", default="", metavar="SOURCE", help="The source: a claim, a file, a web address or any text.")
@vault_json_options
def new(
    question: str | None,
    answer: str | None,
    cloze: str | None,
    source_file: str | None,
    is_reversed: bool,
    kind: str | None,
    deck: str,
    tags: Sequence[str],
    source: str,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Add your own card: a question and an answer, or a cloze.

    Without --question, --cloze or --from, your editor ($VISUAL or $EDITOR) opens. Compiling never changes or removes
    the card.

    \b
    Examples:
      retain card new --question "Capital of Kenya?" --answer Nairobi --deck Geography
      retain card new --question Wasser --answer water --reversed --deck German --tag a1
      retain card new --cloze "The {{c1::mitochondrion}} makes {{c2::ATP::molecule}}." --source raw/cells.pdf
      retain card new --kind applied --deck "Spacing effect"
    """
    if sum((question is not None or answer is not None, cloze is not None, source_file is not None)) > 1:
        raise UsageError("conflicting options", hint="give --question and --answer, or --cloze, or --from")
    if (question is None) != (answer is None):
        raise UsageError("give both a question and an answer", hint="give both --question and --answer")
    vault = opened(vault_dir)
    kind_ = CardKind(kind) if kind else None

    def save(words: Words) -> Added:
        draft = Draft(words, is_reversed, kind_, deck, tuple(tags), source)
        return add_card(vault, draft, now(), via="cli")[0]

    if cloze is not None:
        added: Added | None = save(Words(cloze))
    else:
        blank = Words("", "")
        added = with_new_words(blank, question, answer, source_file, save, "new", "retain card new", form_help=_FORM)
    if added is None:
        return output.FINDINGS
    render_saved(vault)
    _report_added(added, as_json=as_json)
    return output.DONE


def _report_added(added: Added, *, as_json: bool) -> None:
    """Print the cards that were made."""
    if as_json:
        head = {"cards": list(added.cards), "path": added.path, "deck": added.title, "new_deck": added.is_new_deck}
        output.show_json({**head, "alike": added.alike})
        return
    where = f"{added.path} (a new deck)" if added.is_new_deck else added.path
    ids = " ".join(added.cards)
    output.show(f"{ids}: added to {where}; `retain card delete {added.cards[0]}` removes {_it(len(added.cards))}")
    if added.alike:
        output.say(f"card {added.alike} in this deck asks the same question")


def _it(cards: int) -> str:
    return "it" if cards == 1 else "them"


@click.command("delete")
@click.argument("ids", metavar="CARD...", nargs=-1, required=True, shell_complete=card_ids)
@click.option("--restore", "back", is_flag=True, help="Restore deleted cards.")
@vault_json_options
def delete(ids: Sequence[str], back: bool, vault_dir: str | None, as_json: bool) -> int:
    """Delete cards. All cards of the same cloze or pair are also deleted; their reviews are kept in the log.

    Compiling or importing does not bring them back. To hide a card instead, use `retain card suspend`.

    \b
    Examples:
      retain card delete k7q2m9xd3f
      retain card delete k7q2m9xd3f --restore
    """
    desk = opened_desk(vault_dir)
    vault = desk.vault
    wanted = ids_of(ids)
    if back:
        changed = [card for id_ in wanted for card in restore_cards(vault, last_deletion(vault, id_), now())]
    else:
        changed = list(delete_cards(vault, wanted, now()).cards)
    cards = list(dict.fromkeys(changed))
    render_saved(vault)
    if as_json:
        output.show_json({"cards": cards, "restored": back})
        return output.DONE
    if not cards:
        output.show("nothing to restore: the cards are not deleted")
        return output.DONE
    whom = clean_line(cards[0]) if len(cards) == 1 else plural(len(cards), "card")
    way = (
        ""
        if back
        else f"; `retain card delete {' '.join(wanted[:3])}{' ...' * (len(wanted) > 3)} --restore` undoes this"
    )
    output.show(f"{whom}: {'restored' if back else 'deleted'}{way}")
    return output.DONE
