"""The reading process in its jail: what a hostile parser in it could not do, beside the same act before."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler.workers import bytecode
from compiler.workers.pool import Worker, WorkerPool
from tests.sandbox.shut_in import Results, acted, need_filter, need_landlock
from vault.errors import RetainError
from vault.sandbox import self_sandbox
from vault.sandbox.child import Child

pytestmark = pytest.mark.real_workers
ROOT = Path(__file__).resolve().parents[2]
NOTE = "Sleep is a state of rest in which memories are replayed.\n"
FOLDERS = ("vault/raw", "vault/insights", "vault/.retain/work", "personal", "home/.ssh", "temporary")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault, a personal vault and a home, each with something to read."""
    base = tmp_path_factory.mktemp("worker")
    for name in FOLDERS:
        (base / name).mkdir(parents=True)
        (base / name / "note.md").write_text(f"# Sleep\n\n{NOTE}")
    return base


@pytest.fixture(scope="module")
def results(world: Path) -> Iterator[Results]:
    need_landlock()
    need_filter()
    # A process like the human's editor, which waits; its limits and its order of running are tried as well.
    outsider = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    given: dict[str, Any] = {
        "raw note": f"{world}/vault/raw/note.md",
        "insight": f"{world}/vault/insights/note.md",
        "personal note": f"{world}/personal/note.md",
        "key": f"{world}/home/.ssh/note.md",
        "raw": f"{world}/vault/raw",
        "insights": f"{world}/vault/insights",
        "work": f"{world}/vault/.retain/work",
        "temporary": f"{world}/temporary",
        "outsider": outsider.pid,
        "module": {"before": "wave", "after": "colorsys"},
    }
    with outsider, socket.create_server(("127.0.0.1", 0)) as server:
        given["port"] = server.getsockname()[1]
        how = {"worker": f"{world}/vault/raw"}
        yield acted(world, how, [*REFUSED, *LEFT], **given)


REFUSED = (
    "write raw,write insights,write work,write temporary,read insight,list insights,read personal,read key,connect,"
    "listen,inet,datagram,unix,socket pair,fork,spawn,program,signal,chmod,chown,utime,attribute,trace,new user,"
    "personality,memory of others,open many,limit others,slow others,place others,schedule others,starve others,owner"
).split(",")
REFUSED += [f"{name}, theirs" for name in ("create", "write", "truncate", "remove", "make folder", "hard link")]
LEFT = ["read raw", "null", "thread", "raise", "load module", "limit oneself in place"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_parser_cannot(results: Results, name: str) -> None:
    assert results[name][1] in ("EACCES", "EPERM", "EXDEV", "EMFILE")


@pytest.mark.parametrize("name", sorted(set(REFUSED) - {"program", "attribute", "new user", "trace", "personality"}))
def test_which_it_could_before(results: Results, name: str) -> None:
    assert results[name][0] == ""


@pytest.mark.parametrize("name", LEFT)
def test_a_parser_can(results: Results, name: str) -> None:
    assert results[name] == ("", "")


# --- the worker itself ----------------------------------------------------------------------------------------------


def read(worker: Worker, path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return worker.ask({"op": "source", "path": str(path), "sha256": hashlib.sha256(data).hexdigest()})


def test_the_worker_reads_raw_and_nothing_of_the_humans(world: Path) -> None:
    need_landlock()
    worker = Worker("extractive", world / "vault/raw")
    try:
        assert read(worker, world / "vault/raw/note.md")["source"]["title"] == "Sleep"
        for name in ("vault/insights", "personal", "home/.ssh"):
            assert read(worker, world / name / "note.md") == {"not_now": "it cannot be read: Permission denied"}
    finally:
        worker.close()
    other = Worker("", world / "vault/insights")
    try:
        assert "source" in read(other, world / "vault/insights/note.md"), "it is the jail that refused it"
    finally:
        other.close()


@pytest.mark.real_workers
@pytest.mark.skipif(sys.platform != "linux", reason="what a process gave up is told by Linux's /proc")
@pytest.mark.parametrize("engine", ["", "extractive"])
def test_the_worker_is_shut_in_before_it_answers_anything(world: Path, engine: str) -> None:
    need_filter()
    with WorkerPool(engine, world / "vault/raw", size=1) as crew:
        crew.ask({"op": "source", "path": str(world / "vault/raw/note.md"), "sha256": ""})
        (worker,) = crew._all
        assert isinstance(worker, Worker)
        status = Path(f"/proc/{worker.process.pid}/status").read_text()
        limits = Path(f"/proc/{worker.process.pid}/limits").read_text()
        handles = {str(h.readlink()).split(":")[0] for h in Path(f"/proc/{worker.process.pid}/fd").iterdir()}
    said = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (said["NoNewPrivs"], said["Seccomp"], said["Threads"]) == ("1", "2", "1")
    bounds = {line[:25].strip(): line[25:].split()[:2] for line in limits.splitlines()}
    assert bounds["Max file size"] == bounds["Max core file size"] == ["0", "0"]
    assert bounds["Max address space"] == [str(self_sandbox.MEMORY_BYTES)] * 2
    assert bounds["Max open files"] == ["256", "256"] and bounds["Max cpu time"][0] != "unlimited"
    assert handles <= {"pipe", "/dev/null"}, "nothing of ours stays open in it"


def test_a_vault_whose_raw_folder_is_a_link_is_read_as_ever(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/note.md").write_text(f"# Sleep\n\n{NOTE}")
    (tmp_path / "vault/raw").symlink_to(tmp_path / "elsewhere")
    worker = Worker("", tmp_path / "vault/raw")
    try:
        assert "source" in read(worker, tmp_path / "vault/raw/note.md")
    finally:
        worker.close()


def test_a_vault_without_a_raw_folder_has_a_worker_all_the_same(tmp_path: Path) -> None:
    worker = Worker("", tmp_path / "raw")
    try:
        missing = {"op": "source", "path": str(tmp_path / "raw/x.md"), "sha256": ""}
        assert "No such file" in worker.ask(missing)["not_now"]
    finally:
        worker.close()


def test_a_document_that_makes_the_reader_look_elsewhere_gets_nothing(tmp_path: Path) -> None:
    """A page that includes a file, a picture and a stylesheet of the human's: none of their words come out."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "insights").mkdir()
    secret = tmp_path / "insights/secret.md"
    secret.write_text("canary-of-the-human\n")
    entity = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>'
    link = f'<link rel="stylesheet" href="file://{secret}"><img src="file://{secret}">'
    page = tmp_path / "raw/page.html"
    page.write_text(
        f"{entity}<html><body>{link}<h1>Sleep</h1><p>&x; {NOTE} It works while one rests.</p></body></html>"
    )
    worker = Worker("extractive", tmp_path / "raw")
    try:
        assert "canary-of-the-human" not in json.dumps(read(worker, page))
    finally:
        worker.close()


# --- its parts ------------------------------------------------------------------------------------------------------


def test_a_process_with_a_second_thread_is_not_shut_in_and_says_so() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, args=(60.0,))
    thread.start()
    try:
        with pytest.raises(RetainError, match="threads"):
            self_sandbox.restrict_worker(None)
    finally:
        stop.set()
        thread.join()


def test_a_thread_that_python_does_not_know_of_counts_as_well() -> None:
    need_landlock()
    script = "import ctypes, time, sys; sys.path.insert(0, sys.argv[1])\n"
    script += "from vault.sandbox import self_sandbox\nimport _thread\n"
    script += "_thread.start_new_thread(time.sleep, (60,))\nassert 'threading' not in sys.modules\n"
    script += "try: self_sandbox.restrict_worker(None)\nexcept Exception as error: print(error, flush=True)\n"
    script += "import os; os._exit(0)"
    command = [sys.executable, "-I", "-S", "-c", script, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert "already has threads" in done.stdout, done.stderr


def test_where_nothing_can_shut_it_in_the_worker_reads_all_the_same(world: Path) -> None:
    """An old kernel, macOS: what holds then are the limits; `retain doctor` says so."""
    script = """
import sys
sys.path.insert(0, sys.argv.pop())
from vault.sandbox import landlock, kernel
landlock.abi = lambda: 0
kernel.machine = lambda: ""
from vault.sandbox import child_main, self_sandbox
from compiler.workers import process
restrict = self_sandbox.restrict_worker
def told(raw, **rest):
    print(restrict(raw, **rest), file=sys.stderr, flush=True)
child_main.restrict_worker = told
process.main()
"""
    note = world / "vault/raw/note.md"
    message = {"op": "source", "path": str(note), "sha256": hashlib.sha256(note.read_bytes()).hexdigest()}
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, "", str(note.parent), str(ROOT)],
        input=json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert json.loads(done.stdout)["source"]["title"] == "Sleep"
    assert "Restriction(landlock=0, filtered=False)" in done.stderr


def test_a_process_that_works_too_long_ends_whoever_still_waits_for_it() -> None:
    script = "import sys; sys.path.insert(0, sys.argv[1])\nfrom vault.sandbox import self_sandbox\n"
    script += "self_sandbox.limit_worker(); self_sandbox.limit_time(1)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-I", "-c", script, str(ROOT)], check=False, timeout=300)
    assert done.returncode == -signal.SIGXCPU


def test_the_time_for_one_request_is_not_counted_against_the_next() -> None:
    script = "import sys, time; sys.path.insert(0, sys.argv[1])\nfrom vault.sandbox import self_sandbox\n"
    script += "for _ in range(3):\n    self_sandbox.limit_time(1); end = time.process_time() + 0.7\n"
    script += "    while time.process_time() < end: pass"
    done = subprocess.run([sys.executable, "-I", "-c", script, str(ROOT)], check=False, timeout=300)
    assert done.returncode == 0


def test_a_checkout_that_holds_a_vault_is_not_opened_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, plain, around = tmp_path / "checkout", tmp_path / "plain", tmp_path / "around"
    for folder in (checkout / "vault", plain, around / "my-vault/raw"):
        folder.mkdir(parents=True)
    (checkout / "pyproject.toml").touch()
    monkeypatch.setattr(
        sys, "path", ["", str(checkout), str(plain), str(around), f"{sys.prefix}/lib/python3/site-packages"]
    )
    found = set(self_sandbox._libraries(around / "my-vault/raw"))
    assert {checkout / "vault", plain, Path(sys.prefix, "lib/python3/site-packages")} <= found
    assert not {checkout, around, tmp_path, Path(), Path("/")} & found


def test_the_home_folder_is_never_opened_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    (home,) = self_sandbox._home()
    monkeypatch.setattr(sys, "path", [str(home), str(home.parent)])
    assert not {home, *home.parents} & set(self_sandbox._libraries(None))


def test_what_documents_need_is_compiled_once_before_the_jail_closes(
    world: Path, tmp_path: Path, torture: Callable[[int, int], int]
) -> None:
    """An installer that compiles nothing would else make every worker read every library anew."""
    note = world / "vault/raw/note.md"
    message = {"op": "source", "path": str(note), "sha256": hashlib.sha256(note.read_bytes()).hexdigest()}
    count = torture(len(bytecode._LIBRARIES), 1)  # all of them cost some seconds of a processor
    script = "from compiler.workers import bytecode, process; import sys\n"
    script += f"bytecode._LIBRARIES[{count}:] = []; bytecode._FOLDERS = bytecode._FOLDERS[:1]\nprocess.main()"
    options = ["-I", "-X", f"pycache_prefix={tmp_path}", "-c", script, "", str(note.parent)]
    done = subprocess.run(
        [sys.executable, *options],
        input=json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd="/",
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # as `vault/sandbox/child.py` starts it
    )
    assert "source" in json.loads(done.stdout), done.stderr
    kept = {path.name.split(".")[0] for path in tmp_path.rglob("*.pyc")}
    readers = {path.stem for path in (ROOT / "compiler/readers").glob("*.py")}
    assert readers <= kept, "our own"
    assert bytecode._LIBRARIES[0] == "trafilatura" and "readability_lxml" in kept, "and the libraries'"


def test_libraries_that_start_threads_of_their_own_do_not_keep_a_child_from_its_sandbox(world: Path) -> None:
    """numpy starts one a processor where nobody forbids it, and what has threads already cannot be restricted."""
    note = world / "vault/raw/note.md"
    script = "import numpy; from compiler.workers import process; process.main()"
    with Child(["-c", script, "", str(note.parent)]) as child:
        reply = child.ask({"op": "source", "path": str(note), "sha256": hashlib.sha256(note.read_bytes()).hexdigest()})
    assert "source" in reply


def test_what_speaks_to_a_model_reaches_the_network_and_no_file_of_the_humans(world: Path) -> None:
    need_landlock()
    need_filter()
    for path in world.rglob("new-*"):  # what the acts of another test made
        path.unlink()
    given = {name: f"{world}/vault/{name}" for name in ("raw", "insights")}
    given |= {"work": f"{world}/vault/.retain/work", "raw note": f"{world}/vault/raw/note.md"}
    given |= {"insight": f"{world}/vault/insights/note.md", "personal note": f"{world}/personal/note.md"}
    refused = ["write raw", "write insights", "write work", "read raw", "read personal", "list insights", "fork"]
    results = acted(world / "speaker", {"speaker": True}, [*refused, "inet"], **given)
    assert {name: results[name][0] for name in [*refused, "inet"]} == dict.fromkeys([*refused, "inet"], "")
    assert {results[name][1] for name in refused} <= {"EACCES", "EPERM"}
    assert results["inet"][1] == ""


def test_a_program_that_a_worker_may_start_is_limited_as_it_is(tmp_path: Path) -> None:
    need_landlock()
    (tmp_path / "secret").write_text("hidden")
    script = "import subprocess, sys; sys.path.insert(0, sys.argv[1])\n"
    script += "from vault.sandbox.self_sandbox import restrict_worker\nrestrict_worker(None, programs=True)\n"
    script += "for line in ('echo started', f'cat {sys.argv[2]}/secret', f'echo x > {sys.argv[2]}/new'):\n"
    script += "    subprocess.run(['/bin/sh', '-c', line], check=False)\n"
    command = [sys.executable, "-I", "-S", "-c", script, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout == "started\n", done.stderr
    assert not (tmp_path / "new").exists()
