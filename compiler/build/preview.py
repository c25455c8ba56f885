"""What a build would change: claims, the sentences and cards that rest on them, and gaps.

Where somebody would be asked, what they will say is not known. What is: which words are new, and what rests on those
that they stand in the place of. That is named `asked`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from compiler.cards.live_cards import LiveCard
from compiler.language.rewording import successors
from compiler.model.changes import Blast, NewPassage, TouchedArticle, TouchedCard, TouchedClaim, TouchedGap
from compiler.protocol.requests import ReadRequest, Request, WriteRequest
from compiler.sources.segments import passages
from vault.ids import CardId
from vault.layout import CONCEPTS, FLASHCARDS, GAPS, PROPOSALS, SUMMARIES, TOPICS
from vault.log.ledger import Event, Ids
from vault.model.article import CitedSentence, sentences
from vault.model.exhibit import ASSETS
from vault.model.frontmatter import read_properties
from vault.model.gaps import Gap, parse_agenda
from vault.text.formatting import clean_line

PRODUCTS = (CONCEPTS, TOPICS, SUMMARIES, FLASHCARDS, ASSETS)  # folders of files that a build lays out


@dataclass(frozen=True, slots=True)
class Plan:
    """What a build would do. `old` and `new` give the text of files by path; `new` holds only what would be written."""

    events: Sequence[Event]  # for ids.jsonl
    ids: Ids  # with those events
    said_before: Mapping[str, str]  # claim id -> the words that it had
    cards: Mapping[CardId, LiveCard]  # as they were
    old: Mapping[str, str | None]
    new: Mapping[str, str]
    removed: Sequence[str]
    files: frozenset[str] = frozenset()  # every product that lies there now
    open: Sequence[Request] = field(default_factory=tuple)  # what would be asked


def preview_changes(plan: Plan) -> Blast:
    """Return what a build would touch."""
    touched = {*plan.new, *plan.removed}
    undecided = _Undecided.of(plan)
    return Blast(
        claims=tuple(_claims(plan, undecided)),
        passages=tuple(_passages(plan)),
        articles=tuple(_articles(plan, undecided)),
        cards=tuple(_cards(plan, undecided)),
        gaps=tuple(_gaps(plan, undecided)),
        unchanged=len(plan.files - touched),
    )


@dataclass(frozen=True, slots=True)
class _Undecided:
    """What a model's answers will decide: claims (id -> the words that seem to be theirs now), and concepts."""

    claims: Mapping[str, str]  # id -> words
    concepts: frozenset[str]

    @classmethod
    def of(cls, plan: Plan) -> _Undecided:
        """Return what depends on the answers that a build would ask for."""
        new = {words for r in plan.open if isinstance(r, ReadRequest) for _, _, words in _shown(r)}
        gone = {str(e["id"]): "" for e in plan.events if e["of"] == "claim" and e["type"] == "retire"}
        gone = {id_: plan.ids.quotes.get(id_, "") for id_ in gone} if new else {}
        claims = {id_: words for words, id_ in successors(gone, {words: words for words in sorted(new)}).items()}
        asked = {id_ for r in plan.open if isinstance(r, WriteRequest) for id_ in _written(r, plan.ids)}
        asked |= {card.concept for card in plan.cards.values() if not claims.keys().isdisjoint(card.cites)}
        for path, text in plan.old.items():
            cited = {c.claim for s in sentences(text or "") for c in s.cites} if path.startswith(CONCEPTS) else ()
            if not claims.keys().isdisjoint(cited):
                asked.add(read_properties(text or "").text("id"))
        return cls(claims, frozenset(asked))


def _shown(request: ReadRequest) -> Iterator[tuple[str, str, str]]:
    """Yield (source, heading, words) of the sentences that a request shows."""
    for document in request.documents:
        for passage in document.passages:
            heading = passage.headings[-1] if passage.headings else document.title
            for block in passage.blocks:
                yield from ((document.source, heading, clean_line(block.text[s:e])) for s, e in passages(block.text))


def _written(request: WriteRequest, ids: Ids) -> Iterator[str]:
    """Yield the ids of the concepts that a request is about, as far as the ledger knows them."""
    titles = {b.name.casefold(): i for i, b in ids.births.items() if b.noun == "concept"}
    yield from (id_ for task in request.concepts if (id_ := titles.get(task.title.casefold())))


def _claims(plan: Plan, undecided: _Undecided) -> Iterator[TouchedClaim]:
    """Yield the claims that would be added, changed or retracted."""
    names: dict[str, Literal["added", "changed", "retracted"]] = {
        "birth": "added",
        "revive": "added",
        "reanchor": "changed",
        "retire": "retracted",
    }
    for event in plan.events:
        if event["of"] == "claim" and event["type"] in names:
            id_ = str(event["id"])
            source = plan.ids.present_key.get(id_, "").partition(":")[0]
            path = plan.ids.present_key.get(source, source)
            words, was = plan.ids.quotes.get(id_, ""), plan.said_before.get(id_, "")
            if id_ in undecided.claims:
                yield TouchedClaim("changed", id_, path, undecided.claims[id_], words)
            else:
                yield TouchedClaim(names[event["type"]], id_, path, words, was)


def _passages(plan: Plan) -> Iterator[NewPassage]:
    """Yield the passages that a model would be asked to read."""
    for request in plan.open:
        if isinstance(request, ReadRequest):
            for source, heading, words in _shown(request):
                yield NewPassage(plan.ids.present_key.get(source, source), clean_line(heading), words)


# --- articles -------------------------------------------------------------------------------------------------------


def _articles(plan: Plan, undecided: _Undecided) -> Iterator[TouchedArticle]:
    """Yield the articles that would be created, updated, removed or proposed, with the sentences that change."""
    asked = {id_: 1 for r in plan.open if isinstance(r, WriteRequest) for id_ in _written(r, plan.ids)}
    lost = {e["id"] for e in plan.events if e["of"] == "claim" and e["type"] in ("retire", "reanchor")}
    for path in sorted({*plan.new, *plan.removed}):
        there = path.removeprefix(f"{PROPOSALS}/")
        if not there.startswith((f"{CONCEPTS}/", f"{TOPICS}/")) or (there != path and path in plan.removed):
            continue
        old, new = plan.old[there if there != path else path], plan.new.get(path)
        properties = read_properties(new if new is not None else old or "")
        gone, come = _difference(old or "", new or "")
        waiting = {c.claim for s in sentences(old or "") for c in s.cites} & undecided.claims.keys()
        if waiting:  # without the answers the page may look as if nothing of it were left
            gone, come = tuple(s.text for s in sentences(old or "") if any(c.claim in lost for c in s.cites)), ()
        what: Literal["created", "updated", "removed", "proposed"] = (
            "proposed" if there != path else "removed" if new is None else "created" if old is None else "updated"
        )
        id_ = properties.text("id")
        title, count = properties.text("title"), asked.pop(id_, 0) or len(waiting)
        yield TouchedArticle("updated" if waiting else what, id_, there, title, gone, come, count)
    for id_, count in sorted(asked.items()):  # nothing but the answers would change it
        born = plan.ids.births.get(id_)
        path = f"{CONCEPTS}/{born.slug}.md" if born is not None else ""
        what = "updated" if path in plan.files else "created"
        yield TouchedArticle(what, id_, path, born.name if born else "", asked=count)


def _difference(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences that only `old` has, and those that only `new` has; citation numbers do not count."""
    before, after = list(sentences(old)), list(sentences(new))
    left, come = Counter(map(_words_and_claims, after)), Counter(map(_words_and_claims, before))
    return tuple(_only_in(before, left)), tuple(_only_in(after, come))


def _words_and_claims(sentence: CitedSentence) -> tuple[str, tuple[str, ...]]:
    """Return the words of a sentence and the claims that it cites."""
    return sentence.text, tuple(c.claim for c in sentence.cites)


def _only_in(mine: Iterable[CitedSentence], theirs: Counter[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield the sentences of `mine` that are not among those counted in `theirs`."""
    for sentence in mine:
        if theirs[_words_and_claims(sentence)]:
            theirs[_words_and_claims(sentence)] -= 1
        else:
            yield sentence.text


# --- cards and gaps -------------------------------------------------------------------------------------------------


def _cards(plan: Plan, undecided: _Undecided) -> Iterator[TouchedCard]:
    """Yield the cards that would be created, changed, suspended, or depend on what a model will answer."""
    waiting = {id_: c for id_, c in plan.cards.items() if not undecided.claims.keys().isdisjoint(c.cites)}
    card_events = {CardId(str(e["id"])): e for e in plan.events if e["of"] == "card"}
    for id_, card in waiting.items():
        if plan.ids.alive(id_) or card_events.get(id_, {}).get("type") == "retire":
            yield TouchedCard(
                "asked", id_, _deck(card.concept, plan.ids), card.question, "the sources it is based on changed"
            )
    yield from (card for card in _event_cards(plan, undecided) if card.id not in waiting)


def _event_cards(plan: Plan, undecided: _Undecided) -> Iterator[TouchedCard]:
    """Yield what the events say of cards, without what depends on answers that are missing."""
    back = {e["id"] for e in plan.events if e["of"] == "card" and e["type"] == "revive"}
    for event in plan.events:
        if event["of"] != "card" or (event["type"] != "retire" and event.get("concept") in undecided.concepts):
            continue
        id_ = CardId(str(event["id"]))
        before = plan.cards.get(id_)
        if event["type"] == "birth":
            yield TouchedCard("created", id_, _deck(str(event["concept"]), plan.ids), str(event["q"]))
        elif event["type"] == "change" and id_ in back:
            yield TouchedCard("returned", id_, _deck(str(event["concept"]), plan.ids), str(event["q"]))
        elif event["type"] == "change" and event.get("how") in ("fact", "reworded"):
            what: Literal["changed", "reworded"] = "changed" if event["how"] == "fact" else "reworded"
            yield TouchedCard(what, id_, _deck(str(event["concept"]), plan.ids), str(event["q"]))
        elif event["type"] == "retire" and before is not None:
            reason, deck = str(event.get("reason", "")), _deck(before.concept, plan.ids)
            asked = before.concept in undecided.concepts
            yield TouchedCard("asked" if asked else "suspended", id_, deck, before.question, reason)


def _deck(concept: str, ids: Ids) -> str:
    """Return the path of a concept's deck; "" if the concept is unknown."""
    born = ids.births.get(concept)
    return f"{FLASHCARDS}/{born.slug}.md" if born is not None else ""


def _gaps(plan: Plan, undecided: _Undecided) -> Iterator[TouchedGap]:
    """Yield the gaps that open, close or change; those of concepts in doubt as "asked"."""
    names = {plan.ids.births[i].name.casefold() for i in undecided.concepts if i in plan.ids.births}
    for gap in _changed_gaps(plan):
        yield replace(gap, what="asked") if gap.words.casefold() in names else gap


def _changed_gaps(plan: Plan) -> Iterator[TouchedGap]:
    """Yield the gaps that open, close or change, by comparing the agenda before and after."""
    if GAPS not in plan.new:
        return
    before = {gap.id: gap for gap in parse_agenda(plan.old.get(GAPS) or "")}
    after = {gap.id: gap for gap in parse_agenda(plan.new[GAPS])}
    for id_ in dict.fromkeys(chain(after, before)):
        old, new = before.get(id_), after.get(id_)
        was, now = old is not None and old.open, new is not None and new.open
        if now and not was:
            yield _gap("opened", new)
        elif was and not now:
            yield _gap("closed", new or old)
        elif now and _gap_words(old) != _gap_words(new):
            yield _gap("changed", new)


def _gap_words(gap: Gap | None) -> tuple[object, ...]:
    """Return what the agenda says of a gap, to compare it."""
    return (gap.what, gap.missing, gap.mentions, gap.fill) if gap is not None else ()


def _gap(what: Literal["opened", "changed", "closed"], gap: Gap | None) -> TouchedGap:
    """Return a gap as the preview lists it."""
    assert gap is not None, "a gap is listed only if it existed before or after the compile"
    return TouchedGap(what, gap.id, gap.kind.value, gap.what, gap.missing)
