"""The editor is started as its words say, and no shell reads them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from cli.environment import edit_file
from vault.errors import UsageError

TELLS = "import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"


@pytest.mark.parametrize(
    "words", ["a b", "$(touch evil)", "`touch evil`", "x; touch evil", "x | touch evil", "it's", "*"]
)
def test_what_a_shell_would_act_on_is_a_word_to_the_editor(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told, file = tmp_path / "told", tmp_path / "a 'strange' $(touch evil); name.md"
    file.write_text("", encoding="utf-8")
    editor = shlex.join([sys.executable, "-c", TELLS, str(told), words])
    assert edit_file(editor, file).code == 0
    assert json.loads(told.read_text()) == [words, str(file)] and not (tmp_path / "evil").exists()


@pytest.mark.parametrize("editor", ["'unbalanced", "/no/such/editor", "no-such-editor; touch evil"])
def test_an_editor_that_cannot_be_started_is_named(
    editor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="the editor could not be started"):
        edit_file(editor, tmp_path / "x.md")
    assert not (tmp_path / "evil").exists()
