"""Which sources were to be looked at again by now, by the `[freshness]` of their folders in `retain.toml`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from vault.ids import SourceId
from vault.layout import SUMMARIES
from vault.log.ledger import DECISIONS, IDS, fold, parse_instant
from vault.log.provenance import looked_at
from vault.text.formatting import plural
from vault.vault import Vault

LATE = "late-source"  # the code of the finding
_EXACT_DAYS = 3  # an age below is shown in hours


@dataclass(frozen=True, slots=True)
class LateSource:
    """A source that has neither changed nor been confirmed `since` an instant, longer than its `folder` allows."""

    path: str
    since: datetime
    folder: str
    allowed: timedelta

    def as_json(self) -> dict[str, Any]:
        """Return it as `retain status --json` prints it."""
        since = self.since.isoformat(timespec="seconds").replace("+00:00", "Z")
        return {"path": self.path, "since": since, "folder": self.folder, "allowed": _words(self.allowed)}

    def reason(self, at: datetime) -> str:
        """Return what is late, at the instant `at`."""
        age = at - self.since
        unit = timedelta(days=1) if age.days >= _EXACT_DAYS else timedelta(hours=1)
        limit = f"limit for {self.folder}: {_words(self.allowed)}"
        return f"not changed or confirmed for {_words(age // unit * unit)} ({limit})"

    @property
    def remedy(self) -> str:
        """Return what the user can do."""
        return (
            f"read it: if it is still correct, run `retain add --current {shlex.quote(self.path)}`; if not, replace it"
        )


def late_sources(vault: Vault, at: datetime) -> list[LateSource]:
    """Return the sources that are late at the instant `at`, by path. Of nested folders the deepest counts."""
    folders = vault.settings.freshness
    if not folders:
        return []
    id_events = vault.ledger_events(IDS)[0]
    seen = looked_at(id_events, vault.ledger_events(DECISIONS)[0])
    late = []
    for id_, path in _sources(vault).items():
        folder = objective_of(vault, path)
        if folder and parse_instant(seen[id_]) + folders[folder] < at:
            late.append(LateSource(path, parse_instant(seen[id_]), folder, folders[folder]))
    return sorted(late, key=lambda each: each.path)


def objective_of(vault: Vault, path: str) -> str:
    """Return the deepest folder with an objective that the file at a vault path is in; "" if there is none."""
    inside = (folder for folder in vault.settings.freshness if path.startswith(f"{folder}/"))
    return max(inside, key=len, default="")


def sources_at(vault: Vault, path: str) -> dict[SourceId, str]:
    """Return the sources at or below a vault path, as far as they were compiled, with their paths."""
    return {id_: own for id_, own in _sources(vault).items() if own == path or own.startswith(f"{path}/")}


def _sources(vault: Vault) -> dict[SourceId, str]:
    """Return the path of each source that is there and was read: files that are only kept have no page."""
    ids, pages = fold(vault.ledger_events(IDS)[0]), set(vault.paths(SUMMARIES, ".md"))
    return {
        SourceId(id_): ids.present_key[id_]
        for id_, birth in ids.births.items()
        if birth.noun == "source" and ids.alive(id_) and f"{SUMMARIES}/{birth.slug}.md" in pages
    }


def _words(span: timedelta) -> str:
    """Return a time in days, or in hours where it is not whole days."""
    hours = span // timedelta(hours=1)
    return plural(hours, "hour") if hours % 24 else plural(hours // 24, "day")
