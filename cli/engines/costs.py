"""Costs of models: estimated from text lengths before a compile, counted from the journal of replies after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from cli import output
from cli.engines.choice import dollars
from compiler.protocol.requests import ROLE_OF, Request
from compiler.replies.journal import Journal
from vault.config.command import CONCURRENCY
from vault.config.engine import ROLES, of_user
from vault.text.formatting import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.engines.claude.costs import Estimate, Row

SHOWN = 15
_TOKENS_A_MINUTE = 2_000  # of answers, one request after the other: 1.5 minutes for 1,000 words of documents


# --- before ---------------------------------------------------------------------------------------------------------


def estimate_json(requests: list[Request], engine: str, batch: bool) -> dict[str, Any]:
    """Return what `requests`, and later ones that depend on them, take at an engine of ASKING, as JSON.

    Raises ModelUnavailable where no model is named.
    """
    from compiler.engines.claude.costs import estimate, estimate_following

    settings = of_user()
    at_once = settings.concurrency
    if engine == "command":
        at_once = settings.command.concurrency if settings.command is not None else CONCURRENCY
        # Nobody knows what a program costs: for its name there is no price.
        settings = replace(settings, base_url="", models=dict.fromkeys(ROLES, "command"), prices={})
    now, later = estimate(requests, settings, batch=batch), estimate_following(requests, settings, batch=batch)
    counts = Counter[str](request.type for request in requests)
    least, most = (a + b for a, b in zip(now.received, later.received, strict=True))
    return {
        "requests": dict(sorted(counts.items())),
        "later_requests": _later(counts),
        "now": _as_json(now),
        "later": _as_json(later),
        "minutes": [ceil(tokens / _TOKENS_A_MINUTE / at_once) for tokens in (least, most)],
    }


def _later(counts: Counter[str]) -> int:
    """Return about how many requests follow from the answers, by their usual share of those that read or write."""
    if reads := counts["read"]:
        return 2 + ceil(1.5 * reads) + ceil(0.75 * reads)  # settle and reconcile; write; check
    return ceil(0.5 * counts["write"])


def _as_json(found: Estimate) -> dict[str, Any]:
    usd = list(found.usd) if found.usd is not None else None
    return {"input_tokens": found.sent, "output_tokens": list(found.received), "usd": usd}


def show_estimate(figures: dict[str, Any]) -> None:
    """Print an estimate of `estimate_json` as text."""
    later = f"about {figures['later_requests']} later requests that depend on these: about"
    for key, words in (("now", "these requests: about"), ("later", later)):
        each = figures[key]
        if not each["input_tokens"]:
            continue
        low, high = each["output_tokens"]
        usd = "price unknown" if each["usd"] is None else " to ".join(dollars(usd) for usd in each["usd"])
        output.show(f"{words} {each['input_tokens']} tokens sent, {low} to {high} received: {usd}")
    least, most = figures["minutes"]
    output.show(f"time: about {least if least == most else f'{least} to {most}'} min")
    output.show("estimated from text lengths; with --engine claude, `--budget USD` sets a limit")


# --- after ----------------------------------------------------------------------------------------------------------


def show_costs(vault: Vault, as_json: bool) -> None:
    """Show what the vault's replies cost: by run, stage and model."""
    from compiler.engines.claude.costs import rows

    journal, found = Journal.of(vault)
    starts: dict[str, str] = {}
    for entry in journal.entries:
        starts.setdefault(entry.run, entry.at)
    tables = {
        "runs": rows(journal.entries, lambda e: f"{starts[e.run][:16].replace('T', ' ')} {e.run}".strip()),
        "stages": rows(journal.entries, lambda e: e.of),
        "models": rows(journal.entries, lambda e: f"{ROLE_OF[e.of]}: {e.engine}"),
    }
    total = rows(journal.entries, lambda _: "all")
    if as_json:
        listed = {name: [asdict(row) for row in each] for name, each in tables.items()}
        output.show_json({"total": asdict(total[0]) if total else None, **listed})
    else:
        _show(tables, total)
    output.found(found)


def _show(tables: dict[str, list[Row]], total: list[Row]) -> None:
    if not total:
        output.show("no answers from a model or agent in this vault")
        return
    output.show(f"total: {_row_text(total[0])}")
    for name, each in tables.items():
        output.show(f"\n{name}:")
        output.show_first([f"{row.name}: {_row_text(row)}" for row in each], SHOWN, indent="  ")


def _row_text(row: Row) -> str:
    usd = "price unknown" if row.unpriced and not row.usd else dollars(row.usd)
    more = ", plus requests with an unknown price" if row.unpriced and row.usd else ""
    return f"{plural(row.questions, 'request')}, {row.sent} tokens sent, {row.received} received, {usd}{more}"
