"""What every test may use: a home of its own, workers without a process, the real documents, and batteries' figures."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from compiler.workers import model_backend, pool
from tests.batteries import TORTURE, pytest_collection_modifyitems, pytest_runtest_setup, tries  # noqa: F401 (hooks)
from tests.in_process import DirectSpeaker, DirectWorker

_HOMES = count()
_FOLDERS = (
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_DATA_HOME", ".local/share"),
)

# No test is timed: a busy machine must not turn a property into a failure. Nor does luck decide: every run tries the
# same examples, and `make torture` looks for new ones.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not TORTURE,
    max_examples=100 if TORTURE else 50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts a job in the background lets it ignore Ctrl-C, and every child inherits that: tests that
    # interrupt a child need the system's own way.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        return  # it only hands out tests: the processes that run them must start with what it was started to ignore
    # Likewise what nohup and the like ignore. With a handler that does nothing they still don't end the tests, and a
    # program that a test starts has the system's own way.
    for name in ("SIGHUP", "SIGQUIT", "SIGTERM", "SIGTSTP", "SIGUSR1", "SIGUSR2"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Three workers for two cores under `-n auto`: some of the time a test waits for a process or a screen."""
    workers = yield
    return workers if TORTURE else workers + workers // 2


def pytest_collection_finish() -> None:
    """Keep the collected tests out of every later garbage collection: each would look at all of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real documents, review histories and decks; the test is skipped where it isn't there."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("RETAIN_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip("the real documents are not beside this checkout (set RETAIN_TEST_DATA to their folder)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _session_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for what is made once for many tests: never the settings of whoever runs them."""
    home = tmp_path_factory.mktemp("home")
    for name, below in _FOLDERS:
        os.environ[name] = str(home / below)
    return home


@pytest.fixture(scope="session", autouse=True)
def _direct_workers() -> Iterator[None]:
    """Documents are read and models asked in this process, as starting another takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "start_worker", DirectWorker)
        patch.setattr(model_backend, "start_speaker", DirectSpeaker)
        yield


@pytest.fixture(autouse=True)
def _real_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the mark `real_workers`: in processes, as in the product."""
    if request.node.get_closest_marker("real_workers"):
        monkeypatch.setattr(pool, "start_worker", pool.Worker)
        monkeypatch.setattr(model_backend, "start_speaker", model_backend.SpeakerProcess)


@pytest.fixture(autouse=True)
def own_home(_session_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test's own: settings and state of whoever runs the tests are neither read nor written."""
    home = _session_home / str(next(_HOMES))
    home.mkdir()
    for name, below in (("HOME", ""), *_FOLDERS):
        monkeypatch.setenv(name, str(home / below))
    for name in ("RETAIN_VAULT", "RETAIN_CAGED"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def stack_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """`stack_up(top)`: 1,500 folders in each other below `top`; gone in the end, as pytest itself can't remove them."""
    tops = []

    def stack(top: Path) -> None:
        top.mkdir(parents=True, exist_ok=True)
        tops.append(top)
        with monkeypatch.context() as here:
            here.chdir(top)
            for _ in range(1_500):
                os.mkdir("d")  # noqa: PTH102 (no path is that long)
                os.chdir("d")

    yield stack
    for top in tops:
        subprocess.run(["rm", "-rf", str(top / "d")], check=True)


@pytest.fixture(scope="session")
def torture() -> Callable[[int, int], int]:
    """How many tries a battery makes: `full` under RETAIN_TORTURE (`make torture`), else `part` of them."""
    return tries


@pytest.fixture
def tally() -> Callable[..., None]:
    """Takes down one row of a table: what was measured, the figures, and on which page it stands.

    `tally("Torn tails", "340 of 340", page="memory")` is for docs/memory.md; without a page, for docs/guard.md.
    Only `make torture` keeps them (RETAIN_TALLY names its file); each row is one JSON line.
    """

    def take_down(row: str, figures: str, page: str = "guard") -> None:
        path = os.environ.get("RETAIN_TALLY")
        if path:
            line = json.dumps({"page": page, "row": row, "figures": figures}) + "\n"
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, line.encode())
            finally:
                os.close(handle)

    return take_down
