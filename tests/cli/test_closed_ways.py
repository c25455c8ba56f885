"""Files and folders that only others may read or enter: each command says so in one line, and none is a defect."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import SCRIPT, Result
from vault.config.user import CONFIG, config_folder, state_folder

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and sys.platform != "linux",
    reason="root enters every folder, and gives that right up on Linux alone: run this as another user",
)


def _bound_by_modes() -> None:
    """What root may do in spite of a file's mode, the program that is started next may not."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "PR_CAPBSET_DROP")


def retain(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> Result:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SCRIPT")} | (env or {})
    done = subprocess.run(
        [SCRIPT, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
        preexec_fn=_bound_by_modes,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shut() -> Iterator[Callable[[Path], Path]]:
    """Takes every right to a file or folder from everybody; it has them back when the test ends."""
    modes: dict[Path, int] = {}

    def call(path: Path) -> Path:
        modes[path] = path.stat().st_mode
        path.chmod(0)
        return path

    yield call
    for path, mode in reversed(modes.items()):
        path.chmod(mode)


@pytest.fixture
def closed(tmp_path: Path, shut: Callable[[Path], Path]) -> Path:
    """A folder that nobody may enter, with a folder in it."""
    (tmp_path / "closed/inner").mkdir(parents=True)
    return shut(tmp_path / "closed")


@pytest.mark.parametrize("name", ["closed", "closed/inner", "closed/not-there"])
@pytest.mark.parametrize(
    "words",
    [
        ("status", "--vault", "{}"),
        ("doctor", "--vault", "{}"),
        ("init", "{}"),
        ("init", "{}", "--adopt"),
        ("init", "new", "--no-git", "--personal", "{}"),
        ("add", "--vault", "vault", "{}"),
        ("add", "--vault", "vault", "--as", "repos", "{}"),
    ],
    ids=" ".join,
)
def test_a_place_behind_a_closed_folder_is_named(
    tmp_path: Path, compiled: Path, closed: Path, words: tuple[str, ...], name: str
) -> None:
    done = retain(*(word.format(tmp_path / name) for word in words), cwd=tmp_path)
    assert done.code in (2, 3), done
    assert str(tmp_path / name) in done.stderr and "permission denied" in done.stderr.lower()
    assert not (tmp_path / "new/retain.toml").exists()


def test_the_environment_may_name_such_a_place_too(tmp_path: Path, closed: Path) -> None:
    done = retain("status", cwd=tmp_path, env={"RETAIN_VAULT": str(closed / "inner")})
    assert done.code == 2 and "RETAIN_VAULT" in done.stderr and "permission denied" in done.stderr


def test_below_a_closed_folder_the_vault_above_it_is_found(compiled: Path, shut: Callable[[Path], Path]) -> None:
    inner = compiled / "raw/deep/inner"
    inner.mkdir(parents=True)
    script = f"chmod 0 {inner.parent}; {SCRIPT} status --json; code=$?; chmod 700 {inner.parent}; exit $code"
    done = subprocess.run(
        ["sh", "-c", script], cwd=inner, capture_output=True, text=True, check=False, preexec_fn=_bound_by_modes
    )
    assert done.returncode == 0 and '"sources": 2' in done.stdout, done


def test_a_source_that_may_not_be_read_is_told_in_words_about_reading(
    tmp_path: Path, compiled: Path, shut: Callable[[Path], Path]
) -> None:
    (tmp_path / "a.md").write_text("# A")
    done = retain("add", str(shut(tmp_path / "a.md")), cwd=compiled)
    assert done.code == 1 and f"{tmp_path}/a.md: cannot be read: permission denied" in done.stderr


@pytest.mark.parametrize("name", ["", "/testing.md"])
def test_verify_goes_on_past_sources_that_may_not_be_read(
    compiled: Path, shut: Callable[[Path], Path], name: str
) -> None:
    shut(compiled / f"raw/articles{name}")
    done = retain("verify", "--json", cwd=compiled)
    assert done.code == 1, done
    reasons = {each["reason"] for each in done.json()["unverified"]}
    assert "its source cannot be read: raw/articles/testing.md" in reasons
    assert done.json()["cards"] > 0


def test_settings_that_may_not_be_read_are_told_once(
    tmp_path: Path, compiled: Path, shut: Callable[[Path], Path]
) -> None:
    assert retain("init", str(compiled), "--personal", str(tmp_path / "mine"), cwd=tmp_path).code == 0
    path = shut(config_folder() / CONFIG)
    done = retain("compile", cwd=compiled)
    assert (
        done.code == 3
        and done.stderr == f"retain: {path}: cannot be read: permission denied\n  check its owner and permissions\n"
    )


@pytest.mark.parametrize("place", ["settings", "state", "learning"])
def test_what_init_writes_for_hosts_is_refused_in_words(
    tmp_path: Path, compiled: Path, shut: Callable[[Path], Path], place: str
) -> None:
    assert retain("init", str(compiled), "--host", "claude-code", cwd=tmp_path).code == 0
    state = state_folder(next(iter(_ids(compiled)))).parent
    shut({"settings": compiled / ".claude", "state": state, "learning": compiled / "learning"}[place])
    done = retain("init", str(compiled), "--host", "claude-code", cwd=tmp_path)
    assert done.code in (1, 2, 3) and "permission" in done.stderr, done


def _ids(vault: Path) -> list[str]:
    from vault.vault import open_vault

    return [open_vault(str(vault), None, vault).settings.vault_id]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("mine", ("insight", "retrieval practice", "--no-edit")),
        ("state", ("guard", "audit")),
        ("fresh", ("init", "../fresh/new", "--no-git")),
        ("config", ("init", ".", "--personal", "../mine")),
    ],
)
def test_a_place_outside_the_vault_is_named_whole(
    tmp_path: Path, compiled: Path, place: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "fresh").mkdir()
    if place == "mine":
        assert retain("init", str(compiled), "--personal", str(tmp_path / "mine"), cwd=tmp_path).code == 0
    state, config = state_folder(_ids(compiled)[0]).parent.parent, config_folder().parent
    folder = {"mine": tmp_path / "mine", "fresh": tmp_path / "fresh", "state": state, "config": config}[place]
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o500)
    done = retain(*words, cwd=compiled)
    folder.chmod(0o700)
    assert done.code == 3 and done.stderr.startswith(f"retain: {folder}/"), done
    assert "not written: no write permission" in done.stderr
