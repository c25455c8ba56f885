"""Straight at the human's folder, with the calls that every program uses."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.sandbox.attacks.registry import FORGED, Place, attack


@attack()
def write(place: Place) -> None:
    """Write over an insight"""
    Path(place.note).write_bytes(FORGED)


@attack()
def write_in_place(place: Place) -> None:
    """Change bytes in the middle of an insight"""
    handle = os.open(place.note, os.O_RDWR)
    os.pwrite(handle, b"FORGED", 4)


@attack()
def append(place: Place) -> None:
    """Append to an insight"""
    handle = os.open(place.note, os.O_WRONLY | os.O_APPEND)
    os.write(handle, FORGED)


@attack()
def truncate(place: Place) -> None:
    """truncate(2) an insight by its path"""
    os.truncate(place.note, 0)


@attack()
def open_truncating(place: Place) -> None:
    """Open an insight with O_TRUNC and write nothing"""
    os.close(os.open(place.note, os.O_WRONLY | os.O_TRUNC))


@attack()
def open_reading_truncating(place: Place) -> None:
    """Open an insight for reading, with O_TRUNC"""
    os.close(os.open(place.note, os.O_RDONLY | os.O_TRUNC))


@attack()
def ftruncate(place: Place) -> None:
    """ftruncate an insight opened for writing"""
    os.ftruncate(os.open(place.note, os.O_RDWR), 3)


@attack()
def create(place: Place) -> None:
    """Add a note to insights/"""
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def unlink(place: Place) -> None:
    """Delete an insight"""
    os.unlink(place.note)


@attack()
def rename_over(place: Place) -> None:
    """Rename a file of the agent's over an insight"""
    source = Path(place.work, "mine.md")
    source.write_bytes(FORGED)
    os.replace(source, place.note)


@attack()
def rename_out(place: Place) -> None:
    """Rename an insight out into the agent's folder"""
    os.rename(place.note, f"{place.work}/taken.md")


@attack()
def rename_within(place: Place) -> None:
    """Give an insight another name"""
    os.rename(place.note, f"{place.insights}/renamed.md")


@attack()
def rename_insights(place: Place) -> None:
    """Move insights/ away and put a folder of the agent's there"""
    os.rename(place.insights, f"{place.vault}/old-insights")
    os.mkdir(place.insights)


@attack()
def rename_vault(place: Place) -> None:
    """Move the whole vault away and put another there"""
    os.rename(place.vault, f"{place.base}/old-vault")
    os.makedirs(place.insights)


@attack()
def rename_wiki(place: Place) -> None:
    """Move the agent's own folder away and put a link to insights/ there"""
    os.rename(f"{place.vault}/wiki", f"{place.vault}/wiki-away")
    os.symlink("insights", f"{place.vault}/wiki")


@attack()
def make_folder(place: Place) -> None:
    """Make a folder in insights/"""
    os.mkdir(f"{place.insights}/forged")


@attack()
def remove_folder(place: Place) -> None:
    """Remove an empty folder of insights/"""
    os.rmdir(f"{place.insights}/empty")


@attack()
def make_pipe(place: Place) -> None:
    """Make a named pipe in insights/"""
    os.mkfifo(f"{place.insights}/pipe.md")


@attack()
def make_socket(place: Place) -> None:
    """Bind a socket in insights/"""
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(f"{place.insights}/s", os.getcwd()))


@attack()
def make_link(place: Place) -> None:
    """Put a symbolic link in insights/"""
    os.symlink("../wiki/_index.md", f"{place.insights}/link.md")


@attack()
def raw_write(place: Place) -> None:
    """Change a source in raw/"""
    Path(place.vault, "raw/articles/source.md").write_bytes(FORGED)


@attack()
def raw_add(place: Place) -> None:
    """Add a source to raw/"""
    Path(place.vault, "raw/articles/forged.md").write_bytes(FORGED)


@attack()
def personal_write(place: Place) -> None:
    """Add a note to the personal vault"""
    Path(place.personal, "forged.md").write_bytes(FORGED)


@attack()
def vault_root_write(place: Place) -> None:
    """Put a file at the vault's root"""
    Path(place.vault, "forged.md").write_bytes(FORGED)
