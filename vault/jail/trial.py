"""The process that tries what a jail lets through, and says so: `python -I -m vault.jail.trial HOW TO FAIL SUCCEED`.

HOW is "jail" (it shuts itself in first), "cage" (it was started in one) or "open" (nothing is shut in: SUCCEED alone is
tried). FAIL and SUCCEED are files to be made. The answer, a line each "key words", goes to the file TO, as a command in
a cage has no pipe of ours, or to standard output if TO is empty. Every file but TO is taken away at once. It loads
little: whoever asks is waiting.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing
if TYPE_CHECKING:
    from collections.abc import Callable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD


def main() -> None:
    """Try, and tell."""
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
        code = error.errno or 0
        return f"{os.strerror(code)} ({errno.errorcode.get(code, code)})"
    os.unlink(path)
    return ""


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
