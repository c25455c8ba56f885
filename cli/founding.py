"""Commands that make a vault and say what it holds: init, status."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import click

from cli import report
from cli.opening import json_option, now, opened, vault_option
from vault.errors import Refused, UsageError
from vault.settings import FILE

KINDS = ("articles", "papers", "repos", "datasets", "images")
FOLDERS = (
    *(f"raw/{kind}" for kind in KINDS),
    *("wiki/concepts", "wiki/topics", "wiki/summaries"),
    *("output/reports", "output/slides", "output/figures", "output/proposals", "output/quarantine"),
    *("learning/flashcards", "ledger/replies", "insights"),
)


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--adopt", is_flag=True, help="Lay the vault over a folder that already holds notes.")
@click.option("--no-git", is_flag=True, help="Do not make it a git repository.")
def init(directory: str, adopt: bool, no_git: bool) -> None:
    """Make a new vault in DIR.

    \b
    Examples:
      retain init my-vault
      retain init ~/notes --adopt     add the layer to an existing Obsidian vault
    """
    from templates import read
    from vault.guard import Guard, Scope
    from vault.ids import ulid
    from vault.settings import Settings, render_settings

    root = Path(directory).expanduser()
    if (root / FILE).exists():
        raise Refused("this is a vault already", where=str(root / FILE), hint="open it with `retain status`")
    if root.exists() and not root.is_dir():
        raise UsageError("not a folder", where=str(root))
    if root.is_dir() and any(root.iterdir()) and not adopt:
        raise Refused(
            "the folder is not empty",
            where=str(root),
            hint="--adopt lays the vault over what is there; no file is changed",
        )
    guard = Guard(root.resolve(), Scope.INIT)
    at = now()
    settings = Settings(
        vault_id=ulid(int(at.timestamp() * 1000), secrets.token_bytes(10)),
        name=root.resolve().name,
        timezone=_local_zone(),
    )
    for folder in FOLDERS:
        guard.makedirs(folder)
    files = {"AGENTS.md": read("AGENTS.md"), ".gitignore": read("gitignore"), ".gitattributes": read("gitattributes")}
    kept = [name for name, text in files.items() if not _lay(guard, name, text)]
    guard.write(FILE, render_settings(settings).encode(), expect=None)  # last: what has it is a vault, whole
    report.say(f"a new vault in {root} (study days in {settings.timezone}, from {settings.rollover}:00)")
    for name in kept:
        report.say(f"  {name} was there and stays as it is; the one retain would write is in its documentation")
    if not no_git and shutil.which("git") and not _in_git(root):
        subprocess.run(["git", "init", "--quiet", str(root)], check=False)
        report.say("  it is a git repository; commit whenever you like")
    report.say(f"next: cd {root} && retain add FILES && retain compile")


def _lay(guard: object, name: str, text: str) -> bool:
    """Whether `name` was written; a file that is there already is the human's."""
    from vault.guard import Guard

    assert isinstance(guard, Guard)
    if guard.exists(name):
        return guard.read(name) == text.encode()
    return guard.write(name, text.encode(), expect=None)


def _in_git(root: Path) -> bool:
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--git-dir"], capture_output=True, check=False)
    return done.returncode == 0


def _local_zone() -> str:
    """The IANA name of this machine's time zone; "UTC" where it cannot be told."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    link = os.path.realpath("/etc/localtime")
    for name in (
        os.environ.get("TZ", "").lstrip(":"),
        link.partition("zoneinfo/")[2],
        _first_line(Path("/etc/timezone")),
    ):
        try:
            if name:
                return str(ZoneInfo(name))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").split("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""


@click.command()
@vault_option
@json_option
def status(vault_dir: str | None, as_json: bool) -> None:
    """What the vault holds: sources, wiki, cards, what is due, what is missing."""
    from cli.counting import counted

    vault = opened(vault_dir)
    facts, diagnostics = counted(vault, now())
    if as_json:
        report.show_json(facts)
    else:
        gaps = facts["gaps"]
        assert isinstance(gaps, dict)
        report.show(f"{vault.settings.name}  {vault.root}  schema {facts['schema']}")
        nouns = ("sources", "summaries", "concepts", "topics", "claims")
        report.show(", ".join(f"{facts[noun]} {noun}" for noun in nouns))
        report.show(f"{facts['cards']} cards: {facts['due']} due, {facts['new']} new")
        for held in facts["locks"]:
            report.show(
                f"at work now: process {held['pid']} on {held['host']}, {held['purpose']} since {held['since']}"
            )
        report.show("gaps: " + ", ".join(f"{n} {kind}" for kind, n in gaps.items()))
    report.found(diagnostics)
