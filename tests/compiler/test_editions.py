"""Of two editions of one document the newer one is quoted, and both pages and the report say why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from vault.model.card import Card
from vault.model.summary import parse_summary
from vault.model.wikilink import citations
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TEXT = (Path(__file__).parent / "documents" / "spacing.md").read_text(encoding="utf-8")
OLD = "The forgetting curve is a graph of how the probability of recall falls as time passes after learning."
NEW = "The forgetting curve is a graph of how the share of items recalled falls as time passes after learning."
ARTICLE = "wiki/concepts/forgetting-curve.md"


def of(vault: Vault, documents: dict[str, str], hours: int = 0) -> Report:
    """Compile the vault with just these documents in its folder of articles."""
    for there in (vault.root / "raw/articles").iterdir():
        there.unlink()
    for name, text in documents.items():
        (vault.root / "raw/articles" / name).write_text(text, encoding="utf-8")
    opened = open_vault(str(vault.root), None, vault.root)
    return compile_vault(opened, Options(), MORNING + timedelta(hours=hours), lambda event: None)


def told(report: Report) -> list[str]:
    return [f"{d.path}: {d.message}" for d in report.notices if d.code == "edition"]


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def deck_of(vault: Vault, slug: str) -> list[Card]:
    return [c for deck in vault.decks() if slug in deck.path for c in deck.cards]


def titled(title: str, *front: str) -> str:
    """The document under another title and front matter."""
    said = "".join(f"{line}\n" for line in front)
    return (f"---\n{said}---\n" if said else "") + TEXT.replace("# Spacing\n", f"# {title}\n", 1)


def test_the_newer_version_is_quoted_and_both_pages_say_why(vault: Vault) -> None:
    assert OLD in TEXT
    report = of(vault, {"spacing-v1.md": TEXT, "spacing-v2.md": TEXT.replace(OLD, NEW)})
    why = "an older edition of raw/articles/spacing-v2.md (version 2, the older one 1): articles cite the newer one"
    assert told(report) == [f"raw/articles/spacing-v1.md: {why}"]
    pages = vault.paths("wiki/concepts", ".md")
    assert {c.summary for path in pages for c in citations(text(vault, path))} == {"wiki/summaries/spacing-v2"}
    assert NEW in text(vault, ARTICLE) and OLD not in text(vault, ARTICLE)
    old, new = (text(vault, f"wiki/summaries/spacing-v{n}.md") for n in (1, 2))
    assert "\n- [[wiki/summaries/spacing-v2|Articles cite the newer edition (version 2, the older one 1)]]\n" in old
    assert "\n- [[wiki/summaries/spacing-v1|The older edition, which articles no longer cite" in new
    states = [{str(c.claim.state) for c in parse_summary(page, "x.md").claims} for page in (old, new)]
    assert states == [{"superseded"}, {"current"}] and OLD in old
    assert verify(vault, lambda event: None).clean


def test_cards_keep_their_ids_when_a_newer_edition_arrives(vault: Vault) -> None:
    of(vault, {"spacing-v1.md": TEXT})
    before = {c.question: c.id for deck in vault.decks() for c in deck.cards}
    of(vault, {"spacing-v1.md": TEXT, "spacing-v2.md": TEXT.replace(OLD, NEW)}, 1)
    after = {c.question: c.id for deck in vault.decks() for c in deck.cards}
    same = {question for question, id_ in before.items() if after.get(question) == id_}
    assert len(same) == len(before) - 1 and len(after) == len(before)  # the changed words are the question of one
    assert {s.summary for deck in vault.decks() for c in deck.cards for s in c.support} == {"wiki/summaries/spacing-v2"}


def test_what_only_the_older_edition_says_keeps_its_article_and_its_cards(vault: Vault) -> None:
    section = TEXT[TEXT.index("## The forgetting curve") :]
    of(vault, {"spacing-v1.md": TEXT})
    before = {c.id for c in deck_of(vault, "forgetting-curve")}
    newer = TEXT.replace(section, "Reviews on one day are called massed practice.\n")
    report = of(vault, {"spacing-v1.md": TEXT, "spacing-v2.md": newer}, 1)
    assert len(told(report)) == 1
    assert {c.summary for c in citations(text(vault, ARTICLE))} == {"wiki/summaries/spacing-v1"}
    kept = deck_of(vault, "forgetting-curve")
    assert before and {c.id for c in kept} == before
    assert {s.summary for c in kept for s in c.support} == {"wiki/summaries/spacing-v1"}
    others = [c for deck in vault.decks() for c in deck.cards if c not in kept]
    assert {s.summary for c in others for s in c.support} == {"wiki/summaries/spacing-v2"}


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (titled("Spacing", "date: 2021-05-01"), titled("Spacing", "date: 2023-02-01"), "published 2023-02-01"),
        (titled("Spacing, 2nd edition"), titled("Spacing, 3rd edition"), "version 3, the older one 2"),
        (titled("Spacing (2019)"), titled("Spacing (2024)"), "dated 2024, the older one 2019"),
        (titled("Spacing\n\nAs of 3 May 2021"), titled("Spacing\n\nAs of 7 June 2022"), "dated 2022-06-07"),
    ],
)
def test_a_date_or_an_edition_tells_which_is_newer(vault: Vault, first: str, second: str, why: str) -> None:
    report = of(vault, {"one.md": second, "two.md": first})
    assert [line.split(" (")[0] for line in told(report)] == [
        "raw/articles/two.md: an older edition of raw/articles/one.md"
    ]
    assert why in told(report)[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (TEXT, TEXT + "\nFound again on another site.\n"),  # a copy without a mark
        (titled("Spacing, chapter 1"), titled("Spacing, chapter 2")),
        (titled("Spacing v1"), titled("Practice of testing v2")),
        (titled("Spacing v2", "date: 2021-05-01"), titled("Spacing v1", "date: 2023-02-01")),  # marks that disagree
        (titled("Spacing", "date: 2021"), titled("Spacing", "date: 2021-05-01")),
        (titled("Spacing in room 1500"), titled("Spacing in room 1800")),  # numbers that are no years
        (titled("Spacing 2024"), titled("Spacing 2025 (draft)")),
        (titled("Spacing\n\nIn memory of Ann, died 3 June 1990"), titled("Spacing\n\nPrinted 1 May 2024")),
    ],
)
def test_without_a_mark_that_tells_them_apart_both_are_quoted(vault: Vault, first: str, second: str) -> None:
    report = of(vault, {"one.md": first, "two.md": second})
    assert told(report) == []
    cited = {c.summary for path in vault.paths("wiki/concepts", ".md") for c in citations(text(vault, path))}
    assert cited == {"wiki/summaries/one", "wiki/summaries/two"}


def test_two_chapters_of_a_series_are_no_editions(vault: Vault) -> None:
    other = (Path(__file__).parent / "documents" / "testing.md").read_text(encoding="utf-8")
    assert told(of(vault, {"learning-v1.md": TEXT, "learning-v2.md": other})) == []
