"""The text of files to the files themselves: what differs is written, what a human edited is only proposed to."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from compiler.cards.decks import KEYS, Fresh, Kinds, merge_deck, render_deck, written_by_hand
from compiler.model.report import Report
from vault.diagnostic import Diagnostic
from vault.errors import EditedMeanwhile, Refused
from vault.files.conflicts import line_of, sides
from vault.files.folder import sha256_hex
from vault.files.guard import Guard
from vault.ids import ClaimId
from vault.inbox.events import Settled
from vault.layout import CONCEPTS, FLASHCARDS, PROPOSALS, SUMMARIES, TOPICS
from vault.model.exhibit import ASSETS, embedded_assets, is_copy
from vault.model.frontmatter import foreign_properties, human_edited, read_properties
from vault.model.summary import head_of, parse_summary, splice_claims
from vault.model.wikilink import citations
from vault.vault import Vault

_ARTICLES = (f"{CONCEPTS}/", f"{TOPICS}/", f"{SUMMARIES}/")  # notes that a human may edit


@dataclass(slots=True)
class Publisher:
    """Compares with what lies on disk, once read; then writes. Paths are the vault's."""

    vault: Vault
    guard: Guard
    report: Report
    progress: Callable[[dict[str, Any]], None]
    today: date
    settled: Settled = field(default_factory=Settled)  # what the human does not want to be offered again
    writes: dict[str, bytes] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    _read: dict[str, bytes | None] = field(default_factory=dict)
    _proposed: set[str] = field(default_factory=set)  # what this build lays beside a human's file, new or not

    def bytes_of(self, path: str) -> bytes | None:
        """What the file held when this build first looked."""
        if path not in self._read:
            self._read[path] = self.guard.read(path)
        return self._read[path]

    def text_of(self, path: str) -> str | None:
        data = self.bytes_of(path)
        return data.decode("utf-8", "replace") if data is not None else None

    def is_no_text(self, path: str) -> bool:
        """Whether the file holds bytes that are not UTF-8: writing it would lose them, so it is named and left."""
        try:
            (self.bytes_of(path) or b"").decode()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            hint = "save it as UTF-8, then run `retain compile`"
            found = Diagnostic(path, line, "not-utf-8", "not UTF-8: left as it is", hint)
            if found not in self.report.failures:
                self.report.failures.append(found)
            return True
        return False

    def settled_text_of(self, path: str) -> str | None:
        """The note's text; of two sides of a conflict, the one that the machine made."""
        text = self.text_of(path)
        both = sides(text) if text is not None else None
        return next((side for side in both if not human_edited(side)), text) if both else text

    def notes(self, files: Mapping[str, str]) -> None:
        """Plan the writing of articles, summaries and the agenda, and the removal of those nothing supports."""
        counted = {CONCEPTS: self.report.articles, TOPICS: self.report.topics}
        for path, text in files.items():
            old = self.text_of(path)
            counts = counted.get(path.rpartition("/")[0])
            if counts is not None:
                counts["created" if old is None else "unchanged" if old == text else "updated"] += 1
            if old == text or self.is_no_text(path):
                continue
            self._name_damage(path, old or "")
            if path.startswith(_ARTICLES) and old is not None and self._is_humans(path, old):
                self._beside_humans(path, text, old)
            else:
                self.writes[path] = text.encode()
        for folder in (CONCEPTS, TOPICS, SUMMARIES):
            for path in self.vault.paths(folder, ".md"):
                if (
                    path not in files
                    and not self.is_no_text(path)
                    and not self._is_humans(path, self.text_of(path) or "")
                ):
                    self.removals.append(path)
                    if folder in counted:
                        counted[folder]["removed"] += 1

    def name_bare(self, files: Container[str], claims: Container[ClaimId], summaries: Container[str]) -> None:
        """Name the articles that a human edited and that stay, though no claim that they cite lives any more.

        `claims` and `summaries` (paths without .md) are those of the sources that are there.
        """
        for path in (p for folder in (CONCEPTS, TOPICS) for p in self.vault.paths(folder, ".md")):
            text = "" if path in files else self.text_of(path) or ""
            cites = citations(text)
            if not cites or sides(text) is not None or not human_edited(text) or any(c.claim in claims for c in cites):
                continue
            gone = {c.summary for c in cites}
            why = "its source is gone" if len(gone) == 1 else "its sources are gone"
            if any(summary in summaries for summary in gone):
                why = "what it cites is said in no source any more"
            what = f"you wrote in this page, so it stays; it rests on nothing any more: {why}"
            hint = "bring that back, or take out what cites it, or delete the page; then run `retain compile`"
            self.report.notices.append(Diagnostic(path, 0, "rests-on-nothing", what, hint))

    def _name_damage(self, path: str, old: str) -> None:
        """Where a note's properties cannot be read, nobody knows what is the machine's in it: it is left as it is."""
        if sides(old) is None:
            hint = "set it right, or delete the file, then run `retain compile`"
            for problem in read_properties(old).problems:
                what = f"{problem.message}: left as it is"
                self.report.failures.append(Diagnostic(path, problem.line, "front-matter", what, hint))

    def _beside_humans(self, path: str, text: str, old: str) -> None:
        """A summary takes its claims in place, so that citations go on leading to them; all else is proposed."""
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

    def _is_humans(self, path: str, old: str) -> bool:
        """Whether a human wrote in the note. Of two sides of a conflict, one of the machine's making is enough to
        lay the note out anew; where a human wrote in both, only the human can settle it, and is told."""
        both = sides(old)
        if both is None:
            return human_edited(old)
        if not all(human_edited(side) for side in both):
            return False
        self._conflict(path, old)
        return True

    def _conflict(self, path: str, text: str) -> None:
        hint = "settle it in your editor, then run `retain compile`"
        self.report.failures.append(Diagnostic(path, line_of(text), "conflict", "git left conflict markers here", hint))

    def _propose(self, path: str, text: str, old: str) -> None:
        """Lay the machine's version beside a note that a human edited, unless it has nothing new to say."""
        proposal = f"{PROPOSALS}/{path}"
        digest = read_properties(text).text("generated")
        if digest != read_properties(old).text("generated") and not self.settled.page(path, digest):
            self._lay_beside(proposal, text)

    def _lay_beside(self, proposal: str, text: str) -> None:
        self._proposed.add(proposal)
        if self.text_of(proposal) != text:
            self.writes[proposal] = text.encode()

    def withdraw(self, known: Kinds) -> None:
        """Plan the removal of proposals that this build would not make: what they propose no longer holds, or stands
        in the file by now. Those that a human wrote in stay, and so do those to files that could not be read."""
        unread = {d.path for d in self.report.failures}
        for folder in (CONCEPTS, TOPICS, SUMMARIES, FLASHCARDS):
            for proposal in self.vault.paths(f"{PROPOSALS}/{folder}", ".md"):
                text = self.text_of(proposal) or ""
                if proposal in self._proposed or proposal.removeprefix(f"{PROPOSALS}/") in unread:
                    continue
                humans = _changed_deck(text, proposal, known) if folder == FLASHCARDS else human_edited(text)
                if not humans and not self.is_no_text(proposal):
                    self.removals.append(proposal)

    def decks(
        self,
        wanted: Mapping[str, Fresh],
        on_disk: Sequence[str],
        known: Kinds,
        ours: frozenset[str],
        gone: Container[str] = (),
    ) -> None:
        """Plan the writing of decks around what a human wrote in them; `ours` are the paths of concepts' decks, `gone`
        the claims that stand nowhere any more."""
        for path in sorted({*on_disk, *wanted}):
            if self.is_no_text(path):
                continue
            old = self.text_of(path)
            both = sides(old) if old is not None else None
            if old is not None and both is not None:
                if any(written_by_hand(side, path, known) for side in both):
                    self._conflict(path, old)
                    continue
                merged, held_back = merge_deck(None, path, wanted.get(path), known, path in ours)
            else:
                merged, held_back = merge_deck(old, path, wanted.get(path), known, path in ours, gone, self.settled)
            if merged is None and old is not None:
                self.removals.append(path)
            elif merged is not None and merged != old:
                self.writes[path] = merged.encode()
            if held_back:
                self._lay_beside(f"{PROPOSALS}/{path}", render_deck(wanted[path]))

    def pages(self, files: Mapping[str, str]) -> None:
        """Plan the writing of pages that are nobody's to edit: they are always laid out anew."""
        self._proposed |= {path for path in files if path.startswith(f"{PROPOSALS}/")}
        self.writes |= {path: text.encode() for path, text in files.items() if self.bytes_of(path) != text.encode()}

    def assets(self, wanted: Mapping[str, bytes | None], *, rebuilding: bool = False) -> None:
        """Plan the copying of pictures (None: it is there), and the removal of copies that nothing shows any more.

        A copy carries the digest of its bytes in its name; one that is cut short is written again. A file of other
        bytes may be a human's, and stays: a rebuild, which was to restore everything, says that it could not.
        """
        for path, data in wanted.items():
            there = self.bytes_of(path)
            if data is not None and (there is None or (there != data and data.startswith(there))):
                self.writes[path] = data
            elif there is not None and not is_copy(path, there):
                what = "its name is that of a picture's copy, and its bytes are others: left as it is"
                hint = "damaged: delete it, then compile again; yours: give it a name of its own"
                found = self.report.failures if rebuilding else self.report.notices
                found.append(Diagnostic(path, 0, "asset-edited", what, hint))
        lying = [path for path in self.vault.paths(ASSETS, "") if path not in wanted]
        unused = [path for path in lying if is_copy(path, self.bytes_of(path) or b"")]
        if unused:
            kept = self._embedded()
            self.removals += [path for path in unused if path not in kept]

    def _embedded(self) -> set[str]:
        """The assets that any note or deck will show when this build is done: a human may have kept one."""
        paths = [p for folder in (CONCEPTS, TOPICS, SUMMARIES, FLASHCARDS) for p in self.vault.paths(folder, ".md")]
        notes = {p: self.text_of(p) or "" for p in paths if p not in self.removals}
        notes |= {p: data.decode("utf-8", "replace") for p, data in self.writes.items() if p.endswith(".md")}
        return {path for text in notes.values() for path in embedded_assets(text)}

    def write(self) -> None:
        """Do what was planned. A file that was edited meanwhile stays, and is named."""
        for done, (path, data) in enumerate(sorted(self.writes.items()), 1):
            self.progress({"event": "write", "done": done, "of": len(self.writes), "path": path})
            old = self.bytes_of(path)
            try:
                self.guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
            except EditedMeanwhile as error:
                self._edited(path, error, data if path.endswith(".md") else None)
        for path in self.removals:
            old = self.bytes_of(path)
            assert old is not None, "only what was read is removed"
            try:
                self.guard.remove(path, expect=sha256_hex(old))
            except EditedMeanwhile as error:
                self._edited(path, error)

    def _edited(self, path: str, error: EditedMeanwhile, ours: bytes | None = None) -> None:
        """Name a file that somebody edited while we were about to write it: theirs stays, ours is laid beside it."""
        hint = "run `retain compile` again"
        if ours is not None and self.guard.exists(path):
            with suppress(Refused):  # no name is left for it: the next compile proposes it
                there = self.guard.lay_beside(path, ours, self.today)
                hint = f"ours is in {there}: look at both, delete that one, then {hint}"
        self.report.notices.append(Diagnostic(path, 0, "edited-meanwhile", error.what, hint))


def _changed_deck(text: str, path: str, known: Kinds) -> bool:
    """Whether a deck that the machine rendered is no longer as it did: in cards, remarks or properties."""
    return bool(foreign_properties(text, KEYS)) or written_by_hand(text, path, known)
