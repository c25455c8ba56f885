"""A command loads what it needs: what is slow to load stays out of the daily ones, seen in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = """# The spacing effect

The **spacing effect** is the finding that study spread over time is remembered better than study in one block.
It works because each return to the material asks the memory to rebuild it. Unlike cramming, spacing helps for months.
Spacing is used to plan revision before an examination.
"""
READERS = ("trafilatura", "pypdfium2", "markdown_it", "lxml", "sentencex")
MODELS = ("anthropic", "pydantic", "compiler.engines.extractive")
_LOADED = """
print("loaded:", *sorted(sys.modules))
"""
_RUN = f"""
import sys
from cli.main import run
code = run(sys.argv[1:]){_LOADED}
sys.exit(code)
"""
_IMPORT_ALL = f"""
import importlib, pkgutil, sys
for package in sys.argv[1].split():
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if found.name not in sys.argv[2].split():
            importlib.import_module(found.name)
{_LOADED}
"""


def loaded(code: str, *arguments: str, cwd: Path) -> set[str]:
    """The modules that are loaded when `code` ends."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


def of(names: tuple[str, ...], modules: set[str]) -> set[str]:
    """Those of `names` that are among the modules, or have a part among them."""
    return {name for name in names if any(m == name or m.startswith(f"{name}.") for m in modules)}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault made by the commands, with cards in it."""
    root = tmp_path_factory.mktemp("lazy") / "vault"
    loaded(_RUN, "init", str(root), "--no-git", cwd=root.parent)
    (root / "raw/articles/spacing.md").write_text(DOCUMENT, encoding="utf-8")
    loaded(_RUN, "compile", cwd=root)
    assert list((root / "learning/flashcards").glob("*.md"))
    return root


def test_the_version_is_told_without_loading_a_library(tmp_path: Path) -> None:
    script = f"import sys, atexit; sys.argv = ['retain', '--version']; atexit.register(lambda: {_LOADED.strip()})\n"
    modules = loaded(f"{script}from cli.main import main\nmain()", cwd=tmp_path)
    assert of(("click", "typing", "re", "pathlib", "json", "vault", "compiler", "learning", "tui"), modules) == set()
    assert "cli.version" in modules


@pytest.mark.parametrize("command", ["due", "due --json", "due --tag applied", "status", "gaps list", "log"])
def test_a_daily_command_loads_neither_screen_nor_model_nor_reader(compiled: Path, command: str) -> None:
    modules = loaded(_RUN, *command.split(), cwd=compiled)
    assert of(("textual", "genanki", *MODELS, *READERS, "compiler.worker", "rapidfuzz"), modules) == set()
    assert "cli" in modules and "click" in modules


def test_due_loads_no_compiler_at_all_and_the_ratings_neither(compiled: Path) -> None:
    assert of(("compiler", "tui"), loaded(_RUN, "due", cwd=compiled)) == set()
    due = subprocess.run(
        [sys.executable, "-c", "from cli.main import run; run(['due', '--json'])"],
        cwd=compiled,
        capture_output=True,
        text=True,
        check=True,
    )
    card = due.stdout.partition('"id": "')[2][:10]
    modules = loaded(_RUN, "rate", card, "good", cwd=compiled)
    assert of(("compiler", "tui", "textual", "genanki", *MODELS, *READERS), modules) == set()


def test_a_compile_with_nothing_to_do_loads_neither_parser_nor_engine_nor_network(compiled: Path) -> None:
    loaded(_RUN, "compile", cwd=compiled)
    modules = loaded(_RUN, "compile", cwd=compiled)
    heavy = ("compiler.pipeline", "compiler.ingest", "vault.guard", "yaml", "rapidfuzz", "fsrs", "learning.desk", "tui")
    network = ("socket", "ssl", "http", "urllib.request", "subprocess", "multiprocessing")
    assert of((*heavy, *network, *MODELS, *READERS, "textual", "genanki"), modules) == set()
    assert "compiler.snapshot" in modules


def test_the_publisher_of_a_compile_that_has_work_loads_neither_parser_nor_engine(compiled: Path) -> None:
    (compiled / "raw/articles/more.md").write_text(DOCUMENT.replace("spacing", "lag"), encoding="utf-8")
    modules = loaded(_RUN, "compile", cwd=compiled)
    heavy = ("compiler.ingest", "compiler.readers", "compiler.engines.extractive", "anthropic", "textual", "genanki")
    assert of((*heavy, *READERS), modules) == set()
    assert "compiler.pipeline" in modules


def test_learning_loads_neither_screen_nor_model(tmp_path: Path) -> None:
    modules = loaded(_IMPORT_ALL, "learning", "learning.anki", cwd=tmp_path)
    assert of(("textual", "genanki", "compiler", "tui", "cli", *MODELS), modules) == set()
    assert "learning.memory" in modules


def test_the_screens_load_no_model_and_no_exporter(tmp_path: Path) -> None:
    modules = loaded(_IMPORT_ALL, "tui", "", cwd=tmp_path)
    assert of(("genanki", "compiler", "cli", "click", *MODELS, "trafilatura", "pypdfium2", "lxml"), modules) == set()
    assert "tui.app" in modules


def test_the_ground_floor_loads_nothing_from_above(tmp_path: Path) -> None:
    modules = loaded(_IMPORT_ALL, "vault", "", cwd=tmp_path)
    above = ("cli", "tui", "compiler", "learning", "click", "textual", "fsrs", "genanki", *MODELS, *READERS)
    assert of(above, modules) == set()
    assert "vault.guard" in modules
