"""What is to be done about an agent's work, step by step, and what is reported of it. JSON both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from vault.diagnostic import Diagnostic
from vault.files.folder import Identity
from vault.files.guard import sha256_hex

NOT_KEPT = "not-kept"  # the code of a finding: what was there before the agent could not be put back


@dataclass(frozen=True, slots=True)
class Kept:
    """Something of the agent's that stays: `what` is "page", "file" or "deletion"."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Note:
    """What is reported of a file: why, at which line (0: the whole file), where its text is now ("" for nowhere)."""

    path: str
    why: str
    line: int = 0
    where: str = ""


@dataclass(slots=True)
class Outcome:
    """What became of an agent's work.

    Of what is quarantined, what was in its place before is back, unless a finding `not-kept` names it. `restored` is
    again as it was before. `unsupported` are sentences of kept articles. `findings` are what somebody should look at.
    """

    run: str
    program: str = ""
    kept: list[Kept] = field(default_factory=list)
    quarantined: list[Note] = field(default_factory=list)
    restored: list[Note] = field(default_factory=list)
    unsupported: list[Note] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    report: str = ""  # the vault path of the report on what was quarantined; "" if nothing was

    @property
    def clean(self) -> bool:
        """Return whether everything that the agent did stays."""
        return not (self.quarantined or self.findings)

    @property
    def lost(self) -> list[Diagnostic]:
        """What nobody could put back as it was before the agent."""
        return [found for found in self.findings if found.code == NOT_KEPT]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        notes = {name: [Note(**each) for each in data[name]] for name in ("quarantined", "restored", "unsupported")}
        kept = [Kept(**each) for each in data["kept"]]
        findings = [Diagnostic(**each) for each in data["findings"]]
        return cls(data["run"], data["program"], kept, findings=findings, report=data["report"], **notes)


@dataclass(slots=True)
class Plan:
    """The steps, each of which is safe to do again. A step names the bytes (SHA-256) or the inode it expects."""

    outcome: Outcome
    writes: dict[str, tuple[str | None, str]] = field(default_factory=dict)  # path -> (expected or no file, new)
    deletes: dict[str, str] = field(default_factory=dict)  # path -> expected
    removals: dict[str, Identity] = field(default_factory=dict)  # what is not a plain file, and empty folders
    trees: dict[str, Identity] = field(default_factory=dict)  # folders that go with everything in them
    modes: dict[str, int] = field(default_factory=dict)  # path -> the mode it has in the end
    opened: list[str] = field(default_factory=list)  # folders that their owner may not change in the end, but now
    lines: dict[str, list[str]] = field(default_factory=dict)  # ledger -> lines to append
    new: dict[str, bytes] = field(default_factory=dict)  # SHA-256 -> bytes that are not among the copies yet

    def write(self, path: str, expected: str | None, data: bytes) -> None:
        """Add the step that gives a file these bytes."""
        digest = sha256_hex(data)
        self.new[digest] = data
        self.writes[path] = (expected, digest)

    def as_json(self) -> dict[str, Any]:
        """Everything but the bytes, which are stored among the copies."""
        stored = ("writes", "deletes", "removals", "trees", "modes", "opened", "lines")
        return {"outcome": self.outcome.as_json(), **{name: getattr(self, name) for name in stored}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Raises ValueError, TypeError or LookupError for what is none."""
        return cls(
            Outcome.from_json(data["outcome"]),
            {path: (expected, str(digest)) for path, (expected, digest) in data["writes"].items()},
            dict(data["deletes"]),
            {path: (int(device), int(inode)) for path, (device, inode) in data["removals"].items()},
            {path: (int(device), int(inode)) for path, (device, inode) in data["trees"].items()},
            {path: int(mode) for path, mode in data["modes"].items()},
            list(data["opened"]),
            {path: list(lines) for path, lines in data["lines"].items()},
        )
