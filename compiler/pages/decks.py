"""The cards of a build: what is asked of the engine for each article, which cards live on, and their decks."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from compiler.articles.article import Article, TextOf
from compiler.articles.compose import Composed
from compiler.articles.concepts import Concepts
from compiler.articles.history import merged
from compiler.articles.page import inputs_of
from compiler.articles.renames import undone_cards
from compiler.articles.views import Views
from compiler.articles.writer import Writer
from compiler.cards.cards import CardDecider, CardNews, Claims
from compiler.cards.decks import DeckPlan, Fresh, card_block, lines_shown
from compiler.cards.live_cards import LiveCard, live_cards
from compiler.cards.suggestions import Candidate
from compiler.concepts.resolve import Resolved
from compiler.gates.gates import card_gate, stored_forms
from compiler.index.steps import digest_of
from compiler.model.report import Rejection
from compiler.model.requests import CardsReply, CardsRequest, ProposedCard
from compiler.protocol.replies import WrittenCard
from vault.ids import CardId, ClaimId
from vault.inbox.suggestion_events import Decision, Triage
from vault.inbox.suggestions import Suggestion
from vault.layout import FLASHCARDS
from vault.model.frontmatter import Value
from vault.model.wikilink import Citation


@dataclass(frozen=True, slots=True)
class CardDecks:
    """What each of the machine's decks is to hold, by path; what happened to the cards; what was refused or offered."""

    decks: dict[str, DeckPlan]
    news: CardNews
    rejections: list[Rejection]
    suggested: list[Suggestion]


def write_cards(
    composed: Composed,
    concepts: Concepts,
    writer: Writer,
    *,
    deleted: frozenset[CardId],
    flagged: Mapping[CardId, str],
    words_before: Mapping[str, str],
    old_text: TextOf,
    triage: Triage,
    present: Container[CardId],
) -> CardDecks:
    """Return the decks of all articles. Raises: what the asker raises.

    `deleted` and `flagged` (why) are cards that the user does not want; `words_before` are the former words of claims
    that changed in this build; `old_text` gives the decks of the last build. `triage` is what the user decided about
    suggested cards; of those that the user worded, the ones in no deck yet (`present` are in one) get these words.
    """
    articles = list(composed.articles.values())
    # No card asks about what is past, or about what weightier sources deny.
    views, outdated = composed.views, concepts.outdated
    replies = _replies(articles, views, outdated, writer)
    decider = _decider(articles, concepts, writer, deleted, flagged, words_before, triage)
    decider.open()
    for article, reply in zip(articles, replies, strict=True):
        decider.decide(article.concept, _claims(article.concept, views, outdated, writer), reply)
    news = decider.close()
    by_path = {f"{FLASHCARDS}/{a.concept.slug}.md": a.concept for a in articles}
    rejections: list[Rejection] = []
    for path, refused in groupby(news.rejections, lambda r: r.path):  # concept by concept
        rejections += writer.refused(refused, by_path[path], path, concepts.sources)
    edited = {
        card: (one.question, one.answer)
        for card, one in triage.decided.items()
        if one.decision is Decision.EDIT and card not in present
    }
    decks = {
        path: _deck(path, article, news.cards.get(article.concept.id, []), concepts, writer, old_text, edited)
        for path, article in zip(by_path, articles, strict=True)
    }
    by_id: dict[str, Article] = {a.concept.id: a for a in articles}
    suggested = [_suggestion(candidate, by_id[candidate.concept], concepts) for candidate in news.suggested]
    return CardDecks(decks, news, rejections, suggested)


def _suggestion(candidate: Candidate, article: Article, concepts: Concepts) -> Suggestion:
    """Return what a user is shown of a card that the engine suggests."""
    card, sources = candidate.card, concepts.sources
    claim = sources.claims[ClaimId(card.cites[0])]
    return Suggestion(
        id=candidate.id,
        concept=article.concept.title,
        article=article.path,
        form=card.form,
        kind=card.kind,
        question=card.question,
        answer=card.answer,
        score=card.score,
        claim=claim.id,
        claim_kind=claim.kind.value,
        quote=claim.quote,
        source=sources.by_id[claim.source].tracked.path,
        source_title=sources.titles[claim.source],
        place=claim.locator,
    )


def _replies(
    articles: Sequence[Article], views: Views, outdated: Container[ClaimId], writer: Writer
) -> list[CardsReply]:
    """Return the cards that are proposed for each article: a draft's, else the embedded engine's."""
    without = [a.concept for a in articles if writer.draft_of(a.concept) is None]
    asked = writer.cards([views.question(CardsRequest, c, outdated) for c in without])
    found = dict(zip((c.id for c in without), asked, strict=True))
    out = []
    for article in articles:
        draft = writer.draft_of(article.concept)
        known = {c.id for c in article.concept.main if c.id not in outdated}
        proposed = (_proposed(card, writer) for card in draft.cards) if draft is not None else ()
        cards = tuple(c for c in proposed if c.cites and known.issuperset(c.cites))
        out.append(CardsReply(cards=cards) if draft is not None else found[article.concept.id])
    return out


def _claims(concept: Resolved, views: Views, outdated: Container[ClaimId], writer: Writer) -> Claims:
    """Return the claims that cards on a concept may cite."""
    gate = "written" if writer.is_model else "strict"
    digest = digest_of(gate, views.digest(concept, outdated))
    return Claims(lambda: {v.id: v for v in views.of(concept, outdated)}, digest, writer.embedded.steps)


def _proposed(card: WrittenCard, writer: Writer) -> ProposedCard:
    """Return a card of a draft, its quotes as claims; without claims where one of them is none."""
    return ProposedCard(
        kind=card.kind, question=card.question, answer=card.answer, cites=tuple(map(str, writer.cites(card.quotes)))
    )


def _decider(
    articles: Sequence[Article],
    concepts: Concepts,
    writer: Writer,
    deleted: frozenset[CardId],
    flagged: Mapping[CardId, str],
    words_before: Mapping[str, str],
    triage: Triage,
) -> CardDecider:
    """Return what decides which cards live."""
    history = concepts.history
    current = [c for c in concepts.sources.claims.values() if c.id not in concepts.outdated]
    return CardDecider(
        history.ids,
        live_cards(history.events, history.ids),
        words={c.id: f"- {c.words}" if writer.is_model else f"{c.kind} {c.words}" for c in current},
        home=dict(concepts.resolution.owners),
        at=history.at,
        engine=writer.engine,
        deleted=deleted,
        mains={a.concept.id: frozenset(str(c.id) for c in a.concept.main) for a in articles},
        quotes={c.id: c.quote for c in current},
        said_before=words_before,
        flagged=flagged,
        gate=card_gate(by_model=writer.is_model, forms_of=stored_forms(writer.embedded.steps)),
        outdated=concepts.outdated,
        undone=undone_cards(history.events, history.rulings, history.ids),
        triage=triage,
    )


def _deck(
    path: str,
    article: Article,
    cards: Sequence[LiveCard],
    concepts: Concepts,
    writer: Writer,
    old_text: TextOf,
    edited: Mapping[str, tuple[str, str]],
) -> DeckPlan:
    """Return the deck of an article; its citations have the numbers of the article's sources."""
    sources = concepts.sources
    number = {s: n for n, s in enumerate(article.places, 1)}
    claims_of = {card.id: [sources.claims[c] for c in card.cites] for card in cards}

    def fresh() -> Fresh:
        blocks = []
        for card in cards:
            claims = claims_of[card.id]
            cites = [Citation(sources.summaries[c.source], c.id, number[c.source]) for c in claims]
            shown = [replace(c, exhibits=sources.pictures.get(c.id, ())) for c in claims] if article.drafted else claims
            blocks.append(card_block(card, cites, lines_shown(shown), words=edited.get(card.id)))
        old = old_text(path)
        before = concepts.history.written(article.concept.id, article.before, old)
        properties: dict[str, Value] = {
            "type": "flashcards",
            "concept": article.concept.id,
            "article": article.link,
            "generator": writer.engine,
            "tags": merged("tags", article.tags, before, old),
        }
        return Fresh(article.concept.title, properties, blocks)

    shown = [
        (
            *(card.id, card.kind.value, card.question, card.answer, edited.get(card.id)),
            *((c.id, sources.summaries[c.source], number[c.source], c.exhibits) for c in claims_of[card.id]),
        )
        for card in cards
    ]
    inputs = inputs_of(
        {"cards": shown, "article": (article.link, writer.engine, article.drafted), "tags": article.tags}
    )
    cites = frozenset(claim for card in cards for claim in card.cites)
    return DeckPlan(inputs, tuple(card.id for card in cards), cites, fresh)
