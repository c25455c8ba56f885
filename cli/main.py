"""The program `retain`: run one command, and turn errors into messages and exit codes."""

from __future__ import annotations

import os
import sys

from cli.version import __version__

TYPE_CHECKING = False  # as typing has it; loading typing would double the cost of `retain --version`
if TYPE_CHECKING:
    import click

_EXAMPLES = """\b
Examples:
  retain init ~/know && cd ~/know
  retain add ~/papers ~/clippings/spacing.md
  retain compile
  retain review
"""


def retain_group() -> click.Group:
    """Return the click group `retain` with all commands."""
    import click

    from cli.command_list import COMMANDS, LateGroup

    @click.group(
        cls=LateGroup,
        table=COMMANDS,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        epilog=_EXAMPLES,
    )
    @click.version_option(__version__, prog_name="retain")
    @click.option(
        "--vault",
        metavar="DIR",
        shell_complete=click.Path(file_okay=False).shell_complete,
        help="The vault (default: $RETAIN_VAULT, or the nearest parent folder with retain.toml).",
    )
    @click.option("--plain", is_flag=True, help="Without a command, print plain text instead of opening the app.")
    @click.pass_context
    def retain(ctx: click.Context, vault: str | None, plain: bool) -> int:
        """Turn documents into a cited wiki, flashcards and a daily review.

        Without a command, open the terminal app.
        """
        ctx.obj = vault
        if ctx.invoked_subcommand is None:
            from cli import output

            with output.Loading(plain=plain) as loading:
                from cli.review.launcher import open_app

                return open_app(vault, loading, start="home", plain=plain)
        return 0

    return retain


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:  # asked for by scripts: it must not cost the loading of a library
        print(f"retain, version {__version__}")
        sys.exit(0)
    _ensure_utf8()
    import gc
    from contextlib import suppress

    # A command makes many objects that live as long as it does: searching them for garbage now and then, and once
    # more on leaving, finds nothing and costs a tenth of the time of a short command.
    gc.set_threshold(100_000, 50, 50)
    try:
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may know ASCII alone
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    gc.freeze()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # reported already; Python would report it again and change the exit code
            stream.close()
    sys.exit(code)


def _ensure_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale has another encoding, as a timer's may: names of files in a
    vault are UTF-8, and in another encoding a source would not be found again under its name.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 (this very program)


def _open_closed_streams() -> None:
    """Connect closed standard streams (`2>&-`) to /dev/null, so that no file gets their descriptors."""
    for handle, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(handle)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free, so this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(handle, "w" if handle else "r", encoding="utf-8", closefd=False))


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code. Only here is every exception caught."""
    from cli import output

    try:
        return _run(arguments)
    except BrokenPipeError:
        return output.DONE  # the reader of our output went away (`retain due | head`): nothing more to say
    finally:
        output.speak_events(())  # what this command line asked for holds for no other


def _run(arguments: list[str]) -> int:
    """Run a command line and return the exit code; report every error except a broken pipe."""
    from cli import output
    from vault.errors import RetainError

    output.speak_events(arguments)
    try:
        code = _dispatch(arguments)
        if code < 128:  # >= 128: killed by SIGHUP, stdout is gone
            output.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except RetainError as error:
        return output.failed(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 (the face: a defect becomes one line and a trace file)
        return _report_exception(error)
    return code


def _report_exception(error: Exception) -> int:
    """Report an error that is not a RetainError, and return the exit code: a usage error of click, or a defect."""
    from cli import output

    click = sys.modules.get("click")
    if click is not None and isinstance(error, click.exceptions.Abort):
        return _interrupted()
    if click is not None and isinstance(error, click.ClickException):
        output.usage(error)
        return output.USAGE
    return output.defect(error)


def _interrupted() -> int:
    from cli import output

    output.say("\nretain: interrupted; everything saved so far is kept")
    return output.INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    """Run the command and return its exit code. click's own `main` would turn a broken pipe into exit code 1."""

    import click

    group = retain_group()
    if "_RETAIN_COMPLETE" in os.environ:  # a shell asks what could come next
        group.main(prog_name="retain")
    if "RETAIN_CAGED" in os.environ:
        from cli.options import check_sandboxed

        check_sandboxed(arguments)
    try:
        with group.make_context("retain", list(arguments)) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as asked:  # `-h`, `--version`
        return asked.exit_code
    return code if isinstance(code, int) else 0
