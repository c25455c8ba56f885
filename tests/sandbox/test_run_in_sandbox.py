"""Commands in a cage, run for real at each level and judged from outside. Each denial has its control."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.den import DEADLINE_S, LEVELS, Den, dig, need, usual_signals, wait_for
from vault.errors import Refused
from vault.sandbox.capabilities import Level
from vault.sandbox.sandbox import Sandbox, readable_beside, run_in_sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what holds on other systems has no `enter`")
EVERY = pytest.mark.parametrize("level", LEVELS, ids=str)
BUBBLES = pytest.mark.parametrize("level", [Level.FULL, Level.BUBBLEWRAP], ids=str)


@pytest.fixture
def den(tmp_path: Path) -> Den:
    return dig(tmp_path)


@pytest.fixture(autouse=True)
def _level_here(request: pytest.FixtureRequest) -> None:
    if "level" in request.fixturenames:
        need(request.getfixturevalue("level"))


# --- exit codes -----------------------------------------------------------------------------------------------------


@EVERY
def test_the_exit_code_is_the_commands_own(den: Den, level: Level) -> None:
    assert [den.run(level, f"exit {code}") for code in (0, 1, 125)] == [0, 1, 125]


@EVERY
def test_a_signal_that_ends_the_command_is_told_as_a_shell_does(den: Den, level: Level) -> None:
    assert den.run(level, "kill -9 $$") == 128 + 9
    assert den.run(level, "kill -TERM $$") == 128 + 15


def test_a_command_that_is_not_there_or_cannot_run_is_told_apart(den: Den, capfd: pytest.CaptureFixture[str]) -> None:
    need(Level.LANDLOCK)
    cage = den.cage(Level.LANDLOCK)

    def code(*command: str) -> int:
        return run_in_sandbox(cage, command, cwd=den.vault, env={"PATH": os.environ["PATH"]})

    assert code("no-such-program-anywhere") == 127
    assert code("./wiki/nor-this") == 127
    assert code("./wiki/note.md") == 126
    assert code("wiki") == 127 and code("./wiki") == 126
    assert code("true") == 0
    assert "command not found" in capfd.readouterr().err


def test_words_reach_the_command_byte_for_byte(den: Den) -> None:
    need(Level.LANDLOCK)
    words = ["", " ", "--", "-c", "a\nb", "\u202e", "\udcff", "*", "$HOME"]
    script = "import sys; open('wiki/words', 'wb').write(b'\\0'.join(map(__import__('os').fsencode, sys.argv[1:])))"
    command = [sys.executable, "-I", "-c", script, *words]
    assert run_in_sandbox(den.cage(Level.LANDLOCK), command, cwd=den.vault, env=dict(os.environ)) == 0
    assert (den.vault / "wiki/words").read_bytes() == b"\0".join(map(os.fsencode, words))


@EVERY
def test_the_command_starts_where_it_was_called_from(den: Den, level: Level) -> None:
    script = ["sh", "-c", f"pwd > {den.vault}/wiki/place"]
    assert run_in_sandbox(den.cage(level), script, cwd=den.other, env=dict(os.environ)) == 0
    assert (den.vault / "wiki/place").read_text() == f"{den.other}\n"


# --- what may be written --------------------------------------------------------------------------------------------


@EVERY
def test_only_the_agents_folders_and_what_is_added_can_be_written(den: Den, level: Level) -> None:
    added = den.base / "added"
    added.mkdir()
    alone = den.base / "alone.json"
    alone.write_text("{}")
    before = den.notes()
    allowed = ["wiki/new", "output/new", "learning/flashcards/new", ".retain/work/new", f"{added}/new", f"{alone}"]
    denied = [
        *("insights/new", "raw/articles/new", "ledger/new", "learning/new", ".git/hooks/pre-commit", ".obsidian/new"),
        *(".claude/settings.json", ".retain/new", "new", "retain.toml", "insights/note.md"),
        *(f"{den.other}/note.md", f"{den.other}/new", f"{den.personal}/new", f"{den.state}/new"),
    ]
    script = "".join(f"echo hello >{path} || exit 3\n" for path in allowed)
    script += "".join(f"(echo bad >{path}) 2>/dev/null && exit 4\n" for path in denied)
    script += f"(echo bad >{den.base}/new) 2>/dev/null\n"  # where the temporary folder is the cage's own, it is lost
    script += "rm -f insights/note.md 2>/dev/null; mv insights elsewhere 2>/dev/null; mv wiki elsewhere 2>/dev/null\n"
    script += "ln insights/note.md wiki/linked 2>/dev/null && exit 5\n"
    script += "mv -f wiki/new insights/note.md 2>/dev/null && exit 6; rmdir insights raw 2>/dev/null; exit 0"
    assert den.run(level, script, rw=(added, alone)) == 0
    after = den.notes()
    assert {p: d for p, d in after.items() if before.get(p) != d} == {"added/new": b"hello\n", "alone.json": b"hello\n"}
    assert after.keys() - before.keys() == {"added/new"}
    assert all((den.vault / path).read_bytes() == b"hello\n" for path in allowed[:4])


@EVERY
def test_temporary_files_are_the_cages_own_and_gone_with_it(
    den: Den, level: Level, capfd: pytest.CaptureFixture[str]
) -> None:
    script = 'echo t >"$TMPDIR/t" && cat "$TMPDIR/t" && echo r >"$XDG_RUNTIME_DIR/r" && echo "$TMPDIR"'
    assert den.run(level, script) == 0
    word, folder = capfd.readouterr().out.split()
    assert word == "t" and not Path(folder, "t").exists() and not Path(folder, "r").exists()


@BUBBLES
def test_nothing_of_the_shared_places_is_seen(den: Den, level: Level) -> None:
    marks = [Path(place, f"retain-test-{os.getpid()}-{level}") for place in ("/tmp", "/dev/shm", "/var/tmp")]
    for mark in marks:
        mark.write_text("seen")
    try:
        script = "".join(f"test -e {mark} && exit 3; echo x >{mark} || exit 4; " for mark in marks)
        assert all(mark.exists() for mark in marks)
        assert den.run(level, script + "exit 0") == 0
        assert [mark.read_text() for mark in marks] == ["seen"] * 3
    finally:
        for mark in marks:
            mark.unlink()


@EVERY
def test_root_gives_up_its_rights_too(den: Den, level: Level, capfd: pytest.CaptureFixture[str]) -> None:
    assert den.run(level, "grep -E '^(Cap(Eff|Prm|Inh|Amb)|NoNewPrivs|Seccomp):' /proc/self/status") == 0
    status = dict(line.split(":\t") for line in capfd.readouterr().out.splitlines())
    assert {status[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


@BUBBLES
def test_switches_of_the_kernel_cannot_be_turned(den: Den, level: Level) -> None:
    switch = "/proc/sys/kernel/core_pattern"
    before = Path(switch).read_bytes()
    # What it holds already is written, so that a cage that leaks harms nobody.
    assert (
        den.run(level, f"cat {switch} >/dev/null || exit 3; (cat {switch} >{switch}) 2>/dev/null && exit 4; exit 0")
        == 0
    )
    assert Path(switch).read_bytes() == before


# --- what may be seen and reached -----------------------------------------------------------------------------------


@EVERY
def test_the_personal_vault_and_the_places_of_retain_cannot_be_read(den: Den, level: Level) -> None:
    script = "cat insights/note.md raw/articles/note.md >/dev/null || exit 3\n"
    script += f"cd {den.personal} 2>/dev/null && cat note.md 2>/dev/null && exit 4\n"
    script += f"cat {den.state}/note.md 2>/dev/null && exit 5\n"
    script += f"ls {den.personal} 2>/dev/null | grep -q note && exit 6\nexit 0"
    assert den.run(level, script) == 0


@EVERY
def test_a_personal_vault_inside_the_vault_is_hidden_too(den: Den, level: Level) -> None:
    inside = den.vault / "mine"
    shutil.move(den.personal, inside)
    cage = Sandbox(den.vault, level, personal=inside)
    for path, code in (("mine/note.md", False), ("insights/note.md", True)):
        done = run_in_sandbox(cage, ["grep", "-qs", "note", path], cwd=den.vault, env=dict(os.environ))
        assert (done == 0) is code


def test_all_but_what_is_hidden_lists_its_neighbours_and_no_link(tmp_path: Path) -> None:
    for name in ("home/me/secret/deep", "home/me/work", "home/you"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home/me/way-in").symlink_to(tmp_path / "home/me/secret")
    found = readable_beside([str(tmp_path / "home/me/secret"), str(tmp_path / "home/me/secret/deep")])
    ours = {path.removeprefix(f"{tmp_path}/") for path in found if path.startswith(f"{tmp_path}/")}
    assert ours == {"home/me/work", "home/you"}
    assert "/" not in found and str(tmp_path) not in found and len(found) > 4


def test_a_folder_on_the_way_that_cannot_be_listed_hides_more_and_stops_nothing(
    den: Den, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /home is on a machine of many users: it can be searched, and not listed. (Root lists everything.)"""
    need(Level.LANDLOCK)
    see = f"cat insights/note.md >/dev/null || exit 3; cat {den.personal}/note.md 2>/dev/null && exit 4; "
    other = f"cat {den.other}/note.md >/dev/null 2>&1"
    assert den.run(Level.LANDLOCK, see + other) == 0
    listed = os.scandir

    def forbidden(path: str) -> Any:
        if path == str(den.base):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr("vault.sandbox.sandbox.os.scandir", forbidden)
    assert den.run(Level.LANDLOCK, see + other) == 1


def test_thousands_of_names_beside_what_is_hidden_need_no_more_open_files(den: Den) -> None:
    need(Level.LANDLOCK)
    for number in range(400):
        (den.base / f"beside-{number}").touch()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        see = f"cat {den.base}/beside-0 {den.base}/beside-399 insights/note.md || exit 3; cat {den.personal}/note.md"
        assert den.run(Level.LANDLOCK, f"({see}) >/dev/null 2>&1") == 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@EVERY
def test_a_helper_outside_cannot_be_asked_by_its_socket(den: Den, level: Level) -> None:
    place, name = str(den.vault / "raw/helper"), f"\0retain-test-{os.getpid()}-{level}"
    ask = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect({!r})\ns.sendall(b'write')\n"
    with _listening(place) as heard, _listening(name) as heard_abstract:
        for address, words in ((place, heard), (name, heard_abstract)):
            assert den.python(level, ask.format(address)) == 1
            assert words == []
            subprocess.run([sys.executable, "-c", ask.format(address)], check=True)
            wait_for(lambda words=words: words == [b"write"], "the control to be heard")  # type: ignore[misc]


@EVERY
def test_programs_still_talk_to_those_they_start(den: Den, level: Level) -> None:
    script = "import socket\na, b = socket.socketpair()\na.sendall(b'x')\nassert b.recv(1) == b'x'\n"
    script += "try:\n socket.socketpair(type=socket.SOCK_DGRAM)\nexcept OSError:\n raise SystemExit(7)"
    assert den.python(level, script) == 7


@EVERY
def test_without_network_no_program_of_this_machine_is_reached(den: Den, level: Level) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ask = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=30).close()"
        assert den.python(level, ask) == 0
        assert den.python(level, ask, network=False) == 1
        datagram = f"import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))"
        assert den.python(level, datagram) == 0
        server.setblocking(False)
        server.accept()[0].close()
        with pytest.raises(BlockingIOError):
            server.accept()


@EVERY
def test_an_open_file_that_was_handed_down_is_closed(den: Den, level: Level) -> None:
    note = den.vault / "insights/note.md"
    before = note.read_bytes()
    handle = os.open(note, os.O_RDWR | os.O_APPEND)
    try:
        os.set_inheritable(handle, True)
        script = f"(echo bad >&{handle}) 2>/dev/null && exit 4; exit 0"
        assert den.run(level, script) == 0
        assert note.read_bytes() == before
        assert subprocess.run(["bash", "-c", script], pass_fds=(handle,), check=False).returncode == 4
    finally:
        os.close(handle)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
@BUBBLES
def test_what_is_mounted_later_does_not_come_in(den: Den, level: Level) -> None:
    """Where mounts are shared, as on most systems, they come into what bubblewrap alone builds, and are writable."""
    point = den.vault / "raw/disk"
    point.mkdir()
    script = "touch wiki/ready; until test -e wiki/go; do sleep 0.02; done; "
    script += f"touch {point}/bad 2>/dev/null; test -e {point}/later && exit 4; exit 0"
    outside = f"""
set -e
"$1" -c "$2" {level.name} sh -c "$3" & until test -e wiki/ready; do sleep 0.02; done
mount -t tmpfs later {point}; touch {point}/later; touch wiki/go
wait $! && code=0 || code=$?
test -e {point}/later; ! test -e {point}/bad; exit $code"""
    from tests.sandbox.den import ALONE

    words = ["unshare", "-m", "--propagation", "shared", "bash", "-c", outside, "bash", sys.executable, ALONE, script]
    done = subprocess.run(words, cwd=den.vault, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr


def test_a_folder_exchanged_while_the_cage_is_made_is_noticed(den: Den) -> None:
    need(Level.LANDLOCK)
    for level in LEVELS[-1:]:
        wiki, aside = den.vault / "wiki", den.vault / "aside"

        def exchange(wiki: Path = wiki, aside: Path = aside) -> None:
            wiki.rename(aside)
            (den.vault / "insights").rename(wiki)

        with pytest.raises(Refused, match="exchanged"):
            run_in_sandbox(den.cage(level), ["touch", "wiki/x"], cwd=den.vault, env=dict(os.environ), before=exchange)
        assert sorted(p.name for p in wiki.iterdir()) == ["note.md"]


# --- processes and signals ------------------------------------------------------------------------------------------


def _is_free(lock: Path) -> bool:
    """Whether nobody holds the lock: whoever had it is dead."""
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@EVERY
def test_nobody_is_left_when_the_command_has_ended(den: Den, level: Level) -> None:
    lock = den.vault / "wiki/note.md"
    daemon = "setsid flock wiki/note.md sh -c 'trap \"\" HUP TERM INT; touch wiki/held; sleep 1000' &"
    assert den.run(level, f"({daemon}) ; until test -e wiki/held; do sleep 0.01; done; exit 9") == 9
    assert (den.vault / "wiki/held").exists() and _is_free(lock)


@EVERY
def test_killing_retain_ends_the_agent_and_its_children(den: Den, level: Level) -> None:
    lock = den.vault / "wiki/note.md"
    process = den.start(level, "(setsid flock wiki/note.md sh -c 'touch wiki/held; sleep 1000' &); sleep 1000")
    try:
        wait_for((den.vault / "wiki/held").exists, "the agent")
        assert not _is_free(lock)
    finally:
        process.kill()
        process.wait(DEADLINE_S)
    wait_for(lambda: _is_free(lock), "the agent's end")


@EVERY
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_to_retain_is_passed_on_and_the_agent_decides(den: Den, level: Level, number: int) -> None:
    script = f"trap 'touch wiki/heard; exit 5' {number}; touch wiki/ready; while :; do sleep 0.02; done"
    process = den.start(level, script)
    try:
        wait_for((den.vault / "wiki/ready").exists, "the agent")
        process.send_signal(number)
        assert process.wait(DEADLINE_S) == 5
    finally:
        process.kill()
        process.wait(DEADLINE_S)
    assert (den.vault / "wiki/heard").exists()


@EVERY
def test_an_agent_that_stops_itself_stops_retain_until_both_go_on(den: Den, level: Level) -> None:
    process = den.start(level, "touch wiki/ready; kill -STOP $$; touch wiki/gone-on; exit 6")
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status) and (den.vault / "wiki/ready").exists()
        assert not (den.vault / "wiki/gone-on").exists()
        process.send_signal(signal.SIGCONT)
        assert process.wait(DEADLINE_S) == 6
    finally:
        process.kill()
        process.wait(DEADLINE_S)
    assert (den.vault / "wiki/gone-on").exists()


def test_signals_that_retain_was_started_to_ignore_stay_ignored(den: Den, capfd: pytest.CaptureFixture[str]) -> None:
    need(Level.LANDLOCK)
    seen = "import signal\nprint([n for n in (1, 2, 3, 13, 15, 20, 25) if signal.getsignal(n) is signal.SIG_IGN])"
    words = [
        sys.executable,
        "-c",
        "import os, signal, sys\nfor n in (1, 2): signal.signal(n, signal.SIG_IGN)\nos.execv(",
    ]
    words[-1] += "sys.argv[1], sys.argv[1:])"
    from tests.sandbox.den import ALONE

    # Python itself ignores 13 and 25.
    alone = [sys.executable, "-c", ALONE, "LANDLOCK", sys.executable, "-c", seen]
    for before, ignored in (([], "[13, 25]"), (words, "[1, 2, 13, 25]")):
        done = subprocess.run(
            [*before, *alone], cwd=den.vault, capture_output=True, text=True, check=True, preexec_fn=usual_signals
        )
        assert done.stdout.strip() == ignored


class _listening:
    """A helper outside that takes down what is said to it."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(address)
        self._socket.listen()
        self._heard: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> list[bytes]:
        self._thread.start()
        return self._heard

    def _serve(self) -> None:
        for each in self._calls():
            with each:
                self._heard.append(each.recv(64))

    def _calls(self) -> Iterator[socket.socket]:
        while True:
            try:
                yield self._socket.accept()[0]
            except OSError:
                return

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(DEADLINE_S)
