"""One build, from `raw/` to the files of the vault, in eight steps: each takes values and returns values.

scan -> read -> ask -> claims -> concepts -> write -> render -> publish

The publisher runs them. It loads neither parser nor engine, which are in the reading processes, and writes through the
guard. The steps return ledger events; `Record` alone applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.agents.overlay import AgentPages, agents_pages
from compiler.agents.record import KeptPage, kept_pages
from compiler.articles import images
from compiler.articles.agenda import Agenda, write_agenda
from compiler.articles.article import article_pages
from compiler.articles.card_decks import CardDecks, write_cards
from compiler.articles.compose import Composed, compose_articles
from compiler.articles.contested import Concepts, find_contests
from compiler.articles.history import History
from compiler.articles.images import Pictures, place_pictures
from compiler.articles.indexes import index_pages
from compiler.articles.renames import with_former
from compiler.articles.sources import Sources
from compiler.articles.summaries import cited_claims, summary_pages
from compiler.articles.topic_pages import Topics, topic_pages, write_topics
from compiler.articles.writer import Writer
from compiler.build.attachments import Attachments
from compiler.build.claims import Claims, verify_claims
from compiler.build.concepts import match_names, resolve_concepts, source_claims
from compiler.build.extract import ask_for_claims
from compiler.build.publish import Wanted, publish, remember
from compiler.build.read import read
from compiler.build.scan import DIGESTS, scan
from compiler.build.start import BuildInput, Record
from compiler.build.trust import Trust, trust_sources
from compiler.build.user_changes import UserChanges, user_changes
from compiler.claims.gathered import Gathered
from compiler.model.report import Report
from compiler.replies.asker import Asker
from compiler.sources.cache_files import save_cache
from compiler.workers.engine_client import EmbeddedAsker, embedded_reply
from compiler.workers.pool import Crew
from vault.diagnostic import Diagnostic
from vault.inbox.events import all_reasons
from vault.layout import GAPS
from vault.log.ledger import Event
from vault.log.provenance import fills_in, origins_in
from vault.text.sanitize import clean_line


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did, and the sources with their claims as it found them."""

    report: Report
    gathered: list[Gathered]


@dataclass(frozen=True, slots=True)
class Written:
    """What the engine wrote, as far as it passed the gates: articles, cards, gaps and topics."""

    composed: Composed
    cards: CardDecks
    agenda: Agenda
    topics: Topics


def build(start: BuildInput) -> Built:
    """Bring the vault up to date with `raw/`; a dry run only reports what that would change.

    Raises: Refused, UsageError, WorkerFailed and what the asker raises, when nothing was published; WriteFailed.
    """
    record, options, asker = Record(start.id_events), start.options, start.asker
    rescued = [] if options.dry_run else _sweep(start)
    scanned = scan(start, record.ids)
    record.add(scanned.events)
    engine = options.engine if asker is None else "extractive"  # beside a model it only stands in
    with Crew(engine, start.vault.root / "raw") as crew:
        documents, unread = read(start, crew, scanned.sources, scanned.changed, record.ids)
        extractions = None
        if asker is not None and start.verdicts is not None:
            asker.fallback = lambda request: embedded_reply(crew, request)
            attachments = Attachments(crew, start.vault.root)
            extractions = ask_for_claims(documents, record.ids, asker, start.verdicts, attachments)
        claims = verify_claims(documents, extractions, start.verdicts, record.ids, start.at)
        record.add(claims.events)
        pictures = place_pictures(start.vault, start.guard, crew, claims.gathered, options.fresh)
        trust = trust_sources(start, pictures.gathered, record.ids)
        record.add_facts(trust.facts, start.at)
        agents = kept_pages(start.vault, start.decided)
        concepts, history = _concepts(start, pictures.gathered, trust, agents, record)
        changes = user_changes(start, record.ids)
        record.decisions += [*trust.decisions, *changes.decisions]
        writer = _writer(start, crew)
        written = _write(start, writer, concepts, history, claims, changes, record)
    notes, overlay = _render(start, written, concepts, history, agents)
    report = Report(
        notices=[*start.notices, *rescued, *scanned.notices, *claims.notices, *trust.kinship.notices],
        failures=[*scanned.failures, *unread, *claims.failures, *pictures.failures],
    )
    _report_written(report, written, writer)
    report.notices += [*written.agenda.notices, *overlay.notices, *pictures.notices]
    report.agent["pages"] = len(overlay.pages)
    _report_claims(report, claims, concepts, record.events, start.engine)
    wanted = Wanted(
        notes=notes,
        proposals=overlay.proposals,
        decks=written.cards.decks,
        assets=pictures.assets,
        claims=concepts.sources.claims,
        summaries=frozenset(concepts.sources.summaries.values()),
        words_before=claims.words_before,
        indexes=_indexes(start, written, concepts, pictures),
    )
    published = publish(start, wanted, record, changes.decks, report)
    if not options.dry_run:
        save_cache(start.guard, DIGESTS, scanned.digests)
        if pictures.cache is not None:
            save_cache(start.guard, images.CACHE, pictures.cache)
        if isinstance(writer.asker, EmbeddedAsker):
            writer.asker.save(start.guard)
        remember(start, published, report)
    return Built(report, pictures.gathered)


def _sweep(start: BuildInput) -> list[Diagnostic]:
    """Remove what killed processes left; return where an edit is that one of them was about to replace."""
    start.guard.sweep()
    what, hint = "an edit that a killed process held in its hands", "see what of it you want, then delete it"
    return [Diagnostic(path, 0, "edited-meanwhile", what, hint) for path in start.guard.rescued]


def _concepts(
    start: BuildInput, gathered: Sequence[Gathered], trust: Trust, agents: Mapping[str, KeptPage], record: Record
) -> tuple[Concepts, History]:
    """Return the concepts of the sources with their contradictions, and what the ledger knows of them."""
    claims = source_claims(gathered, understood=start.asker is not None)
    rulings, doubts = match_names(start, claims, record.ids)
    record.add(doubts)
    resolution = resolve_concepts(start, claims, record.ids, rulings, agents)
    record.add(resolution.events)
    sources = Sources(
        gathered,
        claims={c.id: c for g in gathered for c, _ in g.claims},
        authority=trust.authority,
        kinship=trust.kinship,
        addresses={origin.path: origin.address for origin in origins_in(start.decided)},
        former_paths=record.ids.present_key,
    )
    history = History(record.ids, start.live_events, start.rulings, start.at, start.vault.settings.zone)
    if start.asker is None:
        return Concepts(sources, resolution), history
    return find_contests(sources, resolution, history, start.asker), history


def _writer(start: BuildInput, crew: Crew) -> Writer:
    """Return who writes articles and cards."""
    embedded = EmbeddedAsker(start.guard, crew, start.engine, start.progress, start.options.fresh)
    return Writer(start.asker or embedded, start.engine, start.verdicts, all_reasons(start.decided))


def _write(
    start: BuildInput,
    writer: Writer,
    concepts: Concepts,
    history: History,
    claims: Claims,
    changes: UserChanges,
    record: Record,
) -> Written:
    """Return articles, cards, gaps and topics; what is new of each is recorded before the next is written."""
    old_text = with_former(start.files.machine_text_of, record.ids)
    composed = compose_articles(concepts, history, writer)
    record.add(composed.events)
    cards = write_cards(
        composed,
        concepts,
        history,
        writer,
        deleted=changes.deleted,
        flagged=changes.flagged,
        words_before=claims.words_before,
        old_text=old_text,
    )
    record.add(cards.news.events)
    agenda = write_agenda(
        composed.articles,
        cards.news.cards,
        concepts,
        history,
        decided=changes.gaps,
        fills=fills_in(start.decided),
        old_page=old_text(GAPS) or "",
    )
    record.add(agenda.events)
    topics = write_topics(composed.articles, concepts, history, agenda.gaps, start.engine, by_model=writer.is_model)
    record.add(topics.events)
    return Written(composed, cards, agenda, topics)


def _render(
    start: BuildInput, written: Written, concepts: Concepts, history: History, agents: Mapping[str, KeptPage]
) -> tuple[dict[str, str], AgentPages]:
    """Return the text of all notes by path, agents' articles among them, and what became of those."""
    old_text = with_former(start.files.machine_text_of, history.ids)
    sources, articles = concepts.sources, written.composed.articles
    notes = {**written.agenda.pages, **topic_pages(written.topics, sources, history, old_text)}
    notes |= article_pages(articles, concepts.resolution, sources, history, old_text)
    overlay = agents_pages(agents, notes, sources, history, old_text)
    notes |= overlay.pages
    cited = cited_claims(articles, written.cards.decks.values()) | overlay.cited
    return notes | summary_pages(sources, history, cited, old_text), overlay


def _indexes(
    start: BuildInput, written: Written, concepts: Concepts, pictures: Pictures
) -> Callable[[Sequence[Event]], dict[str, str]]:
    """Return what makes the index pages once the builds are known, this one among them."""
    return lambda builds: index_pages(
        written.composed.articles,
        concepts.resolution,
        concepts.sources,
        [page.line for page in written.topics.pages],
        builds,
        start.vault.settings.zone,
        pictures.shown_in,
    )


def _report_written(report: Report, written: Written, writer: Writer) -> None:
    """Add to the report what was written, refused, asked and paid."""
    composed, news = written.composed, written.cards.news
    report.notices += composed.notices
    report.rejections += [*composed.rejections, *written.cards.rejections]
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
    if isinstance(writer.asker, Asker):
        _report_asked(report, writer.asker)
    else:
        report.rejections += writer.asker.rejections


def _report_asked(report: Report, asker: Asker) -> None:
    """Add to the report what was asked and paid, and where the embedded engine stood in."""
    spent = asker.spent
    report.cost |= {"input_tokens": spent.sent, "output_tokens": spent.received, "usd": round(spent.usd, 6)}
    if spent.unpriced:
        report.cost["unpriced"] = True
    report.open = asker.open
    for request, why in asker.failed:
        what = f"the model gave no answer ({why}): the embedded engine's stands in"
        about = f"{request.type}: {clean_line(request.title)[:100]}"
        report.notices.append(Diagnostic(about, 0, "stood-in", what, "the next compile by a model asks again"))


def _report_claims(report: Report, claims: Claims, concepts: Concepts, events: Sequence[Event], engine: str) -> None:
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
