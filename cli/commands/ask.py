"""The command `ask`: an answer from the wiki, each sentence with the words it rests on."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, vault_option
from vault.errors import EditedMeanwhile, Refused, UsageError, WriteFailed

if TYPE_CHECKING:
    from compiler.query.answer import Answer
    from vault.vault import Vault

ENGINES = ("extractive", "claude", "agent", "journal")
_VERSIONS = 99  # reports on one question


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--engine", type=click.Choice(ENGINES), help="Who answers; without it, whoever compiles this vault.")
@click.option("--file-back", is_flag=True, help="Keep the answer as a page in output/reports/, too.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend at most so much; of a model alone.")
@click.option("--progress", type=click.Choice(["jsonl", "none"]), help="Progress as JSON lines on stderr, or none.")
@vault_option
@json_option
def ask(
    question: tuple[str, ...],
    engine: str | None,
    file_back: bool,
    budget: float | None,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Answer a question from the wiki, and from nothing else.

    Every sentence shows the words of the source that it rests on; what the wiki does not say is said, too. The
    embedded engine quotes the claims that fit best; a model writes sentences, which pass the gates of an article.
    With --engine agent the question is laid down for your coding agent (see `retain agent`): ask again when it has
    answered. What was answered is kept and not asked twice.

    \b
    Examples:
      retain ask "What is the spacing effect?"
      retain ask why does sleep help memory --engine claude
      retain ask "How long should gaps be?" --file-back --json
    """
    from cli.commands.engine_choice import engine_of, paid_words

    vault = opened(vault_dir)
    narrator = output.Progress(progress)
    chosen = engine_of(vault, engine)
    _shut_in(vault, chosen, file_back)
    try:
        with _backend(vault, chosen, narrator, budget) as backend:
            answer = _answered(vault, " ".join(question), chosen, backend, narrator)
        told = paid_words(backend)
    finally:
        narrator.done()
    if told:
        output.say(f"paid: {told}")
    path = _filed(vault, answer) if file_back else None
    _show(answer, path, as_json)
    return output.DONE


def _shut_in(vault: Vault, engine: str, file_back: bool) -> None:
    """From here on this process writes where its answer may lie, and reaches no network. Before the first thread.

    Not with a model: it is another process that speaks to it, shut in by itself, and a key may lie in a key ring. The
    temporary folder is for the trace of a defect.
    """
    if engine == "claude":
        return
    from compiler.orders.board import WORK, OrderDesk
    from compiler.query.answer import REPORTS
    from vault.files.guard import trace_folder
    from vault.sandbox.self_sandbox import restrict_desk

    place = OrderDesk(vault, sandboxed="RETAIN_CAGED" in os.environ)
    folders = [WORK] if place.sandboxed else [".retain", *([REPORTS] if file_back else [])]
    for folder in folders:
        with suppress(WriteFailed):  # a vault that can only be read answers, too
            place.guard.makedirs(folder)
    there = [path for folder in folders if (path := vault.root / folder).is_dir()]
    restrict_desk([*there, trace_folder()])


def _backend(vault: Vault, engine: str, narrator: output.Progress, budget: float | None) -> Any:
    from cli.commands.engine_choice import backend_of
    from compiler.build.snapshot import look

    return backend_of(vault, engine, look(vault.root), narrator, budget=budget, batch=False, renew=True)


def _answered(vault: Vault, question: str, engine: str, backend: Any, narrator: output.Progress) -> Answer:
    from compiler.orders.answer import answer_question
    from compiler.orders.board import OrderDesk

    place = OrderDesk(vault, sandboxed="RETAIN_CAGED" in os.environ)
    return answer_question(place, question, engine, now(), backend, narrator)


def _filed(vault: Vault, answer: Answer) -> str:
    """The path of the page that keeps the answer; one that says the same is not written twice."""
    from compiler.query.answer import REPORTS, report_text
    from vault.files.guard import Scope
    from vault.ids import slug

    if not answer.sentences:
        raise UsageError("there is no answer to keep", hint="what the wiki does not say is no report")
    today = now().astimezone(vault.settings.zone).date()
    data, stem, guard = report_text(answer, today).encode(), slug(answer.question), vault.guard(Scope.PUBLISHER)
    for number in range(1, _VERSIONS + 1):
        path = f"{REPORTS}/{stem}{f'-{number}' if number > 1 else ''}.md"
        try:
            guard.write(path, data, expect=None)
        except EditedMeanwhile:
            if vault.read_bytes(path) == data:
                return path
            continue
        return path
    raise Refused(f"{_VERSIONS} reports on this question lie there already", where=REPORTS, hint="delete some")


def _show(answer: Answer, path: str | None, as_json: bool) -> None:
    from compiler.orders.answer import answer_as_json as plain

    if as_json:
        output.show_json({**plain(answer), "report": path})
        return
    numbers = {known.claim.id: n for n, known in enumerate(answer.claims, 1)}
    for sentence in answer.sentences:
        marks = "".join(f"[{n}]" for c, n in numbers.items() if c in sentence.cites)
        output.show(f"{sentence.text} {marks}")
    if answer.missing:
        output.show(f"\nnot in the wiki: {answer.missing}" if answer.sentences else answer.missing)
    for known in answer.claims:
        output.show(f"\n  [{numbers[known.claim.id]}] “{known.claim.quote}”")
        output.show(f"      {known.raw}" + (f", {known.claim.locator}" if known.claim.locator else ""))
    if answer.rejections:
        count = len(answer.rejections)
        output.say(f"{count} sentence{'' if count == 1 else 's'} left out, which the claims do not bear out")
    if path:
        output.show(f"\nkept in {path}")
