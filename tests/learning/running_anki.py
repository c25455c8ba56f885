"""Anki itself, its own windows and all, with the add-on AnkiConnect, in a folder of its own and on no screen.

RETAIN_ANKICONNECT names the add-on's folder (the one with its `__init__.py`). Anki's Python package `aqt` is looked
for here, or in the Python that RETAIN_ANKI_PYTHON names. Windows go to Xvfb, or nowhere where Qt can do without.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from learning.anki_connect.client import AnkiConnect, AnkiNotReached, connected

_WAIT_S = 90
# A profile, as Anki would ask for its language on the first start; then the program as its own command starts it.
_START = """\
import sys
from pathlib import Path
import aqt, aqt.profiles
profiles = aqt.profiles.ProfileManager(Path(sys.argv[1]))
profiles.setupMeta()
profiles.setLang("en")
profiles.create("Mind")
profiles.load("Mind")
profiles.meta.update(firstRun=False, updates=False, suppressUpdate=True)
profiles.save()
profiles.db.close()
sys.argv = ["anki", "-b", sys.argv[1], "-p", "Mind", "-l", "en"]
aqt.run()
"""


def python_with_aqt() -> str:
    """A Python that has Anki's windows; skips the test that asks where there is none."""
    named = os.environ.get("RETAIN_ANKI_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("aqt") is None:
        pytest.skip("aqt, Anki's own program, is not installed (set RETAIN_ANKI_PYTHON to a Python that has it)")
    return sys.executable


def the_add_on() -> Path:
    """The folder of AnkiConnect; skips the test that asks where none is named."""
    folder = Path(os.environ.get("RETAIN_ANKICONNECT", ""))
    if not os.environ.get("RETAIN_ANKICONNECT") or not (folder / "__init__.py").is_file():
        pytest.skip("RETAIN_ANKICONNECT does not name the folder of the add-on AnkiConnect")
    return folder


@contextmanager
def running_anki(base: Path) -> Iterator[AnkiConnect]:
    """Anki with a new profile below `base`, as soon as AnkiConnect answers."""
    add_on, python = the_add_on(), python_with_aqt()
    home = base / "addons21" / "AnkiConnect"
    shutil.copytree(add_on, home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (home / "meta.json").write_text(json.dumps({"name": "AnkiConnect", "config": {"webBindPort": port}}))
    run = base / "run"
    run.mkdir(mode=0o700)
    environment = os.environ | {"XDG_RUNTIME_DIR": str(run), "QTWEBENGINE_DISABLE_SANDBOX": "1"}
    screen = ["xvfb-run", "-a"] if shutil.which("xvfb-run") else []
    if not screen:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    with (base / "anki.log").open("wb") as log:
        process = subprocess.Popen(
            [*screen, python, "-c", _START, str(base)], env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield _answering(process, f"http://127.0.0.1:{port}", base / "anki.log")
    finally:
        for way in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, way)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
                break


def _answering(process: subprocess.Popen[bytes], url: str, log: Path) -> AnkiConnect:
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            anki = connected(url)
            if isinstance(anki.call("deckNames"), list):  # a collection is open
                return anki
        except Exception as problem:
            if not isinstance(problem, AnkiNotReached) and "collection" not in str(problem):
                raise
        time.sleep(0.2)
    raise AssertionError(f"Anki did not come up:\n{log.read_text(errors='replace')[-2000:]}")
