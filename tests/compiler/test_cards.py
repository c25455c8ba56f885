"""Which cards live on, seen without workers: the desk is pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.cards.cards import CardDecider, CardNews, Claims
from compiler.cards.live_cards import keyed, live_cards
from compiler.concepts.resolve import Resolved
from compiler.model.requests import CardKindName, CardsReply, ClaimView, ProposedCard
from vault.ids import CardId, ClaimId, ConceptId, SourceId
from vault.log import ledger
from vault.model.claim import Claim, ClaimKind

CONCEPT = "cccccccccc"
DAYS = [f"2026-11-{day}T09:00:00.000Z" for day in range(10, 30)]
TEXTS = {
    "1111111111": (ClaimKind.DEFINITION, "A kite is a tethered craft that flies by the lift of the wind."),
    "2222222222": (ClaimKind.MECHANISM, "A kite rises because moving air pushes its surface upwards."),
}


def proposal(kind: CardKindName, question: str, answer: str, cite: str) -> ProposedCard:
    return ProposedCard(kind=kind, question=question, answer=answer, cites=(cite,))


WHAT = proposal("definitional", "What is a kite?", "A tethered craft that flies by the lift of the wind.", "1111111111")
TERM = proposal("definitional", "How does a kite fly?", "By the lift of the wind.", "1111111111")
WHY = proposal("mechanistic", "Why does a kite rise?", "Because moving air pushes its surface upwards.", "2222222222")


@dataclass
class World:
    """A ledger that grows with every compile."""

    events: list[ledger.Event] = field(default_factory=list)

    def compile(
        self, texts: dict[str, tuple[ClaimKind, str]], *cards: ProposedCard, deleted: frozenset[CardId] = frozenset()
    ) -> CardNews:
        ids = ledger.fold(self.events)
        claims = tuple(Claim(ClaimId(i), SourceId("ssssssssss"), kind, words) for i, (kind, words) in texts.items())
        concept = Resolved(ConceptId(CONCEPT), "Kite", (), "kite", "en", frozenset({"kite"}), claims)
        views: dict[str, ClaimView] = {
            c.id: ClaimView(id=c.id, kind=c.kind, words=c.words, quote=c.quote, source="Notes") for c in claims
        }
        words: dict[str, str] = {c.id: f"{c.kind} {c.words}" for c in claims}
        home = dict.fromkeys(words, CONCEPT)
        at = DAYS[len(self.events) // 3]
        desk = CardDecider(ids, live_cards(ledger.ordered(self.events), ids), words, home, at, "test/1", deleted)
        desk.open()
        desk.decide(concept, Claims(lambda: views), CardsReply(cards=cards))
        news = desk.close()
        self.events += news.events
        return news


def ids_of(news: CardNews) -> list[str]:
    return [c.id for c in news.cards.get(CONCEPT, [])]


def test_cards_are_born_once_and_then_kept() -> None:
    world = World()
    first = world.compile(TEXTS, WHAT, WHY)
    again = world.compile(TEXTS, WHAT, WHY)
    assert (first.created, again.created, again.kept) == (2, 0, 2)
    assert ids_of(first) == ids_of(again) and again.events == []


def test_a_living_card_keeps_its_words_though_the_engine_has_found_others() -> None:
    world = World()
    first = world.compile(TEXTS, WHAT)
    other = proposal("definitional", "What sort of craft is a kite?", "A tethered craft.", "1111111111")
    later = world.compile(TEXTS, other)
    assert [c.question for c in later.cards[CONCEPT]] == ["What is a kite?"] and ids_of(later) == ids_of(first)


def test_two_cards_of_one_claim_and_kind_are_two_cards() -> None:
    world = World()
    first = world.compile(TEXTS, WHAT, TERM)
    assert len(set(ids_of(first))) == 2 and list(keyed((WHAT, TERM))) == [
        "definitional:1111111111", "definitional:1111111111:2"
    ]  # fmt: skip
    assert sorted(ids_of(world.compile(TEXTS, WHAT, TERM))) == sorted(ids_of(first))


def test_a_card_follows_its_claim_and_keeps_its_id() -> None:
    world = World()
    first = world.compile(TEXTS, WHAT)
    texts = TEXTS | {"1111111111": (ClaimKind.DEFINITION, "A kite is a tethered craft that flies on wind.")}
    changed = proposal("definitional", "What is a kite?", "A tethered craft that flies on wind.", "1111111111")
    later = world.compile(texts, changed)
    assert ids_of(later) == ids_of(first) and later.updated == 1
    assert later.cards[CONCEPT][0].answer == "A tethered craft that flies on wind."


def test_a_card_whose_claim_is_gone_or_of_another_kind_is_retired_and_comes_back_with_it() -> None:
    world = World()
    first = world.compile(TEXTS, WHAT)
    gone = world.compile({"2222222222": TEXTS["2222222222"]})
    assert gone.suspended == 1 and ids_of(gone) == []
    back = world.compile(TEXTS, WHAT)
    assert ids_of(back) == ids_of(first) and [e["type"] for e in back.events] == ["revive"]
    other_kind = world.compile(TEXTS | {"1111111111": (ClaimKind.FACT, TEXTS["1111111111"][1])}, WHAT)
    assert other_kind.suspended == 1 and ids_of(other_kind) == []


def test_a_card_that_the_human_deleted_is_not_made_again() -> None:
    world = World()
    (id_,) = ids_of(world.compile(TEXTS, WHAT))
    deleted = frozenset({CardId(id_)})
    assert ids_of(world.compile(TEXTS, WHAT, deleted=deleted)) == []
    assert ids_of(world.compile(TEXTS, WHAT, deleted=deleted)) == []


def test_at_most_two_cards_of_a_kind() -> None:
    third = proposal(
        "definitional", "What tethered craft flies by lift?", "A kite, by the lift of the wind.", "1111111111"
    )
    news = World().compile(TEXTS, WHAT, TERM, third, WHY)
    assert [c.kind.value for c in news.cards[CONCEPT]] == ["definitional", "definitional", "mechanistic"]
