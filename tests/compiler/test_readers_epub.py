"""E-books: chapters in reading order, places by chapter, heading and paragraph, and what is no part of the text."""

from __future__ import annotations

import io
import zipfile

import pytest

from compiler.readers import zip_archive
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
META = (
    "<dc:title>On memory</dc:title><dc:creator>Ada King</dc:creator><dc:creator>Bob Roe</dc:creator>"
    "<dc:date>2019-05-01T00:00:00Z</dc:date><dc:identifier>https://example.org/memory</dc:identifier>"
)
HTML = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'


def page(body: str, kind: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "xhtml11.dtd">'
        f'<html {HTML}><head><title/><link rel="stylesheet" href="s.css"/></head>'
        f'<body epub:type="{kind}">{body}</body></html>'
    )


def epub(
    chapters: dict[str, str],
    nav: str = "",
    parts: dict[str, str | bytes] | None = None,
    extra: str = "",
    meta: str = META,
) -> bytes:
    """A book of these chapters (file name -> XHTML) in this order."""
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f'<metadata>{meta}</metadata><manifest><item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/>{items}{extra}</manifest><spine>{spine}</spine></package>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr("META-INF/container.xml", CONTAINER)
        file.writestr("OEBPS/book.opf", package)
        file.writestr("OEBPS/nav.xhtml", page(f"<nav><ol>{nav}</ol></nav>"))
        for name, markup in chapters.items():
            file.writestr(f"OEBPS/text/{name}.xhtml", markup)
        for name, data in (parts or {}).items():
            file.writestr(name, data)
    return out.getvalue()


def read(
    chapters: dict[str, str], nav: str = "", parts: dict[str, str | bytes] | None = None, extra: str = ""
) -> SourceText:
    return read_source(epub(chapters, nav, parts, extra), "a.epub")


def entry(name: str, words: str) -> str:
    return f'<li><a href="text/{name}.xhtml">{words}</a></li>'


def test_chapters_are_read_in_reading_order_with_places_to_follow() -> None:
    source = read(
        {
            "b": page("<h1>Chapter 1: Memory</h1><p>It fades.</p><h2>Rehearsal</h2><p>It helps.</p><p>And lasts.</p>"),
            "a": page(
                "<p>It is short.</p><table><tr><th>Kind</th><th>Span</th></tr><tr><td>a</td><td>1</td></tr></table>"
            ),
        },
        nav=entry("b", "Memory") + entry("a", "Chapter 2: Attention"),
    )
    places = {words: source.locate(source.text.index(words)) for words in ("It fades", "And lasts", "It is", "Kind: a")}
    assert places == {
        "It fades": "Chapter 1: Memory, paragraph 1",
        "And lasts": "Memory, Rehearsal, paragraph 2",
        "It is": "Chapter 2: Attention, paragraph 1",
        "Kind: a": "Chapter 2: Attention, table 1, row 2",
    }
    headings = [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.HEADING]
    assert headings == ["Chapter 1: Memory", "Rehearsal", "Chapter 2: Attention"]
    assert source.segments[-1].headings == ("Chapter 2: Attention",)


def test_the_paragraph_is_the_one_a_reader_counts() -> None:
    paragraphs = [f"Sentence number {i} stands here." for i in range(1, 30)]
    source = read({"a": page("<h1>Counting</h1>" + "".join(f"<p>{p}</p><p> </p>" for p in paragraphs))})
    for paragraph in paragraphs:
        label = source.locate(source.text.index(paragraph))
        assert paragraphs[int(label.removeprefix("Counting, paragraph ")) - 1] == paragraph


def test_a_book_has_its_properties() -> None:
    source = read({"a": page("<p>Words.</p>")})
    assert source.properties == {
        "title": "On memory",
        "author": "Ada King, Bob Roe",
        "published": "2019-05-01",
        "url": "https://example.org/memory",
    }


def test_a_book_states_its_licence() -> None:
    with_rights = META + "<dc:rights>CC BY 4.0</dc:rights>"
    book = epub({"a": page("<p>Words.</p>")}, meta=with_rights)
    assert read_source(book, "a.epub").properties["license"] == "CC BY 4.0"


def test_what_is_not_the_authors_text_is_left_out() -> None:
    source = read(
        {
            "cover": page("<p>Cover words.</p>", "cover"),
            "toc": page("<p>Memory ..... 3</p>", "toc"),
            "a": page(
                '<section class="pg-boilerplate">Licence words.</section><p>It fades'
                '<a epub:type="noteref" href="#n1">1</a> fast.<span epub:type="pagebreak">12</span></p>'
                '<aside epub:type="footnote" id="n1"><p>Said in the note.</p></aside><p class="gone">Unseen.</p>'
            ),
        },
        parts={"OEBPS/s.css": ".gone { display: none }"},
        extra='<item id="s" href="s.css" media-type="text/css"/>',
    )
    assert source.text == "It fades fast.\n\nSaid in the note."


def test_empty_elements_written_short_swallow_nothing() -> None:
    source = read({"a": page('<h1><a id="x"/>Memory</h1><p>It <i/>fades.<script src="x"/></p><p>It <b>helps</b>.</p>')})
    assert source.text == "Memory\n\nIt fades.\n\nIt helps."
    assert [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.EMPHASIS] == ["helps"]


def test_pictures_are_noted_and_given_out() -> None:
    gif = b"GIF89a" + bytes(40)
    chapters = {"a": page('<p>Before.</p><p><img src="../img/a%20b.gif" alt="A curve that falls"/></p><p>After.</p>')}
    parts: dict[str, str | bytes] = {"OEBPS/img/a b.gif": gif}
    source = read(chapters, parts=parts)
    (picture,) = source.pictures
    assert (picture.target, picture.alt) == ("embedded:OEBPS/img/a b.gif", "A curve that falls")
    assert zip_archive.picture(epub(chapters, parts=parts), "a.epub", picture.target) == gif


def test_an_older_book_names_its_chapters_in_its_ncx() -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint>'
        '<navLabel><text>Of memory</text></navLabel><content src="text/a.xhtml#top"/></navPoint></navMap></ncx>'
    )
    source = read(
        {"a": page("<p>It fades.</p>")},
        parts={"OEBPS/toc.ncx": ncx},
        extra='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
    )
    assert source.locate(source.text.index("It fades")) == "Of memory, paragraph 1"


def test_a_locked_book_is_named_and_one_with_hidden_fonts_is_read() -> None:
    locked = '<encryption xmlns="x"><CipherReference URI="{}"/></encryption>'
    chapters = {"a": page("<p>It fades.</p>")}
    with pytest.raises(Unreadable, match="DRM"):
        read(chapters, parts={"META-INF/encryption.xml": locked.format("OEBPS/text/a.xhtml")})
    assert read(chapters, parts={"META-INF/encryption.xml": locked.format("OEBPS/font.otf")}).text.endswith("It fades.")


def test_entities_are_neither_expanded_nor_fetched() -> None:
    bomb = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    declared = f'<!DOCTYPE html [{bomb}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    text = read({"a": f"{declared}<html><body><p>It &e11; &x; fades.</p></body></html>"}).text
    assert len(text) < 2_000 and "root:" not in text and "fades." in text


def test_a_chapter_that_is_missing_is_named_and_the_others_are_read() -> None:
    data = epub({"a": page("<p>It fades.</p>"), "b": page("<p>It helps.</p>")})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith("a.xhtml"):
                new.writestr(info.filename, old.read(info))
    source = read_source(out.getvalue(), "a.epub")
    assert source.text == "It helps." and [p.code for p in source.problems] == ["chapter-missing"]
