"""Commands that make and fill a vault: init, add, status."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import report
from cli.opening import json_option, now, opened, vault_option
from vault.errors import Refused, RetainError, UsageError
from vault.settings import FILE

if TYPE_CHECKING:
    from vault.store import Vault

KINDS = ("articles", "papers", "repos", "datasets", "images")
FOLDERS = (
    *(f"raw/{kind}" for kind in KINDS),
    *("wiki/concepts", "wiki/topics", "wiki/summaries"),
    *("output/reports", "output/slides", "output/figures", "output/proposals", "output/quarantine"),
    *("learning/flashcards", "ledger/replies", "insights"),
)
_BY_SUFFIX = {
    **dict.fromkeys((".pdf", ".ps", ".djvu"), "papers"),
    **dict.fromkeys((".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".xls"), "datasets"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff"), "images"),
}


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
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--as", "kind", type=click.Choice(KINDS), help="The folder of raw/ to put it in; else by the kind of file."
)
@click.option(
    "--authority", type=click.IntRange(0, 3), help="How much its word weighs: 0 hearsay, 1 usual, 2 expert, 3 standard."
)
@vault_option
@json_option
def add(sources: tuple[str, ...], kind: str | None, authority: int | None, vault_dir: str | None, as_json: bool) -> int:
    """Copy files or whole folders into raw/, names and folders as you gave them.

    \b
    Examples:
      retain add paper.pdf notes.md
      retain add ~/clippings --as articles
      retain add -- -strange-name.md
    """
    from vault.guard import Scope
    from vault.ledger import DECISIONS, encode, instant

    vault = opened(vault_dir)
    guard = vault.guard(Scope.ADD)
    guard.sweep()
    added: list[str] = []
    there: list[str] = []
    refused: list[dict[str, object]] = []
    try:
        for source, path in _places(vault, sources, kind):
            try:
                existed = guard.exists(path)
                guard.copy_in(source, path)
                (there if existed else added).append(path)
            except RetainError as error:  # of one file; the others can be copied all the same
                refused.append({"id": "refused", "path": path, "line": 0, "reason": error.what})
                report.say(f"  {error}")
    finally:
        if authority is not None and (added or there):
            at = instant(now())
            events = (
                {"v": 1, "type": "authority", "path": p, "authority": authority, "at": at} for p in (*added, *there)
            )
            vault.guard(Scope.LOG).append(DECISIONS, b"".join(encode(e) for e in events))
    if as_json:
        report.show_json({"added": added, "unchanged": there, "refused": refused})
    else:
        for path in added:
            report.show(path)
        report.say(
            f"{len(added)} added" + (f", {len(there)} there already" if there else "") + "; next: retain compile"
        )
    if refused:
        return report.FINDINGS
    return report.DONE


def _places(vault: Vault, sources: tuple[str, ...], kind: str | None) -> list[tuple[Path, str]]:
    """(file, its vault path) for everything named; a folder keeps its inner folders, less hidden files and links."""
    out: list[tuple[Path, str]] = []
    for given in sources:
        source = Path(given).expanduser()
        if "://" in given:
            raise UsageError("addresses are not read yet", where=given, hint="save the page and add the file")
        if not source.exists():
            raise UsageError("no such file or folder", where=given)
        if vault.root in (source.resolve(), *source.resolve().parents):
            raise UsageError("this lies inside the vault already", where=given)
        if not source.is_dir():
            out.append((source, f"raw/{kind or _kind(source)}/{source.name}"))
        elif _is_vault(source, vault):
            raise UsageError("this is a vault", where=given, hint="name the files or folders in it that you mean")
        else:
            out += _inside(vault, source, kind)
    return out


def _inside(vault: Vault, folder: Path, kind: str | None) -> list[tuple[Path, str]]:
    out = []
    for path in sorted(_files(vault, folder)):
        inner = path.relative_to(folder)
        own = inner.parts[0] if inner.parts[0] in KINDS and len(inner.parts) > 1 and not kind else ""
        out.append((path, f"raw/{inner.as_posix()}" if own else f"raw/{kind or _kind(path)}/{inner.as_posix()}"))
    if not out:
        raise UsageError("the folder holds no file to add", where=str(folder))
    return out


def _files(vault: Vault, folder: Path) -> Iterator[Path]:
    """The plain files below `folder`; a vault on the way, this one above all, is named and left out."""

    def unread(error: OSError) -> None:
        report.say(f"  {error.filename}: cannot be listed: {error.strerror}")

    for here, folders, names in os.walk(folder, onerror=unread):
        below = [Path(here, name) for name in folders if not name.startswith(".")]
        vaults = {path for path in below if _is_vault(path, vault)}
        for path in sorted(vaults):
            report.say(f"  {path}: a vault, left out")
        folders[:] = [path.name for path in below if path not in vaults]
        for path in (Path(here, name) for name in names if not name.startswith(".")):
            if path.is_file() and not path.is_symlink():
                yield path


def _is_vault(folder: Path, ours: Vault) -> bool:
    try:
        return (folder / FILE).exists() or folder.samefile(ours.root)
    except OSError:
        return False  # nobody may look into it, so nothing in it is copied


def _kind(path: Path) -> str:
    return _BY_SUFFIX.get(path.suffix.lower(), "articles")


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
