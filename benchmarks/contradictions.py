"""How precise the offline rule on contradictions is, and how much it finds: `python -m benchmarks.contradictions`.

usage: python -m benchmarks.contradictions [FILE.jsonl ...] [--missed] [--json]

Without a FILE it measures the labelled pairs in `tests/compiler/contradictions`, of which no rule was fitted to the
half "held_out". Each line of a FILE is a pair that somebody labelled:

    {"a": "Fleming found it in 1928.", "b": "It was found in 1932.", "contradicts": true, "subject": "Penicillin"}

`published` may have the days of both sources: ["2017-06", ""]. The rule abstains where it is in doubt, which counts as
"no". What is of different days may each have been so: such a pair is no contradiction.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compiler.claims.plain_contradictions import contradict

CASES = Path(__file__).parents[1] / "tests" / "compiler" / "contradictions"
HALVES = ("development", "held_out")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two statements on a subject, and whether they contradict each other, as a person says."""

    a: str
    b: str
    subject: str
    contradicts: bool
    published: tuple[str, str] = ("", "")

    @property
    def found(self) -> bool:
        """Return whether the rule says that they contradict each other."""
        return contradict(self.a, self.b, self.subject, self.published) is not None


@dataclass(frozen=True, slots=True)
class Figures:
    """`right` of the `found` pairs contradict each other, of `contradictions` among `pairs`."""

    pairs: int
    contradictions: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.contradictions if self.contradictions else 1.0


def half(name: str) -> list[LabelledPair]:
    """Return one half of the set in the repository."""
    pairs = tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))["pair"]
    return [_pair({**p, "subject": p["about"], "contradicts": p["is"] == "conflict"}) for p in pairs]


def read(path: Path) -> Iterator[LabelledPair]:
    """Yield the pairs of a file. Raises ValueError, which names the line, for what is no pair."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield _pair(json.loads(line))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}:{number}: not a labelled pair: {error}") from error


def _pair(given: dict[str, Any]) -> LabelledPair:
    if not isinstance(given["contradicts"], bool):
        raise TypeError("`contradicts` is true or false")
    first, second = given.get("published") or ("", "")
    return LabelledPair(
        given["a"], given["b"], given.get("subject", ""), given["contradicts"], (first or "", second or "")
    )


def measure(pairs: Sequence[LabelledPair]) -> Figures:
    """Return what the rule does with the pairs."""
    found = [pair for pair in pairs if pair.found]
    right = sum(pair.contradicts for pair in found)
    return Figures(len(pairs), sum(pair.contradicts for pair in pairs), len(found), right)


def missed(pairs: Sequence[LabelledPair]) -> Iterator[str]:
    """Yield the pairs that the rule has wrong."""
    for pair in pairs:
        if pair.found != pair.contradicts:
            yield f"{'found, wrongly' if pair.found else 'not found'}: {pair.a} | {pair.b}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Precision and recall of the offline rule on contradictions.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--missed", action="store_true", help="name what it has wrong, but for the held-out half")
    parser.add_argument("--json", action="store_true")
    wants = parser.parse_args()
    sets = {path.name: list(read(path)) for path in wants.files} or {name: half(name) for name in HALVES}
    figures = {name: measure(pairs) for name, pairs in sets.items()}
    if wants.json:
        rows = {n: asdict(f) | {"precision": f.precision, "recall": f.recall} for n, f in figures.items()}
        print(json.dumps(rows, indent=2))
        return
    print("| set | pairs | contradictions | found | right | precision | recall |\n|---|---|---|---|---|---|---|")
    for name, f in figures.items():
        counts = f"{f.pairs} | {f.contradictions} | {f.found} | {f.right}"
        print(f"| {name} | {counts} | {f.precision:.3f} | {f.recall:.3f} |")
    if wants.missed:
        print("\n".join(line for name, pairs in sets.items() if name != "held_out" for line in missed(pairs)))


if __name__ == "__main__":
    main()
