"""Links, exchanges and races: the name is the agent's, the bytes behind it the human's."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import FORGED, Place, attack


@attack()
def hard_link(place: Place) -> None:
    """Hard-link an insight into the agent's folder and write there"""
    os.link(place.note, f"{place.work}/same.md")
    Path(place.work, "same.md").write_bytes(FORGED)


@attack()
def hard_link_in(place: Place) -> None:
    """Hard-link a file of the agent's into insights/"""
    Path(place.work, "mine.md").write_bytes(FORGED)
    os.link(f"{place.work}/mine.md", f"{place.insights}/mine.md")


@attack(alone="hard link planted")
def hard_link_planted(place: Place) -> None:
    """Write through a hard link of an insight that lay in the agent's folder beforehand"""
    handle = os.open(f"{place.work}/planted.md", os.O_WRONLY | os.O_TRUNC)
    os.write(handle, FORGED)


@attack()
def symlink_file(place: Place) -> None:
    """Write through a symbolic link to an insight"""
    os.symlink(place.note, f"{place.work}/x.md")
    Path(place.work, "x.md").write_bytes(FORGED)


@attack()
def symlink_folder(place: Place) -> None:
    """Write through a symbolic link to insights/"""
    os.symlink(place.insights, f"{place.work}/x")
    Path(place.work, "x", "forged.md").write_bytes(FORGED)


@attack()
def symlink_planted(place: Place) -> None:
    """Write through a link to insights/ that a source brought along"""
    Path(place.vault, "raw/articles/link", "forged.md").write_bytes(FORGED)


@attack()
def symlink_race(place: Place) -> None:
    """Swap a folder and a link to insights/ while writing through the name"""
    real, link, name = f"{place.work}/real", f"{place.work}/link", f"{place.work}/x"
    os.mkdir(real)
    os.symlink(place.insights, link)
    os.symlink(real, name)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for target in (place.insights, real):
                with suppress(FileExistsError):
                    os.symlink(target, f"{place.work}/next")
                os.replace(f"{place.work}/next", name)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for n in range(200):
            with suppress(OSError):
                Path(name, f"raced-{n}.md").write_bytes(FORGED)
            if n > 40 and list(Path(place.insights).glob("raced-*")):
                break
    finally:
        over.set()
        thread.join()


@attack()
def exchange(place: Place) -> None:
    """Exchange an insight with a file of the agent's (RENAME_EXCHANGE)"""
    mine = f"{place.work}/mine.md"
    Path(mine).write_bytes(FORGED)
    kernel.call("renameat2", kernel.AT_FDCWD, mine.encode(), kernel.AT_FDCWD, place.note.encode(), 2)


@attack()
def exchange_folder(place: Place) -> None:
    """Exchange insights/ with a folder of the agent's (RENAME_EXCHANGE)"""
    mine = f"{place.work}/mine"
    os.mkdir(mine)
    kernel.call("renameat2", kernel.AT_FDCWD, mine.encode(), kernel.AT_FDCWD, place.insights.encode(), 2)


@attack()
def folder_into_insights(place: Place) -> None:
    """Move a folder of the agent's, opened before, into insights/ and write through its descriptor"""
    mine = f"{place.work}/mine"
    os.mkdir(mine)
    folder = os.open(mine, os.O_RDONLY | os.O_DIRECTORY)
    os.rename(mine, f"{place.insights}/mine")
    os.close(os.open("forged.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder))


@attack()
def out_of_own_folder(place: Place) -> None:
    """Stand in a folder of the agent's and go up: ../insights by descriptors"""
    folder = os.open(place.work, os.O_RDONLY | os.O_DIRECTORY)
    path = os.path.relpath(place.note, place.work)
    os.write(os.open(path, os.O_WRONLY | os.O_TRUNC, dir_fd=folder), FORGED)
