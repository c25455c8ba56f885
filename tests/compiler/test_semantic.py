"""Passages are found by meaning too, where the user's own settings name an embedding model."""

from __future__ import annotations

import importlib.util
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from cli.main import run
from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.commands import retain_process

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
WARM, SLEEP, ROPE = ("thermostat", "warm", "temperature"), ("bedroom", "sleep"), ("rope", "knot")


def make_model(folder: Path) -> Path:
    """Write a small model in which words of one subject have one direction."""
    words = ["[UNK]", *WARM, *SLEEP, *ROPE]
    subjects = [(0.0, 0.0, 0.0), *[(1.0, 0.0, 0.0)] * 3, *[(0.0, 1.0, 0.0)] * 2, *[(0.0, 0.0, 1.0)] * 2]
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    StaticModel(np.array(subjects, dtype=np.float32), tokenizer, normalize=True).save_pretrained(str(folder))
    return folder


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


def passages(vault: Path, query: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert run(["--vault", str(vault), "search", query, "--json", "--kind", "passage"]) == 0
    return [Path(each["path"]).stem for each in json.loads(capsys.readouterr().out)["passages"]]


def test_a_passage_without_a_word_of_the_question_is_found_by_its_meaning(
    vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert passages(vault, "warm bedroom thermostat", capsys) == []
    settings.write_text(f"[search]\nmodel = {json.dumps(str(make_model(settings.parent / 'model')))}\n")
    assert passages(vault, "warm bedroom thermostat", capsys)[0] == "night"
    assert passages(vault, "rope", capsys)[0] == "knots", "words count, too"


def test_embeddings_are_stored_outside_the_vault_and_made_again_where_they_are_damaged(
    vault: Path, settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text(f"[search]\nmodel = {json.dumps(str(make_model(settings.parent / 'model')))}\n")
    assert passages(vault, "bedroom", capsys)[0] == "night"
    (stored,) = (tmp_path / "cache/retain/embeddings").iterdir()
    whole = stored.read_bytes()
    stored.write_bytes(whole[:100])
    assert passages(vault, "bedroom", capsys)[0] == "night"
    assert len(stored.read_bytes()) == len(whole) and not list(vault.rglob("*.npz"))


def test_a_question_is_answered_by_meaning_too_and_a_damaged_model_is_named(
    vault: Path, settings: Path, tmp_path: Path
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
    assert list((tmp_path / "cache/retain/embeddings").iterdir()), "the first use stores them"
    (model / "model.safetensors").write_bytes(b"no model")
    done = retain_process("ask", "warm bedroom", cwd=vault, env=env)
    assert done.code == 3 and "the embedding model cannot be loaded" in done.stderr


def test_a_model_that_is_not_there_is_an_error_that_says_where_it_is_named(
    vault: Path, settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    settings.write_text(f"[search]\nmodel = {json.dumps(str(tmp_path / 'empty'))}\n")
    assert run(["--vault", str(vault), "search", "rope"]) == 3
    assert "config.toml" in capsys.readouterr().err
    settings.write_text("[search]\nmodel = 3\n")
    assert run(["--vault", str(vault), "search", "rope"]) == 3
    assert "config.toml:2" in capsys.readouterr().err


def test_a_vault_cannot_name_a_model(vault: Path, settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, model = vault / "retain.toml", make_model(settings.parent / "model")
    own.write_text(f"{own.read_text()}\n[search]\nmodel = {json.dumps(str(model))}\n")
    assert passages(vault, "warm bedroom thermostat", capsys) == []


def test_without_the_package_the_error_names_the_command_that_installs_it(
    vault: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text('[search]\nmodel = "some-model"\n')
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "model2vec" else there(name, *more)
    )
    assert run(["--vault", str(vault), "search", "rope"]) == 2
    assert "pip install 'retain[semantic]'" in capsys.readouterr().err
