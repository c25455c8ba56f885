"""`python -m benchmarks.retrieval COLLECTION...`: whether a search finds the passage that answers, beside its peers.

A collection is a folder with `docs/` and `questions.jsonl`, a JSON object a line: {"question", "answerable",
"document", "quote", "also": [{"document", "quote"}]}. A passage counts as found if it has at least half of the quote,
by its runs of four words. The peers search the same passages: FTS5 with its own stemmer, any of the question's words;
and qmd, its BM25 over the documents' texts, which counts as right with the right document. With `--semantic`, once for
each model, retain is measured with its embeddings, too; and with qmd's hits beside its own, where qmd can be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import qmd
from benchmarks.measure import RETAIN, Bench, machine
from compiler.build.search import with_search_index
from compiler.index.entries import Entry, entries_of
from compiler.search.likeness import likeness_by
from compiler.search.search import Likeness, search
from vault.config.search import SearchSettings
from vault.index.database import Database
from vault.text.formatting import fold
from vault.vault import open_vault

MOST = 20
_WORD = re.compile(r"\w+")
Found = list[tuple[str, str]]  # (document, text) of what was found, the best first


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the quotes that answer it: (document, quote)."""

    words: str
    quotes: tuple[tuple[str, str], ...]

    def rank(self, found: Found, *, any_text: bool = False) -> int:
        """The rank, from 1, of the first that answers; 0 if none does."""
        for number, (document, text) in enumerate(found, 1):
            if any(document == name and (any_text or _has(text, quote)) for name, quote in self.quotes):
                return number
        return 0


def questions(folder: Path) -> list[Question]:
    """The answerable questions of a collection."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for line in lines if line and (row := json.loads(line))["answerable"]]
    return [
        Question(
            row["question"], tuple((each["document"], fold(each["quote"])) for each in (row, *row.get("also", ())))
        )
        for row in rows
        if row["answerable"]
    ]


def _has(text: str, quote: str) -> bool:
    """Whether a text has at least half of a quote."""
    if quote in text:
        return True
    runs = _runs(quote)
    return len(runs & _runs(text)) >= len(runs) / 2


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return {tuple(words[n : n + 4]) for n in range(max(1, len(words) - 3))}


def _vault(bench: Bench, folder: Path) -> Path:
    root = bench.work / f"vault-{folder.name}"
    shutil.rmtree(root, ignore_errors=True)
    bench.run([RETAIN, "init", str(root), "--no-git"])
    shutil.copytree(folder / "docs", root / "raw/articles", dirs_exist_ok=True)
    return root


def _ours(index: Database, question: str, likeness: Likeness | None = None) -> Found:
    hits = search(index, question, ("passage",), MOST, likeness, is_prose=True).hits["passage"]
    return [(Path(hit.entry.path).name, fold(hit.entry.text)) for hit in hits]


def _plain(passages: Sequence[Entry]) -> Callable[[str], Found]:
    """A search of the same passages by FTS5 alone."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE hit USING fts5(title, words, tokenize='porter unicode61')")
    rows = ((f"{each.title} {each.place}", each.text) for each in passages)
    connection.executemany("INSERT INTO hit(title, words) VALUES(?, ?)", rows)

    def found(question: str) -> Found:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        query = "SELECT rowid FROM hit WHERE hit MATCH ? ORDER BY bm25(hit) LIMIT ?"
        numbers = [number for (number,) in connection.execute(query, (match, MOST))]
        return [(Path(passages[n - 1].path).name, fold(passages[n - 1].text)) for n in numbers]

    return found


def _qmd(bench: Bench, passages: Sequence[Entry], name: str) -> tuple[qmd.Qmd, tuple[str, ...]]:
    """qmd with the documents' texts as its collection `name`, and its command that searches it. Raises: qmd.NotHere."""
    folder = bench.work / f"texts-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in dict.fromkeys(each.path for each in passages):
        text = "\n\n".join(each.text for each in passages if each.path == path)
        (folder / Path(path).with_suffix(".md").name).write_text(text, encoding="utf-8")
    peer = qmd.indexed(bench, folder, name)
    return peer, (str(peer.folder / "node_modules/.bin/qmd"), "search", "-c", name)


def _by_qmd(peer: qmd.Qmd, command: Sequence[str], names: Sequence[str]) -> Callable[[str], Found]:
    """A search by qmd's BM25, which gives documents: those with these names."""
    documents = {Path(name).stem: name for name in names}

    def found(question: str) -> Found:
        arguments = [*command, question, "-n", str(MOST), "--json"]
        done = subprocess.run(arguments, env=peer.environment(), capture_output=True, text=True, check=False)
        try:
            rows: list[dict[str, Any]] = json.loads(done.stdout or "[]")
        except ValueError:
            rows = []
        stems = [Path(str(row.get("file", ""))).stem for row in rows]
        return [(documents.get(stem, stem), "") for stem in stems]

    return found


def _line(name: str, ranks: Sequence[int], spent: float) -> str:
    count = len(ranks)
    within = {most: sum(0 < rank <= most for rank in ranks) / count for most in (1, 5, 20)}
    mrr = sum(1 / rank for rank in ranks if rank) / count
    shares = "  ".join(f"@{most} {share:.2f}" for most, share in within.items())
    return f"  {name:30}{shares}  MRR {mrr:.3f}  {spent / count * 1000:6.1f} ms a question"


def measured(bench: Bench, folder: Path, models: Sequence[str]) -> Iterator[str]:
    """Yield the lines on one collection."""
    asked = questions(folder)
    root = _vault(bench, folder)
    vault = open_vault(str(root), None, root)
    yield f"{folder.name}: {len(asked)} questions"

    def line(name: str, find: Callable[[str], Found], *, any_text: bool = False) -> str:
        start = time.perf_counter()
        found = [find(question.words) for question in asked]
        spent = time.perf_counter() - start
        ranks = [question.rank(each, any_text=any_text) for question, each in zip(asked, found, strict=True)]
        return _line(name, ranks, spent)

    def ours(name: str, settings: SearchSettings) -> str:
        likeness = likeness_by(settings, lambda event: None)

        def use(index: Database) -> str:
            start = time.perf_counter()
            _ours(index, "what", likeness)
            first = time.perf_counter() - start
            found = line(name, lambda question: _ours(index, question, likeness))
            return f"{found}, the first {first:.1f} s" if settings.model else found

        return with_search_index(vault, use, datetime.now(UTC), lambda event: None)

    yield ours("retain", SearchSettings())
    for model in models:
        yield ours(f"retain, {Path(model).name}", SearchSettings(model))
    passages = with_search_index(vault, lambda i: entries_of(i, "passage"), datetime.now(UTC), lambda event: None)
    yield line("FTS5, porter", _plain(passages))
    try:
        peer, command = _qmd(bench, passages, folder.name)
    except qmd.NotHere as why:
        yield f"  qmd: not run: {why}"
        return
    names = [Path(each.path).name for each in passages]
    yield line("qmd, right document", _by_qmd(peer, command, names), any_text=True)
    os.environ.update(peer.environment())  # of the programs that retain starts
    for model in ("", *models):
        yield ours(" and ".join(filter(None, ("retain, qmd", Path(model).name))), SearchSettings(model, command))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, help="a folder to work in and to keep")
    parser.add_argument(
        "--semantic",
        metavar="MODEL",
        action="append",
        default=[],
        help="an embedding model, folder or name (repeatable)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        work = options.work or Path(own)
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(work, 1, 0)
        print(machine(), file=sys.stderr)
        for folder in options.collections:
            for line in measured(bench, folder.resolve(), options.semantic):
                print(line, flush=True)


if __name__ == "__main__":
    main()
