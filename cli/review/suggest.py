"""The command `card suggest`: list suggested cards; keep, edit, drop, undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.options import opened_to_write, progress_option, vault_json_options
from cli.review.card_edit import with_new_words
from cli.shell import concept_names
from cli.workspace import render_if_stale
from learning.cards.edit import Words, checked_words
from learning.cards.lookup import find_subject
from vault.errors import RetainError, UsageError
from vault.evidence.context import quote_context
from vault.ids import CardId
from vault.inbox import suggestions
from vault.inbox.suggestion_events import Decided, Decision
from vault.inbox.suggestions import SITTING, Choice, Offered, Outcome, Suggestion
from vault.layout import CONCEPTS, FLASHCARDS
from vault.model import latex
from vault.model.card import Card
from vault.model.markdown import escape, unescape
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

_AROUND = 2  # lines of the source before a quote and after it
_BY_MODEL = (
    "no suggestions: this vault was compiled by a model or an agent, which writes all of its cards into the decks"
)
_NOT_COMPILED = "no suggestions yet; run `retain compile` to create them"
_NONE = "no suggested cards"
_DONE = {
    Decision.KEEP: "kept",
    Decision.EDIT: "kept with your text",
    Decision.DROP: "dropped; will not be suggested again",
}


@click.command()
@click.argument("about", metavar="[CONCEPT]", default="", shell_complete=concept_names)
@click.option("--keep", "keep", multiple=True, metavar="ID", help="Add this card to its deck; repeatable.")
@click.option("--drop", "drop", multiple=True, metavar="ID", help="Never suggest this card again; repeatable.")
@click.option("--edit", "edit", default="", metavar="ID", help="Keep this card with your own text.")
@click.option("--question", help="With --edit, the question.")
@click.option("--answer", help="With --edit, the answer.")
@click.option(
    "--from", "source", metavar="FILE", help="With --edit, read both from a file with Q: and A:, or from stdin (-)."
)
@click.option("--undo", "back", is_flag=True, help="Undo the last decision.")
@progress_option
@vault_json_options
def suggest(
    about: str,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    edit: str,
    question: str | None,
    answer: str | None,
    source: str | None,
    back: bool,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """List suggested cards, best first, at most 20; keep, edit or drop them.

    These are low-confidence cards from the built-in engine; they are not queued until you keep them. A kept card is
    added to its deck at once, like any other; a dropped one does not return. If at least three in four of your last
    thirty decisions on one form of question kept the card, such cards are added automatically.

    With --edit but without --question, --answer or --from, your editor ($VISUAL or $EDITOR) opens.

    \b
    Examples:
      retain card suggest
      retain card suggest "spacing effect" --json
      retain card suggest --keep k7q2m9xd3f --keep p3s8v1ya0t --drop 4m8x1v6tqc
      retain card suggest --edit k7q2m9xd3f --answer "They keep the softmax moderate."
      retain card suggest --undo
    """
    decides = bool(keep or drop or edit)
    words = (question, answer) if source is None else (source,)
    if back and (decides or about):
        raise UsageError(
            "--undo cannot be combined with other options", hint="--undo undoes the last decision on a suggested card"
        )
    if not edit and any(word is not None for word in words):
        raise UsageError(
            "--question, --answer and --from need --edit ID", hint="`retain card edit` edits cards in decks"
        )
    if source is not None and not (question is None and answer is None):
        raise UsageError("conflicting options", hint="give --question and --answer, or --from")
    vault = opened_to_write(vault_dir)
    offered = suggestions.offered(vault)
    if back:
        return _report(vault, [suggestions.undo(vault, now())], "undone", progress, as_json=as_json)
    if not decides:
        return _list(vault, offered, _about(vault, offered, about), as_json=as_json)
    if about:
        raise UsageError(
            "CONCEPT cannot be combined with --keep, --drop or --edit", hint="give only the ids of the cards"
        )
    given = [Choice(suggestions.find(offered, id_).id, Decision.KEEP) for id_ in keep]
    given += [Choice(suggestions.find(offered, id_).id, Decision.DROP) for id_ in drop]
    edited = suggestions.find(offered, edit) if edit else None
    ids = [each.id for each in given] + ([edited.id] if edited else [])
    if len(set(ids)) < len(ids):
        raise UsageError("a card id is given twice", hint="keep, edit or drop each card once")
    if edited is None:
        outcomes = suggestions.decide_all(vault, given, now())
    elif (saved := _edit(vault, edited, given, question, answer, source)) is not None:
        outcomes = saved
    else:
        return output.FINDINGS
    return _report(vault, outcomes, "", progress, as_json=as_json)


def _edit(
    vault: Vault,
    suggested: Suggestion,
    others: Sequence[Choice],
    question: str | None,
    answer: str | None,
    source: str | None,
) -> list[Outcome] | None:
    """Keep a card in the user's words, and decide on the others; None, and nothing decided, if the editor made none."""
    before = Words(escape(suggested.question), escape(suggested.answer))

    def save(words: Words) -> list[Outcome]:
        checked = checked_words(words.question, words.answer)
        edited = Decision.KEEP if checked == before else Decision.EDIT
        said = (checked.question, checked.answer or "") if edited is Decision.EDIT else None
        return suggestions.decide_all(vault, [Choice(suggested.id, edited, said), *others], now())

    id_ = suggested.id
    return with_new_words(before, question, answer, source, save, id_, f"retain card suggest --edit {id_}")


def _about(vault: Vault, offered: Offered, about: str) -> tuple[Suggestion, ...]:
    """Return the suggestions for the concept of that name, or for the article at that path; all for "".

    Raises: NotFound and UsageError as `find_subject` does.
    """
    wanted = clean_line(about).removesuffix(".md").removeprefix(f"{CONCEPTS}/")
    return offered.about(find_subject(vault, wanted).path if wanted and offered.compiled else "")


# --- the list ---------------------------------------------------------------------------------------------------------


def _list(vault: Vault, offered: Offered, wanted: Sequence[Suggestion], *, as_json: bool) -> int:
    """Print the best suggestions."""
    shown = wanted[:SITTING]
    if as_json:
        rows = [_as_json(vault, each) for each in shown]
        output.show_json({"suggestions": rows, "waiting": len(wanted), "by_model": offered.by_model})
        return output.DONE
    for each in shown:
        output.show(f"{each.id}  {clean_line(each.concept)} ({each.article})")
        output.show(f"  Q: {latex.text(escape(each.question))}\n  A: {latex.text(escape(each.answer))}")
        context = quote_context(vault, each.evidence, _AROUND)
        passage = [context.before, f"“{each.quote}”", context.after]
        output.show("\n".join(f"    {line}" for part in passage if part for line in part.split("\n")))
        output.show(f"    {each.source}, {each.place}" if each.place else f"    {each.source}")
    if not wanted:
        output.show(_BY_MODEL if offered.by_model else _NONE if offered.compiled else _NOT_COMPILED)
        return output.DONE
    more = f", {len(wanted) - len(shown)} more" if len(wanted) > len(shown) else ""
    output.say(f"{plural(len(shown), 'suggested card')}{more}; decide with --keep ID, --edit ID or --drop ID")
    return output.DONE


def _as_json(vault: Vault, each: Suggestion) -> dict[str, Any]:
    context = quote_context(vault, each.evidence, _AROUND)
    return {
        "id": each.id,
        "path": each.article,
        "line": 0,
        "reason": "",
        "concept": each.concept,
        "form": each.form,
        "kind": each.kind,
        "question": each.question,
        "answer": each.answer,
        "score": each.score,
        "claim": each.claim,
        "quote": each.quote,
        "before": context.before,
        "after": context.after,
        "source": each.source,
        "place": each.place,
    }


# --- decisions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """What came of one decision; `path` is the deck that holds the card now, "" if none does.

    `is_users` says whether the card there is one that the user wrote or changed.
    """

    decided: Decided
    path: str
    is_users: bool


def _report(vault: Vault, outcomes: Sequence[Outcome], word: str, progress: str | None, *, as_json: bool) -> int:
    """Compile, so that the decks follow the decisions; print what came of each. `word` says "undone" of all."""
    try:
        compiled = _compile(vault, progress)
    except RetainError:
        output.say("saved; it takes effect at the next `retain compile`")
        raise
    decks = _decks(vault)
    places = [(each.decided, decks.get(each.decided.card)) for each in outcomes]
    rows = [_Row(one, place[0] if place else "", bool(place and place[1].human_edited)) for one, place in places]
    news = list(dict.fromkeys(words for each in outcomes for words in each.news))
    refused = [row for row in rows if compiled and not word and row.decided.kept and not row.path]
    stay = [row for row in rows if compiled and word and row.is_users]
    if as_json:
        found = [_row_json(row, word) for row in rows]
        output.show_json({"decided": found, "forms": news})
        return output.FINDINGS if refused else output.DONE
    for row in rows:
        one = row.decided
        where = f" in {row.path}" if row.path and not word else ""
        said = f"{one.decision.value} undone" if word else f"{_DONE[one.decision]}{where}"
        output.show(f"{one.card}  {said}: {clean_line(unescape(one.question))}")
    for row in refused:
        output.say(f"{row.decided.card} was not added to a deck: `retain log --rejected` shows why")
    for row in stay:
        output.say(
            f"{row.decided.card} was kept in {row.path} because it contains your changes; delete it there if "
            "you do not want it"
        )
    for words in news:
        output.show(words)
    if not word:
        output.say("`retain card suggest --undo` undoes the last decision")
    return output.FINDINGS if refused else output.DONE


def _compile(vault: Vault, progress: str | None) -> bool:
    """Bring the decks up to date with the decisions and return True.

    In a vault that a model writes the user's next compile does that: return False.
    """
    from compiler.build.compile import Options, compile_vault  # a list needs no compiler

    if suggestions.is_by_model(vault):
        output.say("saved; it takes effect at the next `retain compile`")
        return False
    with output.Progress(progress) as narrator:
        compile_vault(vault, Options("extractive", wait_s=60), now(), narrator)
    render_if_stale(vault)
    return True


def _decks(vault: Vault) -> dict[CardId, tuple[str, Card]]:
    """Return each card with the path of its deck."""
    return {card.id: (path, card) for path in vault.paths(FLASHCARDS, ".md") if (deck := vault.deck(path)) is not None
            for card in deck.cards if card.id is not None}  # fmt: skip


def _row_json(row: _Row, word: str) -> dict[str, Any]:
    one = row.decided
    said = {"question": unescape(one.question), "answer": unescape(one.answer)}
    return {"id": one.card, "path": row.path, "line": 0, "reason": word, "decision": one.decision.value, **said}
