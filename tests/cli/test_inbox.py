"""`retain inbox` as a user runs it: what waits is listed, shown, decided and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import main, output
from vault.log import ledger
from vault.model.card import parse_deck
from vault.vault import Vault, open_vault

Call = Callable[..., tuple[int, Any]]
RAW = "raw/articles/testing.md"
ARTICLE = "wiki/concepts/retrieval-practice.md"
DECK = "learning/flashcards/retrieval-practice.md"


@pytest.fixture
def vault(compiled: Path) -> Vault:
    """A human edited an article and two cards, one with an escape sequence; then the source said something else."""
    article, deck, raw = (compiled / path for path in (ARTICLE, DECK, next(compiled.glob("raw/**/testing.md"))))
    article.write_text(article.read_text() + "\nMy own \x1b[31mremark.\n")
    text = deck.read_text()
    for n, card in enumerate(parse_deck(text, DECK).cards[:2]):
        text = text.replace(f"A: {card.answer}", f"A: In my own words, {n}.")
    deck.write_text(text)
    changed = (
        raw.read_text().replace("an answer from memory", "an answer out of memory").replace("next recall", "later one")
    )
    raw.write_text(changed)
    assert main.run(["--vault", str(compiled), "compile"]) == output.DONE
    return open_vault(str(compiled), None, compiled)


@pytest.fixture
def call(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Call:
    """One command in this process: its exit code, and what it printed, as JSON if it was asked for that."""

    def run(*arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main.run(["--vault", str(vault.root), *arguments])
        out = capsys.readouterr()
        return code, json.loads(out.out) if "--json" in arguments and out.out else out.out + out.err

    return run


def ids(call: Call) -> dict[str, str]:
    return {item["kind"]: item["id"] for item in call("inbox", "--json")[1]["inbox"]}


def test_what_waits_is_counted_listed_and_shown_in_plain_words(call: Call) -> None:
    article, deck = call("inbox", "list", "--json")[1]["inbox"]
    assert {"id", "path", "line", "reason", "kind", "about", "since", "removed", "added", "cards"} == set(article)
    assert (article["path"], deck["path"], len(deck["cards"])) == (ARTICLE, DECK, 2)
    assert call("status", "--json")[1]["inbox"] == 2 == call("compile", "--json")[1]["inbox"]
    assert "2 items to decide on" in call("compile")[1] and "inbox: 2 items to decide on" in call("status")[1]
    listed = call("inbox")[1]
    assert article["id"] in listed and "2 cards" in listed

    code, shown = call("inbox", "show", article["id"], deck["id"][:5])
    assert code == output.DONE and "\x1b" not in shown
    assert "- My own \ufffd[31mremark." in shown and "[1]" in shown and "#^c-" not in shown
    assert all(f"card {card}" in shown for card in deck["cards"])
    rows = call("inbox", "show", ARTICLE, "--json")[1]["inbox"][0]["views"][0]["rows"]
    assert {row["mark"] for row in rows} >= {"-", "+"}


def test_a_decision_is_one_line_of_the_ledger_and_is_taken_back(call: Call, vault: Vault) -> None:
    mine = (vault.root / ARTICLE).read_bytes()
    article = ids(call)["article"]
    code, told = call("inbox", "accept", article, "--json")
    assert code == output.DONE and told["decided"][0]["decision"] == "accept"
    (event,) = [e for e in vault.ledger_events(ledger.DECISIONS)[0] if e["type"] == "inbox"]
    assert {"v", "type", "id", "decision", "path", "digest", "at", "via"} <= set(event) and event["via"] == "cli"
    assert "out of memory" in (vault.root / ARTICLE).read_text()
    assert call("inbox", "undo", "--json")[1]["undone"][0]["path"] == ARTICLE
    assert (vault.root / ARTICLE).read_bytes() == mine and ids(call)["article"] == article
    assert call("inbox", "undo")[0] == output.USAGE  # nothing is left to take back


def test_a_rejection_keeps_the_reason_and_compiles_do_not_propose_it_again(call: Call, vault: Vault) -> None:
    article = ids(call)["article"]
    assert call("inbox", "reject", article)[0] == output.USAGE
    assert call("inbox", "reject", article, "--because", " ")[0] == output.USAGE
    assert call("inbox", "reject", article, "--because", "too long")[0] == output.DONE
    assert call("rebuild", "--json")[1]["inbox"] == 1
    assert call("inbox", "keep", "--all")[0] == output.DONE
    assert call("compile", "--json")[1]["inbox"] == 0 and call("inbox")[1] == "the inbox is empty\n"
    assert not list((vault.root / "output/proposals").rglob("*.md"))


def test_one_card_is_accepted_on_its_own(call: Call, vault: Vault) -> None:
    deck = call("inbox", "--json")[1]["inbox"][1]
    assert call("inbox", "accept", deck["id"], "--card", "zzzzzzzzzz")[0] == output.USAGE
    assert call("inbox", "accept", deck["id"], "--card", deck["cards"][0])[0] == output.DONE
    assert call("inbox", "--json")[1]["inbox"][1]["cards"] == deck["cards"][1:]
    answers = [card.answer for card in parse_deck((vault.root / DECK).read_text(), DECK).cards]
    assert "In my own words, 1." in answers and "In my own words, 0." not in answers


def test_a_page_edited_since_it_was_shown_is_not_decided_on(call: Call, vault: Vault) -> None:
    article = ids(call)["article"]
    (vault.root / ARTICLE).write_text((vault.root / ARTICLE).read_text() + "\nLater.\n")
    for words in (["accept"], ["keep"], ["reject", "--because", "no"]):
        code, said = call("inbox", *words, article)
        assert code == output.USAGE and "has changed since" in said and ids(call)["article"] in said


@pytest.mark.parametrize(
    "words", [["accept"], ["keep"], ["accept", "--all", "7k2m9xd3"], ["keep", "--all", "--kind", "x"]]
)
def test_what_is_meant_must_be_said(call: Call, words: list[str]) -> None:
    assert call("inbox", *words)[0] == output.USAGE


def test_in_a_cage_the_inbox_is_only_looked_at(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    article = ids(call)["article"]
    monkeypatch.setenv("RETAIN_CAGED", "1")
    assert call("inbox")[0] == call("inbox", "show", article)[0] == output.DONE
    for words in (["accept", article], ["keep", "--all"], ["reject", article, "--because", "x"], ["undo"]):
        assert call("inbox", *words)[0] == output.REFUSED


def test_what_cannot_be_read_among_the_proposals_is_named_and_the_rest_of_status_told(call: Call, vault: Vault) -> None:
    folder = vault.root / "output/proposals/wiki/concepts"
    folder.rename(vault.root / "output/elsewhere")
    folder.symlink_to(vault.root / "output/elsewhere")
    code, told = call("status")
    assert code == output.DONE and "symbolic link" in told and "sources" in told
    assert call("inbox")[0] == output.REFUSED


def test_what_a_human_edited_outlives_the_renaming_and_the_merging_of_its_concept(call: Call, vault: Vault) -> None:
    def mine() -> list[str]:
        pages = [p.read_text() for p in vault.root.glob("wiki/concepts/*.md")]
        decks = [p.read_text() for p in vault.root.glob("learning/flashcards/*.md")]
        answers = [c.answer for text in decks for c in parse_deck(text, DECK).cards]
        remarks = [line for text in pages for line in text.splitlines() if line.startswith("My own")]
        return sorted([*remarks, *(answer for answer in answers if answer.startswith("In my own"))])

    before = mine()
    assert len(before) == 3
    assert call("concept", "rename", "Retrieval practice", "Recall practice")[0] in (output.DONE, output.FINDINGS)
    assert mine() == before and ids(call)["article"]
    assert call("concept", "merge", "Recall practice", "Spacing effect")[0] in (output.DONE, output.FINDINGS)
    assert mine() == before
    assert call("rebuild")[0] in (output.DONE, output.FINDINGS) and mine() == before
    assert call("inbox")[0] == output.DONE


def test_all_means_pages_and_cards_and_a_kind_narrows_it_but_names_in_doubt_are_settled_on_purpose(
    call: Call, vault: Vault
) -> None:
    doubt = {
        "v": 1,
        "type": "birth",
        "of": "doubt",
        "id": "d0ubt00000",
        "key": "gap\x1fgaps",
        "at": "2026-11-22T09:00:00.000Z",
    }
    doubt |= {"names": ["gap", "gaps"], "titles": ["Gap", "Gaps"]}
    with (vault.root / ledger.IDS).open("a") as file:
        file.write(json.dumps(doubt) + "\n")
    assert set(ids(call)) == {"article", "deck", "names"}
    assert "Gap / Gaps" in call("inbox")[1]
    assert call("inbox", "accept", "--all", "--kind", "deck")[0] == output.DONE and set(ids(call)) == {
        "article",
        "names",
    }
    assert call("inbox", "accept", "--all")[0] == output.DONE and set(ids(call)) == {"names"}
    assert call("inbox", "keep", "--all", "--kind", "names")[0] == output.DONE and ids(call) == {}
    assert call("inbox", "undo")[0] == output.DONE and set(ids(call)) == {"names"}
