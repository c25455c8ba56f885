"""Passages are found by meaning first, where the user's own settings name an embedding model."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.main import run
from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.commands import retain_process
from tests.embedding_models import sentence_transformer, static_model

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
MakeModel = Callable[[Path], Path]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    documents = {
        "raw/articles/night.md": "# Night\n\nA temperature of eighteen degrees is best for sleep.\n",
        "raw/articles/knots.md": "# Knots\n\nA rope is tied with a knot, at sea and on land.\n",
    }
    made = make_vault(tmp_path / "v", documents)
    compile_vault(made, Options(), NOON, lambda event: None)
    return made.root


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "config/retain").mkdir(parents=True)
    return tmp_path / "config/retain/config.toml"


@pytest.fixture(params=[static_model, sentence_transformer])
def make_model(request: pytest.FixtureRequest) -> MakeModel:
    make: MakeModel = request.param
    if make is sentence_transformer:
        pytest.importorskip("fastembed")
        pytest.importorskip("onnx")
    return make


def use_model(settings: Path, model: Path | str) -> None:
    settings.write_text(f"[search]\nmodel = {json.dumps(str(model))}\n")


def passages(vault: Path, query: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert run(["--vault", str(vault), "search", query, "--json", "--kind", "passage"]) == 0
    return [Path(each["path"]).stem for each in json.loads(capsys.readouterr().out)["passages"]]


def stored(vault: Path) -> dict[str, bytes]:
    """The embeddings of each source, by its path."""
    with closing(sqlite3.connect(vault / ".retain/wiki.sqlite3")) as index:
        return dict(index.execute("SELECT path, vectors FROM embedding").fetchall())


def written(vault: Path) -> dict[str, int]:
    """The row of each source's embeddings, by its path: another one where they were written again."""
    with closing(sqlite3.connect(vault / ".retain/wiki.sqlite3")) as index:
        return dict(index.execute("SELECT path, rowid FROM embedding").fetchall())


def test_a_passage_without_a_word_of_the_question_is_found_by_its_meaning(
    vault: Path, settings: Path, make_model: MakeModel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert passages(vault, "warm bedroom thermostat", capsys) == []
    use_model(settings, make_model(settings.parent / "model"))
    assert passages(vault, "warm bedroom thermostat", capsys)[0] == "night"
    assert passages(vault, "rope", capsys)[0] == "knots"


def test_the_meaning_by_a_transformer_comes_before_words_and_that_by_a_static_model_beside_them(
    vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fastembed")
    pytest.importorskip("onnx")
    question = "land sea thermostat"  # two words of one passage, the subject of the other
    assert passages(vault, question, capsys) == ["knots"]
    use_model(settings, sentence_transformer(settings.parent / "transformer"))
    assert passages(vault, question, capsys) == ["night", "knots"]
    use_model(settings, static_model(settings.parent / "static"))
    assert passages(vault, question, capsys) == ["knots", "night"]


def test_a_query_for_exact_words_finds_these_alone(
    vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use_model(settings, static_model(settings.parent / "model"))
    assert passages(vault, '"tied with a knot"', capsys) == ["knots"]
    assert passages(vault, "rope -sea", capsys) == []


def test_one_sentence_of_a_long_passage_is_enough(
    vault: Path, settings: Path, make_model: MakeModel, capsys: pytest.CaptureFixture[str]
) -> None:
    long = " ".join(["A knot holds a rope fast."] * 12 + ["Air is warm here."] * 3 + ["The knot is in the rope."] * 12)
    (vault / "raw/articles/long.md").write_text(f"# Long\n\n{long}\n", encoding="utf-8")
    assert run(["--vault", str(vault), "compile"]) == 0
    capsys.readouterr()
    use_model(settings, make_model(settings.parent / "model"))
    assert passages(vault, "thermostat", capsys)[0] == "long"


def test_only_the_embeddings_of_changed_sources_are_computed_again(
    vault: Path, settings: Path, tmp_path: Path, make_model: MakeModel, capsys: pytest.CaptureFixture[str]
) -> None:
    use_model(settings, make_model(settings.parent / "model"))
    (vault / "raw/articles/tides.md").write_text("# Tides\n\nThe sea rises twice a day.\n", encoding="utf-8")
    assert run(["--vault", str(vault), "compile"]) == 0
    capsys.readouterr()
    passages(vault, "bedroom", capsys)
    before = stored(vault)
    assert set(before) == {f"raw/articles/{name}.md" for name in ("night", "knots", "tides")}
    rows = written(vault)
    (vault / "raw/articles/night.md").unlink()
    (vault / "raw/articles/knots.md").write_text(
        "# Knots\n\nA rope is tied with a knot, at sea and on land.\n\nA bedroom is for sleep.\n", encoding="utf-8"
    )
    assert run(["--vault", str(vault), "compile"]) == 0
    capsys.readouterr()
    (vault / "raw/articles/night.md").write_text("# Night\n\nIt is dark.\n", encoding="utf-8")
    assert passages(vault, "bedroom", capsys)[0] == "knots"
    after = stored(vault)
    assert set(after) == {"raw/articles/knots.md", "raw/articles/tides.md"}
    assert after["raw/articles/knots.md"] != before["raw/articles/knots.md"]
    assert written(vault)["raw/articles/tides.md"] == rows["raw/articles/tides.md"]
    assert not list(tmp_path.glob("cache/**/*.npz")), "they are in the index of the vault alone"


def test_a_question_is_answered_by_meaning_too_and_a_damaged_model_is_named(
    vault: Path, settings: Path, tmp_path: Path, make_model: MakeModel
) -> None:
    model = make_model(settings.parent / "model")
    settings.write_text(f"[search]\nmodel = {json.dumps('~/' + str(model.relative_to(tmp_path)))}\n")
    env = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    told = retain_process("ask", "warm bedroom thermostat", "--json", cwd=vault, env=env)
    assert told.code == 0 and told.json()["quotes"][0]["path"] == "raw/articles/night.md"
    assert stored(vault), "the first use stores them"
    for file in model.glob("model.*"):
        file.write_bytes(b"no model")
    done = retain_process("ask", "warm bedroom", cwd=vault, env=env)
    assert done.code == 3 and "the embedding model cannot be loaded" in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr) < 1_000


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_transformer_of_which_a_file_is_missing_or_damaged_is_an_error_that_names_the_folder(
    file: str, vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fastembed")
    pytest.importorskip("onnx")
    model = sentence_transformer(settings.parent / "model")
    use_model(settings, model)
    for damage in (lambda path: path.write_text("[1, 2"), Path.unlink):
        damage(model / file)
        assert run(["--vault", str(vault), "search", "rope"]) == 3
        assert str(model) in " ".join(capsys.readouterr().err.split())


def test_a_model_that_is_not_there_is_an_error_that_says_where_it_is_named(
    vault: Path, settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    use_model(settings, tmp_path / "empty")
    assert run(["--vault", str(vault), "search", "rope"]) == 3
    assert "config.toml" in capsys.readouterr().err
    settings.write_text("[search]\nmodel = 3\n")
    assert run(["--vault", str(vault), "search", "rope"]) == 3
    assert "config.toml:2" in capsys.readouterr().err


def test_ask_downloads_no_model_and_says_that_it_is_not_there(vault: Path, settings: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    use_model(settings, "BAAI/bge-small-en-v1.5")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = retain_process("ask", "warm bedroom", cwd=vault, env={"HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", **env})
    assert done.code == 3 and "BAAI/bge-small-en-v1.5: the embedding model cannot be loaded" in done.stderr
    assert "ERROR" not in done.stderr and len(done.stderr) < 1_000


def test_a_vault_cannot_name_a_model(vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, model = vault / "retain.toml", static_model(settings.parent / "model")
    own.write_text(f"{own.read_text()}\n[search]\nmodel = {json.dumps(str(model))}\n")
    assert passages(vault, "warm bedroom thermostat", capsys) == []


@pytest.mark.parametrize(("package", "file"), [("model2vec", "model.safetensors"), ("fastembed", "model.onnx")])
def test_without_the_package_the_error_names_the_command_that_installs_it(
    package: str,
    file: str,
    vault: Path,
    settings: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (settings.parent / "model").mkdir()
    (settings.parent / "model" / file).write_bytes(b"")
    use_model(settings, settings.parent / "model")
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == package else there(name, *more)
    )
    assert run(["--vault", str(vault), "search", "rope"]) == 2
    told = capsys.readouterr().err
    assert "pip install '.[semantic]'" in told and package in told
