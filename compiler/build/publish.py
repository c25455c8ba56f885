"""The last step of a build: write the files that differ; propose versions of those that the user edited."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from compiler.agents.articles import WRITTEN_BY
from compiler.articles.page import Page, differing
from compiler.articles.renames import decks_of_cards, edited_cards, new_paths
from compiler.build.concepts import known_cards
from compiler.build.preview import PRODUCTS, Plan, preview_changes
from compiler.build.snapshot import REPORT, STAMPS, Snapshot, steady
from compiler.build.start import BuildInput, Record
from compiler.build.user_changes import UserChanges
from compiler.cards.decks import (
    DeckPlan,
    Fresh,
    Kinds,
    decks_after_moves,
    is_edited,
    merge_deck,
    render_deck,
    restamp,
    written_by_hand,
)
from compiler.cards.live_cards import live_cards
from compiler.index.steps import encoded
from compiler.model.changes import Blast
from compiler.model.report import Report
from vault.diagnostic import Diagnostic
from vault.errors import EditedMeanwhile, Refused
from vault.files.folder import sha256_hex
from vault.ids import CardId, ClaimId, digest12
from vault.inbox.events import Settled, settled_in
from vault.inbox.suggestion_events import Triage
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, PROPOSALS, SUMMARIES, TOPICS
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.article import without_page_links
from vault.model.claim import Claim
from vault.model.exhibit import ASSETS, embedded_assets, is_copy
from vault.model.frontmatter import body_of, human_edited, read_properties
from vault.model.summary import head_of, parse_summary, splice_claims
from vault.model.wikilink import citations
from vault.text.diff import line_of, sides

# Failures that time alone does not mend.
_LASTING = frozenset({"unreadable", "file-name", "not-utf-8", "conflict", "front-matter", "open-code"})
_ARTICLES = (f"{CONCEPTS}/", f"{TOPICS}/", f"{SUMMARIES}/", f"{ANSWERS}/")  # notes that a user may edit


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a build wants in the vault, by path: notes that users may edit, proposals, decks, pictures.

    `indexes` returns the index pages, given all builds; `claims` and `summaries` (paths without .md) are those of the
    sources that are there; `words_before` are the former words of claims that changed; `triage` is what the user
    decided about suggested cards.
    """

    notes: Mapping[str, Page]
    proposals: Mapping[str, str]
    decks: Mapping[str, DeckPlan]
    assets: Mapping[str, bytes | None]
    claims: Mapping[ClaimId, Claim]
    summaries: Container[str]
    words_before: Mapping[str, str]
    triage: Triage
    indexes: Callable[[Sequence[Event]], Mapping[str, str]]


def publish(start: BuildInput, wanted: Wanted, record: Record, changes: UserChanges, report: Report) -> Publisher:
    """Write ledgers, then files: a build killed between the two is completed by the next one. Return what was done.

    `changes` has the cards in each deck as the user left it. The report gets what is written; a dry run writes nothing,
    and the report gets what that would touch. Raises: WriteFailed.
    """
    decks, open_code = changes.decks, changes.open_code
    publisher = Publisher(start, report, settled_in(start.decided))
    publisher.pages(wanted.proposals)
    publisher.notes(wanted.notes)
    publisher.report_unsupported(wanted.notes, wanted.claims, wanted.summaries)
    ids = record.ids
    known, moved = known_cards([*start.id_events, *ledger.ordered(record.events)], ids), new_paths(ids, FLASHCARDS)
    former = {f"{FLASHCARDS}/{b.slug}.md" for i, b in ids.births.items() if b.slug and not ids.alive(i)}
    gone = {*former, *moved} - set(wanted.decks)
    put = {card: places - gone for card, places in decks_of_cards(start.live_events, ids).items()}
    current_decks = {
        path: cards
        if path not in gone or path in open_code
        else edited_cards(start.files.text_of(path) or "", path, known)
        for path, cards in decks.items()
    }
    ours = frozenset(f"{FLASHCARDS}/{slug}.md" for slug in ids.slugs("concept"))
    left = [path for path, plan in wanted.decks.items() if publisher.left.is_current(path, plan.inputs)]
    decks_wanted = _decks(wanted.decks, current_decks, put, moved, ids.retired, left)
    on_disk = [path for path in decks if path not in decks_wanted.left]
    inputs = {path: plan.inputs for path, plan in wanted.decks.items()}
    publisher.decks(
        decks_wanted.made, on_disk, known, ours, ids.retired, wanted.triage, wanted.claims, inputs, open_code
    )
    publisher.remove_proposals(known)
    builds: list[Event] = []
    if record.events or record.decisions:  # products that are merely written again are no news
        head: Event = {"v": 1, "type": "build", "id": start.at, "at": start.at, "command": start.options.command}
        builds.append(head | {"engine": start.engine, "words": report.summary})
    publisher.pages(wanted.indexes([*start.builds, *builds]))
    publisher.assets(wanted.assets, rebuilding=start.options.fresh)
    report.written = sorted([*publisher.writes, *publisher.removals])
    report.why = {path: publisher.why(path) for path in report.written}
    report.removed = sorted(publisher.removals)
    report.recorded = sum(event.get("of") != "gap" for event in [*record.events, *record.decisions])
    if start.options.dry_run:
        report.blast = _blast(start, record, wanted.words_before, publisher)
        return publisher
    for path, events in ((ledger.IDS, record.events), (ledger.DECISIONS, record.decisions), (ledger.BUILDS, builds)):
        lines = b"".join(ledger.encode(e) for e in events)
        publisher.appended[path] = len(lines)
        if lines:
            start.guard.append(path, lines)
    if start.asker is not None and start.asker.writer is not None and start.asker.writer.written:
        publisher.appended[start.asker.writer.path] = start.asker.writer.written
    publisher.write()
    return publisher


def _blast(start: BuildInput, record: Record, words_before: Mapping[str, str], publisher: Publisher) -> Blast:
    """Return what this build would touch."""
    new = {p: data.decode() for p, data in publisher.writes.items() if p.endswith(".md")}
    paths = [p.removeprefix(f"{PROPOSALS}/") for p in (*new, *publisher.removals) if p.endswith(".md")]
    return preview_changes(
        Plan(
            events=record.events,
            ids=record.ids,
            said_before=words_before,
            cards=live_cards(start.live_events, record.ids),
            old={p: start.files.text_of(p) for p in paths},
            new=new,
            removed=publisher.removals,
            files=frozenset(p for folder in PRODUCTS for p in start.vault.paths(folder, "")),
            open=start.asker.open if start.asker is not None else (),
        )
    )


def remember(start: BuildInput, published: Publisher, report: Report) -> None:
    """Write to the index how everything was left, so that the next build sees at once what changed."""
    # Without the long lists, which a later compile has none of.
    counts = {k: v for k, v in report.as_json().items() if k not in ("written", "why", "rejections")}
    after = steady(start.vault.root, start.vault.notes)
    published.left.save(after)
    # With `only`, other files may have changed unread: the next build must look at them. A reader's failure may be over
    # next time; what is wrong with a document stays wrong until it changes.
    is_lasting = all(f.code in _LASTING for f in report.failures)
    is_known = is_lasting and not start.options.only and _is_as_left(start, published, after)
    start.steps.set_state(**{REPORT: encoded(counts), STAMPS: after.text(start.engine) if is_known else b""})


def _is_as_left(start: BuildInput, published: Publisher, after: Snapshot) -> bool:
    """Return whether every file is as this build read or wrote it: nobody else changed one while it ran."""
    before, appended = start.before, published.appended
    others = after.changed_since(before) - {*published.writes, *published.removals, *appended}
    is_grown = all(after.size(p) == before.size(p) + n for p, n in appended.items())
    if others or after.flags != before.flags or not (is_grown and before.settled and after.settled):
        return False
    return all(start.guard.read(path) == data for path, data in published.writes.items())


@dataclass(frozen=True, slots=True)
class _Decks:
    """The decks that are to be written, by path, and those that are as they are to be."""

    made: Mapping[str, Fresh]
    left: frozenset[str]


def _decks(
    plans: Mapping[str, DeckPlan],
    on_disk: Mapping[str, Sequence[CardId]],
    put: Mapping[CardId, Collection[str]],
    heirs: Mapping[str, str],
    retired: Container[str],
    left: Iterable[str],
) -> _Decks:
    """Return the decks with each card in the file to which the user moved it; of those that are `left`, only such as a
    card was moved out of or into are made, such as hold a retired card, and such as a card returns to whose deck is
    removed.
    """
    wanted = {card: path for path, plan in plans.items() for card in plan.cards}
    touched = {heir for path, heir in heirs.items() if path in on_disk}
    there = {card for cards in on_disk.values() for card in cards}
    touched |= {path for card, path in wanted.items() if card not in there}
    for path, cards in on_disk.items():
        for card in cards:
            own = wanted.get(card, path)
            if own != path and not any(card in on_disk.get(place, ()) for place in put.get(card, ())):
                touched |= {own, path}
            elif card in retired:
                touched.add(path)
    kept = frozenset(left) - touched
    return _Decks(
        decks_after_moves({p: plan.fresh() for p, plan in plans.items() if p not in kept}, on_disk, put, heirs), kept
    )


class Left:
    """The pages as the last build left them: one whose inputs and file are the same need not be made again."""

    def __init__(self, start: BuildInput) -> None:
        self._start = start
        rows = () if start.options.fresh else start.steps.database.rows("SELECT path, inputs, stamp FROM page")
        self._known = {str(path): (bytes(inputs), str(stamp)) for path, inputs, stamp in rows}
        self._now: dict[str, tuple[bytes, str | None]] = {}  # the text where it was made

    def is_current(self, path: str, inputs: bytes) -> bool:
        """Return whether the page of these inputs is the file at `path`, which nobody has changed since."""
        stamp = self._start.before.stamps.get(path)
        is_same = bool(inputs) and stamp is not None and self._known.get(path) == (inputs, stamp)
        if is_same:
            self._now[path] = inputs, None
        return is_same

    def note(self, path: str, inputs: bytes, text: str) -> None:
        """Note what a page was made of."""
        if inputs:
            self._now[path] = inputs, text

    def why(self, path: str) -> str:
        """Return why a page was made, in a few words."""
        inputs, _ = self._now.get(path, (b"", None))
        if path not in self._start.before.stamps:
            return "there is no such page yet"
        if path not in self._known or not inputs:
            return "its text has changed" if not inputs else "the index does not record its sources"
        changed = differing(self._known[path][0], inputs)
        return f"changed: {', '.join(changed)}" if changed else "the file has changed since the last compile"

    def save(self, after: Snapshot) -> None:
        """Remember the pages whose text is that of their file, as it is `after` the build."""
        start = self._start
        rows = []
        for path, (inputs, text) in self._now.items() if after.settled else ():
            stamp = after.stamps.get(path)
            same = start.before.stamps.get(path) == stamp
            if stamp is not None and (same if text is None else start.guard.read(path) == text.encode()):
                rows.append((path, inputs, stamp))
        with start.steps.database.transaction():
            start.steps.database.run("DELETE FROM page")
            start.steps.database.run_many("INSERT INTO page VALUES(?, ?, ?)", rows)


@dataclass(slots=True)
class Publisher:
    """Plans the writes and removals of a build, then does them. Paths are the vault's."""

    start: BuildInput
    report: Report
    settled: Settled  # proposals that the user does not want to see again
    writes: dict[str, bytes] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    appended: dict[str, int] = field(default_factory=dict)  # ledger -> bytes that were added to it
    left: Left = field(init=False)
    _proposed: set[str] = field(default_factory=set)  # what this build proposes beside the user's files, new or not

    def __post_init__(self) -> None:
        self.left = Left(self.start)

    def is_not_utf8(self, path: str) -> bool:
        """Return whether a file is not UTF-8, and report it: writing it would lose bytes, so it is left as it is."""
        try:
            (self.start.files.bytes_of(path) or b"").decode()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            hint = "save it as UTF-8, then run `retain compile`"
            found = Diagnostic(path, line, "not-utf-8", "not UTF-8: left unchanged", hint)
            if found not in self.report.failures:
                self.report.failures.append(found)
            return True
        return False

    def notes(self, files: Mapping[str, Page]) -> None:
        """Plan the writing of articles, summaries and the agenda, and the removal of those that no claim supports."""
        counted = {CONCEPTS: self.report.articles, TOPICS: self.report.topics}
        for path, page in files.items():
            counts = counted.get(path.rpartition("/")[0])
            if self.left.is_current(path, page.inputs):
                if counts is not None:
                    counts["unchanged"] += 1
                continue
            text, old = page.text(), self.start.files.text_of(path)
            self.left.note(path, page.inputs, text)
            if counts is not None:
                counts["created" if old is None else "unchanged" if old == text else "updated"] += 1
            if old == text or self.is_not_utf8(path):
                continue
            self._report_damage(path, old or "")
            if path.startswith(_ARTICLES) and old is not None and self._is_edited(path, old):
                self._update_edited(path, text, old)
            else:
                self.writes[path] = text.encode()
        for folder in (CONCEPTS, TOPICS, SUMMARIES, ANSWERS):
            for path in self.start.vault.paths(folder, ".md"):
                text = self.start.files.text_of(path) or ""
                is_filed = folder == ANSWERS and read_properties(text).text(WRITTEN_BY) != "agent"  # not by a build
                if (
                    path not in files
                    and not is_filed
                    and not self.is_not_utf8(path)
                    and not self._is_edited(path, text)
                ):
                    self.removals.append(path)
                    if folder in counted:
                        counted[folder]["removed"] += 1

    def report_unsupported(self, files: Container[str], claims: Container[ClaimId], summaries: Container[str]) -> None:
        """Report articles that the user edited and that stay, though no claim that they cite is left.

        `claims` and `summaries` (paths without .md) are those of the sources that are there.
        """
        for path in (p for folder in (CONCEPTS, TOPICS) for p in self.start.vault.paths(folder, ".md")):
            text = "" if path in files else self.start.files.text_of(path) or ""
            cites = citations(text)
            if not cites or sides(text) is not None or not human_edited(text) or any(c.claim in claims for c in cites):
                continue
            gone = {c.summary for c in cites}
            why = "its source no longer exists" if len(gone) == 1 else "its sources no longer exist"
            if any(summary in summaries for summary in gone):
                why = "the text it cites is no longer in any source"
            what = f"this page was kept because you edited it, but no source supports it any more: {why}"
            hint = "restore the source, remove what cites it, or delete the page; then run `retain compile`"
            self.report.notices.append(Diagnostic(path, 0, "rests-on-nothing", what, hint))

    def _report_damage(self, path: str, old: str) -> None:
        """Report properties of a note that cannot be read: nobody knows what in it is the machine's, so it is left."""
        if sides(old) is None:
            hint = "correct it, or delete the file, then run `retain compile`"
            for problem in read_properties(old).problems:
                what = f"{problem.message}: left unchanged"
                self.report.failures.append(Diagnostic(path, problem.line, "front-matter", what, hint))

    def _update_edited(self, path: str, text: str, old: str) -> None:
        """Update the claims of a summary that the user edited, as citations lead to them; propose anything else."""
        now, there = parse_summary(text, path), parse_summary(old, path)
        if (
            path.startswith(SUMMARIES)
            and sides(old) is None
            and now.properties.text("id") == there.properties.text("id") != ""
        ):
            spliced = splice_claims(old, head_of(now), [c.claim for c in now.claims])
            if spliced != old:
                self.writes[path] = spliced.encode()
        else:
            self._propose(path, text, old)

    def _is_edited(self, path: str, old: str) -> bool:
        """Return whether the user wrote in the note.

        Of the two sides of a git conflict, one that the machine wrote is enough to rewrite the note. Where the user
        wrote in both, only the user can resolve it: that is reported.
        """
        both = sides(old)
        if both is None:
            return human_edited(old)
        if not all(human_edited(side) for side in both):
            return False
        self._report_conflict(path, old)
        return True

    def _report_conflict(self, path: str, text: str) -> None:
        """Report the git conflict markers that the caller found in `text` as a failure."""
        hint = "resolve the conflict in your editor, then run `retain compile`"
        self.report.failures.append(
            Diagnostic(path, line_of(text), "conflict", "it contains git conflict markers", hint)
        )

    def _report_open_code(self, path: str, line: int) -> None:
        """Report the code block of a deck that is not closed above the cards below it."""
        what = "this code block is not closed, so it hides the cards below it: left unchanged"
        hint = "close the code block with ``` above the next card, then run `retain compile`"
        self.report.failures.append(Diagnostic(path, line, "open-code", what, hint))

    def _propose(self, path: str, text: str, old: str) -> None:
        """Propose the machine's version of a note that the user edited, unless it says nothing new."""
        proposal = f"{PROPOSALS}/{path}"
        digest, last = (read_properties(each).text("generated") for each in (text, old))
        says_same = last in (digest, digest12(without_page_links(body_of(text))))  # older pages have no links
        if not says_same and not self.settled.page(path, digest):
            self._plan_proposal(proposal, text)

    def _plan_proposal(self, proposal: str, text: str) -> None:
        """Plan the writing of a proposal."""
        self._proposed.add(proposal)
        if self.start.files.text_of(proposal) != text:
            self.writes[proposal] = text.encode()

    def remove_proposals(self, known: Kinds) -> None:
        """Plan the removal of proposals that this build would not make.

        What they propose no longer holds, or is in the file by now. Proposals that the user edited stay, and so do
        those for files that could not be read.
        """
        unread = {d.path for d in self.report.failures}
        for folder in (CONCEPTS, TOPICS, SUMMARIES, ANSWERS, FLASHCARDS):
            for proposal in self.start.vault.paths(f"{PROPOSALS}/{folder}", ".md"):
                text = self.start.files.text_of(proposal) or ""
                if proposal in self._proposed or proposal.removeprefix(f"{PROPOSALS}/") in unread:
                    continue
                humans = is_edited(text, proposal, known) if folder == FLASHCARDS else human_edited(text)
                if not humans and not self.is_not_utf8(proposal):
                    self.removals.append(proposal)

    def decks(
        self,
        wanted: Mapping[str, Fresh],
        on_disk: Sequence[str],
        known: Kinds,
        ours: frozenset[str],
        gone: Container[str],
        triage: Triage,
        claims: Mapping[ClaimId, Claim],
        inputs: Mapping[str, bytes],
        open_code: Mapping[str, int],
    ) -> None:
        """Plan the writing of decks around what the user wrote in them. `inputs` are the digests of what each is of.

        `ours` are the paths of concepts' decks, `gone` the claims that no source has any more; `claims` are those of
        the sources that are there. `open_code` are the decks in which a code block hides cards, with its line: such a
        deck is left as it is, since a card written there might be in it twice.
        """
        withdrawn = triage.withdrawn
        for path in sorted({*on_disk, *wanted}):
            if self.is_not_utf8(path):
                continue
            if path in open_code:
                self._report_open_code(path, open_code[path])
                continue
            old = self.start.files.text_of(path)
            both = sides(old) if old is not None else None
            restamped = restamp(old, path, withdrawn, claims) if old is not None and withdrawn else old
            if old is not None and both is not None:
                # Words that the ledger has, too, are not lost when the deck is written again.
                bare = [restamp(side, path, triage.worded, claims) for side in both]
                if any(written_by_hand(side, path, known) for side in bare):
                    self._report_conflict(path, old)
                    continue
                merged, held_back = merge_deck(None, path, wanted.get(path), known, path in ours)
            else:
                merged, held_back = merge_deck(
                    restamped, path, wanted.get(path), known, path in ours, gone, self.settled
                )
            plan = inputs.get(path, b"")
            if merged is not None and not held_back and not written_by_hand(merged, path, known):
                self.left.note(path, plan, merged)
            if merged is None and old is not None:
                self.removals.append(path)
            elif merged is not None and merged != old:
                self.writes[path] = merged.encode()
            if held_back:
                self._plan_proposal(f"{PROPOSALS}/{path}", render_deck(wanted[path]))

    def why(self, path: str) -> str:
        """Return why a file is written or removed, in a few words."""
        return "no source supports it any more" if path in self.removals else self.left.why(path)

    def pages(self, files: Mapping[str, str]) -> None:
        """Plan the writing of pages that users do not edit."""
        self._proposed |= {path for path in files if path.startswith(f"{PROPOSALS}/")}
        self.writes |= {
            path: text.encode() for path, text in files.items() if self.start.files.bytes_of(path) != text.encode()
        }

    def assets(self, wanted: Mapping[str, bytes | None], *, rebuilding: bool = False) -> None:
        """Plan the copying of pictures (None: it is there), and the removal of copies that no note shows any more.

        A copy carries the digest of its bytes in its name; one that is cut short is written again. A file of other
        bytes may be a user's, and stays: a rebuild, which was to restore everything, says that it could not.
        """
        for path, data in wanted.items():
            there = self.start.files.bytes_of(path)
            if data is not None and (there is None or (there != data and data.startswith(there))):
                self.writes[path] = data
            elif there is not None and not is_copy(path, there):
                what = "has the name of a copied picture but different content: left unchanged"
                hint = "if the file is damaged, delete it and compile again; if it is yours, rename it"
                found = self.report.failures if rebuilding else self.report.notices
                found.append(Diagnostic(path, 0, "asset-edited", what, hint))
        lying = [path for path in self.start.vault.paths(ASSETS, "") if path not in wanted]
        unused = [path for path in lying if is_copy(path, self.start.files.bytes_of(path) or b"")]
        if unused:
            kept = self._embedded_assets()
            self.removals += [path for path in unused if path not in kept]

    def _embedded_assets(self) -> set[str]:
        """Return the assets that any note or deck will show after this build: the user may have embedded one."""
        paths = [
            p
            for folder in (CONCEPTS, TOPICS, SUMMARIES, ANSWERS, FLASHCARDS)
            for p in self.start.vault.paths(folder, ".md")
        ]
        notes = {p: self.start.files.text_of(p) or "" for p in paths if p not in self.removals}
        notes |= {p: data.decode("utf-8", "replace") for p, data in self.writes.items() if p.endswith(".md")}
        return {path for text in notes.values() for path in embedded_assets(text)}

    def write(self) -> None:
        """Write and remove what was planned. A file that was edited meanwhile stays, and is reported."""
        for done, (path, data) in enumerate(sorted(self.writes.items()), 1):
            self.start.progress({"event": "save", "done": done, "of": len(self.writes), "path": path})
            old = self.start.files.bytes_of(path)
            try:
                self.start.guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
            except EditedMeanwhile as error:
                self._report_edited(path, error, data if path.endswith(".md") else None)
        for path in self.removals:
            old = self.start.files.bytes_of(path)
            assert old is not None, "a file is removed only if this compile has read it"
            try:
                self.start.guard.remove(path, expect=sha256_hex(old))
            except EditedMeanwhile as error:
                self._report_edited(path, error)

    def _report_edited(self, path: str, error: EditedMeanwhile, ours: bytes | None = None) -> None:
        """Report a file that was edited while it was about to be written: it stays, ours is written beside it."""
        hint = "run `retain compile` again"
        if ours is not None and self.start.guard.exists(path):
            with suppress(Refused):  # no name is left for it: the next compile proposes it
                there = self.start.guard.lay_beside(path, ours, self.start.today)
                hint = f"retain's version is in {there}: compare the two, delete that file, then {hint}"
        self.report.notices.append(Diagnostic(path, 0, "edited-meanwhile", error.what, hint))
