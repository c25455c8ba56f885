"""The machine itself. Opened and left as it is: whoever holds the descriptor for writing has won.

Only the attacker can know that he had it, so here his word counts. Nothing is ever written.
"""

from __future__ import annotations

import ctypes
import glob
import os
import stat

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import NotHere, Place, attack


def _opened(path: str, flags: int = os.O_WRONLY) -> str:
    if not os.path.exists(path):
        raise NotHere(f"there is no {path}")
    os.close(os.open(path, flags))
    return f"{path} opened"


def _nameless(folder: str) -> str:
    """A file without a name, made in `folder`: it is gone when it is closed."""
    if not os.path.isdir(folder):
        raise NotHere(f"there is no {folder}")
    os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    return f"a file made in {folder}"


@attack(held="through")
def core_pattern(place: Place) -> object:
    """The program that the kernel runs on a crash: /proc/sys/kernel/core_pattern"""
    return _opened("/proc/sys/kernel/core_pattern")


@attack(held="through")
def kernel_settings(place: Place) -> object:
    """A setting of the kernel's: /proc/sys/vm/swappiness"""
    return _opened("/proc/sys/vm/swappiness")


@attack(held="through")
def sysrq(place: Place) -> object:
    """/proc/sysrq-trigger"""
    return _opened("/proc/sysrq-trigger")


@attack(held="through")
def sys_files(place: Place) -> object:
    """A file of /sys"""
    return _opened("/sys/kernel/mm/transparent_hugepage/enabled")


@attack(held="through")
def release_agent(place: Place) -> object:
    """The program that the kernel runs when a control group is empty: release_agent"""
    found = glob.glob("/sys/fs/cgroup/*/release_agent") + glob.glob("/sys/fs/cgroup/release_agent")
    if not found:
        raise NotHere("there is no release_agent")
    return _opened(found[0])


@attack(held="through")
def control_group(place: Place) -> object:
    """Leave the control group one was put in"""
    found = glob.glob("/sys/fs/cgroup/*/cgroup.procs") + glob.glob("/sys/fs/cgroup/cgroup.procs")
    if not found:
        raise NotHere("there is no cgroup.procs")
    return _opened(found[0])


@attack(held="leaked")
def own_disk_node(place: Place) -> object:
    """Make a device file of the disk in the agent's folder and read it (mknod)"""
    device = os.stat(place.vault).st_dev
    if os.major(device) == 0:
        raise NotHere("the vault does not lie on a block device")
    node = f"{place.work}/disk"
    os.mknod(node, 0o600 | stat.S_IFBLK, device)
    with open(node, "rb") as file:
        file.read(512)
    return "the raw disk was read"


@attack(held="leaked")
def disk(place: Place) -> object:
    """Read the disk itself: /dev"""
    wanted = os.stat(place.vault).st_dev
    nodes = [entry.path for entry in os.scandir("/dev") if entry.stat().st_rdev == wanted]
    if not nodes:
        raise NotHere("the vault's disk has no file in /dev")
    with open(nodes[0], "rb") as file:
        file.read(512)
    return f"{nodes[0]} was read"


@attack(held="through")
def loop_device(place: Place) -> object:
    """A loop device, to mount an image"""
    return _opened("/dev/loop-control", os.O_RDWR)


@attack(held="leaked")
def kernel_memory(place: Place) -> object:
    """/dev/mem, /dev/kmem, /proc/kcore"""
    found = [path for path in ("/dev/mem", "/dev/kmem", "/proc/kcore") if os.path.exists(path)]
    if not found:
        raise NotHere("there is none of them")
    with open(found[0], "rb") as file:
        file.read(512)
    return f"{found[0]} was read"


@attack(held="through")
def fuse(place: Place) -> object:
    """/dev/fuse, to serve a file system of one's own"""
    return _opened("/dev/fuse", os.O_RDWR)


@attack(held="through")
def system_settings(place: Place) -> object:
    """/etc"""
    return _nameless("/etc")


@attack(held="through")
def scheduled(place: Place) -> object:
    """The tables of cron and at"""
    places = [p for p in ("/var/spool/cron/crontabs", "/var/spool/cron", "/etc/cron.d") if os.path.isdir(p)]
    if not places:
        raise NotHere("there is no cron")
    return _nameless(places[0])


@attack(held="through")
def system_programs(place: Place) -> object:
    """/usr/bin"""
    return _nameless("/usr/bin")


@attack(held="through")
def real_home(place: Place) -> object:
    """The home folder that the user table names, whatever HOME says"""
    import pwd

    homes = [user.pw_dir for user in pwd.getpwall() if user.pw_uid == os.getuid()]
    if not homes:
        raise NotHere("the user is in no table")
    return _nameless(homes[0])


@attack(held="through")
def system_services(place: Place) -> object:
    """systemd's services"""
    return _nameless("/etc/systemd/system")


@attack(held="through")
def page_faults(place: Place) -> object:
    """userfaultfd, the lever of many a kernel exploit"""
    os.close(kernel.call("userfaultfd", 0))
    return "userfaultfd was given"


@attack(held="through")
def kernel_programs(place: Place) -> object:
    """bpf: load a map into the kernel"""
    attributes = ctypes.create_string_buffer(128)
    ctypes.memmove(attributes, b"".join(n.to_bytes(4, "little") for n in (2, 4, 4, 1)), 16)  # an array of one
    os.close(kernel.call("bpf", 0, attributes, 128))
    return "a map was made"
