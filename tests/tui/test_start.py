"""Starting the app is cheap, and its parts keep to their places."""

from __future__ import annotations

import ast
from pathlib import Path

from tui import keys
from tui.app import RetainApp
from tui.screens.gaps import GapsScreen
from tui.screens.home import HomeScreen
from tui.screens.review import ReviewScreen

TUI = Path(__file__).resolve().parents[2] / "tui"


def test_a_widget_knows_no_screen_and_no_app() -> None:
    for path in sorted((TUI / "widgets").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith(("tui.screens", "tui.app"))], path.name


def test_only_the_app_knows_the_clock() -> None:
    for path in sorted(TUI.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert not any(word in source for word in (".now(", "time.time(", "monotonic(", ".today(")), path.name


def test_every_key_is_bound_under_its_id_and_none_twice_on_a_screen() -> None:
    for registry, bound in (
        (keys.HOME, HomeScreen),
        (keys.REVIEW, ReviewScreen),
        (keys.GAPS, GapsScreen),
        (keys.APP, RetainApp),
    ):
        ids = {each.id for of_key in bound._merge_bindings().key_to_bindings.values() for each in of_key}
        assert {key.id for key in registry} <= ids
        pressed = [name for key in (*registry, *keys.APP * (registry is not keys.APP)) for name in key.keys.split(",")]
        assert len(pressed) == len(set(pressed))
