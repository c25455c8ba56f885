"""Settings, review log and ledgers, which no agent may write: compared with what they were before a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress

from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.files.guard import sha256_hex
from vault.vault import Vault

_FILES = ("retain.toml", "AGENTS.md", ".gitattributes", ".gitignore")
_LOGS = ("learning", "learning/anki", "ledger", "ledger/replies")  # folders of .jsonl files
Known = Mapping[str, tuple[int, str]]  # path -> size, SHA-256


def watched(vault: Vault) -> dict[str, tuple[int, str]]:
    """Return size and SHA-256 of the settings, the review log and the ledgers."""
    out = {}
    for path in (*_FILES, *(path for folder in _LOGS for path in vault.paths(folder, ".jsonl"))):
        with suppress(RetainError):
            data = vault.read_bytes(path)
            if data is not None:
                out[path] = (len(data), sha256_hex(data))
    return out


def changed_outside(vault: Vault, before: Known, after: Known) -> Iterator[Diagnostic]:
    """Yield what is not as it was. A log may have grown by whole lines meanwhile: the user goes on reviewing."""
    for path in sorted({*before, *after}):
        was, now = before.get(path), after.get(path)
        if was == now:
            continue
        why = "it was deleted" if now is None else _why(vault, path, was)
        if why:
            hint = "agents may not write this file: check `git diff`, and the sandbox in `retain guard status`"
            yield Diagnostic(path, 0, "changed-outside", f"changed while an agent was running: {why}", hint)


def _why(vault: Vault, path: str, was: tuple[int, str] | None) -> str:
    """Return what is wrong with a file that changed; "" for a log that only grew as it may."""
    if not path.endswith(".jsonl"):
        return "its content has changed" if was is not None else "it did not exist before"
    try:
        data = vault.read_bytes(path) or b""
    except RetainError as error:
        return error.what
    size, digest = was or (0, hashlib.sha256(b"").hexdigest())
    if hashlib.sha256(data[:size]).hexdigest() != digest:
        return "earlier lines were changed or removed"
    return "its last line is incomplete" if data[size:] and not data.endswith(b"\n") else ""
