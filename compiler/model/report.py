"""What a compile did, for people and programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from compiler.model.changes import Blast
from vault.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Rejection:
    """What was refused: the gate's name, why, and the words.

    `path` is of the source that it was said of, or of the article or deck that it was for; `sources` are those that it
    speaks of. `said_by` and `at` are "" where nobody took that down.
    """

    gate: str
    reason: str
    words: str
    path: str = ""
    said_by: str = ""
    at: str = ""
    sources: tuple[str, ...] = ()


_NO_CHANGE = frozenset({"unchanged", "kept", "rejected", "copies"})  # verbs
# notices of the compile that read the source alone
_NEWS = frozenset({"gap-filled", "gap-open", "form-queued", "card-retired"})


def _zero(*verbs: str) -> dict[str, int]:
    """Return a count of 0 for each verb."""
    return dict.fromkeys(verbs, 0)


@dataclass(slots=True)
class Report:
    """Counts by noun and verb; `failures` are the sources that could not be read; `notices` need no action now."""

    sources: dict[str, int] = field(default_factory=lambda: _zero("read", "recorded", "unchanged", "failed", "copies"))
    articles: dict[str, int] = field(default_factory=lambda: _zero("created", "updated", "unchanged", "removed"))
    topics: dict[str, int] = field(default_factory=lambda: _zero("created", "updated", "unchanged", "removed"))
    claims: dict[str, int] = field(default_factory=lambda: _zero("added", "kept", "retracted", "rejected"))
    cards: dict[str, int] = field(default_factory=lambda: _zero("created", "kept", "updated", "suspended", "rejected"))
    gaps: dict[str, int] = field(default_factory=lambda: _zero("structural", "epistemic", "learner", "filled"))
    sentences: dict[str, int] = field(default_factory=lambda: _zero("kept", "dropped"))
    contradictions: dict[str, int] = field(default_factory=lambda: _zero("open", "decided", "superseded"))
    agent: dict[str, int] = field(default_factory=lambda: _zero("pages"))  # articles with an agent's text
    cost: dict[str, float] = field(default_factory=lambda: {"input_tokens": 0, "output_tokens": 0, "usd": 0.0})
    failures: list[Diagnostic] = field(default_factory=list)
    notices: list[Diagnostic] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)  # sources that no article and no card cites
    written: list[str] = field(default_factory=list)  # vault paths, in order
    removed: list[str] = field(default_factory=list)  # those of them that are gone
    why: dict[str, str] = field(default_factory=dict)  # for each of them, why
    recorded: int = 0  # events for the ledger but for gaps: what is new, not merely written again
    open: list[Any] = field(default_factory=list)  # the requests that a dry run would put to a model
    blast: Blast | None = None  # what a dry run would touch

    @property
    def nothing_new(self) -> bool:
        """Return whether nothing was written."""
        return not self.written

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the counts by noun and verb."""
        nouns = ("sources", "articles", "topics", "claims", "cards")
        return {noun: getattr(self, noun) for noun in nouns}

    @property
    def summary(self) -> str:
        """Return in words what was read, made, changed and removed."""
        parts = []
        for noun, verbs in self.counts().items():
            done = [f"{n} {verb}" for verb, n in verbs.items() if n and verb not in _NO_CHANGE]
            if done:
                parts.append(f"{noun} {', '.join(done)}")
        return "; ".join(parts) or "nothing new"

    def as_json(self) -> dict[str, Any]:
        """Return the report as `retain compile --json` prints it."""
        return {
            **self.counts(),
            "gaps": self.gaps,
            "sentences": self.sentences,
            "contradictions": self.contradictions,
            "agent": self.agent,
            "cost": self.cost,
            "failures": [_listed(d) for d in self.failures],
            "notices": [_listed(d) for d in self.notices],
            "rejections": [asdict(r) for r in self.rejections],
            "unused": self.unused,
            "written": self.written,
            "why": self.why,
            "asked": dict(sorted(Counter(request.type for request in self.open).items())),
            **({"blast": self.blast.as_json()} if self.blast is not None else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Return the report of a build that changed nothing, from that of the last one that did."""
        report = cls(gaps=data["gaps"])
        report.agent |= data.get("agent", {})
        report.sentences |= data.get("sentences", {})
        report.contradictions |= data.get("contradictions", {})
        report.sources["unchanged"] = sum(data["sources"][k] for k in ("read", "unchanged"))
        report.sources |= {k: data["sources"].get(k, 0) for k in ("recorded", "failed", "copies")}
        report.articles["unchanged"] = sum(data["articles"][k] for k in ("created", "updated", "unchanged"))
        report.topics["unchanged"] = sum(data.get("topics", {}).get(k, 0) for k in ("created", "updated", "unchanged"))
        report.claims |= {
            "kept": data["claims"]["added"] + data["claims"]["kept"],
            "rejected": data["claims"]["rejected"],
        }
        report.cards["kept"] = sum(data["cards"][k] for k in ("created", "kept", "updated"))
        report.cards["rejected"] = data["cards"]["rejected"]
        report.failures = [_unlisted(d) for d in data["failures"]]
        report.unused = data.get("unused", [])
        report.notices = [_unlisted(d) for d in data["notices"] if d["id"] not in _NEWS]
        return report


def _listed(found: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as JSON."""
    return {"id": found.code, "path": found.path, "line": found.line, "reason": found.message, "hint": found.hint}


def _unlisted(data: dict[str, Any]) -> Diagnostic:
    """Return the diagnostic that `_listed` made JSON of."""
    return Diagnostic(data["path"], data["line"], data["id"], data["reason"], data["hint"])
