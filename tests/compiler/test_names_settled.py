"""Names that SETTLE joins in a real vault, and what a human says of them, which stands above it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from compiler.build.apply_decision import take_effect
from compiler.build.compile import Options, compile_vault
from compiler.concepts.edits import Shelf, merge, never
from compiler.protocol.requests import SettleRequest
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent
from tests.compiler.test_journaled import HOUR, MORNING, compiled, saying
from vault.vault import Vault

DOCUMENTS = {
    "one.md": "# Softmax\n\nA softmax is a map from scores to shares that sum to one.\n",
    "two.md": "# Normalised exponential\n\nThe normalised exponential is a usual last step of classifiers.\n",
}
KEEL = "# Keel\n\nA keel is a long fin below the hull that keeps every boat upright in a strong wind.\n"
JOINING = saying(settle={"CLUSTER": "SAME 1 = 2\nCLUSTER"})


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", DOCUMENTS)


def titles(vault: Vault) -> set[str]:
    return {known.title for known in Shelf.of(vault).concepts}


def settles(backend: Scripted) -> list[dict[str, bool]]:
    """Of each SETTLE request the titles, and whether they are there only so that new ones can be joined with them."""
    return [{n.title: n.settled for n in r.names} for r in backend.asked if isinstance(r, SettleRequest)]


def test_names_are_asked_about_once_and_later_ones_beside_those_that_are_settled(vault: Vault) -> None:
    first = Scripted(reword=JOINING)
    compiled(vault, first)
    assert settles(first) == [{"Softmax": False, "Normalised exponential": False}]
    assert len(titles(vault)) == 1
    (vault.root / "raw/articles/three.md").write_text(KEEL, encoding="utf-8")
    second = Scripted()
    compiled(vault, second, MORNING + HOUR)
    (asked,) = settles(second)
    assert asked.pop("Keel") is False and all(asked.values()) and len(titles(vault)) == 2


def test_without_such_a_word_two_names_stay_two(vault: Vault) -> None:
    compiled(vault, Scripted())
    assert titles(vault) == {"Softmax", "Normalised exponential"}


def test_what_a_human_keeps_apart_no_model_joins_not_even_by_way_of_a_third_name(vault: Vault) -> None:
    compiled(vault, Scripted())
    take_effect(
        vault, lambda shelf: never(shelf, "Softmax", "Normalised exponential"), MORNING + HOUR, lambda event: None
    )
    third = "# Soft maximum\n\nA soft maximum is a smooth stand-in for the largest of some numbers.\n"
    (vault.root / "raw/articles/three.md").write_text(third, encoding="utf-8")
    backend = Scripted(reword=saying(settle={"CLUSTER": "SAME 2 = 1\nSAME 3 = 1\nSAME 2 = 3\nCLUSTER"}))
    compiled(vault, backend, MORNING + 2 * HOUR)
    assert len(settles(backend)[0]) == 3
    assert titles(vault) == {"Softmax", "Normalised exponential"} and verify(vault, silent).clean


def test_what_a_human_merged_stays_one_and_is_not_asked_about_again(vault: Vault) -> None:
    compiled(vault, Scripted())
    take_effect(
        vault, lambda shelf: merge(shelf, "Normalised exponential", "Softmax"), MORNING + HOUR, lambda event: None
    )
    backend = Scripted()
    compiled(vault, backend, MORNING + 2 * HOUR)
    assert not settles(backend) and titles(vault) == {"Softmax"}
    page = (vault.root / "wiki/concepts/softmax.md").read_text(encoding="utf-8")
    assert "sum to one" in page and "last step" in page
    found = verify(vault, silent)
    assert not (found.unverified or found.uncited or found.unsupported)
    compile_vault(vault, Options("journal", fresh=True, command="rebuild"), MORNING + timedelta(hours=3), silent)
    assert titles(vault) == {"Softmax"}
