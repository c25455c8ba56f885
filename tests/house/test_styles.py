"""A screen's styles are its own: once it was opened they hold in the whole app, so each says whose it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TUI = Path(__file__).resolve().parents[2] / "tui"
STYLES = sorted((TUI / "screens").glob("*.tcss"))


def own_classes() -> set[str]:
    """The names of the classes that are defined in tui/: no style of one of these reaches a stranger."""
    trees = (ast.parse(path.read_text("utf-8")) for path in TUI.rglob("*.py"))
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def selectors(styles: str) -> Iterator[str]:
    for heads in re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL)):
        yield from (" ".join(head.split()) for head in heads.split(","))


def unowned(styles: str, own: set[str]) -> list[str]:
    """The selectors that begin with anything but the name of a class of ours."""
    return [each for each in selectors(styles) if re.split(r"[^\w]", each, maxsplit=1)[0] not in own]


@pytest.mark.parametrize("path", STYLES, ids=[path.stem for path in STYLES])
def test_every_style_of_a_screen_says_whose_it_is(path: Path) -> None:
    assert unowned(path.read_text("utf-8"), own_classes()) == []


def test_a_style_of_nobodys_is_found() -> None:
    styles = "/* A { } */\nEditScreen #a, TextArea:focus { x: y; }\n.b { }\n* { }\nEditScreen.-tall TextArea { }"
    assert unowned(styles, {"EditScreen"}) == ["TextArea:focus", ".b", "*"]
