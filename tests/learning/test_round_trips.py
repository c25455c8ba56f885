"""What an export writes is read back in a fresh vault: the same cards, due on the same days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learning.cards.actions import do, suspending, tagging
from learning.cards.workspace import Desk, open_desk, rate
from learning.formats.csv import export_table
from learning.formats.jsonl import export_jsonl
from learning.formats.obsidian_sr import export_obsidian_sr, obsidian_files
from learning.formats.qa import export_qa, qa_files
from learning.imports.importing import ImportOptions, import_cards
from learning.memory.ease import sr_difficulty, sr_ease
from learning.memory.state import Phase
from tests.learning.test_imports import new_vault
from vault.ids import CardId
from vault.log.events import Rating, Review
from vault.log.review_log import live, read_log

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=20)
DECK = """\
---
type: flashcards
deck: "Bio::Cells"
---

# Bio::Cells

C: The {{c1::mitochondrion}} makes {{c2::ATP::molecule}}.
%% card aaaaaaaaa1 c1 %%
%% card aaaaaaaaa2 c2 %%

C: {{c1::One}} and {{c1::another}}.
%% card aaaaaaaaa3 c1 %%

Q: Wasser
A: water
%% card bbbbbbbbb1 %%
%% card bbbbbbbbb2 reversed %%

Q: What is `a::b`?
A: Two lines

and a list:

- one
- [two]
%% card ccccccccc1 %%

Q: =1+1
A: -2
%% card ccccccccc2 %%
"""
Write = Callable[[Desk, Path], object]


@pytest.fixture
def learnt(tmp_path: Path) -> Desk:
    """A vault of cards with histories of some days."""
    vault = new_vault(tmp_path / "old")
    (vault.root / "learning/flashcards/cells.md").write_text(DECK)
    days = {
        "aaaaaaaaa1": (0, 3, 9),
        "aaaaaaaaa2": (1,),
        "aaaaaaaaa3": (0, 2),
        "bbbbbbbbb2": (0, 4, 12),
        "ccccccccc2": (2, 8),
    }
    for day in range(15):
        for card, when in days.items():
            if day in when:
                rating = Rating.EASY if when[0] == day else Rating.AGAIN if day == 4 else Rating.GOOD
                rate(open_desk(vault, NOON + timedelta(days=day, minutes=len(when))), card, rating, via="cli")
    desk = open_desk(vault, LATER)
    desk = do(desk, tagging(desk, ["aaaaaaaaa2"], ["energy"], via="cli"))
    return do(desk, suspending(desk, ["ccccccccc2"], via="cli"))


def brought(tmp_path: Path, out: Path) -> Desk:
    vault = new_vault(tmp_path / "new")
    assert not import_cards(vault, out, LATER, ImportOptions()).problems
    return open_desk(vault, LATER)


def schedule(desk: Desk) -> dict[str, tuple[object, ...]]:
    """By question: whether it was learnt, and the day on which it is due."""
    found: dict[str, tuple[object, ...]] = {}
    for id_, placed in desk.cards.items():
        state, calendar = desk.state(id_), desk.scheduler.calendar
        found[placed.card.question.replace("\\", "")] = (
            state.phase is Phase.NEW,
            None if state.due is None else calendar.day(state.due),
        )
    return found


WRITERS: dict[str, tuple[str, Write]] = {
    "jsonl": ("cards.jsonl", export_jsonl),
    "csv": ("cards.csv", export_table),
    "hashcards": ("decks", partial(export_qa, scheduled=True)),
    "spaced repetition": ("notes", export_obsidian_sr),
    "spaced repetition with FSRS": ("notes", partial(export_obsidian_sr, fsrs=True)),
}


@pytest.mark.parametrize("how", WRITERS)
def test_cards_and_due_days_come_back(learnt: Desk, tmp_path: Path, how: str) -> None:
    name, write = WRITERS[how]
    write(learnt, tmp_path / name)
    before, after = schedule(learnt), schedule(brought(tmp_path, tmp_path / name))
    if how.startswith("spaced"):  # it knows no suspended cards, and parts a card by no blank line
        del before["=1+1"]
        after = {question.replace("\u2060", ""): due for question, due in after.items()}
    relearning = {
        q for id_, p in learnt.cards.items() if learnt.state(id_).phase is Phase.RELEARNING for q in [p.card.question]
    }
    assert after.keys() == before.keys()
    assert {q: due for q, due in after.items() if q not in relearning} == {
        q: due for q, due in before.items() if q not in relearning
    }


def test_json_lines_bring_everything(learnt: Desk, tmp_path: Path) -> None:
    export_jsonl(learnt, tmp_path / "cards.jsonl")
    desk = brought(tmp_path, tmp_path / "cards.jsonl")
    assert list(desk.cards) == list(learnt.cards)
    for id_, placed in learnt.cards.items():
        here, there, other = learnt.state(id_), desk.state(id_), desk.cards[id_].card
        assert (other.question, other.answer, other.variant) == (
            placed.card.question,
            placed.card.answer,
            placed.card.variant,
        )
        assert (there.reps, there.lapses, there.suspended, there.tags) == (
            here.reps,
            here.lapses,
            here.suspended,
            here.tags,
        )
        assert there.stability == pytest.approx(here.stability, abs=1e-4)
    assert reviews(desk) == reviews(learnt) and len(reviews(desk)) == 11


def reviews(desk: Desk) -> list[tuple[CardId, int, datetime]]:
    events = live(read_log(desk.vault.root).events)
    return sorted((event.card, int(event.rating), event.when) for event in events if isinstance(event, Review))


def test_json_lines_of_the_vault_itself_change_nothing(learnt: Desk, tmp_path: Path) -> None:
    export_jsonl(learnt, tmp_path / "cards.jsonl")
    before = {id_: learnt.state(id_) for id_ in learnt.cards}
    done = import_cards(learnt.vault, tmp_path / "cards.jsonl", LATER, ImportOptions())
    assert (done.cards["created"], done.cards["updated"], done.log.reviews) == (0, 0, 0)
    desk = open_desk(learnt.vault, LATER)
    for id_, state in before.items():
        now = desk.state(id_)
        assert (now.due, now.reps, now.lapses) == (state.due, state.reps, state.lapses)


def test_siblings_go_out_in_one_block_with_a_schedule_each(learnt: Desk) -> None:
    note = obsidian_files(learnt)["cells.md"].decode()
    assert "The ==1;;mitochondrion== makes ==2;;ATP;;molecule==.\n<!--SR:!2026-" in note
    assert "==1;;One== and ==1;;another==.\n<!--SR:!" in note
    assert "Wasser:::water\n<!--SR:!2000-01-01,1,250!2026-" in note
    deck = qa_files(learnt)["cells.md"].decode()
    assert (
        "C: The [mitochondrion] makes ATP.\n" in deck and "Q: The mitochondrion makes **[molecule]**.\nA: ATP\n" in deck
    )


@given(st.floats(1, 10))
def test_the_plugins_ease_and_our_difficulty_are_each_others(difficulty: float) -> None:
    assert sr_difficulty(sr_ease(difficulty)) == pytest.approx(difficulty, abs=0.02)


tokens = ["a", "é", " ", "\n", "[", "]", "\\", "::", "==", ";;", "?", "`", "$", "Q:", "C:", "-", "#", "漢"]
words = st.lists(st.sampled_from(tokens), max_size=8).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=3))
def test_any_cloze_comes_back_with_as_many_cards(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("cloze")
    vault = new_vault(root / "old")
    text = "".join(f"{before}{{{{c{n}::x{hidden}x}}}}" for n, (before, hidden) in enumerate(parts, 1))
    (vault.root / "learning/flashcards/x.md").write_text(f"---\ndeck: X\n---\n\nC: a {text} z\n")
    desk = open_desk(vault, NOON)
    for kind, write in (("sr", export_obsidian_sr), ("qa", export_qa)):
        write(desk, root / kind)
        if not desk.cards:
            continue
        fresh = new_vault(root / f"new-{kind}")
        done = import_cards(
            fresh, root / kind, LATER, ImportOptions(format="obsidian-sr" if kind == "sr" else "hashcards")
        )
        assert done.cards["created"] == len(desk.cards), (kind, done.problems)


def test_a_card_of_the_vault_keeps_its_id(learnt: Desk, tmp_path: Path) -> None:
    export_table(learnt, tmp_path / "cards.csv")
    assert CardId("bbbbbbbbb1") in brought(tmp_path, tmp_path / "cards.csv").cards
