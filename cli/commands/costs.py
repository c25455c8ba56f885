"""Costs of models: estimated from text lengths before a compile, counted from the journal of replies after it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cli import output
from cli.commands.engine_choice import dollars
from compiler.model.requests import ROLE_OF, Request
from compiler.replies.journal import Entry, Journal
from vault.config.engine import of_user
from vault.log.ledger import IDS, Ids, fold
from vault.text.formatting import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.engines.claude.costs import Estimate, Row

SHOWN = 15


# --- before ---------------------------------------------------------------------------------------------------------


def estimate_json(requests: list[Request], batch: bool) -> dict[str, Any]:
    """Return the estimated tokens and cost of `requests`, and of later requests that depend on them, as JSON."""
    from compiler.engines.claude.costs import estimate, estimate_following

    settings = of_user()
    now, later = estimate(requests, settings, batch=batch), estimate_following(requests, settings, batch=batch)
    return {"now": _as_json(now), "later": _as_json(later), "without_pages": settings.pages}


def _as_json(found: Estimate) -> dict[str, Any]:
    usd = list(found.usd) if found.usd is not None else None
    return {"input_tokens": found.sent, "output_tokens": list(found.received), "usd": usd}


def show_estimate(figures: dict[str, Any]) -> None:
    """Print an estimate of `estimate_json` as text."""
    for key, words in (("now", "these requests: about"), ("later", "later requests that depend on them: about")):
        each = figures[key]
        if not each["input_tokens"]:
            continue
        low, high = each["output_tokens"]
        usd = "no known price" if each["usd"] is None else " to ".join(dollars(usd) for usd in each["usd"])
        output.show(f"{words} {each['input_tokens']} tokens sent, {low} to {high} received: {usd}")
    if figures["without_pages"]:
        output.show("plus pages and pictures, which your settings send beside the text and this estimate leaves out")
    output.show("estimated from text lengths; `--budget USD` sets a limit")


# --- after ----------------------------------------------------------------------------------------------------------


def show_costs(vault: Vault, as_json: bool) -> None:
    """Show what the vault's replies cost: by run, source, article and model."""
    from compiler.engines.claude.costs import rows

    journal, found = Journal.of(vault)
    names = _names(vault)
    starts: dict[str, str] = {}
    for entry in journal.entries:
        starts.setdefault(entry.run, entry.at)
    tables = {
        "runs": rows(journal.entries, lambda e: f"{starts[e.run][:16].replace('T', ' ')} {e.run}".strip()),
        "sources": rows(journal.entries, lambda e: names.get(e.about, e.about) if e.of == "extract" else ""),
        "articles": rows(
            journal.entries, lambda e: names.get(e.about, e.about) if e.of in ("compose", "cards") else ""
        ),
        "models": rows(journal.entries, lambda e: f"{_role(e)}: {e.engine}"),
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
        output.show("no replies of a model or agent in this vault")
        return
    output.show(f"total: {_row_text(total[0])}")
    for name, each in tables.items():
        output.show(f"\n{name}:")
        output.show_first([f"{row.name}: {_row_text(row)}" for row in each], SHOWN, indent="  ")


def _row_text(row: Row) -> str:
    usd = "no known price" if row.unpriced and not row.usd else dollars(row.usd)
    more = ", some at no known price" if row.unpriced and row.usd else ""
    return f"{plural(row.questions, 'question')}, {row.sent} tokens sent, {row.received} received, {usd}{more}"


def _role(entry: Entry) -> str:
    return ROLE_OF[entry.of]


def _names(vault: Vault) -> dict[str, str]:
    """Return the paths of sources and the names of concepts, by id."""
    events, _ = vault.ledger_events(IDS)
    ids: Ids = fold(events)
    called = {"source": lambda b: ids.present_key.get(b.id, b.key), "concept": lambda b: b.name or b.slug}
    return {id_: called[b.noun](b) for id_, b in ids.births.items() if b.noun in called}
