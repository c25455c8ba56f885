"""Asks a question here, or reads the answer of `retain ask --json`; files an answer.

It loads much of the compiler, and so is imported by a thread of the screen that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from compiler.build.last_engine import chosen_engine
from compiler.build.search import has_sources
from compiler.model.engine_names import EXTRACTIVE
from compiler.orders.answer import Unanswered, answer_question
from compiler.orders.board import OrderDesk
from compiler.protocol.requests import Exchange
from compiler.query.answer_json import answer_in
from compiler.query.filing import file_answer
from compiler.query.questions import Asked, Change, Conversation, asked_questions, texts_of
from tui.models.ask import Turn
from tui.strings import ask as strings
from vault.errors import RetainError
from vault.vault import Vault

Progress = Callable[[dict[str, Any]], None]
OF_COMMAND = ("claude", "command")  # engines that a process of their own asks: nothing of a model is loaded here
_MOST = 6  # turns that a follow-up is asked with


def overview(vault: Vault) -> tuple[Sequence[Asked], str, bool]:
    """Return the questions asked before, the latest first; the engine that answers; whether there are no sources.

    Raises: Damaged.
    """
    return asked_questions(vault)[::-1], chosen_engine(vault), not has_sources(vault)


def ask_here(
    vault: Vault, question: str, turns: Sequence[Turn], at: datetime, progress: Progress, engine: str
) -> tuple[Turn, Conversation | None]:
    """Return the answer to a question that follows these turns, and where it can be recorded.

    While it waits for an answer, that is an extract, which is not recorded. Raises: what `answer_question` raises.
    """
    conversation = Conversation(vault)
    turns = [turn for turn in turns if turn.waiting is None]  # an extract is no answer to go on from
    after = turns[-1].id if turns else ""
    try:
        answer = answer_question(OrderDesk(vault), question, engine, at, progress=progress, earlier=earlier(turns))
    except Unanswered as waiting:
        return Turn(waiting.extract, after=after, waiting=waiting), None
    return Turn(answer, conversation.change(answer, after), after=after), conversation


def earlier(turns: Sequence[Turn]) -> tuple[Exchange, ...]:
    """Return the questions and answers of a conversation as a follow-up is asked with them."""
    return tuple(
        Exchange(question=turn.answer.question, answer=" ".join([*texts_of(turn.answer), turn.answer.missing]))
        for turn in turns[-_MOST:]
    )


def file_turn(vault: Vault, turn: Turn, at: datetime) -> str:
    """File the answer of a turn as a page of the wiki and return its path. Raises: what `file_answer` raises."""
    page = file_answer(vault, turn.answer, at)
    Conversation(vault).record(turn.answer, at, after=turn.after, filed=page, wanted=True)
    return page


# --- the answer of the command ----------------------------------------------------------------------------------------


def turn_in(vault: Vault, result: Mapping[str, Any], turns: Sequence[Turn], at: datetime, progress: Progress) -> Turn:
    """Return the turn that `retain ask --json` printed. Raises: RetainError where that cannot be read.

    Quotes without a model, which it gives where the wiki has no claim to ask a model about, are looked up here.
    """
    try:
        change, id_, after = _change_in(result["changed"]), result["id"] or "", result["after"] or ""
        if result["engine"] == EXTRACTIVE:
            turn, _ = ask_here(vault, result["question"], turns, at, progress, "extractive")
            answer = turn.answer
        else:
            answer = answer_in(result)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise RetainError(strings.UNREADABLE_REPLY, hint="`retain doctor` checks the installation") from error
    return Turn(answer, change, id_, after)


def _change_in(row: Mapping[str, Any] | None) -> Change | None:
    return Change(row["since"], tuple(row["new"]), tuple(row["gone"])) if row is not None else None
