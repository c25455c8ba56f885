"""The first process in a sandbox: drops its rights, starts the command, watches it, and ends what it leaves behind.

Run as `python -I -S -c BOOT ROOT CONTROL_FD STATUS_FD`. CONTROL_FD: 8-byte length, marshalled configuration, then one
byte per signal to forward; EOF means that the parent died. STATUS_FD: lines `<kind><message>`. It imports little, as
each start of an agent waits for it.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import sys
import time

from vault.sandbox import kernel, landlock, seccomp

TYPE_CHECKING = False  # as typing has it, which would be one more module to load
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Iterator
    from typing import Any, NoReturn
else:
    import _signal  # `signal` without its enums, which take longer to load than all of this

REFUSED, NOT_RUNNABLE, NOT_FOUND = 125, 126, 127
READY, FAILED, STOPPED, ENDED = b"R", b"F", b"S", b"E"
LENGTH = 8  # bytes of the length of the configuration
BOOT = "import sys; sys.path.append(sys.argv[1]); from vault.sandbox.init_process import main; main()"
# The terminal's signals, which belong to the command alone: its parent ignores them meanwhile.
KEYS = (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)
FORWARDED = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2, _signal.SIGCONT)
_IGNORED_BY_PYTHON = (_signal.SIGPIPE, _signal.SIGXFSZ)  # which Python ignores, and other programs do not
_PATIENCE_S = 10.0


def main() -> NoReturn:
    """Run the command; exit with its code, 128 + n if signal n ended it, or one of this module's codes."""
    control_fd, status_fd = int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(control_fd, False)
    os.set_inheritable(status_fd, False)
    try:
        config = marshal.loads(_read(control_fd, int.from_bytes(_read(control_fd, LENGTH), "big")))  # noqa: S302 (from retain itself)
        _drop_rights(config)
        child = os.fork()
        if child == 0:
            _run_command(config, status_fd)
    except BaseException as error:  # noqa: BLE001 (whatever it is: nothing was started)
        _report(status_fd, FAILED, str(error).encode("utf-8", "replace"))
        os._exit(REFUSED)
    code = _watch(child, control_fd, status_fd)
    if not _kill_descendants():
        _report(status_fd, FAILED, b"some processes of the command could not be ended")
    _report(status_fd, ENDED, str(code).encode())
    os._exit(code)


def _read(handle: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        block = os.read(handle, size - len(data))
        if not block:
            raise EOFError("the configuration is incomplete")
        data += block
    return data


def _report(status_fd: int, kind: bytes, words: bytes = b"") -> None:
    try:
        os.write(status_fd, kind + words.replace(b"\n", b" ")[:3000] + b"\n")
    except OSError:
        return  # the parent is gone; the end of CONTROL_FD is seen next


# --- restricting ---


def _drop_rights(config: dict[str, Any]) -> None:
    """Drop the rights of this process and its descendants."""
    if config["bubblewrap"]:
        kernel.make_mounts_private()
    kernel.no_core_dumps()
    kernel.hide_memory()
    kernel.adopt_orphans()
    kernel.drop_capabilities()
    kernel.no_new_privileges()


def _run_command(config: dict[str, Any], status_fd: int) -> NoReturn:
    """Restrict this process further and become the command. Never returns."""
    try:
        kernel.die_with_parent()
        _check_hidden(config["hidden"] if config["bubblewrap"] else [])
        os.chdir(config["cwd"])
        handles = [_open_verified(*each) for each in config["writable"]]
        handles += [_open_path(path) for path in config["own"]]
        if config["landlock"]:
            readable = config["readable"]
            landlock.restrict(handles, readable=None if readable is None else _existing(readable))
        if config["filter"]:
            seccomp.restrict_syscalls(queues=config["bubblewrap"])  # which gives it queues of its own
            seccomp.restrict_sockets(internet=config["internet"])
        for handle in handles:
            os.close(handle)
    except BaseException as error:  # noqa: BLE001 (whatever it is: the command is not started)
        _report(status_fd, FAILED, str(error).encode("utf-8", "replace"))
        os._exit(REFUSED)
    _report(status_fd, READY)
    _exec(config["command"], config["ignored"])


def _open_verified(path: bytes, device: int, inode: int) -> int:
    """Return a handle on a writable path. Raises OSError if it is not the file that was checked before."""
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(handle)
    if (status.st_dev, status.st_ino) != (device, inode):
        raise OSError(f"{os.fsdecode(path)} was replaced while the sandbox was set up; nothing was started")
    return handle


def _open_path(path: bytes) -> int:
    return os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)


def _existing(paths: list[bytes]) -> Iterator[int]:
    """Yield a handle on each path that exists, one at a time, as there may be thousands."""
    for path in paths:
        try:
            handle = _open_path(path)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            continue
        try:
            yield handle
        finally:
            os.close(handle)


def _check_hidden(folders: list[bytes]) -> None:
    for folder in folders:
        if os.listdir(folder):
            raise OSError(f"{os.fsdecode(folder)} could not be hidden; nothing was started")


def _exec(command: list[bytes], ignored: list[int]) -> NoReturn:
    for number in (*KEYS, *FORWARDED, *_IGNORED_BY_PYTHON):
        _signal.signal(number, _signal.SIG_IGN if number in ignored else _signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 (it is what this is for)
    except FileNotFoundError:
        code, words = NOT_FOUND, "command not found"
    except OSError as error:
        code, words = NOT_RUNNABLE, f"cannot be run: {error.strerror}"
    shown = ascii(os.fsdecode(command[0]))[1:-1]
    os.write(2, f"retain: {shown}: {words}\n".encode())
    os._exit(code)


# --- watching ---


def _watch(child: int, control_fd: int, status_fd: int) -> int:
    """Return the exit code of the command, forwarding signals until it ends; EOF of CONTROL_FD kills it."""
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control_fd, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while (code := _exit_code(child, status_fd)) is None:
        for handle, _ in poll.poll():
            if handle == woken:
                os.read(woken, 512)
            elif not _forward_signals(control_fd, child):
                poll.unregister(control_fd)
                os.kill(child, _signal.SIGKILL)
    return code


def _forward_signals(control_fd: int, child: int) -> bool:
    """Send the signals read from CONTROL_FD to the command; return False at its end."""
    numbers = os.read(control_fd, 64)
    for number in numbers:
        os.kill(child, number)
    return bool(numbers)


def _exit_code(child: int, status_fd: int) -> int | None:
    """Return the exit code of the command if it has ended, else None; reap other ended children."""
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return REFUSED  # cannot happen: the command is a child until its end was read
        if found == 0:
            return None
        if found == child and os.WIFSTOPPED(status):
            _report(status_fd, STOPPED, str(time.monotonic_ns()).encode())
        elif found == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _kill_descendants() -> bool:
    """Kill what the command left running, orphans included; return whether all of it is gone."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        for each in _descendants(os.getpid()):
            try:
                os.kill(each, _signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def _descendants(ancestor: int) -> list[int]:
    """Return the ids of the process's descendants, nearest first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(ancestor, ()))
    for each in found:
        found += children.get(each, ())
    return found
