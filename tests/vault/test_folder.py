"""A folder read through directory handles: what is there, in order, and nothing through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault.errors import Damaged, Refused
from vault.files.folder import Entry, FileKind, Folder
from vault.files.write_scopes import TEMP_PREFIX


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for folder in ("raw/b", "raw/a", "raw/.git"):
        (vault / folder).mkdir(parents=True)
    for name in ("raw/a/2.md", "raw/a/10.md", "raw/b/#x [y] | z.md", "raw/a.md", "raw/.git/config", "raw/.DS_Store"):
        (vault / name).write_bytes(name.encode())
    (vault / "raw" / f"{TEMP_PREFIX}00").write_bytes(b"half")
    return vault


def test_a_file_is_read_and_what_is_not_there_is_none(root: Path) -> None:
    folder = Folder(root)
    assert folder.read("raw/b/#x [y] | z.md") == b"raw/b/#x [y] | z.md"
    for path in ("raw/none.md", "none/at/all.md", "raw/a.md/below.md"):
        assert folder.read(path) is None and folder.entry(path) is None and not folder.exists(path)
    (root / "empty.md").touch()
    assert folder.read("empty.md") == b""


def test_what_is_no_file_is_refused(root: Path) -> None:
    for path in ("raw", "", "../vault/raw/a.md", "/etc/passwd", "raw//a.md"):
        with pytest.raises(Refused):
            Folder(root).read(path)


def test_a_listing_is_in_order_without_our_temporary_files(root: Path) -> None:
    assert [(e.path, e.kind) for e in Folder(root).listing("raw")] == [
        ("raw/.DS_Store", FileKind.FILE),
        ("raw/.git", FileKind.FOLDER),
        ("raw/a", FileKind.FOLDER),
        ("raw/a.md", FileKind.FILE),
        ("raw/b", FileKind.FOLDER),
    ]
    assert Folder(root).listing("none") == []
    assert [e.path for e in Folder(root).listing()] == ["raw"]


def test_an_entry_says_size_and_time_of_the_thing_itself(root: Path) -> None:
    os.utime(root / "raw/a.md", ns=(5, 7))
    (root / "raw/link").symlink_to("a.md")
    folder = Folder(root)
    assert folder.entry("raw/a.md") == Entry("raw/a.md", FileKind.FILE, 8, 7)
    link = folder.entry("raw/link")
    assert link is not None and link.kind is FileKind.LINK and folder.exists("raw/link")


def test_a_listing_names_links_for_what_they_are(root: Path) -> None:
    (root / "raw/away").symlink_to(root.parent)
    os.mkfifo(root / "raw/pipe")
    found = {e.path: e.kind for e in Folder(root).listing("raw")}
    assert found["raw/a.md"] is FileKind.FILE and found["raw/a"] is FileKind.FOLDER
    assert found["raw/away"] is FileKind.LINK and found["raw/pipe"] is FileKind.OTHER


def test_a_name_that_is_not_text_is_listed_and_stops_nothing(root: Path) -> None:
    try:
        (root / "raw/\udcff").mkdir()
    except OSError:
        pytest.skip("this file system takes only names that are text")
    paths = {e.path: e.kind for e in Folder(root).listing("raw")}
    assert paths["raw/\udcff"] is FileKind.FOLDER and "raw/a.md" in paths


def test_reading_errors_name_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(handle: int, length: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", broken)
    with pytest.raises(Damaged, match=r"raw/a\.md: cannot be read: input/output error"):
        Folder(root).read("raw/a.md")
