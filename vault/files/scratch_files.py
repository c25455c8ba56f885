"""Files in the system's temporary folder: traces of internal errors, and forms that the user edits."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from vault.text.redaction import redact

_FORMS = "retain-form-"  # the beginning of the names of folders for forms


def trace_folder() -> Path:
    """Return the folder for traces of internal errors."""
    return Path(tempfile.gettempdir())


def write_trace(text: str) -> Path:
    """Write the trace of an internal error to a new file that only its owner can read; return its path."""
    handle, name = tempfile.mkstemp(prefix="retain-trace-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(redact(text))
    return Path(name)


def write_form(name: str, text: str) -> Path:
    """Write a text for the user's editor to a private file in a folder of its own; return its path."""
    path = Path(tempfile.mkdtemp(prefix=_FORMS)) / name
    path.write_text(text, encoding="utf-8")
    return path


def remove_form(path: Path) -> None:
    """Remove a form with its folder and what an editor left there."""
    if path.parent.name.startswith(_FORMS):
        shutil.rmtree(path.parent, ignore_errors=True)
