"""Which reader a document gets, and what is said of one that cannot be read."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from compiler.readers.formats import kind_of
from compiler.readers.read import MAX_FILE, read_source
from tests.compiler.conftest import unpacked
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("note.md", b"# Hi", "markdown"),
        ("Lesson.MDX", b"# Hi", "markdown"),
        ("page.htm", b"<p>", "html"),
        ("saved.txt", b"<!DOCTYPE html><html>", "html"),
        ("notes.txt", b"Hi", "text"),
        ("paper.pdf", b"%PDF-1.7", "pdf"),
        ("paper", b"\n%PDF-1.7", "pdf"),
        ("paper.txt", b"%PDF-1.7", "pdf"),
        ("README", b"This is a text of words, and of nothing else.", "text"),
        ("Makefile", b"all:\n\t$(CC) -o $@ $< $(X)=1 ; @echo ${Y}\n" * 9, "unsupported"),
        ("photo.png", PNG, "image"),
        ("drawing.svg", b"<svg>", "image"),
        ("photo", PNG, "image"),
        ("table.csv", b"a,b", "csv"),
        ("table.TSV", b"a\tb", "csv"),
        ("code.py", b"import os", "code"),
        ("book.epub", b"PK\x03\x04", "epub"),
        ("report.docx", b"PK\x03\x04", "docx"),
        ("report.doc", b"\xd0\xcf\x11\xe0", "docx"),
        ("slides.pptx", b"PK\x03\x04", "pptx"),
        ("numbers.xlsm", b"PK\x03\x04", "xlsx"),
        ("lesson.ipynb", b"{}", "notebook"),
        ("paper.tex", b"\\section{Hi}", "latex"),
        ("notes.org", b"* Hi", "org"),
        ("notes.adoc", b"= Hi", "asciidoc"),
        ("chapter.asc", b"=== Hi", "asciidoc"),
        ("lesson.qmd", b"# Hi", "markdown"),
        ("export.json", b'[{"uuid": "u", "name": "n", "chat_messages": []}]', "chat"),
        ("export.json", b'[{"title": "t", "mapping": {"a": {"id": "a"}}}]', "chat"),
        ("package.json", b'{"name": "x"}', "unsupported"),
        ("slides", b"PK\x03\x04....", "unsupported"),
        ("a.unknown", b"Some words here.", "unsupported"),
        ("picture-named.md", PNG, "markdown"),
    ],
)
def test_a_documents_kind_is_told_by_its_name_and_first_bytes(name: str, head: bytes, kind: str) -> None:
    assert kind_of(name, head) == kind


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"", "a.md", "empty"),
        (b" \n\t\n", "a.md", "white space"),
        ("\u00a0\n\u3000".encode(), "a.md", "no text"),
        (PNG, "a.md", "PNG picture"),
        (b"PK\x03\x04\x14\x00" + bytes(60), "a.txt", "zip archive"),
        (b"<!-- only this -->", "a.md", "no text"),
        (b"not a pdf", "a.pdf", "not a PDF"),
        (b'{"name": "x"}', "package.json", "not supported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc", r"old Office file.*save it as .docx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a.xlsx", "password"),
        (PNG, "a.pptx", "PNG picture"),
        (b"plain words, no archive", "a.docx", "not a Word document"),
        (b"PK\x03\x04" + bytes(60), "a.epub", "cut off or damaged"),
        (b"\x00\x01\x02\x03" * 9, "a.txt", "control characters"),
        (b"\x00\x01words" * 9, "a.txt", "NUL bytes"),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(data: bytes, name: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words) as caught:
        read_source(data, name)
    assert "\n" not in str(caught.value)


def test_a_file_beyond_all_measure_is_named() -> None:
    with pytest.raises(Unreadable, match="200 MiB"):
        read_source(bytes(MAX_FILE + 1), "a.txt")


def test_without_a_title_the_files_name_stands() -> None:
    assert read_source(b"Only words.\nAnd more.", "My notes.md").title == "My notes"
    assert read_source("Nur Wörter und weiter nichts.".encode(), "Überblick.txt").title == "Überblick"


def sound(source: SourceText) -> None:
    """What holds of every source text."""
    size = len(source.text)
    assert all(0 <= m.start < m.end <= size for m in source.marks)
    assert [p.start for p in source.places] == sorted(p.start for p in source.places)
    assert all(" · " not in p.label and "\n" not in p.label and p.label for p in source.places)
    assert source.places[0].start == 0 and source.segments
    assert SourceText.from_json(json.loads(json.dumps(source.as_json()))) == source
    assert all(isinstance(v, str) for v in source.properties.values())


@pytest.fixture(scope="module")
def nasty(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(shared_data / "nasty.tar.gz", tmp_path_factory.mktemp("nasty")) / "nasty"


@pytest.mark.real_data
def test_documents_that_break_naive_readers(nasty: Path) -> None:
    def read(name: str) -> SourceText:
        return read_source((nasty / name).read_bytes(), name)

    for name, words in (
        ("empty.md", "empty"),
        ("only-whitespace.md", "no text"),
        ("image-only.pdf", "pictures of pages"),
        ("picture-named.md", "PNG"),
    ):
        with pytest.raises(Unreadable, match=words):
            read(name)
    for name, code in (
        ("frontmatter-bad-yaml.md", "front-matter-invalid"),
        ("frontmatter-coffee.md", "front-matter-foreign"),
        ("frontmatter-unterminated.md", "front-matter-empty"),
        ("mixed-utf8-latin1.md", "bad-bytes"),
        ("sample-french-1.txt", "encoding-guessed"),
    ):
        assert [p.code for p in read(name).problems] == [code], name
    assert "Résumé en latin-1: déjà vu, naïve, cœur." in read("mixed-utf8-latin1.md").text
    assert "注意力机制" in read("mixed-utf8-latin1.md").text
    assert "維基大典" in read("sample-chinese.txt").text
    assert "Альберт Эйнштейн" in read("sample-russian.txt").text
    assert "SYSTEM" not in read("injection-insights.md").text
    assert read("injection-insights.md").text.endswith("in all frontmatter.")  # seen by all readers, so it is content
    assert "Ignore previous text" not in read("injection-invisible.html").text
    plain = [p for p in nasty.iterdir() if p.stat().st_size == 1881]
    assert len(plain) == 5
    assert len({read(p.name).text for p in plain}) == 1


@pytest.mark.real_data
def test_every_real_document_is_read_whole_and_sound(shared_data: Path) -> None:
    raw = shared_data / "corpus-attention/raw"
    languages = {"de": "de", "zh": "zh"}
    for path in sorted(raw.rglob("*")):
        if path.is_dir() or kind_of(path.name, path.read_bytes()[:4096]) in ("image", "unsupported"):
            continue
        if path.parent.name == "books":
            continue  # it has a test of its own
        source = read_source(path.read_bytes(), path.name)
        sound(source)
        if path.parent.name == "tables":
            continue  # numbers are of no language
        assert source.language == languages.get(path.parent.name, "en")
        assert {problem.code for problem in source.problems} <= {"letters-unknown"}
        assert any(m.kind is MarkKind.HEADING for m in source.marks), path
        assert ":numref:" not in source.text and "](http" not in source.text and "<div" not in source.text


@pytest.mark.real_data
def test_a_paper_in_two_columns_is_read_in_order(shared_data: Path) -> None:
    path = shared_data / "corpus-attention/raw/papers/10.21105.jcon.00059.pdf"
    source = read_source(path.read_bytes(), path.name)
    order = [
        "Flux [17] is a machine learning framework, written using the numerical computing language Julia[4].",
        "complete support for control flow, recursion, closures and data structures.",
        "Open Neural Network Exchange (ONNX) [2] is an open ecosystem",
        "StyleGAN [21] , for example, can use a pre-trained model",
        "Developing ONNX.jl has been tremendous learning experience.",
        "[28] Christian Szegedy",
    ]
    found = [source.text.find(words) for words in order]
    assert -1 not in found and found == sorted(found)
    headings = [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.HEADING]
    assert headings[:4] == ["ABSTRACT", "Keywords", "1. Introduction", "2. Open Neural Network eXchange (ONNX)"]
    assert source.locate(source.text.index("StyleGAN [21]")) == "p. 4"
    assert source.title == "Interoperating Deep Learning models with ONNX.jl"


@pytest.mark.torture
@pytest.mark.real_data
def test_a_whole_book_is_read_in_seconds(shared_data: Path) -> None:
    path = shared_data / "corpus-attention/raw/books/eisenstein-nlp-notes.pdf"
    began = time.process_time()
    source = read_source(path.read_bytes(), path.name)
    assert time.process_time() - began < 60
    sound(source)
    assert source.title == "Natural Language Processing"
    assert "Draft of November" not in source.text and "CHAPTER 2." not in source.text
    terms = {source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.EMPHASIS}
    assert {"logistic function", "link functions", "generalized linear models", "sparse"} <= terms
    paths = {s.headings for s in source.segments}
    assert ("Learning", "Linear text classification", "2.5 Logistic regression", "2.5.1 Regularization") in paths
    assert "Naïve Bayes" in source.text
    sentence = "Logistic regression and related models are sometimes referred to as log-linear, because the"
    assert source.locate(source.text.index(sentence)) == "p. 60"
