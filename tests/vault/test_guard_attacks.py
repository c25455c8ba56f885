"""Links and other names for the human's folders: nothing outside the granted places changes, ever.

Each refusal stands beside a write that must succeed. Races are in test_guard_races.py.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.batteries import examples
from vault.errors import Refused, RetainError
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope

MINE = b"my own thought\n"
NEW = b"machine text\n"
UNHURRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]  # one vault for all, on a busy machine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for folder in ("insights/deep", "raw", "wiki/concepts", "output", "learning/flashcards", "ledger", ".retain/work"):
        (vault / folder).mkdir(parents=True)
    for name in ("insights/mine.md", "insights/deep/mine.md", "raw/mine.md"):
        (vault / name).write_bytes(MINE)
    (vault / "AGENTS.md").write_bytes(MINE)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.md").write_bytes(MINE)
    return vault


def picture(*folders: Path) -> dict[str, bytes | str]:
    """All that lies in the folders, links not followed: what must not change."""
    found: dict[str, bytes | str] = {}
    for folder in folders:
        for place, names, files in os.walk(folder):
            for name in [*names, *files]:
                path = Path(place) / name
                data = path.read_bytes() if path.is_file() and not path.is_symlink() else ""
                found[str(path)] = data or str(path.is_symlink())
    return found


def everything_but_the_grants(root: Path) -> dict[str, bytes | str]:
    """The human's folders, the vault's root and what lies beside the vault."""
    found = picture(root / "insights", root / "raw", root.parent / "outside")
    found |= {str(p): "" for p in root.iterdir()} | {str(p): "" for p in root.parent.iterdir()}
    return found | {"AGENTS.md": (root / "AGENTS.md").read_bytes()}


def every_way(root: Path, scope: Scope, path: str) -> Iterator[Callable[[], object]]:
    """Each call of the guard that could change something at `path`."""
    guard = Guard(root, scope)
    yield lambda: guard.write(path, NEW, expect=None)
    yield lambda: guard.write(path, NEW, expect=sha256_hex(MINE))
    yield lambda: guard.append(path, b"{}\n")
    yield lambda: guard.append(path + ".jsonl", b"{}\n")
    yield lambda: guard.remove(path, expect=sha256_hex(MINE))
    yield lambda: guard.makedirs(path)
    yield lambda: guard.makedirs(path + "/deep")
    yield lambda: guard.copy_in(root.parent / "outside" / "mine.md", path)


HOSTILE = [
    "../outside/mine.md",
    "../../etc/x",
    "wiki/../insights/mine.md",
    "wiki/concepts/../../raw/mine.md",
    "insights/mine.md",
    "insights/new.md",
    "Insights/mine.md",
    "insights./mine.md",
    "INSIGH~1/mine.md",
    "\u0456nsights/mine.md",
    "wiki\\..\\insights\\mine.md",
    "%2e%2e/insights/mine.md",
    "wiki/%2e%2e/mine.md",
    "wiki/\uff0e\uff0e/x.md",
    "raw/mine.md",
    "AGENTS.md",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    "learning/reviews.jsonl/x",
    "wiki/concepts/a\0b.md",
    "",
    ".",
]


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("scope", [Scope.AGENT, Scope.PUBLISHER, Scope.LOG])
def test_no_hostile_path_changes_anything(root: Path, scope: Scope, path: str) -> None:
    before = everything_but_the_grants(root)
    for attempt in every_way(root, scope, path):
        with suppress(RetainError):
            attempt()
    assert everything_but_the_grants(root) == before
    assert Guard(root, scope).write("learning/flashcards/a.md", NEW, expect=None)  # the control


_WORDS = """wiki output raw insights learning ledger .retain work flashcards .. . ~ %2e%2e ..\\ mine.md reviews.jsonl
AGENTS.md outside vault concepts deep \u200b \u202e \uff0f \u0456nsights Insights"""
_PIECES = st.sampled_from([*_WORDS.split(), ""])
_PATHS = st.lists(st.one_of(_PIECES, st.text(max_size=3)), min_size=1, max_size=6).map("/".join)


@settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=examples(300))
@given(_PATHS, st.sampled_from([Scope.AGENT, Scope.PUBLISHER, Scope.LOG]))
def test_no_random_path_changes_what_is_the_humans(root: Path, path: str, scope: Scope) -> None:
    before = everything_but_the_grants(root)
    for attempt in every_way(root, scope, path):
        with suppress(RetainError):
            attempt()
    assert everything_but_the_grants(root) == before


@settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=examples(200))
@given(st.lists(st.one_of(_PIECES, st.text(max_size=6)), min_size=1, max_size=5).map("/".join))
def test_adding_reaches_new_files_in_raw_and_nothing_else(root: Path, path: str) -> None:
    before = everything_but_the_grants(root)
    for attempt in every_way(root, Scope.ADD, f"raw/{path}"):
        with suppress(RetainError):
            attempt()
    after = everything_but_the_grants(root)
    assert after | before == after  # nothing that was there changed or went
    assert all(name.startswith(f"{root}/raw/") for name in after.keys() - before.keys())


LINKED = ["wiki", "wiki/concepts", "output", "learning", "learning/flashcards", "ledger", ".retain", ".retain/work"]


@pytest.mark.parametrize("place", LINKED)
@pytest.mark.parametrize("target", ["insights", "raw", "../outside", "insights/deep", "wiki2"])
def test_no_write_goes_through_a_linked_folder(root: Path, place: str, target: str) -> None:
    (root / "wiki2").mkdir()
    (root / place).rename(root / "aside")
    (root / place).symlink_to(root / target)
    before = everything_but_the_grants(root) | picture(root / "wiki2")
    for name in ("mine.md", "deep/mine.md", "new.jsonl"):
        for attempt in every_way(root, Scope.PUBLISHER, f"{place}/{name}"):
            with pytest.raises(Refused):
                attempt()
    Guard(root, Scope.PUBLISHER).sweep(older_than_s=-1)
    assert everything_but_the_grants(root) | picture(root / "wiki2") == before
    (root / place).unlink()
    (root / "aside").rename(root / place)
    if not place.startswith(("learning", "ledger", ".retain")):
        assert Guard(root, Scope.PUBLISHER).write(f"{place}/new.md", NEW, expect=None)


def test_a_linked_insights_is_still_the_humans(root: Path) -> None:
    """The personal vault reached through a link in the vault, and the same folder named as wiki/."""
    (root / "insights").rename(root.parent / "personal")
    (root / "insights").symlink_to(root.parent / "personal")
    (root / "wiki/concepts").rmdir()
    (root.parent / "personal").rename(root / "wiki/concepts")
    (root / "insights").unlink()
    (root / "insights").symlink_to("wiki/concepts")
    with pytest.raises(Refused, match="your own folders under another name"):
        Guard(root, Scope.AGENT).write("wiki/concepts/mine.md", NEW, expect=sha256_hex(MINE))
    with pytest.raises(Refused, match="your own folders under another name"):
        Guard(root, Scope.AGENT).write("wiki/concepts/deep/new.md", NEW, expect=None)
    assert (root / "wiki/concepts/mine.md").read_bytes() == MINE
    assert Guard(root, Scope.AGENT).write("wiki/new.md", NEW, expect=None)


def test_a_forbidden_folder_is_known_by_what_it_is(root: Path) -> None:
    personal = root / "wiki" / "personal"
    (personal / "deep").mkdir(parents=True)
    (root.parent / "link").symlink_to(personal)
    guard = Guard(root, Scope.AGENT, forbidden=[root.parent / "link", root / "not there"])
    for path in ("wiki/personal/a.md", "wiki/personal/deep/a.md", "wiki/personal/new/a.md"):
        with pytest.raises(Refused, match="your own folders under another name"):
            guard.write(path, NEW, expect=None)
    with pytest.raises(Refused):
        guard.makedirs("wiki/personal/new")
    assert [p.name for p in personal.iterdir()] == ["deep"]
    assert guard.write("wiki/a.md", NEW, expect=None)


def test_a_vault_that_is_the_personal_vault_is_not_written(root: Path) -> None:
    with pytest.raises(Refused):
        Guard(root, Scope.AGENT, forbidden=[root]).write("wiki/a.md", NEW, expect=None)


def test_a_folder_bound_over_another_is_recognised(root: Path) -> None:
    command = ["mount", "--bind", str(root / "insights"), str(root / "wiki/concepts")]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("binding a folder over another needs root")
    try:
        with pytest.raises(Refused, match="your own folders under another name"):
            Guard(root, Scope.AGENT).write("wiki/concepts/mine.md", NEW, expect=sha256_hex(MINE))
        assert (root / "insights/mine.md").read_bytes() == MINE
    finally:
        subprocess.run(["umount", "-l", str(root / "wiki/concepts")], check=True)
    assert Guard(root, Scope.AGENT).write("wiki/concepts/mine.md", NEW, expect=None)


def test_a_folder_of_somebody_elses_that_is_mounted_in_the_wiki_may_be_written(root: Path) -> None:
    """A disk or a container's volume below wiki/ is no attack; what lies beside the vault is nobody's in it."""
    (root.parent / "volume").mkdir()
    with bound(root.parent / "volume", root / "wiki/concepts"):
        assert Guard(root, Scope.AGENT).write("wiki/concepts/new/a.md", NEW, expect=None)
    assert (root.parent / "volume/new/a.md").read_bytes() == NEW


@contextmanager
def bound(shown: Path, there: Path) -> Iterator[None]:
    command = ["mount", "--bind", str(shown), str(there)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("binding a folder over another needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(there)], check=True)


def test_reading_follows_no_link_either(root: Path) -> None:
    (root / "wiki/secret.md").symlink_to(root.parent / "outside/mine.md")
    (root / "wiki/away").symlink_to(root.parent / "outside")
    guard = Guard(root, Scope.AGENT)
    for path in ("wiki/secret.md", "wiki/away/mine.md", "../outside/mine.md", "/etc/passwd"):
        with pytest.raises(Refused):
            guard.read(path)
    assert guard.read("insights/mine.md") == MINE  # an agent may read what the human thinks in this vault
