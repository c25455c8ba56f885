"""`.retain/` can be deleted before any command, or hold anything: what a command prints and how it ends is the same."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.builders import DOCUMENTS, NEEDED
from tests.commands import Result, retain
from tests.learning.test_anki_import import answer, collection, give_out, take_in
from vault.layout import FLASHCARDS
from vault.log.ledger import IDS

# What says that something was made again: of a compile, how many documents it read and left unread.
MADE_AGAIN = re.compile(r"^(?:rendering the pages|sources  \d+ read).*\n", re.MULTILINE)
TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?|\b\d+(?:\.\d+)? m?s\b|\b[0-9A-HJKMNP-TV-Z]{26}\b"
)


@dataclass
class Course:
    """A vault of its own in which commands run, each after `before`; `said` is what they printed."""

    folder: Path
    before: Callable[[Path], None]
    said: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def run(self, *words: str, code: int = 0) -> Result:
        self.before(self.vault)
        done = retain(*words, cwd=self.vault)
        assert done.code == code, (words, done.stdout[-800:], done.stderr[-800:])
        self.said.append(tuple(map(self.plain, (" ".join(words), done.stdout, done.stderr))))
        return done

    def files(self) -> dict[str, str]:
        """Return pages, cards and the ledger of what exists, without instants."""
        pages = [p for top in ("wiki/concepts", "wiki/summaries", FLASHCARDS) for p in (self.vault / top).iterdir()]
        return {p.name: self.plain(p.read_text()) for p in (*pages, self.vault / IDS)}

    def plain(self, text: str) -> str:
        return MADE_AGAIN.sub("", TIME.sub("TIME", text.replace(str(self.folder), "FOLDER")))


def study(course: Course) -> str:
    """Do what a person does in some weeks; return a card that was edited."""
    run = course.run
    documents = sorted(str(path) for path in DOCUMENTS.iterdir())
    run("add", *documents)
    run("compile")
    first, second, *_ = (card["id"] for card in run("due", "--json").json()["new"])
    run("rate", first, "good")
    run("rate", second, "again")
    run("undo")
    run("card", "edit", first, "--answer", "My own words, the first.")
    run("card", "edit", first, "--answer", "My own words, the second.")
    run("card", "edit", first, "--restore")
    run("card", "suspend", second)
    run("card", "flag", first, "--reason", "dull")
    run("export", "anki", str(course.folder / "out.apkg"))
    back = answered(course)
    run("import", "anki", str(back))
    run("card", "edit", first, "--restore")
    (course.folder / "gear.md").write_text(NEEDED)
    run("add", str(course.folder / "gear.md"))
    run("compile")
    run("compile")
    run("rebuild")
    run("export", "anki", str(course.folder / "out.apkg"))
    run("import", "anki", str(back))
    return str(first)


SHOW = (
    *("status", "due", "stats", "search spacing", "gaps list", "inbox list", "card show {}", "trace {}"),
    *("log --coverage", "verify", "doctor"),
)


def answered(course: Course) -> Path:
    """The cards of the vault as Anki exports them, with reviews: those of the other course if there are any."""
    back = course.folder / "back.apkg"
    if back.exists():
        return back
    with collection(course.folder / "anki") as col:
        take_in(col, course.folder / "out.apkg")
        answer(col, 1, 8)
        return give_out(col, back)


def forget(vault: Path) -> None:
    shutil.rmtree(vault / ".retain", ignore_errors=True)


def flip(vault: Path) -> None:
    """Flip a byte in each file of the index."""
    for path in sorted((vault / ".retain").glob("*.sqlite3")):
        data = bytearray(path.read_bytes())
        data[zlib.crc32(data) % len(data)] ^= 0xFF
        path.write_bytes(data)


def swap(vault: Path) -> None:
    """Put the index of another vault there, stamps included; each time the same one, which grows old."""
    other = vault.parent / "other"
    if not other.exists():
        assert retain("init", "other", "--no-git", cwd=vault.parent).code == 0
        (other / "raw/gear.md").write_text(NEEDED)
        assert retain("compile", cwd=other).code == 0
        assert retain("due", cwd=other).code == 0
    for path in (other / ".retain").glob("*.sqlite3*"):
        (vault / ".retain").mkdir(exist_ok=True)
        shutil.copy2(path, vault / ".retain" / path.name)


def courses(folder: Path, before: Callable[[Path], None]) -> tuple[Course, Course]:
    """Return two copies of one empty vault: of the second, `before` is done before each command."""
    assert retain("init", "vault", "--no-git", cwd=folder).code == 0
    two = []
    for name, each in (("kept", lambda _: None), ("changed", before)):
        (folder / name).mkdir()
        shutil.copytree(folder / "vault", folder / name / "vault")
        two.append(Course(folder / name, each))
    return two[0], two[1]


@pytest.mark.parametrize(
    "before",
    [forget, pytest.param(flip, marks=pytest.mark.torture), pytest.param(swap, marks=pytest.mark.torture)],
)
def test_every_command_does_the_same_without_it(tmp_path: Path, before: Callable[[Path], None]) -> None:
    kept, deleted = courses(tmp_path, before)
    study(kept)
    shutil.copy(kept.folder / "back.apkg", deleted.folder)
    card = study(deleted)
    for one, other in zip(kept.said, deleted.said, strict=True):
        assert one == other
    assert deleted.files() == kept.files()
    for words in [line.format(card).split() for line in SHOW] + [["ask", "What is the spacing effect?"]]:
        assert deleted.run(*words) == retain(*words, cwd=deleted.vault)
