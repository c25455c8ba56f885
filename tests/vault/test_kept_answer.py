"""Stamps of files, whatever numbers a disk gives them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault import kept_answer, stamps


def test_a_disk_that_counts_beyond_what_is_kept_is_stamped_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("a")
    found = os.lstat

    def high(path: str | Path) -> os.stat_result:
        status = found(path)
        return os.stat_result((status.st_mode, (1 << 63) + 5, *status[2:10]), {"st_ctime_ns": status.st_ctime_ns})

    monkeypatch.setattr(os, "lstat", high)
    monkeypatch.setattr(Path, "lstat", high)
    assert list(kept_answer.stamps(str(tmp_path), ["a"]))[::2] == [1, 5]
    assert stamps.stamp(tmp_path, "a")[::2] == (1, 5)
