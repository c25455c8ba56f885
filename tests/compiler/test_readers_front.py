"""What documents say of themselves, under one name each, whichever program wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.readers.front_matter import canonical_properties, iso_date_in, web_address_in
from compiler.readers.read import read_source


def said(front: str, body: str = "Words are here.\n") -> dict[str, str]:
    return read_source(f"---\n{front}---\n{body}".encode(), "note.md").properties


def known(front: str) -> tuple[str, str, str]:
    found = said(front)
    return found.get("author", ""), found.get("published", ""), found.get("url", "")


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        # Obsidian Web Clipper
        ('title: "T"\nsource: "https://a.b/c"\nauthor:\n  - "[[Ann Lee]]"\n  - "[[people/bo|Bo]]"\n'
         "published: 2024-03-05\ncreated: 2024-06-01\ntags:\n  - clippings\n", ("Ann Lee, Bo", "2024-03-05", "https://a.b/c")),
        # Zotero's exports
        ("citekey: v2017\nitemType: journalArticle\nauthors: A. Vaswani, N. Shazeer\nyear: 2017\n"
         "DOI: 10.48550/arXiv.1706.03762\n",
         ("A. Vaswani, N. Shazeer", "2017", "https://doi.org/10.48550/arXiv.1706.03762")),
        ("creators:\n  - firstName: Ann\n    lastName: Lee\n  - name: The Group\ndate: 2017-06\nurl: https://a.b\n",
         ("Ann Lee, The Group", "2017-06", "https://a.b")),
        # CSL
        ("author:\n  - family: Lee\n    given: Ann\nissued:\n  date-parts:\n    - [2023, 10, 5]\nURL: https://a.b/x\n",
         ("Ann Lee", "2023-10-05", "https://a.b/x")),
        # Hugo, Jekyll, Quarto, Readwise's YAML
        ("author: Ann\ndate: 2018-06-27T10:00:00+02:00\n", ("Ann", "2018-06-27", "")),
        ("authors: [Ann, Bo]\npublishDate: 27 June 2018\n", ("Ann, Bo", "2018-06-27", "")),
        ('Author: "[[Ann]]"\nFull Title: X\nCategory: books\nURL: https://a.b/r\n', ("Ann", "", "https://a.b/r")),
        ("url: javascript:alert(1)\nsource: https://a.b\n", ("", "", "https://a.b")),
        ("url: file:///etc/passwd\n", ("", "", "")),
    ],
)  # fmt: skip
def test_author_day_and_address_are_known(front: str, expected: tuple[str, str, str]) -> None:
    assert known(front) == expected


@pytest.mark.parametrize("key", ["license", "Licence", "rights"])
def test_a_licence_is_known_under_one_name(key: str) -> None:
    assert said(f"{key}: '[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/)'\n")["license"] == "CC BY 4.0"
    assert "license" not in said("title: T\n")


def test_front_matter_in_toml_is_read_and_an_invalid_one_left_out() -> None:
    toml = '+++\ntitle = "T"\ndate = 2020-01-19T17:15:00-05:00\nauthor = "Ann Lee"\n+++\nWords are here.\n'
    source = read_source(toml.encode(), "note.md")
    assert source.text == "Words are here." and source.properties["published"] == "2020-01-19"
    assert source.properties["author"] == "Ann Lee"
    for title in ("T", "9" * 5_000):
        wrong = read_source(toml.replace('"T"', title).encode(), "note.md")
        assert wrong.text == "Words are here." and [p.code for p in wrong.problems] == ["front-matter-invalid"]


def test_readwise_notes_lose_their_metadata_and_noise_and_keep_the_highlights() -> None:
    body = (
        "# Make It Stick\n\n![rw-book-cover](https://m.media/x.jpg)\n\n"
        "## Metadata\n- Author: [[Peter Brown]] and [[Bo]]\n"
        "- Full Title: Make It Stick: The Science\n- Category: #books\n- URL: https://a.b/c?d=e\n\n## Highlights\n"
        "- Retrieval helps. ([Location 123](https://readwise.io/to_kindle?action=open&asin=B0))\n"
        "    - Tags: [[memory]]\n"
        "- Spacing helps. ([View Highlight](https://read.readwise.io/read/01abc))\n"
    )
    source = read_source(body.encode(), "stick.md")
    assert source.text.split("\n\n") == ["Make It Stick", "Highlights", "Retrieval helps.", "Spacing helps."]
    assert source.properties["author"] == "Peter Brown and Bo"
    assert source.properties["url"] == "https://a.b/c?d=e"
    assert source.title == "Make It Stick: The Science"
    assert source.locate(source.text.index("Spacing")) == "Highlights, line 14"


def test_an_ordinary_note_with_a_colon_list_stays_as_it_is() -> None:
    body = "# A\n\n- Author: someone wrote this line\n- Tags: two\n\nText.\n"
    source = read_source(body.encode(), "a.md")
    assert source.text.split("\n\n") == ["A", "Author: someone wrote this line", "Tags: two", "Text."]
    assert "author" not in source.properties


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("2024-03-05", "2024-03-05"), ("2024/3/5", "2024-03-05"), ("2024-03", "2024-03"), ("2024", "2024"),
        ("2024-03-05T10:00:00Z", "2024-03-05"), ("March 5, 2024", "2024-03-05"), ("5 March 2024", "2024-03-05"),
        ("5. März 2024", "2024-03-05"), ("June 2017", "2017-06"), ("05.03.2024", "2024-03-05"),
        ("<2024-05-01 Wed>", "2024-05-01"),
        ("05/03/2024", "2024"), ("summer 2024", "2024"), ("n.d.", ""), ("12345", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_day_is_as_much_of_an_iso_date_as_is_certain(words: str, expected: str) -> None:
    assert iso_date_in(words) == expected


@given(st.text(max_size=80))
def test_whatever_is_said_the_day_and_address_are_sound(words: str) -> None:
    assert len(iso_date_in(words)) in (0, 4, 7, 10)
    found = web_address_in(words)
    assert not found or (found.lower().startswith(("http://", "https://")) and not set(found) & set(' \n"<>'))


@given(
    st.dictionaries(st.sampled_from(["author", "Authors", "date", "url", "DOI", "title", "x"]), st.text(max_size=40))
)
def test_properties_are_canonical_once_and_for_all(properties: dict[str, str]) -> None:
    once = canonical_properties(properties)
    assert canonical_properties(once) == once
    assert all(once.values())
