"""Hostile sources through every command, with a model that obeys them: nothing but pages and ledgers is touched."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Sequence

import pytest

from compiler.workers import pool
from tests.injection.conftest import OBEDIENT, Scene, called
from tests.injection.judge import cards_not_in_ledger, harm_in_exports, harm_in_pages
from tests.injection.payloads import PAYLOADS
from tests.injection.sources import DISGUISES, Source, innocent, odd_names, sources

SEED, PARTS = 4, 6

pytestmark = pytest.mark.real_workers


@pytest.mark.torture
def test_every_source_in_one_vault(
    scene: Scene, listener: socket.socket, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    kinds = len(DISGUISES)
    made = [s for n, s in enumerate(sources(scene.places())) if (n + n // kinds) % torture(1, kinds) == 0]
    assert len({s.payload for s in made}) == len(PAYLOADS)  # outside of `make torture`, each in one disguise
    files = [*((s.name, s.data) for s in made), *odd_names(), (innocent().name, innocent().data)]
    scene.look()
    for name, data in files:
        scene.add(name, data)
    report = scene.json("compile", "--engine", "obedient")
    refused = through_every_command(scene, listener, report)
    scene.told("doctor")
    assert_innocent_came_through(scene)
    assert refused >= {"quote", "statement", "sentence", "card", "reply"}
    words = f"{len(files)} sources, {len(report['rejections'])} refusals listed, 0 changes outside, nothing alive"
    tally("hostile sources in one vault, obedient model, every command", words)


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.torture) for n in range(1, PARTS))])
def test_sources_alone(
    scene: Scene,
    listener: socket.socket,
    torture: Callable[[int, int], int],
    tally: Callable[[str, str], None],
    part: int,
) -> None:
    """One after the other in the same vault, so that each compile meets what the last one left."""
    sample = random.Random(SEED).sample(sources(scene.places()), 120)  # each step looks at all before it
    chosen = sample[part::PARTS][: torture(120, 1)]
    scene.look()
    for source in chosen:
        path = scene.base / "out" / source.name
        path.write_bytes(source.data)
        scene.added[f"vault/raw/articles/{source.name}"] = source.data
        scene.told("add", "--as", "articles", str(path), codes=(0,))
        report = scene.json("compile", "--engine", "obedient")
        through_every_command(scene, listener, report)
        scene.told("compile", "--engine", "obedient", "--dry-run")
        assert_refusals_name(source, report["rejections"])
    row = f"hostile sources one by one, obedient model, every command: part {part + 1} of {PARTS}"
    tally(row, f"{len(chosen)} sources, 0 changes outside")


def through_every_command(scene: Scene, listener: socket.socket, report: dict[str, list[dict[str, str]]]) -> set[str]:
    """Every command that reads, judged; the gates at which something was refused."""
    for words in (("status",), ("gaps", "list", "--all"), ("gaps", "plan"), ("due",), ("log",), ("insight", "--list")):
        scene.told(*words)
        scene.json(*words)
    scene.told("verify", codes=(0,))
    due = scene.json("due")
    cards = [card["id"] for card in (*due["due"], *due["new"])]
    claims = [line.split('"id":"')[1][:10] for line in _ledger(scene) if '"of":"claim"' in line]
    for card in cards[:3]:
        scene.told("card", "show", card)
        scene.json("card", "show", card)
    for id_ in (*cards[:2], *claims[:2]):
        scene.told("trace", id_)
        scene.json("trace", id_)
    scene.told("review", "--plain", stdin="\n3\n" * 3 + "\ns\nu\nq\n")
    scene.told("guard", "audit")
    scene.told("guard", "status")
    scene.told("export", "anki", str(scene.base / "out/deck.apkg"), codes=(0,))
    scene.told("export", "csv", str(scene.base / "out/cards.csv"), codes=(0,))
    package, table = (scene.base / "out/deck.apkg").read_bytes(), (scene.base / "out/cards.csv").read_text("utf-8-sig")
    assert harm_in_exports(package, table) == []
    assert harm_in_pages(scene.vault) == []
    assert cards_not_in_ledger(scene.vault) == []
    assert scene.harm() == []
    assert not called(listener)
    return {each["gate"] for each in report["rejections"]}


def _ledger(scene: Scene) -> list[str]:
    return (scene.vault / "ledger/ids.jsonl").read_text(encoding="utf-8").splitlines()


def assert_refusals_name(source: Source, rejections: Sequence[dict[str, str]]) -> None:
    """Where the model could read the orders of a source, what it made of them was refused and is listed."""
    if source.disguise not in ("markdown", "text"):
        return
    if source.payload != "toolong":
        assert {each["gate"] for each in rejections} & {"quote", "statement", "sentence", "card", "reply"}, source.name


def assert_innocent_came_through(scene: Scene) -> None:
    """The control: orders to say what the source says are obeyed."""
    subject = innocent().subject
    article = (scene.vault / f"wiki/concepts/{subject}.md").read_text(encoding="utf-8")
    assert "## How it works" in article and "narrow tube" in article
    assert "What is meant by" in (scene.vault / f"learning/flashcards/{subject}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("free", [True, False], ids=["free", "shut in"])
def test_what_the_model_is_ordered_to_do_is_done_only_where_it_is_not_shut_in(
    scene: Scene, listener: socket.socket, free: bool
) -> None:
    """The control of the orders: the same sources make the same engine write, remove, run and call."""
    acting = {"ignore", "absolute", "shell", "network"}
    for source in (s for s in sources(scene.places()) if s.payload in acting and s.disguise == "text"):
        scene.add(source.name, source.data)
    if free:
        scene.patch.setattr(pool, "PROGRAM", (str(OBEDIENT), "--free"))
    scene.look()
    scene.told("compile", "--engine", "obedient")
    assert called(listener) is free
    done = {line.partition(": ")[0] for line in scene.harm()}
    wanted = {
        "vault/insights/pwned.md",
        "vault/insights/mine.md",
        "vault/insights/ran",
        "pwned.md",
        "ran",
        "home/pwned.md",
    }
    assert done == (wanted if free else set())
