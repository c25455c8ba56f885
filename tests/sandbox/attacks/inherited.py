"""What was open already when the cage closed: descriptors, standard streams, the terminal."""

from __future__ import annotations

import fcntl
import os
import termios

from tests.sandbox.attacks.registry import FORGED, Place, attack


def _each_descriptor() -> list[int]:
    return sorted({int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2})


@attack(alone="folder descriptor")
def folder_descriptor(place: Place) -> None:
    """A descriptor of insights/ that was open before"""
    for descriptor in _each_descriptor():
        try:
            os.write(os.open("forged.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=descriptor), FORGED)
        except OSError:
            continue


@attack(alone="file descriptor")
def file_descriptor(place: Place) -> None:
    """A descriptor of an insight that was open for writing before"""
    for descriptor in _each_descriptor():
        try:
            os.pwrite(descriptor, FORGED, 0)
        except OSError:
            continue


@attack(alone="stdin is an insight")
def standard_input(place: Place) -> None:
    """Standard input is an insight, open for writing"""
    os.write(0, FORGED)


@attack(alone="stdout is an insight")
def standard_output(place: Place) -> None:
    """Standard output is an insight, open for appending"""
    os.ftruncate(1, 0)


@attack(alone="terminal", held="through")
def type_into_terminal(place: Place) -> None:
    """Type a command into the human's terminal (TIOCSTI)"""
    for byte in b"forged\n":
        fcntl.ioctl(0, termios.TIOCSTI, bytes([byte]))
