"""`retain log`: builds, what was refused and by whom, and what of each source became claims."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli import main, output
from compiler.build.compile import Options, compile_vault
from compiler.build.coverage import Yield, survey
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent, tree
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


PLAIN = """# Spindle

A spindle is a structure of fibres that pulls chromosomes apart.
The spindle is used to part the copies of each chromosome.
"""
SURER = {  # words of the documents, and what the writer makes of them
    "becomes two equal cells. [1:1a]": "becomes two equal cells. [1:1a] Mitosis always gives two equal cells. [1:1a]",
    "The spindle is used to part the copies of each chromosome. [": "Every spindle parts all copies at once. [",
}
DROPPED = (
    "Mitosis always gives two equal cells.",
    "Every spindle parts all copies at once.",
    "What is meant by spindle?",
)
WHY = "it tells of nobody's knowledge"


def written(type_: str, answer: str) -> str:
    """Say more than the documents in two sentences, and leave out what has no definition."""
    if type_ != "write":
        return answer
    for old, new in SURER.items():
        answer = answer.replace(old, new)
    kept = [line for line in answer.split("\n") if not line.startswith(("@keep", "$$", "Short", "Nobody"))]
    return "\n".join([*kept, "=== LEFT", f"- 1:1 {WHY}"])


def checked(type_: str, request: str) -> str:
    """Drop what says too much."""
    items = re.findall(r"^(\d+)\. (.*)$", request, re.MULTILINE) if type_ == "check" else []
    return "\n".join(f"{n} DROP it says more" for n, words in items if any(d in words for d in DROPPED)) or "OK"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    vault = vault_with_sources(tmp_path / "vault", {"mixed.md": MIXED, "plain.md": PLAIN})
    model = Scripted(engine="claude/1 some-model", reword=written, verdicts=checked)
    compile_vault(vault, Options("claude"), NOW - timedelta(days=1), silent, backend=model)
    return vault


def test_what_was_refused_is_listed_with_gate_reason_source_and_who_said_it(
    vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(vault)
    assert main.run(["--vault", str(vault.root), "log", "--rejected", "--json"]) == output.DONE
    found = json.loads(capsys.readouterr().out)["rejected"]
    assert {r["words"].partition(" / ")[0] for r in found} == set(DROPPED)
    for one in found:
        assert (one["gate"], one["reason"]) == ("check", "it says more")
        assert one["said_by"] == "claude/1 some-model" and one["at"].startswith("2026-11-21")
    assert {r["path"] for r in found} == {"raw/articles/mixed.md", "raw/articles/plain.md"}
    assert tree(vault) == before


def test_what_was_refused_survives_the_caches_and_is_told_of_one_source(
    vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(vault.root / ".retain")
    given = str(vault.root / "raw/articles/plain.md")
    assert main.run(["--vault", str(vault.root), "log", "--rejected", "--source", given]) == output.DONE
    out = capsys.readouterr().out
    assert "raw/articles/plain.md: check: it says more" in out and "raw/articles/mixed.md: check" not in out
    assert "by claude/1 some-model, 2026-11-21" in out and "Every spindle parts all copies" in out


def test_the_coverage_tells_prose_that_was_passed_over_from_what_claims_nothing(vault: Vault) -> None:
    found = {c.path: c for c in survey(vault, NOW, silent).coverage}
    mixed = found["raw/articles/mixed.md"]
    counts = {k: n for k, n in mixed.passages.items() if n}
    assert counts[Yield.CLAIMED] == 1 and counts[Yield.PASSED_OVER] == 1 and mixed.share == 0.5
    assert counts[Yield.CODE] and counts[Yield.FORMULA] and counts[Yield.TABLE] and counts[Yield.SHORT] == 1
    assert counts[Yield.FURNITURE] == 1 and counts[Yield.HEADING] == 2
    (one,) = mixed.passed_over
    assert one.words.startswith("Nobody here") and one.heading == "Mitosis" and "line" in one.place and one.why == WHY


def test_the_coverage_is_told_in_lines_and_as_json(vault: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--vault", str(vault.root), "log", "--coverage", "--json"]) == output.DONE
    sources = json.loads(capsys.readouterr().out)["sources"]
    assert [s["path"] for s in sources] == ["raw/articles/mixed.md", "raw/articles/plain.md"]
    assert sources[0]["share"] == 0.5 and sources[0]["passed_over"][0]["words"]
    given = ["--source", str(vault.root / "raw/articles/mixed.md")]
    assert main.run(["--vault", str(vault.root), "log", "--coverage", *given]) == output.DONE
    out = capsys.readouterr().out
    assert "1 claim from 1 of 2 passages (50%)" in out and "skipped: “Nobody here" in out and WHY in out


def test_the_coverage_of_what_rules_compiled_is_told_too(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "rules", {"plain.md": PLAIN})
    assert main.run(["--vault", str(vault.root), "compile", "--engine", "extractive"]) == output.DONE
    (one,) = survey(vault, NOW + timedelta(days=1), silent).coverage
    assert one.claims and one.share >= 0.5


@pytest.mark.parametrize("words", [["--rejected", "--coverage"], ["--source", "x"]])
def test_what_does_not_go_together_is_a_usage_error(vault: Vault, words: list[str]) -> None:
    assert main.run(["--vault", str(vault.root), "log", *words]) == output.USAGE


def test_a_compile_says_how_many_sources_gave_nothing_and_the_coverage_lists_them_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = vault_with_sources(tmp_path / "rules", {"plain.md": PLAIN, "shopping.md": "# Shopping\n\n- milk\n- eggs\n"})
    assert main.run(["--vault", str(vault.root), "compile", "--engine", "extractive"]) == output.DONE
    assert (
        "unused   1 source not used in any article or card: `retain log --coverage` lists it first"
        in capsys.readouterr().out
    )
    assert main.run(["--vault", str(vault.root), "log", "--coverage"]) == output.DONE
    first, *others = (line for line in capsys.readouterr().out.splitlines() if line.startswith("raw/"))
    assert first == "raw/articles/shopping.md: no sentences to quote: not used in any article or card"
    assert not any("in no article" in line for line in others)
    assert main.run(["--vault", str(vault.root), "compile", "--json"]) == output.DONE
    assert json.loads(capsys.readouterr().out)["unused"] == ["raw/articles/shopping.md"]
