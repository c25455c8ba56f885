"""The command `ask`: an answer from the wiki with citations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from cli import output
from cli.answer_forms import form_options, wanted_form
from cli.engines.choice import ASKING, backend_of, engine_of, paid_words
from cli.environment import is_sandboxed, now
from cli.options import opened, progress_option, vault_json_options
from compiler.build.search import with_search_index
from compiler.build.snapshot import look
from compiler.forms.write import Wanted, write_form
from compiler.orders.answer import answer_as_json as plain
from compiler.orders.answer import answer_question
from compiler.orders.board import OrderDesk
from compiler.orders.files import WORK
from compiler.protocol.requests import Exchange
from compiler.query.answer import Answer
from compiler.query.embedding_model import stay_offline
from compiler.query.filing import file_answer
from compiler.query.material import BUDGET
from compiler.query.questions import Change, Conversation, asked_questions, change_as_json, question_as_json
from vault.config.engine import of_user
from vault.config.search import folder_of_program
from vault.errors import RetainError, UsageError
from vault.files.exports import trace_folder
from vault.files.guard import Scope
from vault.layout import ANSWERS
from vault.log.ledger import BUILDS, QUESTIONS, parse_instant
from vault.sandbox.self_sandbox import restrict_writes
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

ENGINES = ("extractive", *ASKING, "agent", "journal")


@click.command()
@click.argument("question", nargs=-1)
@click.option(
    "--engine", type=click.Choice(ENGINES), help="Which engine answers (default: the one that compiles this vault)."
)
@click.option("--continue", "goes_on", is_flag=True, help="Take the question and answer before this one into account.")
@click.option("--file-back", is_flag=True, help="Also save the answer as a page in wiki/answers/.")
@click.option("--history", is_flag=True, help="List the questions that were asked, and how they were answered.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend at most this much (--engine claude).")
@form_options
@progress_option
@vault_json_options
def ask(
    question: tuple[str, ...],
    engine: str | None,
    goes_on: bool,
    file_back: bool,
    history: bool,
    budget: float | None,
    form: str | None,
    out: str | None,
    things: str | None,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Answer a question from your sources and the wiki alone.

    The embedded engine quotes the passages of your sources that fit best, and says so where none has more than a few
    words of the question; whether they answer it is for you to judge. A model reads the articles and passages that fit
    and writes sentences, each with the words of its source, checked like those of an article; what the sources lack is
    reported. With --engine agent the question becomes an order for your coding agent (see `retain agent`): ask again
    when it has answered.

    Questions and answers are recorded: asked again, a question shows what changed, and what the sources lack becomes a
    gap at the next compile. A page in wiki/answers/ is found by searches and lists what it rests on; no other page may
    rest on it. With --as the answer is also saved in a form (docs/answers.md), and only the paths are printed.

    \b
    Examples:
      retain ask "What is the spacing effect?"
      retain ask --continue how long should the gaps be
      retain ask why does sleep help memory --engine claude
      retain ask "How long should gaps be?" --file-back --json
      retain ask "Compare massed and spaced practice" --as table
      retain ask --history
    """
    vault = opened(vault_dir)
    if history:
        if question:
            raise UsageError("--history takes no question", hint="`retain ask --history`")
        return _show_history(vault, as_json)
    if not question:
        raise UsageError("no question is given", hint='`retain ask "What is ...?"`')
    wanted = wanted_form(vault, form, out, things)
    narrator = output.Progress(progress)
    chosen = engine_of(vault, engine)
    _restrict_process(vault, chosen, file_back, wanted)
    conversation = Conversation(vault)
    follows = conversation.last if goes_on else ""
    try:
        with _start_backend(vault, chosen, narrator, budget) as backend:
            answer = _answer(vault, " ".join(question), chosen, backend, narrator, conversation.earlier(follows))
        cost = paid_words(backend)
    finally:
        narrator.done()
    if cost:
        output.say(cost)
    change, page, files = conversation.change(answer), "", list[str]()
    try:
        if file_back:
            page = file_answer(vault, answer, now())
        if wanted:
            try:
                files = _write_form(vault, answer, wanted, narrator)
            except RetainError:
                if not as_json:  # what was paid for is shown, though its form cannot be made
                    _show(answer, change, page)
                raise
    finally:
        if not is_sandboxed():
            conversation.record(answer, now(), after=follows, filed=page, wanted=file_back)
    if as_json:
        made = {"form": wanted.form, "path": files[0], "files": files} if wanted else {}
        output.show_json({**plain(answer), "changed": change_as_json(change), "page": page or None, **made})
    elif files:
        for file in [*files, *([page] if page else [])]:
            output.show(f"saved as {file}")
    else:
        _show(answer, change, page)
    return output.DONE


def _restrict_process(vault: Vault, engine: str, file_back: bool, wanted: Wanted | None = None) -> None:
    """Restrict this process to the folders and the ledger that it writes, without network.

    Call it before any thread starts.
    """
    if engine in ASKING:
        return

    place = OrderDesk(vault, sandboxed=is_sandboxed())
    folders = [WORK] if place.sandboxed else [".retain", *([ANSWERS] if file_back else [])]
    folders += [wanted.folder] if wanted else []
    with suppress(RetainError):  # a vault that can only be read answers, too
        for folder in folders:
            place.guard.makedirs(folder)
        if not place.sandboxed and not place.guard.exists(QUESTIONS):
            vault.guard(Scope.PUBLISHER).write(QUESTIONS, b"", expect=None)
    there = [path for name in (*folders, QUESTIONS, BUILDS) if (path := vault.root / name).exists()]
    own = folder_of_program()  # else it could not open its index
    if restrict_writes([*there, trace_folder(), *([own] if own is not None else [])]):
        stay_offline()


def _start_backend(vault: Vault, engine: str, narrator: output.Progress, budget: float | None) -> Any:
    return backend_of(vault, engine, look(vault.root), narrator, budget=budget, batch=False, renew=True)


def _answer(
    vault: Vault, question: str, engine: str, backend: Any, narrator: output.Progress, earlier: Sequence[Exchange]
) -> Answer:
    place = OrderDesk(vault, sandboxed=is_sandboxed())
    characters = of_user().part_bytes * 3 // 2 if engine in ASKING else BUDGET
    return answer_question(place, question, engine, now(), backend, narrator, earlier, min(characters, BUDGET))


def _write_form(vault: Vault, answer: Answer, wanted: Wanted, narrator: output.Progress) -> list[str]:
    """Write the answer in the form that is wanted and return the paths of its files."""
    today = now().astimezone(vault.settings.zone).date()
    return with_search_index(vault, lambda index: write_form(vault, index, answer, wanted, today), now(), narrator)


# --- what is shown ---------------------------------------------------------------------------------------------------


def _show(answer: Answer, change: Change | None, page: str) -> None:
    """Print the answer with numbered quotes."""
    if answer.quotes:
        _show_quotes(answer)
    else:
        _show_sentences(answer)
    if change is not None:
        _show_change(change)
    if page:
        output.show(f"\nsaved as {page}; delete the file to undo this")


def _show_sentences(answer: Answer) -> None:
    """Print an answer of sentences, each with the numbers of its quotes, which follow."""
    numbers = {known.claim.id: n for n, known in enumerate(answer.claims, 1)}
    for sentence in answer.sentences:
        marks = "".join(f"[{n}]" for c, n in numbers.items() if c in sentence.cites)
        output.show(f"{sentence.text} {marks}")
    if answer.missing:
        output.show(f"\nNot in your sources: {answer.missing}" if answer.sentences else answer.missing)
    for known in answer.claims:
        output.show(f"\n  [{numbers[known.claim.id]}] “{known.claim.quote}”")
        output.show(f"      {known.raw}" + (f", {known.claim.locator}" if known.claim.locator else ""))
    if answer.rejections:
        count = len(answer.rejections)
        output.say(f"{plural(count, 'unsupported sentence')} dropped")


def _show_quotes(answer: Answer) -> None:
    """Print an answer that was made without a model: quotes, each with its place and the articles that rest on it."""
    if answer.missing:
        output.say(answer.missing)
    output.show("Closest passages:" if answer.is_weak else "Quoted from your sources:")
    for quote in answer.quotes:
        output.show(f"\n  “{quote.text}”")
        output.show("    " + ", ".join(filter(None, (quote.path, quote.place))))
        for path, title in quote.articles[:3]:
            output.show(f"    {title}: {path}")


def _show_change(change: Change) -> None:
    """Print what an answer has that the one before had not, and the other way round."""
    output.show(f"\nChanged since {change.since[:10]}:")
    for sign, texts in (("+", change.new), ("-", change.gone)):
        for text in texts:
            output.show(f"  {sign} {clean_line(text)}")


def _show_history(vault: Vault, as_json: bool) -> int:
    """Print the questions that were asked, the latest last."""
    asked = asked_questions(vault)
    if as_json:
        output.show_json({"questions": [question_as_json(each) for each in asked]})
        return output.DONE
    for each in asked:
        day = parse_instant(each.since).astimezone(vault.settings.zone).date()
        output.show(f"{day}  {each.question}  ({each.outcome})")
        if each.filed:
            output.show(f"            {each.filed}")
    if not asked:
        output.say("no questions yet")
    return output.DONE
