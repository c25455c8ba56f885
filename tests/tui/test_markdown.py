"""Markdown on the screen: laid out by cells, inert whatever it holds, and never slow."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.style import Style

from tui.text.content import rendered
from tui.text.inline import inline_content
from tui.text.markdown import Row, Target, rows
from tui.text.wrapping import breaks, cell_len

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MARKS = st.text(st.sampled_from("ab *_`~=[](){}<>|#-+>$!\\^&;:/.\n\t1注ש\x1b\u202e"), max_size=120)

ONE, TWO = (f"[[wiki/summaries/m#^c-aaaaaaaaa{n}|{n}]]" for n in (1, 2))
EVERYTHING = """# Attention & **weights**

A *query* meets ***keys***, see [[wiki/concepts/kv-cache|KV cache]]. {ONE} {TWO}
It uses `softmax(x)`, $e^{-t/S}$, snake_case_names and 2 * 3 * 4; ~~not this~~.

- one item that is long enough to be folded below its own words and not below its mark
  - nested **two**
    1. three
- [ ] to do
- [x] done

> [!note] Mind
> what is quoted goes on below its bar when it is longer than the row allows

| 名称 | Meaning | n |
|:--|:-:|--:|
| 注意力 | weights of *all* | 1 |
| שלום | peace | 20000 |

```python
def f(x: int) -> str:
    return "a"  # why
```

---
""".replace("{ONE}", ONE).replace("{TWO}", TWO)


def plain(markdown: str, width: int = 0) -> list[str]:
    return rendered(markdown, width).content.plain.split("\n")


def test_each_citation_stands_close_to_its_sentence() -> None:
    assert plain(f"One. {ONE} Two. {TWO} Three *four*. {ONE} {TWO}") == ["One.¹ Two.² Three four.¹ ²"]


def test_everything_that_a_page_holds_is_laid_out() -> None:
    assert plain(EVERYTHING, 44) == [
        "Attention & weights",
        "",
        "A query meets keys, see KV cache.¹ ²",
        "It uses softmax(x), e^(-t/S),",
        "snake_case_names and 2 * 3 * 4; not this.",
        "",
        "• one item that is long enough to be folded",
        "  below its own words and not below its mark",
        "  • nested two",
        "    1. three",
        "☐ to do",
        "☑ done",
        "",
        "│ Mind",
        "│ what is quoted goes on below its bar when",
        "│ it is longer than the row allows",
        "",
        "名称       Meaning          n",
        "──────  ──────────────  ─────",
        "注意力  weights of all      1",
        "  שלום      peace       20000",
        "",
        "python",
        "  def f(x: int) -> str:",
        '      return "a"  # why',
        "",
        "─" * 44,
    ]


def test_a_link_is_known_by_its_number_and_does_nothing_by_itself() -> None:
    shown = rendered("See [[wiki/a#^x|A]], <https://example.org/?q> and ![[wiki/assets/b.png|B]].")
    assert [(t.kind, t.to, t.words) for t in shown.links] == [
        ("note", "wiki/a#^x", "A"),
        ("web", "https://example.org/?q", "https://example.org/?q"),
        ("picture", "wiki/assets/b.png", "[picture: B, wiki/assets/b.png]"),
    ]
    marked = {
        span.style.meta["target"]: shown.content.plain[span.start : span.end]
        for span in shown.content.spans
        if isinstance(span.style, Style)
    }
    assert marked == {0: "A", 1: "https://example.org/?q", 2: "[picture: B, wiki/assets/b.png]"}


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "file:///etc/passwd", "smb://host/x", "C:/x.exe", "data:text/html,x", "/etc/passwd"],
)
def test_an_address_of_another_kind_is_shown_and_is_no_link(address: str) -> None:
    shown = rendered(f"[look]({address}) ![see](<{address}>)")
    assert f"look ({address})" in shown.content.plain
    assert not [target for target in shown.links if target.kind in ("web", "note")]


def test_entities_cannot_bring_in_what_is_cleaned_away() -> None:
    assert rendered("a&#27;[2Jb&#8238;c&amp;d&#10;e").content.plain == "a\ufffd[2Jb\ufffdc&d e"


@given(st.one_of(st.text(max_size=200), MARKS), st.integers(0, 60))
def test_any_text_is_inert_at_any_width(markdown: str, width: int) -> None:
    shown = rendered(markdown, width)
    assert not _CONTROL.search(shown.content.plain)
    for span in shown.content.spans:
        assert 0 <= span.start <= span.end <= len(shown.content.plain)
        if isinstance(span.style, Style):
            assert set(span.style.meta) == {"target"}
            assert 0 <= span.style.meta["target"] < len(shown.links)
        else:
            assert "@" not in span.style


@given(st.one_of(st.text(max_size=200), MARKS), st.integers(30, 70))
def test_no_row_is_wider_than_the_column(markdown: str, width: int) -> None:
    for row in rows(markdown, width, []):
        assert row.content.cell_length <= width


@given(st.text(st.sampled_from("ab 注意，。ש(“”)\u0301"), max_size=80), st.integers(2, 20))
def test_breaking_a_line_loses_nothing_and_fits(line: str, width: int) -> None:
    cuts = breaks(line, width)
    assert cuts == sorted(set(cuts)) and all(0 < cut < len(line) for cut in cuts)
    parts = [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True)]
    assert "".join(parts) == line
    assert all(cell_len(part.rstrip()) <= width for part in parts)


def test_chinese_breaks_between_characters_and_never_before_a_comma() -> None:
    assert breaks("注意力机制，将查询映射", 10) == [4, 9]
    assert plain("注意力机制，将查询映射", 12) == ["注意力机制，", "将查询映射"]


def test_what_runs_from_right_to_left_stands_at_the_right() -> None:
    assert plain("שלום עולם", 20) == [" " * 11 + "שלום עולם"]


def test_a_table_without_room_becomes_a_list() -> None:
    table = "| one | two | three |\n|-|-|-|\n| aaaaaaaa | bbbbbbbb | cccccccc |"
    assert plain(table, 14) == ["one: aaaaaaaa", "two: bbbbbbbb", "three:", "cccccccc"]
    assert all(cell_len(row) <= 24 for row in plain(table, 24))


def test_blocks_have_anchors_that_a_link_can_lead_to() -> None:
    found = list(rows("# One\n\n> [!quote]\n> words\n\n^c-aaaaaaaaa1\n\n## Two\n", 40, []))
    anchored = {anchor: row.content.plain for row in found for anchor in row.anchors}
    assert anchored == {"one": "One", "two": "Two", "^c-aaaaaaaaa1": "Two"}


def test_pictures_stand_above_their_names_where_they_can_be_shown() -> None:
    from textual.content import Content

    links: list[Target] = []
    found: list[Row] = list(rows("![[wiki/assets/a.png|A]]", 40, links, lambda path, width: [Content(f"<{path}>")]))
    assert [row.content.plain for row in found] == ["<wiki/assets/a.png>", "[picture: A, wiki/assets/a.png]"]


@pytest.mark.parametrize(
    "bomb",
    [
        "![[" * 20_000,
        "[" * 50_000,
        "*a " * 20_000,
        "**a *b " * 8_000,
        " ".join("`" * n for n in range(1, 340)),
        "> " * 25_000,
        "- " * 25_000,
        "".join("  " * n + "- a\n" for n in range(240)),
        "_a_ " * 15_000,
        "[](x(" * 12_000,
        "$a" * 30_000,
        "|a|b|\n|-|-|\n" + "|a|b|\n" * 9_000,
        "|" + "-|" * 30_000 + "\n" + "|-" * 30_000,
        "\\" * 60_000,
        "- - - x" * 8_000,
        "*_~~==" * 10_000,
        "(" * 60_000 + "注",
        " " * 20_000 + "a",
        "-|-\n" * 15_000,
        "&a" * 30_000,
        "![" * 5_000 + "a" + "](b)" * 5_000,
        "==a== " * 10_000,
        "http://a" * 8_000,
        "[[a|" * 16_000,
        "|" + "a|" * 40 + "\n|" + "-|" * 40 + "\n" + "a\n" * 10_000,
        "> " * 16 + "- " * 16_000,
    ],
    ids=range(26),
)
def test_no_markdown_keeps_the_screen_waiting(bomb: str) -> None:
    before = time.process_time()
    rendered(bomb, 60)
    assert time.process_time() - before < 20  # fifty times what the slowest takes, and a thousandth of a square


@given(MARKS)
def test_words_keep_every_letter(markdown: str) -> None:
    """Marks may go; letters and digits stay, in their order, but where code or a formula says otherwise."""
    if not set(markdown) & set("`$[<&!\\|\x1b\u202e"):
        letters = [c for c in markdown if c.isalnum()]
        assert [c for c in inline_content(markdown, "", []).plain if c.isalnum()] == letters
