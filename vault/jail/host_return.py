"""What a caged agent changed of what a host runs or believes, compared with how it stood before, and put right.

What is new is moved aside, under a name that no host reads; of a file that the host itself writes at each run, the
parts that start programs are put back. Before the agent starts, all that is needed is taken down where it can't reach.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from vault.errors import Refused, RetainError
from vault.folder import open_folder_at
from vault.guard import Guard, Scope, sha256_hex
from vault.jail.host_settings import CLAUDE, HOSTS, Home, Split, make_own, names_in, plain
from vault.jail.level import Level
from vault.user import state_guard

_NOTES = "hosts"  # below the state folder of the vault, which no caged agent reads or writes

# In the file that Claude Code rewrites: what starts programs, or lets them start unasked; at its top and by project.
_PARTS = """mcpServers hooks apiKeyHelper awsAuthRefresh awsCredentialExport gcpAuthRefresh otelHeadersHelper
proxyAuthHelper statusLine subagentStatusLine fileSuggestion customNotifyCommand env permissions allowedTools
enabledPlugins extraKnownMarketplaces enabledMcpjsonServers enableAllProjectMcpServers bypassPermissionsModeAccepted
hasClaudeMdExternalIncludesApproved hasTrustDialogAccepted""".split()
_TRUST = "hasTrustDialogAccepted"  # where the agent runs, the human gives it, in there


def take_down(vault_id: str, run_id: str, parted: Split, level: Level, around: Sequence[Path]) -> None:
    """How things stand before the agent starts, for `settle`; nothing where there is nothing to compare."""
    if level is Level.LANDLOCK:
        for home in parted.homes:
            make_own(home)
    # By Landlock and on macOS nothing new can be made in the folder of a host that is there.
    shuts = level not in (Level.FULL, Level.BUBBLEWRAP)
    homes = [home for home in parted.homes if not (shuts and os.path.isdir(home.folder))]
    if not (homes or parted.files):
        return
    note = {
        "homes": [[HOSTS.index(home.host), home.base, home.folder, _links(home)] for home in homes],
        "files": [[path, _text(_bytes(path))] for path in parted.files],
        "trusted": list(_trusted(around)),
    }
    state_guard(vault_id).write(_note(run_id), json.dumps(note).encode(), expect=None)


def settle(vault_id: str, run_id: str, at: datetime) -> list[str]:
    """Moves aside and puts back what the agent of that run changed of the hosts' settings; a line for each.

    Raises: RetainError.
    """
    guard = state_guard(vault_id)
    data = guard.read(_note(run_id)) if guard.root.is_dir() else None
    if data is None:
        return []
    note = json.loads(data)
    lines: list[str] = []
    stamp = f"{at:%Y%m%dT%H%M%S}"
    for index, base, folder, before in note["homes"]:
        lines += _moved(Home(HOSTS[index], base, folder), before, stamp)
    for number, (path, text) in enumerate(note["files"]):
        lines += _put_back(path, text, note["trusted"], guard, f"{_NOTES}/{run_id}-{number}.left", stamp)
    guard.remove(_note(run_id), expect=sha256_hex(data))
    return lines


def _note(run_id: str) -> str:
    return f"{_NOTES}/{run_id}.json"


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("latin-1")


def _links(home: Home) -> dict[str, str]:
    """What is there by a name that is shut: where it leads if it is a link, else nothing."""
    found = {}
    for name in names_in(home.folder):
        if home.is_shut(name):
            path = os.path.join(home.folder, name)
            found[name] = os.readlink(path) if os.path.islink(path) else ""
    return found


def _moved(home: Home, before: Mapping[str, str], stamp: str) -> Iterator[str]:
    """Moves aside what a host would run or believe and was not there; what was a link is one again."""
    try:
        handle = os.open(home.base, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        yield f"{plain(home.base)} cannot be looked into ({error.strerror}): look for new settings there yourself"
        return
    try:
        for name in Path(home.folder).relative_to(home.base).parts:
            try:
                below = open_folder_at(handle, name, name)
            except FileNotFoundError:
                return
            except (Refused, NotADirectoryError):  # a link where the folder of a host belongs
                yield _aside(handle, home, name, stamp)
                return
            os.close(handle)
            handle = below
        for name in sorted(os.listdir(handle)):
            if home.is_shut(name) and (name not in before or _leads_to(handle, name) != before[name]):
                yield _aside(handle, home, name, stamp)
        for name, target in before.items():
            if target and _leads_to(handle, name) != target:
                os.symlink(target, name, dir_fd=handle)
                yield f"the agent took away {plain(os.path.join(home.folder, name))}: put back"
    except OSError as error:
        yield f"{plain(home.folder)} cannot be put right ({error.strerror}): look for new settings there yourself"
    finally:
        os.close(handle)


def _leads_to(handle: int, name: str) -> str:
    """Where a link leads; "" for what is none, or is not there."""
    try:
        return os.readlink(name, dir_fd=handle)
    except OSError:
        return ""


def _aside(handle: int, home: Home, name: str, stamp: str) -> str:
    new = _free(handle, f"{name[:60]}.from-cage-{stamp}")
    os.rename(name, new, src_dir_fd=handle, dst_dir_fd=handle)
    path = plain(os.path.join(home.folder, name))
    return f"the agent also made {path}, which {home.host.name} would run or believe: it is {plain(new)} now"


def _free(handle: int, name: str) -> str:
    there = set(os.listdir(handle))
    return next(each for each in (name, *(f"{name}-{n}" for n in range(1, len(there) + 2))) if each not in there)


def _put_back(path: str, text: str | None, trusted: Sequence[str], kept: Guard, left: str, stamp: str) -> Iterator[str]:
    """Puts back the parts of a rewritten file that start programs, or the whole where it makes no sense any more."""
    before = None if text is None else text.encode("latin-1")
    hand, name, after = Guard(Path(path).parent, Scope.RESTORE_PERSONAL), Path(path).name, _bytes(path)
    if after is None and os.path.lexists(path):  # a link, a pipe, a folder
        handle = os.open(Path(path).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield _aside(handle, Home(CLAUDE, str(Path(path).parent), str(Path(path).parent)), name, stamp)
        finally:
            os.close(handle)
    if after == before:
        return
    was, now = _object(before), _object(after)
    if now is None:
        new, what = before, "all of it"
    else:
        changed = _mend(was or {}, now, trusted)
        new, what = json.dumps(now, indent=2).encode(), ", ".join(changed)
        if not changed:
            return
    if new is None or new == after:
        return
    rest = ""
    if after is not None:
        kept.write(left, after, expect=None)
        rest = f"; as it left it: {kept.root / left}"
    mask = os.umask(0o077)  # such a file may hold keys
    try:
        hand.write(name, new, expect=None if after is None else sha256_hex(after))
    finally:
        os.umask(mask)
    yield f"the agent also changed {plain(path)} ({plain(what)}): put back{rest}"


def _bytes(path: str) -> bytes | None:
    """What a plain file holds; None if there is none, or something else."""
    with suppress(RetainError, OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            return Guard(Path(path).parent, Scope.RESTORE_PERSONAL).read(Path(path).name)
    return None


def _object(data: bytes | None) -> dict[str, Any] | None:
    try:
        found = json.loads((data or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _mend(was: Mapping[str, Any], now: dict[str, Any], trusted: Sequence[str]) -> list[str]:
    """Makes the parts of `now` that start programs those of `was`; the names of those that were not."""
    changed = _mend_parts(was, now, ())
    theirs, ours = _projects(was), _projects(now)
    for project in dict.fromkeys((*theirs, *ours)):
        old, new = theirs.get(project), ours.get(project)
        entry = new if isinstance(new, dict) else {}
        names = _mend_parts(old if isinstance(old, dict) else {}, entry, trusted if project in trusted else ())
        if names:
            if not isinstance(now.get("projects"), dict):
                now["projects"] = {}
            now["projects"][project] = entry
            changed += [f"{name} of {project}" for name in names]
    return changed


def _mend_parts(was: Mapping[str, Any], now: dict[str, Any], trusted: Sequence[str]) -> list[str]:
    changed = []
    for name in _PARTS:
        old, new = was.get(name) or None, now.get(name) or None  # empty is as good as not there
        if old == new or (name == _TRUST and trusted):
            continue
        changed.append(name)
        if old is None:
            del now[name]
        else:
            now[name] = old
    return changed


def _projects(data: Mapping[str, Any]) -> dict[str, Any]:
    found = data.get("projects")
    return found if isinstance(found, dict) else {}


def _trusted(around: Sequence[Path]) -> Iterator[str]:
    """Where the agent runs: the folders, and the repositories that they lie in."""
    for each in around:
        yield from dict.fromkeys((str(each), os.path.realpath(each)))
        yield from (str(above) for above in (each, *each.parents) if (above / ".git").exists())
