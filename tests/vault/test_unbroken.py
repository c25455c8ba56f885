"""A thread that nobody waits for is not cut off between two files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WRITES = """
import sys
from threading import Event, Thread
from time import sleep
from pathlib import Path
from vault.process.signals import unbroken

folder, begun = Path(sys.argv[1]), Event()

def write():
    with unbroken():
        begun.set()
        sleep(0.3)  # the program has ended by then
        (folder / "second").write_text("")

Thread(target=write, daemon=True).start()
begun.wait()
"""


def test_the_end_of_the_program_waits_for_a_write_that_has_begun(tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{WRITES}", tmp_path], check=True)
    assert (tmp_path / "second").exists()
