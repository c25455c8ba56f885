"""PowerPoint presentations: slides in order with their notes, tables, formulas and pictures; hidden ones left alone."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from compiler.readers import zip_archive
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

BOX = (Inches(1), Inches(1), Inches(4), Inches(1))
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def deck() -> Any:
    return pptx.Presentation()


def slide(show: Any, title: str, *bullets: str, notes: str = "") -> Any:
    """A slide with a title and a body of bullets."""
    made = show.slides.add_slide(show.slide_layouts[1])
    made.shapes.title.text = title
    made.placeholders[1].text = "\n".join(bullets)
    if notes:
        made.notes_slide.notes_text_frame.text = notes
    return made


def saved(show: Any) -> bytes:
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def read(show: Any) -> SourceText:
    return read_source(saved(show), "a.pptx")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_slides_are_read_in_order_with_their_notes() -> None:
    show = deck()
    slide(show, "Softmax", "It sums to one.", "It is smooth.", notes="Say that it is a function.\nAnd wait.")
    slide(show, "Masks:", "They hide words.")
    source = read(show)
    assert source.text.split("\n\n") == [
        "Softmax", "It sums to one.", "It is smooth.", "Say that it is a function.", "And wait.", "Masks:",
        "They hide words.",
    ]  # fmt: skip
    assert marked(source, MarkKind.HEADING) == ["Softmax", "Masks:"]
    assert marked(source, MarkKind.ITEM) == ["It sums to one.", "It is smooth.", "They hide words."]
    assert source.locate(source.text.index("It is smooth")) == "slide 1: Softmax"
    assert source.locate(source.text.index("And wait")) == "slide 1, notes"
    assert source.locate(source.text.index("They hide")) == "slide 2: Masks"


def test_a_places_slide_holds_the_words() -> None:
    show = deck()
    for number in range(1, 6):
        slide(show, f"Title {number}", f"Point number {number} is made.")
    data = saved(show)
    source = read_source(data, "a.pptx")
    again = list(pptx.Presentation(io.BytesIO(data)).slides)
    for number in range(1, 6):
        label = source.locate(source.text.index(f"Point number {number}"))
        shown = again[int(label.removeprefix("slide ").partition(":")[0]) - 1]
        assert f"Point number {number}" in shown.placeholders[1].text_frame.text


def test_a_hidden_slide_keeps_its_number_and_its_words_to_itself() -> None:
    show = deck()
    slide(show, "Open", "Seen.")
    slide(show, "Closed", "Not seen.")._element.set("show", "0")
    slide(show, "Open again", "Seen again.")
    source = read(show)
    assert "Not seen" not in source.text
    assert source.locate(source.text.index("Seen again")) == "slide 3: Open again"


def test_levels_links_and_emphasis_are_kept() -> None:
    show = deck()
    made = slide(show, "Softmax", "One", "Two")
    frame = made.placeholders[1].text_frame
    frame.paragraphs[1].level = 1
    frame.paragraphs[0].runs[0].font.bold = True
    frame.paragraphs[1].runs[0].hyperlink.address = "https://example.org/"
    source = read(show)
    assert [m.level for m in source.marks if m.kind is MarkKind.ITEM] == [1, 2]
    assert marked(source, MarkKind.EMPHASIS) == ["One"]
    assert [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.LINK] == [
        ("https://example.org/", "Two")
    ]


def test_tables_groups_and_charts_are_read() -> None:
    show = deck()
    made = slide(show, "Terms", "")
    cells = made.shapes.add_table(3, 2, *BOX).table
    rows = (
        ("Term", "Definition"),
        ("Softmax", "A function that makes shares."),
        ("Mask", "A matrix that hides words."),
    )
    for r, row in enumerate(rows):
        for c, words in enumerate(row):
            cells.cell(r, c).text = words
    group = made.shapes.add_group_shape()
    group.shapes.add_group_shape().shapes.add_textbox(*BOX).text_frame.text = "Deep inside."
    new_data: Any = CategoryChartData
    data = new_data()
    data.categories = ["a", "b"]
    data.add_series("s", (1, 2))
    chart = made.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Loss by step"
    source = read(show)
    assert marked(source, MarkKind.TERM) == ["Softmax", "Mask"]
    assert source.locate(source.text.index("A matrix")) == "slide 1: Terms, row 3"
    assert "Deep inside." in source.text.split("\n\n")
    assert "Loss by step" in marked(source, MarkKind.CAPTION)


def test_pictures_are_noted_where_they_stand_and_given_out() -> None:
    show = deck()
    made = slide(show, "Masks", "Before it.")
    shape = made.shapes.add_picture(io.BytesIO(PIXEL), *BOX)
    shape._element.nvPicPr.cNvPr.set("descr", "A triangle of zeros")
    slide(show, "After", "After it.")
    data = saved(show)
    source = read_source(data, "a.pptx")
    (picture,) = source.pictures
    assert picture.alt == "A triangle of zeros" and "Before it." in source.text[: picture.start]
    assert "After it." in source.text[picture.start :]
    assert zip_archive.picture(data, "a.pptx", picture.target) == PIXEL


def with_formula(show: Any, made: Any) -> Any:
    """Puts a formula at the end of the body, in the wrapping PowerPoint gives it."""
    paragraph = made.placeholders[1].text_frame.paragraphs[-1]._p
    wrapped = etree.fromstring(
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="a14"><a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">'
        f'<m:oMath xmlns:m="{MATH}"><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>'
        "</m:sSup></m:oMath></a14:m></mc:Choice><mc:Fallback/></mc:AlternateContent>"
    )
    paragraph.append(wrapped)
    return show


def test_formulas_are_kept_as_latex() -> None:
    show = deck()
    source = read(with_formula(show, slide(show, "Squares", "It is ")))
    assert source.text == "Squares\n\nIt is $x^{2}$"
    assert marked(source, MarkKind.MATH) == ["$x^{2}$"]


def test_properties_are_the_authors_and_not_the_programs() -> None:
    show = deck()
    slide(show, "Softmax", "It sums to one.")
    assert read(show).properties == {}
    show.core_properties.title, show.core_properties.author = "On masks", "Ada King"
    show.core_properties.created = datetime.datetime(2025, 10, 20)
    assert read(show).properties == {"title": "On masks", "author": "Ada King", "published": "2025-10-20"}
    show.core_properties.title = "PowerPoint Presentation"
    assert read(show).title == "Softmax"


@pytest.mark.parametrize("name", ["ppt/slides/slide1.xml", "ppt/slideLayouts/slideLayout2.xml", "ppt/presentation.xml"])
def test_entities_are_refused_before_any_is_expanded(name: str) -> None:
    show = deck()
    slide(show, "Softmax", "It sums to one.")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(show))) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            if info.filename == name:
                part = part.replace(b"?>", b'?><!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]>', 1)
            new.writestr(info.filename, part)
    with pytest.raises(Unreadable, match="DOCTYPE"):
        read_source(out.getvalue(), "a.pptx")
