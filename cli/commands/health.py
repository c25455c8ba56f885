"""What `retain doctor` looks at: the machine, what protects a vault on it, and what in the vault looks wrong."""

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

from cli.guard import personal
from cli.guard.run import WEAKER
from cli.version import __version__
from vault.config.settings import SCHEMA_VERSION
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.files.folder import is_folder
from vault.files.paths import AGENT_FOLDERS, DEPTH, TEMP_PREFIX
from vault.git import is_installed
from vault.sandbox import landlock, seccomp
from vault.sandbox.capabilities import Level, bubblewrap, sandbox_support, without_landlock
from vault.vault import Vault

LOCKS = ("publish", "review")
_OWN_FOLDERS = ("wiki", "output", "learning", "ledger", ".retain")
_COPIES = (".conflict-", ".sync-conflict-", "(conflicted copy")


@dataclass(slots=True)
class Health:
    """`facts` are what was seen, as `--json` prints it; `findings` what should be mended."""

    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)

    def find(self, path: str, code: str, message: str, hint: str = "") -> None:
        self.findings.append(Diagnostic(path, 0, code, message, hint))


def examined(vault: Vault | None, at: datetime) -> Health:
    """Everything but the agents' files, which the human may be asked about."""
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
        _clocks(health, vault, at)
    return health


# --- the machine ----------------------------------------------------------------------------------------------------


def _guard(health: Health) -> dict[str, Any]:
    """What programs and the reading process can be shut in with here."""
    caged = "RETAIN_CAGED" in os.environ
    here, abi = sandbox_support(), landlock.abi()
    if not caged and here.level is Level.NONE:
        words = "; ".join(here.reasons)
        hint = "agents can only be watched here: keep two vaults (`retain init --personal`), and `retain guard audit`"
        health.find("guard", "no-cage", f"no program can be shut in here: {words}", hint)
    if sys.platform == "linux" and (missing := without_landlock(abi)):
        health.find("guard", "jail-open", f"what reads documents can write files: {missing}", "use a newer kernel")
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
    program = bubblewrap()
    if program is None:
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().removeprefix("bubblewrap ") or None


def _self_test(health: Health, vault: Vault) -> bool | None:
    """Whether an agent's sandbox here refuses a write in insights/ and lets one in wiki/ pass; None if not tested."""
    from vault.files.guard import Guard, Scope
    from vault.sandbox import selftest

    if "RETAIN_CAGED" in os.environ:
        return None
    try:
        for folder in AGENT_FOLDERS:
            Guard(vault.root, Scope.AGENT).makedirs(folder)
    except RetainError as error:
        health.find(error.where or "wiki", "not-writable", f"nothing can be written: {error.what}", error.hint)
        return None
    if sandbox_support().level is Level.NONE:
        return None
    try:
        wrong = selftest.run(vault.root, sandbox_support().level, _reachable(vault))
    except RetainError as error:
        health.find("guard", "not-proved", error.what, error.hint)
        return None
    if wrong:
        what = f"the sandbox of agents does not hold: {wrong}"
        health.find("guard", "jail-open", what, "start no agent here, and report this with `retain doctor --json`")
    return not wrong


def _reachable(vault: Vault) -> Path | None:
    """The personal vault, where it can be hidden from a command."""
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
    }


def _clocks(health: Health, vault: Vault, at: datetime) -> None:
    """What the review log and the ledgers date ahead of this machine's clock."""
    from vault.log import ledger
    from vault.log.clock_check import instants_of, ledger_ahead, log_ahead
    from vault.log.review_log import live, read_log

    zone = vault.settings.zone
    try:
        health.findings += log_ahead(live(read_log(vault.root).events), at, zone)
        for path in (ledger.IDS, ledger.DECISIONS, ledger.BUILDS):
            health.findings += ledger_ahead(path, instants_of(vault.ledger_events(path)[0]), at, zone)
    except RetainError as error:
        health.find(error.where or "learning", "unreadable", error.what, error.hint)


def _personal(health: Health, vault: Vault) -> dict[str, Any] | None:
    told = personal.personal_json(vault)
    health.findings += personal.finding(vault)
    if told is None or told["path"] is None or vault.personal is None:
        return told
    theirs, ours = Path(os.path.realpath(vault.personal)), vault.root
    if not told["reachable"]:
        health.find(told["path"], "personal-unreachable", "the personal vault is not there", "is a disk not mounted?")
    agents = [ours / folder for folder in AGENT_FOLDERS]
    if any(theirs == folder or folder in theirs.parents for folder in agents):
        health.find(told["path"], "personal-inside", "the personal vault lies where agents write", "move it out")
    elif theirs in (ours, *ours.parents):
        health.find(told["path"], "personal-inside", "the vault of the agents lies in the personal one", "move it out")
    return told


def _locks(vault: Vault, at: datetime) -> list[dict[str, Any]]:
    from vault.locks import holder_of

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
    repository = any((folder / ".git").exists() for folder in (vault.root, *vault.root.parents))
    missing = _unmerged(vault) if repository else []
    if missing:
        hint = "copy the lines of `retain init`'s .gitattributes"
        what = f"two clones would conflict, as these are not merged line by line: {', '.join(missing)}"
        health.find(".gitattributes", "union-merge", what, hint)
    return {"installed": is_installed(), "repository": repository, "union_merge": not missing}


def _unmerged(vault: Vault) -> list[str]:
    """The patterns that retain's own .gitattributes merges by union and that of the vault doesn't name."""
    from templates import read

    try:
        text = vault.read_text(".gitattributes") or ""
    except RetainError:
        text = ""

    def merged(lines: str) -> list[str]:
        return [line.split()[0] for line in lines.splitlines() if "merge=union" in line.split()[1:]]

    there = set(merged(text))
    return [pattern for pattern in merged(read("gitattributes")) if pattern not in there]


def _leftovers(health: Health, vault: Vault) -> list[str]:
    """What killed processes and programs that keep folders in step left lying."""
    deep: list[str] = []
    found = [path for top in _OWN_FOLDERS for path in _files(vault.root, top, deep) if _is_leftover(_name(path))]
    if deep:
        what = f"folders more than {DEPTH} deep, as retain makes none: nothing in them is looked at"
        health.find(f"{'/'.join(deep[0].split('/')[:3])}/…", "too-deep", what, "delete them, or move them away")
    for path in found:
        if not _name(path).startswith(TEMP_PREFIX):
            health.find(path, "conflict-copy", "a second version of a file", "compare the two and delete one of them")
    return sorted(found)


def _files(root: Path, top: str, deep: list[str]) -> Iterator[str]:
    """The vault paths of what lies below a folder; links are not followed. Folders too deep to look at go to `deep`."""
    for folder, folders, names in os.walk(root / top):
        here = os.path.relpath(folder, root)
        yield from (f"{here}/{name}" for name in names)
        if here.count("/") + 1 >= DEPTH and folders:
            deep.append(here)
            folders.clear()


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _is_leftover(name: str) -> bool:
    return name.startswith(TEMP_PREFIX) or any(mark in name for mark in _COPIES)


def _open_runs(health: Health, vault: Vault) -> int:
    """Runs of agents that nobody has settled, as when the machine went down."""
    from vault.audit.agent_runs import all_runs

    if "RETAIN_CAGED" in os.environ:
        return 0  # the state of this user is nothing that a cage shows
    try:
        dead = [run for run in all_runs(vault) if not run.may_live]
    except RetainError as error:
        health.find(error.where, "run-unsettled", error.what, error.hint)
        return 0
    for run in dead:
        what = f"an agent was started at {run.at} and what it did was never judged"
        health.find(" ".join(run.command)[:80], "run-unsettled", what, "the next `retain compile` settles it")
    return len(dead)
