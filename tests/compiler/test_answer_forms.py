"""The forms of an answer as pure functions: what they say and cite, and that no words of a document act in them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compiler.agents.inert import file_fault
from compiler.forms.brief import brief, word_count
from compiler.forms.canvas import canvas
from compiler.forms.chart import Drawn, chart_note
from compiler.forms.material import Material, Source, Statement, numbered
from compiler.forms.measurements import Saying, Series, in_sayings, series
from compiler.forms.plot import plot
from compiler.forms.report import report
from compiler.forms.slides import slides
from compiler.forms.table import in_cell
from compiler.forms.things import things_asked
from vault.errors import UsageError
from vault.model.frontmatter import read_properties
from vault.text.formatting import clean_line

TODAY = date(2026, 11, 28)
PATH = "output/slides/talk.md"
HOSTILE = {
    "math": "It costs $x$ or $$y$$.",
    "html": "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; <style>*{display:none}</style>",
    "a directive": "<!-- _class: evil --> theme: gaia",
    "a rule": "--- \n---\n***\n# Heading",
    "an embed": "![[raw/x]] [[wiki/y|z]]",
    "a background": "![bg](https://example.org/x.png) [link](https://example.org)",
    "bars": "a | b || c",
    "a comment": "%% hidden %% and ==marked== and ~~gone~~",
    "code": "`code` and ```js alert(1)```",
    "a shortcode": "a :smile: at 10:30:45",
    "a template": "<% tp.x %> { .x } #tag",
    "a long word": "W" * 900,
    "right to left": "هذا نص عربي يقرأ من اليمين إلى اليسار. \u202eevil\u202c",
    "Chinese": "间隔效应是指学习分散在多个场合时，人们长期记忆材料的效果更好。" * 12,
    "a list": "1. first - second + third > quoted",
}

ADDRESS = {"an address": "[link](javascript:alert(1)) <https://example.org> [x]: https://example.org"}


def source(quote: str, name: str = "sleep", claim: str = "7f3a9c1e2k") -> Source:
    summary = f"wiki/summaries/{name}.md"
    return Source(clean_line(quote), f"raw/{name}.md", "Sleep, line 3", "Sleep", summary, claim)


def material(*texts: str, missing: str = "", quoted: bool = False) -> Material:
    """Return an answer with these statements, each from a source of its own."""
    statements = tuple(
        Statement(clean_line(text), (source(text, f"s{n}"),), ((f"wiki/concepts/c{n}.md", f"Concept {n}"),))
        for n, text in enumerate(texts, 1)
    )
    return Material("What is sleep?", statements, missing, "claude/x", quoted)


def slide_parts(deck: str) -> list[str]:
    return deck.split("---\n", 2)[2].split("\n\n---\n\n")


# --- report and brief -----------------------------------------------------------------------------------------------


def test_a_report_has_the_answer_its_evidence_the_articles_and_what_is_missing() -> None:
    text = report(material("Sleep helps.", "Naps help.", missing="How long."), TODAY).decode()
    assert "Sleep helps. [[wiki/summaries/s1#^c-7f3a9c1e2k|1]] Naps help. [[wiki/summaries/s2#^c-7f3a9c1e2k|2]]" in text
    assert "> Sleep helps." in text and "[[raw/s1|raw/s1.md]], Sleep, line 3" in text
    assert "- [[wiki/concepts/c1|Concept 1]]" in text and "- How long." in text
    assert len(read_properties(text).texts("sources")) == 2


def test_a_brief_fits_one_screen_and_names_at_most_three_sources() -> None:
    long = [f"Statement {n} says " + "many words about sleep " * 8 + "here." for n in range(12)]
    text = brief(material(*long, missing="x " * 400), TODAY).decode()
    body = text.split("---\n", 2)[2]
    assert word_count(re.sub(r"\[\[[^\]]*\]\]", "", body)) <= 175
    assert 1 <= len(re.findall(r"^\d\. ", body, re.MULTILINE)) <= 3 and "Missing" in body


def test_a_brief_of_one_endless_statement_is_cut_short() -> None:
    for words in ("间隔效应" * 900, "word " * 900):
        body = brief(material(words), TODAY).decode().split("---\n", 2)[2]
        assert "…" in body and word_count(body) < 160


@pytest.mark.parametrize("name", HOSTILE)
def test_no_words_of_a_document_act_in_a_page(name: str) -> None:
    for form in (report, brief):
        for quoted in (False, True):
            made = form(material(HOSTILE[name], missing=HOSTILE[name], quoted=quoted), TODAY)
            assert file_fault("output/reports/x.md", made) is None


# --- slides ---------------------------------------------------------------------------------------------------------


def test_slides_have_a_title_an_idea_each_and_their_sources() -> None:
    parts = slide_parts(slides(material("Sleep helps.", "Naps help.", missing="How long."), TODAY, PATH).decode())
    assert len(parts) == 5
    assert "# What is sleep?" in parts[0] and "## Concept 1\n\nSleep helps." in parts[1]
    assert "(<../../wiki/summaries/s1.md#^c-7f3a9c1e2k>) raw/s1.md, Sleep, line 3" in parts[1]
    assert "How long." in parts[3] and parts[4].count("\n- ") == 2


@pytest.mark.parametrize("words", [*HOSTILE.values(), *ADDRESS.values()])
def test_hostile_words_are_shown_on_a_slide_as_they_are(words: str) -> None:
    """Read as Marp reads them: CommonMark with HTML."""
    deck = slides(material(words), TODAY, PATH).decode()
    parts = slide_parts(deck)[1:-1]
    shown = ""
    for part in parts:
        tokens = MarkdownIt("commonmark", {"html": True}).parse(part)
        assert {t.type for t in tokens} <= {
            "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close"
        }  # fmt: skip
        inlines = [t for t in tokens if t.type == "inline"]
        assert all(child.type in ("text", "text_special") for t in inlines[1:-1] for child in t.children or ())
        shown += "".join(child.content for t in inlines[1:-1] for child in t.children or ())
    bare = re.sub(r"[\s\u200b]", "", clean_line(words))
    assert re.sub(r"[\s\u200b]", "", shown) == bare and deck.count("<!--") == 1 and "$" not in deck.replace("\\$", "")


@given(st.text(st.characters(codec="utf-8"), max_size=400))
def test_any_words_make_slides_without_markup_of_their_own(words: str) -> None:
    deck = slides(material(words or "x"), TODAY, PATH).decode()
    body = "\n\n".join(slide_parts(deck))
    tokens = MarkdownIt("commonmark", {"html": True}).parse(body)
    kinds = {child.type for token in tokens for child in token.children or ()} | {token.type for token in tokens}
    assert not kinds & {"html_inline", "image", "code_inline", "fence", "code_block", "hr_other"}
    assert sum(token.type == "html_block" for token in tokens) == 1


MARP = os.environ.get("MARP_CLI") or shutil.which("marp")


@pytest.mark.skipif(MARP is None, reason="marp is not installed (`npm install @marp-team/marp-cli`; MARP_CLI names it)")
def test_marp_makes_slides_of_hostile_words(tmp_path: Path) -> None:
    whole = material(*HOSTILE.values(), *ADDRESS.values(), missing=HOSTILE["html"])
    deck = slides(whole, TODAY, PATH)
    (tmp_path / "talk.md").write_bytes(deck)
    command = [str(MARP), "--no-config-file", "--no-stdin", "talk.md", "-o", "talk.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "talk.html").read_text(encoding="utf-8")
    sections = re.findall(r"<section .*?</section>", page, re.DOTALL)
    assert len(sections) == len(slide_parts(deck.decode()))
    for section in sections:
        assert not re.search(r"<(?:script|style|img|svg|mjx|code|pre|hr|table|mark)\b|background-image|evil\"", section)
    shown = unescape(re.sub(r"<[^>]+>", "", "".join(sections)))
    assert "<script>alert(1)</script>" in shown and "![bg](https://example.org/x.png)" in shown and "$x$" in shown


CHROME = os.environ.get("CHROME_PATH") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)


@pytest.mark.skipif(MARP is None or CHROME is None, reason="marp or Chromium is not installed (MARP_CLI, CHROME_PATH)")
def test_marp_and_chromium_print_a_page_for_each_slide(tmp_path: Path) -> None:
    deck = slides(material(*HOSTILE.values()), TODAY, PATH)
    (tmp_path / "talk.md").write_bytes(deck)
    command = [str(MARP), "--no-config-file", "--no-stdin", "talk.md", "-o", "talk.pdf"]
    environment = {**os.environ, "CHROME_PATH": str(CHROME)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    with pypdfium2.PdfDocument(tmp_path / "talk.pdf") as printed:
        pages = [printed[n].get_textpage().get_text_bounded() for n in range(len(printed))]
    assert len(pages) == len(slide_parts(deck.decode()))
    assert any("<script>alert(1)</script>" in page for page in pages)


# --- canvas ---------------------------------------------------------------------------------------------------------

_NODE = {"id": str, "type": str, "x": int, "y": int, "width": int, "height": int}
_OWN = {"text": {"text"}, "file": {"file"}}
_SIDES = {"top", "right", "bottom", "left"}


def check_canvas(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return a canvas after checks by the specification of JSON Canvas 1.0."""
    made = json.loads(data)
    assert set(made) == {"nodes", "edges"}
    for node in made["nodes"]:
        assert all(type(node[key]) is kind for key, kind in _NODE.items())
        own = _OWN[node["type"]]
        assert set(node) - set(_NODE) - {"color", "subpath"} == own and all(isinstance(node[key], str) for key in own)
        assert node.get("color", "1") in set("123456") and node.get("subpath", "#").startswith("#")
    ids = [node["id"] for node in made["nodes"]]
    assert len(ids) == len(set(ids))
    for edge in made["edges"]:
        assert set(edge) == {"id", "fromNode", "fromSide", "toNode", "toSide", "label"}
        assert {edge["fromNode"], edge["toNode"]} <= set(ids) and {edge["fromSide"], edge["toSide"]} <= _SIDES
    assert len({edge["id"] for edge in made["edges"]}) == len(made["edges"])
    return made  # type: ignore[no-any-return]


def test_a_canvas_is_valid_and_leads_from_the_question_to_the_sources() -> None:
    data = canvas(material("Sleep helps.", "Naps help.", missing="How long."))
    made = check_canvas(data)
    assert data == canvas(material("Sleep helps.", "Naps help.", missing="How long."))
    ends = {(edge["fromNode"], edge["toNode"]) for edge in made["edges"]}
    assert {("question", "statement-1"), ("statement-1", "source-1"), ("question", "article-2")} <= ends
    files = {(node["file"], node.get("subpath")) for node in made["nodes"] if node["type"] == "file"}
    assert ("wiki/summaries/s1.md", "#^c-7f3a9c1e2k") in files and ("wiki/concepts/c1.md", None) in files
    question = next(node for node in made["nodes"] if node["id"] == "question")
    assert question["x"] + question["width"] // 2 == 0 and abs(question["y"] + question["height"] // 2) <= 1


@given(st.lists(st.sampled_from([*HOSTILE.values(), "Short."]), min_size=1, max_size=8), st.sampled_from(["", "x"]))
def test_the_nodes_of_a_canvas_do_not_overlap(texts: list[str], missing: str) -> None:
    nodes = check_canvas(canvas(material(*texts, missing=missing)))["nodes"]
    boxes = [tuple(node[key] for key in ("x", "y", "width", "height")) for node in nodes]
    for n, (x, y, width, height) in enumerate(boxes):
        for u, v, wide, high in boxes[n + 1 :]:
            assert x + width <= u or u + wide <= x or y + height <= v or v + high <= y


@pytest.mark.parametrize("name", HOSTILE)
def test_no_words_of_a_document_act_in_a_canvas(name: str) -> None:
    data = canvas(material(HOSTILE[name], missing=HOSTILE[name]))
    assert file_fault("output/reports/x.canvas", data) is None


@pytest.mark.parametrize(
    "node",
    [
        {"type": "link", "url": "https://evil.example"},
        {"type": "text", "text": "[o](obsidian://new?x)"},
        {"type": "text", "text": "<script>x</script>"},
        {"type": "file", "file": "../../etc/passwd"},
        {"type": "file", "file": "https://evil.example/x.png"},
        {"type": "group", "background": "https://evil.example/x.png"},
        {"type": "group", "label": "![x](https://evil.example/x.png)"},
    ],
)
def test_a_canvas_of_an_agent_that_acts_may_not_stay(node: dict[str, str]) -> None:
    whole = {"nodes": [{"id": "a", "x": 0, "y": 0, "width": 9, "height": 9, **node}], "edges": []}
    assert file_fault("output/reports/x.canvas", json.dumps(whole).encode()) is not None
    assert file_fault("output/reports/x.canvas", b"[1]") is not None


# --- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Compare massed practice, spaced practice and the spacing effect", ["massed practice", "spaced practice",
                                                                             "spacing effect"]),
        ("massed vs. spaced practice?", ["massed", "spaced practice"]),
        ("What are the differences between A and B?", ["A", "B"]),
        ("How does encoding differ from storage?", ["encoding", "storage"]),
        ("How do encoding and storage differ?", ["encoding", "storage"]),
        ("Was ist der Unterschied zwischen Lernen und Üben?", ["Lernen", "Üben"]),
        ("比较编码和检索", ["编码", "检索"]),
        ("What is sleep?", []),
    ],
)  # fmt: skip
def test_the_things_that_a_question_compares(question: str, names: list[str]) -> None:
    assert things_asked(question) == names


@pytest.mark.parametrize("name", HOSTILE)
def test_words_stay_in_their_cell(name: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {in_cell(HOSTILE[name])} | last |"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "td_open"]
    assert len(cells) == 2 and cells[1] == "last"


# --- charts ---------------------------------------------------------------------------------------------------------


def found(*words: str, language: str = "en") -> list[Series]:
    return in_sayings([Saying(each, language, source(each, f"s{n}")) for n, each in enumerate(words)])


def values(one: Series) -> list[tuple[str, float]]:
    return [(point.label, point.value) for point in one.points]


def test_numbers_of_one_unit_in_one_claim_are_told_apart_by_their_clauses() -> None:
    (one,) = found("Pupils remembered 61.3% after one week and 40% after a month.")
    assert values(one) == [("Pupils remembered 61.3% after one week", 61.3), ("40% after a month.", 40.0)]
    assert one.quantity == "%" and [point.written for point in one.points] == ["61.3 %", "40 %"]


def test_a_number_of_another_quantity_does_not_cut_a_label() -> None:
    (one,) = found(
        "After five weeks pupils remembered more of the quizzed facts (61.3%) than of the reread ones (53.0%)."
    )
    assert [label for label, _ in values(one)] == [
        "After five weeks pupils remembered more of the quizzed facts (61.3%)", "of the reread ones (53.0%)."
    ]  # fmt: skip


def test_shares_of_different_things_and_different_units_are_not_one_quantity() -> None:
    assert found("The group recalled 60% of the words.", "It explains 30% of the variance.") == []
    assert found("A nap takes 90 minutes.", "It weighs 3 kg.") == []


def test_years_are_the_axis_and_no_values() -> None:
    (one,) = found("In 1990 there were 12 km.", "In 2010 there were 40 km.", "In 2000 there were 25 km.")
    assert one.over_time and [(point.year, point.value) for point in one.points] == [(1990, 12), (2000, 25), (2010, 40)]
    assert found("It happened in 1990.", "It happened in 2000.") == []


def test_a_comma_is_read_as_in_the_language_of_the_source() -> None:
    assert values(found("It is 1,500 km.", "It is 2,000 km.")[0])[0][1] == 1500
    assert values(found("Es sind 1,5 km.", "Es sind 1,500 km.", language="de")[0])[1][1] == 1.5


def drawn(*labels: str) -> Drawn:
    points = [point for each in found(*(f"{label} 10 km." for label in labels)) for point in each.points]
    return Drawn(series("km", "Statement", points), numbered(p.source for p in points), "Bar chart of km")


def test_a_chart_is_the_same_bytes_twice_and_hostile_labels_are_no_math() -> None:
    pytest.importorskip("matplotlib")
    chart = drawn("Costs $\\frac{1}{", "<script>alert(1)</script>", "间隔效应", "هذا نص", "W" * 300, "a | b %% c")
    first, second = plot(chart, "$x$ <b>"), plot(chart, "$x$ <b>")
    assert first == second
    assert first["png"].startswith(b"\x89PNG") and b"matplotlib" not in first["png"][:400]
    root = ElementTree.fromstring(first["svg"])
    tags = {str(element.tag).rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "foreignObject", "image"} and b"$x$ &lt;b&gt;" in first["svg"]


def test_without_matplotlib_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install '.\[figures\]'"):
        plot(drawn("The road has", "The river has"), "x")


def test_the_note_of_a_chart_cites_every_number() -> None:
    chart = drawn("The road has", "The | river has")
    text = chart_note(chart, material("x"), TODAY, "output/figures/x.png").decode()
    rows = [line for line in text.split("\n") if line.startswith("| ") and "10 km" in line]
    assert "![[output/figures/x.png|Bar chart of km]]" in text and len(rows) == 2
    assert all("#^c-7f3a9c1e2k\\|" in row and "Sleep, line 3" in row for row in rows)
    assert file_fault("output/figures/x.md", text.encode()) is None
