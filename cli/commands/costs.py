"""What models cost: before a compile, from lengths alone; after it, from the journal of replies."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cli import output
from cli.commands.engine_choice import dollars

if TYPE_CHECKING:
    from compiler.engines.claude.costs import Estimate, Row
    from compiler.model.requests import Request
    from compiler.replies.journal import Entry
    from vault.log.ledger import Ids
    from vault.vault import Vault

SHOWN = 15


# --- before ---------------------------------------------------------------------------------------------------------


def estimate_json(requests: list[Request], batch: bool) -> dict[str, Any]:
    """What asking `requests` would take, and what rests on the answers, as `--json` prints it."""
    from compiler.engines.claude.costs import estimate, estimate_following
    from vault.config.engine import of_user

    settings = of_user()
    now, later = estimate(requests, settings, batch=batch), estimate_following(requests, settings, batch=batch)
    return {"now": _told(now), "later": _told(later), "without_pages": settings.pages}


def _told(found: Estimate) -> dict[str, Any]:
    usd = list(found.usd) if found.usd is not None else None
    return {"input_tokens": found.sent, "output_tokens": list(found.received), "usd": usd}


def show_estimate(told: dict[str, Any]) -> None:
    """The estimate in words."""
    for key, words in (("now", "asking them takes about"), ("later", "and what rests on their answers about")):
        each = told[key]
        if not each["input_tokens"]:
            continue
        low, high = each["output_tokens"]
        usd = "no known price" if each["usd"] is None else " to ".join(dollars(usd) for usd in each["usd"])
        output.show(f"{words} {each['input_tokens']} tokens sent, {low} to {high} received: {usd}")
    if told["without_pages"]:
        output.show(
            "pages and pictures, which your settings show beside the text, come on top and are not counted here"
        )
    output.show("an estimate from lengths alone; `--budget USD` is never exceeded")


# --- after ----------------------------------------------------------------------------------------------------------


def status(vault: Vault, as_json: bool) -> None:
    """What the vault's replies took: by run, source, article and model."""
    from compiler.engines.claude.costs import rows
    from compiler.replies.journal import Journal

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
        output.show("no model or agent has answered anything in this vault")
        return
    output.show(f"in all: {_words(total[0])}")
    for name, each in tables.items():
        output.show(f"\n{name}:")
        for row in each[:SHOWN]:
            output.show(f"  {row.name}: {_words(row)}")
        if len(each) > SHOWN:
            output.show(f"  and {len(each) - SHOWN} more (--json lists all)")


def _words(row: Row) -> str:
    usd = "no known price" if row.unpriced and not row.usd else dollars(row.usd)
    more = ", and some at no known price" if row.unpriced and row.usd else ""
    return f"{output.number(row.questions, 'question')}, {row.sent} tokens sent, {row.received} received, {usd}{more}"


def _role(entry: Entry) -> str:
    from compiler.model.requests import ROLE_OF

    return ROLE_OF[entry.of]


def _names(vault: Vault) -> dict[str, str]:
    """What humans call sources and concepts, by id."""
    from vault.log.ledger import IDS, fold

    events, _ = vault.ledger_events(IDS)
    ids: Ids = fold(events)
    called = {"source": lambda b: ids.present_key.get(b.id, b.key), "concept": lambda b: b.name or b.slug}
    return {id_: called[b.noun](b) for id_, b in ids.births.items() if b.noun in called}
