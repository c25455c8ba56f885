"""The battery: every attack from inside every level, judged from outside; nothing gets through but what is listed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from tests.sandbox.attacks import registry
from tests.sandbox.battery import Battery, wanting
from tests.sandbox.expected import EXPECTED, LEAKED, LEVELS, METADATA, STOPPED, THROUGH, differences
from tests.sandbox.tree import Scanner, restore

linux = pytest.mark.skipif(sys.platform != "linux", reason="the cage of this system is tried elsewhere")


@pytest.fixture(scope="session")
def battery(tmp_path_factory: pytest.TempPathFactory) -> Battery:
    base = tmp_path_factory.getbasetemp()
    return Battery((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "attacks")


def _must_run(level: str, *, every: bool) -> None:
    """Skip unless `level` can be tried here and, where not `every` level is tried, is the one of today."""
    possible = [each for each in LEVELS if not wanting(each)]
    if possible and not every:
        todays = possible[date.today().toordinal() % len(possible)]
        if level in possible and level != todays:
            pytest.skip(f"today `make test` tries the level {todays}; `make torture` tries all")
    reason = wanting(level)
    if reason and sys.platform == "linux" and os.environ.get("CI"):
        pytest.fail(f"the level {level} can't be tried here: {reason}")
    if reason:
        pytest.skip(f"the level {level} was NOT RUN here: {reason}")


@linux
@pytest.mark.usefixtures("torture")
@pytest.mark.torture
def test_the_attacks_are_real_they_succeed_where_there_is_no_cage(battery: Battery) -> None:
    result = battery.result("none")
    failed = {name: result.attacks[name]["how"] for name in result.tried if name not in result.succeeded}
    assert len(result.succeeded) >= 150
    assert len(result.succeeded) >= 0.9 * len(result.tried), failed
    assert {each["outcome"] for each in result.controls.values()} <= {"worked", "not applicable"}, result.controls


@linux
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_gets_through_but_what_is_listed_while_an_agent_can_work(
    battery: Battery, level: str, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    _must_run(level, every=bool(torture(1, 0)))
    real = battery.result("none").succeeded
    result = battery.result(level)
    assert len(result.controls) >= 3
    assert {found["outcome"] for found in result.controls.values()} <= {"worked", "not applicable"}, result.controls
    wrong = differences(level, result.outcomes, real, battery.conditions())
    assert not wrong, {line: result.attacks.get(line.split()[1]) for line in wrong}
    tried = [name for name in result.tried if name in real]
    passed = {kind: [n for n in tried if result.outcomes[n] == kind] for kind in (THROUGH, LEAKED, METADATA)}
    words = [f"{len(names)} {kind} ({', '.join(names)})" for kind, names in passed.items() if names]
    worked = [name for name, found in result.controls.items() if found["outcome"] == "worked"]
    words += [f"{len(worked)} of {len(result.controls)} controls worked"]
    stopped = len(tried) - sum(map(len, passed.values()))
    tally(f"attacks from inside: {LEVELS[level]}", f"{stopped} of {len(tried)} stopped; {'; '.join(words)}")


def test_there_are_as_many_attacks_as_were_asked_for_and_each_has_a_title() -> None:
    attacks = [each for each in registry.load().values() if not each.control]
    assert len(attacks) >= 60
    assert len({each.title for each in attacks}) == len(attacks)
    assert {name for listed in EXPECTED.values() for name in listed} <= {each.name for each in attacks}


# --- the detectors: each is shown what it must catch ------------------------------------------------------------------


def test_an_attack_that_gets_through_unlisted_is_reported() -> None:
    measured = dict.fromkeys(registry.load(), STOPPED) | dict.fromkeys(("tcp", "tcp-mapped", "udp"), THROUGH)
    assert differences("full", measured, list(measured), []) == []
    for outcome in (THROUGH, LEAKED, METADATA):
        assert differences("full", measured | {"write": outcome}, list(measured), []) == [
            f"full: write should be stopped, and is {outcome}"
        ]


def test_an_attack_that_is_listed_and_no_longer_gets_through_is_reported() -> None:
    measured = dict.fromkeys(registry.load(), STOPPED) | {"tcp": THROUGH, "udp": THROUGH}
    assert differences("full", measured, list(measured), []) == ["full: tcp-mapped should be through, and is stopped"]
    assert differences("full", measured, ["tcp", "udp"], []) == []  # it can't succeed on this machine at all


def _human_tree(folder: Path) -> None:
    (folder / "insights/sub").mkdir(parents=True)
    (folder / "insights/note.md").write_bytes(b"mine")
    (folder / "insights/other.md").write_bytes(b"other")
    (folder / "link").symlink_to("insights")
    (folder / "wiki").mkdir()


def _set_attribute(folder: Path) -> None:
    try:
        os.setxattr(folder / "insights/note.md", "user.x", b"1")
    except OSError:
        pytest.skip("the file system of the temporary folder keeps no attributes")


_CHANGES: dict[str, Callable[[Path], object]] = {
    "bytes": lambda f: (f / "insights/note.md").write_bytes(b"forg"),
    "bytes of the same length and time": lambda f: _same_time(f / "insights/note.md"),
    "added": lambda f: (f / "insights/sub/new.md").write_bytes(b""),
    "deleted": lambda f: (f / "insights/note.md").unlink(),
    "deleted folder": lambda f: shutil.rmtree(f / "insights"),
    "renamed": lambda f: (f / "insights/note.md").rename(f / "wiki/note.md"),
    "renamed folder": lambda f: (f / "insights").rename(f / "wiki/insights"),
    "replaced by equal bytes": lambda f: _replaced(f / "insights/note.md"),
    "exchanged": lambda f: _exchanged(f / "insights/note.md", f / "insights/other.md"),
    "mode": lambda f: (f / "insights/note.md").chmod(0o600),
    "folder locked": lambda f: (f / "insights").chmod(0),
    "time": lambda f: os.utime(f / "insights/note.md", (1, 1)),
    "attribute": _set_attribute,
    "hard link": lambda f: os.link(f / "insights/note.md", f / "wiki/same.md"),
    "link elsewhere": lambda f: _relinked(f / "link"),
    "folder becomes a link": lambda f: _linked(f / "wiki"),
    "pipe": lambda f: os.mkfifo(f / "insights/pipe"),
}


def _same_time(path: Path) -> None:
    status = path.stat()
    path.write_bytes(b"MINE")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _replaced(path: Path) -> None:
    path.with_suffix(".new").write_bytes(path.read_bytes())
    path.with_suffix(".new").replace(path)


def _exchanged(one: Path, other: Path) -> None:
    aside = one.with_suffix(".aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _linked(path: Path) -> None:
    path.rmdir()
    path.symlink_to("insights")


def _relinked(path: Path) -> None:
    path.unlink()
    path.symlink_to("wiki")


@linux
@pytest.mark.parametrize("change", _CHANGES)
def test_the_judge_sees_every_kind_of_change_and_puts_it_back(tmp_path: Path, change: str) -> None:
    root = tmp_path / "scene"
    _human_tree(root)
    scanner = Scanner(str(root))
    before = scanner.scan()
    _CHANGES[change](root)
    after = scanner.scan()
    assert after != before
    again = restore(scanner, before, after)
    scanner.forget()
    assert scanner.scan() == again
    assert again.keys() == before.keys()
    assert {p: (e.kind, e.data, e.about) for p, e in again.items()} == {
        p: (e.kind, e.data, e.about) for p, e in before.items()
    }
