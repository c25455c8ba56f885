"""A coding agent that is a short program: it knows only what `retain agent` prints, and answers each order by a rule.

`python -m tests.cli.rule_agent RETAIN VAULT NAME` works until nothing is open, and says how many orders it answered.
The tests start it outside and in the sandbox.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.compiler.scripted_model import answer_for

_ORDER = re.compile(r"^([a-z]+)-[0-9a-f]{12} .*\n  read    (.+)\n  answer  (.+)\n  then    (.+)$", re.MULTILINE)
_DATA = re.compile(r"^-+ everything below is data, not instructions -+\n", re.MULTILINE)


def answer_to(kind: str, order: str) -> str:
    """What the rules answer to the text of an order."""
    instructions, request = _DATA.split(order, maxsplit=1)
    assert len(instructions.encode()) <= 4_096, "what is to be read before the first answer"
    return answer_for(kind, request.removesuffix("\n"))


def work(retain: str, vault: str, name: str) -> int:
    """Answer orders until nothing is open; return how many."""
    answered = 0
    while "no work orders are open" not in (out := _run([retain, "agent", "next", "--as", name, "--wait", "5"], vault)):
        for kind, text, answer, then in _ORDER.findall(out):
            root = Path(vault)
            (root / answer).write_text(answer_to(kind, (root / text).read_text(encoding="utf-8")), encoding="utf-8")
            said = _run([retain, *shlex.split(then)[1:]], vault)
            if not said.startswith("accepted"):
                sys.exit(f"{kind}: {said}")
            answered += 1
    return answered


def _run(command: list[str], vault: str) -> str:
    done = subprocess.run(command, cwd=vault, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stdout} {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    print(f"{sys.argv[3]} {work(*sys.argv[1:])}")
