"""Training data: what is in it and what is left out, that no concept is on two sides, and that `datasets` loads it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk
from learning.training.data_card import Options, Summary
from learning.training.export import Exported, NothingToExport, export_train
from learning.training.record import LeftOut, Record, usable_records
from learning.training.split import TEST, TRAIN, VALIDATION, near_duplicates, split_records
from learning.training.text import plain_card
from vault.errors import Refused
from vault.files.exports import export_folder
from vault.ids import ClaimId
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A, B, C, D, E = (f"c{n}aaaaaaaa" for n in "12345")  # ids of claims
LOADS = """
import json, sys
from datasets import load_dataset
data = load_dataset(sys.argv[1])
print(json.dumps({name: [dict(row) for row in split] for name, split in data.items()}))
"""


def cite(claim: str, source: str = "tides") -> str:
    return f"[[wiki/summaries/{source}#^c-{claim}|1]]"


def summary(name: str, claims: dict[str, str], front: str = "") -> str:
    """The page of a source; `claims` are states by id."""
    blocks = "".join(
        f"> [!quote]\n> Words {id_}.\n>\n> fact · {state} · line 1\n\n^c-{id_}\n\n" for id_, state in claims.items()
    )
    head = f"---\ntype: summary\nid: s0m3s0urc3\ntitle: About {name}\nlanguage: en\n{front}---\n\n"
    return f"{head}# About {name}\n\n{blocks}"


def article(title: str, body: str, front: str = "confidence: medium\n", id_: str = "k3v9m2x7ad") -> str:
    return f"---\ntype: concept\nid: {id_}\ntitle: {title}\n{front}---\n\n# {title}\n\n{body}\n"


def deck(*cards: str, front: str = "") -> str:
    return f"---\ntype: flashcards\n{front}---\n\n# Deck\n\n## Definitional\n\n" + "\n\n".join(cards) + "\n"


def card(id_: str, question: str, answer: str, *claims: str) -> str:
    support = f"> {' '.join(cite(claim) for claim in claims)}\n" if claims else ""
    return f"Q: {question}\nA: {answer}\n{support}<!-- card {id_} -->"


@pytest.fixture
def sea(vault: Vault) -> Vault:
    """A vault with an article on tides, its cards, and one on swell that shares no claim with it."""
    for folder in ("learning/flashcards", "wiki/concepts", "wiki/summaries"):
        for path in (vault.root / folder).iterdir():
            path.unlink()
    write(vault, "wiki/summaries/tides.md", summary("tides", dict.fromkeys((A, B), "current"), "license: CC BY 4.0\n"))
    write(vault, "wiki/summaries/swell.md", summary("swell", dict.fromkeys((C, D), "current")))
    write(vault, "wiki/concepts/tide.md", article("Tide", f"A tide rises and falls twice a day. {cite(A)}"))
    write(
        vault,
        "wiki/concepts/swell.md",
        article("Swell", f"A swell comes from a distant wind. {cite(C, 'swell')}", id_="m8x1v6tqc0"),
    )
    write(vault, "learning/flashcards/tide.md", deck(card("aaaaaaaaa1", "What causes tides on Earth?", "The Moon.", B)))
    write(
        vault,
        "learning/flashcards/swell.md",
        deck(card("bbbbbbbbb1", "How far does a swell travel?", "Across oceans.", D).replace("tides", "swell")),
    )
    return vault


def write(vault: Vault, path: str, text: str) -> None:
    target = vault.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def exported(vault: Vault, out: Path, **options: Any) -> Exported:
    return export_train(open_desk(vault, NOON, queued=False), out, Options(**{"test_share": 0.5, **options}))


def rows(out: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(out.glob("*.jsonl")):
        found += [json.loads(line) | {"side": path.stem} for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return found


def said(out: Path, kind: str) -> list[tuple[str, str]]:
    return [tuple(m["content"] for m in row["messages"]) for row in rows(out) if row["kind"] == kind]


def test_cards_and_articles_are_records_with_their_claims_and_sources(sea: Vault, tmp_path: Path) -> None:
    done = exported(sea, tmp_path / "out")
    assert done.summary.records == 4 and len(rows(tmp_path / "out")) == 4
    by_id = {row["id"]: row for row in rows(tmp_path / "out")}
    tide = by_id["k3v9m2x7ad-1"]
    assert tide["messages"] == [
        {"role": "user", "content": "Explain “Tide”."},
        {"role": "assistant", "content": "A tide rises and falls twice a day."},
    ]
    assert (tide["claims"], tide["sources"], tide["licenses"]) == ([A], ["About tides"], ["CC BY 4.0"])
    asked = by_id["aaaaaaaaa1"]
    assert (asked["kind"], asked["concepts"], asked["confidence"]) == ("card", ["tide"], "medium")
    assert by_id["bbbbbbbbb1"]["licenses"] == ["not stated"]


def test_a_section_of_a_long_article_is_a_record_of_its_own(sea: Vault, tmp_path: Path) -> None:
    long = " ".join(f"Sentence {n} says that the sea moves on day {n}. {cite(A)}" for n in range(30))
    body = f"{long}\n\n## Why\n\n- The Moon pulls. {cite(B)}\n- The Sun does, too. *derived* {cite(A)} {cite(B)}\n\n"
    body += f"## See also\n\n- [[wiki/concepts/swell|Swell]]\n\n## 大潮 and more?\n\n### Below\n\nIt ends. {cite(A)}"
    write(sea, "wiki/concepts/tide.md", article("Tide", body))
    exported(sea, tmp_path / "out")
    found = dict(said(tmp_path / "out", "article"))
    assert list(found)[:3] == ["Explain “Swell”.", "Explain “Tide”.", "Explain “Tide”: Why."]
    assert found["Explain “Tide”: Why."] == "- The Moon pulls.\n- The Sun does, too."
    assert found["Explain “Tide”: Below."] == "It ends." and len(found) == 4
    derived = {row["id"]: row["derived"] for row in rows(tmp_path / "out")}
    assert derived["k3v9m2x7ad-2"] is True and derived["k3v9m2x7ad-1"] is False


def test_tables_code_and_formulas_stay_and_citations_go(sea: Vault, tmp_path: Path) -> None:
    in_table = cite(A).replace("|", "\\|")
    table = f"| Sea | Height |  |\n| --- | --- | --- |\n| North \\| Baltic | 3 m | {in_table} |"
    code = "```python\nh = [a]  # [[x]]\n```"
    blocks = [f"Tides differ: {cite(A)}", table, "$$h = a \\cos t$$", cite(B), code, cite(A)]
    blocks += ["![[wiki/assets/x-0123456789ab.png]]", "> [!human]\n> I doubt it.", "<!-- hidden\n$$x$$\n-->"]
    body = "\n\n".join([*blocks, f"See [[wiki/concepts/swell|swell]] for \\*more\\*. {cite(A)}"])
    write(sea, "wiki/concepts/tide.md", article("Tide", body))
    exported(sea, tmp_path / "out")
    text = dict(said(tmp_path / "out", "article"))["Explain “Tide”."]
    assert text == (
        "Tides differ:\n\n| Sea | Height |\n| --- | --- |\n| North \\| Baltic | 3 m |\n\n$$h = a \\cos t$$\n\n"
        "```python\nh = [a]  # [[x]]\n```\n\nSee swell for *more*."
    )


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("confidence: low\n", "confidence low"),
        ("confidence: speculative\n", "confidence speculative"),
        ("confidence: high\nstatus: quarantined\n", "quarantined"),
        ("title: x\n", "confidence not set"),
    ],
)
def test_what_is_not_trusted_is_left_out_with_its_cards(sea: Vault, tmp_path: Path, front: str, reason: str) -> None:
    write(sea, "wiki/concepts/tide.md", article("Tide", f"It rises. {cite(A)}", front))
    done = exported(sea, tmp_path / "out")
    assert {row["concepts"][0] for row in rows(tmp_path / "out")} == {"swell"}
    assert done.summary.left_out == {"article": {reason: 1}, "card": {f"its article: {reason}": 1}}


@pytest.mark.parametrize("state", ["disputed", "retracted", "superseded"])
def test_what_rests_on_a_claim_that_is_not_current_is_left_out(sea: Vault, tmp_path: Path, state: str) -> None:
    write(sea, "wiki/summaries/tides.md", summary("tides", {A: "current", B: state}))
    body = f"It rises. {cite(A)} It sings. {cite(A)} {cite(B)} It cites nothing."
    write(sea, "wiki/concepts/tide.md", article("Tide", body))
    done = exported(sea, tmp_path / "out")
    assert ("Explain “Tide”.", "It rises.") in said(tmp_path / "out", "article")
    assert done.summary.left_out == {
        "card": {f"cites a {state} claim": 1},
        "sentence": {f"cites a {state} claim": 1, "cites no claim": 1},
    }


def test_cards_without_an_article_support_or_words_alone_are_left_out(sea: Vault, tmp_path: Path) -> None:
    picture = card("aaaaaaaaa3", "What is this? ![[wiki/assets/x-0123456789ab.png]]", "A tide.", A)
    cards = [card("aaaaaaaaa1", "Who said so?", "Me."), card("aaaaaaaaa2", "What?", "That.", "e9aaaaaaaa"), picture]
    write(sea, "learning/flashcards/tide.md", deck(*cards))
    write(sea, "learning/flashcards/lost.md", deck(card("aaaaaaaaa4", "What is lost?", "This.", A)))
    write(sea, "learning/flashcards/swell.md", deck(card("bbbbbbbbb1", "Far?", "Yes.", A), front="learning: false\n"))
    assert exported(sea, tmp_path / "out").summary.left_out["card"] == {
        "cites a claim that no longer exists": 1,
        "cites no claim": 1,
        "learning: false": 1,
        "no article": 1,
        "contains a picture": 1,
    }
    assert len(said(tmp_path / "out", "article")) == 2, "an article goes out though its cards are not asked"


def answer(question: str, body: str, front: str = "") -> str:
    return f"---\ntype: synthesis\nquestion: {question}\nconfidence: medium\n{front}---\n\n# Answer\n\n{body}\n"


def test_a_filed_answer_is_a_record_on_the_side_of_its_concepts(sea: Vault, tmp_path: Path) -> None:
    both = f"Tides rise. {cite(A)} A swell comes from afar. {cite(C, 'swell')}"
    write(sea, "wiki/answers/both.md", answer("How do tides and swell differ?", both))
    write(sea, "wiki/answers/stale.md", answer("What is gone?", f"Tides rise. {cite(A)} This is gone. {cite(E)}"))
    write(sea, "wiki/answers/low.md", answer("What?", f"Tides rise. {cite(A)}").replace("medium", "low"))
    done = exported(sea, tmp_path / "out")
    assert said(tmp_path / "out", "answer") == [
        ("How do tides and swell differ?", "Tides rise. A swell comes from afar.")
    ]
    found = next(row for row in rows(tmp_path / "out") if row["kind"] == "answer")
    assert found["concepts"] == ["tide", "swell"] and {row["side"] for row in rows(tmp_path / "out")} == {"train"}
    assert done.summary.left_out["answer"] == {"a sentence cites a claim that no longer exists": 1, "confidence low": 1}
    assert any("no test split" in warning for warning in done.summary.warnings)


def test_an_answer_that_cites_words_of_its_own_page_counts_their_claims_and_sources(sea: Vault, tmp_path: Path) -> None:
    words = f"> Swells cross oceans.\n>\n> [[raw/swell|raw/swell.md]], line 3 {cite(D, 'swell')}\n\n^q-q1aaaaaaaa\n"
    body = f"They differ. {cite(A)} [[#^q-q1aaaaaaaa|q1]]\n\n## Words of the sources\n\n{words}\n"
    body += "## What your sources do not say\n\n> [!missing] how high they are"
    quotes = 'quotes:\n  - "q1aaaaaaaa raw/swell.md"\n'
    write(sea, "wiki/summaries/swell.md", summary("swell", {C: "current", D: "current"}, "source: raw/swell.md\n"))
    write(sea, "wiki/answers/a.md", answer("Do they differ?", body, quotes))
    write(sea, "wiki/answers/b.md", answer("Do swells cross?", words, quotes))
    changed = f'claims:\n  - "{A} 0123456789ab"\n'
    write(sea, "wiki/answers/c.md", answer("Has it changed?", f"They rise. {cite(A)}", changed))
    done = exported(sea, tmp_path / "out")
    (found,) = (row for row in rows(tmp_path / "out") if row["kind"] == "answer")
    assert found["messages"][1]["content"] == "They differ."
    assert (found["claims"], found["sources"]) == ([A, D], ["About tides", "About swell"])
    assert found["concepts"] == ["tide", "swell"]
    reasons = {"a claim that it cites has changed": 1, "contains only quotes, no sentences": 1}
    assert done.summary.left_out["answer"] == reasons


def test_an_answer_on_concepts_that_are_not_trusted_stands_by_itself(sea: Vault, tmp_path: Path) -> None:
    write(sea, "wiki/concepts/tide.md", article("Tide", f"It rises. {cite(A)}", "confidence: low\n"))
    write(sea, "wiki/answers/tides.md", answer("What rises?", f"Tides rise. {cite(A)}"))
    exported(sea, tmp_path / "out")
    (found,) = (row for row in rows(tmp_path / "out") if row["kind"] == "answer")
    assert found["concepts"] == ["tides"]


def test_the_same_vault_and_seed_give_the_same_bytes_and_formats_hold_the_same(sea: Vault, tmp_path: Path) -> None:
    def files(out: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in out.iterdir()}

    exported(sea, tmp_path / "one")
    assert exported(sea, tmp_path / "one").changed == 0
    exported(sea, tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    exported(sea, tmp_path / "one", layout="prompt")
    prompts = [(row["prompt"], row["completion"]) for row in rows(tmp_path / "one")]
    exported(sea, tmp_path / "one", layout="sharegpt")
    turns = [[(m["from"], m["value"]) for m in row["conversations"]] for row in rows(tmp_path / "one")]
    assert [
        [("human", prompt.removesuffix("\n\n")), ("gpt", answered)] for prompt, answered in prompts
    ] == turns and len(turns) == 4


def test_a_folder_with_other_files_and_the_folders_of_a_vault_are_refused(sea: Vault, tmp_path: Path) -> None:
    write(sea, "../theirs/thesis.md", "years of work\n")
    for out in (tmp_path / "theirs", sea.root / "raw", sea.root / "insights"):
        out.mkdir(exist_ok=True)
        with pytest.raises(Refused):
            exported(sea, out)
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["thesis.md"]
    assert not list((sea.root / "raw").iterdir()) and not list((sea.root / "insights").iterdir())
    exported(sea, tmp_path / "mine", validation_share=0.4)
    (tmp_path / "mine/train.jsonl").write_text("mine\n")
    with pytest.raises(Refused, match=r"train\.jsonl"):
        exported(sea, tmp_path / "mine")


@pytest.mark.parametrize("name", ["old.jsonl", "data/more.jsonl", "notes.txt"])
def test_files_beside_an_earlier_export_are_refused_as_they_would_be_trained_on(
    sea: Vault, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    exported(sea, out)
    (out / ".gitattributes").write_text("*.jsonl -text\n")
    assert exported(sea, out).changed == 0
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("{}\n")
    with pytest.raises(Refused, match=f"not written by an export: {name.partition('/')[0]}"):
        exported(sea, out)
    assert (out / name).read_text() == "{}\n"


def test_a_folder_with_another_kind_of_export_is_refused(sea: Vault, tmp_path: Path) -> None:
    export_folder(tmp_path / "out", {"cards.md": b"Q: a\nA: b\n"}, kind="qa")
    with pytest.raises(Refused, match="another kind of export"):
        exported(sea, tmp_path / "out")


def test_a_vault_without_a_trusted_page_says_why_nothing_is_exported(sea: Vault, tmp_path: Path) -> None:
    for name in ("tide", "swell"):
        write(sea, f"wiki/concepts/{name}.md", article("X", f"It is. {cite(A)}", "confidence: low\n"))
    with pytest.raises(NothingToExport) as caught:
        exported(sea, tmp_path / "out")
    assert "2 articles: confidence low" in caught.value.hint and not (tmp_path / "out").exists()


def test_the_data_card_says_what_a_user_must_know(sea: Vault, tmp_path: Path) -> None:
    write(sea, "wiki/summaries/swell.md", summary("| <b>swell</b>", dict.fromkeys((C, D), "current")))
    done = exported(sea, tmp_path / "out")
    text = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert text.startswith("---\n") and "  - split: test\n    path: test.jsonl\n" in text
    assert "## Models below 7 billion parameters" in text and "makes up what it\ndoes not know" in text
    assert (
        "| About tides | CC BY 4.0 | 2 |" in text
        and "| not stated | 2 |" in text
        and "<b>" not in text.replace("\\<b", "")
    )
    assert "before you publish this data" in text and "license: unknown\n" in text
    assert {name: sum(kinds.values()) for name, kinds in done.summary.counts().items()} == {"train": 2, "test": 2}


# --- the split --------------------------------------------------------------------------------------------------------


def record(number: int, concept: str, claims: tuple[str, ...], prompt: str = "", text: str = "") -> Record:
    return Record(
        f"r{number}", "card", prompt or f"q{number}", text or f"a{number}", concept, (concept,), "en", "high",
        tuple(map(ClaimId, claims)), ("s",), ("not stated",), "wiki/concepts/x.md",
    )  # fmt: skip


def leaks(records: Iterable[Record], sides: Iterable[str]) -> set[str]:
    """Return the concepts and claims that are on more than one side."""
    found: dict[str, set[str]] = defaultdict(set)
    for each, side in zip(records, sides, strict=True):
        for key in (*each.concepts, *each.claims):
            found[key].add(side)
    return {key for key, where in found.items() if len(where) > 1}


names = st.sampled_from([f"n{n}" for n in range(12)])
drawn = st.lists(st.tuples(names, st.sets(names, min_size=1, max_size=3)), min_size=1, max_size=40)


@given(drawn, st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_no_concept_and_no_claim_is_on_two_sides(
    found: list[tuple[str, set[str]]], test: float, validation: float, seed: int
) -> None:
    records = [record(n, f"concept-{c}", tuple(sorted(claims))) for n, (c, claims) in enumerate(found)]
    split = split_records(records, {}, {TEST: test, VALIDATION: validation}, seed)
    assert leaks(records, split.sides) == set()
    assert sum(len(group.rows) for group in split.groups) == len(records)
    assert test or TEST not in split.sides


def test_the_shares_are_filled_as_far_as_groups_allow_and_a_seed_moves_them() -> None:
    records = [record(n, f"c{n // 2}", (f"k{n // 2}",)) for n in range(200)]
    sides = [split_records(records, {}, {TEST: 0.1, VALIDATION: 0.05}, seed).sides for seed in (0, 0, 1)]
    assert [sides[0].count(side) for side in (TRAIN, VALIDATION, TEST)] == [170, 10, 20]
    assert sides[0] == sides[1] != sides[2]


def test_a_group_larger_than_the_share_is_in_train_and_named() -> None:
    big = [record(n, f"big{n}", ("shared",)) for n in range(60)]
    records = [*big, *(record(100 + n, f"c{n}", (f"k{n}",)) for n in range(40))]
    split = split_records(records, {}, {TEST: 0.1}, 0)
    assert [len(group.rows) for group in split.oversized] == [60] and split.sides.count(TEST) == 10
    assert set(split.sides[:60]) == {TRAIN}


def test_nearly_the_same_question_or_answer_is_on_one_side() -> None:
    records = [
        record(0, "a", ("k0",), "What is the spacing effect in human memory?"),
        record(1, "b", ("k1",), "In human memory, what exactly is the spacing effect?"),
        record(2, "c", ("k2",), "What is the testing effect in adult learning?"),
        record(3, "d", ("k3",), "Why?", "Spread-out study is remembered longer than massed study of the same length."),
        record(
            4, "e", ("k4",), "How so?", "Spread-out study is remembered longer than massed study of the same length!"
        ),
    ]
    assert set(near_duplicates(records)) >= {(0, 1), (3, 4)}
    for seed in range(20):
        sides = split_records(records, {}, {TEST: 0.4}, seed).sides
        assert sides[0] == sides[1] and sides[3] == sides[4]


def test_each_pair_of_similar_texts_is_found(
    alike: Callable[[set[str], set[str]], bool] = lambda a, b: len(a & b) >= 0.8 * len(a | b),
) -> None:
    texts = [[f"w{n}" for n in range(10) if bits >> n & 1] for bits in range(0, 1 << 10, 7)]
    records = [record(n, f"c{n}", (f"k{n}",), " ".join(words) or "x") for n, words in enumerate(texts)]
    expected = {
        (a, b)
        for b, two in enumerate(texts)
        for a, one in enumerate(texts[:b])
        if min(len(one), len(two)) >= 4 and alike(set(one), set(two))
    }
    assert set(near_duplicates(records)) == expected and expected


def test_a_record_is_there_once_and_none_is_empty_or_endless() -> None:
    first = record(1, "a", ("k",), "What is it?", "A tide.")
    left_out = LeftOut()
    kept = usable_records(
        [
            first,
            replace(first, id="r2", prompt="what  IS it?"),
            replace(first, answer="x" * 40_000),
            replace(first, prompt=" "),
        ],
        left_out,
    )
    assert kept == [first] and sum(left_out.counts["card"].values()) == 3


# --- hostile text, and what others read -------------------------------------------------------------------------------


@given(st.text(alphabet=st.sampled_from("a \n`~$\\*[]()|#<>!-\u2028\u202e\x00\x1b\ud800é注"), max_size=60))
def test_a_cards_text_is_one_line_of_json_and_holds_no_control_characters(markdown: str) -> None:
    text = plain_card(markdown)
    assert not set(text) & set("\u2028\u202e\x00\x1b\ud800") and "<!--" not in text
    text.encode()


def test_hostile_words_stay_data(sea: Vault, tmp_path: Path) -> None:
    evil = 'Say "}]}\\n{"messages": [] \u2028 \x1b[2J {{ system }}'
    write(sea, "learning/flashcards/tide.md", deck(card("aaaaaaaaa1", evil, "\n```\n\\*a\\* [[b|c]]\n```", A)))
    exported(sea, tmp_path / "out")
    asked, answered = next(row for row in rows(tmp_path / "out") if row["id"] == "aaaaaaaaa1")["messages"]
    assert asked["content"] == 'Say "}]}\\n{"messages": [] \ufffd \ufffd[2J {{ system }}'
    assert answered["content"] == "```\n\\*a\\* [[b|c]]\n```"


@pytest.mark.parametrize(
    "token", ["<|im_start|>system", "<|eot_id|>", "</s>", "[/INST]", "<end_of_turn>", "<｜User｜>"]
)
def test_what_a_chat_template_would_obey_is_left_out(token: str) -> None:
    left_out = LeftOut()
    assert usable_records([record(1, "a", ("k",), "What is it?", f"A tide.{token}")], left_out) == []
    assert left_out.as_json() == {"card": {"contains a control token of a chat template": 1}}
    assert usable_records([record(1, "a", ("k",), "Is a < b | c > d?", "[INSTALL] <span>")], left_out)


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="the package `datasets` is not installed")
@pytest.mark.parametrize("layout", ["messages", "prompt", "sharegpt"])
def test_datasets_loads_the_folder_with_its_splits(sea: Vault, tmp_path: Path, layout: str) -> None:
    summary = exported(sea, tmp_path / "out", layout=layout).summary
    loaded = load(tmp_path / "out", tmp_path)
    assert {name: len(split) for name, split in loaded.items()} == sizes(summary)
    written = [row | {"side": None} for row in rows(tmp_path / "out")]
    assert sorted((row | {"side": None} for split in loaded.values() for row in split), key=key) == sorted(
        written, key=key
    )


def key(row: dict[str, Any]) -> str:
    return str(row["id"])


def sizes(summary: Summary) -> dict[str, int]:
    return {name: len(records) for name, records in summary.splits.items() if records}


def load(folder: Path, home: Path) -> Any:
    """What `datasets.load_dataset` makes of a folder, in a process whose caches are in `home`."""
    places = {"HF_HOME": str(home / "hf"), "HF_DATASETS_CACHE": str(home / "hf/datasets"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", LOADS, str(folder)]
    done = subprocess.run(
        command, cwd=home, env=os.environ | places, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
