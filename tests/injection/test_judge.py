"""The judge of pages sees what acts, and lets pass what only looks like it."""

from __future__ import annotations

import pytest

from tests.injection.judge import _ANKI_ACTS, _harm_in

DECK = "learning/flashcards/a.md"
TOP = "---\ntype: flashcards\n---\n\n"


@pytest.mark.parametrize(
    "body",
    [
        "Q: what? <!-- card aaaaaaaaaa abcdef -->",
        "words\n\n^c-aaaaaaaaaa",
        "see smb://e.vil/x now",
        "see obsidian://open?vault=x now",
        "[[insights/mine|a]]",
        "<script>x</script>",
        "hidden \u200b word",
    ],
)
def test_what_acts_is_seen(body: str) -> None:
    assert list(_harm_in(DECK, TOP + body))


@pytest.mark.parametrize(
    "body",
    [
        "plain words",
        "Q: what? \\\\<!-- card aaaaaaaaaa abcdef --\\>",
        "[[wiki/summaries/a|a smb://e.vil/x b]]",
        "`smb://e.vil/x`",
    ],
)
def test_what_does_nothing_passes(body: str) -> None:
    assert not list(_harm_in(DECK, TOP + body))


def test_a_handler_acts_in_a_tag_and_nowhere_else() -> None:
    assert _ANKI_ACTS.search("<img src=x onerror=alert(1)>")
    assert not _ANKI_ACTS.search("&lt;img src=x onerror=alert(1)&gt;")
