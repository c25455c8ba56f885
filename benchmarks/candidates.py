"""Candidates for pages and cards from collections of documents, for judges to read and for the selection to learn from.

`python -m benchmarks.candidates COLLECTION... --out DIR` writes `items.jsonl`, what a judge sees, and
`features.jsonl`, the numbers of the same candidates, by id. Nothing is selected; what is drawn is drawn by a seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiler.claims.segments import requests_for
from compiler.engines.extractive import features, questions
from compiler.engines.extractive.reading import Reading, asks, asks_for, context_for, defined
from compiler.engines.extractive.sentence import Sentence
from compiler.engines.extractive.terms import context_of
from compiler.model.requests import ExtractRequest
from compiler.readers.read import read_source
from vault.errors import RetainError


@dataclass(slots=True)
class Candidate:
    """A page (`sort` "page") or a card: what a judge sees, and the features it is selected by."""

    sort: str
    form: str
    collection: str
    document: str
    shown: dict[str, str]
    features: dict[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return a digest of what is judged."""
        said = json.dumps([self.sort, self.collection, self.document, self.shown], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:12]


def candidates_in(collection: str, path: Path) -> Iterator[Candidate]:
    """Yield every candidate of one document."""
    try:
        source = read_source(path.read_bytes(), path.name)
    except RetainError as error:
        print(f"{path}: {error}")
        return
    reading = Reading(requests_for(source))
    for number, (sentence, doc) in enumerate(zip(reading.sentences, reading.docs, strict=True)):
        for form, shown, numbers in _of_sentence(reading, number, sentence, doc):
            passage = passage_of(sentence, reading.requests)
            yield Candidate(
                "page" if form.startswith("page") else "card",
                form,
                collection,
                path.name,
                {**shown, "document": source.title, "section": " > ".join(sentence.headings), "passage": passage},
                numbers,
            )


def passage_of(sentence: Sentence, requests: Sequence[ExtractRequest]) -> str:
    """Return the paragraph of a sentence, and the one before it, at most 900 characters."""
    text = requests[sentence.segment].text
    start = text.rfind("\n\n", 0, sentence.start)
    start = text.rfind("\n\n", 0, start) if start > 0 and sentence.start - start < 300 else start
    end = text.find("\n\n", sentence.end)
    found = text[max(start, 0) : end if end > 0 else len(text)].strip()
    if len(found) > 900:
        at = max(sentence.start - max(start, 0) - 400, 0)
        found = found[at : at + 900]
    return found


def _of_sentence(
    reading: Reading, number: int, sentence: Sentence, doc: Any
) -> Iterator[tuple[str, dict[str, str], dict[str, float]]]:
    terms, language = reading.terms, reading.language
    context = context_of(terms)
    for definition in defined(doc, sentence, terms):
        numbers = features.definition_features(definition, sentence, doc, terms, number)
        shown = {"title": definition.term, "first sentence": sentence.text}
        yield f"page {definition.pattern}", shown, numbers
        for asked in asks_for(definition, language):
            own = features.question_features(asked, sentence.text, doc, language, definition.pattern)
            own = own | {f"page:{k}": v for k, v in numbers.items() if v}
            yield asked.form, _shown(asked, context), own
    for asked in (*asks(sentence.text, doc, language), *reading.long_forms(sentence)):
        own = features.question_features(asked, sentence.text, doc, language)
        own = own | {f"page:{k}": v for k, v in features.term_features(asked.about, terms).items() if v}
        yield asked.form, _shown(asked, context), own


def _shown(asked: questions.Question, context: str) -> dict[str, str]:
    own = context_for(asked, context)
    return {"question": f"{own}: {asked.question}" if own else asked.question, "answer": asked.answer}


def draw(found: Sequence[Candidate], pages: int, cards: int, seed: int) -> list[Candidate]:
    """Return a sample: as many pages and cards as asked for, spread over collections and forms as evenly as may be."""
    chance = random.Random(seed)
    out: list[Candidate] = []
    for sort, wanted in (("page", pages), ("card", cards)):
        groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
        for one in {c.id: c for c in found if c.sort == sort}.values():
            groups[one.collection, one.form].append(one)
        for group in groups.values():
            chance.shuffle(group)
        taken: list[Candidate] = []
        while len(taken) < wanted and any(groups.values()):
            taken += [groups[key].pop() for key in sorted(k for k, g in groups.items() if g)]
        chance.shuffle(taken)
        out += taken[:wanted]
    return out


def main() -> None:
    """Write the candidates of the collections that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=1200)
    parser.add_argument("--cards", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = [
        one
        for collection in args.collections
        for path in sorted((collection / "raw").iterdir())
        for one in candidates_in(collection.name, path)
    ]
    counts: dict[str, int] = defaultdict(int)
    for one in found:
        counts[one.form] += 1
    drawn = draw(found, args.pages, args.cards, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "items.jsonl").open("w") as items:
        chosen = {one.id for one in drawn}
        for one in {c.id: c for c in found}.values():
            shown = {"id": one.id, "sort": one.sort, "form": one.form, "drawn": one.id in chosen, **one.shown}
            items.write(json.dumps(shown, ensure_ascii=False) + "\n")
    with (args.out / "features.jsonl").open("w") as numbers:
        for one in found:
            about = {
                "id": one.id,
                "sort": one.sort,
                "form": one.form,
                "collection": one.collection,
                "document": one.document,
            }
            kept = {k: round(v, 4) for k, v in one.features.items() if v}
            numbers.write(json.dumps({**about, "features": kept}, ensure_ascii=False) + "\n")
    print(f"{len(found)} candidates, {len(drawn)} drawn:", dict(sorted(counts.items())))


if __name__ == "__main__":
    main()
