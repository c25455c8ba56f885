"""The first process in a cage: gives up every right, starts the command, watches it, and leaves nobody behind.

It is started as `python -I -S -c BOOT ROOT ORDERS NEWS`, with two pipes: on ORDERS come the length and the bytes of the
orders, then one byte for each signal to pass on, and its end means that whoever gave the orders is dead; on NEWS go
lines of a letter and words. Each start of an agent waits for this file to load, so that it imports little.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import sys
import time

from vault.sandbox import kernel, landlock, rights, seccomp, seccomp_rules

TYPE_CHECKING = False  # as typing has it, which would be one more module to load
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Iterator
    from typing import Any, NoReturn
else:
    import _signal  # `signal` without its enums, which take longer to load than all of this

REFUSED, NOT_RUNNABLE, NOT_FOUND = 125, 126, 127
READY, FAILED, STOPPED, ENDED = b"R", b"F", b"S", b"E"
LENGTH = 8  # bytes of the number that says how long the orders are
BOOT = "import sys; sys.path.append(sys.argv[1]); from vault.sandbox.init_process import main; main()"
# What belongs to the command alone, so that whoever starts it ignores it meanwhile: keys of the terminal, its end.
KEYS = (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)
PASSED_ON = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2, _signal.SIGCONT)
_PYTHONS = (_signal.SIGPIPE, _signal.SIGXFSZ)  # which Python ignores, and no other program expects to
_PATIENCE_S = 10.0


def main() -> NoReturn:
    """Follow the orders; the exit code is the command's, 128 + n if signal n ended it, or one of this module's."""
    orders, news = int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(orders, False)
    os.set_inheritable(news, False)
    try:
        given = marshal.loads(_read(orders, int.from_bytes(_read(orders, LENGTH), "big")))  # noqa: S302 (from retain)
        _settle_in(given)
        child = os.fork()
        if child == 0:
            _become(given, news)
    except BaseException as error:  # noqa: BLE001 (whatever it is: nothing was started)
        _tell(news, FAILED, str(error).encode("utf-8", "replace"))
        os._exit(REFUSED)
    code = _watch(child, orders, news)
    if not _end_the_rest():
        _tell(news, FAILED, b"some processes of the command could not be ended")
    _tell(news, ENDED, str(code).encode())
    os._exit(code)


def _read(handle: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        block = os.read(handle, size - len(data))
        if not block:
            raise EOFError("the orders broke off")
        data += block
    return data


def _tell(news: int, kind: bytes, words: bytes = b"") -> None:
    try:
        os.write(news, kind + words.replace(b"\n", b" ")[:3000] + b"\n")
    except OSError:
        return  # nobody listens any more; the end of the orders will be seen next


# --- giving up ------------------------------------------------------------------------------------------------------


def _settle_in(given: dict[str, Any]) -> None:
    """What holds for this process and for all that come from it."""
    if given["bubblewrap"]:
        rights.make_mounts_private()
    rights.no_core_dumps()
    rights.hide_memory()
    rights.adopt_orphans()
    rights.drop_all()
    kernel.no_new_privileges()


def _become(given: dict[str, Any], news: int) -> NoReturn:
    """The command itself, shut in. Never returns."""
    try:
        rights.die_with_parent()
        _check_hidden(given["hidden"] if given["bubblewrap"] else [])
        os.chdir(given["cwd"])
        handles = [_open(*each) for each in given["writable"]]
        handles += [_reading(path) for path in given["own"]]
        if given["landlock"]:
            readable = given["readable"]
            landlock.restrict(handles, readable=None if readable is None else _still_there(readable))
        if given["filter"]:
            seccomp.forbid_escapes(queues=given["bubblewrap"])  # which gives it queues of its own
            seccomp_rules.shut(internet=given["internet"])
        for handle in handles:
            os.close(handle)
    except BaseException as error:  # noqa: BLE001 (whatever it is: the command is not started)
        _tell(news, FAILED, str(error).encode("utf-8", "replace"))
        os._exit(REFUSED)
    _tell(news, READY)
    _start(given["command"], given["ignored"])


def _open(path: bytes, device: int, inode: int) -> int:
    """A handle on what may be written, proved to be what was checked before."""
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(handle)
    if (status.st_dev, status.st_ino) != (device, inode):
        raise OSError(f"{os.fsdecode(path)} was exchanged while the cage was made; nothing was started")
    return handle


def _reading(path: bytes) -> int:
    return os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)


def _still_there(paths: list[bytes]) -> Iterator[int]:
    """Handles on what of them is there, as files come and go; one after the other, as there may be thousands."""
    for path in paths:
        try:
            handle = _reading(path)
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


def _start(command: list[bytes], ignored: list[int]) -> NoReturn:
    for number in (*KEYS, *PASSED_ON, *_PYTHONS):
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


# --- watching -------------------------------------------------------------------------------------------------------


def _watch(child: int, orders: int, news: int) -> int:
    """The exit code of the command, passing on signals until it has ended; the end of the orders ends it."""
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while (code := _reaped(child, news)) is None:
        for handle, _ in poll.poll():
            if handle == woken:
                os.read(woken, 512)
            elif not _passed_on(orders, child):
                poll.unregister(orders)
                os.kill(child, _signal.SIGKILL)
    return code


def _passed_on(orders: int, child: int) -> bool:
    """Sends the signals that were ordered to the command; False at the end of the orders."""
    numbers = os.read(orders, 64)
    for number in numbers:
        os.kill(child, number)
    return bool(numbers)


def _reaped(child: int, news: int) -> int | None:
    """The exit code of the command if it has ended; whoever else has is taken off the list of processes."""
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return REFUSED  # can't be: the command is our child until we have heard how it ended
        if found == 0:
            return None
        if found == child and os.WIFSTOPPED(status):
            _tell(news, STOPPED, str(time.monotonic_ns()).encode())
        elif found == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _end_the_rest() -> bool:
    """Ends whatever the command left running; whether it is gone. All of it is ours: orphans were adopted."""
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
    """The processes that come from this one, nearest first."""
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
