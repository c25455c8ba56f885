"""Word documents: structure, formulas, notes and revisions, and places that lead a human back to the words."""

from __future__ import annotations

import io
import zipfile

import pytest

from compiler.readers import zip_archive
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
STYLES = "".join(
    f'<w:style w:type="{kind}" w:styleId="{style}"><w:name w:val="{name}"/>{rest}</w:style>'
    for kind, style, name, rest in (
        ("paragraph", "berschrift1", "heading 1", ""),
        ("paragraph", "berschrift2", "heading 2", ""),
        ("paragraph", "Abschnitt", "My Section", '<w:basedOn w:val="berschrift2"/>'),
        ("paragraph", "Titel", "Title", ""),
        ("paragraph", "Zitat", "Quote", ""),
        ("paragraph", "Beschriftung", "caption", ""),
        ("paragraph", "Code", "HTML Preformatted", ""),
        ("paragraph", "Verzeichnis1", "toc 1", ""),
        ("paragraph", "Liste", "List Bullet", '<w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr>'),
        ("character", "Fest", "HTML Code", ""),
    )
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num>'
)
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(50)


def run(words: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def para(*runs: str, style: str = "", properties: str = "") -> str:
    inner = "".join(r if r.startswith("<") else run(r) for r in runs)
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{inner}</w:p>"


def table(*rows: tuple[str, ...], head: str = "") -> str:
    cells = ["".join(f"<w:tc>{c if c.startswith('<') else para(c)}</w:tc>" for c in row) for row in rows]
    return "<w:tbl>" + "".join(f"<w:tr>{head if i == 0 else ''}{c}</w:tr>" for i, c in enumerate(cells)) + "</w:tbl>"


def linked(target: str, words: str) -> str:
    return f'<w:hyperlink r:id="{target}">{run(words)}</w:hyperlink>'


def docx(*blocks: str, parts: dict[str, bytes | str] | None = None, links: str = "") -> bytes:
    """A Word document with these blocks as its body."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
        office = f'<Relationship Id="r1" Type="{kinds}/officeDocument" Target="word/document.xml"/>'
        metadata = f"{package}/relationships/metadata/core-properties"
        core = f'<Relationship Id="r2" Type="{metadata}" Target="docProps/core.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships">{office}{core}</Relationships>')
        known = "".join(
            f'<Relationship Id="{kind}" Type="{kinds}/{kind}" Target="{kind}.xml"/>'
            for kind in ("styles", "numbering", "footnotes", "endnotes")
        )
        file.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{known}{links}</Relationships>',
        )
        file.writestr("word/document.xml", f"<w:document {NAMES}><w:body>{''.join(blocks)}</w:body></w:document>")
        file.writestr("word/styles.xml", f"<w:styles {NAMES}>{STYLES}</w:styles>")
        file.writestr("word/numbering.xml", f"<w:numbering {NAMES}>{NUMBERING}</w:numbering>")
        for name, data in (parts or {}).items():
            file.writestr(name, data)
    return out.getvalue()


def read(*blocks: str, parts: dict[str, bytes | str] | None = None, links: str = "") -> SourceText:
    return read_source(docx(*blocks, parts=parts, links=links), "a.docx")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def place(source: SourceText, words: str) -> str:
    return source.locate(source.text.index(words))


def test_headings_are_told_by_style_inheritance_and_outline_level() -> None:
    source = read(
        para("On attention", style="Titel"),
        para("Basics", style="berschrift1"),
        para("Softmax", style="Abschnitt"),
        para("It sums to one."),
        para("Masks", properties='<w:outlineLvl w:val="2"/>'),
        para("It hides words."),
        para("Basics........3", style="Verzeichnis1"),
    )
    headings = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert headings == [("On attention", 1), ("Basics", 1), ("Softmax", 2), ("Masks", 3)]
    assert source.title == "On attention" and "....." not in source.text
    assert source.segments[-1].headings == ("Basics", "Softmax", "Masks")


def test_a_table_of_contents_is_left_out_and_other_controls_are_read() -> None:
    gallery = '<w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    contents = f"<w:sdt>{gallery}<w:sdtContent>{para('Softmax 3')}</w:sdtContent></w:sdt>"
    control = f"<w:sdt><w:sdtPr/><w:sdtContent>{para('It sums to one.')}</w:sdtContent></w:sdt>"
    assert read(contents, control).text == "It sums to one."


def test_bold_lines_are_headings_where_no_style_says_so() -> None:
    bold = para(run("Abstract", "<w:b/>"))
    source = read(bold, para("It sums to one."), para(run("A whole bold sentence.", "<w:b/>")))
    assert marked(source, MarkKind.HEADING) == ["Abstract"]
    assert place(source, "It sums") == "Abstract, paragraph 1"
    styled = read(para("Softmax", style="berschrift1"), bold, para("It sums to one."))
    assert marked(styled, MarkKind.HEADING) == ["Softmax"]


def test_a_place_is_the_heading_and_the_paragraph_below_it() -> None:
    source = read(
        para("Before all."),
        para("Softmax", style="berschrift1"),
        para("One."),
        para(""),
        para("Two."),
        para("An item.", style="Liste"),
        table(("Name", "Role"), ("Query", "asks")),
        para("Masks", style="berschrift1"),
        para("Examples", style="berschrift2"),
        para("Fourth."),
        para("Heads", style="berschrift1"),
        para("Examples", style="berschrift2"),
        para("Fifth."),
    )
    places = {
        words: place(source, words) for words in ("Before", "One.", "Two.", "An item", "Query", "Fourth", "Fifth")
    }
    assert places == {
        "Before": "paragraph 1",
        "One.": "Softmax, paragraph 1",
        "Two.": "Softmax, paragraph 2",
        "An item": "Softmax, paragraph 3",
        "Query": "Softmax, table 1, row 2",
        "Fourth": "Examples, paragraph 1",
        "Fifth": "Heads, Examples, paragraph 1",
    }


def test_emphasis_links_lists_quotations_captions_and_code_are_marked() -> None:
    link = (
        '<Relationship Id="h1" TargetMode="External" Target="https://example.org/x" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"/>'
    )
    source = read(
        para("A ", run("key", "<w:b/>"), " word and ", run("softmax(x)", '<w:rStyle w:val="Fest"/>')),
        para(linked("h1", "a page"), " and ", linked("nowhere", "none")),
        para("First.", style="Liste"),
        para("Said by her.", style="Zitat"),
        para("Figure 1: A mask", style="Beschriftung"),
        para("x = 1", style="Code"),
        para("y = 2", style="Code"),
        links=link,
    )  # fmt: skip
    assert marked(source, MarkKind.EMPHASIS) == ["key"]
    assert marked(source, MarkKind.ITEM) == ["First."]
    assert marked(source, MarkKind.QUOTATION) == ["Said by her."]
    assert marked(source, MarkKind.CAPTION) == ["Figure 1: A mask"]
    assert marked(source, MarkKind.CODE) == ["`softmax(x)`", "x = 1\ny = 2"]
    links = [m for m in source.marks if m.kind is MarkKind.LINK]
    assert [(source.text[m.start : m.end], m.info) for m in links] == [("a page", "https://example.org/x")]


def math(inner: str) -> str:
    return f"<m:oMath>{inner}</m:oMath>"


def sign(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        (sign("x") + sign("="), "x ="),
        (f"<m:f><m:num>{sign('a')}</m:num><m:den>{sign('b')}</m:den></m:f>", r"\frac{a}{b}"),
        (f"<m:sSup><m:e>{sign('x')}</m:e><m:sup>{sign('2')}</m:sup></m:sSup>", "x^{2}"),
        (f"<m:rad><m:deg/><m:e>{sign('d')}</m:e></m:rad>", r"\sqrt{d}"),
        (
            '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'
            f"<m:sub>{sign('i')}</m:sub><m:sup>{sign('n')}</m:sup><m:e>{sign('x')}</m:e></m:nary>",
            r"\sum_{i}^{n} x",
        ),
        (f"<m:d><m:e>{sign('x')}</m:e></m:d>", r"\left( x \right)"),
        (f"<m:func><m:fName>{sign('sin')}</m:fName><m:e>{sign('θ')}</m:e></m:func>", r"\sin θ"),
        (f"<m:acc><m:e>{sign('y')}</m:e></m:acc>", r"\hat{y}"),
        (sign("\U0001d53c"), r"\mathbb{E}"),
        (sign("\U0001d453"), "f"),
        (sign("50%"), r"50\%"),
        (f"<m:unknown>{sign('q')}</m:unknown>", "q"),
        (f"<m:m><m:mr><m:e>{sign('a')}</m:e><m:e>{sign('b')}</m:e></m:mr></m:m>", r"\begin{matrix} a & b \end{matrix}"),
    ],
)
def test_formulas_are_kept_as_latex(formula: str, latex: str) -> None:
    source = read(para("Let ", math(formula), " be."))
    assert source.text == f"Let ${latex}$ be."
    assert marked(source, MarkKind.MATH) == [f"${latex}$"]


def test_a_formula_of_its_own_is_a_displayed_one() -> None:
    source = read(para(f"<m:oMathPara>{math(sign('a'))}{math(sign('b'))}</m:oMathPara>"), para("After."))
    assert source.text == "$$a \\\\ b$$\n\nAfter."


def test_revisions_comments_and_hidden_words() -> None:
    comment = '<w:commentRangeStart w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
    remark = f'<w:comment w:id="0">{para("A remark of another.")}</w:comment>'
    inserted = f'<w:ins w:id="1">{run(" added")}</w:ins>'
    deleted = '<w:del w:id="2"><w:r><w:delText> dropped</w:delText></w:r></w:del>'
    unseen = [run(" words", look) for look in ("<w:vanish/>", '<w:color w:val="FFFFFF"/>', '<w:sz w:val="2"/>')]
    source = read(
        para("Kept", inserted, deleted, comment, " words."),
        para("Seen", *unseen, "."),
        para("Struck", run(" out", "<w:strike/>"), "."),
        parts={"word/comments.xml": f"<w:comments {NAMES}>{remark}</w:comments>"},
    )
    assert source.text == "Kept added words.\n\nSeen.\n\nStruck."


def test_notes_stand_after_the_paragraph_that_refers_to_them() -> None:
    note = f'<w:footnote w:id="2">{para("Said in the note.")}</w:footnote>'
    end = f'<w:endnote w:id="5">{para("Said at the end.")}</w:endnote>'
    separator = f'<w:footnote w:id="0" w:type="separator">{para("not this")}</w:footnote>'
    source = read(
        para("Softmax", style="berschrift1"),
        para(
            "It sums to one.", '<w:r><w:footnoteReference w:id="2"/></w:r>', '<w:r><w:endnoteReference w:id="5"/></w:r>'
        ),
        para("It is smooth."),
        parts={
            "word/footnotes.xml": f"<w:footnotes {NAMES}>{separator}{note}</w:footnotes>",
            "word/endnotes.xml": f"<w:endnotes {NAMES}>{end}</w:endnotes>",
        },
    )
    assert source.text == "Softmax\n\nIt sums to one.\n\nSaid in the note.\n\nSaid at the end.\n\nIt is smooth."
    assert place(source, "Said in the note") == "Softmax, footnote 1"
    assert place(source, "Said at the end") == "Softmax, endnote 1"
    assert place(source, "It is smooth") == "Softmax, paragraph 2"


def test_a_glossary_in_a_document_is_read_as_one_in_a_workbook() -> None:
    source = read(
        para("Terms", style="berschrift1"),
        table(
            ("Term", "Definition"),
            ("Softmax", "A function that turns scores into probabilities."),
            ("Mask", "A matrix that hides some words from others."),
        ),
    )
    assert marked(source, MarkKind.TERM) == ["Softmax", "Mask"]
    assert place(source, "A matrix that hides") == "Terms, table 1, row 3"


def test_merged_cells_keep_their_columns() -> None:
    begins = f"<w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{para('Norm')}</w:tc>"
    goes_on = f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{para('')}</w:tc>"
    cells = [f"<w:tc>{para(words)}</w:tc>" for words in ("Kind", "Name", "Use", "Layer", "a", "Batch", "b")]
    rows = ("".join(cells[:3]), begins + "".join(cells[3:5]), goes_on + "".join(cells[5:]))
    source = read("<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>")
    assert source.text.endswith("Kind: Norm | Name: Layer | Use: a\n\nKind: Norm | Name: Batch | Use: b")


def test_absurd_spans_cost_nothing() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>{para("x")}</w:tc>'
    source = read(
        f"<w:tbl><w:tr>{wide}<w:tc>{para('y')}</w:tc></w:tr><w:tr>{wide}<w:tc>{para('z')}</w:tc></w:tr></w:tbl>"
    )
    assert source.text.startswith("x")


def test_text_boxes_are_read_once_and_pictures_are_noted() -> None:
    box = f"<w:txbxContent>{para('Said in a box.')}</w:txbxContent>"
    both = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    inline = '<wp:inline><wp:docPr descr="A triangle of zeros"/><a:blip r:embed="p1"/></wp:inline>'
    shown = f"<w:r><w:drawing>{inline}</w:drawing></w:r>"
    image = (
        '<Relationship Id="p1" Target="media/image1.png" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/>'
    )
    parts: dict[str, bytes | str] = {"word/media/image1.png": PIXEL}
    blocks = (para("Around it.", both), para(shown), para("Figure 1: The mask", style="Beschriftung"))
    source = read(*blocks, parts=parts, links=image)
    assert source.text == "Around it.\n\nSaid in a box.\n\nA triangle of zeros\n\nFigure 1: The mask"
    (picture,) = source.pictures
    assert (picture.target, picture.alt) == ("embedded:word/media/image1.png", "A triangle of zeros")
    assert picture.caption == "Figure 1: The mask"
    data = docx(*blocks, parts=parts, links=image)
    assert zip_archive.picture(data, "a.docx", picture.target) == PIXEL
    for target in ("embedded:word/document.xml", "embedded:../x", "word/media/image1.png"):
        with pytest.raises(Unreadable):
            zip_archive.picture(data, "a.docx", target)


def test_properties_are_the_authors_and_not_the_programs() -> None:
    core = (
        '<cp:coreProperties xmlns:cp="x" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/">'
        "<dc:title>{}</dc:title><dc:creator>Ada King</dc:creator><t:created>2025-10-20T18:23:00Z</t:created>"
        "</cp:coreProperties>"
    )
    named = read(para("Words."), parts={"docProps/core.xml": core.format("On masks")})
    assert named.properties == {"title": "On masks", "author": "Ada King", "published": "2025-10-20"}
    assert read(para("Words."), parts={"docProps/core.xml": core.format("Microsoft Word - a.doc")}).title == "a"


def test_the_strict_flavour_is_read_as_the_usual_one() -> None:
    data = docx(para("Softmax", style="berschrift1"), para("It sums to one."))
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            for kind in ("wordprocessingml/{}main", "officeDocument/{}relationships", "officeDocument/{}math"):
                usual = b"http://schemas.openxmlformats.org/" + kind.format("2006/").encode()
                part = part.replace(usual, b"http://purl.oclc.org/ooxml/" + kind.format("").encode())
            new.writestr(info.filename, part)
    assert read_source(out.getvalue(), "a.docx") == read_source(data, "a.docx")


def test_a_damaged_block_is_left_out_and_named() -> None:
    source = read(para("Before it."), "<w:p><w:r><w:sym/></w:r></w:p>", para("After it."))
    assert source.text == "Before it.\n\nAfter it."
    assert [p.code for p in source.problems] == ["block-damaged"]
