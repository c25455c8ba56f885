"""The command `ask`: an answer from the wiki with citations."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress

import click

from cli import output
from cli.answer_forms import form_options, wanted_form
from cli.engines.choice import ASKING, backend_of, engine_of, paid_words
from cli.environment import is_sandboxed, now
from cli.options import FiniteRange, opened, progress_option, vault_json_options
from compiler.build.search import with_search_index
from compiler.build.snapshot import look
from compiler.forms.write import Wanted, write_form
from compiler.orders.answer import Unanswered, answer_question
from compiler.orders.board import OrderDesk
from compiler.orders.files import WORK
from compiler.protocol.requests import Exchange
from compiler.query.answer import Answer
from compiler.query.answer_json import answer_as_json
from compiler.query.answer_text import EXTRACT, Part, answer_lines, change_lines
from compiler.query.filing import file_answer
from compiler.query.material import BUDGET
from compiler.query.questions import Change, Conversation, asked_questions, change_as_json, question_as_json
from compiler.search.embedding_model import stay_offline
from vault.config.engine import of_user
from vault.config.search import folder_of_program
from vault.errors import ModelUnavailable, RetainError, UsageError
from vault.files.exports import trace_folder
from vault.files.guard import Scope
from vault.layout import ANSWERS
from vault.log.ledger import BUILDS, QUESTIONS, parse_instant
from vault.sandbox.self_sandbox import restrict_writes
from vault.text.formatting import clean_line
from vault.vault import Vault

_INDENTS = {Part.QUOTE: 2, Part.PLACE: 6, Part.ARTICLE: 6}  # of the lines of an answer
ENGINES = ("extractive", *ASKING, "agent", "journal")


@click.command()
@click.argument("question", nargs=-1)
@click.option(
    "--engine", type=click.Choice(ENGINES), help="The engine that answers (default: the one that compiles this vault)."
)
@click.option("--continue", "goes_on", is_flag=True, help="Take the previous question and its answer into account.")
@click.option(
    "--after", metavar="ID", help="Continue after the question with this id (from --json) instead of the last one."
)
@click.option("--file-back", is_flag=True, help="Also save the answer as a page in wiki/answers/.")
@click.option("--history", is_flag=True, help="List earlier questions and how they were answered.")
@click.option("--budget", type=FiniteRange(0), metavar="USD", help="Spend at most this much (--engine claude).")
@form_options
@progress_option
@vault_json_options
def ask(
    question: tuple[str, ...],
    engine: str | None,
    goes_on: bool,
    after: str | None,
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
    """Answer a question using only your sources and the wiki.

    The built-in engine quotes the passages of your sources that match best, and tells you if none matches more than a
    few words of the question; you judge whether they answer it. A model reads the matching articles and passages and
    writes sentences, each with a quote from its source, checked like those of an article; missing information is
    reported. With --engine agent, the question becomes a work order for your coding agent (see `retain agent`); until
    the agent has answered, you see the passages that the built-in engine quotes, and the exit code is 4.

    Questions and answers are recorded: if you ask a question again, you see what changed, and information missing from
    the sources becomes a gap at the next compile. A page in wiki/answers/ is included in searches and lists its
    sources; no other page may cite it. With --as, the answer is also saved in another format (docs/answers.md), and
    only the paths are printed.

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
        raise UsageError("no question given", hint='`retain ask "What is ...?"`')
    wanted = wanted_form(vault, form, out, things)
    narrator = output.Progress(progress)
    words, chosen = " ".join(question), engine_of(vault, engine)
    _restrict_process(vault, chosen, file_back, wanted)
    conversation = Conversation(vault)
    follows = _followed(conversation, goes_on=goes_on, after=after)
    try:
        answer = _asked(vault, words, chosen, narrator, conversation.earlier(follows), budget)
    except Unanswered as waiting:
        if file_back or wanted:
            raise
        return _show_meanwhile(vault, waiting, words, chosen, follows, as_json=as_json)
    change, page, files = conversation.change(answer, follows), "", list[str]()
    try:
        if file_back:
            page = file_answer(vault, answer, now())
        if wanted:
            try:
                files = _write_form(vault, answer, wanted, narrator)
            except RetainError:
                if not as_json:  # what was paid for is shown, though its form cannot be made
                    _show(vault, answer, change, page)
                raise
    finally:
        recorded = _record(conversation, answer, follows, page, wanted=file_back)
    if as_json:
        made = {"form": wanted.form, "path": files[0], "files": files} if wanted else {}
        place = {"id": recorded or None, "after": follows or None, "page": page or None}
        output.show_json({**answer_as_json(answer), "changed": change_as_json(change), **place, **made})
    elif files:
        for file in [*files, *([page] if page else [])]:
            output.show(f"saved as {file}")
    else:
        _show(vault, answer, change, page)
    return output.DONE


def _followed(conversation: Conversation, *, goes_on: bool, after: str | None) -> str:
    """Return the id of what the question follows, "" if nothing. Raises: UsageError for an id that is not there."""
    if goes_on and after is not None:
        raise UsageError("conflicting options", hint="give --continue or --after")
    if after is None:
        return conversation.last if goes_on else ""
    if after not in conversation:
        raise UsageError(
            f"no question has the id {clean_line(after)!r}", hint="`retain ask --history --json` lists the ids"
        )
    return after


def _record(conversation: Conversation, answer: Answer, follows: str, page: str, *, wanted: bool) -> str:
    """Record the question and its answer and return its id, "" where it is not: in an agent's sandbox, none is."""
    if is_sandboxed():
        return ""
    id_ = conversation.record(answer, now(), after=follows, filed=page, wanted=wanted)
    if not id_:
        output.say(f"could not write {QUESTIONS}: the question was not recorded, so --continue cannot find it")
    return id_


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


def _asked(
    vault: Vault,
    question: str,
    engine: str,
    narrator: output.Progress,
    earlier: Sequence[Exchange],
    budget: float | None,
) -> Answer:
    """Return the answer of an engine, after what it cost is reported. Raises: what `answer_question` raises."""
    desk = OrderDesk(vault, sandboxed=is_sandboxed())
    characters = of_user().part_bytes * 3 // 2 if engine in ASKING else BUDGET
    most = min(characters, BUDGET)
    try:
        with backend_of(
            vault, engine, look(vault.root, vault.notes), narrator, budget=budget, batch=False, renew=True
        ) as backend:
            answer = answer_question(desk, question, engine, now(), backend, narrator, earlier, most)
        cost = paid_words(backend)
    finally:
        narrator.done()
    if cost:
        output.say(cost)
    return answer


def _write_form(vault: Vault, answer: Answer, wanted: Wanted, narrator: output.Progress) -> list[str]:
    """Write the answer in the form that is wanted and return the paths of its files."""
    today = now().astimezone(vault.settings.zone).date()
    return with_search_index(vault, lambda index: write_form(vault, index, answer, wanted, today), now(), narrator)


# --- what is shown ---------------------------------------------------------------------------------------------------


def _show(vault: Vault, answer: Answer, change: Change | None, page: str) -> None:
    """Print the answer with its quotes, what has changed since it was given before, and the page of it."""
    for line in answer_lines(answer):
        if line.part in (Part.NOTE, Part.DROPPED):
            output.say(str(line))
        else:
            is_apart = line.part is Part.QUOTE or (line.part is Part.MISSING and answer.sentences)
            output.show("\n" * bool(is_apart) + " " * _INDENTS.get(line.part, 0) + str(line))
    if change is not None:
        heading, *changes = change_lines(change, vault.settings.zone)
        output.show(f"\n{heading}")
        for line in changes:
            output.show(f"  {clean_line(str(line))}")
    if page:
        output.show(f"\nsaved as {page}; delete the file to undo this")


def _show_meanwhile(
    vault: Vault, waiting: Unanswered, question: str, engine: str, follows: str, *, as_json: bool
) -> int:
    """Print what the sources say while a question waits for its answer, and which command shows that; not recorded."""
    hint = waiting.hint
    if engine == "agent":
        after = ["--after", follows] if follows else []
        again = shlex.join(["retain", "ask", *after, "--engine", "agent", "--", question])
        hint = f"an agent gets the question with `retain agent next`; afterwards `{again}` shows the answer"
    if as_json:
        told = {"what": waiting.what, "hint": hint}
        none = {"id": None, "after": follows or None, "page": None, "changed": None}
        output.show_json({**answer_as_json(waiting.extract), **none, "waiting": told})
    else:
        output.show(EXTRACT)
        _show(vault, waiting.extract, None, "")
    return output.failed(ModelUnavailable(waiting.what, hint=hint))


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
