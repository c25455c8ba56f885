"""Drafts: what of the answers may be used, with its evidence; and what a second reader has yet to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compiler.drafts.names import Group
from compiler.drafts.plan import Sizes, present_of
from compiler.drafts.shelf import Place, Shelf
from compiler.gates.written import card_fault, known_names, sentence_fault
from compiler.language.tokens import content_words
from compiler.model.report import Rejection
from compiler.model.requests import ProposedCard
from compiler.protocol.check import item_key
from compiler.protocol.documents import view
from compiler.protocol.passages import Passage
from compiler.protocol.replies import (
    Clash,
    Left,
    Quote,
    Statement,
    WrittenArticle,
    WrittenCard,
    WrittenSection,
    WrittenSentence,
)
from compiler.protocol.requests import CheckItem, CheckRequest
from compiler.replies.knowledge import Knowledge, Written
from vault.text.formatting import fold, short_line


@dataclass(slots=True)
class Draft:
    """The article of a group as far as it may be published. `by` and `at` are who wrote it and when."""

    group: Group
    sections: list[WrittenSection] = field(default_factory=list)
    cards: list[WrittenCard] = field(default_factory=list)
    questions: list[Statement] = field(default_factory=list)
    see: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    by: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A sentence or a card that nobody has checked, by its key (`item_key`); `about` is the page that it is for."""

    key: str
    about: str
    text: str
    answer: str
    mark: str
    quotes: tuple[Quote, ...]


@dataclass(slots=True)
class Drafts:
    """The drafts of all groups with a page, lines for the others, summaries by source, and what was left out."""

    articles: list[Draft] = field(default_factory=list)
    lines: list[tuple[Group, Statement]] = field(default_factory=list)
    summaries: dict[str, list[Statement]] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)


def drafts_of(groups: Sequence[Group], shelf: Shelf, knowledge: Knowledge) -> Drafts:
    """Return what may be published of all answers, and what needs a check first."""
    return _Drafter(shelf, knowledge, groups).drafts()


def checks(drafts: Drafts, shelf: Shelf, sizes: Sizes, by: Sequence[str]) -> list[CheckRequest]:
    """Return the requests to check what nobody has checked, with the passages that are cited; neighbours together."""
    items = {one.key: (one, shelf.labels(one.quotes)) for one in drafts.unchecked}
    order = {d.id: n for n, d in enumerate(shelf.documents)}
    pages: dict[str, list[tuple[list[Place], Unchecked]]] = {}
    for one, places in items.values():
        pages.setdefault(one.about, []).append((places, one))
    begins = {
        about: min(((order[d.id], p.number) for places, _ in own for d, p, _ in places), default=(0, 0))
        for about, own in pages.items()
    }
    batches: list[list[tuple[list[Place], Unchecked]]] = [[]]
    shown: set[tuple[str, int]] = set()
    left = sizes.check
    for places, one in (each for about in sorted(pages, key=lambda a: begins[a]) for each in pages[about]):
        new = {(d.id, p.number): p for d, p, _ in places if (d.id, p.number) not in shown}
        own = (
            len(one.text) + len(one.answer) + 20 + sum(p.blocks[-1].end - p.blocks[0].start + 10 for p in new.values())
        )
        if batches[-1] and own > left:
            batches.append([])
            left, shown = sizes.check, set()
        batches[-1].append((places, one))
        shown |= new.keys()
        left -= own
    return [_check(batch, shelf, by) for batch in batches if batch]


def _check(batch: Sequence[tuple[list[Place], Unchecked]], shelf: Shelf, by: Sequence[str]) -> CheckRequest:
    """Return the request to check some sentences and cards."""
    numbers = {d.id: n for n, d in enumerate(shelf.documents, 1)}
    passages: dict[str, dict[int, Passage]] = {}
    items = []
    for places, one in batch:
        for document, passage, _ in places:
            passages.setdefault(document.id, {})[passage.number] = passage
        labels = tuple(dict.fromkeys(f"{numbers[d.id]}:{p.number}{letter}" for d, p, letter in places))
        about = short_line(one.about, 80)
        items.append(
            CheckItem(key=one.key, about=about, text=one.text, answer=one.answer, mark=one.mark, places=labels)
        )
    documents = tuple(
        view(shelf.by_id[id_], numbers[id_], [own[n] for n in sorted(own)])
        for id_, own in sorted(passages.items(), key=lambda each: numbers[each[0]])
    )
    return CheckRequest(items=tuple(items), documents=documents, by=tuple(by))


class _Drafter:
    """Goes through the answers once."""

    def __init__(self, shelf: Shelf, knowledge: Knowledge, groups: Sequence[Group]) -> None:
        self.shelf, self.knowledge, self.groups = shelf, knowledge, groups
        self.out = Drafts()
        names = [n for g in groups for n in (g.title, *g.titles, *g.aliases, g.line)]
        texts = [d.text.text for d in shelf.documents]
        self.known = known_names([*names, *(d.text.title for d in shelf.documents), *texts])

    def drafts(self) -> Drafts:
        """Return the drafts."""
        for group in self.groups:
            if group.page:
                self._article(group)
            elif (line := self._line(group)) is not None:
                self.out.lines.append((group, line))
        for reading in self.knowledge.readings:
            self._summaries(reading.reply.summaries)
        standing = (c for c in self.knowledge.clashes if self.shelf.stands((*c.first, *c.second)))
        for clash in standing:  # readers, writers and checkers may notice the same
            if not any(_same_clash(clash, other) for other in self.out.clashes):
                self.out.clashes.append(clash)
        return self.out

    def _summaries(self, summaries: Sequence[Statement]) -> None:
        for said in summaries:
            source = getattr(said, "source", "")
            if source in self.shelf.by_id and self.shelf.stands(said.quotes):
                kept = self._statement(said, self.shelf.by_id[source].text.title)
                if kept is not None:
                    own = self.out.summaries.setdefault(source, [])
                    own += [kept] if kept not in own else []

    def _line(self, group: Group) -> Statement | None:
        """Return the line of a group that gets no page; None if there is none that may be used."""
        return next((kept for line in group.lines[:1] if (kept := self._statement(line, group.title))), None)

    def _statement(self, said: Statement, about: str) -> Statement | None:
        """Return a sentence that is no part of an article, as it was checked; None if it may not be used."""
        sentence = WrittenSentence(text=said.text, quotes=said.quotes)
        kept = self._sentence(sentence, about)
        return Statement(text=kept.text, quotes=kept.quotes) if kept is not None else None

    def _article(self, group: Group) -> None:
        present = present_of(group, self.shelf, self.knowledge)
        if present.written is None:
            return
        written, article = present.written, present.written.article
        draft = Draft(group, see=article.see, left=article.left, by=written.engine, at=written.at)
        for section in article.sections:
            paragraphs = [p for p in (self._paragraph(p, group, written) for p in section.paragraphs) if p]
            if paragraphs:
                draft.sections.append(replace_section(section, paragraphs))
        self._open(draft, article, group)
        for card in article.cards:
            if self.shelf.stands(card.quotes) and (kept := self._card(card, group, written)) is not None:
                draft.cards.append(kept)
        draft.questions = [q for q in article.questions if not q.quotes or self.shelf.stands(q.quotes)]
        if draft.sections:
            self.out.articles.append(draft)

    def _open(self, draft: Draft, article: WrittenArticle, group: Group) -> None:
        """Have a page whose first sentence may not stand begin with what READ says of the concept."""
        first = next((s for section in article.sections for p in section.paragraphs for s in p), None)
        texts = [s.quotes for section in draft.sections[:1] for p in section.paragraphs[:1] for s in p[:1]]
        if first is None or first.quotes in texts or (line := self._line(group)) is None:
            return
        opening = (WrittenSentence(text=line.text, quotes=line.quotes),)
        lead = draft.sections[0] if draft.sections else None
        if lead is None or lead.heading:
            draft.sections.insert(0, WrittenSection(heading="", paragraphs=(opening,)))
        else:
            draft.sections[0] = replace_section(lead, [opening, *lead.paragraphs])

    def _paragraph(
        self, paragraph: Sequence[WrittenSentence], group: Group, written: Written
    ) -> tuple[WrittenSentence, ...]:
        """Return the sentences of a paragraph that may be published; a table without rows is none."""
        kept = []
        for sentence in paragraph:
            if sentence.form == "head":
                kept.append(sentence)
            elif not self.shelf.stands(sentence.quotes):
                continue  # its words are gone from the source
            elif sentence.form == "keep":
                kept += [sentence] if sentence.block in self.shelf.blocks else []
            elif (said := self._sentence(sentence, group.title, written)) is not None:
                kept.append(said)
        return tuple(kept) if any(s.form != "head" for s in kept) else ()

    # --- one item ----------------------------------------------------------------------------------------------------

    def _sentence(self, sentence: WrittenSentence, about: str, by: Written | None = None) -> WrittenSentence | None:
        """Return a sentence as it may be published; None if it may not, or nobody has checked it."""
        fault = self._fault(sentence)
        if fault:
            self._reject("sentence", fault, sentence.text, sentence.quotes, by)
            return None
        words = tuple(q.words for q in sentence.quotes)
        if is_verbatim(sentence.text, words) and names_it(about, sentence.text):
            return sentence
        key = item_key(sentence.text, "", words, sentence.mark)
        verdict = self.knowledge.verdicts.get(key)
        if verdict is None:
            self.out.unchecked.append(Unchecked(key, about, sentence.text, "", sentence.mark, sentence.quotes))
            return None
        if verdict.verdict == "ok":
            return sentence
        if verdict.verdict == "drop":
            self._reject(
                "check", verdict.why or "it does not follow from its evidence", sentence.text, sentence.quotes, by
            )
            return None
        mended = self.knowledge.judged(sentence)
        assert mended is not None
        fault = self._fault(mended)
        if fault:
            self._reject("check", f"its correction: {fault}", verdict.text, sentence.quotes, by)
            return None
        return mended

    def _fault(self, sentence: WrittenSentence) -> str:
        """Return what rules say against a sentence; the same for the same sentence in one build."""
        key = (sentence.text, sentence.mark, sentence.quotes)
        if key not in self.shelf.faults:
            passages = [self.shelf.passage_text(q) for q in sentence.quotes]
            self.shelf.faults[key] = sentence_fault(sentence.text, sentence.mark, passages, self.known)
        return self.shelf.faults[key]

    def _card(self, card: WrittenCard, group: Group, by: Written) -> WrittenCard | None:
        """Return a card as it may be published; None if it may not, or nobody has checked it."""
        fault = self._card_fault(card)
        words = tuple(q.words for q in card.quotes)
        if fault:
            self._reject("card", fault, f"{card.question} / {card.answer}", card.quotes, by)
            return None
        key = item_key(card.question, card.answer, words)
        verdict = self.knowledge.verdicts.get(key)
        if verdict is None:
            self.out.unchecked.append(Unchecked(key, group.title, card.question, card.answer, "", card.quotes))
            return None
        if verdict.verdict == "ok":
            return card
        mended = card.replaced(question=fold(verdict.text), answer=fold(verdict.answer))
        if verdict.verdict == "fix" and not (fault := self._card_fault(mended)):
            return mended
        why = fault if verdict.verdict == "fix" else verdict.why
        self._reject("check", why or "not worth a card", f"{card.question} / {card.answer}", card.quotes, by)
        return None

    def _card_fault(self, card: WrittenCard) -> str:
        key = (f"{card.question}\x1f{card.answer}", "card", card.quotes)
        if key not in self.shelf.faults:
            passages = [self.shelf.passage_text(q) for q in card.quotes]
            proposed = ProposedCard(kind=card.kind, question=card.question, answer=card.answer, cites=())
            self.shelf.faults[key] = card_fault(proposed, passages, self.known)
        return self.shelf.faults[key]

    def _reject(self, gate: str, why: str, words: str, quotes: Sequence[Quote], by: Written | None) -> None:
        sources = tuple(dict.fromkeys(d.path for q in quotes if (d := self.shelf.by_id.get(q.source)) is not None))
        path = sources[0] if sources else ""
        who = (by.engine, by.at) if by is not None else ("", "")
        self.out.rejections.append(
            Rejection(gate, why, fold(words)[:300], path, said_by=who[0], at=who[1], sources=sources)
        )


def _same_clash(a: Clash, b: Clash) -> bool:
    """Return whether both sides of two clashes share words of the sources."""
    first, second = set(a.first), set(a.second)
    return bool(
        (first.intersection(b.first) and second.intersection(b.second))
        or (first.intersection(b.second) and second.intersection(b.first))
    )


def replace_section(section: WrittenSection, paragraphs: Sequence[tuple[WrittenSentence, ...]]) -> WrittenSection:
    """Return a section with other paragraphs."""
    return section.replaced(paragraphs=tuple(paragraphs))


def is_verbatim(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a sentence is one of its quotes, word for word: then there is nothing to check."""
    said = fold(text).rstrip(".。").casefold()
    return any(fold(quote).rstrip(".。").casefold() == said for quote in quotes)


def names_it(title: str, text: str) -> bool:
    """Return whether words name the page that they are for, so that they mean there what they mean in their source."""
    said = set(content_words(text))
    return bool(said) and set(content_words(title)) <= said


def quotes_of(draft: Draft) -> Iterator[tuple[Quote, str]]:
    """Yield every quote of a draft with the kind of claim that it makes: see `compiler.drafts.evidence`."""
    sentences = [s for section in draft.sections for p in section.paragraphs for s in p]
    first = next((s for s in sentences if s.form not in ("head", "keep")), None)
    for sentence in sentences:
        kind = "definition" if sentence is first and not sentence.mark else "fact"
        yield from ((quote, kind) for quote in sentence.quotes)
    kinds = {
        "definitional": "definition",
        "mechanistic": "mechanism",
        "relational": "relation",
        "applied": "application",
    }
    for card in draft.cards:
        yield from ((quote, kinds[card.kind]) for quote in card.quotes)
    for question in draft.questions:
        yield from ((quote, "question") for quote in question.quotes)
