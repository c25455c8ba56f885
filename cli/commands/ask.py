"""The command `ask`: an answer from the wiki with citations."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import click

from cli import output
from cli.engines.choice import ASKING, backend_of, engine_of, paid_words
from cli.environment import now
from cli.options import opened, progress_option, vault_json_options
from compiler.build.snapshot import look
from compiler.orders.answer import answer_as_json as plain
from compiler.orders.answer import answer_question
from compiler.orders.board import OrderDesk
from compiler.orders.files import WORK
from compiler.query.answer import REPORTS, Answer, report_text
from vault.errors import EditedMeanwhile, Refused, UsageError, WriteFailed
from vault.files.exports import trace_folder
from vault.files.guard import Scope
from vault.ids import slug
from vault.sandbox.self_sandbox import restrict_writes
from vault.text.formatting import plural
from vault.vault import Vault

ENGINES = ("extractive", *ASKING, "agent", "journal")
_VERSIONS = 99  # reports on one question


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--engine", type=click.Choice(ENGINES), help="Which engine answers (default: the one that compiles this vault)."
)
@click.option("--file-back", is_flag=True, help="Also save the answer as a page in output/reports/.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend at most this much (--engine claude).")
@progress_option
@vault_json_options
def ask(
    question: tuple[str, ...],
    engine: str | None,
    file_back: bool,
    budget: float | None,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Answer a question from your sources and the wiki alone.

    The embedded engine quotes the passages of your sources that fit best, and says so where the words of the question
    stand nowhere together. A model writes sentences, each with the words of its source, which are checked like an
    article's; what the wiki lacks is reported. With --engine agent the question becomes an order for your coding agent
    (see `retain agent`): ask again when it has answered. Answers are stored, and a question is not asked twice.

    \b
    Examples:
      retain ask "What is the spacing effect?"
      retain ask why does sleep help memory --engine claude
      retain ask "How long should gaps be?" --file-back --json
    """
    vault = opened(vault_dir)
    narrator = output.Progress(progress)
    chosen = engine_of(vault, engine)
    _restrict_process(vault, chosen, file_back)
    try:
        with _start_backend(vault, chosen, narrator, budget) as backend:
            answer = _answer(vault, " ".join(question), chosen, backend, narrator)
        cost = paid_words(backend)
    finally:
        narrator.done()
    if cost:
        output.say(cost)
    path = _write_report(vault, answer) if file_back else None
    _show(answer, path, as_json)
    return output.DONE


def _restrict_process(vault: Vault, engine: str, file_back: bool) -> None:
    """Restrict this process to the folders that it writes, without network; call it before any thread starts."""
    if engine in ASKING:
        return

    place = OrderDesk(vault, sandboxed="RETAIN_CAGED" in os.environ)
    folders = [WORK] if place.sandboxed else [".retain", *([REPORTS] if file_back else [])]
    for folder in folders:
        with suppress(WriteFailed):  # a vault that can only be read answers, too
            place.guard.makedirs(folder)
    there = [path for folder in folders if (path := vault.root / folder).is_dir()]
    restrict_writes([*there, trace_folder()])


def _start_backend(vault: Vault, engine: str, narrator: output.Progress, budget: float | None) -> Any:
    return backend_of(vault, engine, look(vault.root), narrator, budget=budget, batch=False, renew=True)


def _answer(vault: Vault, question: str, engine: str, backend: Any, narrator: output.Progress) -> Answer:
    place = OrderDesk(vault, sandboxed="RETAIN_CAGED" in os.environ)
    return answer_question(place, question, engine, now(), backend, narrator)


def _write_report(vault: Vault, answer: Answer) -> str:
    """Write the answer as a report and return its path; an equal report is reused."""
    if not answer.sentences and not answer.quotes:
        raise UsageError("no answer to save", hint="the sources say nothing on this question")
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
    raise Refused(f"there are already {_VERSIONS} reports on this question", where=REPORTS, hint="delete some")


def _show(answer: Answer, path: str | None, as_json: bool) -> None:
    """Print the answer with numbered quotes, as text or JSON."""
    if as_json:
        output.show_json({**plain(answer), "report": path})
        return
    if answer.quotes:
        _show_quotes(answer)
        if path:
            output.show(f"\nsaved as {path}")
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
        output.say(f"{plural(count, 'unsupported sentence')} dropped")
    if path:
        output.show(f"\nsaved as {path}")


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
