"""What Landlock cannot forbid is noticed, put back and reported: modes, times and attributes of the human's files."""

from __future__ import annotations

import os
import stat
import struct
import sys
from pathlib import Path

import pytest

from cli import agent_runs
from cli.main import run as retain
from tests.sandbox.den import need
from vault.sandbox import capabilities as levels
from vault.sandbox.capabilities import Level, SandboxSupport

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", *entry)
    for entry in ((1, 6, 0xFFFFFFFF), (2, 6, 65534), (4, 4, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF))
)
# What goes through at the level landlock, and the file or folder that it is done to; "" is the vault's root.
CHANGES = {
    "mode of a note": ("insights/note.md", "os.chmod(path, 0o666)"),
    "note that nobody may read": ("insights/note.md", "os.chmod(path, 0)"),
    "mode of a source": ("raw/articles/source.md", "os.chmod(path, 0o777)"),
    "insights": ("insights", "os.chmod(path, 0)"),
    "raw": ("raw", "os.chmod(path, 0o777)"),
    "root": ("", "os.chmod(path, 0)"),
    "settings": ("retain.toml", "os.chmod(path, 0)"),
    "ledger": ("ledger", "os.chmod(path, 0)"),
    "time": ("insights/note.md", "os.utime(path, (1, 1))"),
    "attribute": ("insights/note.md", "os.setxattr(path, 'user.forged', b'1')"),
    "attribute of a folder": ("insights", "os.setxattr(path, 'user.forged', b'1')"),
    "attribute removed": ("insights/note.md", "os.removexattr(path, 'user.kept')"),
    "access list": ("insights/note.md", f"os.setxattr(path, 'system.posix_acl_access', {ACL!r})"),
    "personal note": ("../notes/secret.md", "os.chmod(path, 0o666)"),
    "personal vault": ("../notes", "os.chmod(path, 0o777)"),
}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Path:
    need(Level.LANDLOCK)
    monkeypatch.setattr(
        levels, "sandbox_support", lambda: SandboxSupport(Level.LANDLOCK, ("bubblewrap: is not there",))
    )
    root, personal = tmp_path / "vault", tmp_path / "notes"
    personal.mkdir()
    (personal / "secret.md").write_text("a secret\n")
    assert retain(["init", str(root), "--no-git", "--personal", str(personal)]) == 0
    note, source = root / "insights/note.md", root / "raw/articles/source.md"
    for path in (note, source):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words\n")
    os.setxattr(note, "user.kept", b"1")
    monkeypatch.chdir(root)
    return root


def facts(path: Path) -> tuple[object, ...]:
    status = path.stat()
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    times = status.st_mtime_ns if stat.S_ISREG(status.st_mode) else 0
    return status.st_mode, status.st_uid, status.st_gid, times, attributes


@pytest.mark.parametrize("name", CHANGES)
def test_what_landlock_cannot_forbid_is_put_back_and_reported(
    vault: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path, change = CHANGES[name]
    target = Path(os.path.normpath(vault / path))
    before = facts(target)
    script = f"import os; path = {str(target)!r}; {change}; print('changed')"
    code = retain(["guard", "run", "--", sys.executable, "-c", script])
    out, err = capfd.readouterr()
    assert "changed" in out, err
    assert facts(target) == before
    assert code == 1 and "restored:" in err and "the agent changed nothing" not in err
    shown = str(target) if path.startswith("..") else path or "."
    assert f"  {shown}: " in err


def test_all_at_once_below_a_folder_that_nobody_may_enter(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [vault / "insights/note.md", vault / "insights", vault / "retain.toml", vault]
    before = [facts(path) for path in paths]
    script = "import os\n" + "".join(f"os.chmod({str(path)!r}, 0)\n" for path in paths)
    assert retain(["guard", "run", "--", sys.executable, "-c", script]) == 1
    assert [facts(path) for path in paths] == before
    assert "4 files or folders" in capfd.readouterr().err


def test_an_agent_that_changes_nothing_leaves_the_vault_as_it_was(
    vault: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert retain(["guard", "run", "--", "cat", "insights/note.md"]) == 0
    assert "the agent changed nothing in the vault" in capfd.readouterr().err


def test_what_the_human_writes_meanwhile_stays(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The time of a note that was saved meanwhile is its own, and what took its place is another file."""
    from cli.guard import run

    note, source = vault / "insights/note.md", vault / "raw/articles/source.md"
    settle = agent_runs.finish_run

    def edited(*words: object) -> bool:
        note.write_text("other words\n")
        source.with_name("new").write_text("words\n")
        source.with_name("new").chmod(0o600)
        source.with_name("new").replace(source)
        return settle(*words)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "finish_run", edited)
        assert retain(["guard", "run", "--", "true"]) == 0
    assert note.read_text() == "other words\n" and stat.S_IMODE(source.stat().st_mode) == 0o600


def test_doctor_says_what_the_level_cannot_forbid(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from cli.maintenance import doctor as checks

    found = levels.sandbox_support()
    monkeypatch.setattr(checks, "sandbox_support", lambda: found)
    retain(["doctor"])
    assert "can change permissions, owner, timestamps and attributes of your files" in capfd.readouterr().out
