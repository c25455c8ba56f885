"""Suggested cards through real compiles: what is offered, what a decision does, and what comes of it later."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from tests.builders import copy_vault, vault_with_sources
from tests.in_process import every_candidate, only_suggestions
from vault.inbox.suggestion_events import LAST, Decision, triage_of
from vault.inbox.suggestions import Suggestion, decide, offered, undo
from vault.layout import SUGGESTIONS
from vault.log import ledger
from vault.vault import Vault

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
PRODUCTS = ("wiki", "learning", "ledger")
SOURCES = {
    "volcanoes.md": """\
# Volcanoes

A volcano is a vent in the crust of the Earth from which lava and gases escape.
Volcanoes erupt because gases in the magma expand as the pressure falls.
""",
    "glaciers.md": """\
# Glaciers

A glacier is a mass of ice that moves downhill under its own weight.
""",
}
ROCKS = (
    "andesite basalt breccia chalk chert coal conglomerate dacite diabase diorite dolomite dunite flint gabbro gneiss"
    " granite gypsum hornfels jasper limestone marble marl migmatite mudstone obsidian peridotite phyllite pumice"
    " quartzite rhyolite sandstone schist shale siltstone slate soapstone syenite tuff"
).split()


@pytest.fixture(scope="module", autouse=True)
def uncertain() -> Iterator[None]:
    """The embedded engine suggests every card, and queues none."""
    with only_suggestions():
        yield


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of two documents after its first compile; copy it, don't touch it."""
    vault = vault_with_sources(tmp_path_factory.mktemp("suggested") / "vault", SOURCES)
    build(vault)
    return vault.root


@pytest.fixture
def vault(compiled: Path, tmp_path: Path) -> Vault:
    return copy_vault(compiled, tmp_path / "vault")


def build(vault: Vault, days: float = 0, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), START + timedelta(days=days), lambda event: None)


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def cards(vault: Vault) -> dict[str, tuple[str, str]]:
    """The cards in the decks: id -> question and answer."""
    return {str(card.id): (card.question, card.answer) for deck in vault.decks() for card in deck.cards}


def files(vault: Vault) -> dict[str, bytes]:
    paths = [p for folder in PRODUCTS for p in sorted((vault.root / folder).rglob("*")) if p.is_file()]
    return {str(p.relative_to(vault.root)): p.read_bytes() for p in paths}


def named(vault: Vault, form: str, concept: str = "Volcano") -> Suggestion:
    return next(s for s in offered(vault).suggestions if (s.form, s.concept) == (form, concept))


def write(vault: Vault, name: str, text: str) -> None:
    (vault.root / "raw/articles" / name).write_text(text, encoding="utf-8")


# --- what is offered --------------------------------------------------------------------------------------------------


def test_what_the_engine_is_less_sure_of_is_offered_best_first_and_is_in_no_deck(vault: Vault) -> None:
    found = offered(vault)
    scores = [each.score for each in found.suggestions]
    assert (found.compiled, found.by_model, cards(vault)) == (True, False, {})
    assert scores == sorted(scores, reverse=True)
    one = named(vault, "definition")
    assert one.question.endswith("hat is a volcano?")
    assert one.answer == "A vent in the crust of the Earth from which lava and gases escape."
    assert (one.article, one.source) == ("wiki/concepts/volcano.md", "raw/articles/volcanoes.md")
    assert one.quote in SOURCES["volcanoes.md"] and "line 3" in one.place
    assert len({each.id for each in found.suggestions}) == len(found.suggestions)


def test_the_list_comes_back_after_its_cache_was_deleted(vault: Vault) -> None:
    before = offered(vault)
    (vault.root / SUGGESTIONS).unlink()
    assert offered(vault).suggestions == () and not offered(vault).compiled
    build(vault, 1)
    assert offered(vault) == before
    shutil.rmtree(vault.root / ".retain")
    build(vault, 2)
    assert offered(vault) == before


def test_a_damaged_cache_offers_nothing_and_breaks_nothing(vault: Vault) -> None:
    row = json.loads((vault.root / SUGGESTIONS).read_text())["suggestions"][0]
    rows = [1, {"id": 2}, row | {"id": "../../x"}, row | {"score": "high"}, row | {"claim_kind": "secret"}]
    for words in ("", "[]", json.dumps({"suggestions": rows}), "{" * 9000):
        (vault.root / SUGGESTIONS).write_text(words)
        assert offered(vault).suggestions == ()


def test_a_card_that_only_the_cache_knows_comes_into_no_deck(vault: Vault) -> None:
    data = json.loads((vault.root / SUGGESTIONS).read_text())
    data["suggestions"][0] |= {"id": "0000000000", "question": "Who owns this vault?", "answer": "I do."}
    (vault.root / SUGGESTIONS).write_text(json.dumps(data))
    decide(vault, "0000000000", Decision.KEEP, at(1))
    build(vault, 1)
    assert cards(vault) == {}


# --- decisions --------------------------------------------------------------------------------------------------------


def test_a_kept_card_is_in_its_deck_and_is_offered_no_more(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    assert one.id not in [each.id for each in offered(vault).suggestions]
    report = build(vault, 1)
    assert report.cards["created"] == 1
    assert cards(vault) == {one.id: (one.question, one.answer)}
    assert not any(each.question == one.question for each in offered(vault).suggestions)
    found = verify(vault, lambda event: None)
    assert found.clean and found.cards == 1


def test_kept_cards_are_the_same_byte_for_byte_after_a_compile_a_rebuild_and_without_caches(vault: Vault) -> None:
    for one in offered(vault).suggestions[:2]:
        decide(vault, one.id, Decision.KEEP, at(1))
    edited = offered(vault).suggestions[0]
    decide(vault, edited.id, Decision.EDIT, at(2), words=("Whose words?", "Mine: a *hot*\n\n- place"))
    build(vault, 1)
    before = files(vault)
    build(vault, 2)
    assert files(vault) == before
    build(vault, 3, fresh=True)
    assert files(vault) == before
    shutil.rmtree(vault.root / ".retain")
    build(vault, 4)
    assert files(vault) == before
    assert len(cards(vault)) == 3


def test_a_dropped_card_does_not_return(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.DROP, at(1))
    for step in range(3):
        if step == 2:
            shutil.rmtree(vault.root / ".retain")
        build(vault, 1 + step, fresh=step == 1)
        assert one.question not in [each.question for each in offered(vault).suggestions]
        assert cards(vault) == {}
    write(vault, "volcanoes.md", SOURCES["volcanoes.md"].replace("and gases escape", "and gases can escape"))
    build(vault, 5)
    assert one.question not in [each.question for each in offered(vault).suggestions]


def test_a_dropped_card_does_not_come_into_the_queue_when_it_is_scored_higher(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.DROP, at(1))
    with every_candidate():
        build(vault, 1, fresh=True)
    assert cards(vault) and one.question not in [question for question, _ in cards(vault).values()]


def test_a_kept_card_stays_the_same_card_when_it_is_scored_higher(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    build(vault, 1)
    with every_candidate():
        build(vault, 2, fresh=True)
        write(vault, "volcanoes.md", SOURCES["volcanoes.md"].replace("crust of the Earth", "hard crust of the Earth"))
        build(vault, 3)
    asked = [id_ for id_, (question, _) in cards(vault).items() if question == one.question]
    assert asked == [one.id] and "hard crust" in cards(vault)[one.id][1]


def test_an_edited_card_has_the_users_words_and_no_compile_changes_them(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.EDIT, at(1), words=("What is a volcano for me?", "A *vent* that lava leaves."))
    build(vault, 1)
    deck = next(deck for deck in vault.decks() if deck.cards)
    assert deck.cards[0].human_edited
    assert cards(vault)[one.id] == ("What is a volcano for me?", "A *vent* that lava leaves.")
    text = deck.text.replace("for me", "for us")
    (vault.root / deck.path).write_text(text, encoding="utf-8")
    build(vault, 2)
    build(vault, 3, fresh=True)
    assert (vault.root / deck.path).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("decision", Decision)
@pytest.mark.parametrize("compiled_between", [False, True])
def test_an_undone_decision_leaves_everything_as_it_was(
    vault: Vault, decision: Decision, compiled_between: bool
) -> None:
    before, decks = offered(vault), {p: b for p, b in files(vault).items() if p.startswith("learning/flashcards")}
    words = ("Mine?", "Mine.") if decision is Decision.EDIT else None
    done = decide(vault, named(vault, "definition").id, decision, at(1), words=words)
    if compiled_between:
        build(vault, 1)
    assert undo(vault, at(30)).decided == done.decided
    build(vault, 2)
    assert offered(vault) == before
    assert {p: b for p, b in files(vault).items() if p.startswith("learning/flashcards")} == decks
    ids = (vault.root / ledger.IDS).read_bytes()
    build(vault, 3, fresh=True)
    assert (vault.root / ledger.IDS).read_bytes() == ids
    decide(vault, named(vault, "definition").id, Decision.KEEP, at(80))  # and again, with its history
    build(vault, 4)
    assert list(cards(vault)) == [done.decided.card]


MORE = ["It may sleep for ages.", "$$E = mc^2$$", "![[wiki/assets/mine.png]]"]


def worded(vault: Vault) -> tuple[Suggestion, Path, str]:
    """Keep the definition in words of the user's; return it, its deck and that deck's text."""
    one = named(vault, "definition")
    decide(vault, one.id, Decision.EDIT, at(1), words=("Mine?", "Mine.\n# Not a title"))
    build(vault, 1)
    path = vault.root / f"learning/flashcards/{one.article.rpartition('/')[2]}"
    return one, path, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("more", MORE)
def test_what_the_user_added_in_the_deck_stays_when_the_decision_is_undone(vault: Vault, more: str) -> None:
    one, path, text = worded(vault)
    path.write_text(text.replace("# Not a title\n", f"# Not a title\n{more}\n"), encoding="utf-8")
    undo(vault, at(30))
    for days in (2, 3):
        build(vault, days, fresh=days == 3)
        assert cards(vault)[one.id] == ("Mine?", f"Mine.\n\\# Not a title\n{more}")


@pytest.mark.parametrize("more", MORE)
def test_what_the_user_added_on_one_side_of_a_conflict_is_reported_and_stays(vault: Vault, more: str) -> None:
    _, path, text = worded(vault)
    line = next(line for line in text.splitlines(keepends=True) if line.endswith("# Not a title\n"))
    both = text.replace(line, f"<<<<<<< ours\n{line}=======\n{line}{more}\n>>>>>>> theirs\n")
    path.write_text(both, encoding="utf-8")
    assert [failure.code for failure in build(vault, 2).failures] == ["conflict"]
    assert path.read_text(encoding="utf-8") == both
    path.write_text(text.replace(line, f"<<<<<<< ours\n{line}=======\n{line.rstrip()}  \n>>>>>>> theirs\n"))
    assert build(vault, 3).failures == [] and path.read_text(encoding="utf-8") == text


def test_an_undone_edit_goes_with_what_its_source_shows(vault: Vault) -> None:
    shown = "```python\nerupt(magma)\n```"
    write(vault, "volcanoes.md", SOURCES["volcanoes.md"].replace("escape.\n", f"escape. In Python:\n\n{shown}\n\n"))
    build(vault, 0.5)
    one, _, text = worded(vault)
    assert shown in text
    undo(vault, at(30))
    build(vault, 2)
    assert one.id not in cards(vault)


def test_a_kept_card_survives_an_unrelated_edit_and_goes_with_its_claim(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    build(vault, 1)
    deck = f"learning/flashcards/{one.article.rpartition('/')[2]}"
    kept = (vault.root / deck).read_bytes()
    write(vault, "glaciers.md", SOURCES["glaciers.md"].replace("downhill", "slowly downhill"))
    write(vault, "volcanoes.md", SOURCES["volcanoes.md"] + "\nA lahar is a flow of mud that runs down a volcano.\n")
    build(vault, 2)
    assert (vault.root / deck).read_bytes() == kept
    write(vault, "volcanoes.md", "# Volcanoes\n\nA lahar is a flow of mud that runs down a volcano.\n")
    report = build(vault, 3)
    assert report.cards["suspended"] == 1 and one.id not in cards(vault)
    write(vault, "volcanoes.md", SOURCES["volcanoes.md"])
    build(vault, 4)
    assert cards(vault)[one.id] == (one.question, one.answer)


def test_a_card_follows_a_claim_that_is_worded_otherwise(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    build(vault, 1)
    write(vault, "volcanoes.md", SOURCES["volcanoes.md"].replace("crust of the Earth", "hard crust of the Earth"))
    build(vault, 2)
    assert list(cards(vault)) == [one.id] and "hard crust" in cards(vault)[one.id][1]


def test_a_card_that_the_user_took_out_of_the_deck_is_not_suggested_again(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    build(vault, 1)
    deck = next(deck for deck in vault.decks() if deck.cards)
    start, end = deck.cards[0].start, deck.cards[0].end
    (vault.root / deck.path).write_text(deck.text[:start] + deck.text[end:], encoding="utf-8")
    build(vault, 2)
    build(vault, 3, fresh=True)
    assert one.id not in cards(vault) and one.id not in [each.id for each in offered(vault).suggestions]


# --- two clones -------------------------------------------------------------------------------------------------------


def union(one: Vault, other: Vault) -> None:
    """Merge the ledgers as git's union merge does."""
    for path in (ledger.IDS, ledger.DECISIONS, ledger.BUILDS):
        lines = (one.root / path).read_bytes() + (other.root / path).read_bytes()
        for vault in (one, other):
            (vault.root / path).write_bytes(lines)


@pytest.mark.parametrize(("first", "last"), [("keep", "drop"), ("edit", "drop"), ("drop", "keep"), ("drop", "edit")])
def test_of_two_clones_that_decide_differently_the_later_decision_counts_in_both(
    vault: Vault, tmp_path: Path, first: str, last: str
) -> None:
    other = copy_vault(vault.root, tmp_path / "other")
    one = named(vault, "definition")
    for clone, decision, hours in ((vault, Decision(first), 1.0), (other, Decision(last), 2.0)):
        words = ("Mine?", "Mine.") if decision is Decision.EDIT else None
        decide(clone, one.id, decision, at(hours), words=words)
        build(clone, 1)
    union(vault, other)
    for clone in (vault, other):
        build(clone, 2)
        build(clone, 3, fresh=True)
        assert (one.id in cards(clone)) is (last != "drop")
        assert one.id not in [each.id for each in offered(clone).suggestions]
    assert cards(vault) == cards(other)


def test_decisions_mean_the_same_in_any_order_and_repeated(vault: Vault) -> None:
    a, b, *_ = offered(vault).suggestions
    decide(vault, a.id, Decision.KEEP, at(1))
    decide(vault, b.id, Decision.DROP, at(2))
    undo(vault, at(3))
    decide(vault, b.id, Decision.EDIT, at(4), words=("Mine?", "Mine."))
    events = vault.ledger_events(ledger.DECISIONS)[0]
    assert triage_of([*reversed(events), *events]) == triage_of(events)
    assert {card: one.decision for card, one in triage_of(events).decided.items()} == {
        a.id: Decision.KEEP,
        b.id: Decision.EDIT,
    }


def test_lines_of_the_ledger_that_are_no_decision_of_ours_count_for_nothing(vault: Vault) -> None:
    one = named(vault, "definition")
    decide(vault, one.id, Decision.KEEP, at(1))
    event = vault.ledger_events(ledger.DECISIONS)[0][0]
    for change in ({"decision": "burn"}, {"card": "../../raw"}, {"q": 7}, {"form": None}, {"a": "x" * 70_000}):
        assert triage_of([event | change]).decided == {}


# --- forms that are queued automatically ------------------------------------------------------------------------------


def rocks(count: int, start: int = 0) -> str:
    """A document that defines so many kinds of rock."""
    lines = [f"{name.capitalize()} is a rock that the quarry of {name.upper()} number {n} sells."
             for n, name in enumerate(ROCKS[start : start + count], start)]  # fmt: skip
    return "# Rocks\n\n" + "\n\n".join(lines) + "\n"


def definitions(vault: Vault) -> list[Suggestion]:
    return [each for each in offered(vault).suggestions if each.form == "definition"]


@pytest.fixture
def quarry(tmp_path: Path) -> Vault:
    vault = vault_with_sources(tmp_path / "vault", {"rocks.md": rocks(LAST)})
    build(vault)
    assert len(definitions(vault)) == LAST
    return vault


def triaged(vault: Vault, kept: int) -> list[str]:
    """Decide on all definitions, the first ones kept; return what was reported of forms."""
    news: list[str] = []
    for n, one in enumerate(definitions(vault)):
        news += decide(vault, one.id, Decision.KEEP if n < kept else Decision.DROP, at(1 + n / 100)).news
    return news


def notices(report: Report) -> list[str]:
    return [notice.message for notice in report.notices if notice.code == "form-queued"]


def test_a_form_of_which_three_in_four_of_the_last_thirty_were_kept_is_queued_by_itself(quarry: Vault) -> None:
    news = triaged(quarry, 23)
    assert len(news) == 1 and "“definition”" in news[0] and "added to the queue automatically" in news[0]
    write(quarry, "more.md", rocks(4, LAST))
    report = build(quarry, 1)
    assert notices(report) == news
    questions = {question for question, _ in cards(quarry).values()}
    for name in ROCKS[LAST : LAST + 4]:
        assert any(question.lower().endswith(f"what is {name}?") for question in questions)
    assert len(cards(quarry)) == 23 + 4
    assert definitions(quarry) == []
    assert notices(build(quarry, 2)) == []
    before = files(quarry)
    shutil.rmtree(quarry.root / ".retain")
    assert notices(build(quarry, 3)) == []
    assert files(quarry) == before


def test_fewer_kept_or_fewer_decided_promote_nothing(quarry: Vault) -> None:
    assert triaged(quarry, 22) == []
    write(quarry, "more.md", rocks(4, LAST))
    assert notices(build(quarry, 1)) == [] and len(cards(quarry)) == 22 and len(definitions(quarry)) == 4
    undo(quarry, at(40))
    assert decide(quarry, definitions(quarry)[0].id, Decision.KEEP, at(41)).news != ()
    undo(quarry, at(42))
    assert "definition" not in triage_of(quarry.ledger_events(ledger.DECISIONS)[0]).queued


def test_a_form_is_suggested_again_when_the_user_deletes_its_cards_and_cards_in_decks_stay(quarry: Vault) -> None:
    triaged(quarry, 23)
    write(quarry, "more.md", rocks(4, LAST))
    build(quarry, 1)
    path = f"learning/flashcards/{ROCKS[LAST]}.md"
    deck = quarry.deck(path)
    assert deck is not None and len(deck.cards) == 1
    card = deck.cards[0]
    (quarry.root / path).write_text(deck.text[: card.start] + deck.text[card.end :], encoding="utf-8")
    news = notices(build(quarry, 2))
    assert len(news) == 1 and "suggested again" in news[0]
    assert len(cards(quarry)) == 23 + 3
    write(quarry, "yet-more.md", rocks(2, LAST + 4))
    build(quarry, 3)
    assert len(cards(quarry)) == 23 + 3 and len(definitions(quarry)) == 2
    assert str(card.id) not in [each.id for each in offered(quarry).suggestions]


def test_the_cache_holds_no_decision(quarry: Vault) -> None:
    triaged(quarry, 23)
    build(quarry, 1)
    rows = json.loads((quarry.root / SUGGESTIONS).read_text())["suggestions"]
    assert not {row["form"] for row in rows} & {"definition"}
