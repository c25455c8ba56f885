"""System calls that Python has no function for, by ctypes; and the rights that the sandbox's first process gives up.

It imports little, as do `landlock` and `seccomp`: each start of an agent in a sandbox waits for them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing
if TYPE_CHECKING:
    import ctypes

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _SUBREAPER, _AMBIENT = 1, 4, 24, 36, 47
_AMBIENT_CLEAR = 4
_KILL = 9
_NEW_MOUNTS, _RECURSIVE, _PRIVATE = 0x00020000, 1 << 14, 1 << 18
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522

# name, number on x86_64, number on aarch64; "-" where that machine has no such call. From 424 on, all machines agree.
_TABLE = """
acct 163 89                add_key 248 217            adjtimex 159 171           bpf 321 280
chmod 90 -                 chown 92 -                 chroot 161 51              clock_adjtime 305 266
clock_settime 227 112      clone 56 220               clone3 435 435             create_module 174 -
delete_module 176 106      execve 59 221              execveat 322 281           fchmod 91 52
fchmodat 268 53            fchmodat2 452 452          fchown 93 55               fchownat 260 54
file_setattr 469 469       finit_module 313 273       fork 57 -                  fremovexattr 199 16
fsconfig 431 431           fsetxattr 190 7            fsmount 432 432            fsopen 430 430
fspick 433 433             futimesat 261 -            init_module 175 105        io_uring_enter 426 426
io_uring_register 427 427  io_uring_setup 425 425     ioctl 16 29                ioperm 173 -
iopl 172 -                 kcmp 312 272               kexec_file_load 320 294    kexec_load 246 104
keyctl 250 219             kill 62 129                lchown 94 -                lookup_dcookie 212 18
lremovexattr 198 15        lsetxattr 189 6            mount 165 40               mount_setattr 442 442
move_mount 429 429         mq_open 240 180            mq_unlink 241 181          msgctl 71 187
msgget 68 186              msgrcv 70 188              msgsnd 69 189              name_to_handle_at 303 264
nfsservctl 180 42          open_by_handle_at 304 265  open_tree 428 428          open_tree_attr 467 467
perf_event_open 298 241    personality 135 92         pidfd_getfd 438 438        pidfd_send_signal 424 424
pivot_root 155 41          process_madvise 440 440    process_vm_readv 310 270   process_vm_writev 311 271
ptrace 101 117             quotactl 179 60            quotactl_fd 443 443        reboot 169 142
removexattr 197 14         removexattrat 466 466      renameat2 316 276          request_key 249 218
rt_sigqueueinfo 129 138    rt_tgsigqueueinfo 297 240  semctl 66 191              semget 64 190
semop 65 193               semtimedop 220 192         setdomainname 171 162      sethostname 170 161
setns 308 268              settimeofday 164 170       setxattr 188 5             setxattrat 463 463
shmat 30 196               shmctl 31 195              shmget 29 194              socket 41 198
socketpair 53 199          swapoff 168 225            swapon 167 224             syslog 103 116
tgkill 234 131             tkill 200 130              umount2 166 39             unshare 272 97
userfaultfd 323 282        utime 132 -                utimensat 280 88           utimes 235 -
vfork 58 -                 vhangup 153 58
"""


def machine() -> str:
    """Return the processor: "x86_64", "aarch64", or "" for one without a table of calls."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32 or sys.byteorder != "little":
        return ""
    name = os.uname().machine
    return name if name in ("x86_64", "aarch64") else ""


def numbers() -> dict[str, int]:
    """Return the number of each call by name on this machine; {} if there is no table for it."""
    words = _TABLE.split()
    column = {"x86_64": 1, "aarch64": 2}.get(machine())
    if column is None:
        return {}
    rows = [words[i : i + 3] for i in range(0, len(words), 3)]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call and return its result. Raises OSError."""
    call = _library().syscall
    call.restype = ctypes.c_long
    return _checked(call(ctypes.c_long(number), *(_word(each) for each in arguments)))


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2) and return its result. Raises OSError."""
    call = _library().prctl
    call.restype = ctypes.c_int
    words = [*arguments, 0, 0, 0, 0][:4]
    return _checked(call(ctypes.c_int(option), *(ctypes.c_ulong(word) for word in words)))


def _word(value: int | bytes | None) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


def no_new_privileges() -> None:
    """Keep every program started from now on from gaining rights, as a setuid program would. Raises OSError."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def install_filter(program: bytes) -> None:
    """Install a seccomp filter (8 bytes an instruction) on this thread and its children. Raises OSError."""
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(head))


# --- rights that are given up ---


def make_mounts_private() -> None:
    """Keep what is mounted outside from now on from appearing here. Raises: OSError.

    Enters a mount namespace of its own: bubblewrap's may belong to a user namespace in which we have no rights.
    """
    syscall(numbers()["unshare"], _NEW_MOUNTS)
    syscall(numbers()["mount"], None, b"/", None, _RECURSIVE | _PRIVATE, None)


def no_core_dumps() -> None:
    """Keep crashes from writing memory to a file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hide_memory() -> None:
    """Keep other processes of this user from reading this one's memory, until it starts a program."""
    prctl(_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    prctl(_PDEATHSIG, _KILL)


def drop_capabilities() -> None:
    """Give up every capability, also as root, and the possibility to get one by starting a program."""
    for capability in range(64):
        try:
            prctl(_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):  # past the last one; or there is none that could be lost
                break
            raise
    prctl(_AMBIENT, _AMBIENT_CLEAR)
    number = _CAPSET.get(machine())
    if number is not None:
        head = _VERSION_3.to_bytes(4, "little") + bytes(4)
        syscall(number, head, bytes(24))
