"""What is to be done with an agent's work: decided once, taken down, and then done however often it is begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from vault.diagnostic import Diagnostic
from vault.folder import Identity
from vault.guard import sha256_hex

NOT_KEPT = "not-kept"  # the code of a finding: what stood there before could not be put back


@dataclass(frozen=True, slots=True)
class Kept:
    """Something of the agent's that stays: `what` is "page", "card" or "file"; `id` is the card's."""

    path: str
    what: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Something that failed: why, at which line (0: the whole file), where its text is now ("" for nowhere).

    What stood in its place before the agent is back, unless a finding `not-kept` names it.
    """

    path: str
    line: int
    why: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Restored:
    """Something that is again as it was before the agent, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an agent's work. `findings` are what somebody should look at."""

    run: str
    program: str = ""
    kept: tuple[Kept, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    restored: tuple[Restored, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    report: str = ""  # the vault path of the report on what failed; "" if nothing did

    @property
    def clean(self) -> bool:
        """Whether all that the agent did stands."""
        return not (self.quarantined or self.findings)

    @property
    def lost(self) -> tuple[Diagnostic, ...]:
        """What nobody could put back as it was before the agent."""
        return tuple(found for found in self.findings if found.code == NOT_KEPT)

    def as_json(self) -> dict[str, Any]:
        def listed(path: str, line: int, reason: str, **rest: str) -> dict[str, Any]:
            return {"id": rest.pop("id", ""), "path": path, "line": line, "reason": reason, **rest}

        return {
            "run": self.run,
            "program": self.program,
            "kept": [listed(k.path, 0, k.what, id=k.id) for k in self.kept],
            "quarantined": [listed(q.path, q.line, q.why, where=q.where) for q in self.quarantined],
            "restored": [listed(r.path, 0, r.why) for r in self.restored],
            "findings": [listed(d.path, d.line, d.message, id=d.code, hint=d.hint) for d in self.findings],
            "report": self.report,
        }


@dataclass(slots=True)
class Plan:
    """The steps, each of which is safe to do again. `puts` and `drops` name the bytes that they expect to find."""

    run: str
    program: str
    puts: dict[str, tuple[str | None, bytes]] = field(default_factory=dict)  # path -> (SHA-256 or no file, new bytes)
    drops: dict[str, str] = field(default_factory=dict)  # path -> SHA-256
    clears: dict[str, Identity] = field(default_factory=dict)  # path -> what is to be taken away
    fells: dict[str, Identity] = field(default_factory=dict)  # path -> a folder that goes with all that it holds
    backs: dict[str, tuple[str | None, str]] = field(default_factory=dict)  # as `puts`, by the digest of a large copy
    modes: dict[str, int] = field(default_factory=dict)  # path -> the mode that it has in the end
    opens: list[str] = field(default_factory=list)  # folders that their owner may not change in the end, but now
    lines: dict[str, list[bytes]] = field(default_factory=dict)  # ledger -> lines to append
    kept: list[Kept] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    restored: list[Restored] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    report: str = ""

    def settled(self, more: Iterable[Diagnostic] = ()) -> Settled:
        lists = (tuple(self.kept), tuple(self.quarantined), tuple(self.restored), (*self.findings, *more))
        return Settled(self.run, self.program, *lists, self.report)

    def blocks(self) -> list[bytes]:
        """All bytes that the plan writes, to be kept before the plan is taken down."""
        return [data for _, data in self.puts.values()]

    def as_json(self) -> dict[str, Any]:
        return {
            "program": self.program,
            "puts": {path: [expect, sha256_hex(data)] for path, (expect, data) in self.puts.items()},
            "drops": self.drops,
            "clears": {path: list(identity) for path, identity in self.clears.items()},
            "fells": {path: list(identity) for path, identity in self.fells.items()},
            "backs": {path: list(known) for path, known in self.backs.items()},
            "modes": self.modes,
            "opens": self.opens,
            "lines": {path: [line.decode() for line in lines] for path, lines in self.lines.items()},
            "kept": [asdict(k) for k in self.kept],
            "quarantined": [asdict(q) for q in self.quarantined],
            "restored": [asdict(r) for r in self.restored],
            "findings": [asdict(d) for d in self.findings],
            "report": self.report,
        }

    @classmethod
    def from_json(cls, run: str, data: Mapping[str, Any], bytes_of: Callable[[str], bytes]) -> Plan:
        """The plan that was taken down; `bytes_of` gives what is kept under a digest."""
        return cls(
            run,
            str(data["program"]),
            {path: (expect, bytes_of(digest)) for path, (expect, digest) in data["puts"].items()},
            dict(data["drops"]),
            {path: (int(one), int(two)) for path, (one, two) in data["clears"].items()},
            {path: (int(one), int(two)) for path, (one, two) in data.get("fells", {}).items()},
            {path: (expect, str(digest)) for path, (expect, digest) in data.get("backs", {}).items()},
            {path: int(mode) for path, mode in data.get("modes", {}).items()},
            list(data.get("opens", ())),
            {path: [line.encode() for line in lines] for path, lines in data["lines"].items()},
            [Kept(**k) for k in data["kept"]],
            [Quarantined(**q) for q in data["quarantined"]],
            [Restored(**r) for r in data["restored"]],
            [Diagnostic(**d) for d in data["findings"]],
            str(data["report"]),
        )
