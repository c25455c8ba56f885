"""A whole day in a real terminal, with every kind of deed: the files agree afterwards with what the screen said."""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from learning.agenda.gap_decisions import read_agenda
from tests.tui.conftest import GAPS as AGENDA
from tests.tui.conftest import SUMMARY
from tests.tui.test_terminal import HERE, PATIENCE_S, RETAIN, Tmux, tmux
from vault.config.settings import FILE, render_settings
from vault.ids import CardId
from vault.layout import GAPS, REVIEW_PAGE
from vault.log import ledger
from vault.log.events import Bury, Flag, Graded, LogEvent, Rating, Review, Suspend, Undo
from vault.log.review_log import live, read_log
from vault.model.card import parse_deck
from vault.model.gaps import GapStatus, render_agenda
from vault.vault import Vault

__all__ = ["tmux"]  # the fixture

# Twenty-eight elements: symbol, name, number.
ELEMENTS = {
    symbol: (name, int(number))
    for symbol, name, number in (
        line.split()
        for line in """Ag Silver 47|Al Aluminium 13|Ar Argon 18|As Arsenic 33|Au Gold 79|Ba Barium 56|Be Beryllium 4
        Ca Calcium 20|Cl Chlorine 17|Co Cobalt 27|Cr Chromium 24|Cu Copper 29|Fe Iron 26|He Helium 2
        Hg Mercury 80|Kr Krypton 36|Li Lithium 3|Mg Magnesium 12|Mn Manganese 25|Na Sodium 11|Ne Neon 10
        Ni Nickel 28|Pb Lead 82|Pt Platinum 78|Si Silicon 14|Sn Tin 50|Ti Titanium 22|Zn Zinc 30""".replace(
            "\n", "|"
        ).split("|")
    )
}
QUESTION = re.compile(r"Which element has the symbol (\w+)\?")
QUOTE = "retention falls steeply in the first hours"
FRONT, BACK = "space shows the answer", "2 Hard"
RATED = {"1": Rating.AGAIN, "2": Rating.HARD, "3": Rating.GOOD, "4": Rating.EASY}


def deck_of(symbol: str) -> str:
    return f"learning/flashcards/{ELEMENTS[symbol][0].lower()}.md"


def article_of(symbol: str) -> str:
    return f"wiki/concepts/{ELEMENTS[symbol][0].lower()}.md"


def card_of(symbol: str) -> str:
    return f"aaaaaaaa{ELEMENTS[symbol][1]:02}"


@pytest.fixture
def shelf(bare: Vault) -> Vault:
    """A vault with a card and an article on each element. Its study day ends twelve hours from now."""
    far = (datetime.now(UTC).hour + 12) % 24
    settings = render_settings(replace(bare.settings, rollover=far, new_per_day=100))
    steps = '# learning_steps = ["1m", "10m"]'
    assert steps in settings
    (bare.root / FILE).write_text(settings.replace(steps, "learning_steps = []"))  # what is rated is done for today
    (bare.root / "wiki/concepts").mkdir()
    (bare.root / "wiki/summaries/memory.md").write_text(SUMMARY)
    (bare.root / "raw/articles/On memory (1885).md").write_text(f"{QUOTE} and then levels off.\n")
    (bare.root / GAPS).write_text(render_agenda(AGENDA))
    for symbol, (name, number) in ELEMENTS.items():
        (bare.root / deck_of(symbol)).write_text(
            f"# {name}\n\n## Definitional\n\nQ: Which element has the symbol {symbol}?\nA: {name}, number {number}.\n"
            f"> [[wiki/summaries/memory#^c-aaaaaaaaa1|1]]\n<!-- card {card_of(symbol)} -->\n"
        )
        (bare.root / article_of(symbol)).write_text(
            f"---\ntype: concept\ntitle: {name}\n---\n\n# {name}\n\nAn account of {name} in full.\n"
        )
    return bare


@dataclass
class Day:
    """What a learner does at the terminal, and what the screen says they have done so far."""

    tmux: Tmux
    on_table: str = ""  # the symbol that is asked for
    done: int = 0
    ratings: list[tuple[str, Rating]] = field(default_factory=list)  # those that stand

    def see(self, *words: str, gone: tuple[str, ...] = ()) -> str:
        """The screen, as soon as it shows all of `words` and nothing of `gone`."""
        return self.until(lambda screen: all(w in screen for w in words) and not any(w in screen for w in gone))

    def see_left(self, new: int) -> None:
        """What is left: so many new cards, and once more each card that was forgotten."""
        again = sum(rating is Rating.AGAIN for _, rating in self.ratings)
        self.see(f"{self.done} done · {new + again} left: {new} new, {again} learning, 0 review")

    def until(self, fits: Callable[[str], bool]) -> str:
        end, screen = time.monotonic() + PATIENCE_S, ""
        while time.monotonic() < end:
            screen = self.tmux.run("capture-pane", "-p")
            if fits(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"this did not become what was waited for:\n{screen}")

    def write(self, words: str) -> None:
        self.tmux.run("send-keys", "-l", words)

    def another_card(self) -> str:
        """The symbol on the table, once it is another than before, and the screen counts what has been done."""

        def fits(screen: str) -> bool:
            asked = QUESTION.findall(screen)
            return asked not in ([], [self.on_table]) and FRONT in screen and f"{self.done} done" in screen

        (self.on_table,) = QUESTION.findall(self.until(fits))
        return self.on_table

    def reveal(self) -> None:
        self.tmux.type("Space")
        self.see(BACK, ELEMENTS[self.on_table][0])

    def rate(self, key: str) -> None:
        """Rates the card whose answer is shown, and waits for the next one."""
        self.tmux.type(key)
        self.done += 1
        self.ratings.append((self.on_table, RATED[key]))
        self.another_card()

    def take_back(self) -> None:
        symbol, rating = self.ratings.pop()
        self.done -= 1
        self.tmux.type("u")
        self.see(f"Undid the rating {rating.name.capitalize()}.", f"the symbol {symbol}?", f"{self.done} done")
        self.on_table = symbol


def look_at_source_and_article(day: Day) -> None:
    day.tmux.type("s")
    day.see(QUOTE, BACK)
    day.tmux.type("s")
    day.see(BACK, gone=(QUOTE,))
    day.tmux.type("a")
    day.see(f"An account of {ELEMENTS[day.on_table][0]} in full.", gone=(BACK,))
    day.tmux.type("Escape")
    day.see(BACK, f"the symbol {day.on_table}?")


def edit_here(day: Day) -> None:
    day.tmux.type("e")
    day.see("Edit a card", f"the symbol {day.on_table}?")
    day.write("Say: ")
    day.see("Edit a card", "Say: Which element")
    day.tmux.type("C-s")
    day.see("Say: Which element", BACK)


def edit_outside(day: Day) -> None:
    day.tmux.type("E")
    day.see("atomic number", BACK)


def flag(day: Day) -> None:
    day.tmux.type("f")
    day.see("What is wrong with this card?")
    day.write("it rhymes")
    day.see("it rhymes")
    day.tmux.type("Enter")
    day.see("Flagged: it rhymes.", BACK)


def type_the_answer(day: Day) -> None:
    name, number = ELEMENTS[day.on_table]
    day.tmux.type("t")
    day.see("Type the answer in your own words")
    day.write(f"{name}, number {number}.")
    day.see(f"{name}, number {number}.")
    day.tmux.type("C-s")
    day.see("Same words as on the card.", BACK)


def work_on_the_agenda(day: Day) -> None:
    day.tmux.type("g")
    day.see("3 open gaps", "Look for")
    day.tmux.type("r")
    day.see("Consolidation: resolved.", "2 open gaps")
    day.tmux.type("u")
    day.see("Consolidation: reopened.", "3 open gaps")
    day.tmux.type("u")
    day.see("Nothing to undo.")
    day.tmux.type("r")
    day.until(lambda screen: "2 open gaps" in screen and ": resolved." in screen)
    day.tmux.type("Escape")
    day.see("cards reviewed today")


def search(day: Day, asked: str, words: str, last: str = "") -> None:
    """Looks for cards in the browser, sees one, and comes home."""
    day.tmux.type("b")
    day.see("28", "Which element", gone=("cards reviewed today",))
    day.tmux.type("/")  # takes effect before the next key is looked at
    if last:
        day.tmux.type("C-u")  # what was searched last goes; keys behind this one are not to overtake it
        day.until(lambda screen: f"/ {last} " not in screen)
    day.write(asked)
    day.see(f"/ {asked} ", "1 of 28", words)
    end = time.monotonic() + PATIENCE_S
    while "cards reviewed today" not in day.tmux.run("capture-pane", "-p"):
        assert time.monotonic() < end, "no way home"
        day.tmux.type("Escape")  # out of the search, out of the browser; at home it does nothing
        time.sleep(0.3)


def started(tmux: Tmux, vault: Vault, folder: Path) -> Day:
    """`retain` in a terminal, with an editor of the learner's."""
    editor = folder / "editor"
    editor.write_text('#!/bin/sh\nsed \'s/number/atomic number/\' "$1" > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o755)
    settings = (f"PYTHONPATH={HERE}", f"RETAIN_VAULT={vault.root}", f"EDITOR={editor}", f"VISUAL={editor}")
    tmux.start(shlex.join(["env", *settings, *RETAIN]) + "; echo left with $?; sleep 600", folder=folder)
    return Day(tmux)


@pytest.mark.torture
def test_a_whole_day_is_on_disk_as_the_screen_told_it(tmux: Tmux, shelf: Vault, tmp_path: Path) -> None:
    day = started(tmux, shelf, tmp_path)
    day.see("to begin", "3 open gaps")
    tmux.type("Enter")
    first = day.another_card()
    day.see_left(28)
    day.reveal()
    look_at_source_and_article(day)
    day.rate("1")
    edited = day.on_table
    day.reveal()
    edit_here(day)
    day.rate("2")
    mended = day.on_table
    day.reveal()
    edit_outside(day)
    day.rate("3")
    flagged = day.on_table
    day.reveal()
    flag(day)
    day.rate("4")
    typed = day.on_table
    type_the_answer(day)
    day.rate("3")
    buried = day.on_table
    tmux.type("b")
    suspended = day.another_card()
    tmux.type("x")
    day.another_card()
    for key in "3432341334":  # fifteen rated by now
        day.reveal()
        day.rate(key)
    for _ in range(3):
        day.take_back()
    day.see_left(14)  # 28, twelve rated, one buried, one suspended
    for key in "24132341":  # twenty in the end
        day.reveal()
        day.rate(key)
    assert day.done == 20
    day.see_left(6)
    tmux.type("Escape")
    day.see("20 cards reviewed today")
    work_on_the_agenda(day)
    asked = " ".join(map(str, ELEMENTS[first]))
    search(day, asked, f"symbol {first}?")
    search(day, "is:suspended", f"symbol {suspended}?", last=asked)
    tmux.type("q")
    day.see("left with 0")

    assert len({symbol for symbol, _ in day.ratings}) == day.done == 20
    events = list(read_log(shelf.root).events)
    assert_log(events, day, buried, suspended, flagged, typed)
    assert_files(shelf, day, edited, mended)


def assert_log(events: list[LogEvent], day: Day, buried: str, suspended: str, flagged: str, typed: str) -> None:
    stand = live(events)
    rated = [(event.card, event.rating) for event in stand if isinstance(event, Review)]
    assert rated == [(card_of(symbol), rating) for symbol, rating in day.ratings]
    assert Counter(type(event) for event in stand if not isinstance(event, Graded)) == {
        Review: 20,
        Bury: 1,
        Suspend: 1,
        Flag: 1,
    }
    assert len([event for event in events if isinstance(event, Review)]) == 23  # those taken back are still told
    assert len([event for event in events if isinstance(event, Undo)]) == 3
    assert [event.card for event in stand if isinstance(event, Bury)] == [card_of(buried)]
    assert [event.card for event in stand if isinstance(event, Suspend)] == [card_of(suspended)]
    flags = [(event.card, event.reason) for event in stand if isinstance(event, Flag)]
    assert flags == [(card_of(flagged), "it rhymes")]
    assert {event.card for event in stand if isinstance(event, Graded)} <= {CardId(card_of(typed))}
    assert all(event.stamp.via == "tui" for event in events)


def assert_files(vault: Vault, day: Day, edited: str, mended: str) -> None:
    for symbol, (name, number) in ELEMENTS.items():
        (card,) = parse_deck((vault.root / deck_of(symbol)).read_text("utf-8"), deck_of(symbol)).cards
        asked = f"{'Say: ' * (symbol == edited)}Which element has the symbol {symbol}?"
        said = f"{name}, {'atomic ' * (symbol == mended)}number {number}."
        assert (card.id, card.question, card.answer) == (card_of(symbol), asked, said)
    resolved = [gap.what for gap in read_agenda(vault) if gap.status is GapStatus.RESOLVED]
    assert len(resolved) == 1 and len([gap for gap in read_agenda(vault) if gap.open]) == 2
    decisions, wrong = ledger.decode((vault.root / ledger.DECISIONS).read_bytes(), ledger.DECISIONS)
    assert not wrong and [event["decision"] for event in decisions] == ["resolve", "reopen", "resolve"]
    page = (vault.root / REVIEW_PAGE).read_text("utf-8")
    stands = Counter(re.findall(r"\| ([a-z, ]+) \|$", page, re.MULTILINE))
    stands["review"] += stands.pop("learning", 0)
    assert stands == {"review": day.done - 1, "review, flagged": 1, "new": 28 - 20 - 2, "buried": 1, "suspended": 1}
