"""The command `retain`: finds the command that was asked for, loads it alone, and turns failures into exit codes."""

from __future__ import annotations

import sys

from cli.version import __version__

TYPE_CHECKING = False  # as typing has it; loading typing would double the cost of `retain --version`
if TYPE_CHECKING:
    import click

# command -> (where it is, its one line of help): listing them must not load them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("cli.founding:init", "Make a new vault, or lay one over an existing folder of notes."),
    "add": ("cli.adding:add", "Copy files, folders or a page from the web into raw/."),
    "compile": ("cli.compiling:compile_", "Bring wiki, cards and gaps up to date with raw/."),
    "review": ("cli.reviewing:review", "Start today's reviews."),
    "due": ("cli.reviewing:due", "List the cards that are due, and the new ones."),
    "rate": ("cli.reviewing:rate", "Record one review of a card."),
    "undo": ("cli.reviewing:undo", "Take back the last thing you did to a card."),
    "card": ("cli.cards:card", "Cards: show, edit, list, suspend, resume, bury, flag, tag, reschedule."),
    "optimize": ("cli.tuning:optimize", "Fit the scheduler to your own reviews, if that foretells them better."),
    "simulate": ("cli.simulating:simulate", "What a retention, or more new cards, would cost you a day."),
    "quiz": ("cli.quizzing:quiz", "Be asked about a topic by a language model, if you have named one."),
    "gaps": ("cli.agenda:gaps", "The reading agenda: list, plan, resolve, ignore."),
    "inbox": ("cli.inbox:inbox", "What waits for your word: list, show, accept, keep, reject, undo."),
    "concept": ("cli.concepts:concept", "Concepts: rename, merge, split, alias, list, show, deeds, undo."),
    "stats": ("cli.stats:stats", "How well you remember, what is coming, what is weak."),
    "ask": ("cli.asking:ask", "Answer a question from the wiki, with the words it rests on."),
    "search": ("cli.searching:search", "Find cards and articles by their words, and by what you remember."),
    "status": ("cli.founding:status", "What the vault holds."),
    "verify": ("cli.checking:verify", "Check every quote, citation and card against the sources."),
    "trace": ("cli.checking:trace", "Follow a card, sentence or claim back to its source."),
    "log": ("cli.chronicle:log", "The chronicle of builds; what was refused, what yielded nothing."),
    "insight": ("cli.insight:insight", "Write a note of your own, in the folder that no agent touches."),
    "guard": ("cli.guarding:guard", "Cage agents; see and restore what changed behind your back."),
    "agent": ("cli.agent:agent", "Work orders for a coding agent: next, show, submit, status, release."),
    "mcp": ("cli.serving:mcp", "Serve the vault to a coding agent over MCP, on stdin and stdout."),
    "doctor": ("cli.doctor:doctor", "Show what protects this vault here, and find what looks wrong."),
    "upgrade": ("cli.upgrade:upgrade", "Bring AGENTS.md and the schema version of an older vault up to date."),
    "export": ("cli.exporting:export", "Write the cards for other programs."),
    "import": ("cli.importing:import_", "Bring cards and reviews home from Anki."),
    "sync": ("cli.syncing:sync", "Bring cards and reviews together with a running Anki."),
    "rebuild": ("cli.compiling:rebuild", "Make every product anew from raw/, ledgers and log."),
}
_EXAMPLES = """\b
Examples:
  retain init ~/know && cd ~/know
  retain add ~/papers ~/clippings/spacing.md
  retain compile
  retain review
"""


def retain_group() -> click.Group:
    import click

    from cli.late_group import LateGroup

    @click.group(
        cls=LateGroup,
        table=COMMANDS,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        epilog=_EXAMPLES,
    )
    @click.version_option(__version__, prog_name="retain")
    @click.option(
        "--vault", metavar="DIR", help="The vault; else RETAIN_VAULT, else the nearest folder with retain.toml."
    )
    @click.option("--plain", is_flag=True, help="Without a command: lines of text instead of the app.")
    @click.pass_context
    def retain(ctx: click.Context, vault: str | None, plain: bool) -> int:
        """Turn what you read into what you know: a cited wiki, flashcards, a daily review.

        Without a command, the terminal app opens.
        """
        ctx.obj = vault
        if ctx.invoked_subcommand is None:
            from cli.app import open_app

            return open_app(vault, start="home", plain=plain)
        return 0

    return retain


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:  # asked for by scripts: it must not cost the loading of a library
        print(f"retain, version {__version__}")
        sys.exit(0)
    import gc
    from contextlib import suppress

    # A command makes many objects that live as long as it does: searching them for garbage now and then, and once
    # more on leaving, finds nothing and costs a tenth of the time of a short command.
    gc.set_threshold(100_000, 50, 50)
    try:
        _open_what_is_closed()
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may know ASCII alone
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    gc.freeze()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # it has been told; Python would tell it once more, with an exit code of its own
            stream.close()
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Closed streams (`2>&-`) take what they are given and keep nothing: else a file could get their numbers."""
    import os

    for handle, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(handle)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free, so this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(handle, "w" if handle else "r", encoding="utf-8", closefd=False))


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code. Only here is every exception caught."""
    from cli import report

    try:
        return _run(arguments)
    except BrokenPipeError:
        return report.DONE  # the reader of our output went away (`retain due | head`): nothing more to say


def _run(arguments: list[str]) -> int:
    from cli import report
    from vault.errors import RetainError

    report.speak_events(arguments)
    try:
        code = _called(arguments)
        if code < 128:  # whoever was hung up has nobody to tell
            report.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except RetainError as error:
        return report.failed(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 (the face: a defect becomes one line and a trace file)
        return _failed(error)
    return code


def _failed(error: Exception) -> int:
    """The exit code of what no room of ours raised on purpose: of a wrong command line, or a defect."""
    from cli import report

    click = sys.modules.get("click")
    if click is not None and isinstance(error, click.exceptions.Abort):
        return _interrupted()
    if click is not None and isinstance(error, click.ClickException):
        report.usage(error)
        return report.USAGE
    return report.defect(error)


def _interrupted() -> int:
    from cli import report

    report.say("\nretain: interrupted; what was saved stays saved")
    return report.INTERRUPTED


def _called(arguments: list[str]) -> int:
    """What the command gave back. Not by click's own `main`: of a pipe that nobody reads it makes exit code 1."""
    import os

    import click

    group = retain_group()
    if "_RETAIN_COMPLETE" in os.environ:  # a shell asks what could come next
        group.main(prog_name="retain")
    if "RETAIN_CAGED" in os.environ:
        from cli.opening import check_caged

        check_caged(arguments)
    try:
        with group.make_context("retain", list(arguments)) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as asked:  # `-h`, `--version`
        return asked.exit_code
    return code if isinstance(code, int) else 0
