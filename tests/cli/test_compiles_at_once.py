"""Commands at the same moment: each waits for its turn, and none loses what another did."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.commands import SCRIPT, retain

TEXT = """# {name}

A {name} is a knot that sailors tie when they want to join the number {number} to the number {next} for a night.
"""
NAMES = "bowline clinch cringle halyard hitch lanyard marlin reef sheet splice toggle whipping".split()


def test_as_many_compiles_at_once_record_as_many_sources(
    tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    vault, names = tmp_path / "vault", NAMES[: torture(len(NAMES), 2)]
    assert retain("init", str(vault), "--no-git", cwd=tmp_path).code == 0
    with ExitStack() as children:
        done = [(each.communicate(timeout=550), each.returncode) for each in _started(vault, names, children)]
    assert [code for _, code in done] == [0] * len(names), [err for (_, err), code in done if code]
    assert retain("compile", cwd=vault).code == 0  # for those that were put there after the last one had looked
    status = retain("status", "--json", cwd=vault).json()
    read = sum(json.loads(out)["sources"]["read"] for (out, _), _ in done)
    tally("Twelve compiles at once", f"{status['sources']} of {len(names)} sources recorded, none twice")
    assert status["sources"] == len(names) and read <= len(names)
    births = [json.loads(line) for line in (vault / "ledger/ids.jsonl").read_text("utf-8").splitlines()]
    assert len([e for e in births if e["type"] == "birth" and e["of"] == "source"]) == len(names)
    assert retain("verify", cwd=vault).code == 0


def _started(vault: Path, names: list[str], children: ExitStack) -> list[subprocess.Popen[str]]:
    """A compile for each new document; whatever comes, `children` ends and reaps all that were started."""
    started = []
    for number, name in enumerate(names):
        path = vault / f"raw/articles/{name}.md"
        path.write_text(TEXT.format(name=name, number=number, next=number + 1), encoding="utf-8")
        command = [SCRIPT, "--vault", str(vault), "compile", "--json", "--wait", "500"]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        children.callback(_ended, child)
        started.append(child)
    return started


def _ended(child: subprocess.Popen[str]) -> None:
    child.kill()  # nothing, where it has ended
    child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
