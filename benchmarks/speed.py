"""What retain costs, as ratios to peers measured in the same minute."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import made_corpus, made_decks, qmd
from benchmarks.measure import FULL, RETAIN, Bench, Row, in_turns, machine, seconds, table
from benchmarks.pseudo_terminal import seconds_to_paint

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples" / "sources"
PYTHON = (sys.executable, "-c", "pass")

SMALL = 100  # articles of a small vault
_SETTLED_S = 2.2  # until no file is so young that it must be read again
_WALK = """
import os, sys
folders = [sys.argv[1]]
while folders:
    with os.scandir(folders.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                entry.stat(follow_symlinks=False)
"""
_LISTEN = """
import sys
heard = []
sys.addaudithook(lambda event, _: heard.append(event) if event.startswith("socket.") else None)
from cli.main import run
code = run(sys.argv[1:])
print(*heard, file=sys.stderr)
sys.exit(code)
"""
_BARE_READERS = """
import pathlib, sys
from compiler.readers.read import read_source
from vault.errors import Unreadable
for path in sorted(p for p in pathlib.Path(sys.argv[1]).rglob("*") if p.is_file()):
    try:
        read_source(path.read_bytes(), path.name)
    except Unreadable:
        pass
"""
_BARE_APP = """
import sys
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static(sys.argv[1])
Bare().run()
"""


# --- vaults to measure on -------------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _new_vault(bench: Bench, name: str) -> Path:
    vault = bench.work / name
    shutil.rmtree(vault, ignore_errors=True)
    bench.run([RETAIN, "init", str(vault), "--no-git"])
    return vault


def _compile(bench: Bench, vault: Path) -> float:
    return bench.run([RETAIN, "--vault", str(vault), "compile", "--progress", "none"])


def _large_vault(bench: Bench) -> tuple[Path, float]:
    """A compiled vault of so many articles, and how long the compile took when it was made."""
    vault, took = bench.work / f"made-{bench.articles}", bench.work / f"made-{bench.articles}.seconds"
    if took.exists():
        return vault, float(took.read_text(encoding="utf-8"))
    _new_vault(bench, vault.name)
    made = made_corpus.write_library(vault / "raw/articles", bench.articles)
    _say(f"compiling {made.sources} made-up sources on {made.terms} terms, {made.bytes / 1e6:.1f} MB ...")
    spent = _compile(bench, vault)
    took.write_text(str(spent), encoding="utf-8")
    return vault, spent


def _count(folder: Path, pattern: str) -> int:
    return sum(1 for _ in folder.rglob(pattern))


def _now() -> datetime:
    return datetime.now(UTC)


# --- rows -----------------------------------------------------------------------------------------------------------


def version(bench: Bench) -> Iterator[Row]:
    """Starting up."""
    ours, bare = in_turns(bench.rounds, lambda: bench.run([RETAIN, "--version"]), lambda: bench.run(PYTHON))
    yield Row("retain --version", ours, "python -c pass", bare, 4.5)


def noop(bench: Bench) -> Iterator[Row]:
    """A compile with nothing to do."""
    vault, _ = _large_vault(bench)
    time.sleep(2.5)
    articles, files = _count(vault / "wiki/concepts", "*.md"), _count(vault, "*")
    what = f"compile, nothing to do, {articles:,} articles"
    if "nothing changed" not in _output(bench, vault):
        raise RuntimeError("the second compile found something to do")
    walk = [sys.executable, "-c", _WALK, str(vault)]
    ours, bare = in_turns(bench.rounds, lambda: _compile(bench, vault), lambda: bench.run(walk))
    yield Row(what, ours, f"python stats {files:,} files", bare, bench.mark(4.0), _sockets(bench, vault))
    try:
        peer = qmd.indexed(bench, vault / "wiki")
        ours, theirs = in_turns(bench.rounds, lambda: _compile(bench, vault), lambda: peer.call("update"))
        yield Row(what, ours, f"qmd {peer.version} update, same wiki", theirs, bench.mark(0.3))
    except qmd.NotHere as reason:
        yield Row(
            what, ours, "qmd update", None, bench.mark(0.3), f"not run: {reason}; 0.7 s where it was last seen to run"
        )


def _output(bench: Bench, vault: Path) -> str:
    command = [RETAIN, "--vault", str(vault), "compile"]
    return subprocess.run(command, env=bench.environment(), capture_output=True, text=True, check=True).stdout


def _sockets(bench: Bench, vault: Path) -> str:
    """What a compile with nothing to do has to do with sockets, by Python's own account and by the kernel's."""
    arguments = ["--vault", str(vault), "compile"]
    listened = subprocess.run(
        [sys.executable, "-c", _LISTEN, *arguments], env=bench.environment(), capture_output=True, text=True, check=True
    )
    found = [f"socket events seen by an audit hook: {listened.stderr.strip() or 'none'}"]
    strace = shutil.which("strace")
    if strace is not None:
        command = [strace, "-f", "-qq", "-e", "trace=network", "-e", "signal=none", RETAIN, *arguments]
        traced = subprocess.run(command, env=bench.environment(), capture_output=True, text=True, check=False)
        calls = re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", traced.stderr, re.MULTILINE)
        worked = "nothing changed" in traced.stdout
        found.append(f"network calls seen by strace: {(' '.join(calls) or 'none') if worked else 'it could not trace'}")
    return "; ".join(found)


def rating(bench: Bench) -> Iterator[Row]:
    """A rating, from the call until it is on disk and the session has moved on."""
    from learning.cards.workspace import open_desk
    from learning.review.study_session import StudySession
    from vault.log.events import Rating
    from vault.vault import open_vault

    root = _new_vault(bench, "rating")
    made_decks.write_decks(root, 800, 2_400, seed=1)
    log = root / "learning/reviews.jsonl"
    line = log.read_bytes().splitlines(keepends=True)[0]
    vault = open_vault(str(root), None, root)
    study_session = StudySession(open_desk(vault, _now()), _now)

    def ours() -> float:
        assert study_session.table() is not None, "cards enough for every round"
        study_session.reveal()
        start = time.perf_counter()
        study_session.rate(Rating.GOOD)
        return time.perf_counter() - start

    def bare() -> float:
        start = time.perf_counter()
        handle = os.open(root / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, line)
        os.fsync(handle)
        os.close(handle)
        return time.perf_counter() - start

    mine, theirs = in_turns(bench.rounds * 4, ours, bare)
    yield Row("a rating, until it is on disk", mine, "open, append, fsync, close", theirs)


def card(bench: Bench) -> Iterator[Row]:
    """From the start of the program to the first question on the screen."""
    vault = _new_vault(bench, "examples")
    bench.run([RETAIN, "--vault", str(vault), "add", str(EXAMPLES)])
    _compile(bench, vault)
    yield _painted(bench, vault, "the example vault")
    large, _ = _large_vault(bench)
    yield _painted(bench, large, f"{bench.articles:,} articles")


def _painted(bench: Bench, vault: Path, name: str) -> Row:
    question = _first_question(bench, vault)
    environment = bench.environment({"TERM": "xterm-256color", "COLORTERM": "truecolor"})
    ours, bare = in_turns(
        bench.rounds,
        lambda: seconds_to_paint([RETAIN, "--vault", str(vault), "review"], question, environment),
        lambda: seconds_to_paint([sys.executable, "-c", _BARE_APP, question], question, environment),
    )
    return Row(f"start to the first card, {name}", ours, "Textual, one Static", bare)


def _first_question(bench: Bench, vault: Path) -> str:
    """The first words of the question that comes first today, as plain text."""
    command = [RETAIN, "--vault", str(vault), "due", "--json"]
    out = subprocess.run(command, env=bench.environment(), capture_output=True, text=True, check=True).stdout
    due = json.loads(out)
    first = [*due["due"], *due["new"]][0]
    line = (vault / first["path"]).read_text(encoding="utf-8").splitlines()[first["line"] - 1]
    return " ".join(re.findall(r"[^\W_]+", line.removeprefix("Q:"))[:4])


def corpus(bench: Bench) -> Iterator[Row]:
    """Real documents, a book of 587 pages among them."""
    beside = HERE.parents[1] / "shared" / "data"
    documents = Path(os.environ.get("RETAIN_TEST_DATA", beside)) / "corpus-attention" / "raw"
    if not documents.is_dir():
        _say("corpus: not run, the documents are not here (RETAIN_TEST_DATA names their folder)")
        return
    vault = _new_vault(bench, "corpus")
    bench.run([RETAIN, "--vault", str(vault), "add", str(documents)])

    def ours() -> float:
        for product in ("wiki", "learning", "ledger", ".retain"):
            shutil.rmtree(vault / product, ignore_errors=True)
        return _compile(bench, vault)

    readers = [sys.executable, "-c", _BARE_READERS, str(vault / "raw")]
    mine, bare = in_turns(max(1, bench.rounds // 5), ours, lambda: bench.run(readers))
    count = sum(p.is_file() for p in (vault / "raw").rglob("*"))
    yield Row(f"compile {count} documents, a book among them", mine, "the same readers in a loop", bare, 10.0)
    yield Row(f"compile {count} documents, a book among them", mine, "a minute", 60.0, 1.0)


def size(bench: Bench) -> Iterator[Row]:
    """How it grows; nothing is promised."""
    bare = in_turns(bench.rounds, lambda: bench.run(PYTHON))[0]
    _, whole = _large_vault(bench)
    yield Row(f"compile {bench.articles:,} articles, all new", whole, "python -c pass", bare)
    learner = _new_vault(bench, "learner")
    made_decks.write_decks(learner, bench.articles * 5, bench.articles * 15, seed=2)
    due = [RETAIN, "--vault", str(learner), "due"]
    ours, bare = in_turns(max(1, bench.rounds // 2), lambda: bench.run(due), lambda: bench.run(PYTHON))
    yield Row(f"due, {bench.articles * 5:,} cards, {bench.articles * 15:,} reviews", ours, "python -c pass", bare)


def incremental(bench: Bench) -> Iterator[Row]:
    """One new source, and one edited sentence, in a small vault and in a large one."""
    small = bench.work / "made-small"
    if not small.exists():
        made_corpus.write_library(_new_vault(bench, small.name) / "raw/articles", SMALL, seed=2)
    times = {vault: _changed(bench, vault) for vault in (small, _large_vault(bench)[0])}
    (few_added, few_edited), (added, edited) = times.values()
    yield Row(f"one new source beside {bench.articles:,} articles", added, f"beside {SMALL}", few_added, 2.0)
    yield Row("the same", added, "a second and a half", 1.5, 1.0)
    yield Row(f"one edited sentence beside {bench.articles:,} articles", edited, f"beside {SMALL}", few_edited)
    yield Row("the same", edited, "a second", 1.0, 1.0)


def _changed(bench: Bench, vault: Path) -> tuple[float, float]:
    """Return how long a compile takes after a source came, and after a sentence was edited: medians, in place.

    A copy of the vault would not do: its index counts for nothing.
    """
    _compile(bench, vault)
    added, edited = [], []
    for turn in range(max(3, bench.rounds // 3)):
        number = _count(vault / "raw", "more-*.md")
        source = vault / f"raw/articles/more-{number}.md"
        source.write_text(made_corpus.one_more_source(1000 + number), encoding="utf-8")
        time.sleep(_SETTLED_S)
        added.append(_compile(bench, vault))
        text = source.read_text(encoding="utf-8")
        source.write_text(text.replace(". ", f" at {turn + 2} places. ", 1), encoding="utf-8")
        time.sleep(_SETTLED_S)
        edited.append(_compile(bench, vault))
    return sorted(added)[len(added) // 2], sorted(edited)[len(edited) // 2]


ROWS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    each.__name__: each for each in (version, noop, rating, card, corpus, size, incremental)
}


# --- the run --------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    asked = _arguments()
    names = [name.strip() for name in asked.rows.split(",")] if asked.rows else list(ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"no row is named {', '.join(unknown)}; there are {', '.join(ROWS)}")
    with tempfile.TemporaryDirectory(prefix="retain-speed-", ignore_cleanup_errors=True) as temporary:
        work = Path(asked.work or temporary).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(work, asked.rounds or (5 if asked.quick else 15), 400 if asked.quick else FULL)
        _say(f"measuring in {work}, {bench.rounds} rounds; close what you can, a busy machine blurs the figures")
        rows: list[Row] = []
        for name in names:
            start = time.perf_counter()
            rows += ROWS[name](bench)
            _say(f"  {name}: done in {seconds(time.perf_counter() - start)}")
    print(machine())
    print(f"Medians of wall time, {bench.rounds} rounds each, in turns.\n")
    print(table(rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="400 articles and five rounds: a first look")
    parser.add_argument("--rows", help=f"only these, parted by commas: {','.join(ROWS)}")
    parser.add_argument("--rounds", type=int, help="how often each thing is measured (15, or 5 with --quick)")
    parser.add_argument("--work", help="a folder to work in and to keep: another run there finds its vault and qmd")
    return parser.parse_args()


if __name__ == "__main__":
    main()
