"""CSV files and Excel workbooks: what a table says becomes prose, all else stays data; rows are found again by hand."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from compiler.claims.extract import Extracted, claims_in
from compiler.claims.segments import requests_for
from compiler.engines.extractive import ExtractiveEngine
from compiler.readers.read import read_source
from compiler.readers.tables import MAX_COLUMNS, MAX_ROWS
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

GLOSSARY: list[list[Any]] = [
    ["Term", "Definition", "Since"],
    ["Softmax", "A function that turns a vector of scores into a probability distribution.", 2014],
    ["Attention head", "One of several attention functions that run in parallel on projected inputs.", 2017],
    ["KV cache", "a store of the keys and values of earlier tokens that saves computing them again", 2019],
]
SENTENCE = "BERT is a language model that reads a text in both directions at once."


def table(rows: list[list[Any]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def workbook(**sheets: list[list[Any]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    return book


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def extracted(source: SourceText) -> Extracted:
    engine = ExtractiveEngine()
    return claims_in(source, [engine.read([request])[0] for request in requests_for(source)])


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_a_glossary_is_read_as_terms_with_their_explanations() -> None:
    source = read_source(table(GLOSSARY), "terms.csv")
    assert marked(source, MarkKind.TERM) == ["Softmax", "Attention head", "KV cache"]
    since = [s for row in GLOSSARY[1:] for s in (row[1], f"Since: {row[2]}")]
    assert marked(source, MarkKind.TABLE) == ["Term | Definition | Since", *since]
    assert source.title == "terms"
    claims = {claim.about[0]: claim for claim in extracted(source).claims}
    assert claims["Softmax"].locator == "row 2"
    assert "probability distribution" in claims["Softmax"].quote


def test_an_explanation_that_names_its_term_is_a_sentence_of_its_own() -> None:
    source = read_source(
        table([["Term", "Definition"], ["BERT", SENTENCE], ["Mask", "A thing that hides words."]]), "t.csv"
    )
    assert marked(source, MarkKind.TABLE) == ["Term | Definition", "A thing that hides words."]
    assert (SENTENCE, "row 2") in [(c.quote, c.locator) for c in extracted(source).claims]


def test_a_sentence_in_a_table_is_a_paragraph_and_the_rest_of_its_row_is_data() -> None:
    source = read_source(table([["Model", "Layers", "Remark"], ["BERT", 12, SENTENCE], ["GPT", 48, ""]]), "m.csv")
    assert (
        source.text == f"Model | Layers | Remark\n\nModel: BERT | Layers: 12\n\n{SENTENCE}\n\nModel: GPT | Layers: 48"
    )
    assert marked(source, MarkKind.TABLE) == [
        "Model | Layers | Remark",
        "Model: BERT | Layers: 12",
        "Model: GPT | Layers: 48",
    ]
    assert [(c.quote, c.locator) for c in extracted(source).claims] == [(SENTENCE, "row 2")]


def test_a_glossary_without_column_names_is_told_by_its_cells() -> None:
    rows = [
        ["Softmax", "Part one of the course", "A function that turns scores into shares."],
        ["Mask", "Part one of the course", "A matrix that hides words from others."],
        ["Head", "Part one of the course", "One of several parallel attention functions."],
    ]
    assert marked(read_source(table(rows), "a.csv"), MarkKind.TERM) == ["Softmax", "Mask", "Head"]


def test_the_lines_of_a_cell_are_parted_where_their_author_parted_them() -> None:
    cell = f"About BERT\n{SENTENCE}\nIt was trained on books and\non the pages of an encyclopedia."
    source = read_source(table([["Model", "Layers", "Remark"], ["BERT", 12, cell], ["GPT", 48, ""]]), "m.csv")
    assert SENTENCE in source.text.split("\n\n")
    assert "It was trained on books and on the pages of an encyclopedia." in source.text.split("\n\n")
    assert "About BERT" in marked(source, MarkKind.TABLE)


def test_a_column_in_another_language_is_data_and_no_second_claim() -> None:
    english = "The function that turns a vector of scores into the shares of a whole."
    german = "Eine Funktion, die aus einem Vektor von Werten eine Verteilung von Anteilen macht."
    rows = [["english_word", "english_descr", "german_descr"], ["Softmax", english, german], ["Norm", english, german]]
    source = read_source(table(rows), "a.csv")
    assert marked(source, MarkKind.TERM) == ["Softmax", "Norm"]
    assert marked(source, MarkKind.TABLE)[1:] == [english, f"german_descr: {german}"] * 2


def test_numbers_are_kept_with_their_columns_and_claim_nothing() -> None:
    source = read_source(table([["city", "x", "y"], ["Ulm", 1.5, 2], ["Bonn", 3, 4]]), "n.csv")
    assert source.text.endswith("city: Bonn | x: 3 | y: 4")
    assert extracted(source).claims == ()
    nameless = read_source(table([[0.5, 0.02], [0.14, 0.89]]), "n.csv")
    assert nameless.text == "0.5 | 0.02\n\n0.14 | 0.89"


@pytest.mark.real_data
def test_a_real_table_of_weights_claims_nothing(shared_data: Path) -> None:
    path = shared_data / "corpus-attention/raw/tables/rnn_attentional_ex2.csv"
    source = read_source(path.read_bytes(), path.name)
    assert source.problems == () and source.locate(source.text.index("0.61")) == "row 4"
    found = extracted(source)
    assert found.claims == () and found.terms == ()


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        (
            "Begriff;Definition\nBeweis;größer als\n".encode("cp1252"),
            "a.csv",
            "Begriff: Beweis | Definition: größer als",
        ),
        (b"a\tb\nx, y\t2\n", "a.tsv", "a: x, y | b: 2"),
        ("\ufeffName,Ort\nÄnne,Köln\n".encode(), "a.csv", "Name: Änne | Ort: Köln"),
        ("Name,Ort\nÄnne,Köln\n".encode("utf-16"), "a.csv", "Name: Änne | Ort: Köln"),
        (b'sep=|\nName|Job\n"Ada|x"|poet\n', "a.csv", "Name: Ada|x | Job: poet"),
        (b'Name,Job\n"Ada, Countess",poet\n', "a.csv", "Name: Ada, Countess | Job: poet"),
    ],
)
def test_delimiters_quotes_and_encodings_are_told(data: bytes, name: str, text: str) -> None:
    assert read_source(data, name).text.split("\n\n")[-1] == text


def test_the_row_is_the_one_a_spreadsheet_shows() -> None:
    data = f'Name,Remark\n\n"of two\nlines",1\nBERT,"{SENTENCE}"\n'.encode()
    source = read_source(data, "a.csv")
    assert source.locate(source.text.index("of two lines")) == "row 3"
    assert source.locate(source.text.index(SENTENCE)) == "row 4"


def test_a_quotation_mark_that_is_never_closed_swallows_nothing() -> None:
    rows = "".join(f"{i},size {i}\n" for i in range(20_000))
    source = read_source(f'n,size\n1,5" pipe\n2,"7 pipe\n{rows}'.encode(), "a.csv")
    assert source.locate(source.text.index("size: size 500")) == "row 504"
    assert [p.code for p in source.problems] == ["quotes-unbalanced", "left-out"]


def test_what_is_left_out_of_a_long_or_wide_table_is_said() -> None:
    long = read_source(b"a,b\n" + b"1,2\n" * (MAX_ROWS + 5), "a.csv")
    assert [p.code for p in long.problems] == ["left-out"] and f"{MAX_ROWS:,} rows" in long.problems[0].message
    wide = read_source(table([[f"c{i}" for i in range(MAX_COLUMNS + 3)], list(range(MAX_COLUMNS + 3))]), "a.csv")
    assert [p.code for p in wide.problems] == ["left-out"] and f"c{MAX_COLUMNS}:" not in wide.text


def test_a_workbooks_words_stand_in_the_rows_it_names() -> None:
    book = workbook(Glossary=[["Words of attention"], [], *GLOSSARY], Sheet3=[["Model", "Remark"], ["BERT", SENTENCE]])
    data = saved(book)
    source = read_source(data, "terms.xlsx")
    again = openpyxl.load_workbook(io.BytesIO(data))
    claims = extracted(source).claims
    assert {"Glossary, row 4", "Sheet3, row 2"} <= {claim.locator for claim in claims}
    for claim in claims:
        sheet, _, row = claim.locator.partition(", row ")
        words = " ".join(str(cell.value) for cell in again[sheet][int(row)])
        assert set(claim.quote.split()) <= set(words.split())
    assert [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.HEADING] == ["Glossary"]


def test_what_a_workbook_hides_is_not_read() -> None:
    book = workbook(Open=[["Name", "Pay", "Town"], ["Ada", 1, "Ulm"], ["Bob", 2, "Bonn"]], Secret=[["hidden", "words"]])
    book["Secret"].sheet_state = "hidden"
    book["Open"].row_dimensions[2].hidden = True
    book["Open"].column_dimensions["B"].hidden = True
    text = read_source(saved(book), "a.xlsx").text
    assert text == "Open\n\nName | Town\n\nName: Bob | Town: Bonn"


def test_dates_shares_formulas_and_errors_are_as_a_human_sees_them() -> None:
    day = datetime.datetime(2017, 6, 12)
    book = workbook(
        Data=[
            ["day", "at", "share", "n", "yes", "sum", "bad"],
            [day, day.replace(hour=9), 0.25, 0.1 + 0.2, True, "=1+1", "#N/A"],
        ]
    )
    book["Data"]["C2"].number_format = "0.0%"
    text = read_source(saved(book), "a.xlsx").text
    assert text.endswith("day: 2017-06-12 | at: 2017-06-12 09:00:00 | share: 25% | n: 0.3 | yes: yes")


def test_a_workbook_has_its_properties() -> None:
    book = workbook(A=[["Name", "Town"], ["Ada", "Ulm"]])
    book.properties.title, book.properties.creator = "Towns", "Ada King"
    book.properties.created = datetime.datetime(2025, 10, 20)
    source = read_source(saved(book), "a.xlsx")
    assert source.title == "Towns"
    assert source.properties == {"title": "Towns", "author": "Ada King", "published": "2025-10-20"}


def with_part(data: bytes, name: str, change: Any) -> bytes:
    """The archive with one part changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            part = old.read(info)
            new.writestr(info.filename, change(part) if info.filename == name else part)
    return out.getvalue()


def test_a_workbook_that_lies_about_its_size_is_read_by_its_cells() -> None:
    data = saved(workbook(Data=[["Name", "Town"], ["Ada", "Ulm"], ["Bob", "Bonn"]]))
    sheet = "xl/worksheets/sheet1.xml"
    small = with_part(data, sheet, lambda xml: xml.replace(b'ref="A1:B3"', b'ref="A1:A1"'))
    vast = with_part(data, sheet, lambda xml: xml.replace(b'ref="A1:B3"', b'ref="A1:XFD1048576"'))
    assert read_source(small, "a.xlsx").text == read_source(vast, "a.xlsx").text == read_source(data, "a.xlsx").text
    far = with_part(
        data, sheet, lambda xml: xml.replace(b'<row r="3"', b'<row r="9999999"').replace(b'r="A3"', b'r="A9999999"')
    )
    source = read_source(far, "a.xlsx")
    assert "Ada" in source.text and [p.code for p in source.problems] == ["left-out"]


def test_a_row_or_a_line_beyond_all_measure_is_refused() -> None:
    data = saved(workbook(Data=[["Name", "Town"], ["Ada", "Ulm"]]))
    endless = b"<c><v>1</v></c>" * 120_000
    sheet = "xl/worksheets/sheet1.xml"
    for xml in (endless, b"<row>" * 300_000):
        with pytest.raises(Unreadable, match="damaged"):
            read_source(
                with_part(data, sheet, lambda part, xml=xml: part.replace(b"</row>", xml + b"</row>", 1)), "a.xlsx"
            )
    with pytest.raises(Unreadable, match="longer than"):
        read_source(b"a," * 1_000_001, "a.csv")


def test_a_table_of_very_many_columns_is_read_as_far_as_it_may_be() -> None:
    row = b",".join(b"%d" % n for n in range(250_000))
    source = read_source(b"\n".join([b"a," * 200_000, row, row]), "a.csv")
    assert "99" in source.text and [p.code for p in source.problems] == ["left-out"]


def test_entities_in_a_workbook_are_refused() -> None:
    data = saved(workbook(Data=[["Name", "Town"], ["Ada", "Ulm"]]))
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    for part in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"):

        def declare(xml: bytes) -> bytes:
            start = xml.index(b"?>") + 2 if xml.startswith(b"<?xml") else 0
            return xml[:start] + bomb + xml[start:]

        with pytest.raises(Unreadable, match="DOCTYPE"):
            read_source(with_part(data, part, declare), "a.xlsx")
