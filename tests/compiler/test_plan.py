import itertools
import os
import socket
from pathlib import Path

import pytest

from compiler.sources import inventory
from compiler.sources.inventory import track
from vault.log import ledger

FIRST, SECOND = "2026-11-21T09:00:00.000Z", "2026-11-22T09:00:00.000Z"


def learnt(*rounds: tuple[dict[str, str], str]) -> tuple[list[inventory.Tracked], ledger.Ids]:
    """The sources after the raw folder looked like each of these in turn."""
    events: list[ledger.Event] = []
    sources: list[inventory.Tracked] = []
    for files, at in rounds:
        sources, news = track(files, ledger.fold(events), at)
        events += news
    return sources, ledger.fold(events)


def test_the_same_files_give_the_same_ids_whatever_order_they_are_listed_in() -> None:
    files = {"raw/articles/b.md": "2", "raw/articles/a.md": "1", "raw/papers/a.pdf": "3"}
    expected = track(files, ledger.Ids(), FIRST)
    for order in itertools.permutations(files):
        assert track({p: files[p] for p in order}, ledger.Ids(), FIRST) == expected
    assert [s.slug for s in expected[0]] == ["a", "b", f"a-{expected[0][2].id[:4]}"]


def test_an_edited_file_is_the_same_source_and_a_moved_one_too() -> None:
    (before,), _ = learnt(({"raw/a.md": "1"}, FIRST))
    (edited,), _ = learnt(({"raw/a.md": "1"}, FIRST), ({"raw/a.md": "2"}, SECOND))
    (moved,), ids = learnt(({"raw/a.md": "1"}, FIRST), ({"raw/b.md": "1"}, SECOND))
    assert before.id == edited.id == moved.id
    assert moved.path == "raw/b.md" and moved.slug == "a" and ids.alive(moved.id)


def test_equal_bytes_under_two_names_are_one_source() -> None:
    (source,), ids = learnt(({"raw/b.md": "1", "raw/a.md": "1"}, FIRST))
    assert source.paths == ("raw/a.md", "raw/b.md") and len(ids.births) == 1
    (still,), _ = learnt(({"raw/b.md": "1"}, FIRST), ({"raw/a.md": "1", "raw/b.md": "1"}, SECOND))
    assert still.paths == ("raw/b.md", "raw/a.md")


def test_a_file_that_comes_back_is_the_source_it_was() -> None:
    gone, ids = learnt(({"raw/a.md": "1"}, FIRST), ({}, SECOND))
    assert gone == [] and not any(ids.alive(i) for i in ids.births)
    (back,), ids = learnt(({"raw/a.md": "1"}, FIRST), ({}, SECOND), ({"raw/a.md": "1"}, "2026-11-23T09:00:00.000Z"))
    assert ids.alive(back.id) and len(ids.births) == 1


def test_nothing_new_teaches_the_ledger_nothing() -> None:
    files = {"raw/a.md": "1", "raw/b.md": "1", "raw/c.md": "2"}
    _, ids = learnt((files, FIRST))
    assert track(files, ids, SECOND)[1] == []


def test_links_and_hidden_files_are_not_sources(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    (raw / "deep" / "er").mkdir(parents=True)
    (raw / "deep" / "er" / "x.md").write_text("x")
    (raw / ".hidden.md").write_text("x")
    (raw / "link.md").symlink_to("/etc/passwd")
    (raw / "loop").symlink_to(raw)
    found = inventory.scan(tmp_path, "raw")
    assert [f.path for f in found.files] == ["raw/deep/er/x.md"] and found.unknown == []
    assert sorted(d.path for d in found.notices) == ["raw/link.md", "raw/loop"]


def test_what_is_neither_a_file_nor_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "x.md").write_text("x")
    os.mkfifo(raw / "pipe.md")
    monkeypatch.chdir(raw)
    with socket.socket(socket.AF_UNIX) as heard:
        heard.bind("socket.txt")
        found = inventory.scan(tmp_path, "raw")
    assert [f.path for f in found.files] == ["raw/x.md"]
    assert [(n.path, n.code) for n in found.notices] == [("raw/pipe.md", "no-file"), ("raw/socket.txt", "no-file")]


def test_folders_that_programs_fill_are_named_once_and_not_read(tmp_path: Path) -> None:
    for path in ("repos/x/node_modules/a/b.md", "repos/x/dist/c.md", "repos/x/src/d.md", "articles/build/e.md"):
        file = tmp_path / "raw" / path
        file.parent.mkdir(parents=True)
        file.write_text("words")
    seen = inventory.scan(tmp_path, "raw")
    assert [f.path for f in seen.files] == ["raw/articles/build/e.md", "raw/repos/x/src/d.md"]
    assert sorted(n.path for n in seen.notices) == ["raw/repos/x/dist", "raw/repos/x/node_modules"]
