"""`retain guard run` as a user runs it: exit codes, what is said, the terminal, and what becomes of an agent's work."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import termios
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from cli.main import run as retain
from tests.commands import SCRIPT
from tests.sandbox.den import DEADLINE_S, LEVELS, need, usual_signals, wait_for, without_rights
from vault.config.user import config_folder, set_personal_vault, state_folder
from vault.sandbox import capabilities as levels
from vault.sandbox.capabilities import Level, SandboxSupport
from vault.vault import open_vault

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no other system here to run it on")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Path:
    """A new vault with a personal one beside it; the working directory is in it."""
    need(Level.LANDLOCK)
    root, personal = tmp_path / "vault", tmp_path / "notes"
    personal.mkdir()
    (personal / "secret.md").write_text("a secret\n")
    assert retain(["init", str(root), "--no-git", "--personal", str(personal)]) == 0
    monkeypatch.chdir(root)
    return root


def at(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    need(level)
    words = () if level is Level.FULL else ("something: is not there",)
    monkeypatch.setattr(levels, "sandbox_support", lambda: SandboxSupport(level, words))


def guard_run(*words: str) -> int:
    return retain(["guard", "run", *words])


# --- exit codes -----------------------------------------------------------------------------------------------------


def test_the_exit_code_is_the_commands(vault: Path) -> None:
    assert [guard_run("--", "sh", "-c", f"exit {code}") for code in (0, 2)] == [0, 2]
    assert guard_run("--", "sh", "-c", "kill -9 $$") == 137
    assert guard_run("--", "no-such-program") == 127
    assert guard_run("--", "./retain.toml") == 126


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_the_exit_code_is_the_commands_though_nothing_can_be_told(vault: Path, streams: str) -> None:
    line = f"{shlex.quote(SCRIPT)} guard run -- sh -c 'touch wiki/started; exit 3' {streams}"
    assert subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, check=False, timeout=DEADLINE_S).returncode == 3


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such-option", "--", "true"],
        ["--require", "very", "--", "true"],
        ["--rw"],
        [],
        ["--"],
        ["--rw", ".", "--", "true"],
        ["--rw", "insights", "--", "true"],
        ["--rw", "nothing-there", "--", "true"],
        ["--env", "A=B", "--", "true"],
        ["--vault", "/nothing-there", "--", "true"],
    ],
    ids=" ".join,
)
def test_our_own_refusals_are_125(vault: Path, words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert guard_run(*words) == 125
    told = capfd.readouterr()
    assert told.err and not told.out and "sandbox:" not in told.err


def test_settings_that_cannot_be_read_are_125_as_the_personal_vault_is_not_known(vault: Path) -> None:
    assert guard_run("--", "true") == 0
    (config_folder() / "config.toml").write_text("[vaults")
    assert guard_run("--", "true") == 125


def test_a_personal_vault_that_is_not_mounted_is_125(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").rename(tmp_path / "elsewhere")
    assert guard_run("--", "true") == 125


@pytest.mark.parametrize("which", [".config", "home", "disk"])
def test_what_is_to_be_hidden_and_is_not_there_is_not_made_by_an_agent(
    vault: Path, tmp_path: Path, which: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    if which == "disk":
        (tmp_path / "disk").mkdir()
        set_personal_vault("0" * 26, tmp_path / "disk/unmounted/notes")
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        (vault / "insights").mkdir()  # settings of nothing at all, as most users have
    place = {".config": home / ".config", "home": home, "disk": tmp_path / "disk"}[which]
    assert guard_run("--rw", str(place), "--", "true") == 125
    assert ("agents must not see" if which == "disk" else "hidden from agents") in capfd.readouterr().err
    assert not list(config_folder().iterdir()) or which == "disk"


def test_there_is_no_cage_in_a_cage(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert guard_run("--", sys.executable, "-m", "cli.main") == 0, "the control: it can be loaded in there"
    nested = "import sys; from cli.main import run; sys.exit(run(['guard', 'run', '--', 'true']))"
    assert guard_run("--", sys.executable, "-c", nested) == 125
    assert "already in a sandbox" in capfd.readouterr().err


def test_what_stands_after_the_dashes_is_the_commands_alone(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    show = "import sys, json; json.dump(sys.argv[1:], sys.stdout)"
    words = ["--rw", "--help", "--", "-h", "--vault", "x"]
    for dashes in (["--"], []):
        assert guard_run(*dashes, sys.executable, "-I", "-c", show, *words) == 0
        assert json.loads(capfd.readouterr().out) == words


# --- what is said ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_the_level_is_said_and_a_weaker_one_never_in_silence(
    vault: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    assert guard_run("--no-network", "--", "echo", "hello") == 0
    told = capfd.readouterr()
    assert told.out == "hello\n", "what the command says is all there is on standard output"
    lines = told.err.splitlines()
    assert lines[0].startswith(f"sandbox: {level}") and "network off" in lines[0] and "wiki/" in lines[0]
    assert ("weaker than full" in told.err) is ("something: is not there" in told.err) is (level is not Level.FULL)


def test_a_bubblewrap_whose_programs_get_no_rights_means_landlock_everywhere(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on systems where AppArmor takes them: what is announced is what holds, and agents can be run."""
    need(Level.FULL)

    def forget() -> None:
        levels.sandbox_support.cache_clear()
        levels.without_bubblewrap.cache_clear()

    monkeypatch.setattr(levels, "_BWRAP", (str(without_rights(tmp_path)),))
    forget()
    try:
        assert guard_run("--", "sh", "-c", "echo x >insights/x.md || exit 3") == 3
        told = capfd.readouterr().err
        assert told.startswith("sandbox: landlock") and "its mounts private" in told
        assert guard_run("--require", "full", "--", "true") == 125
        capfd.readouterr()
        assert retain(["guard", "status", "--json"]) == 0
        status = json.loads(capfd.readouterr().out)
        assert status["level"] == "landlock" and "its mounts private" in status["not_stronger"][0]
        retain(["doctor", "--json"])
        assert '"landlock"' in capfd.readouterr().out
    finally:
        forget()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have a vault of somebody else's")
def test_root_is_told_that_a_vault_is_somebody_elses(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert guard_run("--", "true") == 0
    assert "you are root" not in capfd.readouterr().err
    os.chown(vault, 12345, -1)
    assert guard_run("--", "true") == 0
    assert "you are root and this vault belongs to user 12345" in capfd.readouterr().err


def test_a_weaker_level_than_required_is_125(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(Level.LANDLOCK, monkeypatch)
    assert guard_run("--require", "landlock", "--", "true") == 0
    assert guard_run("--require", "bubblewrap", "--", "true") == 125
    assert guard_run("--require", "full", "--", "true") == 125


def test_where_nothing_holds_nothing_is_started(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        levels, "sandbox_support", lambda: SandboxSupport(Level.NONE, ("there is no sandbox for win32",))
    )
    assert guard_run("--", "sh", "-c", "touch wiki/started") == 125
    told = capfd.readouterr().err
    assert "win32" in told and "guard audit" in told and "--personal" in told
    assert not (vault / "wiki/started").exists()


# --- what holds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_an_agent_writes_its_folders_and_sees_nothing_of_yours(
    vault: Path, tmp_path: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    added = tmp_path / "agent"
    added.mkdir()
    script = f"""
    echo x > .retain/work/x || exit 3; echo x > {added}/x || exit 4; cat AGENTS.md > /dev/null || exit 5
    for place in insights raw ledger learning .; do (echo x > $place/x) 2>/dev/null && exit 6; done
    cat {tmp_path}/notes/secret.md 2>/dev/null && exit 7
    cat {config_folder()}/config.toml 2>/dev/null && exit 8
    ls {state_folder("0" * 26).parent} 2>/dev/null | grep . && exit 9
    exit 0"""
    assert guard_run("--rw", str(added), "--", "sh", "-c", script) == 0, capfd.readouterr().err
    assert (added / "x").read_text() == "x\n"
    assert not [p for place in ("insights", "raw", "ledger", "learning", ".") for p in (vault / place).glob("x")]
    assert "secret" not in capfd.readouterr().out


def test_the_environment_is_scrubbed_and_names_the_cage(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("SSH_AUTH_SOCK", "LD_LIBRARY_PATH", "ANTHROPIC_API_KEY", "MY_OWN", "NOT_ASKED_FOR"):
        monkeypatch.setenv(name, "/given")
    show = "import os, json; print(json.dumps(dict(os.environ)))"
    assert guard_run("--env", "MY_OWN", "--", sys.executable, "-I", "-c", show) == 0
    inside = json.loads(capfd.readouterr().out)
    assert inside["ANTHROPIC_API_KEY"] == inside["MY_OWN"] == "/given"
    assert inside["RETAIN_CAGED"] == "1" and inside["RETAIN_VAULT"] == str(vault)
    assert not {"SSH_AUTH_SOCK", "LD_LIBRARY_PATH", "NOT_ASKED_FOR"} & inside.keys()


def test_folders_that_an_agent_is_to_write_are_made(vault: Path) -> None:
    shutil.rmtree(vault / ".retain", ignore_errors=True)
    shutil.rmtree(vault / "learning/flashcards")
    assert guard_run("--", "sh", "-c", "echo x > .retain/work/x && test -d learning/flashcards") == 0


# --- before and after -----------------------------------------------------------------------------------------------


def test_what_acts_is_quarantined_what_has_no_evidence_is_listed_and_the_code_stays(
    vault: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "cd wiki/concepts; echo '<b>x</b>' > acts.md; printf '# Mine\\n\\nIt is so.\\n' > mine.md; exit 7"
    assert guard_run("--", "sh", "-c", script) == 7
    told = capfd.readouterr().err
    assert not (vault / "wiki/concepts/acts.md").exists()
    assert list((vault / "output/quarantine").rglob("acts.md")) and "wiki/concepts/acts.md:1: HTML" in told
    assert "It is so." in (vault / "wiki/concepts/mine.md").read_text()
    line = (vault / "wiki/concepts/mine.md").read_text().split("\n").index("It is so.") + 1
    assert f"wiki/concepts/mine.md:{line}: kept without evidence: the sentence cites nothing: It is so." in told
    assert "kept 1 file, marked 1 sentence as unsupported, quarantined 1 in output/quarantine/" in told


def test_an_agent_that_wrote_nothing_leaves_nothing(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = {p: p.read_bytes() for p in vault.rglob("*") if p.is_file() and ".retain" not in p.parts}
    assert guard_run("--", "cat", "AGENTS.md") == 0
    assert {p: p.read_bytes() for p in vault.rglob("*") if p.is_file() and ".retain" not in p.parts} == before
    assert "changed nothing" in capfd.readouterr().err


def test_a_refusal_leaves_no_run_behind(vault: Path) -> None:
    assert guard_run("--rw", "raw", "--", "true") == 125
    assert guard_run("--", "true") == 0


# --- signals and the terminal ---------------------------------------------------------------------------------------


class _Terminal:
    """`retain guard run` in the foreground of a terminal of its own, as a shell starts it."""

    def __init__(self, vault: Path, script: str) -> None:
        self.ours, theirs = pty.openpty()
        self.modes = termios.tcgetattr(theirs)
        words = [SCRIPT, "guard", "run", "--", "sh", "-c", script]

        def take() -> None:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            usual_signals()

        self.process = subprocess.Popen(words, cwd=vault, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=take)
        self.theirs = theirs
        self.said = b""
        os.set_blocking(self.ours, False)

    def hear(self, words: bytes) -> None:
        def heard() -> bool:
            with suppress(BlockingIOError):
                self.said += os.read(self.ours, 4096)
            return words in self.said

        wait_for(heard, repr(words))

    def type(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def code(self) -> int:
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE_S)
        os.close(self.ours)
        os.close(self.theirs)


def test_ctrl_c_reaches_the_agent_and_retain_waits_for_it(vault: Path) -> None:
    terminal = _Terminal(vault, "trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.05; done")
    try:
        terminal.hear(b"ready")
        terminal.type(b"\x03")
        terminal.hear(b"caught")
        assert terminal.code() == 6
        terminal.hear(b"changed nothing")
    finally:
        terminal.close()


def test_ctrl_c_that_the_agent_does_not_catch_ends_it(vault: Path) -> None:
    terminal = _Terminal(vault, "echo ready; exec sleep 1000")
    try:
        terminal.hear(b"ready")
        terminal.type(b"\x03")
        assert terminal.code() == 128 + signal.SIGINT
        terminal.hear(b"changed nothing")
    finally:
        terminal.close()


def test_the_terminal_is_left_as_it_was_found(vault: Path) -> None:
    terminal = _Terminal(vault, "stty raw -echo; echo wild; read _ || true; exit 0")
    try:
        terminal.hear(b"wild")
        assert termios.tcgetattr(terminal.theirs) != terminal.modes
        terminal.type(b"\n\x04")
        assert terminal.code() == 0
        assert termios.tcgetattr(terminal.theirs) == terminal.modes
    finally:
        terminal.close()


def test_nothing_can_be_typed_for_the_human(vault: Path) -> None:
    push = "import fcntl, termios\ntry:\n fcntl.ioctl(0, termios.TIOCSTI, b'x')\n"
    push += "except OSError as e:\n print('errno', e.errno)"
    terminal = _Terminal(vault, f'exec {sys.executable} -I -S -c "{push}"')
    try:
        assert terminal.code() == 0
        terminal.hear(b"errno 1\r\n")
    finally:
        terminal.close()


def test_a_killed_run_is_settled_by_the_next(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = [
        SCRIPT,
        "guard",
        "run",
        "--",
        "sh",
        "-c",
        "echo '<b>x</b>' > wiki/concepts/left.md; touch .retain/work/go; sleep 1000",
    ]
    process = subprocess.Popen(words, cwd=vault, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for((vault / ".retain/work/go").exists, "the agent")
    finally:
        process.kill()
        process.wait(DEADLINE_S)
    assert (vault / "wiki/concepts/left.md").exists()
    assert guard_run("--", "true") == 0
    assert not (vault / "wiki/concepts/left.md").exists()
    assert "wiki/concepts/left.md" in capfd.readouterr().err


# --- what nobody could put back -------------------------------------------------------------------------------------


def test_a_loss_is_named_and_the_exit_code_tells_of_it(vault: Path) -> None:
    mine = vault / "output/mine.md"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("# Mine\n")
    script = "echo go > .retain/work/go; until [ -e output/lost ]; do sleep 0.05; done; echo theirs > output/mine.md"
    words = [SCRIPT, "guard", "run", "--", "sh", "-c", script]
    with subprocess.Popen(words, cwd=vault, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        wait_for((vault / ".retain/work/go").exists, "the agent's start")
        (copies,) = state_folder(open_vault(str(vault), None, vault).settings.vault_id).glob("copies*.sqlite3")
        with closing(sqlite3.connect(copies)) as database, database:
            assert database.execute("DELETE FROM blob").rowcount
        (vault / "output/lost").touch()
        said = running.communicate(timeout=DEADLINE_S)[1]
    assert running.returncode == 1, said
    assert "output/mine.md" in said and "there is no backup" in said, said


def test_the_first_look_is_taken_before_an_agent_where_none_was(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "insights").mkdir(exist_ok=True)
    (vault / "insights/old.md").write_text("# Mine\n")
    for copies in state_folder(open_vault(str(vault), None, vault).settings.vault_id).glob("copies*.sqlite3"):
        copies.unlink()
    assert json_of(capsys, "guard", "status")["last_look"] is None
    capsys.readouterr()
    assert guard_run("--", "true") == 0
    assert "agents can still read 1 note in insights/" in " ".join(capsys.readouterr().err.split())
    assert json_of(capsys, "guard", "status")["last_look"]["files"] >= 1


def json_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    retain([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found
