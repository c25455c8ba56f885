"""The filter of system calls: its program step by step, what the kernel makes of it, and what still works behind it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.sandbox.shut_in import Results, acted, need_filter
from vault.errors import Refused
from vault.sandbox import kernel, seccomp

ALLOW, KILL = "allow", "kill"
X86, ARM = "x86_64", "aarch64"
ARCHITECTURES = {X86: 0xC000003E, ARM: 0xC00000B7}
I386, ARM32 = 0x40000003, 0x40000028

# --- the program itself ---------------------------------------------------------------------------------------------


def verdict(steps: list[tuple[int, int, int, int]], number: int, *arguments: int, arch: int) -> str:
    """What the kernel would do: run as it runs such a program (struct seccomp_data in, an answer out)."""
    words = [number, arch, 0, 0]
    for argument in [*arguments, 0, 0, 0, 0, 0, 0][:6]:
        words += [argument & 0xFFFFFFFF, argument >> 32]
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, k = steps[at]
        at += 1
        if code == 0x20:
            accumulator = words[k // 4]
        elif code == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(k) or errno.errorcode[k & 0xFFFF]
        else:
            true = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += if_true if true else if_false


@pytest.fixture(params=[X86, ARM])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(kernel, "machine", lambda: request.param)
    return str(request.param)


def asked(machine: str, name: str, *arguments: int, **options: object) -> str:
    steps = seccomp._program(
        sockets=bool(options.pop("sockets", True)),
        metadata=bool(options.pop("metadata", True)),
        processes=bool(options.pop("processes", True)),
        queues=bool(options.pop("queues", True)),
    )
    return verdict(steps, seccomp._numbers()[name], *arguments, arch=ARCHITECTURES[machine])


@pytest.mark.parametrize(
    "name",
    """mount umount2 pivot_root chroot move_mount fsopen fsconfig fsmount fspick open_tree mount_setattr setns
    open_by_handle_at name_to_handle_at ptrace process_vm_readv process_vm_writev pidfd_getfd bpf userfaultfd
    perf_event_open io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key init_module
    finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl settimeofday
    process_madvise process_mrelease kcmp""".split(),
)
def test_a_call_that_leads_out_is_refused(machine: str, name: str) -> None:
    assert asked(machine, name) == "EPERM"


@pytest.mark.parametrize("name", seccomp._QUEUES)
def test_queues_and_shared_memory_are_refused_where_they_are_everybodys(machine: str, name: str) -> None:
    assert asked(machine, name) == ALLOW
    assert asked(machine, name, queues=False) == "EPERM"


def test_every_call_that_is_refused_by_name_is_known_on_both_machines_or_is_of_one_alone(machine: str) -> None:
    names = {*seccomp._REFUSED, *seccomp._METADATA, *seccomp._PROCESSES, *seccomp._QUEUES, *seccomp._OF_ONESELF}
    missing = names - set(seccomp._numbers())
    old = "create_module fork vfork iopl ioperm chmod chown lchown utime utimes futimesat".split()
    assert missing == (set() if machine == X86 else set(old))


@pytest.mark.skipif(not Path("/usr/include/asm-generic/unistd.h").is_file(), reason="the kernel's headers are not here")
def test_the_numbers_are_those_of_the_kernels_own_headers(machine: str) -> None:
    import re

    header = {X86: "x86_64-linux-gnu/asm/unistd_64.h", ARM: "asm-generic/unistd.h"}[machine]
    path = Path("/usr/include") / header
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    listed = {m[1]: int(m[2]) for m in re.finditer(r"#define __NR(?:3264)?_(\w+) (\d+)", path.read_text())}
    both = {name: (number, listed[name]) for name, number in seccomp._numbers().items() if name in listed}
    assert len(both) > 70
    assert {name: pair for name, pair in both.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("command", [0x5412, 0x541C, 0x541D, 0x40086602, 0x401C5820])
@pytest.mark.parametrize("high", [0, 1 << 32, 0xDEADBEEF << 32])
def test_a_command_to_a_terminal_or_file_is_refused_whatever_is_in_the_bits_that_the_kernel_drops(
    machine: str, command: int, high: int
) -> None:
    assert asked(machine, "ioctl", 3, command | high) == "EPERM"


@pytest.mark.parametrize("command", [0x5401, 0x5413, 0x540E, 0x5411, 0x541B, 0x80086601])
def test_other_commands_pass(machine: str, command: int) -> None:
    assert asked(machine, "ioctl", 0x5412, command, 0x5412) == ALLOW


@pytest.mark.parametrize("bit", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_no_namespace_is_made(machine: str, bit: int) -> None:
    assert asked(machine, "unshare", bit) == "EPERM"
    assert asked(machine, "unshare", bit | 0x400) == "EPERM"
    assert asked(machine, "clone", bit | 17) == "EPERM"
    assert asked(machine, "clone", (1 << 40) | bit | 17) == "EPERM"


def test_processes_and_threads_start_as_ever_and_clone3_looks_like_an_old_kernel(machine: str) -> None:
    assert asked(machine, "clone", 0x01200011) == ALLOW  # fork
    assert asked(machine, "clone", 0x003D0F00) == ALLOW  # a thread
    assert asked(machine, "unshare", 0x400) == ALLOW and asked(machine, "unshare", 0x80) == "EPERM"
    assert asked(machine, "clone3") == "ENOSYS"


def test_only_usual_personalities_are_taken(machine: str) -> None:
    assert [asked(machine, "personality", p) for p in (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)] == [ALLOW] * 5
    assert [asked(machine, "personality", p) for p in (0x0400000, 0x0040000, 0x0100000, 4)] == ["EPERM"] * 4


def test_the_narrower_forms_refuse_more(machine: str) -> None:
    for family in (1, 2):
        assert asked(machine, "socket", family) == asked(machine, "socketpair", family) == ALLOW
        assert asked(machine, "socket", family, sockets=False) == "EACCES"
        assert asked(machine, "socketpair", family, sockets=False) == "EACCES"
    for name in ("fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "utimensat", "setxattr", "removexattr"):
        assert asked(machine, name) == ALLOW and asked(machine, name, metadata=False) == "EPERM"
    for name in ("execve", "execveat", "kill", "tkill", "pidfd_send_signal"):
        assert asked(machine, name) == ALLOW and asked(machine, name, processes=False) == "EPERM"
    assert asked(machine, "clone", 0x01200011, processes=False) == "EPERM"
    assert asked(machine, "clone", 0x003D0F00, processes=False) == ALLOW
    assert asked(machine, "tgkill", os.getpid(), processes=False) == ALLOW
    assert asked(machine, "tgkill", os.getpid() + 1, processes=False) == "EPERM"


# What can be set of another process too: by its number, or by that of its group or its user.
BY_PROCESS = "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages"


@pytest.mark.parametrize("name", BY_PROCESS.split())
def test_limits_order_and_place_are_set_of_oneself_alone(machine: str, name: str) -> None:
    assert asked(machine, name, 0, 1, 2) == ALLOW
    assert asked(machine, name, 1 << 32, 1, 2) == ALLOW, "the kernel drops what is above"
    for pid in (1, os.getpid(), os.getppid(), 0xFFFFFFFF, 1 << 31, 1 << 32 | 7):
        assert asked(machine, name, pid, 1, 2) == "EPERM"


def test_priorities_are_set_of_oneself_alone(machine: str) -> None:
    for name, (process, group, user) in {"setpriority": (0, 1, 2), "ioprio_set": (1, 2, 3)}.items():
        assert asked(machine, name, process, 0, 5) == ALLOW
        assert asked(machine, name, process | 1 << 32, 1 << 32, 5) == ALLOW, "the kernel drops what is above"
        for which, who in ((process, 7), (process, 0xFFFFFFFF), (group, 0), (group, 7), (user, 0), (user, 1000)):
            assert asked(machine, name, which, who, 0) == "EPERM"


def test_without_company_no_file_is_told_whom_to_signal(machine: str) -> None:
    for command in (8, 15, 8 | 1 << 32):  # F_SETOWN, F_SETOWN_EX
        assert asked(machine, "fcntl", 3, command, 7) == ALLOW
        assert asked(machine, "fcntl", 3, command, 7, processes=False) == "EPERM"
    for command in (1, 2, 3, 4, 6, 1030, 1033):  # descriptors, their flags, locks, pipes, seals
        assert asked(machine, "fcntl", 8, command, 15, processes=False) == ALLOW
    for command in (0x8901, 0x8902):  # FIOSETOWN, SIOCSPGRP: the same by another name
        assert asked(machine, "ioctl", 3, command) == ALLOW
        assert asked(machine, "ioctl", 3, command, processes=False) == "EPERM"


def test_calls_in_the_numbers_of_another_machine_do_not_slip_through(machine: str) -> None:
    steps = seccomp._program(sockets=True, metadata=True, processes=True, queues=True)
    other = I386 if machine == X86 else ARM32
    assert verdict(steps, 21, arch=other) == KILL
    assert verdict(steps, 21, arch=ARCHITECTURES[ARM if machine == X86 else X86]) == KILL
    if machine == X86:
        assert verdict(steps, 0x40000000 | 165, arch=ARCHITECTURES[X86]) == "ENOSYS"


def test_every_answer_is_reached_within_the_program(machine: str) -> None:
    steps = seccomp._program(sockets=False, metadata=False, processes=False, queues=False)
    assert len(steps) < 4096
    for number in range(500):
        verdict(steps, number, 0xFFFFFFFFFFFFFFFF, arch=ARCHITECTURES[machine])
    for at, (code, if_true, if_false, _) in enumerate(steps):
        assert code == 0x20 or code == 0x06 or at + 1 + max(if_true, if_false) < len(steps)
        assert max(if_true, if_false) < 256


@pytest.mark.parametrize("gone", ["mount", "ptrace", "io_uring_setup", "bpf"])
def test_a_filter_that_forgets_a_call_would_be_noticed(
    machine: str, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "_REFUSED", [name for name in seccomp._REFUSED if name != gone])
    assert asked(machine, gone) == ALLOW


@pytest.mark.parametrize("gone", BY_PROCESS.split())
def test_a_filter_that_forgets_what_is_set_of_others_would_be_noticed(
    machine: str, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "_OF_ONESELF", [name for name in seccomp._OF_ONESELF if name != gone])
    assert asked(machine, gone, 7) == ALLOW


@pytest.mark.parametrize("gone", ["setpriority", "ioprio_set"])
def test_a_filter_that_takes_another_kind_for_a_process_would_be_noticed(
    machine: str, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "_OF_ONESELF_BY_KIND", seccomp._OF_ONESELF_BY_KIND | {gone: 2})
    assert asked(machine, gone, 2, 0) == ALLOW


def test_where_calls_cannot_be_filtered_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "machine", lambda: "")
    assert not seccomp.available()
    with pytest.raises(Refused, match="no system call filter"):
        seccomp.restrict_syscalls()


# --- the kernel -----------------------------------------------------------------------------------------------------

REFUSED = ["type", "immutable", "mount", "umount", "chroot", "new user", "new mounts", "clone, new user", "setns"]
REFUSED += ["trace", "memory of others", "keys", "bpf", "ring", "handle", "personality"]
OF_OTHERS = ["limit others", "slow others", "place others", "schedule others", "schedule others anew", "starve others"]
OF_OTHERS += ["move others", "move pages of others"]
REFUSED += OF_OTHERS
LEFT = ["own files", "ask personality", "thread", "fork", "spawn", "inet", "unix", "socket pair", "chmod", "utime"]
LEFT += ["limit oneself", "slow oneself", "place oneself", "schedule oneself", "starve oneself"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    need_filter()
    base = tmp_path_factory.mktemp("filter")
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as outsider:
        acts = [*REFUSED, *LEFT, "clone3", "own signal", "raise"]
        return acted(base, {"filter": {}}, acts, outsider=outsider.pid)


@pytest.mark.parametrize("name", REFUSED)
def test_the_kernel_refuses_it(results: Results, name: str) -> None:
    assert results[name][1] == "EPERM"


def test_it_is_the_filter_that_refuses(results: Results) -> None:
    """Some of these are refused to ordinary users, and more to those in a container, so that they are no control."""
    let_before = {name for name in REFUSED if results[name][0] != "EPERM"}
    assert len(let_before) >= 3, results


def test_without_the_filter_others_can_be_slowed_and_limited(results: Results) -> None:
    assert {name for name in OF_OTHERS if results[name][0] == ""} >= {*OF_OTHERS[:6]}


@pytest.mark.parametrize("name", [*LEFT, "own signal", "raise"])
def test_what_programs_need_goes_on(results: Results, name: str) -> None:
    assert results[name] == ("", "")


def test_the_c_library_is_told_that_there_is_no_clone3(results: Results) -> None:
    assert results["clone3"][1] == "ENOSYS"


def test_without_company_no_program_or_process_starts_and_threads_do(tmp_path: Path) -> None:
    need_filter()
    acts = ["program", "spawn", "fork", "own signal", "raise", "thread", "chmod", "unix"]
    found = acted(tmp_path, {"filter": {"processes": False, "metadata": False, "sockets": False}}, acts)
    assert {name: before for name, (before, _) in found.items()} == dict.fromkeys(acts, "")
    assert [found[name][1] for name in acts] == ["EPERM"] * 4 + ["", "", "EPERM", "EACCES"]


@pytest.mark.skipif(sys.platform != "linux" or kernel.machine() != X86, reason="it is about the calls of 32-bit x86")
def test_the_calls_of_32_bit_programs_end_the_process() -> None:
    need_filter()
    code = [sys.executable, "-I", "-c", _OLD_CALL.format(path=str(Path(__file__).resolve().parents[2]))]
    free = subprocess.run([*code, "free"], check=False, timeout=600)
    if free.returncode < 0:
        pytest.skip("this kernel runs no 32-bit calls at all")
    assert free.returncode == 0
    assert subprocess.run([*code, "filtered"], check=False, timeout=600).returncode == -signal.SIGSYS


# mov eax, 20 (getpid); int 0x80; ret
_OLD_CALL = """
import ctypes, mmap, resource, sys
sys.path.insert(0, {path!r})
from vault.sandbox import seccomp
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))
if sys.argv[1] == "filtered":
    seccomp.restrict_syscalls()
pid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
import os
os._exit(0 if pid == os.getpid() else 3)
"""


# --- programs -------------------------------------------------------------------------------------------------------

_THEN_RUN = """
import os, sys
sys.path.insert(0, sys.argv[1])
from vault.sandbox import seccomp
seccomp.restrict_syscalls()
os.execvp(sys.argv[2], sys.argv[2:])
"""


def filtered(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command behind the filter."""
    root = str(Path(__file__).resolve().parents[2])
    words = [sys.executable, "-I", "-c", _THEN_RUN, root, *command]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(cwd), "LANG": "C.UTF-8"}
    return subprocess.run(
        words,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=environment,
    )


def test_programs_that_set_limits_and_order_of_what_they_start_work(tmp_path: Path) -> None:
    need_filter()
    script = """
    ulimit -n 64; ulimit -n
    run() { if command -v "$1" >/dev/null; then "$@"; else echo right; fi; }
    run nice -n 5 echo right; run ionice -c 3 echo right; run taskset 1 echo right; run chrt -b 0 echo right
    run prlimit --nofile=32 echo right
    """
    done = filtered("sh", "-c", script, cwd=tmp_path)
    assert done.stdout.split() == ["64", *["right"] * 5], done.stderr


def test_a_shell_with_pipes_jobs_and_traps_works(tmp_path: Path) -> None:
    need_filter()
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    script = """
    trap 'echo trapped' USR1; kill -USR1 $$
    sleep 600 & kill $!; wait $! 2>/dev/null
    seq 5 | tee >(wc -l > lines) | sort -r | head -1; mkdir -p a/b; cp -a a c; chmod 700 c; ln -s a d; touch -d @0 c
    f() { local x=$(echo inner); echo $x; }; f; cat <(echo subst); test -w /dev/null && echo done
    """
    done = filtered("bash", "-c", script, cwd=tmp_path)
    assert done.stdout.split() == ["trapped", "5", "inner", "subst", "done"], done.stderr


def test_python_with_threads_processes_and_sockets_works(tmp_path: Path) -> None:
    need_filter()
    script = """
import asyncio, socket, sqlite3, subprocess, sys, tempfile, concurrent.futures as f, multiprocessing as m
async def main():
    p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(6*7)', stdout=-1)
    return (await p.communicate())[0].decode().strip()
print(asyncio.run(main()))
with f.ThreadPoolExecutor(4) as pool: print(sum(pool.map(int, '123')))
with m.get_context('spawn').Pool(1) as pool: print(pool.apply(abs, (-5,)))
a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))
db = sqlite3.connect('x.db'); db.execute('create table t(x)'); db.commit()
with tempfile.TemporaryDirectory(dir='.') as d: print(subprocess.run(['true']).returncode)
"""
    (tmp_path / "it.py").write_text(f"if __name__ == '__main__':{script.replace(chr(10), chr(10) + '    ')}\n")
    done = filtered(sys.executable, "it.py", cwd=tmp_path)
    assert done.stdout.split() == ["42", "6", "5", "b'x'", "0"], done.stderr


def test_git_works(tmp_path: Path) -> None:
    need_filter()
    if shutil.which("git") is None:
        pytest.skip("no git here")
    script = """
    set -e
    git init -q repo; cd repo; git config user.email a@example.org; git config user.name A
    echo one > x; git add x; git commit -qm one; git checkout -qb other; echo two >> x; git commit -qam two
    git checkout -q -; git merge -q --no-edit other; git gc -q; git clone -q . ../copy
    git -C ../copy log --oneline | wc -l
    """
    done = filtered("sh", "-c", script, cwd=tmp_path)
    assert done.stdout.split() == ["2"], done.stderr


def test_node_works(tmp_path: Path) -> None:
    need_filter()
    if shutil.which("node") is None:
        pytest.skip("no node here")
    script = """
    const {execSync} = require('child_process'), {Worker} = require('worker_threads'), net = require('net');
    require('fs').writeFileSync('x', 'y'); console.log(execSync('echo child').toString().trim());
    new Worker("require('worker_threads').parentPort.postMessage('worker')", {eval: true}).on('message', m => {
      console.log(m);
      const s = net.createServer(c => c.end('socket')).listen(0, '127.0.0.1', () =>
        net.connect(s.address().port, '127.0.0.1').on('data', d => { console.log(d.toString()); s.close(); }));
    });
    """
    done = filtered("node", "-e", script, cwd=tmp_path)
    assert done.stdout.split() == ["child", "worker", "socket"], done.stderr


def test_pip_installs_a_wheel(tmp_path: Path) -> None:
    need_filter()
    wheel = tmp_path / "knots-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("knots.py", "HALYARD = 1\n")
        archive.writestr("knots-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: knots\nVersion: 1.0\n")
        archive.writestr("knots-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("knots-1.0.dist-info/RECORD", "")
    options = ["--no-index", "--no-deps", "--disable-pip-version-check", "--no-cache-dir", "--target", "there"]
    done = filtered(sys.executable, "-m", "pip", "install", *options, str(wheel), cwd=tmp_path)
    if "No module named pip" in done.stderr:
        pytest.skip("no pip in this environment")
    assert (tmp_path / "there/knots.py").is_file(), done.stderr
