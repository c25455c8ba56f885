"""The desk reads a real vault, and each command puts its event on disk before anything else."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards.workspace import last_event, open_desk, rate, read_desk, undo_last
from learning.history.due import count_due, due_between, next_due
from learning.memory.fold import card_events
from learning.memory.state import CardEvent, Phase
from learning.pages.review_page import save_review_page
from learning.schedule.workload import minutes, ms_per_rating, pace_of
from learning.stats.overview import coming
from learning.store.graph import prerequisites
from tests.learning.marks import mark
from vault.errors import ClockWentBackwards, Damaged, NotFound, Refused, SchemaTooNew, WriteFailed
from vault.ids import CardId
from vault.layout import REVIEW_PAGE
from vault.log.events import Bury, Flag, Rating, Resume, Suspend
from vault.log.review_log import LOG_PATH, read_log
from vault.model.frontmatter import read_properties
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")


def flashcards(vault: Vault, stem: str) -> Path:
    return vault.root / "learning" / "flashcards" / f"{stem}.md"


def page(vault: Vault) -> str:
    return (vault.root / REVIEW_PAGE).read_text()


def test_a_new_vault_has_only_new_cards_prerequisites_first(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    assert [item.card for item in desk.queue.new] == [A1, B1, A2]
    assert desk.queue.due == ()
    assert desk.diagnostics == ()
    assert desk.today == {"due": 0, "new": 3, "minutes": 2}
    assert (desk.card(A1).title, desk.card(A1).kind) == ("Spacing effect", "definitional")


def test_a_rating_is_on_disk_and_the_desk_knows_it(vault: Vault) -> None:
    desk, event = rate(open_desk(vault, NOON), A1, Rating.EASY, via="cli", ms=4000)
    assert read_log(vault.root).events == (event,)
    assert (event.at, event.stamp.tz, event.stamp.via, event.ms) == (NOON, "+01:00", "cli", 4000)
    assert (desk.state(A1).phase, desk.state(A1).reps) == (Phase.REVIEW, 1)
    assert desk.states == open_desk(vault, NOON).states
    assert [item.card for item in open_desk(vault, NOON + timedelta(days=8)).queue.due] == [A1]


def test_no_rating_for_a_card_that_is_nowhere(vault: Vault) -> None:
    with pytest.raises(NotFound, match="no card has the id"):
        rate(open_desk(vault, NOON), "nowhere\x1b[31m", Rating.GOOD, via="cli")
    assert not (vault.root / LOG_PATH).exists()


def test_a_rating_dated_before_the_last_is_refused_and_nothing_is_written(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOON), A1, Rating.GOOD, via="cli")
    before = (vault.root / LOG_PATH).read_bytes()
    with pytest.raises(ClockWentBackwards):
        rate(desk, A1, Rating.GOOD, via="cli", dated=NOON - timedelta(seconds=1))
    assert (vault.root / LOG_PATH).read_bytes() == before
    desk, event = rate(desk, A2, Rating.GOOD, via="cli", dated=NOON - timedelta(days=3))
    assert (event.at, event.stamp.clock) == (NOON - timedelta(days=3), NOON)


def test_a_clock_that_went_back_does_not_take_the_log_with_it(vault: Vault) -> None:
    _, first = rate(open_desk(vault, NOON), A1, Rating.AGAIN, via="cli")
    desk, second = rate(open_desk(vault, NOON - timedelta(days=2)), A1, Rating.GOOD, via="cli")
    assert second.at == first.at + timedelta(milliseconds=1)
    assert second.stamp.clock == NOON - timedelta(days=2)
    assert desk.state(A1).reps == 2


def test_undoing_a_rating_from_a_wrong_clock_gives_the_right_clock_back(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOON + timedelta(days=900)), A1, Rating.GOOD, via="cli")
    undo_last(desk, via="cli")
    _, event = rate(open_desk(vault, NOON), A1, Rating.GOOD, via="cli")
    assert (event.at, event.stamp.clock) == (NOON, None)


def test_undo_walks_back_event_by_event(vault: Vault) -> None:
    empty = open_desk(vault, NOON)
    one, first = rate(empty, A1, Rating.GOOD, via="cli")
    two, second = mark(one, A2, Suspend, via="cli")
    assert two.state(A2).suspended
    back, _, voided = undo_last(two, via="cli")
    assert (voided, back.states) == ((second,), one.states)
    back, _, voided = undo_last(back, via="cli")
    assert (voided, back.states) == ((first,), empty.states)
    with pytest.raises(NotFound, match="left to undo"):
        undo_last(back, via="cli")
    assert len(read_log(vault.root).events) == 4


def test_marks_hide_and_bring_back(vault: Vault) -> None:
    desk, _ = mark(open_desk(vault, NOON), A1, Suspend, via="cli")
    desk, _ = mark(desk, B1, Bury, via="cli")
    assert [item.card for item in desk.queue.new] == [A2]
    desk, _ = mark(desk, A1, Resume, via="cli")
    desk, flag = mark(desk, A1, Flag, via="cli", reason="vague")
    assert [item.card for item in desk.queue.new] == [A1, A2]
    assert isinstance(flag, Flag)
    assert (flag.reason, desk.state(A1).flagged) == ("vague", True)
    assert [i.card for i in open_desk(vault, NOON + timedelta(days=1)).queue.new] == [A1, B1, A2]


def test_a_tag_a_kind_or_a_concept_narrows_the_queue(vault: Vault) -> None:
    def cards(tag: str) -> list[CardId]:
        return [item.card for item in open_desk(vault, NOON, tag=tag).queue.new]

    assert cards("memory") == [A1, A2]
    assert cards("#Practice") == [B1]
    assert cards("mechanistic") == [A2]
    assert cards("interleaving") == [B1]
    assert cards("Spacing effect") == [A1, A2]
    assert cards("nothing") == []


@pytest.mark.parametrize("where", ["wiki/concepts/spacing-effect.md", "learning/flashcards/spacing-effect.md"])
def test_learning_false_keeps_a_concept_out_of_the_queue(vault: Vault, where: str) -> None:
    file = vault.root / where
    file.write_text(file.read_text().replace("---\n", "---\nlearning: false\n", 1))
    assert [item.card for item in open_desk(vault, NOON).queue.new] == [B1]


def test_learning_false_in_the_text_of_an_article_means_nothing(vault: Vault) -> None:
    with (vault.root / "wiki/concepts/spacing-effect.md").open("a") as file:
        file.write("\nlearning: false\n")
    assert len(open_desk(vault, NOON).queue.new) == 3


def test_the_forecast_follows_the_articles_whatever_was_asked_before(vault: Vault) -> None:
    for card in (A1, A2):
        rate(open_desk(vault, NOON), card, Rating.EASY, via="cli")
    later, article = NOON + timedelta(days=1), vault.root / "wiki/concepts/spacing-effect.md"
    text = article.read_text()
    left_out = text.replace("---\n", "---\nlearning: false\n", 1)

    def assert_planned(count: int) -> None:
        desk = open_desk(vault, later, queued=False)
        end = later + timedelta(days=14)
        assert sum(coming(desk, 14)) == count_due(desk.cards, end) == len(due_between(desk.cards, later, end)) == count
        assert (next_due(desk.cards) is None) == (not count)

    article.write_text(left_out)
    assert_planned(0)  # no queue has looked at the article yet
    article.write_text(text)
    assert_planned(2)
    article.write_text(left_out)
    assert open_desk(vault, NOON + timedelta(days=30)).queue.due == ()
    moved = article.rename(article.with_suffix(".moved"))
    assert_planned(2)
    moved.rename(article)
    assert_planned(0)


def test_a_retired_card_is_never_shown_and_keeps_its_history(vault: Vault) -> None:
    rate(open_desk(vault, NOON), A1, Rating.EASY, via="cli")
    later = "2026-11-22T12:00:00.000Z"
    event = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": later, "reason": "its evidence is gone"}
    (vault.root / "ledger/ids.jsonl").write_text(json.dumps(event) + "\n")
    desk = open_desk(vault, NOON + timedelta(days=30))
    assert (desk.state(A1).retracted, desk.state(A1).reps, desk.queue.due) == (True, 1, ())
    assert last_event(desk) == NOON + timedelta(days=1)


def test_other_lines_of_the_ledger_do_nothing_to_memory() -> None:
    lines = [
        {"type": "retire", "of": "claim", "id": "x", "at": "2026-11-22T12:00:00.000Z"},
        {"type": "retire", "of": "card", "id": "y", "at": "yesterday"},
        {"type": "birth", "of": "card", "id": "z", "at": "2026-11-22T12:00:00.000Z", "name": '"retire"'},
        {"type": "revive", "of": "card", "id": "w", "at": "2026-11-22T12:00:00.000Z"},
    ]
    data = "\n".join([*map(json.dumps, lines), '{"type":"retire"', "[]"]).encode()
    assert card_events(data) == (CardEvent(CardId("w"), "revived", datetime(2026, 11, 22, 12, tzinfo=UTC)),)


def test_a_card_made_by_hand_gets_an_id_and_keeps_every_other_byte(vault: Vault) -> None:
    file = flashcards(vault, "interleaving")
    mine = file.read_bytes() + b"\r\n## Applied\r\nQ: When?\r\nA: In revision.\r\n\r\nQ: Bare?\nA: Yes.\n"
    file.write_bytes(mine)
    desk = open_desk(vault, NOON)
    assert len(desk.queue.new) == 5
    text = file.read_bytes()
    made = [card for card in desk.cards.values() if card.card.question in ("When?", "Bare?")]
    assert len({placed.id for placed in made}) == 2
    for placed in made:
        assert placed.card.human_edited
        text = text.replace(f"%% card {placed.id} %%".encode(), b"")
    assert text == mine.replace(b"revision.", b"revision.\r\n").replace(b"Yes.", b"Yes.\n")
    births = [json.loads(line) for line in (vault.root / "ledger/ids.jsonl").read_text().splitlines()]
    assert [(b["type"], b["of"], b["id"]) for b in births] == [("birth", "card", p.id) for p in made]
    assert open_desk(vault, NOON).cards.keys() == desk.cards.keys()
    assert len((vault.root / "ledger/ids.jsonl").read_text().splitlines()) == 2


def test_a_comment_that_was_lost_comes_back_with_its_id(vault: Vault) -> None:
    file = flashcards(vault, "interleaving")
    mine = file.read_text() + "\nQ: When?\nA: In revision.\n"
    file.write_text(mine)
    before = open_desk(vault, NOON).cards.keys()
    file.write_text(mine)
    assert open_desk(vault, NOON).cards.keys() == before
    file.write_text(mine + "\nQ: When?\nA: In revision.\n")
    assert len(open_desk(vault, NOON).cards) == 5


def test_a_copy_of_a_card_made_by_hand_is_a_card_of_its_own(vault: Vault) -> None:
    file = flashcards(vault, "interleaving")
    with file.open("a") as deck:
        deck.write("\nQ: When?\nA: In revision.\n")
    first = set(open_desk(vault, NOON).cards)
    with file.open("a") as deck:
        deck.write("\nQ: When?\nA: In revision.\n")
    desk = open_desk(vault, NOON)
    assert desk.cards.keys() > first
    assert desk.diagnostics == ()


def test_a_vault_that_cannot_be_written_is_still_read(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    with flashcards(vault, "interleaving").open("a") as file:
        file.write("\nQ: When?\nA: In revision.\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    desk = open_desk(vault, NOON)
    assert len(desk.queue.new) == 3
    assert [d.code for d in desk.diagnostics] == ["card-without-id"]
    with pytest.raises(WriteFailed):
        rate(desk, A1, Rating.GOOD, via="cli")
    monkeypatch.undo()
    assert read_log(vault.root).events == ()


def test_the_copy_of_a_deck_is_named_and_its_cards_are_queued_once(vault: Vault) -> None:
    flashcards(vault, "spacing-effect (conflicted copy)").write_text(flashcards(vault, "spacing-effect").read_text())
    desk = open_desk(vault, NOON)
    assert len(desk.queue.new) == 3
    assert [d.code for d in desk.diagnostics] == ["card-id-repeated"] * 2


def test_a_damaged_deck_or_line_is_named_and_the_rest_goes_on(vault: Vault) -> None:
    flashcards(vault, "aaa").write_bytes(b"Q: \xff?\nA: b\n")
    flashcards(vault, "bbb").write_text("Q: no answer\n")
    rate(open_desk(vault, NOON), A1, Rating.GOOD, via="cli")
    with (vault.root / LOG_PATH).open("ab") as file:
        file.write(b"garbage\n")
    desk = open_desk(vault, NOON)
    assert {(d.path, d.line) for d in desk.diagnostics} == {
        ("learning/flashcards/aaa.md", 1),
        ("learning/flashcards/bbb.md", 1),
        (LOG_PATH, 2),
    }
    assert desk.state(A1).reps == 1


def test_a_log_that_cannot_be_read_stops_everything(vault: Vault) -> None:
    newer = vault.root / "learning/reviews-2031.jsonl"
    newer.mkdir()
    with pytest.raises((Refused, Damaged)):
        open_desk(vault, NOON)
    newer.rmdir()
    from vault.log.events import checksum

    newer.write_bytes(b'{"v":2' + checksum(b'{"v":2') + b"\n")
    with pytest.raises(SchemaTooNew):
        open_desk(vault, NOON)


def test_the_page_is_a_function_of_the_files_and_knows_no_clock(vault: Vault) -> None:
    assert save_review_page(read_desk(vault))
    first = page(vault)
    assert not save_review_page(read_desk(vault))
    desk, _ = rate(open_desk(vault, NOON), A1, Rating.AGAIN, via="cli")
    assert save_review_page(desk)
    rated = page(vault)
    (vault.root / REVIEW_PAGE).unlink()
    assert save_review_page(read_desk(vault))
    assert page(vault) == rated != first
    (vault.root / REVIEW_PAGE).write_text("mine")
    assert save_review_page(open_desk(vault, NOON + timedelta(days=400)))
    assert page(vault) == rated


def test_the_page_shows_each_card_with_what_is_remembered_of_it(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOON), A1, Rating.EASY, via="cli")
    desk, _ = mark(desk, B1, Suspend, via="cli")
    save_review_page(desk)
    text = page(vault)
    properties = read_properties(text)
    assert not properties.problems
    assert properties.values == {
        "type": "review",
        "as_of": "2026-11-21T12:00:00.000Z",
        "due": "0",
        "new": "1",
        "scheduler": "fsrs-6",
        "retention": "0.9",
    }
    rows = [line for line in text.splitlines() if line.startswith("| [[")]
    assert rows[0] == (
        r"| [[wiki/concepts/spacing-effect\|Spacing effect]] "
        r"| [[learning/flashcards/spacing-effect\|What is the spacing effect?]] "
        "| definitional | 2026-11-27T04:00+01:00 | 6 d | 8.30 | 1.00 | 1.00 | 1 | 0 | review |"
    )
    assert [row.rsplit("| ", 1)[1] for row in rows] == ["review |", "new |", "suspended |"]


def test_the_page_puts_what_is_due_first(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOON), B1, Rating.EASY, via="cli")
    desk, _ = rate(desk, A2, Rating.EASY, via="cli", dated=NOON + timedelta(days=10))
    save_review_page(desk)
    assert read_properties(page(vault)).text("due") == "1"
    rows = [line for line in page(vault).splitlines() if line.startswith("| [[")]
    assert ["interleaving" in row for row in rows] == [True, False, False]


def test_hostile_text_stays_in_its_cell(vault: Vault) -> None:
    evil = (
        "# A|B]] \\[\\[x\n\nQ: a | b ]] <img src=x onerror=y> [[raw/x|y]] `c` $x$ \\\nA: b\n<!-- card ccccccccc1 -->\n"
    )
    flashcards(vault, "evil").write_text(evil)
    save_review_page(read_desk(vault))
    row = next(line for line in page(vault).splitlines() if "evil" in line)
    cells = row.replace(r"\|", "").split(" | ")
    assert len(cells) == 11
    assert row.count("[[") == row.count("]]") == 1
    assert "<img" not in row.replace(r"\<img", "")


def test_the_graph_gives_prerequisites() -> None:
    text = (
        "- [[wiki/concepts/a|A needs B; relates to C]] needs [[wiki/concepts/b|B]], [[wiki/concepts/c|C]]; "
        "relates to [[wiki/concepts/d|D]]\n- [[wiki/concepts/b|B]] relates to [[wiki/concepts/a|A]]\nnonsense\n"
    )
    assert prerequisites(text.encode() + b"\xff") == {"a": {"b", "c"}}


def test_limits_and_zone_come_from_the_settings(vault: Vault) -> None:
    toml = vault.root / "retain.toml"
    toml.write_text(
        toml.read_text().replace("new_per_day = 20", "new_per_day = 1").replace("rollover = 4", "rollover = 0")
    )
    again = open_vault(str(vault.root), None, vault.root)
    desk = open_desk(again, NOON)
    assert (len(desk.queue.new), len(desk.queue.today)) == (3, 1)
    desk, _ = rate(desk, A1, Rating.EASY, via="cli")
    assert desk.state(A1).due == datetime(2026, 11, 26, 23, tzinfo=UTC)  # 8 days, but for chance
    assert desk.queue.today == ()


def test_minutes_follow_the_learners_own_pace() -> None:
    def taken(due: int, new: int, times_ms: list[int], forgotten: float = 0.0) -> int:
        return minutes(due, new, pace_of(ms_per_rating(times_ms), forgotten))

    assert taken(0, 0, []) == 0
    assert taken(6, 0, []) == 1
    assert taken(60, 0, [30_000] * 600) == 30
    assert taken(60, 0, [30_000] * 600, forgotten=0.4) == 48  # a forgotten card is rated again until it is recalled
    assert taken(0, 24, [30_000] * 600) == 30
    assert taken(60, 0, [*[1000] * 600, *[10**9] * 600]) == 60
    assert ms_per_rating([]) == 10_000
