"""What a caged program must be able to do. Each leaves a file of its name, which the judge reads from outside."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.sandbox.attacks.programs import run
from tests.sandbox.attacks.registry import Place, attack


def _leave(place: Place, name: str, data: bytes = b"done") -> None:
    Path(place.work, f"control-{name}").write_bytes(data)


@attack(control=True)
def control_write(place: Place) -> None:
    """Write a page where an agent may write"""
    _leave(place, "write")


@attack(control=True)
def control_replace(place: Place) -> None:
    """Replace a page by a temporary file and a rename, flushed to the disk"""
    target = Path(place.work, "control-replace")
    target.write_bytes(b"old")
    handle = os.open(f"{target}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(handle, b"done")
    os.fsync(handle)
    os.close(handle)
    os.replace(f"{target}.new", target)


@attack(control=True)
def control_delete(place: Place) -> None:
    """Make folders and files, truncate, rename and delete them"""
    folder = Path(place.work, "made/within")
    folder.mkdir(parents=True)
    (folder / "page.md").write_bytes(b"text")
    os.truncate(folder / "page.md", 2)
    os.rename(folder / "page.md", Path(place.work, "made/page.md"))
    os.unlink(Path(place.work, "made/page.md"))
    folder.rmdir()
    os.rmdir(Path(place.work, "made"))
    _leave(place, "delete")


@attack(control=True)
def control_read(place: Place) -> None:
    """Read an insight"""
    _leave(place, "read", Path(place.note).read_bytes())


@attack(control=True)
def control_programs(place: Place) -> None:
    """Run a shell, which writes where an agent may"""
    run("sh", "-c", f"printf done > '{place.work}/control-programs'")


@attack(control=True)
def control_python(place: Place) -> None:
    """Run Python in a child, with pipes and threads"""
    code = "import threading; t = threading.Thread(target=print, args=('done',)); t.start(); t.join()"
    found = subprocess.run([place.python, "-I", "-c", code], capture_output=True, check=True, timeout=600)
    worker = threading.Thread(target=_leave, args=(place, "python", found.stdout.strip()))
    worker.start()
    worker.join()


@attack(control=True, needs="git")
def control_git(place: Place) -> None:
    """Ask git what changed in the vault"""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
    found = run("git", "-C", place.vault, "log", "--format=%s", "-1", env=env)
    _leave(place, "git", found.strip())


@attack(control=True, needs="node")
def control_node(place: Place) -> None:
    """Run node, with a timer and a child process"""
    script = (
        "const c=require('child_process').spawn(process.execPath,['-e','process.stdout.write(\"done\")']);"
        f"c.stdout.on('data',d=>require('fs').writeFileSync({place.work + '/control-node'!r},d));"
        "c.on('exit',n=>setTimeout(()=>process.exit(n),1))"
    )
    run("node", "-e", script)


@attack(control=True, levels="full full-offline bubblewrap landlock")  # without a cage, it fills a cache
def control_retain(place: Place) -> None:
    """Ask retain how the vault stands, which agents may"""
    code = "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()"
    run(place.deputy["interpreter"], "-I", "-c", code, "--vault", place.vault, "status", "--json", cwd=place.work)
    _leave(place, "retain")


@attack(control=True)
def control_socketpair(place: Place) -> None:
    """Talk to a child over a pair of sockets"""
    mine, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        theirs.sendall(b"done")
        os._exit(0)
    os.waitpid(child, 0)
    _leave(place, "socketpair", mine.recv(16))


@attack(control=True)
def control_temp(place: Place) -> None:
    """Write in the temporary folder"""
    folder = Path(os.environ.get("TMPDIR", "/tmp"))
    file = folder / f"retain-control-{os.getpid()}"
    file.write_bytes(b"done")
    _leave(place, "temp", file.read_bytes())
    file.unlink()


@attack(control=True)
def control_null(place: Place) -> None:
    """Write to /dev/null, read from /dev/urandom"""
    Path("/dev/null").write_bytes(b"gone")
    with open("/dev/urandom", "rb") as file:
        assert len(file.read(8)) == 8
    _leave(place, "null")


@attack(control=True, levels="none full bubblewrap landlock")
def control_network(place: Place) -> None:
    """Reach a program on the network and read its answer"""
    with socket.create_connection(("127.0.0.1", place.deputy["tcp"]), timeout=20) as line:
        line.sendall(b"hello\n")
        _leave(place, "network", line.recv(64))


@attack(control=True)
def control_metadata(place: Place) -> None:
    """Set mode and time of a file of one's own"""
    path = Path(place.work, "control-metadata")
    path.write_bytes(b"done")
    path.chmod(0o600)
    os.utime(path, (5, 5))
    assert path.stat().st_mtime == 5 and sys.platform


@attack(control=True)
def control_exit(place: Place) -> None:
    """Signal a child of one's own and see it end"""
    child = subprocess.Popen([place.python, "-I", "-c", "import signal; signal.pause()"])
    child.terminate()
    assert child.wait(timeout=600) == -15
    _leave(place, "exit")


@attack(control=True)
def control_limits(place: Place) -> None:
    """Lower one's own limits and priority, and start a program so"""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    assert os.nice(1) > 0
    assert run("sh", "-c", "ulimit -n 32; ulimit -n").strip() == b"32"
    _leave(place, "limits")


@attack(control=True, levels="worker")
def control_worker_limits(place: Place) -> None:
    """A worker lowers its own limits"""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (1 << 20, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    place.loot(b"done")


@attack(control=True, levels="worker")
def control_worker_reads(place: Place) -> None:
    """A worker reads a source"""
    assert Path(place.vault, "raw/articles/source.md").read_bytes().startswith(b"# A source")
    place.loot(b"done")


@attack(control=True, levels="worker")
def control_worker_loads(place: Place) -> None:
    """A worker loads a library that was not loaded before, written in C"""
    import sqlite3
    import xml.etree.ElementTree as Tree

    assert Tree.fromstring("<a>done</a>").text == "done"
    place.loot(sqlite3.connect(":memory:").execute("select 'done'").fetchone()[0].encode())


@attack(control=True, levels="worker")
def control_worker_threads(place: Place) -> None:
    """A worker starts a thread and takes memory"""
    worker = threading.Thread(target=place.loot, args=(bytes(1 << 20)[:0] + b"done",))
    worker.start()
    worker.join()
