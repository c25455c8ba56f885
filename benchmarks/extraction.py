"""What the embedded engine makes of collections of documents: a table of yields, and samples for judges.

`python -m benchmarks.extraction COLLECTION... [--retain PROGRAM] [--samples DIR]` compiles each collection (a folder
with `raw/`) in a vault of its own. Samples are drawn by a seed from everything that was made, evenly over documents:
`pages.txt`, `cards.txt` and `agenda.txt`, in the form that judges read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from compiler.claims.segments import requests_for
from compiler.engines.extractive.split import sentences
from compiler.language.names import key
from compiler.readers.read import read_source
from vault.errors import RetainError
from vault.model.card import Card, parse_deck
from vault.model.frontmatter import read_properties

LISTS = Path(__file__).with_name("collections")
_LINK = re.compile(r"\s*\[\[[^\]]*\]\]")
_GAP = re.compile(r"^- \[.\] (.*?)(?: (?:In use|Needed in|Read|Search|Look for): .*)?(?: \^g-\w+)?$", re.MULTILINE)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page:
    """An article as a judge sees it."""

    title: str
    first: str
    body: str
    source: str
    citations: int


@dataclass(frozen=True, slots=True)
class Made:
    """What one collection became."""

    name: str
    documents: int
    prose_words: int
    seconds: float
    megabytes: float
    pages: list[Page]
    cards: list[tuple[str, Card]]
    agenda: list[str]
    names: list[set[str]]  # of each page, its title and aliases in the form in which equal names are equal
    quotes: dict[str, str]  # claim -> its quote


def prose_words(folder: Path) -> tuple[int, int]:
    """Return how many documents of a folder can be read, and how many words their sentences have."""
    documents = words = 0
    for path in sorted(folder.iterdir()):
        try:
            source = read_source(path.read_bytes(), path.name)
        except RetainError:
            continue
        documents += 1
        for request in requests_for(source):
            text = " ".join(s.text for s in sentences(request))
            words += len(text) * 5 // 8 if source.language == "zh" else len(text.split())
    return documents, words


def make(collection: Path, retain: str, vault: Path) -> Made:
    """Compile the collection in a new vault with the program `retain` and return what is in it."""
    quiet = subprocess.DEVNULL
    subprocess.run([retain, "init", str(vault)], check=True, stdout=quiet)
    shutil.copytree(collection / "raw", vault / "raw" / "articles", dirs_exist_ok=True)
    begin = time.perf_counter()
    compiling = subprocess.Popen([retain, "compile", "--engine", "extractive"], cwd=vault, stdout=quiet, stderr=quiet)
    _, status, usage = os.wait4(compiling.pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        print(f"{collection.name}: compile ended with {code}", file=sys.stderr)
    seconds = time.perf_counter() - begin
    megabytes = usage.ru_maxrss / 1024
    documents, words = prose_words(collection / "raw")
    pages = [page_of(p.read_text()) for p in sorted((vault / "wiki" / "concepts").glob("*.md"))]
    decks = [parse_deck(p.read_text(), p.name) for p in sorted((vault / "learning" / "flashcards").glob("*.md"))]
    cards = [(deck.title, card) for deck in decks for card in deck.cards]
    names = [names_of(p.read_text()) for p in sorted((vault / "wiki" / "concepts").glob("*.md"))]
    quotes = quotes_of(vault / "ledger" / "ids.jsonl")
    gaps = vault / "learning" / "gaps.md"
    agenda = [_plain(g) for g in _GAP.findall(gaps.read_text())] if gaps.exists() else []
    return Made(collection.name, documents, words, seconds, megabytes, pages, cards, agenda, names, quotes)


def quotes_of(ledger: Path) -> dict[str, str]:
    """Return the quote of each claim that a ledger holds."""
    events = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return {e["id"]: e["quote"] for e in events if e.get("of") == "claim" and e.get("quote")}


def page_of(text: str) -> Page:
    """Return an article from its file."""
    body = text.split("\n# ", 1)[-1]
    title, _, rest = body.partition("\n")
    lead = rest.strip().split(" [[", 1)[0]
    source = re.search(r'"\[\[[^|]*\|([^\]]*)\]\]"', text)
    return Page(title.strip(), lead, _plain(rest).strip()[:3_000], source[1] if source else "", rest.count("#^c-"))


def names_of(text: str) -> set[str]:
    """Return the folded title and aliases of an article from its file."""
    return {key(name) for name in (page_of(text).title, *read_properties(text).texts("aliases"))}


def against_key(made: Made) -> str:
    """Return how many concepts of its key have a page, and how many have two; "" without a key."""
    found = list(LISTS.glob(f"*/{made.name}.key.json"))
    if not found:
        return ""
    concepts = json.loads(found[0].read_text())["concepts"]
    known = [{key(name) for name in (c["name"], *c["aliases"])} for c in concepts]
    pages = [sum(bool(names & own) for own in made.names) for names in known]
    main = [n for n, c in zip(pages, concepts, strict=True) if c["important"]]
    return (
        f"{sum(map(bool, pages))}/{len(pages)} ({sum(map(bool, main))}/{len(main)}), {sum(n > 1 for n in pages)} twice"
    )


def _plain(text: str) -> str:
    """Return Markdown without its citations and links."""
    return _LINK.sub("", re.sub(r"\[\[[^\]|]*\|([^\]]*[^\d\]][^\]]*)\]\]", r"\1", text))


def sample(found: Sequence[T], wanted: int, group: Callable[[T], str], seed: int) -> list[T]:
    """Return as many of `found` as wanted, spread evenly over the groups."""
    chance = random.Random(seed)
    groups: dict[str, list[T]] = defaultdict(list)
    for one in found:
        groups[group(one)].append(one)
    for members in groups.values():
        chance.shuffle(members)
    out: list[T] = []
    while len(out) < wanted and any(groups.values()):
        out += [groups[key].pop() for key in sorted(k for k, members in groups.items() if members)]
    return out[:wanted]


def write_samples(made: Made, folder: Path, seed: int) -> None:
    """Write the samples of one collection."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = sample(made.pages, 60, lambda p: p.source, seed)
    cards = sample(made.cards, 60, lambda c: c[0], seed)
    (folder / "pages.txt").write_text("".join(_pages(made.name, pages)))
    (folder / "cards.txt").write_text("".join(_cards(made.name, cards)))
    (folder / "agenda.txt").write_text(
        "".join(f"### {made.name}-g{n}\n{g}\n\n" for n, g in enumerate(made.agenda[:20], 1))
    )


def _pages(name: str, pages: Sequence[Page]) -> Iterator[str]:
    for number, page in enumerate(pages, 1):
        yield f"### {name}-p{number}\ndocument: {page.source}\nTITLE: {page.title}\n{page.body}\n\n"


def _cards(name: str, cards: Sequence[tuple[str, Card]]) -> Iterator[str]:
    for number, (deck, card) in enumerate(cards, 1):
        yield f"### {name}-c{number}\ndeck: {deck}\nFRONT: {card.question}\nBACK: {card.answer}\n\n"


def row(made: Made) -> str:
    """Return the line of the table for a collection."""
    per = made.prose_words / 10_000 or 1
    kinds = Counter(str(card.kind) for _, card in made.cards)
    single = sum(page.citations == 1 for page in made.pages)
    return (
        f"| {made.name} | {made.documents} | {made.prose_words:,} | {len(made.pages)} ({len(made.pages) / per:.1f}) "
        f"| {single} | {len(made.cards)} ({len(made.cards) / per:.1f}) | {dict(kinds)} | {len(made.agenda)} "
        f"| {against_key(made)} | {made.seconds:.0f} s | {made.megabytes:.0f} |"
    )


def card_facts(deck: str, card: Card, quotes: Mapping[str, str]) -> dict[str, str]:
    """Return a card with the words that it rests on."""
    evidence = " ... ".join(quotes.get(cited.claim, "") for cited in card.support)
    return {
        "deck": deck,
        "kind": str(card.kind),
        "question": card.question,
        "answer": card.answer,
        "evidence": evidence,
    }


def main() -> None:
    """Print the table; write the samples where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="+", type=Path)
    own = str(Path(sys.executable).with_name("retain"))
    parser.add_argument("--retain", default=own, help="the program that compiles, for comparisons between versions")
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where to write all pages, cards and gaps")
    args = parser.parse_args()
    print(
        "| collection | documents | prose words | articles | single | cards | kinds | agenda "
        "| key concepts (main ones) | time | MB |"
    )
    print("|" + "---|" * 11)
    for collection in args.collections:
        with tempfile.TemporaryDirectory() as folder:
            made = make(collection, args.retain, Path(folder) / "vault")
        print(row(made), flush=True)
        if args.samples:
            write_samples(made, args.samples / made.name, args.seed)
        if args.json:
            args.json.mkdir(parents=True, exist_ok=True)
            cards = [card_facts(deck, card, made.quotes) for deck, card in made.cards]
            pages = [{"title": p.title, "first": p.first, "source": p.source, "body": p.body} for p in made.pages]
            whole = {"pages": pages, "cards": cards, "agenda": made.agenda}
            (args.json / f"{made.name}.json").write_text(json.dumps(whole, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
