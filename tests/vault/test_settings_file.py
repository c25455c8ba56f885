"""A setting is changed in place: one line, and no other byte."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault import toml_edit
from vault.config.engine import read_engine
from vault.config.settings import FILE, Settings, read_settings, render_settings
from vault.errors import Damaged, EditedMeanwhile, Refused, RetainError, UsageError
from vault.toml_edit import Value, change_vault, changed, put_back_vault, vault_text
from vault.vault import Vault, open_vault

NEW = render_settings(Settings("0" * 26, "my-vault"))
VALUES: dict[str, Value] = {
    "retention": 0.92,
    "new_per_day": 7,
    "timezone": "Europe/Vienna",
    "minutes_per_day": 25,
    "learning_steps": ["1m", "15m"],
    "fuzz": False,
    "leech_action": "suspend",
}


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / FILE).write_text(NEW, encoding="utf-8")
    return open_vault(str(tmp_path), None, tmp_path)


@pytest.mark.parametrize(("key", "value"), VALUES.items())
def test_one_line_changes_and_its_comment_stays(key: str, value: Value) -> None:
    after = changed(NEW, "learning", key, value)
    assert tomllib.loads(after)["learning"][key] == value
    old, new = NEW.splitlines(), after.splitlines()
    (line,) = [at for at, (one, two) in enumerate(zip(old, new, strict=True)) if one != two]
    assert new[line].startswith(f"{key} = ")
    assert old[line].partition("  #")[2].strip() == new[line].partition("  #")[2].strip()


def test_a_default_that_stood_there_as_a_comment_comes_to_life() -> None:
    after = changed(NEW, "learning", "leech_threshold", 5)
    assert "\nleech_threshold = 5       # lapses after which a card counts as a leech; 0: never\n" in after


def test_a_commented_line_of_another_table_stays_asleep() -> None:
    text = "[learning]\nretention = 0.9\n\n[learning.retention_by_tag]\nexam = 0.95\n# fuzz = true\n"
    after = changed(text, "learning", "fuzz", False)
    assert after == text.replace("retention = 0.9\n", "retention = 0.9\nfuzz = false\n", 1)


def test_a_table_inside_a_table_is_changed_and_added() -> None:
    text = '[engine]\nuse = "claude"  # mine\n\n[engine.prices."m"]\ninput = 1\n\n[app]\nx = 1\n'
    after = changed(text, "engine.models", "read", "m")
    assert tomllib.loads(after)["engine"]["models"] == {"read": "m"} and 'use = "claude"  # mine\n' in after
    assert tomllib.loads(changed(after, "engine.models", "read", None)) == tomllib.loads(text + "[engine.models]\n")
    assert changed("", "engine.models", "read", "m") == '[engine.models]\nread = "m"\n'
    commented = "[engine.models]\n# read = 'x'  # the reader\n"
    assert changed(commented, "engine.models", "read", "m") == '[engine.models]\nread = "m"  # the reader\n'
    with pytest.raises(Refused):
        changed('[engine]\nmodels = "all"\n', "engine.models", "read", "m")


def test_several_settings_are_written_at_once_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = tmp_path / "retain/config.toml"
    assert toml_edit.change_user_all([("app", "theme", None)]) == "" and not config.exists()
    toml_edit.change_user_all([("app", "theme", "light"), ("engine", "compile", "claude")], read_engine)
    before = config.read_bytes()
    with pytest.raises(UsageError, match="compile must be one of"):
        toml_edit.change_user_all([("app", "theme", "dark"), ("engine", "compile", "nobody")], read_engine)
    assert config.read_bytes() == before


def test_a_table_that_is_not_there_is_added_and_goes_again() -> None:
    assert changed("", "app", "theme", "light") == '[app]\ntheme = "light"\n'
    assert changed("a = 1\n", "keys", "review.undo", "z") == 'a = 1\n\n[keys]\n"review.undo" = "z"\n'
    assert changed('[keys]\n"review.undo" = "z"  # mine\nx = 1\n', "keys", "review.undo", None) == "[keys]\nx = 1\n"


def test_the_ends_of_lines_stay_those_of_the_file() -> None:
    text = "[app]\r\nmotion = true # no\r\n"
    assert changed(text, "app", "motion", False) == "[app]\r\nmotion = false # no\r\n"
    assert changed(text, "app", "theme", "dark") == '[app]\r\nmotion = true # no\r\ntheme = "dark"\r\n'


@pytest.mark.parametrize(
    "text",
    [
        "learning = { fuzz = true }\n",
        "[learning]\nlearning_steps = [\n  '1m',\n]\n",
        "learning.fuzz = true\n",
        '[learning]\nx = """\nfuzz = true\n"""\nfuzz = true\n',
    ],
)
def test_what_only_a_hand_can_change_is_refused_and_never_broken(text: str) -> None:
    for key, value in (("learning_steps", ["2m"]), ("fuzz", False)):
        try:
            after = changed(text, "learning", key, value)
        except RetainError as error:
            assert isinstance(error, Damaged | Refused)
        else:
            before = tomllib.loads(text)
            assert tomllib.loads(after) == {**before, "learning": {**before["learning"], key: value}}


_LINES = st.lists(
    st.sampled_from(
        [
            "[learning]",
            "[app]",
            "[a.b]",
            "fuzz = true",
            "# fuzz = true",
            "retention = 0.9 # c",
            "x = '#'",
            "",
            "# [app]",
        ]
    ),
    max_size=8,
)


@given(_LINES, st.sampled_from(["fuzz", "retention"]), st.booleans())
def test_whatever_the_file_only_the_asked_key_changes(lines: list[str], key: str, value: bool) -> None:
    text = "\n".join(lines)
    try:
        before = tomllib.loads(text)
        after = tomllib.loads(changed(text, "learning", key, value))
    except (tomllib.TOMLDecodeError, RetainError):
        return
    assert after == {**before, "learning": {**before.get("learning", {}), key: value}}


def test_the_vaults_settings_are_written_by_the_guard_and_read_strictly_before(vault: Vault) -> None:
    assert change_vault(vault, "retention", 0.85).retention == 0.85
    assert read_settings(vault_text(vault))[0].retention == 0.85
    with pytest.raises(UsageError, match=r"from 0\.7 to 0\.99"):
        change_vault(vault, "retention", 0.5)
    assert read_settings(vault_text(vault))[0].retention == 0.85
    assert put_back_vault(vault, vault_text(vault), NEW) == vault.settings and vault_text(vault) == NEW


def test_an_edit_made_meanwhile_stays(vault: Vault) -> None:
    change_vault(vault, "retention", 0.85)
    ours = vault_text(vault)
    theirs = ours.replace("new_per_day = 20", "new_per_day = 3")
    (vault.root / FILE).write_text(theirs, encoding="utf-8")
    with pytest.raises(EditedMeanwhile):
        put_back_vault(vault, ours, NEW)
    assert vault_text(vault) == theirs


def test_the_users_own_file_is_made_and_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert toml_edit.change_user("app", "theme", "light") == '[app]\ntheme = "light"\n'
    toml_edit.change_user("app", "theme", "dark")
    assert (tmp_path / "retain/config.toml").read_text(encoding="utf-8") == '[app]\ntheme = "dark"\n'
