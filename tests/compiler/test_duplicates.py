"""Near-copies, editions, parts and translations are told from independent texts on the same matter."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.readers.read import read_source
from compiler.sources.duplicates import Copy, Kind, Witness, copies, original_of
from compiler.sources.fingerprint import Fingerprint, fingerprint
from vault.ids import SourceId
from vault.model.source import SourceText

DOCUMENTS = Path(__file__).parent / "documents"
SPACING = (DOCUMENTS / "spacing.md").read_text(encoding="utf-8")
TESTING = (DOCUMENTS / "testing.md").read_text(encoding="utf-8")
LICENCE = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this work and the files that "
    "come with it, to deal in the work without restriction, including without limitation the rights to use, copy, "
    "modify, merge, publish, distribute and sell copies of it, and to permit persons to whom it is furnished to do "
    "so, subject to the condition that this notice shall be included in all copies or substantial portions of it. "
    "The work is provided as it is, without warranty of any kind, express or implied, and in no event shall its "
    "authors be liable for any claim, damages or other liability that arises from it or from dealings with it."
)


def prose(seed: int, sentences: int) -> str:
    """Plain sentences that no other seed writes."""
    dice = random.Random(seed)
    words = [
        "".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(dice.randint(1, 3)))
        for _ in range(300)
    ]
    said = [" ".join(dice.choices(words, k=dice.randint(8, 16))).capitalize() + "." for _ in range(sentences)]
    return "\n\n".join(" ".join(said[i : i + 5]) for i in range(0, len(said), 5))


def read(text: str, name: str = "text.md") -> SourceText:
    source = read_source(text.encode(), name)
    assert isinstance(source, SourceText)
    return source


def witness(
    id_: str, text: str | SourceText, *, language: str = "", authority: int = 1, published: str = "", birth: str = ""
) -> Witness:
    source = read(text) if isinstance(text, str) else text
    birth = birth or f"2026-11-21T09:00:00.000Z {id_}"
    return Witness(
        SourceId(id_), fingerprint(source), language or source.language, authority, published, (birth, f"raw/{id_}")
    )


def kinds(*witnesses: Witness) -> dict[str, tuple[str, str]]:
    return {str(i): (c.kind.value, str(c.of)) for i, c in copies(witnesses, {}).items()}


def edited(text: str, every: int) -> str:
    """`text` with every so-manieth word replaced."""
    count = iter(range(10**9))
    return re.sub(r"[a-z]{3,}", lambda m: "altered" if next(count) % every == every - 1 else m[0], text)


def as_html(text: str) -> str:
    blocks = [f"<p>{block.replace('**', '')}</p>" for block in text.split("\n\n") if block]
    body = f"<article><h1>A page</h1>{''.join(blocks)}</article>"
    return f"<html><head><title>A page</title></head><body>{body}</body></html>"


def as_from_a_page(text: str) -> str:
    """Narrow lines with words parted at their ends, as a PDF has them."""
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 40 and len(word) > 7:
            lines.append(f"{line} {word[:4]}-")
            line = word[4:]
        elif len(line) + len(word) > 46:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}"
    return "\n".join([*lines, line])


def test_the_same_article_as_a_page_of_the_web_and_as_markdown_is_one() -> None:
    text = prose(1, 60)
    page = read(as_html(text), "page.html")
    assert kinds(witness("a", text), witness("b", page)) == {"b": ("copy", "a")}


def test_line_ends_and_parted_words_hide_no_copy() -> None:
    text = prose(2, 60)
    assert kinds(witness("a", text), witness("b", as_from_a_page(text))) == {"b": ("copy", "a")}


def test_a_word_changed_here_and_there_hides_no_copy() -> None:
    text = prose(3, 60)
    assert kinds(witness("a", text), witness("b", edited(text, 40))) == {"b": ("copy", "a")}


def test_a_text_revised_throughout_is_another_edition() -> None:
    text = prose(4, 80)
    assert kinds(witness("a", text), witness("b", edited(text, 10))) == {"b": ("edition", "a")}


def test_a_chapter_is_part_of_its_book_though_it_came_first_and_is_trusted_more() -> None:
    chapters = [prose(seed, 50) for seed in range(10, 16)]
    book = witness("book", "\n\n".join(chapters), birth="2027")
    chapter = witness("chapter", chapters[3], authority=3, birth="2020")
    assert kinds(book, chapter) == {"chapter": ("part", "book")}


def test_two_chapters_of_a_book_have_one_origin_and_two_books_with_one_quoted_page_have_two() -> None:
    chapters = [prose(seed, 50) for seed in range(20, 26)]
    other = "\n\n".join([*(prose(seed, 50) for seed in range(30, 35)), chapters[1]])
    book, second = witness("book", "\n\n".join(chapters)), witness("second", other)
    found = copies([book, second, *(witness(f"chapter{n}", c) for n, c in enumerate(chapters[:3]))], {})
    assert {original_of(SourceId(f"chapter{n}"), found) for n in range(3)} <= {"book", "second"}
    assert "book" not in found and "second" not in found
    assert original_of(SourceId("chapter0"), found) == original_of(SourceId("chapter2"), found) == "book"


def test_two_articles_that_quote_the_same_passage_are_independent() -> None:
    quoted = prose(40, 6)
    first, second = (prose(seed, 20) + "\n\n" + quoted + "\n\n" + prose(seed + 1, 20) for seed in (41, 43))
    assert kinds(witness("a", first), witness("b", second)) == {}


def test_a_short_text_that_quotes_a_paragraph_is_no_copy() -> None:
    text = prose(50, 60)
    paragraph = text.split("\n\n")[4]
    assert kinds(witness("a", text), witness("b", f"{prose(51, 4)}\n\n{paragraph}")) == {}


def test_a_licence_at_the_head_of_two_files_makes_neither_a_copy() -> None:
    assert kinds(*(witness(n, f"{LICENCE}\n\n{prose(seed, 6)}") for n, seed in (("a", 60), ("b", 61), ("c", 62)))) == {}


def test_short_notes_made_by_one_template_are_independent() -> None:
    headings = "- Weather and mood of the day\n- What was read, and on which pages\n- What comes next"
    template = "#review\n\n{}\n\n# Daily note\n\n" + headings
    first, second = (template.format(prose(seed, 1)) for seed in (65, 66))
    assert kinds(witness("a", first), witness("b", second)) == {}


def test_the_documents_of_the_small_vault_are_independent() -> None:
    assert kinds(witness("a", SPACING), witness("b", TESTING)) == {}


def test_the_most_trusted_is_the_original_then_the_first_published_then_the_first_here() -> None:
    text = prose(70, 40)
    early, late = "2026-11-21T09:00:00.000Z", "2026-11-22T09:00:00.000Z"
    assert kinds(witness("a", text, birth=late), witness("b", text, birth=early)) == {"a": ("copy", "b")}
    dated = witness("a", text, published="2019-05", birth=late)
    assert kinds(dated, witness("b", text, published="2020", birth=early)) == {"b": ("copy", "a")}
    assert kinds(dated, witness("b", text, birth=early)) == {"b": ("copy", "a")}
    assert kinds(dated, witness("b", text, authority=2, birth=late)) == {"a": ("copy", "b")}


def test_a_chain_of_copies_has_one_original() -> None:
    first = prose(80, 80)
    second = edited(first, 12)
    third = edited(second.replace("altered", "amended"), 12)
    found = copies([witness(n, t) for n, t in (("c", third), ("b", second), ("a", first))], {})
    assert {str(c.of) for c in found.values()} == {"a"} and set(found) == {"b", "c"}


def test_a_human_can_deny_a_copy_and_name_one() -> None:
    text, other = prose(90, 40), prose(91, 40)
    three = [witness("a", text), witness("b", text), witness("c", other)]
    assert copies(three, {SourceId("b"): None}) == {}
    assert copies(three, {SourceId("a"): SourceId("c")}) == {SourceId("a"): Copy(SourceId("c"), Kind.COPY)}
    unknown = [witness("a", text), replace(witness("c", other), language="")]
    assert copies(unknown, {SourceId("a"): SourceId("c")}) == {SourceId("a"): Copy(SourceId("c"), Kind.COPY)}
    assert copies(three, {SourceId("a"): SourceId("gone")}) == copies(three, {}) != {}


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(7)))
def test_the_order_of_sources_never_matters(order: list[int]) -> None:
    text = prose(100, 40)
    texts = [text, edited(text, 30), edited(text, 9), prose(101, 40), f"{prose(102, 90)}\n\n{text}", TESTING, SPACING]
    all_ = [witness(str(n), t) for n, t in enumerate(texts)]
    assert copies([all_[n] for n in order], {}) == copies(all_, {})


def test_hundreds_of_copies_of_one_text_are_found_without_comparing_every_pair() -> None:
    text = prose(110, 30)
    many = [witness(f"{n:03}", text) for n in range(300)]
    assert {c.of for c in copies(many, {}).values()} == {"000"} and len(copies(many, {})) == 299


def test_a_fingerprint_comes_back_from_a_cache_and_a_spoilt_one_does_not() -> None:
    made = fingerprint(read(SPACING))
    assert Fingerprint.from_json(made.as_json()) == made
    spoilt: list[object] = [None, [], {}, made.as_json() | {"v": 0}, made.as_json() | {"stretches": [["x"]]}]
    for data in spoilt:
        assert Fingerprint.from_json(data) is None


FORMULAS = [rf"$y_{n} = \sum_j \alpha_{{{n}j}} x_j + b_{n}$" for n in range(12)]


def with_formulas(words: str, formulas: list[str]) -> str:
    return "# " + words + "\n\n" + "\n\n".join(f"{words} {formula} {words}." for formula in formulas)


def test_a_translation_is_known_by_its_formulas() -> None:
    english = witness("en", with_formulas("the weight is computed as", FORMULAS), language="en")
    german = witness("de", with_formulas("das Gewicht berechnet sich als", FORMULAS[:11]), language="de")
    assert kinds(english, german) == {"de": ("translation", "en")} or kinds(english, german) == {
        "en": ("translation", "de")
    }


def test_a_few_formulas_in_common_or_in_another_order_make_no_translation() -> None:
    english = witness("en", with_formulas("the weight is computed as", FORMULAS), language="en")
    few = witness("de", with_formulas("das Gewicht berechnet sich als", FORMULAS[:5]), language="de")
    turned = witness("fr", with_formulas("le poids se calcule comme", FORMULAS[::-1]), language="fr")
    assert kinds(english, few, turned) == {}


@pytest.mark.real_data
def test_of_a_real_folder_the_one_translated_chapter_is_found_and_nothing_else(shared_data: Path) -> None:
    folder = shared_data / "corpus-attention/raw"
    found = []
    for path in sorted(folder.rglob("*.m*")):
        source = read_source(path.read_bytes(), path.name)
        assert isinstance(source, SourceText)
        found.append(witness(path.relative_to(folder).as_posix(), source))
    assert kinds(*found) == {
        "zh/自注意力和位置编码.md": ("translation", "d2l/self-attention-and-positional-encoding.md")
    }
