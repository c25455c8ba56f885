"""What `retain add --current` does: record that sources still hold as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

from cli import output
from cli.environment import here
from compiler.sources.freshness import sources_at
from vault.errors import NotFound, UsageError
from vault.files.guard import Scope
from vault.ids import SourceId
from vault.log.ledger import DECISIONS, encode, instant
from vault.log.provenance import current_event
from vault.text.formatting import plural
from vault.vault import Vault


def record_current(vault: Vault, given: Iterable[str], at: datetime, *, as_json: bool) -> int:
    """Record that the sources in these files and folders of raw/ still hold. Raises: UsageError, NotFound."""
    sources = {id_: path for each in given for id_, path in _sources(vault, each).items()}
    events = [current_event(id_, path, instant(at)) for id_, path in sources.items()]
    vault.guard(Scope.LOG).append(DECISIONS, b"".join(map(encode, events)))
    paths = sorted(sources.values())
    if as_json:
        output.show_json({"current": paths})
    else:
        output.show_first(paths, len(paths))
        output.say(f"{plural(len(paths), 'source')} confirmed")
    return output.DONE


def _sources(vault: Vault, given: str) -> dict[SourceId, str]:
    """Return the sources in a file or folder of raw/, which is named as seen from here or from the vault."""
    for base in (here(), vault.root):
        path = (base / given).resolve()
        relative = os.path.relpath(path, vault.root).replace(os.sep, "/")
        if (path.is_relative_to(vault.root / "raw") or vault.is_source(relative)) and path.exists():
            found = sources_at(vault, relative)
            if not found:
                hint = "run `retain compile` to read new files; of several copies, only one counts as the source, "
                hint += "and an unreadable file does not count"
                raise NotFound("no source at this path", where=given, hint=hint)
            return found
    raise UsageError(
        "not a source, or a folder of sources",
        where=given,
        hint="`retain status` lists the sources that are due for a check",
    )
