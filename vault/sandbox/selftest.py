"""One self-test of the sandbox: a process in it tries a write in `insights/`, which must fail, and one in `wiki/`.

`python -I -m vault.sandbox.selftest ROOT LEVEL [PERSONAL]` runs it and says how it went by its exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from vault.errors import RetainError
from vault.files.write_scopes import HUMAN_FOLDERS, TEMP_PREFIX
from vault.sandbox.capabilities import Level

_SECONDS = 60.0
_COMMAND = (sys.executable, "-I", "-m", "vault.sandbox.selftest")
_RAN, _WROTE_INSIGHTS, _NOT_WIKI = 16, 1, 2  # bits of the exit code
_TRY = f"""
import os, sys
code = {_RAN}
for path, bit, wanted in ((sys.argv[1], {_WROTE_INSIGHTS}, False), (sys.argv[2], {_NOT_WIKI}, True)):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(path)
        written = True
    except OSError:
        written = False
    code |= bit if written is not wanted else 0
sys.exit(code)
"""


def run(root: Path, level: Level, personal: Path | None) -> str:
    """Return what is wrong with a sandbox of that level around the vault at `root`; "" if it holds.

    Raises: RetainError if the test did not run.
    """
    command = [*_COMMAND, str(root), level.name, *([str(personal)] if personal else [])]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RetainError(f"the self-test of the sandbox did not run: {error}") from error
    if done.returncode not in range(_RAN, _RAN + 4):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RetainError(f"the self-test of the sandbox failed: {said[-1] if said else done.returncode}")
    wrong = ["a process in it could write to insights/"] if done.returncode & _WROTE_INSIGHTS else []
    wrong += ["a process in it could not write to wiki/"] if done.returncode & _NOT_WIKI else []
    return "; ".join(wrong)


def _main(root: Path, level: Level, personal: Path | None) -> int:
    from vault.sandbox.sandbox import Sandbox, run_in_sandbox

    name = f"{TEMP_PREFIX}{os.urandom(8).hex()}"
    insights = next((root / each for each in HUMAN_FOLDERS if (root / each).is_dir()), root)
    command = [sys.executable, "-I", "-S", "-c", _TRY, str(insights / name), str(root / "wiki" / name)]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return run_in_sandbox(Sandbox(root, level, personal=personal), command, cwd=root, env=environment)


if __name__ == "__main__":
    try:
        sys.exit(_main(Path(sys.argv[1]), Level[sys.argv[2]], Path(sys.argv[3]) if len(sys.argv) > 3 else None))
    except RetainError as problem:
        sys.exit(str(problem))
