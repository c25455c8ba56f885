"""The process that tries what a jail lets through, and says so: `python -I -m vault.jail.trial HOW TO FAIL SUCCEED`.

HOW is "jail" (it shuts itself in first), "cage" (it was started in one) or "open" (nothing is shut in: SUCCEED alone is
tried). FAIL and SUCCEED are files to be made. The answer, a line each "key words", goes to the file TO, as a command in
a cage has no pipe of ours, or to standard output if TO is empty. Every file but TO is taken away at once. It loads
little: whoever asks is waiting.

`python -I -m vault.jail.trial reader RAW FOLDER...` shuts itself in by the very call of the process that reads
documents, with RAW ("" for none) to read. It tries what that process must not be able to do, to the FOLDERs among
other things, and says so in JSON on standard output, its pipe: each `act`, `where`, whether it `must` fail or succeed,
whether it was `free` to do it before, and the `error`, "" if it could do it.

`python -I -m vault.jail.trial speaker FOLDER...` does the same by the call of the process that speaks to a model, which
must not reach the FOLDERs nor start a process, and must be able to make a socket.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing
if TYPE_CHECKING:
    from collections.abc import Callable

    _Act = tuple[str, str, Callable[[], str]]  # what, where, and what the system said to it, "" if it let it happen

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD
_UNIX, _INTERNET, _STREAM = 1, 2, 1


def main() -> None:
    """Try, and tell."""
    if sys.argv[1] == "reader":
        _as_the_reader(sys.argv[2], sys.argv[3:])
        return
    if sys.argv[1] == "speaker":
        _as_the_speaker(sys.argv[2:])
        return
    how, to, must_fail, must_succeed = sys.argv[1:5]
    answer = {}
    if how != "open":
        answer["free"] = "yes" if how == "cage" or os.access(os.path.dirname(must_fail), os.W_OK) else ""
    if how == "jail":
        _shut_in(os.path.dirname(must_succeed))
    if how != "open":
        answer["must_fail"] = _attempt(must_fail)
    answer["must_succeed"] = _attempt(must_succeed)
    if not answer["must_succeed"]:
        answer |= _traits(must_succeed)
    handle = os.open(to, _NEW, 0o600) if to else 1
    os.write(handle, "".join(f"{key} {words}\n" for key, words in answer.items()).encode())


def _shut_in(writable: str) -> None:
    from vault.jail import landlock, seccomp

    handle = os.open(writable, os.O_RDONLY | os.O_NOFOLLOW)
    landlock.restrict([handle])
    if seccomp.available():
        seccomp.forbid_escapes()


def _attempt(path: str) -> str:
    """Makes the file and takes it away again; what the system said if it would not, "" if it would."""
    try:
        os.close(os.open(path, _NEW, 0o600))
    except OSError as error:
        return _said(error)
    os.unlink(path)
    return ""


def _said(error: OSError) -> str:
    code = error.errno or 0
    return f"{os.strerror(code)} ({errno.errorcode.get(code, code)})"


# --- as the process that reads documents ----------------------------------------------------------------------------


def _as_the_reader(raw: str, folders: list[str]) -> None:
    from pathlib import Path

    from vault.jail import self_jail

    reading: list[_Act] = [("list", raw, lambda: _failed(lambda: os.listdir(raw)))] if os.path.isdir(raw) else []

    def shut_in() -> bool:
        self_jail.limit_worker()
        return self_jail.restrict_worker(Path(raw) if raw else None).filtered

    _shut_in_and_tell(folders, [_INTERNET_SOCKET, _LOCAL_SOCKET, _PROCESS], reading, shut_in)


def _as_the_speaker(folders: list[str]) -> None:
    from vault.jail import self_jail

    def shut_in() -> bool:
        self_jail.limit_worker(self_jail.SPEAKER_BYTES)
        return self_jail.restrict_speaker().filtered

    _shut_in_and_tell(folders, [_PROCESS], [_INTERNET_SOCKET], shut_in)


def _shut_in_and_tell(folders: list[str], calls: list[_Act], allowed: list[_Act], shut_in: Callable[[], bool]) -> None:
    """Try what the FOLDERs and `calls` are, which must fail, and what is `allowed`; `shut_in` tells if calls are."""
    import json

    files = [act for folder in folders for act in _in_folder(folder)]
    # Nothing is written among the human's files while nothing holds it back: whether it could be is asked.
    free = [os.access(where, os.W_OK | os.X_OK) if act == "write" else not tried() for act, where, tried in files]
    free += [not tried() for _, _, tried in (*calls, *allowed)]
    filtered = shut_in()
    found = []
    for each, was_free in zip((*files, *calls, *allowed), free, strict=True):
        if each in calls and not filtered:
            continue  # which is not promised there
        act, where, tried = each
        must = "succeed" if each in allowed else "fail"
        found.append({"act": act, "where": where, "must": must, "free": was_free, "error": tried()})
    os.write(1, json.dumps(found).encode())


def _in_folder(folder: str) -> list[_Act]:
    from vault.safe_path import TEMP_PREFIX

    new = f"{folder}/{TEMP_PREFIX}{os.urandom(8).hex()}"
    acts: list[_Act] = [
        ("write", folder, lambda: _attempt(new)),
        ("list", folder, lambda: _failed(lambda: os.listdir(folder))),
    ]
    with os.scandir(folder) as entries:
        file = next((entry.path for entry in entries if entry.is_file(follow_symlinks=False)), None)
    return acts if file is None else [*acts, ("read", file, lambda: _failed(lambda: _read(file)))]


def _socket(family: int) -> None:
    from vault.jail import kernel

    os.close(kernel.syscall(kernel.numbers()["socket"], family, _STREAM, 0))


def _failed(act: Callable[[], object]) -> str:
    """What the system said; "" if it let it happen."""
    try:
        act()
    except OSError as error:
        return _said(error)
    return ""


def _read(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        os.read(handle, 1)
    finally:
        os.close(handle)


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


_INTERNET_SOCKET: _Act = ("socket", "", lambda: _failed(lambda: _socket(_INTERNET)))
_LOCAL_SOCKET: _Act = ("local socket", "", lambda: _failed(lambda: _socket(_UNIX)))
_PROCESS: _Act = ("process", "", lambda: _failed(_fork))


# --- the disk -------------------------------------------------------------------------------------------------------


def _traits(path: str) -> dict[str, str]:
    """What the disk of that file can do."""
    one, other, third = (f"{path}{n}" for n in range(3))
    found = {}
    try:
        for each in (one, other):
            os.close(os.open(each, _NEW, 0o600))
        folder, name = os.path.split(one)
        found["case_sensitive"] = "" if os.path.lexists(f"{folder}/{name.upper()}") else "yes"
        found["links"] = _worked(lambda: os.link(one, third))
        exchange = _exchange_call()
        if exchange is not None:
            found["exchange"] = _worked(lambda: exchange(one, other))
    except OSError:
        pass  # what could be tried is told
    finally:
        for each in (one, other, third):
            if os.path.lexists(each):
                os.unlink(each)
    return found


def _worked(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError:
        return ""
    return "yes"


def _exchange_call() -> Callable[[str, str], int] | None:
    from vault.jail import kernel

    number = kernel.numbers().get("renameat2")
    if number is None:
        return None
    return lambda a, b: kernel.syscall(number, _HERE, os.fsencode(a), _HERE, os.fsencode(b), _EXCHANGE)


if __name__ == "__main__":
    main()
