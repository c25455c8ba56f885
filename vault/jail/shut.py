"""What stays shut within what may be written: the settings of a host, that it runs or believes when it starts again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shut:
    """All paths are absolute and without links, and lie in what may be written; the empty one shuts nothing.

    `places` are there, and stay read-only. `fresh` are folders shown empty, to be thrown away. `ways` are the folders
    that lead to either, which nobody may rename. `names` are (folder, pattern of a name in it) of what may come later:
    only the profile of macOS can forbid that.
    """

    places: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


NOTHING = Shut()
