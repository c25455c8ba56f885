"""Jupyter notebooks read cell by cell, and the pictures inside them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from compiler.readers.read import read_source
from compiler.readers.text.notebook import MAX_PICTURE, picture
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n pixels").decode()


def made(*cells: dict[str, Any], **metadata: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}).encode()


def read(*cells: dict[str, Any], **metadata: Any) -> SourceText:
    return read_source(made(*cells, **metadata), "lesson.ipynb")


def markdown(*lines: str, **rest: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": list(lines), **rest}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_a_place_is_the_nearest_heading_and_the_cell_counted_from_one() -> None:
    source = read(markdown("before\n"), code("x = 1"), markdown("# Softmax\n", "\n", "It sums to $1$.\n"))
    assert source.locate(source.text.index("before")) == "cell 1"
    assert source.locate(source.text.index("x = 1")) == "cell 2"
    assert source.locate(source.text.index("It sums")) == "Softmax, cell 3"
    assert source.title == "Softmax"


def test_code_keeps_its_language_and_is_no_prose() -> None:
    source = read(code("# said in code\nx = 1"), code("%%bash\nls"), language_info={"name": "julia"})
    blocks = [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.CODE]
    assert blocks == [("julia", "# said in code\nx = 1"), ("bash", "%%bash\nls")]


def test_outputs_are_kept_briefly_and_errors_and_the_names_of_objects_are_not() -> None:
    source = read(
        code(
            "f()",
            {"output_type": "stream", "name": "stdout", "text": ["ok \x1b[31mred\x1b[0m\n"]},
            {"output_type": "stream", "name": "stderr", "text": "warning: old\n"},
            {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["Traceback"]},
            {"output_type": "execute_result", "data": {"text/plain": "<Figure size 640x480 with 1 Axes>"}},
            {"output_type": "execute_result", "data": {"text/latex": "$\\alpha$", "text/plain": "a"}},
            {"output_type": "execute_result", "data": {"text/markdown": "It *holds*.", "text/plain": "b"}},
            {"output_type": "execute_result", "data": {"text/plain": "9" * 5_000}},
        )
    )
    parts = source.text.split("\n\n")
    assert parts[:4] == ["f()", "ok red", "$\\alpha$", "It holds."]
    assert parts[4].endswith("9…") and len(parts[4]) < 1_100


def test_pictures_in_outputs_and_attachments_are_named_and_can_be_had() -> None:
    cells = (
        markdown("See ![curve](attachment:my%20curve.png) here.\n", attachments={"my curve.png": {"image/png": PIXEL}}),
        code("plot()", {"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": "<Figure>"}}),
    )
    source = read(*cells)
    assert [p.target for p in source.pictures] == [
        "embedded:cell-1-attachment-0.png",
        "embedded:cell-2-output-0.png",
    ]
    for p in source.pictures:
        assert picture(made(*cells), "lesson.ipynb", p.target) == b"\x89PNG\r\n\x1a\n pixels"


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("embedded:cell-1-output-0.png", {"image/png": "not base64!"}),
        ("embedded:cell-1-output-0.png", {"image/png": "A" * (2 * MAX_PICTURE)}),
        ("embedded:cell-1-output-0.png", {"text/plain": "x"}),
        ("embedded:cell-1-output-7.png", {"image/png": PIXEL}),
        ("embedded:cell-9-output-0.png", {"image/png": PIXEL}),
        ("embedded:../../etc/passwd", {"image/png": PIXEL}),
    ],
)
def test_a_picture_that_is_not_there_or_is_damaged_is_refused(target: str, shown: dict[str, str]) -> None:
    data = made(code("x", {"output_type": "display_data", "data": shown}))
    with pytest.raises(Unreadable):
        picture(data, "lesson.ipynb", target)


def test_old_formats_keep_their_cells_in_worksheets() -> None:
    old = {
        "nbformat": 3,
        "metadata": {},
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Old times"]},
                    {"cell_type": "code", "input": ["x"], "language": "python", "outputs": []},
                ]
            }
        ],
    }
    source = read_source(json.dumps(old).encode(), "old.ipynb")
    assert source.text == "Old times\n\nx"
    assert source.locate(source.text.index("x")) == "Old times, cell 2"


def test_formulas_stand_without_dollars_as_notebooks_have_them() -> None:
    source = read(markdown("We get\n", "\\begin{align}\n", "a &= b\n", "\\end{align}\n", "and \\\\(x^2\\\\) too.\n"))
    shown = [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.MATH]
    assert shown == ["$$\\begin{aligned} a &= b \\end{aligned}$$", "$x^2$"]


def test_title_and_authors_come_from_the_metadata() -> None:
    source = read(markdown("words here\n"), title="Lesson", authors=[{"name": "Ann"}, {"name": "Bo"}])
    assert source.properties == {"title": "Lesson", "author": "Ann, Bo"}


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[" * 50_000,
        b"[]",
        b'{"nbformat": 4}',
        b'{"nbformat": "x", "cells": []}',
        b'{"cells": []}',
        b'{"cells": 3}',
    ],
)
def test_what_is_no_notebook_is_named_in_one_line(data: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_source(data, "a.ipynb")
    assert "\n" not in str(refused.value)


def test_more_cells_than_a_human_writes_are_refused() -> None:
    with pytest.raises(Unreadable, match="cells"):
        read(*[{"cell_type": "raw"}] * 20_001)
