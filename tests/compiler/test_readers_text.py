"""Plain text and its encodings."""

from __future__ import annotations

import random

import pytest

from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

GERMAN = "Die Größe der Lücke hängt von der Übung ab, und das ist für die Schüler nicht leicht zu sehen."
POLISH = "Zażółć gęślą jaźń. Pamięć człowieka słabnie z upływem czasu, jeśli nie powtarzamy materiału."
RUSSIAN = "Внимание позволяет модели сосредоточиться на важных частях входа, а память хранит остальное."
CHINESE = "注意力机制使模型能够关注输入的重要部分，并对其进行加权求和。"


def read(text: str, encoding: str = "utf-8") -> SourceText:
    return read_source(text.encode(encoding), "notes.txt")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_hard_wrapped_lines_are_one_paragraph() -> None:
    source = read(
        "The spacing effect is the finding that information\npresented over spaced intervals is learned and\n"
        "retained more easily and more effectively.\nIt was found by Ebbinghaus.\n\nAnother paragraph stands here.\n"
    )
    assert source.text.split("\n\n") == [
        "The spacing effect is the finding that information presented over spaced intervals is learned and retained "
        "more easily and more effectively.",
        "It was found by Ebbinghaus.",
        "Another paragraph stands here.",
    ]


def test_lines_that_were_not_wrapped_stay_apart() -> None:
    assert read("Milk.\nEggs.\nBread.\n").text == "Milk.\n\nEggs.\n\nBread."


def test_headings_by_underline_capitals_and_number() -> None:
    source = read(
        "My Title\n========\n\nSome words of text.\n\nPart Two\n--------\nMore words here.\n\nTHE END OF IT\n\n"
        "Words again, then.\n\n2.1 Method\n\nAnd so on, it goes.\n"
    )
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("My Title", 1), ("Part Two", 2), ("THE END OF IT", 2), ("2.1 Method", 3)]
    assert source.title == "My Title"


def test_list_items_lose_their_bullets() -> None:
    source = read("We need:\n\n- a cue that fits the thing,\n  and goes on\n- a gap\n\n1. first\n2) second\n")
    assert marked(source, MarkKind.ITEM) == ["a cue that fits the thing, and goes on", "a gap", "first", "second"]


def test_an_empty_line_of_a_quoted_mail_ends_a_paragraph() -> None:
    ice = "A glacier is a large mass of ice that moves slowly over the land."
    source = read(f"On Monday, Ann wrote:\n\n> {ice}\n>\n> A moraine is a ridge of debris.\n")
    assert ice in source.text and "A moraine is a ridge of debris." in source.text


def test_quoted_lines_are_a_quotation() -> None:
    source = read("He wrote this.\n\n> Practice makes\n> perfect.\n\nSo he did.\n")
    assert marked(source, MarkKind.QUOTATION) == ["Practice makes perfect."]


def test_places_name_the_line() -> None:
    source = read("first here.\n\nsecond there.\n")
    assert source.locate(source.text.index("second")) == "first here., line 3" or (
        source.locate(source.text.index("second")) == "line 3"
    )


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-32"),
        (GERMAN, "latin-1"),
        (POLISH, "cp1250"),
        (POLISH, "iso-8859-2"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (CHINESE, "gb18030"),
        ("日本語の文章は、注意機構の説明です。重要な部分に焦点を当てることができます。", "shift_jis"),
        ("café", "latin-1"),
    ],
)
def test_an_old_encoding_is_told(text: str, encoding: str) -> None:
    assert read(text, encoding).text.replace("\n\n", " ") == text


def test_a_guessed_encoding_is_reported() -> None:
    assert [p.code for p in read(GERMAN, "latin-1").problems] == ["encoding-guessed"]
    assert read(GERMAN).problems == ()


def test_one_bad_byte_sequence_loses_only_itself() -> None:
    good = "Das Gedächtnis prüft sich selbst über Jahre. " * 3
    data = f"{good}\n\n".encode() + "Résumé: déjà vu\n".encode("latin-1") + b"\xfe\xff\xfe here\n\n" + good.encode()
    source = read_source(data, "mixed.txt")
    assert source.text.count("prüft") == 6
    assert "Résumé: déjà vu" in source.text
    assert [(p.code, p.line) for p in source.problems] == [("bad-bytes", 3), ("bad-bytes", 4)]


def test_what_is_no_text_is_never_stored_as_text() -> None:
    noise = random.Random(7).randbytes(3_000)
    for data in (bytes(range(256)) * 20, b"\x00\x01\x02" * 500, b"\x01\x02\x03" * 50, noise.replace(b"\0", b"\1")):
        with pytest.raises(Unreadable):
            read_source(data, "noise.txt")


def test_languages_are_told_by_script_or_common_words() -> None:
    for text, language in (
        ("The spacing effect is the finding that memory is better for what is repeated.", "en"),
        (GERMAN, "de"),
        (RUSSIAN, "ru"),
        (CHINESE, "zh"),
        ("注意機構は、入力の重要な部分に焦点を当てることを可能にします。", "ja"),
        ("기억은 반복하지 않으면 시간이 지나면서 약해진다. 그래서 복습이 필요하다.", "ko"),
        ("La mémoire faiblit avec le temps si l'on ne répète pas les choses, et c'est pour cela que les élèves", "fr"),
        ("La memoria se debilita con el tiempo si no se repasa lo que se ha aprendido en la escuela", "es"),
        ("q7 x9 z3", ""),
    ):
        assert read(text).language == language, text


def test_one_endless_line_is_read() -> None:
    assert len(read("word " * 100_000).text) > 400_000


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.org"])
def test_a_line_that_no_text_has_is_refused_at_once(name: str) -> None:
    for data in (
        b"word " * 60_000_000,
        b"Heading\n\n" + b"word " * 2_000_001,
        ("wörter " * 1_500_000).encode("utf-16"),
    ):
        with pytest.raises(Unreadable, match="longer than 10,000,000 characters"):
            read_source(data[: 200 * 1024 * 1024], name)


def test_an_overlong_line_is_cut_between_words() -> None:
    words = "The spacing effect is a finding. " * 10_000
    source = read(f"{words}\n\nAnother paragraph.\n")
    assert source.text.replace("\n\n", " ") == f"{words}Another paragraph."
    parts = source.text.split("\n\n")
    assert len(parts) > 4 and max(map(len, parts)) <= 100_000
