"""Words from documents can never act as markup on the screen: the app's own source is read, and has to say so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TUI = Path(__file__).resolve().parents[2] / "tui"
# Widgets that take text, and whether they know `markup=`. One that isn't named here may not be used in tui/ until
# someone has read how it treats a str, and has put it on one of the two lists.
TAKES_MARKUP = {"Static", "OptionList"}
HARMLESS = {"Digits", "Input", "TextArea"}  # show what they hold as it stands; a placeholder is given as Content
MARKUP_ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "loading_text"}
MAKES_MARKUP = {"from_markup", "from_text", "Markdown", "RichLog", "to_content"}


def parsed() -> dict[str, ast.Module]:
    return {str(p.relative_to(TUI.parent)): ast.parse(p.read_text("utf-8")) for p in sorted(TUI.rglob("*.py"))}


def offences(trees: dict[str, ast.Module]) -> list[str]:
    """Every place where a str could reach a widget that reads markup."""
    text_widgets = TAKES_MARKUP | set(subclasses(trees))
    return [f"{path}:{line}: {why}" for path, tree in trees.items() for line, why in _offences(tree, text_widgets)]


def subclasses(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Classes of ours that are such widgets, and hand their arguments on."""
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(_name(base) in TAKES_MARKUP for base in node.bases):
                own = any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body)
                if not own:
                    yield node.name


def _offences(tree: ast.Module, text_widgets: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _call(node, text_widgets)
        elif isinstance(node, ast.ClassDef) and any(_name(base) in TAKES_MARKUP for base in node.bases):
            yield from _class(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _assignment(node)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from _import(node)
        elif isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "rich" for alias in node.names):
            yield node.lineno, "rich reads markup of its own"
        elif isinstance(node, ast.FunctionDef) and node.name == "render" and _source(node.returns) not in RENDERED:
            yield node.lineno, "render must be annotated to give a Content"


RENDERED = {"Content", "Strip"}


def _call(node: ast.Call, text_widgets: set[str]) -> Iterator[tuple[int, str]]:
    name = _name(node.func)
    if name in MAKES_MARKUP:
        yield node.lineno, f"{name} makes markup of a str"
    if (name in text_widgets or name == "notify") and not _without_markup(node):
        yield node.lineno, f"{name}(...) without markup=False"
    if any(keyword.arg in MARKUP_ATTRIBUTES and not _constant(keyword.value) for keyword in node.keywords):
        yield node.lineno, "a title or tooltip is markup, so that it has to be constant"


def _class(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    """A widget of ours with its own __init__ switches markup off there."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            ups = [c for c in ast.walk(item) if isinstance(c, ast.Call) and _name(c.func) == "__init__"]
            if not ups or not all(map(_without_markup, ups)):
                yield item.lineno, f"{node.name}.__init__ does not pass markup=False on"


def _assignment(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[tuple[int, str]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Attribute) and target.attr in MARKUP_ATTRIBUTES and not _constant(node.value):
            yield node.lineno, f"{target.attr} is markup, so that it has to be constant"


def _import(node: ast.ImportFrom) -> Iterator[tuple[int, str]]:
    assert node.module is not None
    if node.module.split(".")[0] == "rich":
        yield node.lineno, "rich reads markup of its own"
    if node.module == "textual.widgets":
        for alias in node.names:
            if alias.name not in TAKES_MARKUP | HARMLESS:
                yield node.lineno, f"nobody has said yet how {alias.name} treats a str"


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _source(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""


def _constant(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant)


def _without_markup(node: ast.Call) -> bool:
    return any(
        k.arg == "markup" and isinstance(k.value, ast.Constant) and k.value.value is False for k in node.keywords
    )


def test_no_word_can_act_as_markup_on_the_screen() -> None:
    trees = parsed()
    assert len(trees) > 15
    assert offences(trees) == []


@pytest.mark.parametrize(
    "mutant",
    [
        "Static(f'{question}')",
        "Static(question)",
        "Static('always the same')",
        "Static(question, markup=True)",
        "widgets.Static(question)",
        "self.notify(f'{path} is gone')",
        "self.app.notify(message, title='x')",
        "OptionList(*names)",
        "class Card(Static): ...\nCard(question)",
        "class Card(Static):\n    def __init__(self, q):\n        super().__init__(q)",
        "class Card(Static):\n    def __init__(self, q):\n        self.q = q",
        "panel.border_title = source",
        "panel.border_subtitle = f'{n} gaps'",
        "panel.tooltip = card.question",
        "Tile(tooltip=card.question)",
        "Content.from_markup(question)",
        "from rich.text import Text",
        "import rich.markup",
        "from textual.widgets import Markdown",
        "from textual.widgets import Button",
        "class Bar(Widget):\n    def render(self) -> str: return self.words",
        "class Bar(Widget):\n    def render(self): return self.words",
    ],
)
def test_the_check_catches_a_mutant(mutant: str) -> None:
    assert offences({"tui/mutant.py": ast.parse(mutant)})


@pytest.mark.parametrize(
    "fine",
    [
        "Static(text.prose(question), markup=False)",
        "self.notify(message, markup=False)",
        "class Card(Static): ...\nCard(question, markup=False)",
        "class Card(Static):\n    def __init__(self):\n        super().__init__(markup=False)\nCard()",
        "panel.border_title = 'Source'",
        "class Bar(Widget):\n    def render(self) -> Content: return self.words",
    ],
)
def test_the_check_lets_inert_words_pass(fine: str) -> None:
    assert offences({"tui/fine.py": ast.parse(fine)}) == []
