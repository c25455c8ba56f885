"""Which sockets a caged program may make. A socket with a name leads to any program that listens, whoever it runs as.

Landlock stops only the abstract ones, and a read-only mount stops none: so none are made. What remains is the internet,
where agents find their models, questions to the kernel about it, and connected pairs, by which programs talk to the
programs that they start. A pair of datagram sockets is refused, as each can be sent to any name.
"""

from __future__ import annotations

import errno
import struct

from vault.sandbox import kernel

_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED, _KIND = 1, 5, 0xF
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_NUMBER_AT, _FIRST_AT, _SECOND_AT = 0, 16, 24

_Step = tuple[int, int, int, int]  # code, steps to skip if true, if false, number


def shut(*, internet: bool) -> None:
    """From here on, this thread and its children make no sockets but those. Raises: OSError.

    Needs `seccomp.forbid_escapes` beside it, which refuses the calls of other numberings.
    """
    kernel.no_new_privileges()
    kernel.install_filter(b"".join(struct.pack("=HBBI", *step) for step in _program(internet)))


def _program(internet: bool) -> list[_Step]:
    numbers = kernel.numbers()
    families = (_NETLINK, *((_INTERNET, _INTERNET_6) if internet else ()))
    pair = [
        (_LOAD, 0, 0, _FIRST_AT),
        (_EQUAL, 0, 4, _UNIX),
        (_LOAD, 0, 0, _SECOND_AT),
        (_AND, 0, 0, _KIND),
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _SEQUENCED),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    single = [(_LOAD, 0, 0, _FIRST_AT)]
    single += [(_EQUAL, len(families) - n, 0, family) for n, family in enumerate(families)]
    single += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    steps: list[_Step] = [(_LOAD, 0, 0, _NUMBER_AT)]
    for name, body in (("socketpair", pair), ("socket", single)):
        steps += [(_EQUAL, 0, len(body), numbers[name]), *body]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]
