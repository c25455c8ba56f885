"""What a build reports: counts, costs, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compiler.articles.compose import Composed
from compiler.articles.concepts import Concepts
from compiler.articles.writer import Writer
from compiler.build.claims import Claims
from compiler.cards.live_cards import LiveCard
from compiler.model.report import Rejection, Report
from compiler.pages.agenda import Agenda
from compiler.pages.decks import CardDecks
from compiler.pages.summaries import cited_claims
from compiler.pages.topics import Topics
from compiler.replies.asker import Asker
from vault.diagnostic import Diagnostic
from vault.layout import FLASHCARDS
from vault.log.ledger import Event, Ids
from vault.text.formatting import clean_line, short_line

_SHOWN = 80  # characters of a card's question


@dataclass(frozen=True, slots=True)
class Written:
    """What the engine wrote, as far as it passed the gates: articles, cards, gaps and topics."""

    composed: Composed
    cards: CardDecks
    agenda: Agenda
    topics: Topics


def report_written(report: Report, written: Written, writer: Writer, asker: Asker | None, ids: Ids) -> None:
    """Add to the report what was written, refused, asked and paid."""
    composed, news, consulted = written.composed, written.cards.news, writer.consulted
    report.rejections += [*composed.rejections, *written.cards.rejections, *writer.embedded.rejections]
    report.sentences |= {"kept": composed.kept, "dropped": composed.dropped}
    report.contradictions |= written.topics.contradictions
    report.gaps |= written.agenda.counts
    report.cards |= {
        "created": news.created,
        "kept": news.kept,
        "updated": news.updated,
        "suspended": news.suspended,
        "rejected": len(news.rejections),
    }
    if asker is not None:
        _report_asked(report, asker)
    if consulted is not None:
        if asker is not None and not asker.failed:
            what, hint = (
                "no model has processed all of it: the built-in rules were used instead",
                "the next compile with a model will try again",
            )
            paths = sorted(consulted.shelf.by_id[s].path for s in consulted.failed)
            report.notices += [Diagnostic(path, 0, "stood-in", what, hint) for path in paths]
        report.rejections += consulted.drafts.rejections
        report.sentences["dropped"] += len(consulted.drafts.rejections)
    report.notices += written.agenda.notices
    report.notices += [_lost(card, reason, ids) for card, reason in news.lost.values()]


def _lost(card: LiveCard, reason: str, ids: Ids) -> Diagnostic:
    """Return the notice on a card that is not asked any more, because of what the sources say now."""
    born = ids.births.get(card.concept)
    path = f"{FLASHCARDS}/{born.slug}.md" if born is not None else FLASHCARDS
    what = f"card {card.id} “{short_line(card.question, _SHOWN)}” is no longer shown in reviews: {reason}"
    hint = (
        "put its sentence back into the source, and the card returns with its history;"
        f" or see it with `retain card show {card.id}` and add it as your own with `retain card new`"
    )
    return Diagnostic(path, 0, "card-retired", what, hint)


def _report_asked(report: Report, asker: Asker) -> None:
    """Add to the report what was asked and paid, and where the embedded engine stood in."""
    spent = asker.spent
    report.cost |= {"input_tokens": spent.sent, "output_tokens": spent.received, "usd": round(spent.usd, 6)}
    if spent.unpriced:
        report.cost["unpriced"] = True
    report.open = asker.open
    for request, why in asker.failed:
        what = f"the model gave no answer ({why}): the built-in rules were used instead"
        about = f"{request.type}: {clean_line(request.title)[:100]}"
        report.notices.append(Diagnostic(about, 0, "stood-in", what, "the next compile with a model will try again"))
    report.rejections += [Rejection("answer", why, clean_line(request.title)[:100]) for request, why in asker.refused]


def report_claims(report: Report, claims: Claims, concepts: Concepts, events: Sequence[Event], engine: str) -> None:
    """Add to the report what became of sources and claims."""
    for g in claims.gathered:
        if g.recorded:
            report.sources["recorded"] += 1
        elif g.source is not None:
            report.sources["read" if g.fresh else "unchanged"] += 1
    report.sources |= {"failed": len(report.failures), "copies": len(concepts.sources.kinship.copies)}
    news = [e["type"] for e in events if e["of"] == "claim"]
    added = sum(t in ("birth", "revive") for t in news)
    refused = [
        replace(r, path=g.tracked.path, sources=g.tracked.paths, said_by=r.said_by or engine)
        for g in claims.gathered
        if g.extracted
        for r in g.extracted.rejections
    ]
    report.claims |= {
        "added": added,
        "kept": len(concepts.sources.claims) - added,
        "retracted": news.count("retire"),
        "rejected": len(refused),
    }
    report.rejections += refused


def unused_sources(written: Written, concepts: Concepts) -> list[str]:
    """Return the paths of the sources that were read and that no article and no card cites; copies are left out."""
    sources = concepts.sources
    cited = cited_claims(written.composed.articles, written.cards.decks.values())
    used = {sources.claims[claim].source for claim in cited if claim in sources.claims} | set(sources.kinship.copies)
    read = (g for g in sources.gathered if g.source is not None and not g.recorded)
    return sorted(g.tracked.path for g in read if g.tracked.id not in used)
