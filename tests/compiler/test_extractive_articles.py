"""Articles of the embedded engine: the sources' own sentences in a readable order, each cited, none said twice."""

from __future__ import annotations

from compiler.engines.extractive import ExtractiveEngine
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest
from vault.model.claim import ClaimKind

ENGINE = ExtractiveEngine()


def view(number: int, kind: str, words: str) -> ClaimView:
    return ClaimView(
        id=f"{number:010d}", kind=ClaimKind(kind), words=words, quote=words, source="Notes", about=("Glacier",)
    )


def article(*claims: ClaimView, language: str = "en") -> ComposeReply:
    return ENGINE.compose(ComposeRequest(title="Glacier", aliases=(), language=language, claims=claims))


def texts(reply: ComposeReply) -> list[str]:
    return [s.text for section in reply.sections for paragraph in section.paragraphs for s in paragraph]


DEFINITION = view(1, "definition", "A glacier is a mass of ice that flows slowly over land.")
CAUSE = view(2, "mechanism", "Glaciers carve valleys because they drag rocks along their beds.")
USE = view(3, "application", "Glaciers are used as an archive of past climates.")
LIMIT = view(4, "limitation", "Glaciers cannot form where the summers are warm.")
FACT = view(5, "fact", "Glaciers hold most of the fresh water on the planet.")


def test_the_definition_leads_and_each_kind_has_its_heading() -> None:
    reply = article(FACT, LIMIT, USE, CAUSE, DEFINITION)
    assert [s.heading for s in reply.sections] == ["", "How it works", "When to use it", "Limits", "Facts"]
    assert texts(reply)[0] == DEFINITION.words


def test_every_sentence_cites_the_claim_it_repeats() -> None:
    words = {c.id: c.words for c in (DEFINITION, CAUSE, USE, LIMIT, FACT)}
    for section in article(DEFINITION, CAUSE, USE, LIMIT, FACT).sections:
        for paragraph in section.paragraphs:
            assert all(words[s.cites[0]] == s.text for s in paragraph)


def test_near_copies_are_said_once_and_cited_together() -> None:
    again = view(6, "definition", "A glacier is a mass of ice that flows very slowly over land.")
    (section,) = article(DEFINITION, again).sections
    (sentence,) = section.paragraphs[0]
    assert set(sentence.cites) == {DEFINITION.id, again.id}


def test_without_a_definition_the_first_sentence_still_leads() -> None:
    reply = article(CAUSE, FACT)
    assert reply.sections[0].heading == ""
    assert texts(reply) == [CAUSE.words, FACT.words]


def test_openers_and_pointers_that_make_no_sense_alone_are_left_out() -> None:
    turning = view(7, "fact", "However, glaciers are shrinking in most parts of the world (see chapter 5).")
    assert texts(article(turning)) == ["Glaciers are shrinking in most parts of the world."]


def test_an_article_stays_short_enough_to_read() -> None:
    verbs = "carve drag grind polish shape move lift push bury melt freeze crack fill cover divide block".split()
    claims = [
        view(10 + i, "mechanism", f"Glaciers {v} the land number {i * 37} of its valleys.") for i, v in enumerate(verbs)
    ]
    assert 3 <= len(texts(article(*claims))) <= 7


def test_headings_are_in_the_language_of_the_concept() -> None:
    assert [s.heading for s in article(DEFINITION, CAUSE, language="de").sections] == ["", "Wie es funktioniert"]
    assert [s.heading for s in article(DEFINITION, CAUSE, language="zh").sections] == ["", "工作原理"]


def test_nothing_to_say_makes_an_empty_article() -> None:
    assert article().sections == ()


def test_the_same_request_gives_the_same_article() -> None:
    assert article(FACT, CAUSE, DEFINITION) == article(FACT, CAUSE, DEFINITION)
