"""The cage on macOS: a profile for sandbox-exec, as a pure function of what may be written and what is hidden.

Of two rules that fit, the later one counts. A path is known to the kernel without its links, so that what lies in /tmp
and /var is named by /private/tmp and /private/var as well. Written from what is documented: not run by our tests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from vault.jail.mounts import within
from vault.jail.shut import NOTHING, Shut
from vault.safe_path import refusal

PROGRAM = "/usr/bin/sandbox-exec"
_LINKED = ("/tmp", "/var", "/etc")  # noqa: S108 (links into /private, on every Mac)
_DEVICES = ("null", "zero", "tty", "dtracehelper", "stdout", "stderr")
_REGEX_OF = {"*": "[^/]*", **dict.fromkeys('"\\^$.|?+()[]{}', ".")}  # a dot stands for what acts there
_QUOTED = re.compile(r'(["\\])')


def profile(writable: Iterable[str], hidden: Iterable[str], *, network: bool, shut: Shut = NOTHING) -> str:
    """The text for `sandbox-exec -p`: everything readable but `hidden`, nothing writable but `writable` less `shut`.

    Raises: Refused for a path that a profile can't hold.
    """
    writable = tuple(writable)
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(allow file-write* (subpath {_text(name)}))" for path in writable for name in _names(path)]
    lines += list(_closed(shut, writable))
    lines += [f'(allow file-write-data (literal "/dev/{name}"))' for name in _DEVICES]
    lines += ['(allow file-write* (regex #"^/dev/ttys[0-9]+$"))']
    # Other programs that would write for it: by the desktop's messages, by a socket with a name, by a signal.
    lines += ["(deny appleevent-send)", "(deny signal)", "(allow signal (target same-sandbox))"]
    lines += ["(deny network-outbound (remote unix-socket))"]
    lines += [] if network else ["(deny network*)"]
    for path in hidden:
        for name in _names(path):
            lines += [f"(deny file-read* file-write* (subpath {_text(name)}))"]
    return "\n".join(lines) + "\n"


def _closed(shut: Shut, writable: Iterable[str]) -> Iterator[str]:
    """Rules for what stays shut, there or not, and for what of it may be written by its own name."""
    closed = (*shut.places, *shut.fresh)
    for path in closed:
        yield from (f"(deny file-write* (subpath {_text(name)}))" for name in _names(path))
    for folder, pattern in shut.names:
        yield from (f'(deny file-write* (regex #"^{_regex(f"{name}/{pattern}")}(/|$)"))' for name in _names(folder))
    for path in shut.ways:  # they stay where they are
        yield from (f"(deny file-write-unlink (literal {_text(name)}))" for name in _names(path))
    for path in writable:
        if any(within(os.path.dirname(path), folder) for folder, _ in shut.names):
            yield from (f"(allow file-write* (subpath {_text(name)}))" for name in _names(path))


def _regex(glob: str) -> str:
    """A regular expression for a path in which `*` stands for anything but a slash, and case is nothing."""
    _text(glob)  # no control characters
    return "".join(
        _REGEX_OF.get(c) or (f"[{c.lower()}{c.upper()}]" if c.isascii() and c.isalpha() else c) for c in glob
    )


def _names(path: str) -> Iterator[str]:
    """The path as it is, and as the kernel knows it or people write it."""
    yield path
    for link in _LINKED:
        for name, other in ((link, f"/private{link}"), (f"/private{link}", link)):
            if path == name or path.startswith(f"{name}/"):
                yield other + path[len(name) :]


def _text(path: str) -> str:
    if any(ord(c) < 32 or ord(c) == 127 for c in path):
        raise refusal(path, "a path with control characters, which no profile can hold", hint="rename the folder")
    return '"' + _QUOTED.sub(r"\\\1", path) + '"'
