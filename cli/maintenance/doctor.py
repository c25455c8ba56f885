"""The command `doctor`: check the machine, the sandbox and the vault for problems."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from cli import output
from cli.environment import here, now
from cli.guard import personal
from cli.guard.run import WEAKER
from cli.log_watch import failed_copy, watched
from cli.maintenance.upgrade import missing_merge_lines
from cli.options import vault_json_options
from cli.version import __version__
from vault.audit.agent_runs import all_runs
from vault.config.settings import SCHEMA_VERSION
from vault.diagnostic import Diagnostic
from vault.errors import RetainError, VaultNotFound
from vault.files.folder import is_folder
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import AGENT_FOLDERS, DEPTH, TEMP_PREFIX, is_conflict_copy
from vault.git import is_installed
from vault.locks import holder_of
from vault.log import ledger
from vault.log.clock_check import instants_of, ledger_ahead, log_ahead
from vault.log.copies import Copies
from vault.log.ledger import minute_of
from vault.log.records import unreadable_lines
from vault.log.review_log import live, read_log
from vault.sandbox import landlock, seccomp, selftest
from vault.sandbox.capabilities import Level, bubblewrap, sandbox_support, without_landlock
from vault.text.formatting import plural
from vault.vault import Vault, open_vault

LOCKS = ("publish", "review")
_OWN_FOLDERS = ("wiki", "output", "learning", "ledger", ".retain")


@dataclass(slots=True)
class Health:
    """The result of the checks: `facts` as `--json` prints them, and `findings`."""

    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)

    def find(self, path: str, code: str, message: str, hint: str = "") -> None:
        self.findings.append(Diagnostic(path, 0, code, message, hint))


@click.command()
@vault_json_options
def doctor(vault_dir: str | None, as_json: bool) -> int:
    """Show what protects this vault, and check it for problems.

    In a vault, a process in the agents' sandbox tries to write to insights/ (must fail) and to wiki/ (must succeed).
    Exits with code 1 if there are findings.

    \b
    Examples:
      retain doctor
      retain doctor --json
    """
    vault, broken = _open(vault_dir)
    health = _check_all(vault, now())
    if broken is not None:
        health.find(broken.where or "retain.toml", "vault", broken.what, broken.hint)
    if as_json:
        findings = [each.as_json() for each in health.findings]
        output.show_json(health.facts | {"findings": findings})
    else:
        _show(health)
    return output.FINDINGS if health.findings else output.DONE


def _open(vault_dir: str | None) -> tuple[Vault | None, RetainError | None]:
    """Return (vault, None), or (None, the error that keeps it from being opened), or (None, None) without a vault."""
    given = vault_dir or click.get_current_context().find_root().obj
    named = os.environ.get("RETAIN_VAULT")
    try:
        return watched(open_vault(given, named, here()), thorough=True), None
    except VaultNotFound:
        if given or named:
            raise
        return None, None
    except RetainError as error:
        return None, error


# --- in words -------------------------------------------------------------------------------------------------------


def _show(health: Health) -> None:
    """Print facts and findings as text."""
    facts, guard = health.facts, health.facts["guard"]
    output.show(f"retain {facts['retain']}, Python {facts['python']}, {facts['system']}, schema {facts['schema']}")
    output.show(_sandbox_text(guard))
    for reason in guard["reasons"] if not guard["caged"] else ():
        output.show(f"  stronger sandbox unavailable: {reason}")
    if guard["weaker"]:
        output.show(f"  {guard['weaker']}")
    output.show(f"document readers: {_readers_text(guard)}")
    if guard["self_test"] is not None:
        result = "passed" if guard["self_test"] else "failed"
        output.show(f"self-test of the agent sandbox (cannot write to insights/, can write to wiki/): {result}")
    if facts["vault"] is None:
        output.show("no vault here")
    else:
        _show_vault(facts["vault"])
    output.show(f"findings: {len(health.findings) or 'none'}")
    output.found(health.findings)


def _sandbox_text(guard: dict[str, Any]) -> str:
    """Return a line on the sandbox for agents."""
    if guard["caged"]:
        return "running inside a sandbox; run `retain doctor` outside for details"
    parts = [f"Landlock ABI {guard['landlock_abi']}"] if guard["landlock_abi"] else []
    parts += ["system call filter"] if guard["filter"] else []
    parts += [f"bubblewrap {guard['bubblewrap']}"] if guard["bubblewrap"] else []
    return f"agent sandbox (`retain guard run`): level {guard['level']}" + (f" ({', '.join(parts)})" if parts else "")


def _readers_text(guard: dict[str, Any]) -> str:
    if not guard["landlock_abi"]:
        return "a process with memory and time limits, without a sandbox (this system has none)"
    held = f"Landlock ABI {guard['landlock_abi']}{', system call filter' if guard['filter'] else ''}"
    return f"a sandboxed process with memory and time limits ({held})"


def _show_vault(vault: dict[str, Any]) -> None:
    """Print the facts on the vault."""
    output.show(f"vault {vault['name']}  {vault['root']}  schema {vault['schema']}")
    output.show(f"  {personal.personal_line(vault['personal'])}")
    for lock in vault["locks"]:
        age = "" if lock["age_s"] is None else f", for {lock['age_s']} s"
        output.show(f"  running: process {lock['pid']} on {lock['host']}, {lock['purpose']}{age}")
    git = vault["git"]
    if git["repository"]:
        output.show(f"  git repository; logs are {'' if git['union_merge'] else 'not '}merged line by line")
    copies = vault["log_copies"]
    if copies is not None:
        kept = f"last copied {copies['last']}, {plural(copies['count'], 'copy', 'copies')} in {copies['folder']}"
        output.show(f"  review log: {kept if copies['last'] else 'not copied yet'}")
    if vault["leftovers"]:
        output.show(f"  {plural(len(vault['leftovers']), 'leftover temporary or sync-conflict file')}")


def _check_all(vault: Vault | None, at: datetime) -> Health:
    """Return the result of all checks; without a vault, of those for the machine."""
    health = Health()
    health.facts |= {
        "retain": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "schema": SCHEMA_VERSION,
    }
    health.facts["guard"] = _guard(health)
    health.facts["guard"]["self_test"] = _self_test(health, vault) if vault is not None else None
    health.facts["vault"] = _vault(health, vault, at) if vault is not None else None
    if vault is not None:
        _logs(health, vault, at)
    return health


# --- the machine ----------------------------------------------------------------------------------------------------


def _guard(health: Health) -> dict[str, Any]:
    """Return facts on the sandboxes of this machine."""
    caged = "RETAIN_CAGED" in os.environ
    here, abi = sandbox_support(), landlock.abi()
    if not caged and here.level is Level.NONE:
        words = "; ".join(here.reasons)
        hint = "set up a separate personal vault (`retain init --personal`), and run `retain guard audit`"
        health.find("guard", "no-cage", f"no sandbox for agents on this machine: {words}", hint)
    if sys.platform == "linux" and (missing := without_landlock(abi)):
        health.find("guard", "jail-open", f"document readers can write files: {missing}", "use a newer kernel")
    return {
        "caged": caged,
        "level": str(here.level),
        "reasons": list(here.reasons),
        "weaker": "" if caged else WEAKER.get(str(here.level), ""),
        "landlock_abi": abi,
        "filter": seccomp.available(),
        "bubblewrap": _bubblewrap_version(),
    }


def _bubblewrap_version() -> str | None:
    """Return the version of bubblewrap; None if it is missing or fails."""
    program = bubblewrap()
    if program is None:
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().removeprefix("bubblewrap ") or None


def _self_test(health: Health, vault: Vault) -> bool | None:
    """Return whether the agent sandbox refuses a write in insights/ and permits one in wiki/; None if not tested."""
    if "RETAIN_CAGED" in os.environ:
        return None
    try:
        for folder in AGENT_FOLDERS:
            Guard(vault.root, Scope.AGENT).makedirs(folder)
    except RetainError as error:
        health.find(error.where or "wiki", "not-writable", f"not writable: {error.what}", error.hint)
        return None
    if sandbox_support().level is Level.NONE:
        return None
    try:
        wrong = selftest.run(vault.root, sandbox_support().level, _reachable_personal(vault))
    except RetainError as error:
        health.find("guard", "not-proved", error.what, error.hint)
        return None
    if wrong:
        what = f"the agent sandbox failed its test: {wrong}"
        health.find(
            "guard",
            "jail-open",
            what,
            "do not start agents here; report this bug and include the output of `retain doctor --json`",
        )
    return not wrong


def _reachable_personal(vault: Vault) -> Path | None:
    """Return the personal vault; None if there is none, or its disk is not mounted."""
    return vault.personal if vault.personal is not None and is_folder(vault.personal) else None


# --- the vault ------------------------------------------------------------------------------------------------------


def _vault(health: Health, vault: Vault, at: datetime) -> dict[str, Any]:
    health.findings += vault.notices
    return {
        "root": str(vault.root),
        "id": vault.settings.vault_id,
        "name": vault.settings.name,
        "schema": vault.settings.schema,
        "personal": _personal(health, vault),
        "locks": _locks(vault, at),
        "git": _git(health, vault),
        "leftovers": _leftovers(health, vault),
        "open_runs": _open_runs(health, vault),
        "log_copies": _log_copies(health, vault),
    }


def _log_copies(health: Health, vault: Vault) -> dict[str, Any] | None:
    """Return facts on the daily copies of the review log, and report that they fail."""
    if "RETAIN_CAGED" in os.environ:
        return None  # the user's data is hidden inside a sandbox
    copies = Copies(vault.root, vault.settings.vault_id)
    found = copies.listed()
    if failure := failed_copy(vault):
        health.find(str(copies.folder), "log-copy", f"the review log could not be copied: {failure}")
    last = found[-1].day.isoformat() if found else None
    return {"folder": str(copies.folder), "count": len(found), "last": last}


def _logs(health: Health, vault: Vault, at: datetime) -> None:
    """Report lines of the review log and ledgers that cannot be read, and events dated after this machine's clock."""
    zone = vault.settings.zone
    try:
        health.findings += unreadable_lines(vault.root)
        health.findings += log_ahead(live(read_log(vault.root).events), at, zone)
        ledgers = (ledger.IDS, ledger.DECISIONS, ledger.BUILDS, ledger.EDITS, ledger.QUESTIONS, ledger.NOTES)
        for path in ledgers:
            health.findings += ledger_ahead(path, instants_of(vault.ledger_events(path)[0]), at, zone)
    except RetainError as error:
        health.find(error.where or "learning", "unreadable", error.what, error.hint)


def _personal(health: Health, vault: Vault) -> dict[str, Any] | None:
    """Return facts on the personal vault, and report a wrong place."""
    place = personal.personal_json(vault)
    health.findings += personal.finding(vault)
    if place is None or place["path"] is None or vault.personal is None:
        return place
    theirs, ours = Path(os.path.realpath(vault.personal)), vault.root
    if not place["reachable"]:
        health.find(place["path"], "personal-unreachable", "the personal vault does not exist", "mount its disk")
    agents = [ours / folder for folder in AGENT_FOLDERS]
    if any(theirs == folder or folder in theirs.parents for folder in agents):
        health.find(
            place["path"],
            "personal-inside",
            "the personal vault is in a folder that agents can write to",
            "move it out",
        )
    elif theirs in (ours, *ours.parents):
        health.find(place["path"], "personal-inside", "this vault is inside the personal vault", "move it out")
    return place


def _locks(vault: Vault, at: datetime) -> list[dict[str, Any]]:
    found = []
    for name in LOCKS:
        holder = holder_of(vault.root, name)
        if holder is not None:
            found.append({"name": name, **asdict(holder), "age_s": _age(holder.since, at)})
    return found


def _age(since: str, at: datetime) -> int | None:
    try:
        return max(0, int((at - datetime.fromisoformat(since)).total_seconds()))
    except (ValueError, TypeError):
        return None


def _git(health: Health, vault: Vault) -> dict[str, Any]:
    """Return facts on git, and report logs that are not merged line by line."""
    repository = any((folder / ".git").exists() for folder in (vault.root, *vault.root.parents))
    missing = [line.split()[0] for line in missing_merge_lines(vault)] if repository else []
    if missing:
        what = (
            f"git does not merge these logs line by line, so merging clones would cause conflicts: {', '.join(missing)}"
        )
        health.find(".gitattributes", "union-merge", what, "`retain upgrade` adds the lines")
    return {"installed": is_installed(), "repository": repository, "union_merge": not missing}


def _leftovers(health: Health, vault: Vault) -> list[str]:
    """Return temporary files and conflict copies that killed processes or sync programs left."""
    deep: list[str] = []
    found = [path for top in _OWN_FOLDERS for path in _files(vault.root, top, deep) if _is_leftover(_name(path))]
    if deep:
        what = f"folders nested more than {DEPTH} deep are not checked"
        health.find(f"{'/'.join(deep[0].split('/')[:3])}/…", "too-deep", what, "delete them or move them elsewhere")
    for path in found:
        if not _name(path).startswith(TEMP_PREFIX):
            health.find(path, "conflict-copy", "a conflicting copy of a file", "compare the two and delete one")
    return sorted(found)


def _files(root: Path, top: str, deep: list[str]) -> Iterator[str]:
    """Yield the vault paths of files in a folder and below; paths of folders that are too deep are added to `deep`."""
    for folder, folders, names in os.walk(root / top):
        here = os.path.relpath(folder, root)
        yield from (f"{here}/{name}" for name in names)
        if here.count("/") + 1 >= DEPTH and folders:
            deep.append(here)
            folders.clear()


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _is_leftover(name: str) -> bool:
    return name.startswith(TEMP_PREFIX) or is_conflict_copy(name)


def _open_runs(health: Health, vault: Vault) -> int:
    """Return the number of runs of agents that were never finalized, and report them."""
    if "RETAIN_CAGED" in os.environ:
        return 0  # the user's state is hidden inside a sandbox
    try:
        dead = [run for run in all_runs(vault) if not run.may_live]
    except RetainError as error:
        health.find(error.where, "run-unsettled", error.what, error.hint)
        return 0
    for run in dead:
        started = minute_of(run.at, vault.settings.zone)
        what = f"the changes of an agent started at {started} were never checked"
        health.find(" ".join(run.command)[:80], "run-unsettled", what, "run `retain compile` to check them")
    return len(dead)
