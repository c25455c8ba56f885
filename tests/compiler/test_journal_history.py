"""Long histories with a model that never says the same twice: nothing is asked again, and all can be rebuilt."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.protocol.requests import CheckRequest, ReadRequest, ReconcileRequest, Request, SettleRequest, WriteRequest
from compiler.replies.asker import Waiting
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted, Whimsical
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MORNING, compiled
from vault.vault import Vault

_THINGS = ("spindle", "ribosome", "lysosome", "membrane", "flagellum", "centriole", "plastid", "vesicle", "nucleolus")
_WHATS = ("a body", "a structure", "a kind of vessel", "an organ of the cell", "a layer")
_DOES = ("holds what the cell needs", "moves the cell about", "parts what belongs apart", "makes what is asked for")
_MORE = (
    "The {a} works because the {b} feeds it with small molecules.",
    "Unlike a {b}, the {a} stays where it was made.",
    "The {a} is used to clear away what the {b} leaves.",
    "A {a} cannot live long without its {b}.",
    "Every {a} holds about {n} parts of one kind.",
    "Students of the {a} counted {n} of them beside one {b}.",
)


def _sentence(rng: random.Random, thing: str) -> str:
    other = rng.choice([t for t in _THINGS if t != thing])
    return rng.choice(_MORE).format(a=thing, b=other, n=rng.randrange(10, 900))


def document(rng: random.Random) -> str:
    """Two or three sections on one thing each."""
    parts = []
    for thing in rng.sample(_THINGS, rng.choice((2, 3))):
        first = f"A {thing} is {rng.choice(_WHATS)} that {rng.choice(_DOES)}."
        more = [_sentence(rng, thing) for _ in range(rng.randrange(1, 4))]
        parts.append(f"# {thing.title()}\n\n" + "\n\n".join([" ".join([first, *more[:1]]), *more[1:]]))
    return "\n\n".join(parts) + "\n"


@dataclass
class History:
    """A vault to which one thing after another happens."""

    vault: Vault
    rng: random.Random
    gone: dict[str, str] = field(default_factory=dict)  # name -> text of deleted documents
    asked: set[str] = field(default_factory=set)  # blocks, titles, items and pairs that somebody was asked about
    hours: int = 0

    @property
    def raw(self) -> Path:
        return self.vault.root / "raw/articles"

    def documents(self) -> list[Path]:
        return sorted(self.raw.iterdir())

    def compile(self, backend: Scripted | None, **options: bool) -> None:
        self.hours += 1
        compiled(self.vault, backend, MORNING + timedelta(hours=self.hours), **options)

    def _edit(self, change: Callable[[list[str]], list[str]]) -> None:
        path = self.rng.choice(self.documents())
        blocks = change(path.read_text().strip().split("\n\n"))
        path.write_text("\n\n".join(b for b in blocks if b.strip()) + "\n")

    def _prose(self, blocks: Sequence[str]) -> list[int]:
        return [n for n, block in enumerate(blocks) if not block.startswith("#")]

    def number(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice(self._prose(blocks))
        blocks[at] = " ".join(str(self.rng.randrange(10, 900)) if w.isdigit() else w for w in blocks[at].split(" "))
        return blocks

    def reworded(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice(self._prose(blocks))
        blocks[at] = blocks[at].replace("what", "all that", 1).replace("cell", "small cell", 1)
        return blocks

    def added(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice(self._prose(blocks))
        blocks[at] += " " + _sentence(self.rng, self.rng.choice(_THINGS))
        return blocks

    def removed(self, blocks: list[str]) -> list[str]:
        return [b for n, b in enumerate(blocks) if n != self.rng.choice(self._prose(blocks)) or len(blocks) < 6]

    def split(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice(self._prose(blocks))
        blocks[at] = blocks[at].replace(". ", ".\n\n", 1)
        return blocks

    def moved(self, blocks: list[str]) -> list[str]:
        block = blocks.pop(self.rng.choice(self._prose(blocks)))
        blocks.insert(self.rng.randrange(1, len(blocks) + 1), block)
        return blocks

    def spaced(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice(self._prose(blocks))
        blocks[at] = blocks[at].replace(" ", "  ", 2)
        return blocks

    def headed(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice([n for n, b in enumerate(blocks) if b.startswith("#")])
        blocks[at] += " of cells"
        return blocks

    def happen(self) -> str:
        """One thing, by chance."""
        edits = (self.number, self.reworded, self.added, self.removed, self.split, self.moved, self.spaced, self.headed)
        others = (self._new, self._renamed, self._deleted, self._restored, self._copied, self._article, self._card)
        at = self.rng.randrange(2 * len(edits) + len(others))
        if at < 2 * len(edits):
            self._edit(edits[at // 2])
            return edits[at // 2].__name__
        others[at - 2 * len(edits)]()
        return others[at - 2 * len(edits)].__name__

    def _new(self) -> None:
        (self.raw / f"new-{self.hours}.md").write_text(document(self.rng))

    def _renamed(self) -> None:
        path = self.rng.choice(self.documents())
        path.rename(path.with_name(f"renamed-{self.hours}.md"))

    def _deleted(self) -> None:
        if len(self.documents()) > 2:
            path = self.rng.choice(self.documents())
            self.gone[path.name] = path.read_text()
            path.unlink()

    def _restored(self) -> None:
        if self.gone:
            name, text = self.gone.popitem()
            (self.raw / name).write_text(text)

    def _copied(self) -> None:
        """Another document with a passage of one that is there."""
        blocks = self.rng.choice(self.documents()).read_text().split("\n\n")
        passage = blocks[self.rng.choice(self._prose(blocks))].strip()
        (self.raw / f"copy-{self.hours}.md").write_text(document(self.rng) + "\n" + passage + "\n")

    def _article(self) -> None:
        self._by_hand("wiki/concepts", "\n> [!human]\n> I doubt it.\n")

    def _card(self) -> None:
        self._by_hand("learning/flashcards", "\nQ: What did I add?\nA: A card of my own.\n")

    def _by_hand(self, folder: str, words: str) -> None:
        pages = sorted((self.vault.root / folder).glob("*.md"))
        if pages:
            page = self.rng.choice(pages)
            page.write_text(page.read_text() + words)

    def asked_again(self, requests: Sequence[Request]) -> Iterator[str]:
        """What somebody was asked of that was asked before; and record what was asked now."""
        for request in requests:
            for what, parts in asked_in(request):
                if parts <= self.asked:
                    yield f"{request.type}: {what}"
                if isinstance(request, WriteRequest):  # words that went and came back are new to the page
                    self.asked -= {p for p in self.asked if p.startswith(f"{what.casefold()} from ")}
                self.asked |= parts


def asked_in(request: Request) -> Iterator[tuple[str, set[str]]]:
    """What a request asks about, and the parts of that: one of them has to be new."""
    match request:
        case ReadRequest():
            for document in request.documents:
                for passage in document.passages:
                    label = f"{document.title} {passage.number}"
                    yield label, {f"block {document.source}:{b.key}" for b in passage.blocks}
        case SettleRequest():
            yield "names", {f"name {n.title.casefold()}" for n in request.names if not n.settled}
        case WriteRequest():
            for task in request.concepts:
                opening = task.present[0].sentence.text if task.present and task.present[0].gone else ""
                blocks = {f"{task.title.casefold()} from {block}" for block in task.covers}
                yield task.title, blocks | ({f"{task.title} opened with {opening}"} if opening else set())
        case CheckRequest():
            for item in request.items:
                yield item.text, {f"item {item.key}"}
        case ReconcileRequest():
            for pair in request.pairs:
                yield pair.about, {f"pair {pair.key}"}


def by_hand_kept(vault: Vault) -> dict[str, bytes]:
    """What a human wrote in: these files are sources now, and a rebuild needs them."""
    paths = [p for f in ("wiki/concepts", "learning/flashcards") for p in (vault.root / f).glob("*.md")]
    return {str(p): p.read_bytes() for p in paths if b"I doubt it." in p.read_bytes() or b"of my own" in p.read_bytes()}


def faults(vault: Vault) -> list[object]:
    """What `verify` finds, but for pages that a human wrote in: those keep the sentences of documents that are gone,
    and the numbers of the sources there were, by which their decks are read."""
    theirs = {Path(p).relative_to(vault.root).as_posix() for p in by_hand_kept(vault)}
    theirs |= {p.replace("wiki/concepts", "learning/flashcards") for p in theirs}
    verdict = verify(vault, silent)
    return [f for f in (*verdict.unverified, *verdict.uncited, *verdict.unsupported) if f["path"] not in theirs]


def rebuilt(vault: Vault, at_hour: int) -> None:
    """Every product and cache deleted but for what a human edited, and made anew with nobody to ask."""
    kept = by_hand_kept(vault)
    for folder in (".retain", "wiki", "learning/flashcards"):
        shutil.rmtree(vault.root / folder, ignore_errors=True)
    for path, data in kept.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    options = Options(engine="journal", fresh=True, command="rebuild")
    compile_vault(vault, options, MORNING + timedelta(hours=at_hour), silent)


def shuffled(vault: Vault, rng: random.Random) -> None:
    """The journal as a careless merge leaves it: all lines in one file, in any order, some of them twice."""
    folder = vault.root / "ledger/replies"
    lines = [line for p in sorted(folder.glob("*.jsonl")) for line in p.read_text().splitlines(keepends=True)]
    lines += rng.sample(lines, len(lines) // 3)
    rng.shuffle(lines)
    for path in folder.glob("*.jsonl"):
        path.unlink()
    (folder / "merged.jsonl").write_text("".join(lines))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.torture)])
def test_after_any_history_nothing_was_asked_twice_and_all_is_rebuilt_with_nobody_to_ask(
    tmp_path: Path, seed: int, torture: Callable[[int, int], int]
) -> None:
    rng = random.Random(seed)
    vault = vault_with_sources(tmp_path / "vault", {f"{n}.md": document(rng) for n in range(3)})
    history = History(vault, rng)
    for step in range(torture(60, 8)):
        deed = history.happen() if step else "founded"
        backend = Whimsical(rng=random.Random(rng.random()))
        if rng.random() < 0.2:  # killed on the way, and run again
            backend.fail_after = rng.randrange(3)
            try:
                history.compile(backend)
            except Waiting:
                assert not list(history.asked_again(backend.asked)), deed
                backend.fail_after, backend.asked = None, []
        history.compile(backend)
        again = list(history.asked_again(backend.asked))
        assert not again, f"step {step}, {deed}: {again}"
        assert not (found := faults(vault)), f"step {step}, {deed}: {found}"
        if step % 4 == 3:
            before = tree(vault)
            rebuilt(vault, history.hours)
            assert tree(vault) == before, f"step {step}, {deed}"
    before = {p: d for p, d in tree(vault).items() if not p.startswith("ledger/replies")}
    shuffled(vault, rng)
    rebuilt(vault, history.hours)
    assert {p: d for p, d in tree(vault).items() if not p.startswith("ledger/replies")} == before
