"""One build from `raw/` to files. The publisher: it loads neither parser nor engine, and writes through the guard."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

from compiler.agents.overlay import add_agents_pages
from compiler.agents.record import alive_events, kept_pages
from compiler.articles import catalogue, indexes
from compiler.articles.contested import settle_contests
from compiler.articles.images import Gallery
from compiler.articles.layout import Layout
from compiler.articles.reading_list import write_reading_list
from compiler.articles.renames import edited_cards, heirs, held, places_of, with_former
from compiler.articles.summaries import write_summaries
from compiler.articles.topic_pages import write_topics
from compiler.build.gather import Gathering, RawDigests, cache_path
from compiler.build.preview import PRODUCTS, Plan, blast_of
from compiler.build.publish import Publisher
from compiler.build.snapshot import CACHE, STAMPS, Snapshot, steady
from compiler.cards.cards import live_cards
from compiler.cards.decks import left_in, standing_in, where_they_stand
from compiler.cards.gaps import decisions_in
from compiler.claims.gathered import Gathered
from compiler.concepts.copies import Kinship, kinship
from compiler.concepts.decisions import rulings_of
from compiler.concepts.match_questions import doubts, questions, ruled, survey, tell_doubts
from compiler.concepts.resolve import Resolution, SourceClaims, resolve
from compiler.concepts.rulings import Rulings
from compiler.gates.checks import Verdicts
from compiler.model.changes import Blast
from compiler.model.engine_names import FAMILY
from compiler.model.options import Options
from compiler.model.report import Report
from compiler.replies.asker import Asker, Backend, KeepsNotes
from compiler.replies.journal import Entry, Journal, JournalWriter
from compiler.replies.prompts import prompt_id
from compiler.sources import inventory
from compiler.sources.cache_files import overwrite, save_cache
from compiler.workers.embedded import embedded
from compiler.workers.engine_client import Replies
from compiler.workers.pool import Crew
from vault.diagnostic import Diagnostic
from vault.errors import Refused, UsageError
from vault.evidence.flags import UNWANTED, flags_of
from vault.files.conflicts import sides
from vault.files.guard import Scope
from vault.ids import CardId, GapId, SourceId, ulid
from vault.inbox.events import all_reasons, settled_in
from vault.layout import FLASHCARDS, GAPS, PROPOSALS, SUMMARIES
from vault.log import ledger
from vault.log.clock_check import instants_of, ledger_ahead
from vault.log.ledger import parse_instant
from vault.log.provenance import fills_in, origins_in
from vault.model.card import CardKind, parse_deck
from vault.model.frontmatter import read_properties
from vault.model.gaps import GapStatus, ticks
from vault.text.sanitize import clean_line
from vault.vault import Vault

_LASTING = frozenset(
    {"unreadable", "file-name", "not-utf-8", "conflict", "front-matter"}
)  # failures that time alone does not mend


class Pipeline:
    """The state of one build: what the ledgers say, what it learnt, and what it will write."""

    def __init__(
        self,
        vault: Vault,
        options: Options,
        engine: str,
        at: datetime,
        progress: Callable[[dict[str, Any]], None],
        backend: Backend | None = None,
        staged: Iterable[Entry] = (),
    ) -> None:
        """`backend` answers what the journal does not; `staged` are replies that are not in the journal yet."""
        self.vault, self.options, self.engine, self.progress = vault, options, engine, progress
        self.before = steady(vault.root)  # first of all: what changes from here on was perhaps not read
        self.guard = vault.guard(Scope.PUBLISHER)
        self.report = Report()
        today = at.astimezone(vault.settings.zone).date()
        self.publisher = Publisher(vault, self.guard, self.report, progress, today)
        self.id_events = self._ledger(ledger.IDS)
        self.decided = ledger.ordered([*self._ledger(ledger.DECISIONS), *options.deeds])
        self.rulings = rulings_of(self.decided)
        self.publisher.settled = settled_in(self.decided)
        self.ids = ledger.fold(self.id_events)
        self.card_events = alive_events(self.id_events, self.decided)  # less what the human took back of an agent's
        self.builds = self._ledger(ledger.BUILDS)
        # Never before what the ledgers know: a clock that is behind must not put a build into the past of another.
        self.at = ledger.after([*self.id_events, *self.decided, *self.builds], at)
        known = {ledger.IDS: self.id_events, ledger.DECISIONS: self.decided, ledger.BUILDS: self.builds}
        for path, events in known.items():
            self.report.notices += ledger_ahead(path, instants_of(events), at, vault.settings.zone)
        self.events: list[ledger.Event] = []  # for ids.jsonl
        self.decisions: list[ledger.Event] = []  # for decisions.jsonl
        self.said_before: dict[str, str] = {}  # claim -> its words before this build found others in their place
        self.appended: dict[str, int] = {}  # ledger -> bytes that this build added to it
        self.asker: Asker | None = None
        self.verdicts = Verdicts()
        self.gathered: list[Gathered] = []  # the sources as this build found them
        if engine == FAMILY:
            self._open_journal(backend, staged)

    def _open_journal(self, backend: Backend | None, staged: Iterable[Entry]) -> None:
        journal, found = Journal.of(self.vault)
        self.report.notices += found
        for entry in staged:
            journal.learn(entry)
        dry = self.options.dry_run
        run = ulid(int(parse_instant(self.at).timestamp() * 1000), os.urandom(10))
        writer = None if dry else JournalWriter(self.guard, run)
        self.verdicts = Verdicts.of(journal)
        if writer is not None and isinstance(backend, KeepsNotes):
            note = writer.note
            backend.opened(journal.notes, lambda event: note({**event, "at": self.at}))
        mend = backend is not None or (dry and self.options.engine == "claude")
        self.asker = Asker(
            journal, writer, backend, self.at, self.progress, dry=dry, renew=self.options.renew, mend=mend
        )
        if self.options.engine == "agent":
            self.asker.hint = "`retain agent next` hands them out as work orders (see AGENTS.md, section 6)"

    def run(self) -> Report:
        """Gather, resolve, lay out, publish."""
        if not self.options.dry_run:
            self._sweep()
        digests = RawDigests(self.vault, time.time_ns())
        sources, events = inventory.track(self._raw_files(digests), self.ids, self.at)
        self._learn(events)
        changed = frozenset(str(e["id"]) for e in events)
        reads = self.options.engine if self.asker is None else "extractive"  # beside a model it only stands in
        with Crew(reads, self.vault.root / "raw") as crew:
            if self.asker is not None:
                self.asker.fallback = lambda request: embedded(crew, request)
            gathered = self._gathered(crew, sources, changed)
            gallery = Gallery(self.vault, self.guard, crew, gathered, self.options.fresh)
            gathered = self.gathered = gallery.hang()
            layout = self._layout(gathered)
            replies = Replies(self.guard, crew, self.engine, self.progress, self.options.fresh)
            ask = self.asker.ask if self.asker is not None else replies.ask
            settle_contests(layout)
            layout.compose_articles(ask)
            news = layout.write_decks(ask, self._deleted(), self._flagged())
            self.report.rejections += replies.rejections
            self._tell_asked()
        self._learn(layout.take_events())
        layout.write_agenda(news, self._gap_decisions())
        write_reading_list(layout)
        self._learn(layout.take_events())
        write_topics(layout)
        self._learn(layout.take_events())
        layout.write_articles()
        self.publisher.pages(add_agents_pages(layout, kept_pages(self.vault, self.decided)))
        write_summaries(layout)
        self.report.notices += gallery.notices
        self.report.failures += gallery.failures
        self._count(gathered, layout)
        self._publish(layout, gallery)
        if not self.options.dry_run:
            digests.save(self.guard)
            gallery.save()
            replies.save()
            self._remember()
        return self.report

    def _tell_asked(self) -> None:
        """What was asked and paid, and where the embedded engine stood in."""
        if self.asker is None:
            return
        spent = self.asker.spent
        self.report.cost |= {"input_tokens": spent.sent, "output_tokens": spent.received, "usd": round(spent.usd, 6)}
        if spent.unpriced:
            self.report.cost["unpriced"] = True
        self.report.open = self.asker.open
        for request, why in self.asker.failed:
            what = f"the model gave no answer ({why}): the embedded engine's stands in"
            about = f"{request.type}: {clean_line(request.title)[:100]}"
            self.report.notices.append(Diagnostic(about, 0, "stood-in", what, "the next compile by a model asks again"))
        if self.asker.writer is not None and self.asker.writer.written:
            self.appended[self.asker.writer.path] = self.asker.writer.written

    def _sweep(self) -> None:
        """Clear away what killed processes left; an edit that was in their hands is named, and where it stands now."""
        self.guard.sweep()
        for path in self.guard.rescued:
            what, hint = "an edit that a killed process held in its hands", "see what of it you want, then delete it"
            self.report.notices.append(Diagnostic(path, 0, "edited-meanwhile", what, hint))

    def _ledger(self, path: str) -> list[ledger.Event]:
        events, found = self.vault.ledger_events(path)
        self.report.notices += found
        return ledger.ordered(events)

    def _learn(self, events: Sequence[ledger.Event]) -> None:
        self.events += events
        for event in ledger.ordered(events):
            self.ids.apply(event)

    def _raw_files(self, digests: RawDigests) -> dict[str, str]:
        """Vault path -> SHA-256 of every file below raw/.

        A file that cannot be read just now keeps the bytes it last had: not to be seen is not to be gone. With
        `only`, so do the others.
        """
        seen = inventory.scan(self.vault.root, "raw")
        self.report.notices += seen.notices
        self.report.failures += seen.failures
        living = sum(b.noun == "source" and self.ids.alive(i) for i, b in self.ids.births.items())
        if living and not seen.files and not seen.unknown:
            what = f"nothing is in raw/, and the wiki rests on {living} sources from there"
            raise Refused(what, where="raw", hint="bring the files back (is a disk not mounted?); nothing was changed")
        unknown = set(self.options.only) - {f.path for f in seen.files}
        if unknown:
            raise UsageError("no such file in raw/", where=sorted(unknown)[0], hint="`retain add FILE` puts one there")
        files: dict[str, str] = {}
        for file in seen.files:
            digest = self._digest(file, digests)
            if digest is not None and self.options.only and file.path not in self.options.only:
                digest = self._known_before(file.path, digest)
            if digest is not None:
                files[file.path] = digest
        below = tuple(f"{folder}/" for folder in seen.unknown)
        hidden = (key for noun, key in self.ids.keys if noun == "source" and key.startswith(below)) if below else ()
        return files | {path: before for path in hidden if (before := self._last_bytes(path)) is not None}

    def _last_bytes(self, path: str) -> str | None:
        """The SHA-256 of what the file held at the last build; None for one that is new, or was gone."""
        id_ = self.ids.keys.get(("source", path))
        before = self.ids.changed.get(id_, {}).get("digest") if id_ and self.ids.alive(id_) else None
        return str(before) if before is not None else None

    def _known_before(self, path: str, now: str) -> str | None:
        """The bytes of the last build, if what was read then is still known; `now` if not; None for a new file."""
        before = self._last_bytes(path)
        if before is None:
            return None
        return before if self.guard.exists(cache_path(path, before, self.engine)) else now

    def _digest(self, file: inventory.RawFile, digests: RawDigests) -> str | None:
        try:
            file.path.encode()
            return digests.of(file)
        except UnicodeEncodeError:
            shown = file.path.encode("utf-8", "replace").decode()
            self.report.failures.append(Diagnostic(shown, 0, "file-name", "the name is not UTF-8", "rename the file"))
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
            self.report.failures.append(Diagnostic(file.path, 0, "not-now", reason))
            return self._last_bytes(file.path)

    def _gathered(self, crew: Crew, sources: Sequence[inventory.Tracked], changed: frozenset[str]) -> list[Gathered]:
        """Every source with its claims; claims of the ledger that no source bears out any more are retired."""
        gathering = Gathering(
            vault=self.vault,
            guard=self.guard,
            crew=crew,
            engine=self.engine,
            ids=self.ids,
            at=self.at,
            progress=self.progress,
            dry_run=self.options.dry_run and not self.options.keep_read,
            fresh=self.options.fresh,
            retried=frozenset(self.options.only),
            changed=changed,
            asker=self.asker,
            verdicts=self.verdicts,
        )
        gathered = gathering.run(sources)
        self._learn(gathering.events)
        self.said_before = gathering.said_before
        self.report.failures += gathering.failures
        self.report.notices += gathering.notices
        present = {c.id for g in gathered for c, _ in g.claims}
        born = self.ids.births.items()
        gone = [i for i, b in born if b.noun == "claim" and self.ids.alive(i) and i not in present]
        retire: ledger.Event = {"v": 1, "type": "retire", "of": "claim", "at": self.at, "reason": "its words are gone"}
        self._learn([retire | {"id": i} for i in gone])
        return gathered

    def _layout(self, gathered: list[Gathered]) -> Layout:
        resolution = self._resolution(gathered)
        authority = self._authority(gathered)
        self._learn(resolution.events)
        return Layout(
            gathered=gathered,
            resolution=resolution,
            ids=self.ids,
            id_events=self.card_events,
            at=self.at,
            zone=self.vault.settings.zone,
            engine=self.engine,
            authority=authority,
            kinship=self._kinship(gathered, authority),
            report=self.report,
            read_old=with_former(self.publisher.settled_text_of, self.ids),
            fills=fills_in(self.decided),
            said_before=self.said_before,
            addresses={origin.path: origin.address for origin in origins_in(self.decided)},
            rulings=self.rulings,
            reasons=all_reasons(self.decided),
            asker=self.asker,
            verdicts=self.verdicts,
        )

    def _resolution(self, gathered: list[Gathered]) -> Resolution:
        sources = [
            SourceClaims(
                SourceId(g.tracked.id),
                g.source.title,
                g.source.language,
                g.claims,
                g.extracted.terms,
                understood=self.asker is not None,
            )
            for g in gathered
            if g.source is not None and g.extracted is not None
        ]
        text_of, agents = self.publisher.settled_text_of, kept_pages(self.vault, self.decided)
        stay = held(self.ids, self.rulings, text_of, self._known_cards(), agents) if self._may_rename() else frozenset()
        return resolve(sources, self.ids, self.at, self._with_answers(sources), stay)

    def _with_answers(self, sources: Sequence[SourceClaims]) -> Rulings:
        """The human's rulings with a model's on names that no rule settles. Raises: what the asker raises."""
        if self.asker is None:
            return self.rulings
        asker, seen = self.asker, survey(sources, self.ids, self.rulings)
        prompt = prompt_id("match")
        asked = questions(seen, self.rulings, lambda request: asker.journal.find(request, prompt) is not None)
        replies = asker.ask([question.request for question in asked], "match")
        self._learn(tell_doubts(doubts(asked, replies), self.ids, self.at))
        return ruled(seen, asked, replies, self.rulings)

    def _may_rename(self) -> bool:
        """Whether a human ever named a concept otherwise than its sources do."""
        return bool(self.rulings.names or self.rulings.undone)

    def _authority(self, gathered: list[Gathered]) -> dict[SourceId, int]:
        """How far each source is trusted: as the human last said, by `add` or by editing its summary; else 1, a chat 0.

        What was said of a path holds for the source, wherever its file has moved since.
        """
        owner = {str(e.get("key")): str(e.get("id")) for e in self.id_events if e.get("of") == "source" and "key" in e}
        owner |= {path: g.tracked.id for g in gathered for path in g.tracked.paths}
        said = [e for e in self.decided if e.get("type") == "authority" and e.get("authority") in (0, 1, 2, 3)]
        given = {str(e.get("source") or owner.get(str(e.get("path")))): int(e["authority"]) for e in said}
        usual = {str(g.tracked.id): _usual_authority(g) for g in gathered}
        for g in gathered:
            id_ = g.tracked.id
            last = self.ids.changed.get(id_, {}).get("authority", usual[id_])
            edited = read_properties(self.publisher.settled_text_of(f"{SUMMARIES}/{g.tracked.slug}.md") or "")
            said_there = g.source is not None and edited.text("authority") in ("0", "1", "2", "3")
            if said_there and int(edited.text("authority")) != last:
                given[id_] = int(edited.text("authority"))
                event = {
                    "v": 1,
                    "type": "authority",
                    "source": id_,
                    "authority": given[id_],
                    "at": self.at,
                    "via": "summary",
                }
                self.decisions.append(event)
            if given.get(id_, usual[id_]) != last:
                self._take_down(id_, "authority", given.get(id_, usual[id_]))
        return {SourceId(id_): authority for id_, authority in (usual | given).items()}

    def _kinship(self, gathered: list[Gathered], authority: dict[SourceId, int]) -> Kinship:
        """Which sources are copies of which: then their summaries say so, and they count as one."""
        text_of = self.publisher.settled_text_of
        found = kinship(gathered, authority, self.decided, self.ids, text_of, self.at)
        self.decisions += found.decisions
        self.report.notices += found.notices
        for g in gathered:
            told = found.as_told(g.tracked.id)
            if g.source is not None and told != self.ids.changed[g.tracked.id].get("copy_of", ""):
                self._take_down(g.tracked.id, "copy_of", told)
        self.report.sources["copies"] = len(found.copies)
        return found

    def _take_down(self, source: str, key: str, value: str | int) -> None:
        """Keep what this build knows of a source in its change event: there is one a build, or the last would win."""
        change = next((e for e in self.events if e["type"] == "change" and e["id"] == source), None)
        if change is not None:
            change[key] = value
        else:
            self._learn([self.ids.changed[source] | {"at": self.at, key: value}])

    def _gap_decisions(self) -> dict[GapId, GapStatus]:
        """The human's decisions on gaps, ticks made since the last build among them."""
        known = decisions_in(self.decided)
        for gap in ticks(self.publisher.text_of(GAPS) or ""):
            if known.get(gap, GapStatus.PLANNED) is GapStatus.PLANNED:
                event = {"v": 1, "type": "gap", "gap": gap, "decision": "resolve", "at": self.at, "via": "tick"}
                self.decisions.append(event)
        return decisions_in([*self.decided, *self.decisions])

    @cached_property
    def _decks_on_disk(self) -> dict[str, list[CardId]]:
        """The cards with an id in each file of flashcards, as this build found them."""
        paths = self.vault.paths(FLASHCARDS, ".md")
        decks = {p: parse_deck(self.publisher.text_of(p) or "", p) for p in paths}
        return {p: [c.id for c in deck.cards if c.id is not None] for p, deck in decks.items()}

    def _deleted(self) -> frozenset[CardId]:
        """Cards that the human took out of a deck, now or before, and has not put back: they don't come again.

        What the machine left in a deck, the deck itself says. A card counts as deleted if its comment stands
        nowhere below the folder; a whole file that is gone is no such wish, as products may be deleted.
        """
        texts = {path: self.publisher.text_of(path) or "" for path in self._decks_on_disk}
        standing = {id_ for text in texts.values() for id_ in standing_in(text)}
        left = {id_ for text in texts.values() if sides(text) is None for id_ in left_in(text)}
        missing = {id_ for id_ in left - standing if self.ids.alive(id_)}
        if missing:
            deeper = inventory.scan(self.vault.root, FLASHCARDS).files
            others = (self.publisher.text_of(f.path) or "" for f in deeper if f.path not in texts)
            missing -= {id_ for text in others for id_ in standing_in(text)}
        events = (e for e in self.decided if e.get("type") == "card-deleted")
        before = {CardId(str(e.get("card"))) for e in events} - standing
        self.decisions += [{"v": 1, "type": "card-deleted", "card": i, "at": self.at} for i in sorted(missing - before)]
        return frozenset(before | missing)

    def _flagged(self) -> dict[CardId, str]:
        """The machine's cards that the human flagged as ones not to be asked, and why; what is new of it is decided.

        A card that the human has edited is the human's, whatever was wrong with it before.
        """
        flags = {card: reason for card, reason in flags_of(self.vault).items() if reason.casefold() in UNWANTED}
        decks = (parse_deck(self.publisher.text_of(path) or "", path) for path in self._decks_on_disk if flags)
        edited = {card.id for deck in decks for card in deck.cards if card.human_edited}
        found = {card: reason for card, reason in flags.items() if card in self.ids.births and card not in edited}
        before: dict[str, str] = {}
        for event in self.decided:
            if event.get("type") == "card-flag":
                before[str(event.get("card"))] = str(event.get("reason", ""))
        for card in sorted({*found, *(c for c, reason in before.items() if reason)}):
            if (reason := found.get(CardId(card), "")) != before.get(card, ""):
                event = {"v": 1, "type": "card-flag", "card": card, "reason": reason, "at": self.at, "via": "log"}
                self.decisions.append(event)
        return found

    def _known_cards(self) -> dict[CardId, CardKind | None]:
        """Every card that the machine ever made, with the kind it has now."""
        events = [*self.id_events, *ledger.ordered(self.events)]
        # Those that a human wrote or brought home from Anki are in the ledger, too, and none of the machine's.
        theirs = {e.get("id") for e in events if str(e.get("key", "")).startswith(("human:", "anki:"))}
        cards = (e.get("id") for e in events if e.get("of") == "card")
        ever: dict[CardId, CardKind | None] = {CardId(str(id_)): None for id_ in cards if id_ not in theirs}
        return ever | {c.id: c.kind for c in live_cards(events, self.ids).values()}

    def _count(self, gathered: list[Gathered], layout: Layout) -> None:
        sources, claims = self.report.sources, self.report.claims
        for g in gathered:
            if g.recorded:
                sources["recorded"] += 1
            elif g.source is not None:
                sources["read" if g.fresh else "unchanged"] += 1
        sources["failed"] = len(self.report.failures)
        news = [e["type"] for e in self.events if e["of"] == "claim"]
        claims["added"] = sum(t in ("birth", "revive") for t in news)
        claims["kept"] = len(layout.claims) - claims["added"]
        claims["retracted"] = news.count("retire")
        refused = [
            replace(r, path=g.tracked.path, sources=g.tracked.paths, said_by=r.said_by or self.engine)
            for g in gathered
            if g.extracted
            for r in g.extracted.rejections
        ]
        claims["rejected"] = len(refused)
        self.report.rejections += refused

    def _publish(self, layout: Layout, gallery: Gallery) -> None:
        """Ledgers first, then files: a build killed between the two is completed by the next one."""
        publisher = self.publisher
        on_disk = self._decks_on_disk
        publisher.notes(layout.files)
        publisher.name_bare(layout.files, layout.claims, frozenset(layout.shelf.summaries.values()))
        known, moved = self._known_cards(), heirs(self.ids, FLASHCARDS)
        gone = {f"{FLASHCARDS}/{b.slug}.md" for i, b in self.ids.births.items() if b.slug and not self.ids.alive(i)}
        gone = {*gone, *moved} - set(layout.decks)
        put = {card: places - gone for card, places in places_of(self.card_events, self.ids).items()}
        standing = {
            path: ids if path not in gone else edited_cards(publisher.text_of(path) or "", path, known)
            for path, ids in on_disk.items()
        }
        ours = frozenset(f"{FLASHCARDS}/{slug}.md" for slug in self.ids.slugs("concept"))
        decks = where_they_stand(layout.decks, standing, put, moved)
        publisher.decks(decks, list(on_disk), known, ours, self.ids.retired)
        publisher.withdraw(known)
        news: list[ledger.Event] = []
        if self.events or self.decisions:  # products that are merely written again are no news
            words = indexes.summary_words(self.report.counts())
            head = {"v": 1, "type": "build", "id": self.at, "at": self.at, "command": self.options.command}
            news.append(head | {"engine": self.engine, "words": words})
        publisher.pages(catalogue.pages(layout, [*self.builds, *news], gallery.shown_in))
        publisher.assets(gallery.assets, rebuilding=self.options.fresh)
        self.report.written = sorted([*publisher.writes, *publisher.removals])
        self.report.removed = sorted(publisher.removals)
        if self.options.dry_run:
            self.report.blast = self._blast()
            return
        for path, events in ((ledger.IDS, self.events), (ledger.DECISIONS, self.decisions), (ledger.BUILDS, news)):
            lines = b"".join(ledger.encode(e) for e in events)
            self.appended[path] = len(lines)
            if lines:
                self.guard.append(path, lines)
        publisher.write()

    def _blast(self) -> Blast:
        """What this build would touch."""
        publisher = self.publisher
        new = {p: data.decode() for p, data in publisher.writes.items() if p.endswith(".md")}
        paths = [p.removeprefix(f"{PROPOSALS}/") for p in (*new, *publisher.removals) if p.endswith(".md")]
        files = frozenset(p for folder in PRODUCTS for p in self.vault.paths(folder, ""))
        return blast_of(
            Plan(
                events=self.events,
                ids=self.ids,
                said_before=self.said_before,
                cards=live_cards(self.card_events, self.ids),
                old={p: publisher.text_of(p) for p in paths},
                new=new,
                removed=publisher.removals,
                files=files,
                open=self.asker.open if self.asker is not None else (),
            )
        )

    def _remember(self) -> None:
        """Take down how everything was left, so that the next build sees at a glance what changed."""
        told = {k: v for k, v in self.report.as_json().items() if k not in ("written", "rejections")}
        save_cache(self.guard, CACHE, {"report": told})  # less the long lists, of which a later compile has none
        after = steady(self.vault.root)
        # With `only`, other files may have changed unread: the next build must look at them.
        # A reader's bad day may be over next time; what is wrong with a document stays wrong until it changes.
        settled = all(f.code in _LASTING for f in self.report.failures)
        known = settled and not self.options.only and self._all_as_left(after)
        overwrite(self.guard, STAMPS, after.text(self.engine) if known else b"")

    def _all_as_left(self, after: Snapshot) -> bool:
        """Whether every file is as this build read or wrote it: nobody else changed one while it ran."""
        writes, removals = self.publisher.writes, self.publisher.removals
        theirs = after.changed_since(self.before) - {*writes, *removals, *self.appended}
        grown = all(after.size(p) == self.before.size(p) + n for p, n in self.appended.items())
        if theirs or after.flags != self.before.flags or not (grown and self.before.settled and after.settled):
            return False
        return all(self.guard.read(path) == data for path, data in writes.items())


def _usual_authority(source: Gathered) -> int:
    """How far a source is trusted of which the human said nothing: what a machine said in a chat is hearsay."""
    return 0 if source.source is not None and source.source.reader.startswith("chat/") else 1
