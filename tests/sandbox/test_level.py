"""The level that stands here: what it is made of, how levels compare, and what is said of one that is wanting."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.den import without_rights
from tests.sandbox.shut_in import need_landlock
from vault.sandbox import capabilities, landlock, seccomp
from vault.sandbox.capabilities import Level, SandboxSupport, sandbox_support


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    def forget() -> None:
        sandbox_support.cache_clear()
        capabilities.without_bubblewrap.cache_clear()

    forget()
    yield
    forget()


def test_the_word_of_a_level_is_what_require_takes() -> None:
    assert [str(each) for each in Level] == ["none", "landlock", "bubblewrap", "full"]
    assert [Level[word.upper()] for word in map(str, Level)] == sorted(Level)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ((), Level.FULL),
        (("landlock",), Level.BUBBLEWRAP),
        (("filter",), Level.BUBBLEWRAP),
        (("landlock", "filter"), Level.BUBBLEWRAP),
        (("bubblewrap",), Level.LANDLOCK),
        (("bubblewrap", "filter"), Level.LANDLOCK),
        (("bubblewrap", "landlock"), Level.NONE),
        (("bubblewrap", "landlock", "filter"), Level.NONE),
    ],
)
def test_full_needs_all_three_and_what_is_missing_is_said(missing: tuple[str, ...], expected: Level) -> None:
    words = [f"{name}: gone" if name in missing else "" for name in ("landlock", "filter", "bubblewrap")]
    found = capabilities._of(*words)
    assert found.level is expected
    assert sorted(found.reasons) == sorted(f"{name}: gone" for name in missing)


@pytest.mark.parametrize("abi", range(8))
def test_a_kernel_that_does_not_guard_truncation_has_no_landlock_level(abi: int) -> None:
    said = capabilities.without_landlock(abi)
    assert bool(said) == (abi < 3)
    assert ("truncation is not enforced" in said) == (abi in (1, 2))


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is of Linux")
def test_without_bubblewrap_landlock_stands_and_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    need_landlock(3)
    monkeypatch.setattr(capabilities, "_BWRAP", ())
    monkeypatch.setenv("PATH", "/nowhere")
    found = sandbox_support()
    assert found.level is Level.LANDLOCK
    assert found.reasons[0] == "bubblewrap: not installed (the package is called bubblewrap)"


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is of Linux")
def test_a_bubblewrap_that_may_not_do_its_work_is_found_out_by_trying_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on systems that forbid user namespaces to it: it is installed, has a version, and fails."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(capabilities, "_BWRAP", (str(program),))
    assert sandbox_support().level is (Level.LANDLOCK if landlock.abi() >= 3 else Level.NONE)
    assert sandbox_support().reasons[0].startswith("bubblewrap: bwrap: setting up uid map: Permission denied")


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is of Linux")
def test_a_bubblewrap_whose_programs_get_no_rights_is_found_out_and_landlock_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As AppArmor's profile for it does on some systems: it works, and what it starts can do no more than anybody."""
    need_landlock(3)
    assert capabilities.without_bubblewrap() == "" or not os.environ.get("CI"), capabilities.without_bubblewrap()
    if capabilities.without_bubblewrap():
        pytest.skip(f"bubblewrap does not work here: {capabilities.without_bubblewrap()}")
    monkeypatch.setattr(capabilities, "_BWRAP", (str(without_rights(tmp_path)),))
    capabilities.without_bubblewrap.cache_clear()
    found = sandbox_support()
    assert found.level is Level.LANDLOCK
    assert "its programs are not allowed to make its mounts private" in found.reasons[0]


def test_the_bubblewrap_of_the_system_comes_before_one_that_path_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        folder.mkdir()
        (folder / "bwrap").write_text("#!/bin/sh\n")
        (folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(theirs))
    monkeypatch.setattr(capabilities, "_BWRAP", (str(mine / "bwrap"),))
    assert capabilities.bubblewrap() == str(mine / "bwrap")
    monkeypatch.setattr(capabilities, "_BWRAP", ())
    assert capabilities.bubblewrap() == str(theirs / "bwrap")


@pytest.mark.parametrize("platform", ["win32", "cygwin", "freebsd14", "darwin"])
def test_a_system_without_a_cage_says_so(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert sandbox_support() == SandboxSupport(Level.NONE, (f"there is no sandbox for {platform}",))


@pytest.mark.skipif(sys.platform != "linux", reason="CI runs on Linux")
def test_what_the_machine_has_is_what_stands() -> None:
    need_landlock(3)
    found = sandbox_support()
    assert found.level >= Level.LANDLOCK
    if capabilities.bubblewrap() and not found.reasons:
        assert found.level is Level.FULL and seccomp.available()
    if os.environ.get("CI"):
        assert capabilities.bubblewrap(), "the checks install bubblewrap"
