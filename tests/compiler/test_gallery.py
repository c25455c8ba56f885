"""Pictures from `raw/` to the wiki: copied once, named after their bytes, shown where a claim needs them."""

import io
import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from PIL import Image
from pptx import Presentation
from pptx.util import Inches

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from vault.model.card import Card, parse_deck
from vault.model.exhibit import ExhibitKind, embedded_assets
from vault.model.summary import parse_summary
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CURVE = (
    "# Memory\n\n## Forgetting curve\n\nThe forgetting curve is a graph that shows how memory of learnt material fades "
    "over days when nothing is reviewed (Figure 1).\n\n![Figure 1: Memory over days]({})\n"
)
SUMMARY = "wiki/summaries/memory.md"
DECK = "learning/flashcards/forgetting-curve.md"


def png(shade: int = 200) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (shade, 10, 10)).save(out, "PNG")
    return out.getvalue()


def put(vault: Vault, path: str, data: bytes | str) -> None:
    target = vault.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.encode() if isinstance(data, str) else data)


def memory(vault: Vault, target: str = "img/curve.png") -> None:
    for document in (vault.root / "raw/articles").glob("*.md"):
        document.unlink()
    put(vault, "raw/articles/memory.md", CURVE.format(target))


def compiled(vault: Vault, hours: int = 0, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), MORNING + timedelta(hours=hours), lambda event: None)


def assets(vault: Vault) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((vault.root / "wiki/assets").glob("*"))}


def wiki(vault: Vault) -> dict[str, bytes]:
    return {str(p.relative_to(vault.root)): p.read_bytes() for p in (vault.root / "wiki").rglob("*") if p.is_file()}


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def question(vault: Vault) -> Card:
    """The card that asks what the curve is."""
    [card] = [c for c in parse_deck(text(vault, DECK), DECK).cards if "What is the forgetting curve?" in c.question]
    return card


def test_a_picture_goes_with_claim_article_and_card(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    put(vault, "raw/articles/img/other.png", png(90))
    report = compiled(vault)
    [(name, data)] = assets(vault).items()
    assert data == png() and name.startswith("curve-") and not report.notices
    for path in (SUMMARY, "wiki/concepts/forgetting-curve.md", DECK):
        assert embedded_assets(text(vault, path)) == {f"wiki/assets/{name}"}
    card = question(vault)
    assert card.answer.endswith(f"\n![[wiki/assets/{name}|Figure 1: Memory over days]]") and not card.human_edited
    assert verify(vault, lambda event: None).clean


def test_a_picture_in_raw_says_which_sources_show_it(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    put(vault, "raw/images/alone.png", png(90))
    compiled(vault)
    lines = text(vault, "wiki/_index.md").splitlines()
    shown = "shown in [[wiki/summaries/memory|Memory]] as Figure 1: Memory over days"
    assert f"- [[raw/articles/img/curve.png|curve.png]] · {shown}" in lines
    assert "- [[raw/images/alone.png|alone.png]]" in lines


def test_a_deleted_wiki_comes_back_byte_for_byte(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    before = wiki(vault)
    shutil.rmtree(vault.root / "wiki")
    compiled(vault, 1, fresh=True)
    assert wiki(vault) == before
    shutil.rmtree(vault.root / "wiki")
    compiled(vault, 2)
    assert wiki(vault) == before


def test_an_unchanged_picture_is_neither_read_nor_written_again(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    [copy] = (vault.root / "wiki/assets").iterdir()
    before = copy.stat()
    put(vault, "raw/articles/more.md", "# More\n\nA loop is a path that comes back to where it began.\n")
    compiled(vault, 1)
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert compiled(vault, 2).nothing_new


def test_equal_bytes_are_copied_once_whoever_shows_them(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    put(vault, "raw/papers/copy.png", png())
    said = CURVE.replace("forgetting curve", "learning curve").replace("Forgetting curve", "Learning curve")
    put(vault, "raw/papers/learning.md", said.format("copy.png"))
    compiled(vault)
    assert len(assets(vault)) == 1
    assert len(embedded_assets(text(vault, "wiki/summaries/learning.md"))) == 1


@pytest.mark.parametrize(
    ("target", "lies"),
    [
        ("img/a%20curve.png", "raw/articles/img/a curve.png"),
        ("../images/curve.png", "raw/images/curve.png"),
        ("/images/curve.png", "raw/images/curve.png"),
        ("raw/images/curve.png", "raw/images/curve.png"),
        ("img/curve", "raw/articles/img/curve.png"),
        ("static/CURVE.png?width=300#x", "raw/images/deep/curve.png"),
    ],
)
def test_a_picture_is_found_beside_its_document_or_by_its_name(vault: Vault, target: str, lies: str) -> None:
    memory(vault, target)
    put(vault, lies, png())
    compiled(vault)
    assert len(assets(vault)) == 1


def test_nothing_but_a_picture_of_raw_is_ever_copied(vault: Vault) -> None:
    targets = (
        "../../retain.toml",
        "../../../../../../etc/passwd",
        "/etc/hostname",
        "ftp://127.0.0.1:9/curve.png",
        "../../insights/mine.png",
        "..%2f..%2finsights%2fmine.png",
        "memory.md",
        "img/link.png",
        "img\\curve.png",
        "absent.png",
    )
    memory(vault, "img/curve.png")
    for number, target in enumerate(targets):
        put(vault, f"raw/articles/memory-{number}.md", CURVE.format(target).replace("learnt", f"matter {number}"))
    put(vault, "raw/articles/img/curve.png", png(90))
    put(vault, "insights/mine.png", png())
    (vault.root / "raw/articles/img/link.png").symlink_to(vault.root / "insights/mine.png")
    report = compiled(vault)
    assert list(assets(vault).values()) == [png(90)], "the one that may be"
    told = [d.path for d in report.notices if d.code == "picture"]
    assert told == [f"raw/articles/memory-{number}.md" for number in range(len(targets))] and not report.failures


def test_a_picture_inside_a_document_is_taken_out_of_it(vault: Vault) -> None:
    for document in (vault.root / "raw/articles").glob("*.md"):
        document.unlink()
    talk = Presentation()
    slide = talk.slides.add_slide(talk.slide_layouts[5])
    slide.shapes.title.text = "Forgetting curve"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(6), Inches(2))
    box.text_frame.text = (
        "The forgetting curve is a graph that shows how memory of learnt material fades over days. "
        "It is shown in the figure below."
    )
    slide.shapes.add_picture(io.BytesIO(png()), Inches(1), Inches(4))
    out = io.BytesIO()
    talk.save(out)
    put(vault, "raw/papers/talk.pptx", out.getvalue())
    report = compiled(vault)
    [(name, data)] = assets(vault).items()
    assert data == png() and name.startswith("talk-") and not report.notices
    assert embedded_assets(text(vault, DECK)) == {f"wiki/assets/{name}"}
    assert compiled(vault, 1).nothing_new


def test_a_picture_on_the_web_is_named_with_its_address_and_not_fetched(vault: Vault) -> None:
    memory(vault, "https://127.0.0.1:9/curve.png")
    report = compiled(vault)
    [claim] = [c.claim for c in parse_summary(text(vault, SUMMARY), SUMMARY).claims]
    assert [(e.kind, e.content) for e in claim.exhibits] == [(ExhibitKind.PICTURE, "https://127.0.0.1:9/curve.png")]
    assert not report.notices and not report.failures
    assert "127.0.0.1" not in text(vault, DECK)
    assert verify(vault, lambda event: None).clean


def test_a_name_that_two_pictures_have_means_neither(vault: Vault) -> None:
    memory(vault, "static/curve.png")
    put(vault, "raw/images/curve.png", png())
    put(vault, "raw/papers/curve.png", png(90))
    assert [d.code for d in compiled(vault).notices] == ["picture"]


def test_a_drawing_with_a_script_is_named_and_left_where_it_is(vault: Vault) -> None:
    memory(vault, "curve.svg")
    put(vault, "raw/articles/curve.svg", '<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script></svg>')
    report = compiled(vault)
    assert assets(vault) == {}
    assert ["<script>" in d.message for d in report.notices] == [True]
    assert "Not copied: `curve.svg`" in text(vault, SUMMARY)
    again = compiled(vault, 1, fresh=True)
    assert [d.message for d in again.notices] == [d.message for d in report.notices]


def test_what_no_claim_shows_any_more_goes_and_what_a_human_put_there_stays(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    put(vault, "wiki/assets/mine.png", png(1))
    put(vault, "wiki/assets/mine-0123456789ab.png", png(2))
    compiled(vault)
    put(vault, "raw/articles/memory.md", CURVE.format("https://example.org/x.png"))
    compiled(vault, 1)
    assert set(assets(vault)) == {"mine.png", "mine-0123456789ab.png"}


def test_a_copy_that_a_human_still_shows_stays(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    [name] = assets(vault)
    with (vault.root / DECK).open("a") as deck:
        deck.write(f"\nQ: Mine?\nA: Look:\n![[wiki/assets/{name}]]\n")
    put(vault, "raw/articles/memory.md", CURVE.format("https://example.org/x.png"))
    compiled(vault, 1)
    assert set(assets(vault)) == {name}


def test_a_copy_that_a_human_painted_over_stays_and_is_named(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    [name] = assets(vault)
    put(vault, f"wiki/assets/{name}", png(7))
    report = compiled(vault, 1)
    assert assets(vault) == {name: png(7)}
    assert "asset-edited" in [d.code for d in report.notices]
    assert not verify(vault, lambda event: None).clean


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("kept", [0, 20])
def test_a_copy_that_was_cut_short_is_written_again(vault: Vault, kept: int, fresh: bool) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    before = assets(vault)
    [name] = before
    put(vault, f"wiki/assets/{name}", before[name][:kept])
    report = compiled(vault, 1, fresh=fresh)
    assert assets(vault) == before and report.written == [f"wiki/assets/{name}"]
    assert not [d for d in (*report.notices, *report.failures) if d.code == "asset-edited"]


def test_a_rebuild_says_that_it_could_not_restore_what_may_be_a_humans(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    before = assets(vault)
    [name] = before
    put(vault, f"wiki/assets/{name}", png(7))
    (told,) = compiled(vault, 1, fresh=True).failures
    assert told.path == f"wiki/assets/{name}" and "delete it" in told.hint and assets(vault) == {name: png(7)}
    (vault.root / f"wiki/assets/{name}").unlink()
    assert compiled(vault, 2).failures == [] and assets(vault) == before


def test_a_card_that_gains_a_picture_is_the_same_card(vault: Vault) -> None:
    memory(vault)
    compiled(vault)
    before, count = question(vault), len(parse_deck(text(vault, DECK), DECK).cards)
    ledger = text(vault, "ledger/ids.jsonl")
    put(vault, "raw/articles/img/curve.png", png())
    report = compiled(vault, 1)
    after = question(vault)
    assert after.id == before.id and after.answer.startswith(before.answer) and "![[" in after.answer
    assert report.cards["kept"] == count and report.cards["created"] == report.cards["updated"] == 0
    new = text(vault, "ledger/ids.jsonl").removeprefix(ledger).splitlines()
    assert [e for e in map(json.loads, new) if e["of"] == "card"] == []


def test_verify_names_what_is_shown_and_not_there(vault: Vault) -> None:
    memory(vault)
    put(vault, "raw/articles/img/curve.png", png())
    compiled(vault)
    other = "![[wiki/assets/curve", "![[wiki/assets/curse"
    for path, old, new in (
        (SUMMARY, *other),
        (SUMMARY, "> definition", "> ```python\n> invented()\n> ```\n>\n> definition"),
        (SUMMARY, "> definition", "> $$e = mc$$\n>\n> definition"),
        ("wiki/concepts/forgetting-curve.md", *other),
        (DECK, *other),
    ):
        before = text(vault, path)
        put(vault, path, before.replace(old, new))
        assert not verify(vault, lambda event: None).clean, (path, new)
        put(vault, path, before)
    assert verify(vault, lambda event: None).clean


def test_code_and_formula_travel_too(vault: Vault) -> None:
    for document in (vault.root / "raw/articles").glob("*.md"):
        document.unlink()
    code, formula = "```python\ndef softmax(x):\n    return exp(x) / exp(x).sum()\n```", r"$$\sum_i a_i v_i$$"
    put(
        vault,
        "raw/articles/softmax.md",
        "# Notes\n\n## Softmax\n\nSoftmax is a function that turns a vector of scores into a probability distribution. "
        f"In Python:\n\n{code}\n\n## Attention pooling\n\nAttention pooling is a mechanism that computes a weighted "
        f"average of values from queries and keys. It is defined as\n\n{formula}\n",
    )
    compiled(vault)
    for name, shown in (("softmax", code), ("attention-pooling", formula)):
        assert f"\n\n{shown}\n" in text(vault, f"wiki/concepts/{name}.md")
        assert f"\n{shown}\n>" in text(vault, f"learning/flashcards/{name}.md")
    assert verify(vault, lambda event: None).clean


def test_pictures_that_are_not_in_raw_are_named_in_one_notice_that_says_what_to_do(vault: Vault) -> None:
    memory(vault, "img/curve.png")
    (notice,) = compiled(vault).notices
    assert notice.message == "1 picture not in raw/: img/curve.png" and "`retain add`" in notice.hint
