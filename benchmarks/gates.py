"""What the rules refuse of planted errors, and what of true words: `python -m benchmarks.gates [--missed] [--json]`.

The labelled sets stand in `tests/compiler/gate_cases`: one on which the rules were mended, one on which they were not,
and one of pages for learners, with steps and sums. Rules decide numbers, dates, names, arithmetic and addresses; the
other errors are listed to show what is left to the second reader, who checks every sentence and card.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.gates.written import card_fault, known_names, sentence_fault
from compiler.model.requests import ProposedCard

CASES = Path(__file__).parents[1] / "tests" / "compiler" / "gate_cases"
SETS = ("development", "held_out", "learner")
BY_RULE = ("number", "date", "name", "arithmetic", "address")
FOR_A_READER = ("entity", "negation", "sides", "unsupported", "scope", "support", "leak")
TRUE = ("holds", "derived")
_DERIVED = ("derived", "arithmetic")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence or a card: what is planted in it ("" where it is true), and why the rules refuse it ("" if not)."""

    fault: str
    of: str  # sentence or card
    words: str
    refused: str

    @property
    def kind(self) -> str:
        return f"{self.fault} ({self.of}s)" if self.fault else f"true {self.of}s"


@dataclass(frozen=True, slots=True)
class Row:
    """How many of a kind there are, and how many the rules refuse."""

    kind: str
    fault: str
    total: int
    refused: int


def cases(name: str) -> list[Case]:
    """All of one set."""
    with (CASES / f"{name}.toml").open("rb") as file:
        data = tomllib.load(file)
    said = [c for passage in data["passage"] for c in _of_passage(passage)]
    return said + [c for concept in data.get("concept", ()) for c in _of_concept(concept)]


def _of_passage(passage: dict[str, Any]) -> Iterator[Case]:
    shown = [*passage["quotes"], *filter(None, [passage.get("title", "")])]
    for name in (*TRUE, *BY_RULE, *FOR_A_READER):
        for words in passage.get(name, ()):
            mark = "derived" if name in _DERIVED else ""
            why = sentence_fault(words, mark, shown, known_names(shown))
            yield Case("" if name in TRUE else name, "sentence", words, why)


def _of_concept(concept: dict[str, Any]) -> Iterator[Case]:
    names = (concept["title"], *concept.get("aliases", ()))
    quotes = [quote for _, quote in concept["claims"]]
    for given in concept["cards"]:
        card = ProposedCard(kind=given["kind"], question=given["question"], answer=given["answer"], cites=())
        why = card_fault(card, [quotes[n] for n in given["cites"]], known_names([*names, *quotes]))
        yield Case(given.get("fault", ""), "card", f"{card.question} / {card.answer}", why)


def rows(found: Sequence[Case]) -> list[Row]:
    """A row for each kind: what rules decide, what is left to the reader, what is true."""
    order = (*BY_RULE, *FOR_A_READER, "")
    kinds = sorted({(order.index(c.fault), c.of, c.fault, c.kind) for c in found})
    return [
        Row(kind, fault, sum(c.kind == kind for c in found), sum(c.kind == kind and bool(c.refused) for c in found))
        for _, _, fault, kind in kinds
    ]


def share(found: Sequence[Row], faults: Sequence[str]) -> float:
    """The share that is refused of what has one of these faults."""
    wanted = [r for r in found if r.fault in faults]
    return sum(r.refused for r in wanted) / sum(r.total for r in wanted)


def table(name: str, found: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [name.replace("_", " "), "", "| | of | refused |", "|---|---|---|"]
    lines += [f"| {r.kind} | {r.total} | {r.refused} |" for r in found]
    lines += [f"| **errors that rules decide** | | {share(found, BY_RULE):.3f} |"]
    return "\n".join([*lines, f"| **true ones** | | {share(found, ('',)):.3f} |"])


def missed(found: Sequence[Case]) -> Iterator[str]:
    """What rules let through of what they decide, and what they refuse though it is true."""
    for case in found:
        if case.fault not in FOR_A_READER and bool(case.refused) != bool(case.fault):
            yield f"{case.kind}: {case.words}{f' ({case.refused})' if case.refused else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="name what rules get wrong, but for the held-out set")
    parser.add_argument("--json", action="store_true")
    wants = parser.parse_args()
    if wants.missed:
        print("\n".join(line for name in SETS if name != "held_out" for line in missed(cases(name))))
        return
    found = {name: rows(cases(name)) for name in SETS}
    if wants.json:
        out = {n: [{"kind": r.kind, "total": r.total, "refused": r.refused} for r in rs] for n, rs in found.items()}
        print(json.dumps(out, ensure_ascii=False, indent=2))
        return
    print("\n\n".join(table(name, rs) for name, rs in found.items()))


if __name__ == "__main__":
    main()
