"""An incremental compile gives what a compile without an index gives, byte for byte, whatever changed in between."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import made_corpus
from benchmarks.made_edits import KINDS, Editor
from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.in_process import every_candidate
from vault.files.guard import Scope
from vault.ids import CardId
from vault.log.events import Flag
from vault.log.review_log import LogWriter, mint_stamp
from vault.model.card import parse_deck, splice_card, splice_words
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TERMS = 24  # of the library at the start


@contextmanager
def _some_candidates(everything: bool) -> Iterator[None]:
    if everything:
        with every_candidate():
            yield
    else:
        yield


def _files(vault: Vault) -> dict[str, bytes]:
    """Every file of the vault but what can be made again."""
    paths = (p for p in vault.root.rglob("*") if p.is_file() and ".retain" not in p.parts)
    return {p.relative_to(vault.root).as_posix(): p.read_bytes() for p in paths}


# --- what a person changes by hand, by chance ---------------------------------------------------------------------


def _write_in_an_article(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = dice.choice(sorted((vault.root / "wiki/concepts").glob("*.md")))
    path.write_text(path.read_text() + "\nA remark of my own.\n")


def _add_an_alias(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = dice.choice(sorted((vault.root / "wiki/concepts").glob("*.md")))
    path.write_text(path.read_text().replace("aliases: []", "aliases:\n  - nickname", 1))


def _set_authority(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = dice.choice(sorted((vault.root / "wiki/summaries").glob("*.md")))
    path.write_text(path.read_text().replace("authority: 1", "authority: 3", 1))


def _deck(vault: Vault, dice: random.Random) -> Path:
    return dice.choice(sorted((vault.root / "learning/flashcards").glob("*.md")))


def _reword_a_card(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = _deck(vault, dice)
    text = path.read_text()
    card = dice.choice(parse_deck(text, "x").cards)
    path.write_text(splice_words(text, card, "What is it, in my words?", card.answer))


def _delete_a_card(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = _deck(vault, dice)
    text = path.read_text()
    path.write_text(splice_card(text, dice.choice(parse_deck(text, "x").cards), None))


def _move_a_card(vault: Vault, dice: random.Random, at: datetime) -> None:
    one, other = _deck(vault, dice), _deck(vault, dice)
    text = one.read_text()
    card = dice.choice(parse_deck(text, "x").cards)
    block = text[card.start : card.end]
    one.write_text(splice_card(text, card, None))
    other.write_text(other.read_text() + "\n" + block + "\n")


def _delete_a_page(vault: Vault, dice: random.Random, at: datetime) -> None:
    folder = dice.choice(("wiki/concepts", "wiki/summaries", "wiki/topics", "learning/flashcards"))
    paths = sorted((vault.root / folder).glob("*.md"))
    if paths:
        dice.choice(paths).unlink()


def _flag_a_card(vault: Vault, dice: random.Random, at: datetime) -> None:
    card = dice.choice([c.id for d in vault.decks() for c in d.cards if c.id])
    stamp = mint_stamp(at, last=None, zone=UTC, via="cli", entropy=dice.randbytes(10))
    LogWriter(vault.guard(Scope.LOG), (), zone=UTC, via="cli").write(Flag(stamp, CardId(card), "wrong"))


def _set_words_off(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = dice.choice(sorted((vault.root / "raw").rglob("*.md")))
    text = path.read_text()
    words = dice.choice(re.findall(r"\w+ \w+", text))
    path.write_text(text.replace("*", "") if "*" in text else text.replace(words, f"*{words}*", 1))


def _add_a_source(vault: Vault, dice: random.Random, at: datetime) -> None:
    number = dice.randrange(1_000_000)
    (vault.root / f"raw/articles/new-{number}.md").write_text(made_corpus.one_more_source(number))


def _copy_a_source(vault: Vault, dice: random.Random, at: datetime) -> None:
    path = dice.choice(sorted((vault.root / "raw").rglob("*.md")))
    shutil.copyfile(path, path.with_name(f"copy-{dice.randrange(1_000_000)}.md"))


Change = Callable[[Vault, random.Random, datetime], None]
BY_HAND: tuple[Change, ...] = (
    _write_in_an_article,
    _add_an_alias,
    _set_authority,
    _reword_a_card,
    _delete_a_card,
    _move_a_card,
    _delete_a_page,
    _flag_a_card,
    _set_words_off,
    _add_a_source,
    _copy_a_source,
)


def _same_after_each_change(folder: Path, seed: int, changes: int) -> None:
    """Change two equal vaults alike; compile one with its index, the other without; compare all files each time."""
    twins = [make_vault(folder / name, {}) for name in ("kept", "anew")]
    for twin in twins:
        made_corpus.write_library(twin.root / "raw/articles", TERMS, seed=seed)
    editors = [Editor(twin.root / "raw", seed) for twin in twins]
    dices = [random.Random(seed) for _ in twins]
    choice = random.Random(seed)
    for number in range(changes + 1):
        at = MORNING + timedelta(days=number)
        if number:
            every: list[str | Change] = [*KINDS, *BY_HAND]
            kind = choice.choice(every)
            for twin, editor, dice in zip(twins, editors, dices, strict=True):
                if isinstance(kind, str):
                    editor.edit(kind)
                else:
                    kind(twin, dice, at)
        else:
            kind = "the first compile"
        shutil.rmtree(twins[1].root / ".retain", ignore_errors=True)
        reports = [compile_vault(open_vault(str(t.root), None, t.root), Options(), at, lambda e: None) for t in twins]
        files = [_files(twin) for twin in twins]
        differing = sorted(p for p in files[0] | files[1] if files[0].get(p) != files[1].get(p))
        assert not differing, f"seed {seed}, change {number}, {kind}"
        counts = [{k: v for k, v in r.as_json().items() if k not in ("written", "why")} for r in reports]
        assert counts[0] == counts[1], f"seed {seed}, change {number}, {kind}"
        assert reports[0].written == reports[1].written, f"seed {seed}, change {number}, {kind}"


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.torture)])
def test_an_incremental_compile_gives_what_one_without_an_index_gives(tmp_path: Path, seed: int) -> None:
    with _some_candidates(seed % 2 == 0):
        _same_after_each_change(tmp_path, seed, changes=5)


USES = {
    "a": "# Load shedding\n\nLoad shedding is the practice of refusing some requests so that the others are served in "
    "time. Load shedding begins when the quorum lease has run out. It needs a quorum lease of ten seconds.\n",
    "b": "# Timeouts\n\nA timeout is the longest time that a client waits for a reply. A timeout is shorter than the "
    "*quorum lease* of the cluster. Each timeout begins anew when the quorum lease ends.\n",
    "c": "# Queues\n\nA queue is a list of requests that wait to be served. A queue grows when the quorum lease is too "
    "long. The queue is emptied when the quorum lease expires.\n",
    "d": "# Gateways\n\nA gateway is a server that passes requests on. It holds the quorum lease for its region.\n",
}


def test_a_change_of_marks_alone_is_a_change(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"raw/articles/{name}.md": text for name, text in USES.items()})

    def gaps() -> str:
        compile_vault(open_vault(str(vault.root), None, vault.root), Options(), MORNING, lambda e: None)
        return (vault.root / "learning/gaps.md").read_text()

    assert "uorum lease" not in gaps()  # a word that is set off is taken to be explained there
    (vault.root / "raw/articles/b.md").write_text(USES["b"].replace("*", ""))
    assert "uorum lease" in gaps()


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(100, 160))
def test_long_sequences_of_changes_give_the_same(tmp_path: Path, seed: int) -> None:
    with _some_candidates(seed % 2 == 0):
        _same_after_each_change(tmp_path, seed, changes=25)
