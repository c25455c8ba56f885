"""`retain upgrade`: bring AGENTS.md, .gitattributes, logs and the schema version of an older vault up to date."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import click

import templates
from cli import output
from cli.options import opened, vault_option
from vault.config.settings import FILE, SCHEMA_VERSION, version_numbers
from vault.errors import RetainError
from vault.files.guard import Scope, sha256_hex
from vault.log.older_files import move_older_files
from vault.vault import Vault

AGENTS, ATTRIBUTES = "AGENTS.md", ".gitattributes"
BESIDE = "AGENTS.new.md"
_VERSION = re.compile(r"^Schema version: (\d+\.\d+\.\d+)\b", re.MULTILINE)


class State(Enum):
    """How a vault's AGENTS.md compares with the one that this version of retain writes."""

    CURRENT = "current"  # the same, or one that names this schema and was edited
    OLDER = "older"  # as an earlier version of retain wrote it
    EDITED = "edited"  # names an older schema, or none, and is not as retain wrote it
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class AgentsFile:
    """The AGENTS.md of a vault; `schema` is the version it names, "" if it names none."""

    state: State
    schema: str
    data: bytes | None


def agents_file(vault: Vault) -> AgentsFile:
    """Return what the vault's AGENTS.md is."""
    data = vault.read_bytes(AGENTS)
    if data is None:
        return AgentsFile(State.MISSING, "", None)
    plain = data.replace(b"\r\n", b"\n")  # as git may check it out
    named = _VERSION.search(plain.decode("utf-8", "replace"))
    schema = named[1] if named else ""
    if plain == templates.read(AGENTS).encode():
        state = State.CURRENT
    elif _is_shipped(plain):
        state = State.OLDER
    elif schema and version_numbers(schema) >= version_numbers(SCHEMA_VERSION):
        state = State.CURRENT
    else:
        state = State.EDITED
    return AgentsFile(state, schema, data)


def missing_merge_lines(vault: Vault) -> list[str]:
    """Return the lines on merging by union that the vault's .gitattributes lacks."""

    def merged(text: str) -> dict[str, str]:
        return {line.split()[0]: line for line in text.splitlines() if "merge=union" in line.split()[1:]}

    try:
        there = merged(vault.read_text(ATTRIBUTES) or "")
    except RetainError:
        there = {}
    return [line for pattern, line in merged(templates.read("gitattributes")).items() if pattern not in there]


def outdated(vault: Vault) -> str:
    """Return the sentence of `retain status` on an AGENTS.md that is older than this version; "" if there is none."""
    found = agents_file(vault)
    if found.state not in (State.OLDER, State.EDITED):
        return ""
    which = f"uses schema {found.schema}" if found.schema else "has no schema version"
    return f"AGENTS.md {which}; this version of retain uses schema {SCHEMA_VERSION}: run `retain upgrade`"


def _is_shipped(data: bytes) -> bool:
    """Whether retain wrote this text as an earlier AGENTS.md; an empty file counts as one."""
    return not data or hashlib.sha256(data).hexdigest() in _shipped()


@lru_cache(maxsize=1)
def _shipped() -> frozenset[str]:
    lines = templates.read("shipped-agents-md.txt").splitlines()
    return frozenset(line.split()[0] for line in lines if not line.startswith("#"))


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@vault_option
def upgrade(dry_run: bool, vault_dir: str | None) -> int:
    """Update AGENTS.md and the schema version of an older vault.

    If you edited AGENTS.md, it is not changed; the new one is written next to it as AGENTS.new.md. In retain.toml, only
    the line `schema` changes; missing lines for merging logs are added to .gitattributes. Data that older versions kept
    in .retain/ is moved to learning/anki/ and ledger/. Older vaults also work without an upgrade.

    \b
    Examples:
      retain upgrade --dry-run
      retain upgrade
    """
    from vault.toml_edit import changed, vault_text

    vault = opened(vault_dir)
    guard = vault.guard(Scope.UPGRADE)
    writes: dict[str, bytes] = {}
    found = agents_file(vault)
    new = templates.read(AGENTS).encode()
    if found.state in (State.OLDER, State.MISSING):
        writes[AGENTS] = new
    elif found.state is State.EDITED and _is_shipped(guard.read(BESIDE) or b""):
        writes[BESIDE] = new
    if version_numbers(vault.settings.schema) < version_numbers(SCHEMA_VERSION):
        writes[FILE] = changed(vault_text(vault), "vault", "schema", SCHEMA_VERSION).encode()
    if lines := missing_merge_lines(vault):
        text = vault.read_text(ATTRIBUTES)
        ours = templates.read("gitattributes") if text is None else "\n".join([text.rstrip("\n"), *lines, ""])
        writes[ATTRIBUTES] = ours.encode()
    moved = move_older_files(vault.guard(Scope.LOG), vault.settings.vault_id, dry_run=dry_run)
    for path, log in moved.items():
        output.show(f"{'would move' if dry_run else 'moved'} {path} to {log}")
        if not dry_run and (vault.root / path).exists():
            output.say(f"{path} was kept: some of its entries cannot be read")
    for path, data in writes.items():
        old = guard.read(path)
        if not dry_run:
            guard.write(path, data, expect=None if old is None else sha256_hex(old))
        output.show(f"{_verb(old is None, dry_run)} {path} (schema {SCHEMA_VERSION})")
    if found.state is State.EDITED:
        output.say(
            f"AGENTS.md was edited, so it was not changed; copy what you need from {BESIDE}, then delete {BESIDE}"
        )
    if not writes and not moved and found.state is not State.EDITED:
        output.show(f"nothing to do: this vault already uses schema {SCHEMA_VERSION}")
    return output.DONE


def _verb(is_new: bool, dry_run: bool) -> str:
    return ("would " if dry_run else "") + {
        (True, True): "write",
        (True, False): "replace",
        (False, True): "wrote",
        (False, False): "replaced",
    }[dry_run, is_new]
