"""Seccomp filters: the kernel refuses the system calls and sockets that a program in a sandbox does not need.

Landlock guards paths; the filters refuse what leads around it: typing into the user's terminal, mounts and namespaces,
other processes' memory, limits and priorities, the kernel's keys, loaders and back doors. A refused call fails with
EPERM, so that programs go on; clone3, whose flags a filter can't see, fails with ENOSYS, so that the C library calls
clone instead.
"""

from __future__ import annotations

import errno
import os
import struct

from vault.errors import Refused
from vault.sandbox import kernel

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # the bit that marks calls of x86_64's other set of numbers
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

# Never, whatever the arguments.
_REFUSED = (
    # file systems laid over others, other roots, files reached past every folder
    "mount umount2 pivot_root chroot move_mount fsopen fsconfig fsmount fspick open_tree open_tree_attr mount_setattr "
    "open_by_handle_at name_to_handle_at setns quotactl quotactl_fd file_setattr nfsservctl lookup_dcookie "
    # other processes: their memory, their handles
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp "
    # the kernel: programs, modules and keys for it, calls that no filter sees
    "bpf userfaultfd perf_event_open io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key "
    "init_module finit_module create_module delete_module kexec_load kexec_file_load iopl ioperm syslog "
    # the machine
    "reboot swapon swapoff acct settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname vhangup"
).split()
# What Landlock doesn't see: mode, owner, times and attributes of files.
_METADATA = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat "
    "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat"
).split()
# What all programs of a user share without a path, so that Landlock does not guard it.
_QUEUES = ("msgget msgsnd msgrcv msgctl shmget shmat shmctl semget semop semtimedop semctl mq_open mq_unlink").split()
# What can be set for any process by its number, 0 for the caller.
_OF_ONESELF = (
    "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages"
).split()
# The same by process, group or user, and which number stands for "by process".
_OF_ONESELF_BY_KIND = {"setpriority": 0, "ioprio_set": 1}
# What reaches beyond this process: other programs, further processes, signals.
_PROCESSES = "execve execveat fork vfork kill tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal".split()

# Typing into the terminal (TIOCSTI, TIOCLINUX), taking over the console, and flags of files such as "immutable".
_TIOCSTI, _TIOCLINUX, _TIOCCONS, _SETFLAGS, _SETXATTR = 0x5412, 0x541C, 0x541D, 0x40086602, 0x401C5820
_COMMANDS = (_TIOCSTI, _TIOCLINUX, _TIOCCONS, _SETFLAGS, _SETXATTR)
# Which process the kernel signals when input arrives. Landlock guards it from ABI 6 on.
_F_SETOWN, _F_SETOWN_EX, _FIOSETOWN, _SIOCSPGRP = 8, 15, 0x8901, 0x8902
_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_NEW_TIME = 0x80  # unshare alone: in clone, the bit is a part of a signal's number
_THREAD = 0x00010000
# As containers do: what `uname` says and where memory lies may be asked for, old and executable layouts may not.
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

# Numbers that `kernel` does not have: on x86_64, on aarch64.
_NUMBERS = {
    "fcntl": (72, 25),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "prlimit64": (302, 261),
    "process_mrelease": (448, 448),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "setpriority": (141, 140),
}

_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED, _KIND = 1, 5, 0xF

_Step = tuple[int, int, int, int]  # code, steps to skip if true, if false, number
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


def available() -> bool:
    """Return whether this system can filter calls, and the numbers of its calls are known."""
    if not kernel.machine():
        return False
    try:
        kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, 0)
    except OSError as error:
        return error.errno == errno.EFAULT  # it got so far as to read the filter, of which there was none
    return False


def restrict_syscalls(
    *, sockets: bool = True, metadata: bool = True, processes: bool = True, queues: bool = True
) -> None:
    """Refuse this thread and its children the calls that lead out of a sandbox.

    Without `sockets`, none can be made. Without `metadata`, no mode, owner, time or attribute of a file can be changed.
    Without `processes`, no program or process can be started, and no other process be sent a signal; threads can.
    Without `queues`, there are no message queues, semaphores or shared memory, which other programs could open as well.
    Raises: Refused where the system can't do it.
    """
    if not available():
        raise Refused("this system has no system call filter that retain can use")
    kernel.no_new_privileges()
    kernel.install_filter(_packed(_program(sockets=sockets, metadata=metadata, processes=processes, queues=queues)))


def _numbers() -> dict[str, int]:
    column = {"x86_64": 0, "aarch64": 1}[kernel.machine()]
    return kernel.numbers() | {name: both[column] for name, both in _NUMBERS.items()}


def _program(*, sockets: bool, metadata: bool, processes: bool, queues: bool) -> list[_Step]:
    numbers, refused = _numbers(), _answer(errno.EPERM)
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, _ARCHITECTURE[kernel.machine()]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if kernel.machine() == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _answer(errno.ENOSYS))]
    names = [*_REFUSED, *(() if metadata else _METADATA), *(() if processes else _PROCESSES)]
    names += [] if queues else _QUEUES
    for name in names:
        if name in numbers:
            steps += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, refused)]
    steps += _rule(numbers["clone3"], [(_RETURN, 0, 0, _answer(errno.ENOSYS))])
    steps += _rule(numbers["unshare"], _unless_bits(0, _NAMESPACES | _NEW_TIME, refused))
    steps += _rule(numbers["clone"], _clone(refused, processes=processes))
    commands = _COMMANDS if processes else (*_COMMANDS, _FIOSETOWN, _SIOCSPGRP)
    steps += _rule(numbers["ioctl"], _unless_one_of(1, commands, refused))
    steps += _rule(numbers["personality"], _if_one_of(0, _PERSONALITIES, refused))
    for name in _OF_ONESELF:
        steps += _rule(numbers[name], _if_one_of(0, (0,), refused))
    for name, process in _OF_ONESELF_BY_KIND.items():
        kind = [_argument(0), (_EQUAL, 1, 0, process), (_RETURN, 0, 0, refused)]
        steps += _rule(numbers[name], [*kind, *_if_one_of(1, (0,), refused)])
    if not processes:  # raise(3) and abort(3) send one to themselves
        steps += _rule(numbers["tgkill"], _if_one_of(0, (os.getpid(),), refused))
        steps += _rule(numbers["fcntl"], _unless_one_of(1, (_F_SETOWN, _F_SETOWN_EX), refused))
    for name in () if sockets else ("socket", "socketpair"):
        steps += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _answer(errno.EACCES))]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _answer(code: int) -> int:
    return _ERRNO | code


def _rule(number: int, body: list[_Step]) -> list[_Step]:
    """Return the steps that run `body`, which ends in an answer, for the call of that number."""
    return [(_EQUAL, 0, len(body), number), *body]


def _argument(index: int) -> _Step:
    # The lower half: all these arguments are 32 bits wide, and the kernel drops what is above, as we must.
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)


def _unless_bits(index: int, bits: int, refused: int) -> list[_Step]:
    return [_argument(index), (_ANY_BIT, 0, 1, bits), (_RETURN, 0, 0, refused), (_RETURN, 0, 0, _ALLOW)]


def _clone(refused: int, *, processes: bool) -> list[_Step]:
    if processes:
        return _unless_bits(0, _NAMESPACES, refused)
    tests = [(_ANY_BIT, 1, 0, _NAMESPACES), (_ANY_BIT, 1, 0, _THREAD)]
    return [_argument(0), *tests, (_RETURN, 0, 0, refused), (_RETURN, 0, 0, _ALLOW)]


def _unless_one_of(index: int, values: tuple[int, ...], refused: int) -> list[_Step]:
    tests = [(_EQUAL, len(values) - n, 0, value) for n, value in enumerate(values)]
    return [_argument(index), *tests, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, refused)]


def _if_one_of(index: int, values: tuple[int, ...], refused: int) -> list[_Step]:
    tests = [(_EQUAL, len(values) - n, 0, value) for n, value in enumerate(values)]
    return [_argument(index), *tests, (_RETURN, 0, 0, refused), (_RETURN, 0, 0, _ALLOW)]


def _packed(steps: list[_Step]) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


# --- sockets ---


def restrict_sockets(*, internet: bool) -> None:
    """Allow this thread and its children netlink sockets, stream pairs and, with `internet`, IP sockets only.

    A socket with a name leads to any program that listens. Landlock stops only the abstract ones, and a read-only mount
    stops none. A pair of datagram sockets is refused, as each can be sent to any name. Needs `restrict_syscalls` as
    well, which refuses the calls of other numberings. Raises: OSError.
    """
    kernel.no_new_privileges()
    kernel.install_filter(_packed(_socket_program(internet=internet)))


def _socket_program(*, internet: bool) -> list[_Step]:
    numbers, refused = kernel.numbers(), _answer(errno.EACCES)
    families = (_NETLINK, *((_INTERNET, _INTERNET_6) if internet else ()))
    pair = [
        (_LOAD, 0, 0, _ARGUMENTS_AT),
        (_EQUAL, 0, 4, _UNIX),
        (_LOAD, 0, 0, _ARGUMENTS_AT + 8),
        (_AND, 0, 0, _KIND),
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _SEQUENCED),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, _ALLOW),
    ]
    single = [(_LOAD, 0, 0, _ARGUMENTS_AT)]
    single += [(_EQUAL, len(families) - n, 0, family) for n, family in enumerate(families)]
    single += [(_RETURN, 0, 0, refused), (_RETURN, 0, 0, _ALLOW)]
    steps: list[_Step] = [(_LOAD, 0, 0, _NUMBER_AT)]
    for name, body in (("socketpair", pair), ("socket", single)):
        steps += [(_EQUAL, 0, len(body), numbers[name]), *body]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]
