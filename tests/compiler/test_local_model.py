"""A real model, if somebody has one at hand: whatever it says, nothing enters that the sources do not bear out.

`RETAIN_LOCAL_MODEL` is the address of a server that speaks the Messages API; without it nothing runs here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.protocol.replies import Quote, ReadReply, Reply, WriteReply
from compiler.replies.asker import Waiting
from compiler.replies.journal import Journal
from compiler.verification.verify import verify
from compiler.workers.model_backend import ROLES, ModelBackend
from tests.builders import vault_with_sources
from tests.compiler.test_build import silent
from tests.compiler.test_speaking_faults import MORNING, SHIP
from vault.config.engine import EngineSettings
from vault.text.formatting import fold

ADDRESS = os.environ.get("RETAIN_LOCAL_MODEL", "")
CELLS = """# Mitosis

Mitosis is a process in which one cell becomes two equal cells.
Chromosomes line up because spindle fibres pull them to the middle of the cell.

A spindle is a structure of fibres that pulls chromosomes apart.
"""


def quotes_in(reply: Reply | None) -> Iterator[Quote]:
    """The evidence in a reply."""
    if isinstance(reply, ReadReply):
        yield from (q for summary in reply.summaries for q in summary.quotes)
        yield from (q for concept in reply.concepts if concept.line is not None for q in concept.line.quotes)
        yield from (q for clash in reply.clashes for q in (*clash.first, *clash.second))
    elif isinstance(reply, WriteReply):
        for article in reply.articles:
            yield from (q for s in article.sections for p in s.paragraphs for sentence in p for q in sentence.quotes)
            yield from (q for card in article.cards for q in card.quotes)


@pytest.mark.skipif(not ADDRESS, reason="RETAIN_LOCAL_MODEL names no server")
def test_whatever_a_real_model_says_no_invented_quote_enters(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": CELLS, "gear.md": SHIP})
    told = EngineSettings(base_url=ADDRESS, models=dict.fromkeys(ROLES, "local"), concurrency=1, patience=900.0)
    with ModelBackend(told, lambda: "") as by:
        try:
            report = compile_vault(vault, Options("claude", part_bytes=2_000), MORNING, silent, backend=by)
        except Waiting as waiting:
            pytest.fail(f"the model gave no answers: {waiting}, {waiting.hint}")
    compile_vault(vault, Options("journal", fresh=True), MORNING + timedelta(hours=1), silent)
    assert verify(vault, silent).clean
    sources = fold(f"{CELLS}\n{SHIP}")
    entries = Journal.of(vault)[0].entries
    quotes = [fold(quote.words) for entry in entries for quote in quotes_in(entry.value())]
    assert [quote for quote in quotes if quote not in sources] == []
    answered = sum(not entry.failed for entry in entries)
    print(f"\n{answered} of {len(entries)} requests answered, {len(quotes)} quotes; {report.cost}")
    print(f"claims {report.claims}, sentences {report.sentences}, cards {report.cards}")
