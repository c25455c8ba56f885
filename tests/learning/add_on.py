"""The add-on AnkiConnect from its own source, before a real collection, without Anki's windows.

RETAIN_ANKICONNECT names the add-on's folder. What it takes from `aqt` besides the collection are windows, which are
empty classes here; older names of Anki's own methods, that the add-on may use mean the present ones.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.learning.connect_server import ConnectServer
from tests.learning.running_anki import the_add_on


class AddOn(ConnectServer):
    """The server of `ConnectServer` with the add-on's own answers."""

    add_on: Any = None

    def answer(self, request: Any) -> dict[str, Any]:
        self.calls.append(request["action"])
        params = {"origin": "", "allowed": True} if request["action"] == "requestPermission" else {}
        answer: dict[str, Any] = self.add_on.handler(request | {"params": request.get("params", {}) | params})
        copied: dict[str, Any] = json.loads(json.dumps(answer))
        return copied


class _Windows(ModuleType):
    """A module of windows: each name is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


@contextmanager
def add_on_before(col: Any) -> Iterator[AddOn]:
    """The add-on before that collection; skips the test where RETAIN_ANKICONNECT names none."""
    from anki.buildinfo import version

    folder, before = the_add_on(), dict(sys.modules)
    windows = {name: _Windows(name) for name in ("aqt", "aqt.qt", "plugin.edit")}
    nothing = SimpleNamespace(getConfig=lambda _: {})
    window = SimpleNamespace(col=col, addonManager=nothing, requireReset=_ignore, maybeReset=_ignore, reset=_ignore)
    windows["aqt"].appVersion, windows["aqt"].mw = version, window  # type: ignore[attr-defined]
    try:
        sys.modules.update(windows)
        yield _served(folder, col)
    finally:
        for name in sys.modules.keys() - before.keys():
            del sys.modules[name]


def _ignore(*_: Any) -> None:
    """Do nothing, as a window that nobody sees."""


def _served(folder: Path, col: Any) -> AddOn:
    """The add-on, loaded under the name by which it starts no server of its own."""
    found = importlib.util.spec_from_file_location(
        "plugin", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["plugin"] = module
    found.loader.exec_module(module)
    served = AddOn(col)
    served.add_on = module.AnkiConnect()
    return served
