"""`retain doctor`: proves what protects this vault here, and finds what looks wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from cli import personal, report
from cli.health import Health, examined
from cli.opening import here, json_option, now, vault_option
from vault.errors import RetainError, VaultNotFound
from vault.folder import is_folder
from vault.store import Vault, open_vault

_READER = (sys.executable, "-I", "-m", "vault.jail.trial", "reader")
_SPEAKER = (sys.executable, "-I", "-m", "vault.jail.trial", "speaker")
_TRIAL_S = 60.0


@click.command()
@vault_option
@json_option
def doctor(vault_dir: str | None, as_json: bool) -> int:
    """Prove what protects this vault here, and find what looks wrong.

    A process shuts itself in by the same call as the one that reads documents, and tries to write and to read among
    your files, to make a socket and to start a process, all of which must fail; another as the one that speaks to a
    model, which has the network and nothing else. An agent's cage is built; in it, and in
    a process that left itself one folder, one write is tried that must fail and one that must succeed. What the kernel
    said to each is printed. It works outside a vault as well. Exit code 1 if there are findings.

    \b
    Examples:
      retain doctor
      retain doctor --json
    """
    vault, broken = _vault(vault_dir)
    health = examined(vault, now())
    if broken is not None:
        health.find(broken.where or "retain.toml", "vault", broken.what, broken.hint)
    raw, folders = _for_the_reader(vault)
    guard = health.facts["guard"]
    guard["reading"] = _tried_by(health, "reads documents", [*_READER, raw, *folders])
    guard["speaking"] = _tried_by(health, "speaks to a model", [*_SPEAKER, *folders, *([raw] if raw else [])])
    if as_json:
        findings = [each.as_json() for each in health.findings]
        report.show_json(health.facts | {"findings": findings})
    else:
        _show(health)
    return report.FINDINGS if health.findings else report.DONE


def _vault(vault_dir: str | None) -> tuple[Vault | None, RetainError | None]:
    """The vault, if there is one here, or what keeps it from being opened."""
    given = vault_dir or click.get_current_context().find_root().obj
    named = os.environ.get("RETAIN_VAULT")
    try:
        return open_vault(given, named, here()), None
    except VaultNotFound:
        if given or named:
            raise
        return None, None
    except RetainError as error:
        return None, error


def _tried_by(health: Health, who: str, trial: list[str]) -> list[dict[str, Any]]:
    """What a process could still do that shut itself in as the one does that is named; all that was tried."""
    if not health.facts["guard"]["landlock_abi"]:
        return []
    try:
        done = subprocess.run(
            trial,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=_TRIAL_S,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise ValueError(said[-1] if said else f"exit code {done.returncode}")
        tried: list[dict[str, Any]] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        health.find("guard", "not-proved", f"what the process that {who} can do could not be tried: {error}")
        return []
    for each in tried:
        if bool(each["error"]) is not (each["must"] == "fail"):
            could = "could" if each["must"] == "fail" else "could not"
            what = f"a process shut in like the one that {who} {could} {_act(each)}"
            health.find("guard", "jail-open", what, "read no document here that you do not trust, and report this")
    return tried


def _for_the_reader(vault: Vault | None) -> tuple[str, list[str]]:
    """The folder that it may read, and those of the human's that it may not."""
    if vault is None:
        return "", [str(home) for home in (Path.home(),) if home.is_dir()]
    theirs = [vault.root / "insights"]
    if vault.personal is not None and "RETAIN_CAGED" not in os.environ:
        theirs.append(vault.personal)
    return str(vault.root / "raw"), [str(folder) for folder in theirs if _can_be_listed(folder)] or [str(vault.root)]


def _can_be_listed(folder: Path) -> bool:
    return is_folder(folder) and os.access(folder, os.R_OK | os.X_OK)


# --- in words -------------------------------------------------------------------------------------------------------


def _show(health: Health) -> None:
    facts, guard = health.facts, health.facts["guard"]
    report.show(f"retain {facts['retain']}, Python {facts['python']}, {facts['system']}, schema {facts['schema']}")
    report.show(_guard_words(guard))
    for reason in guard["reasons"] if not guard["caged"] else ():
        report.show(f"  no stronger: {reason}")
    if guard["weaker"]:
        report.show(f"  {guard['weaker']}")
    report.show(f"reading documents: {_reading_words(guard)}")
    _show_tried(guard["reading"])
    if guard["speaking"]:
        report.show("speaking to a model, if you have named one: in a process that leaves itself the network alone")
    _show_tried(guard["speaking"])
    for proof in guard["proofs"]:
        report.show(f"proved just now, in {_in_words(proof['by'])}:")
        report.show(
            f"  must fail     {_tried(proof['must_fail'])}{'' if proof['free'] else ' (nobody may write there)'}"
        )
        report.show(f"  must succeed  {_tried(proof['must_succeed'])}")
    if facts["vault"] is None:
        report.show("no vault here")
    else:
        _show_vault(facts["vault"])
    report.show(f"findings: {len(health.findings) or 'none'}")
    report.found(health.findings)


def _show_tried(tried: list[dict[str, Any]]) -> None:
    if not tried:
        return
    report.show("tried just now, by a process that shut itself in by the same call:")
    for each in tried:
        report.show(f"  must {each['must']:<9}{_act(each)}: {each['error'] or 'done'}{_not_before(each)}")
    report.show("  must succeed  answer over its pipe: done")


def _guard_words(guard: dict[str, Any]) -> str:
    if guard["caged"]:
        return "this is a cage: what holds it is told outside"
    parts = [f"Landlock ABI {guard['landlock_abi']}"] if guard["landlock_abi"] else []
    parts += ["filter of system calls"] if guard["filter"] else []
    parts += [f"bubblewrap {guard['bubblewrap']}"] if guard["bubblewrap"] else []
    return f"agents under `retain guard run`: level {guard['level']}" + (f" ({', '.join(parts)})" if parts else "")


def _reading_words(guard: dict[str, Any]) -> str:
    if not guard["landlock_abi"]:
        return "in a process with limits of memory and time, which this system can't shut in"
    held = f"Landlock ABI {guard['landlock_abi']}{', filter of system calls' if guard['filter'] else ''}"
    return f"in a process with limits of memory and time, that shuts itself in ({held})"


def _act(tried: dict[str, Any]) -> str:
    words = {
        "write": "write in",
        "list": "list",
        "read": "read",
        "socket": "make a socket of the network",
        "local socket": "make a socket of this machine",
        "process": "start a process",
    }
    return f"{words[tried['act']]} {tried['where']}".rstrip()


def _not_before(tried: dict[str, Any]) -> str:
    """What it could not do before either shows nothing of what holds it."""
    return "" if tried["free"] or tried["must"] == "succeed" else " (not before it was shut in, either)"


def _in_words(by: str) -> str:
    return by if by.startswith("a cage") else f"a process that left itself one folder ({by})"


def _tried(attempt: dict[str, str]) -> str:
    return f"{attempt['path']}: {attempt['error'] or 'written, and taken away again'}"


def _show_vault(vault: dict[str, Any]) -> None:
    report.show(f"vault {vault['name']}  {vault['root']}  schema {vault['schema']}")
    report.show(f"  {personal.in_words(vault['personal'])}")
    for lock in vault["locks"]:
        age = "" if lock["age_s"] is None else f", for {lock['age_s']} s"
        report.show(f"  at work now: process {lock['pid']} on {lock['host']}, {lock['purpose']}{age}")
    words = {
        "case_sensitive": ("tells capitals from small letters", "does not tell capitals from small letters"),
        "links": ("hard links", "no hard links"),
        "exchange": ("names are exchanged in one step", "names are not exchanged in one step"),
    }
    traits = [words[name][0 if able else 1] for name, able in vault["file_system"].items()]
    if traits:
        report.show(f"  file system: {', '.join(traits)}")
    git = vault["git"]
    if git["repository"]:
        report.show(f"  git repository; logs are {'' if git['union_merge'] else 'not '}merged line by line")
    if vault["leftovers"]:
        report.show(f"  left lying: {len(vault['leftovers'])} files of killed programs or of ones that sync folders")
