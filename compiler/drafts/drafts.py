"""Drafts: what of the answers may be used, with its evidence; and what a second reader has yet to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compiler.drafts.names import Group
from compiler.drafts.plan import Sizes, present_of
from compiler.drafts.shelf import Shelf
from compiler.gates.written import card_fault, sentence_fault
from compiler.model.report import Rejection
from compiler.model.requests import ProposedCard
from compiler.protocol.check import item_key
from compiler.protocol.replies import Left, Quote, Statement, WrittenCard, WrittenSection, WrittenSentence
from compiler.protocol.requests import CheckItem, CheckRequest
from compiler.replies.knowledge import Knowledge, Written
from vault.text.formatting import fold

_MOST_SHOWN = 1_200  # characters of a passage that a check wants to see


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


@dataclass(slots=True)
class Drafts:
    """The drafts of all groups with a page, lines for the others, summaries by source, and what was left out."""

    articles: list[Draft] = field(default_factory=list)
    lines: list[tuple[Group, Statement]] = field(default_factory=list)
    summaries: dict[str, list[Statement]] = field(default_factory=dict)
    clashes: list[Statement] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    unchecked: list[CheckItem] = field(default_factory=list)


def drafts_of(groups: Sequence[Group], shelf: Shelf, knowledge: Knowledge) -> Drafts:
    """Return what may be published of all answers, and what needs a check first."""
    return _Drafter(shelf, knowledge, groups).drafts()


def checks(drafts: Drafts, sizes: Sizes, by: Sequence[str]) -> list[CheckRequest]:
    """Return the requests to check what nobody has checked."""
    batches: list[list[CheckItem]] = [[]]
    left = sizes.check
    for item in {i.key: i for i in drafts.unchecked}.values():
        own = len(item.text) + len(item.answer) + sum(map(len, (*item.quotes, *item.passages))) + 30
        if batches[-1] and own > left:
            batches.append([])
            left = sizes.check
        batches[-1].append(item)
        left -= own
    return [CheckRequest(items=tuple(batch), by=tuple(by)) for batch in batches if batch]


class _Drafter:
    """Goes through the answers once."""

    def __init__(self, shelf: Shelf, knowledge: Knowledge, groups: Sequence[Group]) -> None:
        self.shelf, self.knowledge, self.groups = shelf, knowledge, groups
        self.out = Drafts()
        names = [n for g in groups for n in (g.title, *g.titles, *g.aliases, g.line)]
        texts = [d.text.text for d in shelf.documents]
        self.known = tuple(dict.fromkeys([*names, *(d.text.title for d in shelf.documents), *texts]))

    def drafts(self) -> Drafts:
        """Return the drafts."""
        for group in self.groups:
            if group.page:
                self._article(group)
            elif (line := self._line(group)) is not None:
                self.out.lines.append((group, line))
        for reading in self.knowledge.readings:
            self._summaries(reading.reply.summaries)
            self.out.clashes += [c for c in reading.reply.clashes if self.shelf.stands(c.quotes)]
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
        for card in article.cards:
            if self.shelf.stands(card.quotes) and (kept := self._card(card, group, written)) is not None:
                draft.cards.append(kept)
        draft.questions = [q for q in article.questions if not q.quotes or self.shelf.stands(q.quotes)]
        if draft.sections:
            self.out.articles.append(draft)

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
        if is_verbatim(sentence.text, words):
            return sentence
        key = item_key(sentence.text, "", words)
        verdict = self.knowledge.verdicts.get(key)
        item = CheckItem(key=key, about=about, text=sentence.text, mark=sentence.mark, quotes=words)
        if verdict is None or verdict.verdict == "show":
            self._to_check(item, sentence.quotes, show=verdict is not None)
            return None
        if verdict.verdict == "ok":
            return sentence
        if verdict.verdict == "drop":
            self._reject(
                "check", verdict.why or "it does not follow from its evidence", sentence.text, sentence.quotes, by
            )
            return None
        mended = sentence.model_copy(update={"text": fold(verdict.text)})
        fault = self._fault(mended)
        if fault:
            self._reject("check", f"its correction: {fault}", verdict.text, sentence.quotes, by)
            return None
        return mended

    def _fault(self, sentence: WrittenSentence) -> str:
        passages = [self.shelf.passage_text(q) for q in sentence.quotes]
        return sentence_fault(sentence.text, sentence.mark, passages, self.known)

    def _card(self, card: WrittenCard, group: Group, by: Written) -> WrittenCard | None:
        """Return a card as it may be published; None if it may not, or nobody has checked it."""
        fault = self._card_fault(card, group)
        words = tuple(q.words for q in card.quotes)
        if fault:
            self._reject("card", fault, f"{card.question} / {card.answer}", card.quotes, by)
            return None
        key = item_key(card.question, card.answer, words)
        verdict = self.knowledge.verdicts.get(key)
        if verdict is None or verdict.verdict == "show":
            item = CheckItem(key=key, about=group.title, text=card.question, answer=card.answer, quotes=words)
            self._to_check(item, card.quotes, show=verdict is not None)
            return None
        if verdict.verdict == "ok":
            return card
        mended = card.model_copy(update={"question": fold(verdict.text), "answer": fold(verdict.answer)})
        if verdict.verdict == "fix" and not (fault := self._card_fault(mended, group)):
            return mended
        why = fault if verdict.verdict == "fix" else verdict.why
        self._reject("check", why or "no card worth having", f"{card.question} / {card.answer}", card.quotes, by)
        return None

    def _card_fault(self, card: WrittenCard, group: Group) -> str:
        passages = [self.shelf.passage_text(q) for q in card.quotes]
        proposed = ProposedCard(kind=card.kind, question=card.question, answer=card.answer, cites=())
        return card_fault(proposed, (group.title, *group.aliases), passages, self.known)

    def _to_check(self, item: CheckItem, quotes: Sequence[Quote], *, show: bool) -> None:
        passages = tuple(dict.fromkeys(self.shelf.passage_text(q)[:_MOST_SHOWN] for q in quotes)) if show else ()
        self.out.unchecked.append(item.model_copy(update={"passages": passages}))

    def _reject(self, gate: str, why: str, words: str, quotes: Sequence[Quote], by: Written | None) -> None:
        sources = tuple(dict.fromkeys(d.path for q in quotes if (d := self.shelf.by_id.get(q.source)) is not None))
        path = sources[0] if sources else ""
        who = (by.engine, by.at) if by is not None else ("", "")
        self.out.rejections.append(
            Rejection(gate, why, fold(words)[:300], path, said_by=who[0], at=who[1], sources=sources)
        )


def replace_section(section: WrittenSection, paragraphs: Sequence[tuple[WrittenSentence, ...]]) -> WrittenSection:
    """Return a section with other paragraphs."""
    return section.model_copy(update={"paragraphs": tuple(paragraphs)})


def is_verbatim(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a sentence is one of its quotes, word for word: then there is nothing to check."""
    said = fold(text).rstrip(".。").casefold()
    return any(fold(quote).rstrip(".。").casefold() == said for quote in quotes)


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
