"""What the app says stands in tui/strings/: no screen and no widget holds a sentence of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TUI = Path(__file__).resolve().parents[2] / "tui"
# Titles of frames have to be constants where they are set, as they are markup; see test_no_markup.py.
_TITLES = {"border_title", "border_subtitle"}
_SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")
# What a blank between letters means in a style, a selector, a list of classes or an action: no sentence.
_STYLE = re.compile(r"(?:\s*(?:bold|dim|reverse|underline|italic|not|none|on|\$[a-z-]+|\d+%))+\s*")
_SELECTOR = re.compile(r"[#.\w-]+(?:[ >]+[#.][\w-]+)+|[#.][\w-]+(?:[ >]+[#.]?[\w-]+)+")


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every constant text in a module that reads like words for people, with its line."""
    docs = {id(node) for node in _docstrings(tree)} | {id(node) for node in _titles(tree)} | set(_queries(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            words = node.value
            if _SENTENCE.search(words) and not _STYLE.fullmatch(words) and not _SELECTOR.fullmatch(words):
                yield node.lineno, words


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _titles(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            named = [each for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Attribute)]
            if any(each.attr in _TITLES for each in named):
                yield from ast.walk(node.value)


def _queries(tree: ast.Module) -> Iterator[int]:
    """Selectors and classes, wherever they are asked for; what defects say to whoever mends them."""
    asked = {"query", "query_one", "query_exactly_one", "add_class", "remove_class", "set_class", "has_class"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            given = node.args if name in asked else []
            given = [*given, *(k.value for k in node.keywords if k.arg in ("classes", "id", "initial"))]
            yield from (id(each) for arg in given for each in ast.walk(arg))
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield from (id(each) for each in ast.walk(node.msg))


def test_no_screen_and_no_widget_holds_a_sentence() -> None:
    paths = sorted(
        [*(TUI / "screens").rglob("*.py"), *(TUI / "widgets").rglob("*.py"), TUI / "app.py", TUI / "page.py"]
    )
    found = [
        f"{path.relative_to(TUI.parent)}:{line}: {words!r}"
        for path in paths
        for line, words in sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(paths) > 10
    assert found == [], "put it into tui/strings/"


@pytest.mark.parametrize(
    "mutant",
    [
        "self.say('Nothing is due.')",
        "yield Static(text.plain(f'{n} cards to go'), markup=False)",
        "TITLE = 'Reading agenda'",
        "raise UsageError('no such card', hint='look at the list')",
        "Input(placeholder='Search the cards')",
    ],
)
def test_the_check_catches_a_mutant(mutant: str) -> None:
    assert list(sentences(ast.parse(mutant)))


@pytest.mark.parametrize(
    "fine",
    [
        '"""A docstring with words in it."""',
        "self.query_one('#table Static')",
        "Content.styled(words, 'bold $text-primary')",
        "Static(classes='bar note', markup=False)",
        "box.border_title = 'Reading agenda'",
        "key.action == 'rate(1)'",
    ],
)
def test_the_check_lets_what_is_no_sentence_pass(fine: str) -> None:
    assert not list(sentences(ast.parse(fine)))
