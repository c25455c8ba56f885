"""The judge: a process outside every cage, which looks at the state of everything after each attack.

`judge.py ORDERS` reads what to do from a file and prints one JSON object: for every attack what came of it, for every
control whether it worked. It believes no attacker, save where only the attacker can know (see `held`).
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.sandbox import alone, scene
from tests.sandbox.attacks import registry
from tests.sandbox.attacks.registry import Attack
from tests.sandbox.tree import Scanner, Tree, restore

STOPPED, METADATA, THROUGH, LEAKED, NOT_APPLICABLE = "stopped", "metadata", "through", "leaked", "not applicable"
WAIT_S = 180.0  # for any one answer, on the busiest of machines
HERE = Path(__file__).resolve().parent
GREETING = "good day"


# Where there is no cage, it is the machine that says so: no right (1, 13), no such call (38), not for this file (95).
_FORBIDDEN = re.compile(r"Errno (1|13|38|95)\]|Permission denied|Operation not permitted")


class Broken(Exception):
    """The battery itself failed, which says nothing about the cage."""


class Line:
    """A child that answers each line with a line of JSON."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path, errors: IO[bytes]) -> None:
        self.errors = errors
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env, cwd=cwd, bufsize=0
        )
        self._rest = b""

    def ask(self, words: str) -> dict[str, Any]:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(words.encode() + b"\n")
        except BrokenPipeError as error:
            raise Broken(f"it has ended: {self._complaint()}") from error
        return self.hear()

    def hear(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        while b"\n" not in self._rest:
            if not select.select([self.child.stdout], [], [], WAIT_S)[0]:
                raise Broken("no answer")
            block = os.read(self.child.stdout.fileno(), 1 << 16)
            if not block:
                raise Broken(f"it ended instead of answering: {self._complaint()}")
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def _complaint(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.child.wait(WAIT_S)
        self.errors.seek(0)
        return f"code {self.child.returncode}: {self.errors.read().decode(errors='replace')[-2000:]}"

    def end(self) -> None:
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                stream.close()
        try:
            self.child.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Court:
    """One level, from the building of its scene to the last verdict."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self.orders = orders
        self.level = orders["level"]
        self.scene = scene.build(Path(orders["template"]), Path(orders["base"]), self.level)
        self.attacks = registry.load()
        self.free = tuple(f"{folder}/" for folder in self.scene.free)
        self.errors = open(Path(orders["base"]).parent / f"{self.level}.errors", "w+b")  # noqa: SIM115 (kept open)
        self.deputy = self._deputy()
        self.told = self.deputy.hear()
        self.spec = self.scene.code / "place.json"
        self.spec.write_text(json.dumps(self.scene.place(self.told, orders["card"])))
        self.runner: Line | None = None
        self.scanner = Scanner(str(self.scene.base))
        self.before: Tree = {}

    def _deputy(self) -> Line:
        env = self.scene.environment() | {"TOKEN": self.scene.canaries[3].decode()}
        line = Line([sys.executable, "-I", str(HERE / "deputy.py")], env, self.scene.base, self.errors)
        given = {
            "insights": str(self.scene.insights),
            "secret": str(self.scene.personal / self.scene.secret),
            "temp": str(self.scene.temp),
            "runtime": f"{self.scene.temp}/run",
            "home": str(self.scene.home),
            "interpreter": sys.executable,
            "greeting": GREETING,
        }
        assert line.child.stdin is not None
        line.child.stdin.write(json.dumps(given).encode() + b"\n")
        return line

    # --- the attackers ---

    def command(self, *more: str) -> list[str]:
        """What is run in the cage."""
        python = os.path.realpath(sys.executable)
        return [python, "-I", "-S", str(self.scene.code / "tests/sandbox/attacker.py"), str(self.spec), *more]

    def environment(self) -> dict[str, str]:
        """What the cage is started with: doors of the desktop among it."""
        door = self.told["sockets"]["runtime"]
        doors = {"SSH_AUTH_SOCK": door, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={door}", "TMUX": f"{door},1,0"}
        return self.scene.environment() | doors

    def start(self) -> None:
        """A cage with the attackers in it; what it makes for itself is there before the first look."""
        start = [sys.executable, "-I", str(HERE / "in_sandbox.py"), self.level, str(self.spec)]
        self.runner = Line([*start, *self.command()], self.environment(), self.scene.base, self.errors)
        self.runner.hear()
        self.before = self.scanner.scan()

    def stop(self) -> None:
        if self.runner is not None:
            self.runner.end()
            self.runner = None

    def settle(self, **order: str) -> dict[str, Any]:
        """What the deputy was asked for since the last time."""
        return self.deputy.ask(json.dumps({"do": "settle"} | order))

    # --- the verdicts ---

    def all(self) -> dict[str, Any]:
        """Every attack and control, in turn."""
        outcomes: dict[str, Any] = {}
        controls: dict[str, Any] = {}
        self.start()
        self.settle(do="later")
        self.before = self.scanner.scan()
        for attack in self.attacks.values():
            if attack.alone or attack.control != bool(attack.control and self.level in attack.levels):
                continue
            (controls if attack.control else outcomes)[attack.name] = self.one(attack)
        self.stop()
        for attack in self.attacks.values():
            if attack.alone:
                outcomes[attack.name] = alone.one(self, attack)
        self.last_look()
        return {"level": self.level, "outcomes": outcomes, "controls": controls}

    def last_look(self) -> None:
        """Every byte once more, to be sure that nothing was missed on the way."""
        self.scanner.forget()
        found = self.scanner.scan()
        names = [path for path in found.keys() | self.before.keys() if found.get(path) != self.before.get(path)]
        if names:
            raise Broken(f"changed unnoticed: {self._named(names)}")

    def one(self, attack: Attack) -> dict[str, str]:
        """What came of one attack."""
        missing = self.missing(attack)
        if missing:
            return missing
        if self.runner is None:
            self.start()
        assert self.runner is not None
        said = self.runner.ask(attack.name)
        return self.verdict(attack, said, self.settle())

    def missing(self, attack: Attack) -> dict[str, str] | None:
        """The outcome where it can't be tried: this machine lacks a program, or no worker is started that way."""
        if self.level == "worker" and attack.alone and attack.alone not in alone.OF_A_WORKER:
            return {"outcome": NOT_APPLICABLE, "how": "retain starts a worker with nothing but pipes of its own"}
        for program in attack.needs:
            if shutil.which(program) is None:
                return {"outcome": NOT_APPLICABLE, "how": f"there is no {program} here"}
        return None

    def verdict(self, attack: Attack, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, str]:
        """The outcome, from what is seen outside; everything is put back as it was."""
        after = self.scanner.scan()
        if attack.control:
            outcome = self._control(attack, said, after)
        else:
            outcome = self._outcome(attack, said, asked, after)
        if after != self.before:
            again = restore(self.scanner, self.before, after)
            if any(again[p].inode != e.inode for p, e in self.before.items()):
                self.stop()  # the cage holds on to what is there no more
                self.settle(do="refresh")
            self.before = again
        return outcome

    def _control(self, attack: Attack, said: dict[str, Any], after: Tree) -> dict[str, str]:
        changed = self.changes(after)
        path = f"{self.scene.work}/{attack.name}"
        left = after[path].data if path in after else None
        wanted = {"control-read": scene.NOTE, "control-network": GREETING.encode(), "control-git": b"second"}
        if said.get("error") or changed:
            return {"outcome": "failed", "how": str(said.get("error") or changed)}
        found = bytes.fromhex(said["loot"]) if self.level == "worker" else left
        good = found == wanted.get(attack.name, b"done")
        return {"outcome": "worked" if good else "failed", "how": "" if good else f"it left {found!r:.80}"}

    def _outcome(self, attack: Attack, said: dict[str, Any], asked: dict[str, Any], after: Tree) -> dict[str, str]:
        substance, about = self.changes(after) or ([], [])
        how = str(said.get("error", ""))
        if substance:
            return {"outcome": THROUGH, "how": self._named(substance)}
        if self.leaked(said, asked, after):
            return {"outcome": LEAKED, "how": "a canary was found outside"}
        if about:
            return {"outcome": METADATA, "how": self._named(about)}
        if said.get("word") and attack.held:
            return {"outcome": attack.held, "how": str(said["word"])}
        if self.level == "none" and ("not_here" in said or _FORBIDDEN.search(how)):
            return {"outcome": NOT_APPLICABLE, "how": said.get("not_here", how)}
        return {"outcome": STOPPED, "how": said.get("not_here", how)}

    def changes(self, after: Tree) -> tuple[list[str], list[str]] | None:
        """The names whose substance changed, and those about which something did; None for neither."""
        substance, about = [], []
        for path in after.keys() | self.before.keys():
            old, new = self.before.get(path), after.get(path)
            if old == new or path.startswith(self.free):
                continue
            if old is None or new is None or old.substance != new.substance:
                substance.append(path)
            elif f"{path}/" not in self.free:
                about.append(path)
        return (substance, about) if substance or about else None

    def _named(self, paths: list[str]) -> str:
        return ", ".join(os.path.relpath(path, self.scene.base) for path in sorted(paths)[:3])

    def leaked(self, said: dict[str, Any], asked: dict[str, Any], after: Tree) -> bool:
        """Whether a canary turned up where an agent could carry it: its report, its folders, or a program outside."""
        pile = bytes.fromhex(said.get("loot", "")) + bytes.fromhex(asked["received"])
        for path, entry in after.items():
            if path.startswith(self.free) and entry != self.before.get(path):
                pile += path.encode() + entry.data
        return any(canary in pile for canary in self.scene.canaries)

    def end(self) -> None:
        self.stop()
        self.deputy.end()
        self.errors.close()
        for folder in (self.scene.temp, self.scene.base):  # a set-user-ID program lies there
            shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    court = Court(json.loads(Path(sys.argv[1]).read_text()))
    try:
        print(json.dumps(court.all()))
    finally:
        court.end()


if __name__ == "__main__":
    main()
