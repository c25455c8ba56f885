"""What the gates refuse of planted errors, and what of true words: `python -m benchmarks.gates [--missed] [--json]`.

The labelled set stands in `tests/compiler/gate_cases`: one half the rules were mended on, the other not. The
check role is an oracle here: one that is always right, and one that always says yes, which shows what rules alone hold.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.gates.gates import Entailed, card_gate, sentence_refused, statement_refused
from compiler.model.requests import ClaimView, ProposedCard, Sentence
from vault.model.claim import ClaimKind

CASES = Path(__file__).parents[1] / "tests" / "compiler" / "gate_cases"
HALVES = ("development", "held_out")
PLANTED = ("number", "date", "negation", "entity", "sides", "unsupported", "scope")
_IDS = "abcdefghjk"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that an engine might say: what is planted in it ("" where it is true), and how a gate judges it."""

    fault: str
    of: str  # statement, sentence or card
    words: str
    refused: Callable[[Entailed | None], str]

    @property
    def kind(self) -> str:
        return f"{'card: ' if self.of == 'card' else ''}{self.fault}" if self.fault else f"true {self.of}s"


@dataclass(frozen=True, slots=True)
class Row:
    """How many of a kind there are, and how many each gate refuses."""

    kind: str
    total: int
    refused: dict[str, int]


def perfect(case: Case) -> Entailed:
    """A check that is always right about one case. A card that is wrong in its form follows from its claims, too."""
    follows = not case.fault or (case.of == "card" and case.fault != "support")
    return lambda words, evidence: follows


GATES: dict[str, Callable[[Case], str]] = {
    "no gate": lambda case: "",
    "words alone": lambda case: case.refused(None),
    "rules alone": lambda case: case.refused(lambda words, evidence: True),
    "rules and a check": lambda case: case.refused(perfect(case)),
}


def cases(half: str) -> list[Case]:
    """All of one half."""
    with (CASES / f"{half}.toml").open("rb") as file:
        told = tomllib.load(file)
    said = [c for passage in told["passage"] for c in _of_passage(passage)]
    return said + [c for concept in told["concept"] for c in _of_concept(concept)]


def _of_passage(passage: dict[str, Any]) -> Iterator[Case]:
    quotes: list[str] = passage["quotes"]
    claims = {v.id: v for v in _views([("fact", q) for q in quotes])}
    for name in ("holds", *PLANTED):
        for words in passage.get(name, ()):
            fault = "" if name == "holds" else name
            if len(quotes) == 1:
                yield Case(fault, "statement", words, _statement(words, quotes[0]))
            else:
                yield Case(fault, "sentence", words, _sentence(words, claims))


def _statement(words: str, quote: str) -> Callable[[Entailed | None], str]:
    return lambda entailed: statement_refused(words, quote, entailed)


def _sentence(words: str, claims: dict[str, ClaimView]) -> Callable[[Entailed | None], str]:
    return lambda entailed: sentence_refused(Sentence(text=words, cites=tuple(claims)), claims, entailed)


def _views(claims: Sequence[Sequence[str]]) -> list[ClaimView]:
    return [
        ClaimView(id=_IDS[n] * 10, kind=ClaimKind(kind), words=quote, quote=quote, source="")
        for n, (kind, quote) in enumerate(claims)
    ]


def _of_concept(concept: dict[str, Any]) -> Iterator[Case]:
    views = _views(concept["claims"])
    for told in concept["cards"]:
        cites = tuple(views[n].id for n in told["cites"])
        card = ProposedCard(kind=told["kind"], question=told["question"], answer=told["answer"], cites=cites)
        judged = _card(card, concept, {v.id: v for v in views}, told.get("beside", ()))
        yield Case(told.get("fault", ""), "card", f"{card.question} / {card.answer}", judged)


def _card(
    card: ProposedCard, concept: dict[str, Any], claims: dict[str, ClaimView], beside: Sequence[Sequence[str]]
) -> Callable[[Entailed | None], str]:
    def refused(entailed: Entailed | None) -> str:
        gate = card_gate(entailed)
        for question, answer in beside:
            gate.admit(question, answer, concept["title"])
        return gate.refused(card, concept["title"], claims, names=concept.get("aliases", ()))

    return refused


def rows(half: Sequence[Case]) -> list[Row]:
    """A row for each kind, true ones last."""
    kinds = sorted(dict.fromkeys(c.kind for c in half), key=lambda k: (k.startswith("true"), k.startswith("card")))
    found = []
    for kind in kinds:
        mine = [c for c in half if c.kind == kind]
        found.append(Row(kind, len(mine), {g: sum(bool(judge(c)) for c in mine) for g, judge in GATES.items()}))
    return found


def shares(found: Sequence[Row], gate: str) -> tuple[float, float]:
    """(the share of planted errors that are refused, the share of true ones that are refused)."""
    planted = [r for r in found if not r.kind.startswith("true")]
    true = [r for r in found if r.kind.startswith("true")]
    return (
        sum(r.refused[gate] for r in planted) / sum(r.total for r in planted),
        sum(r.refused[gate] for r in true) / sum(r.total for r in true),
    )


def table(half: str, found: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        f"{half.replace('_', ' ')}",
        "",
        f"| refused | of | {' | '.join(GATES)} |",
        "|---|---|" + "---|" * len(GATES),
    ]
    lines += [f"| {r.kind} | {r.total} | {' | '.join(str(r.refused[g]) for g in GATES)} |" for r in found]
    for n, name in enumerate(("planted errors refused", "true ones refused")):
        lines.append(f"| **{name}** | | {' | '.join(f'{shares(found, g)[n]:.3f}' for g in GATES)} |")
    return "\n".join(lines)


def missed(half: Sequence[Case]) -> Iterator[str]:
    """What rules alone let through, and what they refuse though it is true."""
    for case in half:
        why = GATES["rules alone"](case)
        if bool(why) != bool(case.fault):
            yield f"{case.kind}: {case.words}{f' ({why})' if why else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="name what rules alone get wrong, of development only")
    parser.add_argument("--json", action="store_true")
    wants = parser.parse_args()
    if wants.missed:
        print("\n".join(missed(cases("development"))))
        return
    found = {half: rows(cases(half)) for half in HALVES}
    if wants.json:
        told = {h: [{"kind": r.kind, "total": r.total, **r.refused} for r in rs] for h, rs in found.items()}
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    print("\n\n".join(table(half, rs) for half, rs in found.items()))


if __name__ == "__main__":
    main()
