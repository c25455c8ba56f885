"""Pictures as readers note them: where they lie, what the document says of them, which ones are furniture."""

import pytest

from compiler.readers.read import read_source
from vault.model.source import Picture, SourceText


def read(text: str, name: str = "note.md") -> SourceText:
    return read_source(text.encode(), name)


def shown(text: str, name: str = "note.md") -> list[tuple[str, str, str, str]]:
    return [(p.target, p.alt, p.caption, p.label) for p in read(text, name).pictures]


def test_a_markdown_picture_keeps_address_words_and_title() -> None:
    text = 'Words before it.\n\n![A loop of two states](img/loop.png "Figure 2: the loop")\n\nWords after.\n'
    assert shown(text) == [("img/loop.png", "A loop of two states", "Figure 2: the loop", "")]


def test_a_picture_stands_after_the_words_before_it() -> None:
    source = read("One paragraph.\n\n![](img/loop.png)\n\nAnother paragraph.\n")
    assert source.text[: source.pictures[0].start] == "One paragraph."


def test_an_embed_of_obsidian_is_a_picture_and_its_width_is_no_caption() -> None:
    text = "Some words here.\n\n![[Pasted image 1.png]]\n\n![[loop.png|The loop]]\n\n![[loop.png|300]]\n\n![[Note]]\n"
    assert shown(text) == [
        ("Pasted image 1.png", "", "", ""),
        ("loop.png", "The loop", "", ""),
        ("loop.png", "", "", ""),
    ]


def test_a_label_of_the_book_names_its_picture_and_a_reference_leads_to_it() -> None:
    source = read(
        "The model of :numref:`fig_loop` has two states.\n\n"
        "![The loop.](../img/loop.svg)\n:width:`400px`\n:label:`fig_loop`\n"
    )
    assert source.pictures == (Picture(source.pictures[0].start, "../img/loop.svg", "The loop.", "", "fig_loop"),)
    links = [(source.text[m.start : m.end], m.info) for m in source.marks if m.info]
    assert links == [("[…]", "#fig_loop")]
    assert source.text == "The model of […] has two states.\n\nThe loop."


def test_a_figure_gives_its_pictures_caption_and_id() -> None:
    page = """<html><body><article><p>The loop has two states, as the figure shows, and both of them matter here.</p>
    <figure id="f1"><div><img src="a.png" alt="left half"></div><img src="b.png">
    <figcaption>Figure 1: <b>The</b> loop.</figcaption></figure><p>Words after the figure end it all.</p>
    </article></body></html>"""
    assert shown(page, "page.html") == [
        ("a.png", "left half", "Figure 1: The loop.", "f1"),
        ("b.png", "", "Figure 1: The loop.", "f1"),
    ]


@pytest.mark.parametrize(
    "image",
    [
        '<img src="https://img.shields.io/pypi/v/x.svg" alt="version">',
        '<img src="https://ci.example/build-badge.svg" alt="build passing">',
        '<img src="https://t.example/p.gif" width="1" height="1">',
        '<img src="me.jpg" class="author avatar" alt="The author">',
        '<img src="icons/icon-arrow.png" alt="next page">',
        '<img src="dot.png" style="width: 12px" alt="a dot">',
        '<img alt="no address">',
        '<table><tr><th>a</th><th>b</th></tr><tr><td><img src="x.png"></td><td>c</td></tr></table>',
    ],
)
def test_furniture_is_no_picture(image: str) -> None:
    assert shown(f"Some words of a paragraph.\n\n{image}\n\nMore words.\n") == []


def test_a_page_that_loads_its_pictures_late_still_shows_them() -> None:
    image = '<img src="data:image/gif;base64,R0lGOD" data-src="late.png" alt="A late one">'
    assert shown(f"Some words of a paragraph.\n\n{image}\n") == [("late.png", "A late one", "", "")]


def test_pictures_survive_the_way_through_json() -> None:
    source = read("The loop.\n\n![The loop.](../img/loop.svg)\n:label:`fig_loop`\n")
    assert SourceText.from_json(source.as_json()) == source
