"""Decisions about concepts on a real vault: what follows them, what they leave alone, and that they can be undone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.apply_decision import Effect, Make, stale_links, take_effect, try_out
from compiler.build.compile import Options, compile_vault
from compiler.concepts import edits as work
from compiler.concepts.edits import Shelf
from compiler.verification.verify import verify
from tests.batteries import TORTURE
from tests.compiler.conftest import new_vault
from vault.errors import NotFound, UsageError
from vault.log import ledger
from vault.model.card import parse_deck
from vault.model.frontmatter import read_properties
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
DOCUMENTS = {
    "forgetting.md": """# Forgetting

The forgetting curve is the graph of how the probability of recall falls as time passes after learning.
The forgetting curve is steep at first, because weak memories are lost within hours.
Interference is the disturbance of one memory by another memory that is similar to it.
Interference depends on the similarity of the memories, because the same cue leads to both.
Retrieval is the act of bringing a memory back to mind.
Unlike the forgetting curve, the spacing effect shows what repeated study does.
""",
    "sleep.md": """# Sleep

Memory consolidation is the process by which a new memory becomes stable during sleep.
Memory consolidation protects a memory from interference, because the memory is stored in another place.
Unlike interference, memory consolidation makes a memory last longer.
""",
    "schedules.md": """# Schedules of review

The spacing effect is the finding that study sessions spread over days produce better memory than one long session.
The spacing effect needs retrieval, because an item that is still in mind is not retrieved.
The lag effect is the finding that longer gaps produce better memory than shorter gaps when the test is far away.
Retrieval is the act of recalling an item from long-term memory without a look at the text.
The free spaced repetition scheduler (FSRS) is a scheduler that predicts the probability of recall of each card.

## FSRS

FSRS is an open-source algorithm that decides when a flashcard should be reviewed next.
FSRS uses the forgetting curve, because the date of a review follows from the probability of recall.
""",
}
_NOT_COMPARED = (
    "ledger/",
    ".retain/",
    "wiki/_log.md",
    "learning/_review.md",
)  # ledgers, their chronicle, the log's page


def silent(event: dict[str, object]) -> None:
    assert event["event"]


class Desk:
    """A vault in which every step is a day later."""

    def __init__(self, root: Path) -> None:
        self.vault: Vault = open_vault(str(root), None, root)
        self.root, self.at = root, MORNING

    def later(self) -> datetime:
        self.at += timedelta(days=1)
        return self.at

    def do(self, make: Make) -> Effect:
        return take_effect(self.vault, make, self.later(), silent)

    def undo(self) -> Effect:
        return self.do(work.undo)

    def compile(self, *, fresh: bool = False) -> None:
        command = "rebuild" if fresh else "compile"
        assert not compile_vault(self.vault, Options(fresh=fresh, command=command), self.later(), silent).failures

    @property
    def shelf(self) -> Shelf:
        return Shelf.of(self.vault)

    def tree(self) -> dict[str, bytes]:
        files = {p.relative_to(self.root).as_posix(): p for p in self.root.rglob("*") if p.is_file()}
        return {name: p.read_bytes() for name, p in files.items() if not name.startswith(_NOT_COMPARED)}

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        assert old in self.text(path)
        (self.root / path).write_text(self.text(path).replace(old, new, 1), encoding="utf-8")

    def cards(self, stem: str) -> set[str]:
        there = self.root / f"learning/flashcards/{stem}.md"
        text = there.read_text(encoding="utf-8") if there.exists() else ""
        return {str(c.id) for c in parse_deck(text, "").cards}

    def sound(self) -> None:
        """All is borne out, no page of the machine's leads to where nothing is, and a rebuild changes nothing."""
        found = verify(self.vault, silent)
        assert not (found.unverified or found.uncited or found.unsupported or found.conflicts)
        before = self.tree()
        pages = {name for name in before if name.endswith(".md")}
        for name in pages:
            for target in links_of(before[name].decode()):
                assert f"{target}.md" in pages or not target.startswith("wiki/"), (name, target)
        self.compile(fresh=True)
        assert self.tree() == before


def links_of(text: str) -> Iterator[str]:
    from vault.model.wikilink import links

    yield from (link.target for link in links(text) if "_review" not in link.target)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of the documents that the decisions are about, compiled."""
    vault = new_vault(tmp_path_factory.mktemp("decisions") / "vault")
    for name, text in DOCUMENTS.items():
        (vault.root / "raw/articles" / name).write_text(text, encoding="utf-8")
    compile_vault(vault, Options(), MORNING, silent)
    return vault.root


@pytest.fixture
def desk(made: Path, tmp_path: Path) -> Desk:
    shutil.copytree(made, tmp_path / "vault")
    return Desk(tmp_path / "vault")


CURVE, RENAMED = "forgetting-curve", "ebbinghaus-curve"
Deeds = dict[str, Make]
DECISIONS: Deeds = {
    "rename": lambda s: work.rename(s, "forgetting curve", "Ebbinghaus curve"),
    "merge": lambda s: work.merge(s, "Lag effect", "Spacing effect"),
    "merge into": lambda s: work.merge(s, "Memory consolidation", "Interference", into="Memory consolidation"),
    "never": lambda s: work.never(s, "FSRS", "Free spaced repetition scheduler"),
    "alias": lambda s: work.alias(s, "Spacing effect", "distributed practice effect"),
    "split": lambda s: work.split(s, "Retrieval", "Retrieval (of cues)", [s.find("Retrieval").sources[0]], []),
}


@pytest.mark.parametrize("name", DECISIONS if TORTURE else ("merge",))
def test_every_page_card_and_gap_follows_a_decision_and_its_undo_leaves_nothing(desk: Desk, name: str) -> None:
    before, log = desk.tree(), desk.text("ledger/ids.jsonl")
    effect = desk.do(DECISIONS[name])
    assert effect.written and not effect.without_effect and desk.tree() != before
    desk.sound()
    desk.undo()
    assert desk.tree() == before
    desk.sound()
    assert desk.text("ledger/ids.jsonl").startswith(log)


def test_two_decisions_are_undone_in_either_order(desk: Desk) -> None:
    before = desk.tree()
    first, second = desk.do(DECISIONS["rename"]).decision, desk.do(DECISIONS["merge"]).decision
    for decision in (first, second):
        desk.do(lambda shelf, id_=decision.decision_id: work.undo(shelf, id_))  # type: ignore[misc]
    assert desk.tree() == before
    with pytest.raises(NotFound):
        desk.undo()


def test_a_renamed_concept_keeps_id_cards_and_gaps_and_moves_with_what_the_human_noted_in_its_properties(
    desk: Desk,
) -> None:
    old, new = (f"wiki/concepts/{stem}.md" for stem in (CURVE, RENAMED))
    desk.edit(old, "freshness: normal", "freshness: stable")
    desk.edit(old, "type: concept\n", "type: concept\nlearning: false\nmine: kept\n")
    known, cards = desk.shelf.find("forgetting curve"), desk.cards(CURVE)
    effect = desk.do(DECISIONS["rename"])
    assert {old, f"learning/flashcards/{CURVE}.md"} <= set(effect.removed) and new in effect.written
    page = read_properties(desk.text(new))
    assert (page.text("id"), page.text("title"), page.texts("aliases")) == (
        known.id, "Ebbinghaus curve", ("Forgetting curve",),
    )  # fmt: skip
    assert (page.text("mine"), page.text("learning"), page.text("freshness")) == ("kept", "false", "stable")
    assert desk.cards(RENAMED) == cards
    everything = "".join(data.decode() for name, data in desk.tree().items() if name.endswith(".md"))
    assert (
        f"[[wiki/concepts/{CURVE}|" not in everything and f"[[wiki/concepts/{RENAMED}|Ebbinghaus curve]]" in everything
    )


def test_merged_concepts_share_a_page_and_every_card_lives_on_with_its_id(desk: Desk) -> None:
    both = desk.cards("memory-consolidation") | desk.cards("interference")
    desk.do(DECISIONS["merge into"])
    assert (
        desk.cards("memory-consolidation") >= both and not (desk.root / "learning/flashcards/interference.md").exists()
    )
    assert "Interference" in read_properties(desk.text("wiki/concepts/memory-consolidation.md")).texts("aliases")
    assert "interference|" not in desk.text("learning/gaps.md")
    retired = [e for e in desk.vault.ledger_events(ledger.IDS)[0] if e["of"] == "card" and e["type"] == "retire"]
    assert retired == []


def test_what_was_parted_is_joined_again_by_nothing_but_the_human(desk: Desk) -> None:
    desk.do(DECISIONS["never"])
    text = "# More\n\nFSRS, the free spaced repetition scheduler (FSRS), is a scheduler of reviews.\n"
    (desk.root / "raw/articles/more.md").write_text(text, encoding="utf-8")
    desk.compile()
    assert "Free spaced repetition scheduler" not in desk.shelf.find("FSRS").aliases


def test_a_page_that_a_human_wrote_in_keeps_its_place_and_its_words(desk: Desk) -> None:
    path = f"wiki/concepts/{CURVE}.md"
    desk.edit(path, "# Forgetting curve", "# Forgetting curve\n\n> [!human]\n> My own doubt.")
    mine = desk.text(path)
    effect = desk.do(DECISIONS["rename"])
    assert desk.text(path) == mine and path not in effect.removed
    assert desk.shelf.find("Ebbinghaus curve").path == path
    assert read_properties(desk.text(f"output/proposals/{path}")).text("title") == "Ebbinghaus curve"


def test_a_card_that_a_human_reworded_stays_as_it_is_when_its_concept_is_merged(desk: Desk) -> None:
    deck = "learning/flashcards/interference.md"
    (card, *_) = parse_deck(desk.text(deck), deck).cards
    desk.edit(deck, f"Q: {card.question}", "Q: Was stört das Behalten?")
    desk.do(DECISIONS["merge into"])
    (kept,) = [c for c in parse_deck(desk.text(deck), deck).cards if c.id == card.id]
    assert kept.question == "Was stört das Behalten?" and card.id not in desk.cards("memory-consolidation")
    assert read_properties(desk.text(deck)).text("concept") == desk.shelf.find("Memory consolidation").id


def test_a_deck_with_an_open_code_block_keeps_all_its_cards_until_it_is_closed(desk: Desk) -> None:
    deck, cards = "learning/flashcards/interference.md", desk.cards("interference")
    first = parse_deck(desk.text(deck), deck).cards[0].question
    desk.edit(deck, f"Q: {first}\nA: ", f"Q: {first}\nA:\n```\nx = 1\n")
    text = desk.text(deck)
    desk.do(DECISIONS["merge into"])
    assert desk.text(deck) == text and not cards & desk.cards("memory-consolidation")
    desk.edit(deck, "x = 1\n", "x = 1\n```\n")
    desk.compile()
    kept, moved = desk.cards("interference"), desk.cards("memory-consolidation")
    assert kept and not kept & moved and kept | (moved & cards) == cards


def test_links_in_the_humans_own_notes_are_reported_and_left_alone(desk: Desk) -> None:
    note = f"see [[wiki/concepts/{CURVE}|it]] and [[{CURVE}]] and [[wiki/concepts/spacing-effect]]\n"
    (desk.root / "insights/thought.md").write_text(note, encoding="utf-8")
    assert list(stale_links(desk.vault)) == []
    desk.do(DECISIONS["rename"])
    assert [(d.path, d.line, d.code) for d in stale_links(desk.vault)] == [("insights/thought.md", 1, "old-link")] * 2
    assert desk.text("insights/thought.md") == note


def test_a_dry_run_names_the_files_and_writes_nothing(desk: Desk) -> None:
    files = {p: p.read_bytes() for p in desk.root.rglob("*") if p.is_file()}
    tried = try_out(desk.vault, DECISIONS["rename"], desk.later(), silent)
    assert {p: p.read_bytes() for p in desk.root.rglob("*") if p.is_file()} == files
    done = desk.do(DECISIONS["rename"])
    assert (tried.written, tried.removed) == (done.written, done.removed)


def test_clones_that_decided_different_things_agree_once_their_ledgers_are_merged(desk: Desk, tmp_path: Path) -> None:
    shutil.copytree(desk.root, tmp_path / "clone")
    clone = Desk(tmp_path / "clone")
    desk.do(DECISIONS["rename"])
    clone.later()
    clone.do(DECISIONS["merge"])
    clone.do(DECISIONS["alias"])
    for name in ("ids", "decisions", "builds"):
        mine, theirs = (d.text(f"ledger/{name}.jsonl").splitlines(keepends=True) for d in (desk, clone))
        union = mine + [line for line in theirs if line not in mine]
        (desk.root / f"ledger/{name}.jsonl").write_text("".join(union), encoding="utf-8")
        (clone.root / f"ledger/{name}.jsonl").write_text("".join(reversed(union)), encoding="utf-8")
    clone.at = desk.at = max(desk.at, clone.at)
    desk.compile()
    clone.compile()
    assert desk.tree() == clone.tree()
    assert {"Ebbinghaus curve", "Spacing effect"} <= {k.title for k in desk.shelf.concepts}
    assert desk.shelf.find("Lag effect").title == "Spacing effect"
    desk.sound()


_KILLED = """
import os, sys
from datetime import datetime, UTC
from compiler.build import apply_decision
from compiler.concepts import edits
from compiler.build.publish import Publisher
from compiler.workers import pool
from tests.in_process import DirectWorker, every_candidate
from vault.vault import open_vault
root, where = sys.argv[1:]
if where == "before the build":
    apply_decision.compile_vault = lambda *a, **k: os._exit(9)
elif where == "before the files":
    Publisher.write = lambda self: os._exit(9)
else:
    whole = Publisher.write
    def write(self):
        from vault.files.guard import Guard
        left = [5]
        put = Guard.write
        def writing(guard, path, data, **rest):
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            return put(guard, path, data, **rest)
        Guard.write = writing
        whole(self)
    Publisher.write = write
vault = open_vault(root, None, None)
make = lambda shelf: edits.rename(shelf, "forgetting curve", "Ebbinghaus curve")
pool.start_worker = DirectWorker  # which the candidates are taken in
with every_candidate():
    apply_decision.take_effect(vault, make, datetime(2026, 11, 22, 9, tzinfo=UTC), lambda event: None)
"""


@pytest.mark.parametrize("where", ["before the build", "before the files", "among the files"][None if TORTURE else 2 :])
def test_a_decision_that_was_killed_half_way_is_completed_by_the_next_compile(
    desk: Desk, tmp_path: Path, where: str
) -> None:
    shutil.copytree(desk.root, tmp_path / "whole")
    whole = Desk(tmp_path / "whole")
    whole.do(DECISIONS["rename"])
    done = subprocess.run([sys.executable, "-c", _KILLED, str(desk.root), where], check=False, timeout=600)
    assert done.returncode == 9 and desk.tree() != whole.tree()
    desk.at = whole.at - timedelta(days=1)  # on the same day, which the pages tell
    desk.compile()
    assert {n: d for n, d in desk.tree().items() if ".conflict-" not in n} == whole.tree()
    desk.sound()


Refusal = tuple[type[Exception], Callable[[Shelf], object]]
REFUSED: dict[str, Refusal] = {
    "the name of another": (UsageError, lambda s: work.rename(s, "Memory consolidation", "Interference")),
    "its own name": (UsageError, lambda s: work.rename(s, "Memory consolidation", "Memory consolidation")),
    "nobody": (NotFound, lambda s: work.rename(s, "no such thing", "x1")),
    "a path": (UsageError, lambda s: work.rename(s, "Memory consolidation", "../../insights/mine")),
    "markup": (UsageError, lambda s: work.rename(s, "Memory consolidation", "<img src=x>")),
    "a link": (UsageError, lambda s: work.alias(s, "Memory consolidation", "a]] [[b")),
    "an escape sequence": (UsageError, lambda s: work.rename(s, "Memory consolidation", "\x1b[2Jred")),
    "10,000 characters": (UsageError, lambda s: work.rename(s, "Memory consolidation", "s" * 10_000)),
    "a mark that turns text around": (UsageError, lambda s: work.alias(s, "Memory consolidation", "\u202epeels")),
    "nothing": (UsageError, lambda s: work.rename(s, "Memory consolidation", " () ")),
    "itself": (UsageError, lambda s: work.merge(s, "Memory consolidation", "memory consolidation")),
    "into a third": (UsageError, lambda s: work.merge(s, "Memory consolidation", "Interference", into="FSRS")),
    "all its sources": (
        UsageError,
        lambda s: work.split(s, "Memory consolidation", "Nap (short)", s.find("Memory consolidation").sources, []),
    ),
    "no source": (UsageError, lambda s: work.split(s, "Memory consolidation", "Nap (short)", [], [])),
    "a source that is not its own": (
        NotFound,
        lambda s: work.split(s, "Memory consolidation", "Nap (short)", ["fsrs.md"], []),
    ),
    "a claim that is none": (
        NotFound,
        lambda s: work.split(s, "Memory consolidation", "Nap (short)", [], ["0000000000"]),
    ),
    "a name it has not": (NotFound, lambda s: work.unalias(s, "Memory consolidation", "Slumber")),
    "its title": (UsageError, lambda s: work.unalias(s, "Memory consolidation", "memory consolidation")),
    "no deed": (NotFound, lambda s: work.undo(s, "0000000000")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_with_a_way_on_and_nothing_is_written(made: Path, name: str) -> None:
    kind, make = REFUSED[name]
    with pytest.raises(kind) as caught:
        make(Shelf.of(open_vault(str(made), None, made)))
    error = caught.value
    assert isinstance(error, UsageError) and error.what and len(error.where) <= 200
    assert "\x1b" not in str(error) and "\u202e" not in str(error)


def test_a_concept_is_found_by_id_title_file_and_any_other_name(made: Path) -> None:
    shelf = Shelf.of(open_vault(str(made), None, made))
    known = shelf.find("FSRS")
    for name in (known.id, "fsrs", *known.aliases, known.path, f" {known.title} "):
        assert shelf.find(name) == known


def test_a_name_that_several_concepts_have_lists_them(made: Path) -> None:
    shelf = Shelf.of(open_vault(str(made), None, made))
    (one, other, *_) = shelf.concepts
    twice = Shelf((one, replace(other, title=one.title)), shelf.ids, (), ())
    with pytest.raises(UsageError) as caught:
        twice.find(one.title)
    assert one.id in caught.value.hint and other.id in caught.value.hint
