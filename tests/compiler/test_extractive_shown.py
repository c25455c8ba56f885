"""A sentence that points at a figure is a claim like any other; what it points with stays in its quote."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from compiler.build.compile import Options, compile_vault
from compiler.engines.extractive import ExtractiveEngine
from compiler.engines.extractive.grammar.shown import without_shown
from compiler.model.requests import ExtractRequest
from vault.config.settings import Settings, render_settings
from vault.ids import ulid
from vault.layout import FLASHCARDS
from vault.vault import Vault, open_vault

SAID = "A winch is a drum that winds up a rope by means of a crank."
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
POINTERS = [
    "as the figure below shows",
    "as the picture above shows",
    "as Figure 1 shows",
    "as Fig. 2.3 illustrates",
    "as shown in Figure 4a",
    "as shown in the figure below",
    "as can be seen in Figure 12",
    "as the diagram on the left shows",
    "as is illustrated by the following drawing",
    "as in Figure 3",
    "as shown below",
    "shown in the figure above",
    "see the picture below",
    "as Table 2 shows",
]


@pytest.mark.parametrize("pointer", POINTERS)
def test_a_clause_that_points_at_a_figure_is_left_out_wherever_it_stands(pointer: str) -> None:
    assert without_shown(f"{SAID[:-1]}, {pointer}.") == SAID
    assert without_shown(f"{pointer[:1].upper()}{pointer[1:]}, a{SAID[1:]}") == SAID
    assert without_shown(f"{SAID[:7]}, {pointer}, {SAID[8:]}") == SAID
    assert without_shown(f"{SAID[:-1]} ({pointer}).") == SAID


@pytest.mark.parametrize(
    "sentence",
    [
        "The figure below shows a winch with two drums.",
        "A plot is a figure that shows how one quantity depends on another.",
        "A table is a piece of furniture with a flat top, as a desk is.",
        "A diagram is a drawing that leaves out what does not matter.",
        "Figures of speech, as the name shows, are ways to speak.",
        "A winch is shown in Figure 3.",
        "A graph is drawn as a set of points and lines between them.",
    ],
)
def test_a_sentence_about_figures_stays_whole(sentence: str) -> None:
    assert without_shown(sentence) == sentence


def test_a_sentence_keeps_the_comma_before_its_main_clause() -> None:
    said = "In calm water, as Figure 2 shows, a winch pulls a boat ashore."
    assert without_shown(said) == "In calm water, a winch pulls a boat ashore."


@settings(max_examples=100)
@given(st.lists(st.sampled_from("a the figure below 1 as shows , ( ) shown in . picture tide".split()), max_size=25))
def test_words_are_only_left_out_and_never_changed_or_moved(parts: list[str]) -> None:
    sentence = " ".join(parts)
    rest = iter(sentence.casefold())
    assert all(letter in rest for letter in without_shown(sentence).casefold())


@pytest.mark.parametrize("pointer", POINTERS)
def test_a_definition_that_points_at_a_figure_is_claimed(pointer: str) -> None:
    quote = f"{SAID[:-1]}, {pointer}."
    request = ExtractRequest(title="Machines", headings=("Winch",), text=quote, marks=(), language="en")
    [claim] = ExtractiveEngine().extract(request).claims
    assert (claim.quote, claim.statement, claim.about) == (quote, SAID, ("winch",))


def compiled(root: Path, documents: dict[str, str]) -> Vault:
    (root / "raw/articles").mkdir(parents=True)
    (root / "insights").mkdir()
    drawn = io.BytesIO()
    Image.new("RGB", (60, 40), (20, 90, 140)).save(drawn, "PNG")
    (root / "raw/articles/winch.png").write_bytes(drawn.getvalue())
    for name, text in documents.items():
        (root / "raw/articles" / name).write_text(text)
    made = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="machines")
    (root / "retain.toml").write_text(render_settings(made))
    vault = open_vault(str(root), None, root)
    compile_vault(vault, Options(), NOON, lambda event: None)
    return vault


def test_the_card_has_the_picture_and_not_the_words_that_point_at_it(tmp_path: Path) -> None:
    told = {
        "winch.md": f"# Winch\n\n{SAID[:-1]}, as the figure below shows.\n\n![The drum](winch.png)\n",
        "capstan.md": "# Capstan\n\nA **capstan** is a drum on a shaft that stands upright and winds up a rope:\n\n"
        "![The shaft](winch.png)\n",
    }
    vault = compiled(tmp_path / "vault", told)
    winch, capstan = (vault.read_text(f"{FLASHCARDS}/{name}.md") or "" for name in ("winch", "capstan"))
    assert "A: A drum that winds up a rope by means of a crank.\n![[wiki/assets/" in winch
    assert "figure" not in winch
    assert "A: A drum on a shaft that stands upright and winds up a rope.\n![[wiki/assets/" in capstan
    assert (vault.read_text("wiki/concepts/winch.md") or "").count("![[wiki/assets/") == 1


def test_a_clause_added_to_many_definitions_loses_none_of_them() -> None:
    tools = ["bellows hook", "cold chisel", "hand drill", "lathe", "mallet", "rasp", "set hammer", "vice"]
    plain = [f"A {t} is a tool that a smith keeps in drawer {n} of the workshop." for n, t in enumerate(tools)]
    text = "\n\n".join(f"{p[:-1]}, as the figure below shows." for p in plain)
    request = ExtractRequest(title="Tools", headings=(), text=text, language="en")
    assert [c.statement for c in ExtractiveEngine().extract(request).claims] == plain
