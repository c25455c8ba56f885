"""What the answers in the journal say together: the last word on each block, name, article, sentence and pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.protocol.check import item_key
from compiler.protocol.replies import (
    CheckReply,
    CheckVerdict,
    Clash,
    PairVerdict,
    Quote,
    ReadConcept,
    ReadReply,
    ReconcileReply,
    SettleReply,
    WriteReply,
    WrittenArticle,
    WrittenSentence,
)
from compiler.replies.journal import SMALL, Entry
from vault.text.formatting import fold


def title_key(title: str) -> str:
    """Return a title in the form in which equal titles are equal."""
    return fold(title).casefold()


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer to READ, with the blocks of which it has the last word. `failed` if nobody answered.

    `small` if a small model did, which overlooks much.
    """

    reply: ReadReply
    blocks: frozenset[str]
    failed: bool
    small: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The last article of a name: who wrote it and when."""

    article: WrittenArticle
    engine: str
    at: str


ATTEMPTS = 2  # answers without an article of a concept, after which there is none


@dataclass(slots=True)
class Knowledge:
    """The answers of a journal, folded in its order.

    With `retries`, what nobody answered counts as not asked, but for what failed in the run `run`.
    """

    readings: list[Reading] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)  # that somebody noticed
    settled: list[SettleReply] = field(default_factory=list)
    articles: dict[str, list[Written]] = field(default_factory=dict)  # title key -> its articles, the latest last
    known_blocks: dict[str, set[str]] = field(default_factory=dict)  # title key -> blocks shown to its last writer
    declined: dict[str, int] = field(default_factory=dict)  # title key -> how often its last writers left it out
    given_up: set[str] = field(default_factory=set)  # title keys of articles that the last writer failed to answer
    verdicts: dict[str, CheckVerdict] = field(default_factory=dict)
    pairs: dict[str, PairVerdict] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry], *, retries: bool = False, run: str = "") -> Knowledge:
        """Return what the entries, in order, say together."""
        out = cls()
        reads: list[tuple[ReadReply, bool, bool]] = []
        owner: dict[str, int] = {}
        settled: dict[str, SettleReply] = {}  # of one request the last answer counts
        for entry in entries:
            if entry.failed and retries and entry.run != run:
                continue
            reply = entry.value()
            if isinstance(reply, ReadReply):
                reads.append((reply, bool(entry.failed), entry.engine.endswith(SMALL)))
                out._own(reply.covers, reads, owner)
            elif isinstance(reply, SettleReply):
                settled[entry.request] = reply
            elif isinstance(reply, WriteReply):
                out._wrote(reply, entry)
            elif isinstance(reply, CheckReply):
                out.verdicts |= {v.item: v for v in reply.verdicts}
                out.clashes += reply.clashes
            elif isinstance(reply, ReconcileReply):
                out.pairs |= {v.pair: v for v in reply.verdicts}
        out.settled = list(settled.values())
        blocks: list[set[str]] = [set() for _ in reads]
        for ref, n in owner.items():
            blocks[n].add(ref)
        out.readings = [
            Reading(reply, frozenset(own), failed, small)
            for (reply, failed, small), own in zip(reads, blocks, strict=True)
            if own
        ]
        out.clashes[:0] = [clash for reading in out.readings for clash in reading.reply.clashes]
        return out

    def _own(self, covers: Sequence[str], reads: Sequence[tuple[ReadReply, bool, bool]], owner: dict[str, int]) -> None:
        """Give blocks to the last of the answers to READ; a failure never hides an answer."""
        for block in covers:
            if not (reads[-1][1] and block in owner):
                owner[block] = len(reads) - 1

    def _wrote(self, reply: WriteReply, entry: Entry) -> None:
        """Take an answer to WRITE. An empty article leaves the one before as it is, and is asked for once more."""
        self.clashes += reply.clashes
        for article in reply.articles:
            key = title_key(article.title)
            (self.given_up.add if entry.failed else self.given_up.discard)(key)
            if article.sections:
                self.articles.setdefault(key, []).append(Written(article, entry.engine, entry.at))
            self.declined[key] = 0 if article.sections else self.declined.get(key, 0) + 1
            if article.sections or entry.failed or self.declined[key] >= ATTEMPTS:
                self.known_blocks[key] = set(article.covers)

    @property
    def read_blocks(self) -> frozenset[str]:
        """Return the blocks that somebody has read, or was asked to read in vain."""
        return frozenset().union(*(r.blocks for r in self.readings))

    @property
    def failed_blocks(self) -> frozenset[str]:
        """Return the blocks that nobody would read."""
        return frozenset().union(*(r.blocks for r in self.readings if r.failed))

    @property
    def small_blocks(self) -> frozenset[str]:
        """Return the blocks that a small model has read."""
        return frozenset().union(*(r.blocks for r in self.readings if r.small))

    def concepts(self, present: Collection[str]) -> Iterator[tuple[ReadConcept, tuple[str, ...]]]:
        """Yield the concepts of all readings, each with its blocks that are `present` and last read there."""
        for reading in self.readings:
            for concept in reading.reply.concepts:
                blocks = tuple(b for b in concept.blocks if b in reading.blocks and b in present)
                if blocks:
                    yield concept, blocks

    def settled_titles(self) -> frozenset[str]:
        """Return the keys of all titles that SETTLE was asked about."""
        return frozenset(title_key(t) for reply in self.settled for t in reply.covers)

    def judged(self, sentence: WrittenSentence) -> WrittenSentence | None:
        """Return a sentence as a second reader left it: corrected, or None where it was dropped."""
        key = item_key(sentence.text, "", tuple(q.words for q in sentence.quotes), sentence.mark)
        verdict = self.verdicts.get(key)
        if verdict is None or verdict.verdict == "ok":
            return sentence
        said = fold(verdict.text)
        changed = {"text": said, "links": tuple(link for link in sentence.links if link[0] in said)}
        return sentence.replaced(**changed) if verdict.verdict == "fix" else None

    def accepted(self) -> frozenset[str]:
        """Return the keys (`item_key`, without marks) of all sentences and cards that were accepted or corrected."""
        found = {key for key, v in self.verdicts.items() if v.verdict == "ok"}
        for said, answer, quotes, mark in self._items():
            words = tuple(q.words for q in quotes)
            verdict = self.verdicts.get(item_key(said, answer, words, mark))
            if verdict is not None and verdict.verdict == "ok":
                found.add(item_key(said, answer, words))
            elif verdict is not None and verdict.verdict == "fix":
                found.add(item_key(fold(verdict.text), fold(verdict.answer), words))
        return frozenset(found)

    def _items(self) -> Iterator[tuple[str, str, tuple[Quote, ...], str]]:
        """Yield (words, answer of a card, evidence, mark) of everything that was written."""
        for article in (w.article for each in self.articles.values() for w in each):
            yield from ((s.text, "", s.quotes, s.mark) for x in article.sections for p in x.paragraphs for s in p)
            yield from ((c.question, c.answer, c.quotes, "") for c in article.cards)
        for reading in self.readings:
            yield from ((c.line.text, "", c.line.quotes, "") for c in reading.reply.concepts if c.line is not None)
            yield from ((s.text, "", s.quotes, "") for s in reading.reply.summaries)

    def is_page(self) -> Mapping[str, bool]:
        """Return for titles (by key) of which SETTLE decided it whether they get a page."""
        found: dict[str, bool] = {}
        for reply in self.settled:
            found |= dict.fromkeys(map(title_key, reply.lines), False)
            found |= dict.fromkeys(map(title_key, reply.pages), True)
        return found
