"""What a chat says counts little, and a summary names who wrote its source, when and where."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.sources.confidence import confidence, independent, independent_pages
from compiler.verification.verify import verify
from vault.ids import SourceId
from vault.model.frontmatter import Properties, read_properties
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ASKED = "What is interleaving? Interleaving is the habit of bananas in a basket."
SAID = (
    "**Interleaving** is a way of practising that mixes several topics in one session. "
    "Interleaving helps because it forces learners to choose a method for every problem."
)


def compiled(vault: Vault, at: datetime = MORNING) -> None:
    report = compile_vault(vault, Options(), at, lambda event: None)
    assert report.failures == []


def chat(vault: Vault) -> Path:
    """A Claude export in raw/ with one question and one answer."""
    sides = [("human", ASKED), ("assistant", SAID)]
    messages = [{"uuid": who, "sender": who, "text": words, "content": []} for who, words in sides]
    conversation = {
        "uuid": "01234567-89ab-cdef-0123-456789abcdef",
        "name": "Interleaving",
        "created_at": "2024-05-01T10:00:00Z",
        "chat_messages": messages,
    }
    path = vault.root / "raw/articles/conversations.json"
    path.write_text(json.dumps([conversation]))
    return path


def properties(vault: Vault, path: str) -> Properties:
    return read_properties((vault.root / path).read_text())


def test_a_chat_has_no_authority_and_what_rests_on_it_alone_has_low_confidence(vault: Vault) -> None:
    chat(vault)
    compiled(vault)
    summary = (vault.root / "wiki/summaries/conversations.md").read_text()
    assert read_properties(summary).text("authority") == "0"
    assert read_properties(summary).text("author") == "Claude"
    assert "Interleaving (2024-05-01), message 2 (assistant)" in summary
    assert "bananas" not in summary, "what the human asked is not asserted"
    assert properties(vault, "wiki/concepts/interleaving.md").text("confidence") == "low"
    assert verify(vault, lambda event: None).clean


def test_a_human_may_trust_a_chat_and_is_heard_from_then_on(vault: Vault) -> None:
    chat(vault)
    compiled(vault)
    summary = vault.root / "wiki/summaries/conversations.md"
    summary.write_text(summary.read_text().replace("authority: 0", "authority: 2"))
    compiled(vault, MORNING + timedelta(days=1))
    compiled(vault, MORNING + timedelta(days=2))
    assert properties(vault, "wiki/summaries/conversations.md").text("authority") == "2"


def test_a_compile_with_nothing_new_says_nothing_of_a_chats_authority(vault: Vault) -> None:
    chat(vault)
    compiled(vault)
    decisions = vault.root / "ledger/decisions.jsonl"
    before = decisions.read_bytes() if decisions.exists() else b""
    compiled(vault, MORNING + timedelta(days=1))
    assert (decisions.read_bytes() if decisions.exists() else b"") == before


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        ((), "speculative"), ((0,), "low"), ((0, 0, 0), "low"), ((1,), "low"), ((1, 0, 0), "low"), ((1, 1), "medium"),
        ((1, 2), "high"), ((2, 0), "low"), ((1, 1, 0), "medium"), ((1, 1, 1), "high"),
    ],
)  # fmt: skip
def test_hearsay_is_no_evidence_that_counts(trust: tuple[int, ...], expected: str) -> None:
    authority = {SourceId(f"source{i:04}"): t for i, t in enumerate(trust)}
    assert confidence(authority, "extractive/1") == expected


def test_a_copy_counts_as_its_original_with_the_higher_authority() -> None:
    authority = {"original": 1, "copy": 2, "other": 1}
    origin = {"copy": "original"}
    found = independent(("copy", "other", "original"), lambda each: origin.get(each, each), authority.__getitem__)
    assert found == {"original": 2, "other": 1} and confidence(found, "extractive/1") == "high"


@pytest.mark.parametrize(
    ("copies", "count"),
    [
        ({"a": "b", "b": "c"}, 1),
        ({"a": "b", "b": "a", "c": "a"}, 1),
        ({"a": "gone"}, 3),
        ({}, 3),
    ],
)
def test_pages_that_repeat_each_other_are_one_source(copies: dict[str, str], count: int) -> None:
    texts = {name: f'---\ncopy_of: "[[{copies[name]}]]"\n---\n' if name in copies else "" for name in "abc"}
    pages = {f"{name}.md": read_properties(text) for name, text in texts.items()}
    assert len(independent_pages(pages, pages.get)) == count


def test_a_summary_names_author_day_address_and_licence_of_its_source(vault: Vault) -> None:
    clip = vault.root / "raw/articles/clip.md"
    front = 'author:\n  - "[[Ann Lee]]"\npublished: 5 March 2024\nsource: https://a.b/c\nlicence: CC BY 4.0\n'
    clip.write_text(f"---\n{front}---\n# Chunking\n\nChunking is the grouping of items into larger units.\n")
    compiled(vault)
    found = properties(vault, "wiki/summaries/clip.md")
    assert [found.text(k) for k in ("author", "published", "url", "license")] == [
        "Ann Lee", "2024-03-05", "https://a.b/c", "CC BY 4.0",
    ]  # fmt: skip
    assert "author" not in properties(vault, "wiki/summaries/testing.md").values


def test_an_empty_source_file_is_kept_and_is_no_fault(vault: Vault) -> None:
    (vault.root / "raw/repos/x").mkdir(parents=True)
    (vault.root / "raw/repos/x/__init__.py").write_text("")
    compiled(vault)
