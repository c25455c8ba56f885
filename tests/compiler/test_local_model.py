"""A real model, if somebody has one at hand: whatever it says, nothing enters that the sources do not bear out.

`RETAIN_LOCAL_MODEL` is the address of a server that speaks the Messages API; without it nothing runs here.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.requests import ExtractReply
from compiler.query.verify import verify
from compiler.replies.asker import Waiting
from compiler.replies.journal import Journal
from compiler.workers.model_backend import ROLES, ModelBackend
from tests.builders import vault_with_sources
from tests.compiler.test_build import silent
from tests.compiler.test_journaled import MEIOSIS, MITOSIS, MORNING
from vault.config.engine import EngineSettings
from vault.text.formatting import fold

ADDRESS = os.environ.get("RETAIN_LOCAL_MODEL", "")


@pytest.mark.skipif(not ADDRESS, reason="RETAIN_LOCAL_MODEL names no server")
def test_whatever_a_real_model_says_no_invented_quote_enters(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})
    told = EngineSettings(base_url=ADDRESS, models=dict.fromkeys(ROLES, "local"), concurrency=1, patience=900.0)
    with ModelBackend(told, lambda: "") as by:
        try:
            report = compile_vault(vault, Options(engine="claude"), MORNING, silent, backend=by)
        except Waiting as waiting:
            pytest.fail(f"the model gave no answers: {waiting}, {waiting.hint}")
    compile_vault(vault, Options("journal", fresh=True), MORNING + timedelta(hours=1), silent)
    assert verify(vault, silent).clean
    sources = fold(f"{MITOSIS}\n{MEIOSIS}")
    replies = [entry.value() for entry in Journal.of(vault)[0].entries if not entry.failed]
    quotes = [fold(claim.quote) for reply in replies if isinstance(reply, ExtractReply) for claim in reply.claims]
    invented = [quote for quote in quotes if quote not in sources]
    pages = fold("\n".join(path.read_text() for path in (vault.root / "wiki").rglob("*.md")))
    assert not [quote for quote in invented if quote and quote in pages]
    print(f"\nclaims {report.claims}, sentences {report.sentences}, cards {report.cards}")
    print(f"{len(quotes)} quotes, {len(invented)} of them invented; {report.cost}")
