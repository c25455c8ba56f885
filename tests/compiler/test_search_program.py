"""Searches take in what a program finds that the user's own settings name, such as qmd."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import compiler.search.program
from cli.main import run
from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.commands import retain_process

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
ROPE = "A rope holds the ship at the pier, in wind and rain."
KNOT = "A knot ties two lines, and a ship has many of them."


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    documents = {"raw/articles/Rope Work.md": f"# Ropes\n\n{ROPE}\n", "raw/articles/knots.md": f"# Knots\n\n{KNOT}\n"}
    made = make_vault(tmp_path / "v", documents)
    compile_vault(made, Options(), NOON, lambda event: None)
    return made.root


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "config/retain").mkdir(parents=True)
    return variables


def program(tmp_path: Path, code: str) -> Path:
    """Write a program and name it in the user's settings."""
    path = tmp_path / "bin/finder"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport json, pathlib, sys, time\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
    (tmp_path / "config/retain/config.toml").write_text(f"[search]\nprogram = {json.dumps(str(path))}\n")
    return path


def printing(*hits: tuple[str, str]) -> str:
    rows = [{"file": file, "snippet": snippet, "score": 1} for file, snippet in hits]
    return f"print({json.dumps(json.dumps(rows))})"


def passages(vault: Path, query: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    assert run(["--vault", str(vault), "search", query, "--json", "--kind", "passage"]) == 0
    told = capsys.readouterr()
    return [Path(each["path"]).stem for each in json.loads(told.out)["passages"]], told.err


@pytest.mark.usefixtures("environment")
def test_a_passage_that_only_the_program_finds_is_a_hit(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert passages(vault, "mooring", capsys)[0] == []
    program(tmp_path, printing(("qmd://mine/articles/rope-work.md", f"@@ -2,4 @@ (1 before, 0 after)\n\n{ROPE}")))
    assert passages(vault, "mooring", capsys) == (["Rope Work"], "")
    assert sorted(passages(vault, "knot", capsys)[0]) == ["Rope Work", "knots"]


@pytest.mark.usefixtures("environment")
def test_a_hit_counts_only_where_a_file_of_that_name_has_its_words(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(
        tmp_path,
        printing(
            ("qmd://other/knots.md", "Another file of this name, of some other collection."),
            ("qmd://mine/else.md", KNOT),
            ("../../etc/passwd", "root"),
            ("qmd://mine/knots.md", ""),
        ),
    )
    assert passages(vault, "mooring", capsys) == ([], "")


@pytest.mark.usefixtures("environment")
def test_it_gets_the_query_as_one_argument_and_no_option(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = tmp_path / "seen"
    program(tmp_path, f"pathlib.Path({str(seen)!r}).write_text(json.dumps(sys.argv[1:]))\nprint('[]')")
    passages(vault, "how; does $(a) ship", capsys)
    assert json.loads(seen.read_text()) == ["search", "-n", "20", "--json", "--", "how; does $(a) ship"]


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    "code",
    [
        "print('no JSON at all')",
        "print('{\"file\": 1}')",
        "sys.stderr.write('broken \\x1b[31m index\\n'); sys.exit(3)",
        "print('[' * 100_000)",
        "sys.stdout.write('x' * (5 << 20))",
        "time.sleep(60)",
    ],
)
def test_a_program_that_fails_is_one_notice_and_the_usual_result(
    code: str, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiler.search.program, "TIME_LIMIT_S", 0.5 if "sleep" in code else 30.0)
    program(tmp_path, code)
    found, told = passages(vault, "knot", capsys)
    assert found == ["knots"]
    assert told.count("used the built-in search") == 1 and "finder" in told
    assert "\x1b" not in told and "Traceback" not in told and len(told) < 600


@pytest.mark.usefixtures("environment")
def test_rows_that_are_no_hits_are_left_out(vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [1, None, {"file": 3, "snippet": ROPE}, {"file": "x"}, {"file": "rope-work.md", "snippet": ROPE}]
    program(tmp_path, f"print({json.dumps(json.dumps(rows))})")
    assert passages(vault, "mooring", capsys) == (["Rope Work"], "")


@pytest.mark.usefixtures("environment")
def test_a_missing_program_and_a_wrong_setting_are_named(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "config/retain/config.toml"
    settings.write_text('[search]\nprogram = "/nowhere/qmd"\n')
    found, told = passages(vault, "knot", capsys)
    assert found == ["knots"] and "/nowhere/qmd" in told
    settings.write_text("[search]\nprogram = 3\n")
    assert run(["--vault", str(vault), "search", "knot"]) == 3
    assert "config.toml:2" in capsys.readouterr().err


@pytest.mark.usefixtures("environment")
def test_a_vault_cannot_name_a_program(vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, ran = program(tmp_path, ""), tmp_path / "ran"
    path.write_text(f"#!/bin/sh\ntouch {ran}\necho '[]'\n")
    (tmp_path / "config/retain/config.toml").write_text("")
    own = vault / "retain.toml"
    own.write_text(f"{own.read_text()}\n[search]\nprogram = {json.dumps(str(path))}\n")
    passages(vault, "knot", capsys)
    assert not ran.exists()


def test_ask_lets_it_write_only_in_its_own_folder_in_the_cache(
    vault: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "cache/finder").mkdir(parents=True)
    (tmp_path / "temporary").mkdir()
    code = (
        f"pathlib.Path({str(tmp_path / 'cache/finder/log')!r}).write_text('here')\n"
        f"try:\n    pathlib.Path({str(vault / 'raw/articles/new.md')!r}).write_text('x')\nexcept OSError:\n    pass\n"
    )
    program(tmp_path, code + printing(("rope-work.md", ROPE)))
    told = retain_process(
        "ask",
        "mooring",
        "--json",
        cwd=vault,
        env={"HOME": str(tmp_path), "TMPDIR": str(tmp_path / "temporary"), **environment},
    )
    assert told.code == 0, told.stderr
    assert [quote["path"] for quote in told.json()["quotes"]] == ["raw/articles/Rope Work.md"]
    assert (tmp_path / "cache/finder/log").exists() and not (vault / "raw/articles/new.md").exists()
