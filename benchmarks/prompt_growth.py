"""Tokens that a new source costs as the wiki grows: `python -m benchmarks.prompt_growth [--terms 150,720] [--json]`.

Made-up libraries are compiled by the scripted engine, which answers by rule; then three sources come that speak of
terms the wiki knows beside some of their own. What a model would be sent for them is counted as `compile --dry-run`
does it. A wiki twenty times as large should not make the next source dearer: prompts hold what the passage names,
never the index.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.made_corpus import SEED, one_more_source, write_library
from compiler.build.compile import Options, compile_vault
from compiler.engines.claude import prompts_to_messages
from compiler.model.requests import Request
from compiler.replies.asker import Answered, Failed
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from vault.vault import Vault

SIZES = (150, 720, 2_880)  # terms: about 100, 500 and 2,000 articles
NEW = 3  # sources that come to each library
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_AT = datetime(2026, 11, 21, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """`articles` is how many there were; the others are of one new source, on average."""

    articles: int
    questions: float
    tokens: float
    characters: int


class Counting(Scripted):
    """Answers by rule, and counts what a model would have been sent."""

    tokens_sent = 0
    put = 0

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        for question in prompts_to_messages.questions(requests):
            self.put += 1
            self.tokens_sent += prompts_to_messages.asked_tokens(question)
        yield from super().answers(requests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--terms", default=",".join(map(str, SIZES)), help="terms of the made-up libraries")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measured(int(size)) for size in given.terms.split(",")]
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print("| articles before | questions per new source | tokens sent per new source | beside the first |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {row.articles} | {row.questions:.1f} | {row.tokens:.0f} | {row.tokens / rows[0].tokens:.3f} |")


def measured(terms: int) -> Row:
    """What `NEW` sources cost beside a wiki on so many terms."""
    with tempfile.TemporaryDirectory() as folder:
        vault = vault_with_sources(Path(folder) / "vault", {})
        raw = vault.root / "raw/articles"
        write_library(raw, terms)
        known = [name for path in sorted(raw.rglob("*.md")) for name in _HEADING.findall(path.read_text("utf-8"))]
        _compile(vault, Counting(), 0)
        articles = len(list((vault.root / "wiki/concepts").glob("*.md")))
        size, counting = 0, Counting()
        for n in range(NEW):
            text = _speaking_of(known, one_more_source(SEED + 1 + n), n)
            (raw / f"new-{n}.md").write_text(text, encoding="utf-8")
            size += len(text)
            _compile(vault, counting, n + 1)
    return Row(articles, counting.put / NEW, counting.tokens_sent / NEW, size // NEW)


def _speaking_of(known: Sequence[str], text: str, seed: int) -> str:
    """The source with sentences that speak of what the wiki knows: as many whatever its size."""
    names = random.Random(seed).sample(list(known), 8)
    more = [f"It is often laid beside the {name.lower()}, than which it is slower to fill." for name in names]
    parts = text.rstrip().split("\n\n## ")
    joined = [f"{part}\n\n{sentence}" for part, sentence in zip(parts, ["", *more], strict=False)]
    return "\n\n## ".join(joined) + "\n"


def _compile(vault: Vault, by: Scripted, days: int) -> None:
    compile_vault(vault, Options(engine="claude"), _AT + timedelta(days=days), lambda _: None, backend=by)


if __name__ == "__main__":
    main()
