"""What notes say of themselves, and the names that they give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compiler.concepts.note_names import note_terms
from compiler.sources.notes import NoteFacts, facts_of
from tests.builders import SETTINGS, make_vault
from vault.config.notes import NoteRules


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("---\ntags: [Physics, heat/flow]\n---\n#Draft here", ("physics", "heat/flow", "draft")),
        ("---\ntags: physics, heat\n---\n", ("physics", "heat")),
        ('---\ntag: "#physics"\n---\n', ("physics",)),
        ("# Heading\n\nno#tag, see https://example.org/#part and C# and #1984", ()),
        ("`#include` and\n\n```c\n#define X\n```\n\n#real", ("real",)),
        ("#Wärme #物理/熱", ("wärme", "物理/熱")),
    ],
)
def test_tags_are_those_that_obsidian_finds(text: str, tags: tuple[str, ...]) -> None:
    assert facts_of(text.encode()).tags == tags


def test_a_note_says_its_other_names_its_links_and_whether_it_is_for_learning() -> None:
    text = "---\naliases:\n  - Heat flow\n  - conduction, thermal\nlearning: false\n---\n"
    text += "[[Physics/Heat#Units|warmth]] ![[plot.png]] `[[no link]]` [[Heat]] [[Entropy.md]]\n"
    facts = facts_of(text.encode())
    assert facts.aliases == ("Heat flow", "conduction, thermal") and facts.links == ("Heat", "Entropy")
    assert not facts.learning and NoteFacts.from_json(facts.as_json()) == facts


@pytest.mark.parametrize(
    "text", ["", " \n", "---\ntags: [a]\n---\n\n", "![[a.png]]\n\n![x](b.png)", "%% later %%", "# \n"]
)
def test_a_note_without_words_is_left_out(text: str) -> None:
    assert facts_of(text.encode()).is_left_out(NoteRules())
    assert not facts_of(f"{text}\n\nWords.".encode()).is_left_out(NoteRules())


def test_damaged_notes_have_no_facts_and_raise_nothing() -> None:
    for data in (b"\xff\xfe\x00", b"---\ntags: [\n---\n", b"---\n" + b"a: [" * 5000, b"[[" * 10_000):
        assert facts_of(data).aliases == ()


def test_a_link_to_what_nobody_wrote_is_a_name_without_explanation_if_several_notes_have_it(tmp_path: Path) -> None:
    rules = replace(SETTINGS, notes=NoteRules((".",)))
    vault = make_vault(tmp_path, {"A.md": "", "B.md": "", "insights/Secret.md": "", "sub/Plot.png": ""}, rules)
    links = ("Entropy", "Secret", "B", "2026-01-02", "Plot", "heat")
    notes = {
        "A.md": NoteFacts(aliases=("alpha",), links=(*links, "Once")),
        "sub/C.md": NoteFacts(aliases=("Heat",), links=links),
        "D.md": NoteFacts(links=("Entropy",)),
    }
    terms = note_terms(vault, notes, {"A.md": "On A", "sub/C.md": "C"})
    assert {t.name for t in terms["A.md"] if t.signal == "named"} == {"Entropy"}
    assert [(t.name, t.aliases) for t in terms["A.md"] if t.signal == "note"] == [
        ("A", ("alpha",)),
        ("On A", ("alpha",)),
    ]
    assert "D.md" not in terms and note_terms(vault, {}, {}) == {}
