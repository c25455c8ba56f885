"""What the user's own settings say, and nothing else, decides where the personal vault is."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.config import user
from vault.config.user import (
    CONFIG,
    config_folder,
    config_guard,
    personal_vault,
    personal_vaults,
    set_personal_vault,
    state_folder,
)
from vault.errors import Damaged, Refused
from vault.files.folder import sha256_hex

ID = "01JD0000000000000000000000"
OTHER = "01JD0000000000000000000001"


def write_settings(text: str | bytes) -> Path:
    config_folder().mkdir(parents=True, exist_ok=True)
    path = config_folder() / CONFIG
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("by_hand", [True, False])
def test_the_places_are_those_of_the_system(by_hand: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "_ON_LINUX", by_hand and user._ON_LINUX)
    for said in (True, False):
        if not said:
            monkeypatch.delenv("XDG_CONFIG_HOME")
            monkeypatch.delenv("XDG_STATE_HOME")
        assert config_folder() == platformdirs.user_config_path("retain", appauthor=False)
        assert state_folder(ID) == platformdirs.user_state_path("retain", appauthor=False) / ID


def test_a_relative_place_counts_for_nothing_as_a_vault_would_choose_it(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "conf")
    monkeypatch.setenv("XDG_STATE_HOME", "")
    assert config_folder() == own_home / ".config/retain"
    assert state_folder(ID) == own_home / f".local/state/retain/{ID}"


@pytest.mark.parametrize(
    "vault_id", ["", "..", "a/b", ID[:-1], ID + "0", "../" + ID, ID.lower(), "01JD000000000000000000000I"]
)
def test_only_an_id_names_a_state_folder(vault_id: str) -> None:
    with pytest.raises(Refused):
        state_folder(vault_id)


def test_without_settings_there_is_no_personal_vault_and_nothing_is_made() -> None:
    assert personal_vault(ID) is None
    assert not config_folder().exists()


def test_what_is_taken_down_is_read_again_each_vault_for_itself(tmp_path: Path) -> None:
    set_personal_vault(ID, tmp_path / "mine")
    set_personal_vault(OTHER, tmp_path / "other")
    set_personal_vault(ID, tmp_path / "mine")
    assert (personal_vault(ID), personal_vault(OTHER)) == (tmp_path / "mine", tmp_path / "other")
    assert stat.S_IMODE(config_folder().stat().st_mode) == 0o700


def test_another_folder_for_the_same_vault_is_refused(tmp_path: Path) -> None:
    set_personal_vault(ID, tmp_path / "mine")
    before = (config_folder() / CONFIG).read_bytes()
    with pytest.raises(Refused, match="mine"):
        set_personal_vault(ID, tmp_path / "other")
    assert (config_folder() / CONFIG).read_bytes() == before


def test_what_else_is_in_the_settings_stays_byte_for_byte(tmp_path: Path) -> None:
    text = b"# mine\r\n[learning]\r\nretention = 0.95  # high\r\n[vaults.x]\r\ncolour = 'red'"
    path = write_settings(text)
    path.chmod(0o640)
    set_personal_vault(ID, tmp_path)
    assert path.read_bytes().startswith(text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert tomllib.loads(path.read_text(encoding="utf-8"))["learning"] == {"retention": 0.95}
    assert personal_vault(ID) == tmp_path


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = \n", ":1"),
        ("[vaults.x]\n\npersonal = 3\n", ":3"),
        ("[vaults.x]\npersonal = 'notes'\n", ":2"),
        ("[vaults.x]\npersonal = '~/notes'\n", ":2"),
        ("vaults = 3\n", ":1"),
        ("[vaults]\nx = 3\n", ":1"),
        (b"\xff", ""),
        ("x = " + "[" * 100_000, ""),
    ],
)
def test_settings_that_cannot_be_read_are_named_and_nothing_is_guessed(text: str | bytes, line: str) -> None:
    path = write_settings(text)
    with pytest.raises(Damaged) as caught:
        personal_vault("x")
    assert caught.value.where == f"{path}{line}"
    with pytest.raises(Damaged):
        set_personal_vault(ID, Path("/notes"))
    assert path.read_bytes() == (text.encode() if isinstance(text, str) else text)


def test_a_wrong_line_for_another_vault_is_no_matter_until_all_are_asked_for(tmp_path: Path) -> None:
    set_personal_vault(ID, tmp_path)
    write_settings((config_folder() / CONFIG).read_bytes() + b"\n[vaults.x]\npersonal = '~/notes'\n")
    assert personal_vault(ID) == tmp_path
    with pytest.raises(Damaged):
        personal_vaults()


def test_without_a_home_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    if not user._ON_LINUX:
        pytest.skip("the places of other systems are told by a library")

    def nobody() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(Refused) as caught:
        personal_vault(ID)
    assert caught.value.hint == "set HOME"


def test_a_table_without_the_folder_is_left_to_its_owner(tmp_path: Path) -> None:
    path = write_settings(f"[vaults.{ID}]\ncolour = 'red'\n")
    with pytest.raises(Refused, match="by hand"):
        set_personal_vault(ID, tmp_path)
    assert path.read_text(encoding="utf-8").count("\n") == 2


NAMES = st.text(st.characters(blacklist_characters="\0/", blacklist_categories=["Cs"]), min_size=1, max_size=40)


@given(NAMES)
def test_a_folder_of_any_name_comes_back_as_it_was(name: str) -> None:
    guard = config_guard()
    old = guard.read(CONFIG) if guard.root.is_dir() else None
    if old is not None:
        guard.remove(CONFIG, expect=sha256_hex(old))
    set_personal_vault(ID, Path("/") / name)
    assert personal_vault(ID) == Path("/") / name


def test_the_settings_may_be_a_link_no_more_than_any_file_that_is_written(tmp_path: Path) -> None:
    config_folder().mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("", encoding="utf-8")
    (config_folder() / CONFIG).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        set_personal_vault(ID, tmp_path)
    assert (tmp_path / "elsewhere").read_bytes() == b""
