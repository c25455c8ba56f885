"""Runs inside the cage: tries the attacks that the judge names, each in a child of its own, and reports.

`attacker.py PLACE` takes names on standard input and answers on standard output. With `--alone THEME NAME REPORT` it
tries one, with the standard streams as they are, and writes the report to a file.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.sandbox.attacks import registry
from tests.sandbox.attacks.registry import Attack, NotHere, Place

ATTACK_S = 60.0  # far more than any needs, even on a busy machine
_LOOT = 200_000


def attempt(attack: Attack, place: Place, shut_in: Callable[[], None] | None) -> dict[str, object]:
    """Try it here and now."""
    said: dict[str, object] = {}
    try:
        os.chdir(place.vault)
        if shut_in is not None:
            shut_in()
        word = attack.run(place)
        if word:
            said["word"] = str(word)
    except NotHere as error:
        said["not_here"] = str(error)
    except BaseException as error:  # noqa: BLE001 (whatever stopped it)
        said["error"] = f"{type(error).__name__}: {error}"[:500]
    said["loot"] = b"\n".join(registry.LOOT).hex()[:_LOOT]
    return said


def in_child(attack: Attack, place: Place, shut_in: Callable[[], None] | None, *, alone: bool) -> dict[str, object]:
    """Try it in a child, which may die of it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        if not alone:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
        os.write(into, json.dumps(attempt(attack, place, shut_in)).encode() + b"\n")
        os._exit(0)
    os.close(into)
    said = _line(out)
    os.close(out)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL) if alone else os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not said:
        return {"error": f"it ended before it could tell (status {status})"}
    told: dict[str, object] = json.loads(said)
    return told


def _line(handle: int) -> bytes:
    """One line, or what came of it."""
    data = b""
    while not data.endswith(b"\n"):
        if not select.select([handle], [], [], ATTACK_S)[0]:
            return b""
        block = os.read(handle, 1 << 16)
        if not block:
            break
        data += block
    return data if data.endswith(b"\n") else b""


def main(arguments: list[str], shut_in: Callable[[], None] | None = None) -> None:
    """Serve the judge."""
    place = Place.read(arguments[0])
    if arguments[1:]:
        _, theme, name, report = arguments[1:]
        said = in_child(registry.load((theme,))[name], place, shut_in, alone=True)
        Path(report).write_text(json.dumps(said), encoding="utf-8")
        return
    attacks = registry.load()
    print(json.dumps({"ready": os.getpid()}), flush=True)
    for line in sys.stdin:
        said = in_child(attacks[line.strip()], place, shut_in, alone=False)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
