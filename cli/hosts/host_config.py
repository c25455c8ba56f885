"""`retain init --host`: a skill for Claude Code and Codex, and settings that keep them out of the user's files.

The settings are not a barrier. A file of the user's own is never overwritten: what it lacks is shown instead.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli import output
from templates import read
from vault.config.user import state_folder, state_guard
from vault.errors import GitFailed, Refused
from vault.files.folder import is_folder, named
from vault.files.guard import Guard, Scope, sha256_hex
from vault.git import git, is_repository
from vault.vault import Vault, open_vault

CLAUDE, CODEX = ".claude/settings.local.json", ".codex/config.toml"
SKILLS = {"claude-code": ".claude/skills/retain/SKILL.md", "codex": ".agents/skills/retain/SKILL.md"}
_RECORD = "agent-files.json"  # in the user's state folder: the SHA-256 of what retain wrote

# What an agent must not write, from the vault's root: folders, files, and names of files that may come later.
_FOLDERS = (
    *("insights", "raw", "ledger", "learning/anki", ".git", ".retain/cache", ".retain/locks"),
    *(".claude", ".codex", ".agents", ".obsidian", ".vscode"),
)
_LOG = "learning/reviews.jsonl"
_FILES = (
    *("retain.toml", "AGENTS.md", "CLAUDE.md", ".mcp.json", ".gitignore", ".gitattributes"),
    *("learning/_review.md", "learning/gaps.md", "learning/reading-list.md"),
)
_PATTERNS = ("learning/reviews*.jsonl", ".retain/*.sqlite3*")
_SPECIAL = frozenset("*?[]{}()!\\\n\r")  # have a meaning in the rules of Claude Code


@dataclass(frozen=True, slots=True)
class HostFile:
    """One file that a host reads; `path` is relative to the vault."""

    path: str
    text: str


def write_host_files(root: Path, hosts: Sequence[str], *, show: bool) -> int:
    """Write the files of these hosts into the vault at `root`, or with `show` print them; return the exit code."""
    files = (file for host in sorted(hosts, reverse=True) for file in _files_of(host, root))
    if show:
        for file in files:
            output.show(f"# {file.path}\n{file.text}")
        return output.DONE

    vault = open_vault(str(root), None, root)
    codes = [_write(vault, file) for file in files]  # Claude Code's last, as it lists existing files
    if "claude-code" in hosts and _would_be_committed(root):
        output.say(f"  {CLAUDE} contains paths on this machine: add `/{CLAUDE}` to .gitignore")
    output.say("  agents can ignore these settings; `retain guard run -- COMMAND` enforces them (docs/guard.md)")
    return max(codes, default=output.DONE)


def _files_of(host: str, root: Path) -> Iterator[HostFile]:
    yield HostFile(SKILLS[host], read("skill.md"))
    if host == "claude-code":
        yield HostFile(CLAUDE, json.dumps(claude_settings(root), indent=2, ensure_ascii=False) + "\n")
    else:
        yield HostFile(CODEX, read("codex.toml"))


def claude_settings(root: Path) -> dict[str, Any]:
    """The settings of Claude Code for the vault at `root`: deny rules, its sandbox, and the hook before each tool.

    Paths are absolute and begin with `//`: with one slash Claude Code counts them from the settings file. Only what is
    there is kept from its sandbox, which on Linux makes an empty file of what is not. Raises: Refused for a path with
    characters that act in a rule.
    """
    if acting := sorted(set(str(root)) & _SPECIAL):
        raise Refused(
            f"permission rules of Claude Code cannot contain a path with {' '.join(acting)!r} in it",
            where=str(root),
            hint="rename the folder",
        )
    top = f"/{root}"
    closed = [*_FOLDERS, *_FILES]
    return {
        "permissions": {
            "deny": [
                *(f"Edit({top}/{folder}/**)" for folder in _FOLDERS),
                *(f"Edit({top}/{file})" for file in (*_FILES, *_PATTERNS)),
            ],
            "blockReadsOutsideWorkingDirectories": True,
            "blockWritesOutsideWorkingDirectories": True,
        },
        "sandbox": {
            "enabled": True,
            "failIfUnavailable": True,
            "allowUnsandboxedCommands": False,
            "filesystem": {
                "denyWrite": [
                    *(f"{top}/{name}" for name in closed if name == ".claude" or named(root / name)),
                    f"{top}/{_LOG}",
                ],
                "allowRead": [f"/{place}" for place in _own_places()],
            },
        },
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "*",
                    "hooks": [
                        {
                            "type": "command",
                            "command": hook_command("claude-code", root),
                            "timeout": 60,
                            "onFailure": "block",
                        }
                    ],
                }
            ]
        },
    }


def hook_command(host: str, root: Path) -> str:
    """Return the shell line that a host runs before a tool call; any failure in it ends with code 2."""
    line = shlex.join([*program(), "guard", "hook", host, "--vault", str(root)])
    return shlex.join(["/bin/sh", "-c", f"{line} || exit 2"])


def program() -> list[str]:
    """Return the command that starts this retain, by absolute paths, so that no PATH can replace it."""
    script = Path(sys.executable).parent / "retain"
    if os.access(script, os.X_OK):
        return [str(script)]
    return [sys.executable, "-I", "-c", "from cli.main import main; main()"]


def _own_places() -> list[str]:
    """Return the folders of this retain and its Python, which a sandbox must leave readable."""
    return sorted({os.path.realpath(place) for place in (sys.prefix, sys.base_prefix)} | {sys.prefix})


def _would_be_committed(root: Path) -> bool:
    """Return whether git would commit the settings, which have paths of this machine."""
    if not is_repository(root):
        return False
    try:
        git(root, "check-ignore", "--quiet", CLAUDE)
    except GitFailed:
        return True
    return False


def _write(vault: Vault, file: HostFile) -> int:
    """Write one file, unless the user has one of their own; return its exit code."""
    data = file.text.encode()
    guard = Guard(vault.root, Scope.HOST)
    old = guard.read(file.path)
    if old == data:
        output.say(f"  {file.path} is up to date")
    elif old is None or sha256_hex(old) == _written_by_us(vault).get(file.path):
        guard.write(file.path, data, expect=sha256_hex(old) if old is not None else None)
        output.say(f"  {file.path} {'written' if old is None else 'updated'}")
    else:
        return _to_merge(file, old)
    _record(vault, file.path, sha256_hex(data))
    return output.DONE


def _written_by_us(vault: Vault) -> dict[str, str]:
    """Return the SHA-256 of what retain last wrote, by path; nothing where the record is missing or damaged."""
    try:
        files = json.loads((state_folder(vault.settings.vault_id) / _RECORD).read_bytes())["files"]
        return {path: entry["written"] for path, entry in files.items() if entry.get("written")}
    except (OSError, Refused, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _record(vault: Vault, path: str, digest: str) -> None:
    """Record that retain wrote the file, so that a later version may replace it while it is unchanged."""
    files = {each: {"written": known} for each, known in (_written_by_us(vault) | {path: digest}).items()}
    guard = state_guard(vault.settings.vault_id)
    old = guard.read(_RECORD) if is_folder(guard.root) else None
    new = json.dumps({"v": 1, "files": files}, indent=1, sort_keys=True) + "\n"
    guard.write(_RECORD, new.encode(), expect=sha256_hex(old) if old is not None else None)


def _to_merge(file: HostFile, old: bytes) -> int:
    """Report what the user's own file lacks, and show the generated one; return the exit code."""
    lacks = missing(file, old)
    if not lacks:
        output.say(f"  {file.path} is your own file and needs no changes")
        return output.DONE
    output.say(f"  {file.path} is your own file and was not changed. Missing from it:")
    for line in lacks:
        output.say(f"    {line}")
    output.show(f"# {file.path}, as retain would write it\n{file.text}")
    return output.FINDINGS


def missing(file: HostFile, old: bytes) -> list[str]:
    """Return the generated lines that the user's file lacks; for JSON the settings, by name and value."""
    text = old.decode("utf-8", "replace")
    if not file.path.endswith(".json"):
        there = {line.strip() for line in text.splitlines()}
        wanted = (line.strip() for line in file.text.splitlines())
        return [line for line in wanted if line and not line.startswith("#") and line not in there]
    try:
        theirs = json.loads(text)
    except (ValueError, RecursionError):
        return ["(it is not JSON: correct it first)"]
    return list(_lacking(json.loads(file.text), theirs, ""))


def _lacking(ours: Any, theirs: Any, name: str) -> Iterator[str]:
    if isinstance(ours, dict):
        for key, value in ours.items():
            yield from _lacking(
                value, theirs.get(key) if isinstance(theirs, Mapping) else None, f"{name}.{key}".lstrip(".")
            )
    elif isinstance(ours, list):
        there = theirs if isinstance(theirs, list) else []
        yield from (f"{name}: {json.dumps(each, ensure_ascii=False)}" for each in ours if each not in there)
    elif ours != theirs:
        yield f"{name}: {json.dumps(ours, ensure_ascii=False)}"
