"""Titles and tasks, whatever the kind of document: a number is no title, and what is asked is not asserted."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(markdown: str, name: str = "the file.md") -> SourceText:
    return read_source(markdown.encode(), name)


def asked(source: SourceText) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.QUESTION]


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("# 1.5 Thermal emission:\n\nWords.\n", "Thermal emission"),
        ("# Chapter 3: Sampling\n\nWords.\n", "Sampling"),
        ("# Kapitel 4 Die Zelle\n\nWorte.\n", "Die Zelle"),
        ("# Version 2.0 of it\n\nWords.\n", "Version 2.0 of it"),
        ("# 12 angry men\n\nWords.\n", "12 angry men"),
        ("---\ntitle: Chapter 3\n---\n# Sampling\n\nWords.\n", "Sampling"),
        ("---\ntitle: Untitled\n---\nWords.\n", "the file"),
        ("# Slide 1\n\nWords.\n", "the file"),
        ("# 1 Introduction\n\nWords.\n\n# 2 Methods\n\nMore.\n", "the file"),
        ("# 802.11 networks\n\nWords.\n", "802.11 networks"),
        ("---\ntitle: 03. The office\n---\nWords.\n", "The office"),
        ("# 1. Demand\n\n## 1.1 Curves\n\nWords.\n", "Demand"),
        ("# 1. Weltkrieg\n\n## Folgen\n\nWorte.\n", "1. Weltkrieg"),
        ("# VII\n\nWords.\n", "the file"),
        ("## Table of contents\n\nWords.\n\n## Hops\n\nMore.\n", "the file"),
        ("#### Status\n\nDone.\n\n## 8.1 Calibration\n\nWords.\n\n### Noise\n\nMore.\n", "Calibration"),
        ('+++\ntitle = "Hops"\ndate = 2020-01-19\n\n[site]\ndeep = true\n+++\n# Table of contents\n\nWords.\n', "Hops"),
    ],
)
def test_a_title_is_the_documents_own_and_no_number(markdown: str, title: str) -> None:
    assert read(markdown).title == title


def test_sections_of_tasks_are_not_asserted() -> None:
    source = read(
        "# Cells\n\n## Learning objectives\n\nName the parts.\n\n## Walls\n\nThey are firm.\n\n"
        "## 1.2 Review Questions\n\nAll cells have a wall.\n\n### Answers\n\nNo.\n\n## End\n\nSo it is.\n"
    )
    assert asked(source) == ["Name the parts.", "All cells have a wall.\n\nAnswers\n\nNo."]


def test_lists_of_other_works_are_not_asserted_but_chapters_about_references_are() -> None:
    works = "A. Lee. Cells are made of parts, 2007.\n\nB. Bo. Walls are firm. https://a.b/c"
    assert asked(read(f"# Cells\n\nWords.\n\n## 5. References\n\n{works}\n\n## Appendix\n\nMore.\n")) == [works]
    assert asked(read("# Memory\n\nWords.\n\n## References\n\nA reference is an address.\n\nIt is never null.\n")) == []


def test_a_document_about_exercises_is_asserted() -> None:
    assert asked(read("# Exercises\n\nThey keep people healthy.\n")) == []
    assert asked(read("# Body\n\nWords.\n\n## Exercises\n")) == []
