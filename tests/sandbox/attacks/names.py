"""Other names for the same folder, and names that pass for it."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from tests.sandbox.attacks.registry import FORGED, Place, attack


def _forge(*parts: str) -> None:
    path = Path(*parts)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(FORGED)


@attack()
def upper_case(place: Place) -> None:
    """INSIGHTS/ instead of insights/: the folder itself, or one that passes for it"""
    _forge(place.vault, "INSIGHTS", "forged.md")


@attack()
def decomposed(place: Place) -> None:
    """The name of an insight in decomposed Unicode (NFD)"""
    _forge(place.insights, unicodedata.normalize("NFD", "café.md"))


@attack()
def trailing_dot(place: Place) -> None:
    """insights. with a dot at its end"""
    _forge(place.vault, "insights.", "forged.md")


@attack()
def look_alike(place: Place) -> None:
    """A look-alike of insights/ with a Cyrillic letter"""
    _forge(place.vault, "іnsights", "forged.md")


@attack()
def dot_dot(place: Place) -> None:
    """wiki/../insights/"""
    os.write(os.open(f"{place.work}/../{os.path.relpath(place.note, place.work)[3:]}", os.O_WRONLY), FORGED)


@attack()
def double_slash(place: Place) -> None:
    """//insights//./note.md"""
    path = place.note.replace("/insights/", "//insights//./")
    os.write(os.open("/" + path, os.O_WRONLY), FORGED)


@attack()
def through_proc_self(place: Place) -> None:
    """/proc/self/root/ and /proc/self/cwd/"""
    os.chdir(place.insights)
    with open("/proc/self/cwd/forged.md", "wb") as file:
        file.write(FORGED)


@attack()
def through_proc_root(place: Place) -> None:
    """The insight's whole path below /proc/self/root"""
    os.write(os.open(f"/proc/self/root{place.note}", os.O_WRONLY | os.O_TRUNC), FORGED)


@attack()
def through_dev_fd(place: Place) -> None:
    """/dev/fd/N of the opened insights/"""
    folder = os.open(place.insights, os.O_RDONLY | os.O_DIRECTORY)
    with open(f"/dev/fd/{folder}/forged.md", "wb") as file:
        file.write(FORGED)


@attack()
def very_long_path(place: Place) -> None:
    """A path near the longest there may be, full of ./"""
    folder, name = os.path.split(place.note)
    path = folder + "/." * ((4000 - len(place.note)) // 2) + "/" + name
    os.write(os.open(path, os.O_WRONLY | os.O_TRUNC), FORGED)
