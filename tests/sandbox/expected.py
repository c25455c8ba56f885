"""What gets through at which level, and why: the list that the tests of the attacks go by.

A test fails if anything else gets through, and also if something listed here no longer does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

STOPPED, METADATA, THROUGH, LEAKED, NOT_APPLICABLE = "stopped", "metadata", "through", "leaked", "not applicable"

# The levels, with their names in the table of docs/guard.md.
LEVELS = {
    "full": "full",
    "full-offline": "full, without network",
    "bubblewrap": "bubblewrap",
    "landlock": "landlock",
    "worker": "worker",
}
OLD_LANDLOCK = "before ABI 6 of Landlock"
GROUPS, BELOW_TMP = "for a user in several groups", "where it is started below /tmp"


@dataclass(frozen=True, slots=True)
class Passes:
    """An outcome other than "stopped", why so, and `only` under which condition ("" for always)."""

    outcome: str
    why: str
    only: str = ""


NETWORK = Passes(
    THROUGH,
    "a program outside that listens on the network does what it is asked, and agents need the network to reach their "
    "model: `--no-network` stops it",
)
PIPE = Passes(THROUGH, "a named pipe can be written although it is shown read-only: it is Landlock that stops that")
PIPE_BELOW_TMP = Passes(
    THROUGH,
    "Landlock lets an agent write in its own /tmp, and so into a named pipe that is shown below it, where the folder "
    "that the agent was started in lies in /tmp",
    BELOW_TMP,
)
SEEN = Passes(
    METADATA,
    "Landlock does not know mode, times and attributes of files: an agent can change them on files of the user's, not "
    "the contents; in the vaults `retain guard run` puts them back and says so",
)
SIZE = Passes(
    LEAKED,
    "Landlock lets anyone ask whether a file of a known name is there, and how long it is; neither names nor contents "
    "can be read",
)
TEMP = Passes(LEAKED, "Landlock gives no /tmp of one's own: what others left there for all to read can be read")
SIGNALS = Passes(THROUGH, "Landlock knows signals from ABI 6 (Linux 6.12) on", OLD_LANDLOCK)
OWNER = Passes(METADATA, f"{SEEN.why}; the group among those that the user is in", GROUPS)

_NETWORK = dict.fromkeys(("tcp", "tcp-mapped", "udp"), NETWORK)
_METADATA = (
    "chmod fchmod fchmodat2 chmod-folder utime set-attribute remove-attribute set-attribute-at access-list "
    "metadata-through-link personal-chmod"
).split()
EXPECTED: dict[str, dict[str, Passes]] = {
    "full": {"pipe-in-home": PIPE_BELOW_TMP, **_NETWORK},
    "full-offline": {"pipe-in-home": PIPE_BELOW_TMP},
    "bubblewrap": {"pipe-in-home": PIPE, **_NETWORK},
    "landlock": {
        **_NETWORK,
        **dict.fromkeys(_METADATA, SEEN),
        "chown": OWNER,
        "name-personal": SIZE,
        "read-temp": TEMP,
        **dict.fromkeys(("signals", "signal-by-handle", "signal-from-file", "signal-queued"), SIGNALS),
    },
    "worker": {"name-personal": SIZE},
}


def differences(
    level: str, measured: Mapping[str, str], real: Collection[str], conditions: Collection[str]
) -> list[str]:
    """Where what was measured at a level is not what is listed, a line each.

    `measured` is the outcome of each attack, `real` are those that succeed here without a cage, `conditions` those of
    `only` that hold on this machine.
    """
    listed = {name: passes.outcome for name, passes in EXPECTED[level].items() if passes.only in ("", *conditions)}
    found = []
    for name, outcome in measured.items():
        wanted = listed.get(name, STOPPED) if name in real else STOPPED
        if outcome not in (wanted, NOT_APPLICABLE):
            found.append(f"{level}: {name} should be {wanted}, and is {outcome}")
    return found + [
        f"{level}: {name} is listed, but there is no such attack" for name in listed.keys() - measured.keys()
    ]
