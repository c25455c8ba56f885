"""The command `ask`: an answer from the wiki with citations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from cli import output
from cli.answer_forms import form_options, wanted_form
from cli.engines.choice import ASKING, backend_of, engine_of, paid_words
from cli.environment import now
from cli.options import opened, progress_option, vault_json_options
from compiler.build.search import with_search_index
from compiler.build.snapshot import look
from compiler.forms.write import REPORTS, Wanted, write_form
from compiler.orders.answer import answer_as_json as plain
from compiler.orders.answer import answer_question
from compiler.orders.board import OrderDesk
from compiler.orders.files import WORK
from compiler.query.answer import Answer
from vault.errors import WriteFailed
from vault.files.exports import trace_folder
from vault.sandbox.self_sandbox import restrict_writes
from vault.text.formatting import plural
from vault.vault import Vault

ENGINES = ("extractive", *ASKING, "agent", "journal")


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--engine", type=click.Choice(ENGINES), help="Which engine answers (default: the one that compiles this vault)."
)
@click.option("--file-back", is_flag=True, help="Also save the answer as a page in output/reports/.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend at most this much (--engine claude).")
@form_options
@progress_option
@vault_json_options
def ask(
    question: tuple[str, ...],
    engine: str | None,
    file_back: bool,
    budget: float | None,
    form: str | None,
    out: str | None,
    things: str | None,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Answer a question from your sources and the wiki alone.

    The embedded engine quotes the passages of your sources that fit best, and says so where the words of the question
    stand nowhere together. A model writes sentences, each with the words of its source, which are checked like an
    article's; what the wiki lacks is reported. With --engine agent the question becomes an order for your coding agent
    (see `retain agent`): ask again when it has answered. Answers are stored, and a question is not asked twice.

    With --as the answer is saved in a form (docs/answers.md): only its path is printed.

    \b
    Examples:
      retain ask "What is the spacing effect?"
      retain ask why does sleep help memory --engine claude
      retain ask "How long should gaps be?" --file-back --json
      retain ask "Compare massed and spaced practice" --as table
    """
    vault = opened(vault_dir)
    wanted = wanted_form(vault, form, out, things)
    narrator = output.Progress(progress)
    chosen = engine_of(vault, engine)
    _restrict_process(vault, chosen, file_back, wanted)
    try:
        with _start_backend(vault, chosen, narrator, budget) as backend:
            answer = _answer(vault, " ".join(question), chosen, backend, narrator)
        cost = paid_words(backend)
    finally:
        narrator.done()
    if cost:
        output.say(cost)
    path = _write_form(vault, answer, Wanted("report"), narrator)[0] if file_back else None
    files = _write_form(vault, answer, wanted, narrator) if wanted else []
    _show(answer, path, as_json, wanted, files)
    return output.DONE


def _restrict_process(vault: Vault, engine: str, file_back: bool, wanted: Wanted | None = None) -> None:
    """Restrict this process to the folders that it writes, without network; call it before any thread starts."""
    if engine in ASKING:
        return

    place = OrderDesk(vault, sandboxed="RETAIN_CAGED" in os.environ)
    folders = [WORK] if place.sandboxed else [".retain", *([REPORTS] if file_back else [])]
    folders += [wanted.folder] if wanted else []
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


def _write_form(vault: Vault, answer: Answer, wanted: Wanted, narrator: output.Progress) -> list[str]:
    """Write the answer in the form that is wanted and return the paths of its files."""
    today = now().astimezone(vault.settings.zone).date()
    return with_search_index(vault, lambda index: write_form(vault, index, answer, wanted, today), now(), narrator)


def _show(answer: Answer, path: str | None, as_json: bool, wanted: Wanted | None, files: Sequence[str]) -> None:
    """Print the answer with numbered quotes, as text or JSON; of a form, its files alone."""
    if as_json:
        made = {"form": wanted.form, "path": files[0], "files": list(files)} if wanted else {}
        output.show_json({**plain(answer), "report": path, **made})
        return
    if files:
        for file in [*files, *([path] if path and path not in files else [])]:
            output.show(f"saved as {file}")
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
