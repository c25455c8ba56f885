"""What two engines make of the same documents, as one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.concept_figures import Share

Figures = Mapping[str, Any]


def table(columns: Mapping[str, Figures]) -> str:
    """The figures of each engine (as extraction.py gives them for programs) in a column of a Markdown table."""
    found = {name: dict(_rows(figures)) for name, figures in columns.items()}
    names = list(dict.fromkeys(row for rows in found.values() for row in rows))
    lines = [["", *columns], *([name, *(rows.get(name, "-") for rows in found.values())] for name in names)]
    return laid(lines)


def laid(lines: Sequence[Sequence[str]]) -> str:
    """Lines as a Markdown table whose first is the head."""
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    head, *rest = lines
    rows = [head, ["-" * w for w in widths], *rest]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows)


def _rows(figures: Figures) -> Iterator[tuple[str, str]]:
    key = figures["key"]
    yield "articles", str(figures["concepts"])
    if key is not None:
        yield from ((f"recall, {name}", _share(part)) for name, part in key["recall"].items())
        yield "precision against the key, all", _share(key["precision"]["all"])
        if key["judged"] is not None:
            yield "precision, judged", str(key["judged"]["precision"])
        yield "doubles: articles on one idea", str(len(key["doubles"]))
        yield "articles that merge ideas", str(len(key["merged"]))
        yield "articles about no concept", str(len(key["errors"]))
        yield "gap recall", _share(key["gap_recall"])
    claims, cards = figures["claims"], figures["cards"]
    yield "claims", str(claims["added"] + claims["kept"])
    yield "claims rejected", str(claims["rejected"])
    yield "sentences kept", str(figures["sentences"].get("kept", "-"))
    yield "sentences dropped", str(figures["sentences"].get("dropped", "-"))
    yield "cards", str(sum(cards["by_kind"].values()))
    yield from ((f"  {kind}", str(n)) for kind, n in cards["by_kind"].items())
    yield "cards rejected", str(cards["rejected"])
    yield from ((f"refused by {gate}", str(n)) for gate, n in figures["gates"]["refused"].items())
    yield from ((f"contradictions, {state}", str(n)) for state, n in figures["contradictions"].items())
    yield from ((f"verify: {what}", str(n)) for what, n in figures["verify"].items())
    replies = figures["replies"]
    yield from ((f"replies: {kind}", str(n)) for kind, n in replies["by_kind"].items())
    yield "questions still open", str(sum(figures["asked"].values()))
    yield "tokens sent", str(replies["input_tokens"])
    yield "tokens received", str(replies["output_tokens"])
    yield "USD", f"{replies['usd']:.2f}"
    yield "seconds", f"{figures['seconds']:.1f}"


def _share(figure: Mapping[str, Any]) -> str:
    return str(Share(int(figure["part"]), int(figure["whole"])))
