"""`retain log`: builds, what was refused and by whom, and what of each source became claims."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli import main, output
from compiler.build.coverage import Yield, survey
from compiler.model.requests import ComposeReply, ComposeRequest, ExtractReply, Reply, Request, Section, Sentence
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted, compose
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MITOSIS, compiled
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
MIXED = """# Mitosis

Mitosis is a process in which one cell becomes two equal cells.
Nobody here has yet said why the cell would do it.

```python
def split(cell): return cell.halves_of_all_its_parts()
```

$$E = m c^2 + a + b + c + d + e$$

Short words.

| a thing | another thing | a third thing |
|---|---|---|
| one cell of it | two cells of it | three cells |

## References

Some Author wrote a long book about the life of cells in nineteen forty.
"""


class Inventing(Scripted):
    """Says one thing too many in each kind of reply, and passes over what has no definition."""

    def reply(self, request: Request) -> Reply:
        said = super().reply(request)
        if isinstance(said, ExtractReply):
            lie = said.claims[:1] and said.claims[0].model_copy(update={"quote": "Cells were invented in 1850."})
            kept = tuple(c for c in said.claims if c.quote.startswith("Mitosis is"))
            return said.model_copy(update={"claims": (*kept, *([lie] if lie else []))})
        if isinstance(request, ComposeRequest):
            more = Sentence(text="It was first seen by 42 monks.", cites=(request.claims[0].id,))
            return ComposeReply(sections=(*compose(request).sections, Section(heading="Facts", paragraphs=((more,),))))
        return said


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    vault = vault_with_sources(tmp_path / "vault", {"mixed.md": MIXED, "plain.md": MITOSIS})
    compiled(vault, Inventing(engine="claude/1 some-model"))
    return vault


def test_what_was_refused_is_listed_with_gate_reason_source_and_who_said_it(
    vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(vault)
    assert main.run(["--vault", str(vault.root), "log", "--rejected", "--json"]) == output.DONE
    found = json.loads(capsys.readouterr().out)["rejected"]
    assert Counter(r["gate"] for r in found)["quote"] >= 2 and {"sentence"} <= {r["gate"] for r in found}
    for one in found:
        assert (
            one["reason"] and one["words"] and one["said_by"] == "claude/1 some-model" and one["at"].startswith("2026")
        )
    assert {r["path"] for r in found if r["gate"] == "quote"} == {"raw/articles/mixed.md", "raw/articles/plain.md"}
    assert tree(vault) == before


def test_what_was_refused_survives_the_caches_and_is_told_of_one_source(
    vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(vault.root / ".retain")
    given = str(vault.root / "raw/articles/plain.md")
    assert main.run(["--vault", str(vault.root), "log", "--rejected", "--source", given]) == output.DONE
    out = capsys.readouterr().out
    assert "raw/articles/plain.md: quote: " in out and "raw/articles/mixed.md: quote" not in out
    assert "by claude/1 some-model, 2026-11-21" in out and "Cells were invented" in out


def test_the_coverage_tells_prose_that_was_passed_over_from_what_claims_nothing(vault: Vault) -> None:
    found = {c.path: c for c in survey(vault, NOW, silent).coverage}
    mixed = found["raw/articles/mixed.md"]
    counts = {k: n for k, n in mixed.passages.items() if n}
    assert counts[Yield.CLAIMED] == 1 and counts[Yield.PASSED_OVER] == 1 and mixed.share == 0.5
    assert counts[Yield.CODE] and counts[Yield.FORMULA] and counts[Yield.TABLE] and counts[Yield.SHORT] == 1
    assert counts[Yield.FURNITURE] == 1 and counts[Yield.HEADING] == 2
    (one,) = mixed.passed_over
    assert one.words.startswith("Nobody here") and one.heading == "Mitosis" and "line" in one.place


def test_the_coverage_is_told_in_lines_and_as_json(vault: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--vault", str(vault.root), "log", "--coverage", "--json"]) == output.DONE
    sources = json.loads(capsys.readouterr().out)["sources"]
    assert [s["path"] for s in sources] == ["raw/articles/mixed.md", "raw/articles/plain.md"]
    assert sources[0]["share"] == 0.5 and sources[0]["passed_over"][0]["words"]
    given = ["--source", str(vault.root / "raw/articles/mixed.md")]
    assert main.run(["--vault", str(vault.root), "log", "--coverage", *given]) == output.DONE
    out = capsys.readouterr().out
    assert "1 claims from 1 of 2 passages (50%)" in out and "passed over: “Nobody here" in out


def test_the_coverage_of_what_rules_compiled_is_told_too(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "rules", {"plain.md": MITOSIS})
    assert main.run(["--vault", str(vault.root), "compile", "--engine", "extractive"]) == output.DONE
    (one,) = survey(vault, NOW + timedelta(days=1), silent).coverage
    assert one.claims and one.share >= 0.5


@pytest.mark.parametrize("words", [["--rejected", "--coverage"], ["--source", "x"]])
def test_what_does_not_go_together_is_a_usage_error(vault: Vault, words: list[str]) -> None:
    assert main.run(["--vault", str(vault.root), "log", *words]) == output.USAGE
