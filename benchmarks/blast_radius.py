"""What an edit redoes beside what it had to redo: `python -m benchmarks.blast_radius [--rounds N] [--json]`.

Many edits, one after the other, of a made-up library that was compiled by rules, and by a scripted model that says
everything in other words each time it is asked. What had to be redone is counted without the compiler: a claim whose
quote stands in its source's file no more, a sentence that cites such a claim, a card that rests on one.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.made_corpus import write_library
from benchmarks.made_edits import KINDS, Edit, Editor
from compiler.build.compile import Options, compile_vault
from compiler.model.changes import Blast
from compiler.replies.asker import Backend
from compiler.verification.verify import verify
from tests.compiler.scripted import Whimsical
from vault.config.settings import Settings, render_settings
from vault.ids import ulid
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES
from vault.model.article import sentences
from vault.model.card import parse_deck
from vault.model.frontmatter import read_properties
from vault.model.summary import parse_summary
from vault.text.formatting import fold
from vault.vault import Vault, open_vault

FAMILIES = ("extractive", "journal")
LEVELS = ("claims", "sentences", "cards", "articles")
_NO_CLAIM, _NO_CARD = ("", "", ""), ("", "", ())
_FIRST = datetime(2026, 11, 21, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class State:
    """A vault as its files show it, read without the compiler."""

    texts: dict[str, str]  # raw path -> its words, folded
    claims: dict[str, tuple[str, str, str]]  # id -> raw path, quote, kind and words; its state follows from others
    said: dict[tuple[str, str, tuple[str, ...]], int]  # (article id, sentence, claims) -> how often
    cards: dict[str, tuple[str, str, tuple[str, ...]]]  # id -> question, answer, claims

    @classmethod
    def of(cls, vault: Vault) -> State:
        texts = {p: fold(_text(vault, p).replace("*", "").replace("#", "")) for p in _raw(vault)}
        claims: dict[str, tuple[str, str, str]] = {}
        for path in vault.paths(SUMMARIES, ".md"):
            summary = parse_summary(_text(vault, path), path)
            for one in summary.claims:
                c = one.claim
                claims[c.id] = summary.properties.text("source"), c.quote, f"{c.kind} {c.statement}"
        said: dict[tuple[str, str, tuple[str, ...]], int] = defaultdict(int)
        for path in vault.paths(CONCEPTS, ".md"):
            text = _text(vault, path)
            for s in sentences(text):
                said[read_properties(text).text("id"), s.text, tuple(c.claim for c in s.cites)] += 1
        decks = (parse_deck(_text(vault, p), p) for p in vault.paths(FLASHCARDS, ".md"))
        cards = {
            str(c.id): (c.question, c.answer, tuple(str(s.claim) for s in c.support)) for d in decks for c in d.cards
        }
        return cls(texts, claims, dict(said), cards)


def _text(vault: Vault, path: str) -> str:
    text = vault.read_text(path)
    assert text is not None, "listed a moment ago"
    return text


def _raw(vault: Vault) -> list[str]:
    return sorted(p.relative_to(vault.root).as_posix() for p in (vault.root / "raw").rglob("*.md"))


@dataclass(slots=True)
class Score:
    """How many of a kind of thing were redone, had to be, and both."""

    redone: int = 0
    due: int = 0
    both: int = 0
    kept: int = 0  # that neither were nor had to be
    wrong: list[str] = field(default_factory=list)  # what was redone or left and should not have been

    def add(self, redone: set[Any], due: set[Any], all_: set[Any], why: str) -> None:
        self.redone += len(redone)
        self.due += len(due)
        self.both += len(redone & due)
        self.kept += len(all_ - redone - due)
        self.wrong += [f"{why}: redone for nothing: {x}" for x in sorted(map(str, redone - due))]
        self.wrong += [f"{why}: left: {x}" for x in sorted(map(str, due - redone))]

    @property
    def precision(self) -> float:
        return self.both / self.redone if self.redone else 1.0

    @property
    def recall(self) -> float:
        return self.both / self.due if self.due else 1.0


Scores = dict[str, Score]


def founded(root: Path, terms: int, seed: int) -> Vault:
    """A new vault with a made-up library."""
    for folder in ("raw", "wiki", "learning/flashcards", "ledger", "insights", "output"):
        (root / folder).mkdir(parents=True)
    settings = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="made")
    (root / "retain.toml").write_text(render_settings(settings))
    write_library(root / "raw/articles", terms, seed=seed)
    return open_vault(str(root), None, root)


def run(
    family: str, root: Path, *, rounds: int, terms: int, seed: int, told: Callable[[str], None] = lambda _: None
) -> tuple[Scores, Scores, int]:
    """Scores of what was redone, of what a dry run had named before, and the number of findings of `verify`."""
    vault = founded(root, terms, seed)
    editor = Editor(vault.root / "raw", seed)
    rng = random.Random(seed)
    done: Scores = {level: Score() for level in (*LEVELS, "added")}
    named: Scores = {level: Score() for level in LEVELS}
    _compile(vault, family, rng, 0)
    findings = 0
    for n in range(1, rounds * len(KINDS) + 1):
        kind = KINDS[n % len(KINDS)]
        before = State.of(vault)
        edit = editor.edit(kind)
        foretold = _compile(vault, family, rng, n, dry=True)
        _compile(vault, family, rng, n)
        after = State.of(vault)
        verdict = verify(vault, lambda event: None)
        findings += len([*verdict.unverified, *verdict.uncited, *verdict.unsupported])
        judge(edit, before, after, done, f"{n} {kind}")
        if foretold is not None:
            foretell(foretold, before, after, named, f"{n} {kind}")
        told(f"{family} {n} {kind}")
    return done, named, findings


def _compile(vault: Vault, family: str, rng: random.Random, hour: int, *, dry: bool = False) -> Blast | None:
    backend: Backend | None = Whimsical(rng=random.Random(rng.random())) if family == "journal" and not dry else None
    engine = "claude" if backend is not None else family
    at = _FIRST + timedelta(hours=hour)
    return compile_vault(vault, Options(engine=engine, dry_run=dry), at, lambda event: None, backend=backend).blast


def judge(edit: Edit, before: State, after: State, scores: Mapping[str, Score], why: str) -> None:
    """Add one edit to the scores."""
    gone = due_claims(edit, before, after)
    scores["claims"].add(_moved(before, after), gone, set(before.claims), why)
    new = {i for i, (_, quote, _) in after.claims.items() if before.claims.get(i, _NO_CLAIM)[1] != quote}
    then = {now: was for was, now in edit.now.items() if now is not None}
    bare = {i for i in new if after.claims[i][1] in before.texts.get(then.get(after.claims[i][0], ""), "")}
    scores["added"].add(new, new - bare, new, why)
    due = {s for s in before.said if gone & set(s[2])}
    redone = {s for s, count in before.said.items() if after.said.get(s, 0) < count}
    scores["sentences"].add(redone, due, set(before.said), why)
    cards = {i for i, (_, _, cites) in before.cards.items() if not _elsewhere(cites, gone, before, after)}
    scores["cards"].add(_recast(before, after), cards, set(before.cards), why)
    news = {s for s, count in after.said.items() if before.said.get(s, 0) < count}
    touched = {s[0] for s in due} | {s[0] for s in news if new & set(s[2])}
    scores["articles"].add({s[0] for s in redone | news}, touched, {s[0] for s in before.said}, why)


def due_claims(edit: Edit, before: State, after: State) -> set[str]:
    """The claims whose words do not stand in the file of their source any more, or whose source is gone."""
    texts = {was: after.texts.get(now or "", "") for was, now in edit.now.items()}
    return {i for i, (path, quote, _) in before.claims.items() if quote not in texts.get(path, "")}


def _moved(before: State, after: State) -> set[str]:
    """The claims of which a summary says other things than before, or nothing; where they stand is no matter."""
    return {i for i, said in before.claims.items() if after.claims.get(i, _NO_CLAIM)[1:] != said[1:]}


def _recast(before: State, after: State) -> set[str]:
    """The cards that say other things than before, or are no more."""
    return {i for i, (q, a, _) in before.cards.items() if after.cards.get(i, _NO_CARD)[:2] != (q, a)}


def _elsewhere(cites: Sequence[str], gone: set[str], before: State, after: State) -> bool:
    """Whether nothing that the card rests on is gone, or other sources say it word for word."""
    words = {quote for _, quote, _ in after.claims.values()}
    return all(c not in gone or before.claims[c][1] in words for c in cites)


def foretell(blast: Blast, before: State, after: State, scores: Mapping[str, Score], why: str) -> None:
    """Hold what a dry run named of what was there against what the compile then did to it."""
    named = {c.id for c in blast.claims if c.what != "added"}
    scores["claims"].add(named, _moved(before, after), set(before.claims), why)
    pages = [a for a in blast.articles if a.path.startswith(CONCEPTS)]
    gone = {(s[0], s[1]) for s, n in before.said.items() if after.said.get(s, 0) < n}
    told = {(a.id, words) for a in pages for words in a.gone}
    scores["sentences"].add(told, gone, {s[:2] for s in before.said}, why)
    cards = {str(c.id) for c in blast.cards if c.id in before.cards}
    scores["cards"].add(cards, _recast(before, after), set(before.cards), why)
    there = {s[0] for s in before.said}
    touched = {s[0] for s, n in after.said.items() if before.said.get(s, 0) < n} | {id_ for id_, _ in gone}
    redone = {a.id for a in pages if a.gone or a.new or a.asked}
    scores["articles"].add(redone & there, touched & there, there, why)


def rows(title: str, scores: Mapping[str, Score]) -> Iterator[str]:
    yield f"{title:36}{'redone':>8}{'due':>8}{'kept':>8}{'precision':>11}{'recall':>8}"
    for level, s in scores.items():
        yield f"  {level:34}{s.redone:8}{s.due:8}{s.kept:8}{s.precision:11.3f}{s.recall:8.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="how often every kind of edit is made")
    parser.add_argument("--terms", type=int, default=24, help="concepts of the library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--wrong", action="store_true", help="list what was redone for nothing, and what was left")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    out: dict[str, Any] = {}
    for family in [given.family] if given.family else FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            done, named, findings = run(
                family, Path(folder) / "vault", rounds=given.rounds, terms=given.terms, seed=given.seed
            )
        for what, scores in (("redone", done), ("named by the dry run", named)):
            out[f"{family}: {what}"] = {
                k: {"redone": s.redone, "due": s.due, "precision": s.precision, "recall": s.recall}
                for k, s in scores.items()
            }
            if not given.json:
                print("\n".join(rows(f"{family}: {what}", scores)))
            if given.wrong:
                print("\n".join(f"    {level}: {line}" for level, s in scores.items() for line in s.wrong))
        out[f"{family}: findings of verify"] = findings
        if not given.json:
            print(f"{family}: {findings} findings of `retain verify` after {given.rounds * len(KINDS)} edits\n")
    if given.json:
        print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
