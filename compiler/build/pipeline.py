"""One build, from `raw/` to the files of the vault, in eight steps: each takes values and returns values.

scan -> read -> consult -> claims -> concepts -> write -> render -> publish

The publisher runs them. It loads neither parser nor engine, which are in the reading processes, and writes through the
guard. The steps return ledger events; `Record` alone applies them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from compiler.agents.overlay import AgentPages, agents_pages
from compiler.agents.record import KeptPage, kept_pages
from compiler.articles.article import article_pages
from compiler.articles.compose import compose_articles
from compiler.articles.concepts import Concepts, find_contests, without_older_editions
from compiler.articles.history import History
from compiler.articles.images import Pictures, place_pictures
from compiler.articles.page import Page
from compiler.articles.renames import with_former_pages
from compiler.articles.sources import Sources
from compiler.articles.writer import Writer
from compiler.build.asked import question_gaps
from compiler.build.claims import Claims, verify_claims
from compiler.build.concepts import resolve_concepts, source_claims
from compiler.build.consult import claims_by_quote, clashes_in, consult_model, rulings_with_titles, with_rules
from compiler.build.publish import Wanted, publish, remember
from compiler.build.read import REPLIES, read
from compiler.build.reporting import Written, report_claims, report_written, unused_sources
from compiler.build.scan import remember as remember_files
from compiler.build.scan import scan
from compiler.build.start import BuildInput, Progress, Record, open_build
from compiler.build.trust import trust_sources
from compiler.build.user_changes import UserChanges, user_changes
from compiler.claims.extract import STEP as CLAIMS
from compiler.claims.extract import Gathered
from compiler.concepts.evidence import store_keys
from compiler.concepts.note_names import note_terms
from compiler.drafts.consult import Consulted
from compiler.index.steps import READING, Steps
from compiler.model.engine_names import EXTRACTIVE, FAMILY
from compiler.model.options import Options
from compiler.model.report import Report
from compiler.pages.agenda import write_agenda
from compiler.pages.decks import write_cards
from compiler.pages.indexes import answer_line, glossary, index_pages
from compiler.pages.summaries import cited_claims, summary_pages
from compiler.pages.topics import topic_pages, write_topics
from compiler.sources.notes import NoteFacts
from compiler.workers.engine_client import EmbeddedAsker
from compiler.workers.pool import WorkerPool
from vault.diagnostic import Diagnostic
from vault.errors import Refused
from vault.ids import ClaimId
from vault.inbox import suggestions
from vault.inbox.suggestion_events import Triage, changes_of_forms, triage_of
from vault.inbox.suggestions import Suggestion
from vault.layout import ANSWERS, GAPS, SUGGESTIONS
from vault.log import ledger
from vault.log.ledger import Event
from vault.log.provenance import fills_in, origins_in
from vault.model.wikilink import citations
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did, and the sources with their claims as it found them; `consulted` where a model was asked."""

    report: Report
    gathered: list[Gathered]
    consulted: Consulted | None = None


def build(start: BuildInput, crew: WorkerPool | None = None) -> Built:
    """As `_build`, and close the index that the build was opened with; `crew` are workers that were started ahead."""
    try:
        if crew is not None:
            return _build(start, crew)
        with WorkerPool("extractive", start.vault.root / "raw") as own:
            return _build(start, own)
    finally:
        start.steps.close()


def read_sources(vault: Vault, at: datetime, progress: Progress, steps: Steps) -> None:
    """Read all sources into the index of these steps, without compiling them.

    Raises: what a build raises; Refused where none can be read, as nothing is to be said of them then.
    """
    start = open_build(vault, Options(engine="agent", dry_run=True), FAMILY, at, progress, steps=steps)
    record = Record(start.id_events)
    scanned = scan(start, record.ids)
    with WorkerPool("extractive", vault.root / "raw") as crew:
        documents, unread = read(start, crew, scanned.sources, scanned.changed, record.ids)
    failures = [*scanned.failures, *unread, *(each.failure for each in documents if each.failure is not None)]
    if failures and not any(document.text or document.recorded for document in documents):
        first = failures[0]
        raise Refused(f"none of the sources can be read: {first.message}", where=first.path, hint=first.hint)
    remember_files(start, scanned)


def _build(start: BuildInput, crew: WorkerPool) -> Built:
    """Bring the vault up to date with `raw/`; a dry run only reports what that would change.

    Raises: Refused, UsageError, WorkerFailed and what the asker raises, when nothing was published; WriteFailed.
    """
    record = Record(start.id_events)
    rescued = [] if start.options.dry_run else _sweep(start)
    scanned = scan(start, record.ids)
    record.add(scanned.events)
    documents, unread = read(start, crew, scanned.sources, scanned.changed, record.ids)
    consulted = consult_model(start, documents, record.ids)
    cited = with_rules(consulted, crew, documents) if consulted is not None else None
    claims = verify_claims(documents, cited, record.ids, start.at, start.steps)
    record.add(claims.events)
    pictures = place_pictures(start.vault, start.guard, crew, claims.gathered, start.steps)
    agents = kept_pages(start.vault, start.decided)
    concepts = _concepts(start, consulted, pictures.gathered, agents, record, scanned.notes)
    changes = user_changes(start, record.ids)
    record.decisions += changes.decisions
    writer = _writer(start, crew, consulted, claims)
    triage = triage_of([*start.decided, *changes.decisions])
    written = _write(start, writer, concepts, claims, changes, triage, record)
    notes, overlay = _render(start, written, writer, concepts, agents)
    lines = IndexLines(glossary(writer, concepts), _answer_lines(start, overlay))
    wanted = _wanted(notes, overlay, written, concepts, pictures, claims, triage, lines)
    report = Report(
        notices=[*start.notices, *rescued, *scanned.notices, *claims.notices, *concepts.sources.kinship.notices],
        failures=[*scanned.failures, *unread, *claims.failures, *pictures.failures],
    )
    report_written(report, written, writer, start.asker, record.ids)
    report.notices += [*overlay.notices, *pictures.notices]
    report.agent["pages"] = len(overlay.pages)
    report_claims(report, claims, concepts, record.events, start.engine)
    report.unused = unused_sources(written, concepts)
    published = publish(start, wanted, record, changes, report)
    if not start.options.dry_run:
        remember_files(start, scanned)
        store_keys(start.steps)
        start.steps.save(forget=(READING, REPLIES, CLAIMS))
        _save_suggestions(start, written.cards.suggested, triage, report, by_model=writer.is_model)
        remember(start, published, report)
    return Built(report, pictures.gathered, consulted)


def _sweep(start: BuildInput) -> list[Diagnostic]:
    """Remove what killed processes left; return where an edit is that one of them was about to replace."""
    start.guard.sweep()
    what = "your edit, saved because retain was killed while replacing the file"
    hint = "copy what you want to keep, then delete this file"
    return [Diagnostic(path, 0, "edited-meanwhile", what, hint) for path in start.guard.rescued]


def _concepts(
    start: BuildInput,
    consulted: Consulted | None,
    gathered: Sequence[Gathered],
    agents: Mapping[str, KeptPage],
    record: Record,
    notes: Mapping[str, NoteFacts],
) -> Concepts:
    """Return the concepts of the sources with their contradictions; what is new of both is recorded."""
    trust = trust_sources(start, gathered, record.ids)
    record.add_facts(trust.facts, start.at)
    record.decisions += trust.decisions
    titles = {g.tracked.path: g.source.title for g in gathered if g.source is not None}
    claims = source_claims(gathered, consulted is not None, note_terms(start.vault, notes, titles))
    rulings = rulings_with_titles(consulted) if consulted is not None else start.rulings
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
    concepts = without_older_editions(Concepts(sources, resolution, history))
    if start.asker is None or consulted is None:
        return concepts
    return find_contests(concepts, start.asker, clashes_in(consulted, concepts))


def _writer(start: BuildInput, crew: WorkerPool, consulted: Consulted | None, claims: Claims) -> Writer:
    """Return who writes articles and cards."""
    embedded = EmbeddedAsker(start.steps, crew, EXTRACTIVE, start.progress)
    return Writer(embedded, start.engine, consulted, claims_by_quote(claims.gathered))


def _write(
    start: BuildInput,
    writer: Writer,
    concepts: Concepts,
    claims: Claims,
    changes: UserChanges,
    triage: Triage,
    record: Record,
) -> Written:
    """Return articles, cards, gaps and topics; what is new of each is recorded before the next is written."""
    old_text = with_former_pages(start.files.machine_text_of, record.ids)
    composed = compose_articles(concepts, writer)
    record.add(composed.events)
    cards = write_cards(
        composed,
        concepts,
        writer,
        deleted=changes.deleted,
        flagged=changes.flagged,
        words_before=claims.words_before,
        old_text=old_text,
        triage=triage,
        # A deck with git's conflict markers is written again, unless the user wrote in it.
        present=changes.present,
    )
    record.add(cards.news.events)
    asked = question_gaps(start.vault)
    agenda = write_agenda(
        composed.articles,
        cards.news.cards,
        concepts,
        writer,
        decided=changes.gaps,
        fills=fills_in(start.decided),
        old_page=old_text(GAPS) or "",
        asked=asked.open,
        answered=asked.filled,
    )
    record.add(agenda.events)
    clusters = writer.consulted.topics if writer.consulted is not None else None
    topics = write_topics(composed.articles, concepts, agenda.gaps, start.engine, clusters, start.steps)
    record.add(topics.events)
    return Written(composed, cards, agenda, topics)


def _render(
    start: BuildInput, written: Written, writer: Writer, concepts: Concepts, agents: Mapping[str, KeptPage]
) -> tuple[dict[str, Page], AgentPages]:
    """Return all notes by path, agents' articles among them, and what became of those."""
    old_text = with_former_pages(start.files.machine_text_of, concepts.history.ids)
    articles = written.composed.articles
    notes = {path: Page.of(text) for path, text in written.agenda.pages.items()}
    notes |= topic_pages(written.topics, concepts, old_text)
    notes |= article_pages(articles, concepts, old_text)
    overlay = agents_pages(agents, {path: notes[path].text() for path in agents if path in notes}, concepts, old_text)
    notes |= {path: Page.of(text) for path, text in overlay.pages.items()}
    cited = cited_claims(articles, written.cards.decks.values()) | overlay.cited | _cited_by_answers(start)
    return notes | summary_pages(concepts, articles, cited, writer, old_text), overlay


class IndexLines(NamedTuple):
    """Lines of the indexes: of terms that have no article, and of answers."""

    terms: Sequence[str]
    answers: Sequence[str]


def _cited_by_answers(start: BuildInput) -> set[ClaimId]:
    """Return the claims that the answers of the wiki cite."""
    texts = (start.files.machine_text_of(path) or "" for path in start.vault.paths(ANSWERS, ".md"))
    return {cite.claim for text in texts for cite in citations(text)}


def _answer_lines(start: BuildInput, overlay: AgentPages) -> list[str]:
    """Return the lines of the answers in the index, in order of their paths."""
    paths = {*start.vault.paths(ANSWERS, ".md"), *(p for p in overlay.pages if p.startswith(f"{ANSWERS}/"))}
    texts = {path: overlay.pages.get(path) or start.files.machine_text_of(path) or "" for path in paths}
    return [answer_line(path, texts[path]) for path in sorted(texts)]


def _wanted(
    notes: Mapping[str, Page],
    overlay: AgentPages,
    written: Written,
    concepts: Concepts,
    pictures: Pictures,
    claims: Claims,
    triage: Triage,
    lines: IndexLines,
) -> Wanted:
    """Return everything that is to be in the vault after the build."""

    def indexes(builds: Sequence[Event]) -> dict[str, str]:
        topics = [page.line for page in written.topics.pages]
        return index_pages(written.composed.articles, concepts, topics, builds, pictures.shown_in, *lines)

    return Wanted(
        notes=notes,
        proposals=overlay.proposals,
        decks=written.cards.decks,
        assets=pictures.assets,
        claims=concepts.sources.claims,
        summaries=frozenset(concepts.sources.summaries.values()),
        words_before=claims.words_before,
        triage=triage,
        indexes=indexes,
    )


def _save_suggestions(
    start: BuildInput, suggested: Sequence[Suggestion], triage: Triage, report: Report, *, by_model: bool
) -> None:
    """Save the cards that the user is offered; report forms of question that came into the queue or left it."""
    before = suggestions.queued_before(start.files.bytes_of(SUGGESTIONS))
    news = changes_of_forms(before, triage.queued) if before is not None and not by_model else ()
    report.notices += [Diagnostic(ledger.DECISIONS, 0, "form-queued", words) for words in news]
    suggestions.save(start.guard, suggested, queued=triage.queued)
