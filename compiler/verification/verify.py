"""Check a finished vault against its sources: every quote, sentence and card. Findings are collected, not raised."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from compiler.gates import gates
from compiler.model.requests import ClaimView, ProposedCard, Sentence
from compiler.query.retrieve import passage_key
from compiler.readers.formats import HEAD, kind_of
from compiler.replies.journal import Journal
from compiler.verification.accepted import accepted_answers, accepted_in
from compiler.verification.verdict import Verdict
from compiler.workers.pool import WorkerPool
from vault.errors import Damaged, Refused, WorkerFailed
from vault.ids import CardId
from vault.layout import ANSWERS, CONCEPTS, SUMMARIES, TOPICS
from vault.log import ledger
from vault.model.answer_page import HERE, AnswerPage, PageQuote, parse_page
from vault.model.article import sentences
from vault.model.card import Card, CardKind, Deck
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.exhibit import Exhibit, ExhibitKind, embedded_assets, is_copy, split_exhibits
from vault.model.frontmatter import read_properties
from vault.model.markdown import unescape
from vault.model.source import FoldedText, SourceText
from vault.model.summary import Summary, furniture_of, parse_summary, prose_of
from vault.model.wikilink import Citation
from vault.sandbox.child import Child
from vault.text.formatting import clean_line, fold, truncate
from vault.vault import Vault

_QUOTE = 80  # characters of a quote in a finding
Progress = Callable[[dict[str, Any]], None]


def _finding(id_: str, path: str, line: int, reason: str) -> dict[str, Any]:
    return {"id": id_, "path": path, "line": line, "reason": reason}


def unsupported(
    vault: Vault,
    summaries: Collection[Summary],
    pages: Mapping[str, str],
    proses: Mapping[str, str],
    answers: Mapping[str, AnswerPage],
    decks: Sequence[Deck],
    journal: Journal,
) -> Verdict:
    """Return what is wrong with the sentences of pages, of summaries (texts by path) and answers, and with cards.

    That is by the claims of the summaries alone: no source is read, and a quote in an answer counts as words of one.
    """
    check = _Check(vault, Verdict(), accepted_in(journal) if journal.entries else None)
    for summary in summaries:
        stem = summary.path.removesuffix(".md")
        check.claims |= {(stem, located.claim.id): located.claim for located in summary.claims}
    for path, text in pages.items():
        check.article_of(path, text)
    check.answers |= answers
    check.borne_out |= {(quote.path, quote.words) for page in answers.values() for quote in page.quotes}
    for summary in summaries:
        if summary.path in proses:
            check.prose(summary, proses[summary.path])
    check.all_answers(journal)
    check.decks(decks)
    return check.verdict


def verify(vault: Vault, progress: Progress, *, compare: bool = False) -> Verdict:
    """Return what is wrong with the vault: every source is read again and compared; no cache is used.

    With `compare`, quotes are compared with a second reading of their source too.
    """
    journal, _ = Journal.of(vault)
    check = _Check(vault, Verdict(), accepted_in(journal) if journal.entries else None, compare)
    check.read_answers()
    check.summaries(progress)
    for folder in (CONCEPTS, TOPICS):
        for path in vault.paths(folder, ".md"):
            check.article(path)
    check.all_answers(journal)
    check.decks(vault.decks())
    reason = (
        "saved as a second file, because the original was edited in the meantime: compare both, then delete this one"
    )
    check.verdict.conflicts += [_finding("conflict", path, 0, reason) for path in vault.conflict_copies()]
    return check.verdict


@dataclass(slots=True)
class _Check:
    vault: Vault
    verdict: Verdict
    accepted: gates.Accepted | None  # whether a second reader accepted words on quotes; None without a journal
    compare: bool = False
    claims: dict[tuple[str, str], Claim] = field(default_factory=dict)  # (summary path without .md, claim id)
    unproved: set[tuple[str, str]] = field(default_factory=set)  # of the claims, those that the source bears not out
    titles: dict[str, str] = field(default_factory=dict)  # article path without .md -> title
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)  # article path without .md -> its other names
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)  # article path without .md -> its sources
    copies: dict[str, bool] = field(default_factory=dict)  # asset -> whether it is there, with the bytes it should have
    answers: dict[str, AnswerPage] = field(default_factory=dict)  # pages of answers by path
    borne_out: set[tuple[str, str]] = field(default_factory=set)  # (source, words) of their quotes that it has

    def read_answers(self) -> None:
        for path in self.vault.paths(ANSWERS, ".md"):
            text = self._text(path, self.verdict.uncited)
            if text is not None:
                self.answers[path] = parse_page(text)

    def summaries(self, progress: Progress) -> None:
        parsed = []
        for path in self.vault.paths(SUMMARIES, ".md"):
            text = self._text(path, self.verdict.unverified)
            if text is not None:
                parsed.append((parse_summary(text, path), text))
        asked = [(summary, data) for summary, _ in parsed if (data := self._raw(summary)) is not None]
        with WorkerPool("", self.vault.root / "raw") as crew:
            messages = [self._message(summary, data) for summary, data in asked]
            for done, (n, reply) in enumerate(crew.ask_all(messages), 1):
                progress({"event": "source", "done": done, "of": len(messages), "path": asked[n][0].path})
                self._summary(asked[n][0], reply, hashlib.sha256(asked[n][1]).hexdigest())
        if self.compare:
            self._compare(asked, progress)
        for summary, _ in parsed:
            if self._raw(summary) is None:
                self._summary(summary, {}, "")
        for summary, text in parsed:
            self.prose(summary, text)
            self.verdict.unverified += [_finding(d.code, d.path, d.line, d.message) for d in summary.diagnostics]
        self.verdict.unverified.sort(key=lambda f: (f["path"], f["line"], f["id"]))

    def prose(self, summary: Summary, text: str) -> None:
        """Check the sentences of a summary's text that are not in the blocks of its claims."""
        self._sentences(summary.path, prose_of(text), ("",), furniture_of(summary))

    def _compare(self, asked: Sequence[tuple[Summary, bytes]], progress: Progress) -> None:
        """Compare the quotes of summaries with a second reading of their sources."""
        folder = str(self.vault.root / "raw")
        with ExitStack() as stack:
            child: Child | None = None
            for done, (summary, data) in enumerate(asked, 1):
                progress({"event": "compare", "done": done, "of": len(asked), "path": summary.path})
                raw = summary.properties.text("source")
                child = child or stack.enter_context(Child(("-m", "compiler.verification.second_reading", folder)))
                quotes = [located.claim.quote for located in summary.claims]
                message = {**self._message(summary, data), "kind": kind_of(raw, data[:HEAD]), "quotes": quotes}
                message |= {} if raw.startswith("raw/") else {"base64": base64.b64encode(data).decode()}
                try:
                    reply = child.ask(message)
                except WorkerFailed as failure:
                    child, reply = None, {"not_compared": failure.what}
                found = reply.get("differences")
                if not isinstance(found, list) or len(found) != len(quotes):
                    reason = clean_line(str(reply.get("not_compared", "the second parser failed")))
                    self.verdict.not_compared.append(_finding("not-compared", raw, 0, reason))
                    continue
                for located, difference in zip(summary.claims, found, strict=True):
                    if difference:
                        place = ", ".join(filter(None, (raw, located.claim.locator)))
                        words = f"“{truncate(located.claim.quote, _QUOTE)}”"
                        reason = f"{place}: {words}: {clean_line(str(difference))}"
                        self.verdict.differences.append(_finding(located.claim.id, summary.path, located.line, reason))

    def _text(self, path: str, findings: list[dict[str, Any]]) -> str | None:
        try:
            return self.vault.read_text(path)
        except Damaged as error:
            findings.append(_finding("not-utf-8", path, int(error.where.rpartition(":")[2] or 0), error.what))
            return None

    def _raw(self, summary: Summary) -> bytes | None:
        """The bytes of the file that the summary names; None if that isn't a source's, or can't be read."""
        path = summary.properties.text("source")
        try:
            return self.vault.read_bytes(path) if self.vault.is_source(path) else None
        except (Refused, Damaged):
            return None

    def _message(self, summary: Summary, data: bytes) -> dict[str, Any]:
        path = self.vault.root / summary.properties.text("source")
        return {"op": "source", "path": str(path), "sha256": hashlib.sha256(data).hexdigest()}

    def _summary(self, summary: Summary, reply: dict[str, Any] | WorkerFailed, digest: str) -> None:
        found = self.verdict.unverified
        path, stem = summary.path, summary.path.removesuffix(".md")
        properties = summary.properties
        raw = properties.text("source") or "no source is given"
        text, labels, source = "", None, None
        if isinstance(reply, WorkerFailed) or "source" not in reply:
            found.append(_finding("source", path, 1, f"its source cannot be read: {raw}"))
        else:
            source = SourceText.from_json(reply["source"])
            text = source.text
            if source.reader == properties.text("reader"):
                labels = {"", *(fold(p.label.replace("·", "-")) for p in source.places)}
            if digest != properties.text("source_sha256"):
                found.append(
                    _finding(
                        "source-changed", path, 1, f"{raw} has changed since it was compiled: run `retain compile`"
                    )
                )
            if source.reader == properties.text("reader") and source.text_sha256 != properties.text("text_sha256"):
                found.append(_finding("text-changed", path, 1, "the source's text has changed since it was compiled"))
        folded = FoldedText.of(text)
        quotes = {(q.path, q.words) for page in self.answers.values() for q in page.quotes if q.path == raw}
        self.borne_out |= {quote for quote in quotes if folded.find(quote[1]) is not None}
        for located in summary.claims:
            claim = located.claim
            self.verdict.claims += 1
            if folded.find(claim.quote) is None:
                reason = f"the quote does not occur in {raw}"
            elif (stem, claim.id) in self.claims:
                reason = "another claim has this id"
            elif labels is not None and claim.locator not in labels:
                reason = f"there is no {claim.locator} in {raw}"
            else:
                reason = gates.statement_refused(claim.statement, claim.quote)
                reason = reason or self._shown(claim.exhibits, folded)
            if reason:
                found.append(_finding(claim.id, path, located.line, reason))
                self.unproved.add((stem, claim.id))
            else:
                self.verdict.verified += 1
            self.claims[stem, claim.id] = claim

    def _shown(self, exhibits: Sequence[Exhibit], folded: FoldedText) -> str:
        """Why what a claim shows is not what its source shows; "" if it is."""
        for exhibit in exhibits:
            if exhibit.kind is not ExhibitKind.PICTURE and folded.find(exhibit.content) is None:
                return f"the {exhibit.kind} does not occur in the source"
        return self._pictures({e.content for e in exhibits if e.kind is ExhibitKind.PICTURE and e.copied})

    def _pictures(self, paths: set[str]) -> str:
        """Which of these copies of pictures is gone or holds other bytes than its name says; "" if none."""
        for path in sorted(paths):
            if path not in self.copies:
                try:
                    data = self.vault.read_bytes(path)
                except Refused:
                    data = None
                self.copies[path] = data is not None and is_copy(path, data)
            if not self.copies[path]:
                return f"the picture is missing or has changed: {path}"
        return ""

    def article(self, path: str) -> None:
        text = self._text(path, self.verdict.uncited)
        if text is not None:
            self.article_of(path, text)

    def article_of(self, path: str, text: str) -> None:
        properties = read_properties(text)
        stem = path.removesuffix(".md")
        self.titles[stem] = properties.text("title")
        self.names[stem] = tuple(properties.texts("aliases"))
        self.places[stem] = properties.texts("sources")
        self._sentences(path, text, self.places[stem])
        missing = self._pictures(embedded_assets(text))
        if missing:
            self.verdict.uncited.append(_finding("picture", path, 1, missing))

    def _sentences(self, path: str, text: str, places: Sequence[str], furniture: frozenset[str] = frozenset()) -> None:
        own = path.startswith(SUMMARIES)
        for sentence in sentences(text):
            if not sentence.cites and sentence.text in furniture:
                continue
            self.verdict.sentences += 1
            reason = self._cites(sentence.cites) or ("" if own else _misplaced(sentence.cites, places))
            if not reason:
                views = self._views(sentence.cites)
                said = Sentence(text=sentence.text[:20_000], cites=tuple(views))
                reason = gates.sentence_refused(said, views, self.accepted)
            if reason:
                self.verdict.uncited.append(_finding(sentence.text[:60], path, sentence.line, reason))

    def _cites(self, cites: Sequence[Citation]) -> str:
        if not cites:
            return "the sentence cites nothing"
        for cite in cites:
            claim = self.claims.get((cite.summary, cite.claim))
            if claim is None:
                return f"claim {cite.claim} is not in {cite.summary}.md"
            if claim.state is ClaimState.RETRACTED:
                return f"claim {cite.claim} is retracted"
            if (cite.summary, cite.claim) in self.unproved:
                return f"claim {cite.claim} is not supported by its source"
        return ""

    def _views(self, cites: Sequence[Citation]) -> dict[str, ClaimView]:
        return {str(cite.claim): ClaimView.of(self.claims[cite.summary, cite.claim]) for cite in cites}

    def all_answers(self, journal: Journal) -> None:
        """Check the pages of answers."""
        accepted = self.accepted
        if accepted is not None and self.answers:
            accepted = accepted_answers(journal, self.claims.values(), accepted)
        for path, page in self.answers.items():
            self._answer(path, page, accepted)

    def _answer(self, path: str, page: AnswerPage, accepted: gates.Accepted | None) -> None:
        """Check the page of an answer: its sentences as those of articles, and the words of sources in it."""
        quotes = {quote.key: quote for quote in page.quotes}
        for quote in page.quotes:
            self.verdict.sentences += 1
            if reason := self._quote_fault(quote):
                self.verdict.uncited.append(_finding(quote.words[:60], path, quote.line, reason))
        places = page.properties.texts("sources")
        for sentence in page.sentences:
            self.verdict.sentences += 1
            cites = tuple(cite for cite in sentence.cites if cite.summary != HERE)
            own = [str(cite.claim) for cite in sentence.cites if cite.summary == HERE]
            reason = (self._cites(cites) or _misplaced(cites, places)) if cites or not own else ""
            if not reason and any(key not in quotes for key in own):
                reason = "the page has no such quote"
            if not reason:
                views = self._views(cites)
                views |= {key: _view(quotes[key]) for key in own}
                said = Sentence(text=sentence.text[:20_000], cites=tuple(views))
                reason = gates.sentence_refused(said, views, accepted)
            if reason:
                self.verdict.uncited.append(_finding(sentence.text[:60], path, sentence.line, reason))

    def _quote_fault(self, quote: PageQuote) -> str:
        """Return why the words of a source in the page of an answer are not what its source says; "" if they are."""
        if not quote.path or passage_key(quote.path, quote.words) != quote.key:
            return "the quote was changed after retain wrote it"
        if (quote.path, quote.words) not in self.borne_out:
            return f"the quote does not occur in {quote.path}"
        if not quote.cites:
            return ""
        if reason := self._cites(quote.cites):
            return reason
        others = [c for c in quote.cites if fold(self.claims[c.summary, c.claim].quote) not in quote.words]
        return f"claim {others[0].claim} is not worded like this" if others else ""

    def decks(self, decks: Iterable[Deck]) -> None:
        gate = gates.VaultCardGate(accepted=self.accepted) if self.accepted is not None else gates.StrictCardGate()
        seen: dict[CardId, str] = {}
        events, _ = self.vault.ledger_events(ledger.IDS)  # which no agent can write
        # Cards from other programs rest on no claim.
        brought = {e.get("id") for e in events if str(e.get("key", "")).startswith(("anki:", "import:"))}
        retired = ledger.fold(e for e in events if e.get("of") == "card").retired  # shown to nobody
        for deck in decks:
            self.verdict.unsupported += [_finding(d.code, d.path, d.line, d.message) for d in deck.diagnostics]
            article = deck.properties.text("article").removeprefix("[[").split("|")[0].removesuffix("]]")
            for card in deck.cards:
                self.verdict.cards += 1
                free = card.id in retired or (card.id in brought and not card.support)
                reason = "" if free else self._card(card, article, gate)
                if card.id is not None and card.id in seen:
                    reason = f"its id is in {seen[card.id]} too"
                elif card.id is not None:
                    seen[card.id] = deck.path
                if reason:
                    self.verdict.unsupported.append(_finding(card.id or "hand-made", deck.path, card.line, reason))

    def _card(self, card: Card, article: str, gate: gates.CardGate) -> str:
        """Why a card is not supported; "" if it is. A card of the user's own making needs no support: what it cites
        must be there, and no more.
        """
        if not card.stamp:
            return self._cites(card.support) if card.support else ""
        if article not in self.titles:
            return "the deck does not belong to any wiki article"
        if not card.support:
            return "the card cites nothing"
        reason = self._cites(card.support) or _misplaced(card.support, self.places.get(article, ()))
        if reason:
            return reason
        views = self._views(card.support)
        said, shown = split_exhibits(card.answer.split("\n"))
        strange = set(shown) - {e for c in card.support for e in self.claims[c.summary, c.claim].exhibits}
        if strange and not card.human_edited:
            return f"the {min(e.kind for e in strange)} in its answer is in none of its claims"
        missing = self._pictures(embedded_assets(card.answer))
        if missing:
            return missing
        question, answer = unescape(card.question), unescape("\n".join(said))
        proposed = ProposedCard(
            kind=(card.kind or CardKind.DEFINITIONAL).value,
            question=question[:20_000],
            answer=answer[:20_000],
            cites=tuple(views),
        )
        title, names = self.titles.get(article, ""), self.names.get(article, ())
        if card.human_edited:
            return gates.written_card_fault(proposed, title, views, self.accepted)
        return gate.refused(proposed, title, views, names=names)


def _misplaced(cites: Sequence[Citation], places: Sequence[str]) -> str:
    """Why a citation's number is wrong; "" if each is its source's place in the note's `sources`."""
    for cite in cites:
        if not 1 <= cite.place <= len(places) or f"[[{cite.summary}|" not in places[cite.place - 1]:
            return f"citation {cite.place} does not refer to {cite.summary}"
    return ""


def _view(quote: PageQuote) -> ClaimView:
    """Return words of a source in the page of an answer as the gates see a claim."""
    return ClaimView(id=quote.key, kind=ClaimKind.FACT, words=quote.words, quote=quote.words, source=quote.path)
