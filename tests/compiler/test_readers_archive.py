"""Office files and e-books that are broken or mean harm: one clear refusal, or sound text."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from functools import cache
from typing import Any

import openpyxl
import pptx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.readers import zip_archive
from compiler.readers.read import read_source
from tests.batteries import examples
from vault.errors import Unreadable
from vault.text.formatting import normal

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
SENTENCE = "The softmax function turns a vector of scores into shares."


def zipped(parts: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def docx(body: str = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>", parts: dict[str, bytes] | None = None) -> bytes:
    document = f"<w:document {W} {M}><w:body>{body}</w:body></w:document>"
    return zipped({"[Content_Types].xml": TYPES, "word/document.xml": document, **(parts or {})})


def xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row in (["Term", "Definition", "n"], ["Softmax", SENTENCE, 1], ["Mask", "A matrix that hides words.", 2.5]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def deck() -> bytes:
    show = pptx.Presentation()
    made = show.slides.add_slide(show.slide_layouts[1])
    made.shapes.title.text, made.placeholders[1].text = "Softmax", SENTENCE
    made.notes_slide.notes_text_frame.text = "Say it twice."
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def epub(chapter: str = f"<html><body><h1>Softmax</h1><p>{SENTENCE}</p></body></html>") -> bytes:
    container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    item = '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    package = f'<package><manifest>{item}</manifest><spine><itemref idref="a"/></spine></package>'
    return zipped({"META-INF/container.xml": container, "b.opf": package, "a.xhtml": chapter})


@cache
def seeds() -> dict[str, bytes]:
    """One sound document of each kind by its file name."""
    table = f'Term;Definition\nSoftmax;"{SENTENCE}"\nMask;"A matrix\nthat hides words."\n'.encode()
    return {"a.docx": docx(), "a.xlsx": xlsx(), "a.pptx": deck(), "a.epub": epub(), "a.csv": table}


def read_or_refused(data: bytes, name: str) -> None:
    try:
        source = read_source(data, name)
    except Unreadable as refusal:
        assert refusal.what and "\n" not in str(refusal)
        return
    assert normal(source.text) == source.text and source.text.strip("\n") == source.text and "\n\n\n" not in source.text
    assert all(0 <= m.start < m.end <= len(source.text) for m in source.marks)
    starts = [p.start for p in source.places]
    assert starts == sorted(set(starts)) and starts[0] == 0 and starts[-1] < len(source.text)
    assert all(p.label and " · " not in p.label and "\n" not in p.label for p in source.places)
    assert read_source(data, name) == source


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.epub", "a.csv"])
def test_every_seed_is_read(name: str) -> None:
    assert SENTENCE in read_source(seeds()[name], name).text


NAMES = st.sampled_from(["a.docx", "a.xlsx", "a.pptx", "a.epub", "a.csv"])


@given(NAMES, st.integers(0, 2**32), st.integers(1, 12))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_changed_in_a_file(name: str, seed: int, times: int) -> None:
    chance, data = random.Random(seed), bytearray(seeds()[name])
    for _ in range(times):
        at = chance.randrange(max(len(data), 1))
        match chance.randrange(4):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.randrange(1, 40)]
            case 2:
                data[at:at] = data[: chance.randrange(1, 40)]
            case _:
                data = data[: max(at, 8)]
    read_or_refused(bytes(data), name)


PIECES = st.sampled_from(
    [
        b"<", b">", b"</", b"/>", b"&", b"&#0;", b"&#x202e;", b"<!DOCTYPE x>", b"<!--", b"]]>", b"<![CDATA[", b"\x00",
        b"\xff", b'<w:p xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">', b"<w:tbl/>", b"<w:r>",
        b'<c r="XFD1048576"><v>1</v></c>', b'r="9999999999"', b't="s"', b"<row/>", b"<v>-1</v>", b"<v>1e400</v>",
        b"<a:p/>", b"<p:sp/>", b"<a:tbl/>", b"<p:grpSp>", b"<table><tr><td rowspan=99999 colspan=99999>x", b"<h1>",
        b"<img src='../../x'>", b"\xe2\x80\xae", b"e\xcc\x81", b"id=", b'Target="../../../x"', b'"', b"<li>", b"<w:tc>",
    ]
)  # fmt: skip


@given(NAMES, st.data())
@settings(
    max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
def test_any_part_of_a_file_rewritten(name: str, data: st.DataObject) -> None:
    if name == "a.csv":
        pieces = data.draw(st.lists(st.sampled_from('a,;\t"\n |=é. 1') | st.just(SENTENCE), max_size=40))
        read_or_refused("".join(pieces).encode() or b"x", name)
        return
    parts = parts_of(seeds()[name])
    for _ in range(data.draw(st.integers(1, 3))):
        part = data.draw(st.sampled_from(sorted(parts)))
        match data.draw(st.integers(0, 3)):
            case 0:
                parts.pop(part)
            case 1:
                parts[part] = parts[data.draw(st.sampled_from(sorted(parts)))]
            case _:
                at = data.draw(st.integers(0, len(parts[part])))
                cut = data.draw(st.integers(0, 30))
                parts[part] = parts[part][:at] + data.draw(PIECES) + parts[part][at + cut :]
        if not parts:
            return
    read_or_refused(zipped(parts), name)


@given(NAMES, NAMES)
@settings(max_examples=25, deadline=None)
def test_a_file_under_another_kinds_name_is_named(kept: str, name: str) -> None:
    if kept != name and "csv" not in kept + name:
        with pytest.raises(Unreadable, match="despite its file extension"):
            read_source(seeds()[kept], name)


def test_what_keeps_an_archive_from_being_opened_is_said() -> None:
    sound = seeds()["a.docx"]
    locked = bytearray(sound)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := locked.find(mark, start + 1)) >= 0:
            locked[start + at] |= 1
    for data, words in (
        (sound[: len(sound) // 2], "cut off"),
        (bytes(locked), "password"),
        (zipped({"word/document.xml": "<x/>"}), "not a Word document"),
        (zipped({"inner.zip": sound}), "not a Word document"),
        (docx(parts={f"x/{i}": b"" for i in range(zip_archive.MAX_ENTRIES)}), "more than 20,000 parts"),
    ):
        with pytest.raises(Unreadable, match=words):
            read_source(data, "a.docx")


def test_zip_bombs_are_refused_before_they_unpack() -> None:
    vast = b" " * (zip_archive.MAX_XML + 1)
    for data, name, words in (
        (docx(parts={"word/media/a.png": bytes(zip_archive.SMALL)}), "a.docx", "zip bomb"),
        (docx(f"<w:p/>{vast.decode()}"), "a.docx", "larger than 24 MiB"),
        (epub(f"<html>{vast.decode()}</html>"), "a.epub", "larger than 12 MiB"),
        (zipped({**parts_of(seeds()["a.xlsx"]), "xl/styles.xml": vast * 2}), "a.xlsx", "larger than 48 MiB"),
        (zipped({**parts_of(seeds()["a.pptx"]), "ppt/slides/slide1.xml": vast}), "a.pptx", "larger than 24 MiB"),
    ):
        with pytest.raises(Unreadable, match=words):
            read_source(data, name)


def test_a_part_larger_than_the_archive_says_is_refused() -> None:
    data = bytearray(docx(f"<w:p><w:r><w:t>{'x' * 5_000}</w:t></w:r></w:p>"))
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    with pytest.raises(Unreadable):
        read_source(bytes(data), "a.docx")


def test_parts_with_paths_that_lead_out_are_not_there() -> None:
    data = docx(parts={"../../etc/x.png": b"GIF89a....", "/abs.png": b"GIF89a....", "a\\b.png": b"GIF89a...."})
    assert read_source(data, "a.docx").text == SENTENCE
    for part in ("../../etc/x.png", "/abs.png", "a\\b.png"):
        with pytest.raises(Unreadable, match="no picture"):
            zip_archive.picture(data, "a.docx", f"embedded:{part}")


def test_a_picture_too_large_is_refused() -> None:
    data = docx(parts={"word/media/a.gif": b"GIF89a" + random.Random(1).randbytes(zip_archive.MAX_PICTURE)})
    with pytest.raises(Unreadable, match="larger than 10 MiB"):
        zip_archive.picture(data, "a.docx", "embedded:word/media/a.gif")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_in_a_word_document_are_refused(encoding: str) -> None:
    bomb = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    document = (
        f"<!DOCTYPE x [{bomb}]><w:document {W}><w:body><w:p><w:r><w:t>&e11;</w:t></w:r></w:p></w:body></w:document>"
    )
    data = zipped({"[Content_Types].xml": TYPES, "word/document.xml": document.encode(encoding)})
    with pytest.raises(Unreadable, match="DOCTYPE"):
        read_source(data, "a.docx")


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:p><w:r>", "</w:r></w:p>"),
        ("<m:oMath><m:f><m:num>", "</m:num></m:f></m:oMath>"),
    ],
)
@pytest.mark.parametrize("depth", [60, 5_000])
def test_deep_nesting_is_read_or_refused(inner: str, outer: str, depth: int) -> None:
    read_or_refused(docx(f"<w:p/>{inner * depth}<w:r><w:t>x</w:t></w:r>{outer * depth}"), "a.docx")
    read_or_refused(epub("<html><body>" + "<div><table><tr><td>" * depth + "x"), "a.epub")
