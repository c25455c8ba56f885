"""The command group `engine`: which models are on this machine; try one, see what it would cost, choose it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.engines import found
from cli.engines.choice import ASKING, engine_of, started
from cli.environment import now
from cli.options import json_option, opened, progress_option, vault_json_options
from vault.config import user
from vault.config.engine import COMPILING, PART_BYTES, USUAL, EngineSettings, of_user, read_engine
from vault.errors import ModelUnavailable, UsageError
from vault.text.formatting import plural
from vault.toml_edit import Value, change_user_all

if TYPE_CHECKING:
    from compiler.replies.asker import Answered

KINDS = ("claude", "server", "command", "none")
_SHOWN = 10
_ROLES = ("read", "write", "check")
Changes = list[tuple[str, str, Value | None]]


@click.group(invoke_without_command=True)
@click.option("--look", is_flag=True, help="Also look for model servers on the usual ports of this machine.")
@json_option
@click.pass_context
def engine(context: click.Context, look: bool, as_json: bool) -> None:
    """Show which models can compile on this machine; try one, estimate its cost, or choose it.

    \b
    Examples:
      retain engine
      retain engine --look                                 also look for Ollama, LM Studio, llama.cpp, vLLM
      retain engine use command -- claude -p               compile with a program
      retain engine use server http://127.0.0.1:11434 --model qwen3:8b --small
      retain engine try                                    ask the model one small question
      retain engine cost                                   estimate the cost of compiling this vault
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, look=look, as_json=as_json)


# --- what is here ----------------------------------------------------------------------------------------------------


@engine.command("list")
@click.option("--look", is_flag=True, help="Also look for model servers on the usual ports of this machine.")
@json_option
def list_(look: bool, as_json: bool) -> None:
    """Show the configured engine, and the keys, programs and servers found on this machine.

    Keys are never shown, only the names of their variables. Nothing is sent over the network; --look probes the ports
    11434, 1234, 8080 and 8000 on this machine for model servers.

    \b
    Examples:
      retain engine list
      retain engine list --look --json
    """
    settings = of_user()
    servers = found.servers() if look else None
    if as_json:
        output.show_json(_found_as_json(settings, servers))
        return
    output.show(f"settings  {user.config_folder() / user.CONFIG}")
    output.show(f"compile   {_compiling(settings)}")
    output.show(f"grading   {_grading(settings)}")
    output.show(f"keys      {', '.join(found.keys(settings)) or f'none: {settings.key_env} is not set'}")
    programs = found.programs()
    output.show(f"programs  {', '.join(p.path for p in programs) or 'none of ' + ', '.join(found.PROGRAMS)}")
    if servers is None:
        output.show("servers   not searched; `retain engine --look` probes the usual ports on this machine")
    else:
        output.show(f"servers   {', '.join(f'{s.name} at {s.url}' for s in servers) or 'none found'}")
    choices = _choices(settings, programs, servers or ())
    if choices:
        output.show("\nto choose one (then run `retain engine try`):")
        output.show_first(choices, _SHOWN, indent="  ")


def _compiling(settings: EngineSettings) -> str:
    """Return who compiles, in words."""
    size = ", small requests" if settings.part_bytes < PART_BYTES["large"] else ""
    match settings.compile:
        case "command" if settings.command is not None:
            check = f", checked by {shlex.join(settings.command.check)}" if settings.command.check else ""
            return f"command: {shlex.join(settings.command.arguments)}{check}{size}"
        case "claude":
            named = {role: settings.models.get(role) or COMPILING[role] for role in _ROLES}
            place = settings.place or "Anthropic"
            models = settings.models if settings.place else named
            return f"models at {place}: {', '.join(f'{r} {models[r]}' for r in _ROLES if r in models)}{size}"
        case "agent":
            return "agent: a coding agent, see `retain agent`"
        case "extractive":
            return "extractive: the built-in engine, which uses no model"
    return "not set: uses the engine of the vault's last compile, or the built-in one"


def _grading(settings: EngineSettings) -> str:
    """Return who grades typed answers and holds quizzes, in words."""
    if not settings.use:
        return "no model"
    return ", ".join(f"{role} {settings.models.get(role, 'without a model')}" for role in ("grade", "quiz"))


def _choices(settings: EngineSettings, programs: Sequence[found.Program], servers: Sequence[found.Server]) -> list[str]:
    """Return the commands that choose what was found."""
    lines = ["retain engine use claude"] if found.keys(settings) else []
    lines += [f"retain engine use command -- {shlex.join(program.command)}" for program in programs]
    return lines + [
        f"retain engine use server {server.url} --model {shlex.quote(server.models[0] if server.models else 'MODEL')}"
        for server in servers
    ]


def _found_as_json(settings: EngineSettings, servers: Sequence[found.Server] | None) -> dict[str, Any]:
    command = settings.command
    return {
        "config": str(user.config_folder() / user.CONFIG),
        "compile": settings.compile,
        "use": settings.use,
        "base_url": settings.base_url,
        "models": dict(settings.models),
        "command": list(command.arguments) if command else [],
        "command_check": list(command.check) if command else [],
        "size": settings.size,
        "part_bytes": settings.part_bytes,
        "keys": found.keys(settings),
        "programs": [{"name": p.name, "path": p.path, "command": list(p.command)} for p in found.programs()],
        "servers": None
        if servers is None
        else [{"name": s.name, "url": s.url, "models": list(s.models)} for s in servers],
    }


# --- one small question ----------------------------------------------------------------------------------------------


@engine.command("try")
@click.argument("name", required=False, type=click.Choice(ASKING))
@progress_option
@json_option
def try_(name: str | None, progress: str | None, as_json: bool) -> int:
    """Test the chosen engine, or NAME, with one small request.

    It asks for the concepts in five sample sentences. Reports whether the answer has the format that compiling needs,
    and the time and tokens used. Needs no vault; nothing is stored.

    \b
    Examples:
      retain engine try
      retain engine try command
      retain engine try claude --json
    """
    settings = of_user()
    chosen = name or _configured(settings)
    from compiler.replies.asker import Failed

    request = _question()
    began = time.monotonic()
    with output.Progress(progress) as narrator, started(settings, chosen, narrator) as backend:
        narrator({"event": "read", "done": 0, "of": 1, "tokens": 0})
        asked = backend.name
        _, answer = next(iter(backend.answers([request])))
    seconds = time.monotonic() - began
    if isinstance(answer, Failed):
        if not as_json:
            raise ModelUnavailable(answer.what, hint=answer.hint)
        failure = {"what": answer.what, "hint": answer.hint}
        output.show_json({"engine": asked, "usable": False, "seconds": round(seconds, 1), **failure})
        return output.UNAVAILABLE
    _show_answer(answer, seconds, as_json)
    return output.FINDINGS if answer.refused else output.DONE


def _configured(settings: EngineSettings) -> str:
    """Return the engine that the settings name. Raises ModelUnavailable."""
    if settings.compile in ASKING:
        return settings.compile
    if settings.command is not None:
        return "command"
    if found.keys(settings) or settings.place:
        return "claude"
    raise ModelUnavailable("no engine is chosen", hint="`retain engine` lists the engines on this machine")


def _question() -> Any:
    """Return a request to read a text of six sentences."""
    from compiler.protocol.requests import BlockView, DocumentView, PassageView, ReadRequest
    from vault.ids import digest12

    passages = tuple(
        PassageView(number=n, headings=("Tides",), blocks=(BlockView(key=digest12(words), text=words),))
        for n, words in enumerate(_TEXT, 1)
    )
    document = DocumentView(number=1, source="0000000000", title="Tides", language="en", passages=passages)
    return ReadRequest(documents=(document,))


_TEXT = (
    "A tide is the regular rise and fall of the sea. It is caused by the pull of the Moon and the Sun.",
    "A spring tide is a tide with an especially large range. It occurs when the Sun and the Moon pull along the same "
    "line.",
    "A neap tide is a tide with a small range. It occurs when the pulls of the Sun and the Moon are at right angles.",
)


def _show_answer(answer: Answered, seconds: float, as_json: bool) -> None:
    """Print what an answer to the small question was."""
    concepts = [concept.title for concept in getattr(answer.reply, "concepts", ())]
    sent, received = answer.tokens
    if as_json:
        took = {"seconds": round(seconds, 1), "tokens": [sent, received], "usd": answer.usd}
        said = {"concepts": concepts, "refused": list(answer.refused)}
        output.show_json({"engine": answer.engine, "usable": True, **took, **said})
        return
    output.show(f"{answer.engine}: the answer has the format that compiling needs")
    output.show(f"{plural(len(concepts), 'concept')}: {', '.join(concepts)}")
    output.show(f"{seconds:.1f} s, {sent} tokens sent, {received} received")
    if answer.refused:
        output.show(f"rejected ({len(answer.refused)}):")
        output.show_first(answer.refused, _SHOWN, indent="  ")


# --- what it would take ----------------------------------------------------------------------------------------------


@engine.command("cost")
@click.option("--engine", "name", type=click.Choice(ASKING), help="The engine (default: the one you chose).")
@progress_option
@vault_json_options
def cost(name: str | None, progress: str | None, vault_dir: str | None, as_json: bool) -> None:
    """Estimate the cost of compiling this vault: requests, tokens, money and minutes.

    Reads the documents and calls no model. Stored answers cost nothing.

    \b
    Examples:
      retain engine cost
      retain engine cost --engine claude --json
    """
    from compiler.build.compile import Options, compile_vault
    from compiler.build.snapshot import look

    vault = opened(vault_dir)
    chosen = name or engine_of(vault, None)
    chosen = chosen if chosen in ASKING else _configured(of_user())
    with output.Progress(progress) as narrator:
        report = compile_vault(vault, Options(chosen, dry_run=True), now(), narrator, look(vault.root, vault.notes))
    from cli.engines.costs import estimate_json, show_estimate

    figures = estimate_json(report.open, chosen, batch=False)
    if as_json:
        output.show_json({"engine": chosen, **figures})
    elif report.open:
        asked = ", ".join(f"{n} {type_}" for type_, n in figures["requests"].items())
        output.show(f"would send to {chosen}: {asked}")
        show_estimate(figures)
    else:
        output.show("nothing to request: all requests for this vault have been answered")


# --- the choice ------------------------------------------------------------------------------------------------------


@engine.command("use")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("words", nargs=-1, metavar="[ADDRESS | -- PROGRAM ARGUMENT...]")
@click.option("--model", metavar="NAME", help="The model, for claude and server.")
@click.option("--check", metavar="NAME", help="Another model or command line to check the answers.")
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME",
    help="Pass this environment variable to the program; repeatable.",
)
@click.option("--small", is_flag=True, help="Send smaller requests, for a model with 1 to 8 billion parameters.")
@json_option
def use(
    kind: str,
    words: tuple[str, ...],
    model: str | None,
    check: str | None,
    variables: tuple[str, ...],
    small: bool,
    as_json: bool,
) -> None:
    """Choose the engine for compiling. Nothing else in your settings file changes.

    claude: Anthropic, with an API key. server: any server with the Messages API. command: a program that reads a prompt
    from standard input and prints the answer. none: no model is called, and stored answers are still used.

    \b
    Examples:
      retain engine use claude
      retain engine use command -- claude -p
      retain engine use command --env OPENAI_API_KEY --check "llm -m other" -- llm -m some-model
      retain engine use server http://127.0.0.1:11434 --model qwen3:8b --small
      retain engine use none
    """
    before = of_user()
    changes = _changes(before, kind, words, model, check, variables)
    changes.append(("engine", "size", "small" if small else None))
    text = change_user_all(changes, read_engine)
    path = str(user.config_folder() / user.CONFIG)
    settings = read_engine(text, path)
    if as_json:
        output.show_json(_found_as_json(settings, None))
        return
    output.show(f"compile   {_compiling(settings)}")
    output.show(
        f"written to {path}" + ("" if kind == "none" else "; `retain engine try` tests it with one small question")
    )


def _changes(
    before: EngineSettings,
    kind: str,
    words: tuple[str, ...],
    model: str | None,
    check: str | None,
    variables: tuple[str, ...],
) -> Changes:
    """Return the settings to write, as (table, key, value). Raises UsageError for words that do not fit together."""
    if kind == "command":
        return _command_changes(words, model, check, variables)
    if variables or (words and kind != "server"):
        raise UsageError(f"`{kind}` does not take a program", hint="`retain engine use command -- PROGRAM ARGUMENT...`")
    if kind == "none":
        return [("engine", "compile", None)]
    if kind == "claude":
        return [("engine", "compile", "claude"), *_server_changes(before, USUAL, model, check)]
    if len(words) != 1 or not model:
        hint = "retain engine use server http://127.0.0.1:11434 --model NAME"
        raise UsageError("give the server's address and a model", hint=hint)
    return [("engine", "compile", "claude"), *_server_changes(before, words[0].rstrip("/"), model, check)]


def _command_changes(
    words: tuple[str, ...], model: str | None, check: str | None, variables: tuple[str, ...]
) -> Changes:
    """Return the settings of a program. Raises UsageError without one."""
    if not words or model:
        hint = "retain engine use command -- claude -p --model NAME"
        raise UsageError("give the program and its arguments after `--`", hint=hint)
    try:
        checking = shlex.split(check or "")
    except ValueError as error:
        raise UsageError(
            f"the value of --check cannot be parsed as a command line: {error}",
            hint='for example --check "llm -m NAME"',
        ) from error
    return [
        ("engine", "compile", "command"),
        ("engine", "command", list(words)),
        ("engine", "command_check", checking or None),
        ("engine", "command_env", list(variables) or None),
    ]


def _server_changes(before: EngineSettings, address: str, model: str | None, check: str | None) -> Changes:
    """Return the settings of a server: models named for another one are replaced, as it does not have them."""
    changes: Changes = [("engine", "base_url", None if address == USUAL else address)]
    moved = address != before.base_url
    named = {"read": model, "write": model, "check": check or model}
    changes += [("engine.models", role, name) for role, name in named.items() if name or moved]
    if moved and before.use:  # they grade and quiz there, too
        usual = address == USUAL
        grader = named["check"] or (COMPILING["check"] if usual else None)
        tutor = named["write"] or (COMPILING["write"] if usual else None)
        changes += [("engine.models", "grade", grader), ("engine.models", "quiz", tutor)]
    return changes
