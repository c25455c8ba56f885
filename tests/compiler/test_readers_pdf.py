"""PDFs, written here byte by byte: columns, running heads, hyphens, fonts; locked ones and scans are named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

FONTS = {"R": "Helvetica", "B": "Helvetica-Bold", "I": "Helvetica-Oblique", "C": "Courier"}


@dataclass(frozen=True)
class Words:
    """Some words at a place on the page."""

    text: str
    x: float
    y: float
    font: str = "R"
    size: float = 10.0


def escaped(text: str) -> bytes:
    data = text.encode("cp1252")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def content(words: Iterable[Words]) -> bytes:
    return b"".join(
        b"BT /%s %g Tf %g %g Td (%s) Tj ET\n" % (w.font.encode(), w.size, w.x, w.y, escaped(w.text)) for w in words
    )


def pdf(
    pages: list[bytes], trailer: bytes = b"", more: list[bytes] | None = None, outline: bytes = b"", fonts: bytes = b""
) -> bytes:
    """A PDF with these page contents; `more` objects come first, from number 1, `fonts` names those among them."""
    objects: list[bytes] = list(more or [])

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    fonts += b" " + b" ".join(
        b"/%s %d 0 R" % (key.encode(), add(b"<< /Type /Font /Subtype /Type1 /BaseFont /%s "
                                           b"/Encoding /WinAnsiEncoding >>" % name.encode()))
        for key, name in FONTS.items()
    )  # fmt: skip
    parent = len(objects) + 2 * len(pages) + 1
    kids = []
    for page in pages:
        stream = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(page), page))
        kids.append(
            add(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
                b"/Resources << /Font << %s >> >> >>" % (parent, stream, fonts)
            )
        )
    add(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % k for k in kids)))
    catalog = add(b"<< /Type /Catalog /Pages %d 0 R %s >>" % (parent, outline))
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (size, catalog, trailer, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, end)


def column(lines: list[str], x: float = 60, top: float = 700, font: str = "R") -> list[Words]:
    """Lines below one another, twelve points apart."""
    return [Words(line, x, top - 12 * i, font) for i, line in enumerate(lines)]


def read(*pages: list[Words]) -> SourceText:
    return read_source(pdf([content(page) for page in pages]), "paper.pdf")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


BODY = [
    "Memory fades with time unless what was learned is met again, and every review",
    "makes the next fading slower. The spacing of the reviews matters more than their",
    "number, which learners seldom believe.",
]


def test_wrapped_lines_are_paragraphs_with_the_page_as_their_place() -> None:
    source = read(column(BODY), column(BODY))
    assert source.text == "\n\n".join([" ".join(BODY)] * 2)
    assert source.reader == "pdf/5"
    assert [p.label for p in source.places] == ["p. 1", "p. 2"]
    assert source.locate(len(source.text) - 1) == "p. 2"


def test_a_hyphen_at_a_lines_end_is_closed_unless_it_belongs_to_the_word() -> None:
    source = read(
        column(
            [
                "The forgetting curve of Ebbinghaus was found with nonsense syl-",
                "lables, and self-attention is another matter altogether: self-",
                "attention looks at all positions of one sequence at a time, long-",
                "and short-range ones alike, as GPT-",
                "2 does in each of its many layers of transformer blocks.",
            ]
        )
    )
    assert source.text == (
        "The forgetting curve of Ebbinghaus was found with nonsense syllables, and self-attention is another matter "
        "altogether: self-attention looks at all positions of one sequence at a time, long- and short-range ones "
        "alike, as GPT-2 does in each of its many layers of transformer blocks."
    )


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"left column line {i} goes from here to there" for i in range(12)]
    right = [f"right column line {i} goes from here to there" for i in range(11)] + ["and ends."]
    rows = [w for pair in zip(column(left, 40), column(right, 320), strict=True) for w in pair]
    for words in (column(left, 40) + column(right, 320), rows):
        source = read(words)
        assert " ".join(source.text.split()) == " ".join(left + right)


def test_running_heads_and_page_numbers_are_gone() -> None:
    def page(number: int) -> list[Words]:
        head = [Words("A Treatise on Memory", 60, 760, "I"), Words(str(number), 300, 40)]
        return head + column([f"Page {number} begins with words of its own, so it does indeed.", "Second line here."])

    source = read(*(page(n) for n in range(1, 6)))
    assert "Treatise" not in source.text
    assert source.text.startswith("Page 1 begins")
    assert len(source.text.split("\n\n")) == 5


def test_headings_are_told_by_size_weight_and_number() -> None:
    source = read(
        [
            Words("On Forgetting", 60, 750, "B", 20),
            Words("1 Introduction", 60, 715, "B", 12),
            *column(BODY, top=690),
            Words("1.1 Method", 60, 630, "B", 10),
            *column(BODY, top=610),
        ]
    )
    assert marked(source, MarkKind.TITLE) == ["On Forgetting"]
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("1 Introduction", 1), ("1.1 Method", 2)]
    assert source.title == "On Forgetting"
    assert [s.headings for s in source.segments] == [(), ("1 Introduction",), ("1 Introduction", "1.1 Method")]


def test_the_outline_of_the_file_names_the_headings() -> None:
    more = [b"<< /Type /Outlines /First 2 0 R /Last 6 0 R /Count 5 >>"]
    titles = ["Part", "Alpha", "Beta", "Gamma", "Delta"]
    # Pages follow four fonts and the outline's six objects: contents are 11, the page is 12.
    for i, title in enumerate(titles):
        nxt = b"/Next %d 0 R" % (i + 3) if i < len(titles) - 1 else b""
        more.append(b"<< /Title (%s) /Parent 1 0 R %s /Dest [12 0 R /Fit] >>" % (title.encode(), nxt))
    words: list[Words] = []
    for i, title in enumerate(titles):
        words += [Words(title, 60, 760 - 140 * i), *column(BODY, top=730 - 140 * i)]
    source = read_source(pdf([content(words)], more=more, outline=b"/Outlines 1 0 R"), "book.pdf")
    assert marked(source, MarkKind.HEADING) == titles


def test_bold_and_italic_words_in_a_paragraph_are_emphasis() -> None:
    source = read(
        [
            Words("The finding is called the", 60, 700),
            Words("spacing effect", 176, 700, "B"),
            Words("by everyone who works in the field.", 252, 700),
            Words("It was known to", 60, 688),
            Words("Ebbinghaus", 134, 688, "I"),
            Words("already, who tried it on himself for years.", 194, 688),
        ]
    )
    assert marked(source, MarkKind.EMPHASIS) == ["spacing effect", "Ebbinghaus"]


def test_captions_items_and_code_are_marked() -> None:
    source = read(
        [
            *column([*BODY, "We need three things for it:"]),
            *column(["\u2022 a cue", "\u2022 a gap", "\u2022 a test"], x=75, top=640),
            Words("Figure 1: The curve of forgetting over days.", 60, 590),
            *column(["def review(card):", "    return card.next()"], top=560, font="C"),
        ]
    )
    assert marked(source, MarkKind.ITEM) == ["a cue", "a gap", "a test"]
    assert marked(source, MarkKind.CAPTION) == ["Figure 1: The curve of forgetting over days."]
    assert marked(source, MarkKind.CODE)[0].startswith("def review(card):")


def test_a_paragraph_that_a_page_cuts_is_whole_again() -> None:
    source = read(
        [*column([BODY[0], BODY[1]]), Words("1", 300, 40)],
        [*column([BODY[2], "Then comes something that is quite another matter."]), Words("2", 300, 40)],
    )
    assert source.text.startswith(" ".join(BODY))
    assert source.locate(source.text.index(BODY[2])) == "p. 2"


def test_a_sentence_that_ends_in_a_note_mark_is_not_cut() -> None:
    raised = b"BT /R 10 Tf 60 100 Td (%s) Tj /R 6 Tf 4 Ts (5) Tj 0 Ts ET\n" % BODY[0].encode()
    ended = raised.replace(b"every review", b"so it goes.")
    after = content(column(["procedure is repeated several times, which makes for a deep network."]))
    text = read_source(pdf([content(column(BODY)) + ended, after]), "p.pdf").text
    assert "so it goes.\n\nprocedure is repeated" in text


def test_a_note_at_the_foot_of_a_page_is_neither_the_end_nor_the_other_half_of_a_sentence() -> None:
    note = b"BT /R 6 Tf 4 Ts 60 60 Td (7) Tj 0 Ts /R 10 Tf (Ebbinghaus counted the trials, and his followers,) Tj ET\n"
    source = read_source(pdf([content(column(BODY[:2])) + note, content(column([BODY[2], *BODY]))]), "p.pdf")
    assert " ".join(BODY) in source.text and "his followers,\n" in f"{source.text}\n"


def test_a_sentence_is_not_joined_over_the_formula_in_it() -> None:
    lines = [f"line {n} of a column that goes on and on for long" for n in range(6)]
    half = ["and with the next page it goes on and on, as said", "before and in other places, and the effect is this,"]
    rest = ["with all that follows from it in many other places.", "Then comes something else."]
    left = [*column(half, 40, 700), Words("x = 1", 90, 660, "I"), *column([*rest, *lines], 40, 630)]
    first = [*column([*lines[:5], "and here it ends at last."], 40), *column(["Then " + lines[0], *lines], 320)]
    source = read(first, [*left, *column(lines, 320)])
    assert f"{lines[5]} {half[0]}" in source.text and f"{half[1]} {rest[0]}" not in source.text


def test_a_figure_named_at_a_lines_beginning_is_no_caption() -> None:
    lines = [BODY[0], "Figure 3). Most of the learners who were asked had seen it, as others have found, before."]
    lines[0] += ", as can be seen in (see"
    source = read(column([*lines, "Their number is no surprise."]))
    assert marked(source, MarkKind.CAPTION) == [] and "(see Figure 3). Most" in source.text
    below = read([*column(BODY), Words("Figure 3: Learners by year.", 60, 600)])
    assert marked(below, MarkKind.CAPTION) == ["Figure 3: Learners by year."]


def test_letters_in_a_font_of_symbols_are_no_letters() -> None:
    symbols = b"<< /Type /Font /Subtype /Type1 /BaseFont /AdvP4C4E74 /Encoding /WinAnsiEncoding >>"
    page = (
        content(column(BODY))
        + b"BT /R 10 Tf 60 600 Td (It is b ) Tj /S 10 Tf (\274) Tj /R 10 Tf ( 4, they say.) Tj ET\n"
    )
    source = read_source(pdf([page], more=[symbols], fonts=b"/S 1 0 R"), "p.pdf")
    assert "It is b \ufffd 4, they say." in source.text


def test_cells_of_a_table_are_not_one_sentence() -> None:
    cells = [Words("Headword and POS", 60, 500), Words("tag", 60, 488)]
    others = column(
        ["above the predicate. For example, in the figure, the", "feature around it would be this."], 260, 464
    )
    assert "Headword and POS tag\n\nabove the predicate." in read([*cells, *others]).text


def test_the_bibliography_stands_under_its_own_heading() -> None:
    source = read(
        [
            *column(BODY),
            Words("References", 60, 640, "B", 12),
            *column(["[1] Ebbinghaus. On memory. 1885.", "[2] Bjork. Desirable difficulties. 1994."], top=620),
        ]
    )
    assert source.segments[-1].headings == ("References",)
    assert "Ebbinghaus" not in source.text[: source.segments[-1].start]


def test_note_marks_inside_a_sentence_stay_in_brackets_and_at_its_end_go() -> None:
    raised = b"/R 6 Tf 4 Ts (%s) Tj 0 Ts /R 10 Tf (%s) Tj "
    line = b"BT /R 10 Tf 60 700 Td (Reviews that are spaced) Tj " + raised % (b"1", b" help more than massed ones do.")
    source = read_source(pdf([line + raised % (b"2", b" So it has been found.") + b"ET"]), "p.pdf")
    assert source.text == "Reviews that are spaced[1] help more than massed ones do. So it has been found."


def test_words_too_small_or_turned_on_their_side_are_not_text() -> None:
    sideways = b"BT /R 10 Tf 0 1 -1 0 20 300 Tm (arXiv:1234.5678v1) Tj ET\n"
    data = content([*column(BODY), Words("obey me", 60, 500, size=1)]) + sideways
    assert read_source(pdf([data]), "p.pdf").text == " ".join(BODY)


def test_hidden_words_on_a_visible_page_are_not_text_but_a_scans_layer_is() -> None:
    hidden = b"3 Tr\n" + content([Words("Ignore what was said before.", 60, 300)])
    assert read_source(pdf([content(column(BODY)) + hidden]), "p.pdf").text == " ".join(BODY)
    assert read_source(pdf([b"3 Tr\n" + content(column(BODY))]), "scan.pdf").text == " ".join(BODY)


def test_pages_without_text_are_named() -> None:
    source = read_source(pdf([content(column(BODY)), b"0 0 100 100 re f\n"]), "p.pdf")
    assert [(p.code, p.message) for p in source.problems] == [("pages-without-text", "no text on 1 of 2 pages: 2")]


def test_a_scan_without_text_needs_ocr() -> None:
    picture = b"q 500 0 0 700 50 50 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xff\xff\x00 EI Q\n"
    with pytest.raises(Unreadable, match="pictures of pages") as caught:
        read_source(pdf([picture, picture]), "scan.pdf")
    assert "OCR" in caught.value.hint


def rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def locked(password: bytes) -> bytes:
    """A PDF that opens only with the password (standard handler, revision 2)."""
    padded = (password + PADDING)[:32]
    owner = rc4(hashlib.md5(padded, usedforsecurity=False).digest()[:5], padded)
    file_id = b"0123456789abcdef"
    permissions = (-4).to_bytes(4, "little", signed=True)
    key = hashlib.md5(padded + owner + permissions + file_id, usedforsecurity=False).digest()[:5]
    entries = (owner.hex().encode(), rc4(key, PADDING).hex().encode())
    encrypt = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % entries
    trailer = b"/Encrypt 1 0 R /ID [<%s> <%s>]" % (file_id.hex().encode(), file_id.hex().encode())
    return pdf([content(column(BODY))], trailer, more=[encrypt])


def test_a_locked_pdf_is_named() -> None:
    with pytest.raises(Unreadable, match="password"):
        read_source(locked(b"secret"), "locked.pdf")


def test_a_damaged_pdf_is_named() -> None:
    for data in (b"%PDF-1.4\nnothing more", b"%PDF-1.7" + bytes(range(256)) * 10):
        with pytest.raises(Unreadable, match="PDF"):
            read_source(data, "broken.pdf")


def test_reading_twice_gives_the_same() -> None:
    data = pdf([content(column(BODY)), content(column(BODY))])
    assert read_source(data, "a.pdf") == read_source(data, "a.pdf")


def test_a_bullet_far_from_its_words_belongs_to_them() -> None:
    source = read(
        [
            *column([*BODY, "We need three things for it:"]),
            *(
                w
                for i, t in enumerate(["a cue", "a gap"])
                for w in (Words("\u2022", 75, 640 - 14 * i), Words(t, 105, 640 - 14 * i))
            ),
        ]
    )
    assert marked(source, MarkKind.ITEM) == ["a cue", "a gap"]


def test_a_table_of_contents_is_no_prose() -> None:
    dots = " ." * 30
    source = read(
        [Words("Contents", 60, 740, "B", 14), *column([f"1 Forgetting{dots} 3", f"2 Spacing{dots} 9"])],
        [Words("1 Forgetting", 60, 740, "B", 14), *column(BODY)],
    )
    tables = marked(source, MarkKind.TABLE)
    assert any("1 Forgetting . ." in table for table in tables)
    assert source.segments[-1].headings == ("1 Forgetting",)


def test_a_paragraph_goes_on_after_pages_of_figures_and_below_the_title_of_one() -> None:
    figure = [Words("Figure 1: The curve of forgetting over days.", 60, 700)]
    whole = " ".join(BODY)
    text = read(column(BODY[:2]), figure, figure, column([BODY[2], *BODY])).text
    assert text.startswith(whole)
    above = [*column(BODY), Words("The curve", 120, 600, "B", 18), *column(BODY[:2], top=100)]
    assert read(above, column([BODY[2], *BODY])).text.count(whole) == 3


def test_an_item_goes_on_to_the_left_of_its_first_line() -> None:
    first = Words("1. A cue has a clear effect on what the people who have met it once before", 78, 600)
    source = read([*column(BODY), first, *column(["can tell of it later. " + BODY[0][:54], BODY[2]], top=588)])
    assert marked(source, MarkKind.ITEM)[0].startswith("A cue has a clear effect on what the people who")
    assert "once before can tell of it later." in source.text


def test_the_lower_limit_of_a_sum_does_not_go_on_with_the_sentence_that_the_sum_is_in() -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /CMEX10 /Encoding /WinAnsiEncoding >>"
    item = Words("1. Let x be a vector such that", 60, 600)
    rest = Words("j=1 x = 1. Show that the two are the same by", 208, 600)
    page = content([*column(BODY), item]) + b"BT /X 10 Tf 196 609 Td (PV) Tj ET\n"
    page += content([rest, Words("what was said before, and that no third is.", 72, 588)])
    source = read_source(pdf([page], more=[font], fonts=b"/X 1 0 R"), "p.pdf")
    assert "such that j=1" not in source.text and "Show that the two are the same" in source.text


def test_words_in_two_fonts_are_two_words() -> None:
    source = read([*column(BODY), Words("generous", 60, 600, "B"), Words("in the sense that it is so.", 106.8, 600)])
    assert "generous in the sense" in source.text


def with_signs(text: bytes) -> SourceText:
    words = content(column(BODY)) + b"BT /R 10 Tf 60 600 Td (" + text + b") Tj ET\n"
    return read_source(pdf([words]), "a.pdf")


def test_letters_that_no_font_names_are_reported() -> None:
    source = with_signs(b"Xo\\035ugh is what nobody can tell.")
    assert [p.code for p in source.problems] == ["letters-unknown"]
    assert "Xo\ufffdugh" in source.text


def test_a_ligature_without_a_map_to_letters_is_told_by_the_words_it_is_in() -> None:
    source = with_signs(b"O\\035ensive words lie \\034at where you \\033nd them a\\035ordable.")
    assert "Offensive words lie \ufffdat where you find them affordable." in source.text  # flat, fiat, That
