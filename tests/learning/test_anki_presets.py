"""Presets in a package from Anki: their FSRS parameters are offered, checked, and adopted by one flag."""

from __future__ import annotations

import json
import shlex
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from learning.anki.export_package import export_anki
from learning.cards.workspace import open_desk
from learning.memory.fsrs import DEFAULTS
from tests.commands import Result, retain
from tests.learning.test_anki_import import collection, give_out, take_in
from tests.learning.test_anki_import_strangers import add, brought, clock, made
from vault.log.review_log import read_log
from vault.vault import Vault, open_vault

FITTED = [0.3, 1.2, 2.5, 8.1, 6.2, 0.8, 3.1, 0.01, 1.7, 0.2, 0.8, 1.5, 0.07, 0.3, 1.6, 0.6, 1.9, 0.5, 0.1, 0.07, 0.2]


def run(vault: Vault, *arguments: str) -> Result:
    return retain(*arguments, cwd=vault.root)


def with_preset(**values: Any) -> Any:
    def write(col: Any) -> None:
        add(col, "Basic", ["one", "two"])
        col.decks.update_config({**col.decks.get_config(1), "name": "Mine", **values})

    return write


def package(folder: Path, name: str = "made.apkg", *, legacy: bool = False, **values: Any) -> Path:
    return made(folder, with_preset(**values), name, legacy=legacy)


@pytest.mark.parametrize(("name", "legacy"), [("a.apkg", False), ("a.apkg", True), ("a.colpkg", False)])
def test_parameters_and_retention_are_offered_and_nothing_is_adopted(
    vault: Vault, tmp_path: Path, name: str, legacy: bool
) -> None:
    path = package(tmp_path, name, legacy=legacy, fsrsParams6=FITTED, desiredRetention=0.92)
    [preset] = brought(vault, path).presets
    assert (preset.name, preset.cards, preset.state, preset.retention) == ("Mine", 1, "offered", 0.92)
    assert preset.parameters == pytest.approx(FITTED)
    assert open_desk(vault, clock()).scheduler.parameters == DEFAULTS


def test_the_command_in_the_report_adopts_them_and_optimize_undoes_it(vault: Vault, tmp_path: Path) -> None:
    path = package(tmp_path, name="it's.apkg", fsrsParams6=FITTED, desiredRetention=0.92)
    offer = json.loads(run(vault, "import", "anki", str(path), "--json").stdout)["presets"][0]
    assert offer["command"] in run(vault, "import", "anki", str(path)).stdout
    said = run(vault, *shlex.split(offer["command"])[1:], "--dry-run").stdout
    assert "would be adopted" in said and open_desk(vault, clock()).scheduler.parameters == DEFAULTS
    assert "adopted" in run(vault, *shlex.split(offer["command"])[1:]).stdout

    after = open_vault(str(vault.root), None, vault.root)
    rules = open_desk(after, clock()).scheduler.rules
    assert rules.parameters == pytest.approx(FITTED) and rules.retention == 0.92
    assert "uses already" in run(vault, "import", "anki", str(path)).stdout
    run(vault, "optimize", "--undo")
    assert open_desk(after, clock()).scheduler.parameters == DEFAULTS
    assert not [event for event in read_log(vault.root).events if event.type == "review"]


def test_the_command_in_the_report_is_for_the_same_vault_and_cards(vault: Vault, tmp_path: Path) -> None:
    path = package(tmp_path, fsrsParams6=FITTED, desiredRetention=0.92)
    other = tmp_path / "other"
    assert retain("init", str(other), "--no-git", cwd=tmp_path).code == 0

    def offered(cwd: Path, *options: str, **env: str) -> str:
        done = retain("import", "anki", str(path), "--dry-run", "--json", *options, cwd=cwd, env=env)
        return str(json.loads(done.stdout)["presets"][0]["command"])

    here, named = str(vault.root), f" --vault {shlex.quote(str(vault.root))} "
    assert "--vault" not in offered(vault.root, "--vault", here) and "--restore" not in offered(vault.root)
    assert named in offered(other, "--vault", here, "--restore") and " --restore " in offered(other, "--restore")
    assert named in offered(other, "--vault", here, RETAIN_VAULT=str(other))
    assert "--vault" not in offered(other, RETAIN_VAULT=here)
    command = shlex.split(offered(other, "--vault", here))
    assert retain(*command[1:], cwd=other).code == 0
    assert open_desk(open_vault(here, None, vault.root), clock()).scheduler.rules.retention == 0.92
    assert open_desk(open_vault(str(other), None, other), clock()).scheduler.parameters == DEFAULTS


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"fsrsParams6": [*FITTED, 0.1]}, "not 22"),
        ({"fsrsParams6": [*FITTED[:20], 9.0]}, "parameter 20 is 9"),
    ],
)
def test_parameters_that_fsrs_cannot_have_are_named_and_refused(
    vault: Vault, tmp_path: Path, values: dict[str, Any], problem: str
) -> None:
    path = package(tmp_path, **values)
    assert problem in run(vault, "import", "anki", str(path)).stdout
    refused = run(vault, "import", "anki", str(path), "--preset", "Mine")
    assert refused.code == 2 and problem in refused.stderr
    assert open_desk(vault, clock()).scheduler.parameters == DEFAULTS


@pytest.mark.parametrize("hostile", ["NaN", "1e400", '"x"', "[]", "1" + "0" * 400, "0.2"])
def test_a_retention_that_is_none_is_refused(vault: Vault, tmp_path: Path, hostile: str) -> None:
    path = package(tmp_path, legacy=True, fsrsParams6=FITTED, desiredRetention=0.92)
    fault = f"update col set dconf = replace(dconf, '0.92', '{hostile}')"
    [preset] = brought(vault, damaged(tmp_path, path, fault)).presets
    assert preset.state == "invalid" and ("not a number" in preset.problem or "0.2, not" in preset.problem)


@pytest.mark.parametrize(
    "fault",
    [
        "update col set dconf = ''",
        "update col set dconf = '{'",
        f"update col set dconf = '{'[' * 200_000}'",
        f'update col set dconf = \'{{"1": {{"name": {"9" * 9_000}}}}}\'',
        "drop table deck_config",
        "update deck_config set config = x'ff'",
    ],
    ids=["empty", "cut", "deep", "large number", "no table", "no message"],
)
def test_presets_that_cannot_be_read_are_said_to_be_and_the_cards_come_in(
    vault: Vault, tmp_path: Path, fault: str
) -> None:
    path = damaged(tmp_path, package(tmp_path, legacy="dconf" in fault, fsrsParams6=FITTED), fault)
    refused = run(vault, "import", "anki", str(path), "--preset", "Mine")
    assert refused.code == 1 and "presets (deck options) cannot be read" in refused.stderr
    done = run(vault, "import", "anki", str(path))
    assert done.code == 0 and "1 created" in done.stdout
    assert done.stdout.count("its presets (deck options) cannot be read, so none is offered") == 1


def damaged(folder: Path, path: Path, fault: str) -> Path:
    """The package with a collection on which a statement was run."""
    edited = folder / "damaged.apkg"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(edited, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "collection.anki21b":
                data = zstandard.compress(changed(zstandard.ZstdDecompressor().stream_reader(data).read(), fault))
            elif name == "collection.anki21":
                data = changed(data, fault)
            new.writestr(name, data)
    return edited


def changed(data: bytes, statement: str) -> bytes:
    database = sqlite3.connect(":memory:")
    database.deserialize(data[:18] + b"\x01\x01" + data[20:])  # WAL needs files
    database.create_collation("unicase", lambda one, other: (one > other) - (one < other))
    database.execute(statement)
    database.commit()
    return database.serialize()


@pytest.mark.parametrize("count", [17, 19])
def test_parameters_of_earlier_versions_make_the_states_that_anki_makes(
    vault: Vault, tmp_path: Path, count: int
) -> None:
    old = [0.4, 0.6, 2.4, 5.8, 4.93, 0.94, 0.86, 0.01, 1.49, 0.14, 0.94, 2.18, 0.05, 0.34, 1.26, 0.29, 2.61, 0.3, 0.4]
    key = "fsrsWeights" if count == 17 else "fsrsParams5"

    def write(col: Any) -> None:
        with_preset(**{key: old[:count], "desiredRetention": 0.9})(col)
        col.set_config("fsrs", True)
        for rating in (1, 3, 4):
            card = col.get_card(col.find_cards("")[0])
            card.start_timer()
            col.sched.answerCard(card, rating)

    path = made(tmp_path, write)
    with collection(tmp_path / "theirs") as col:
        theirs = col._backend.compute_memory_state(col.find_cards("")[0]).state
    brought(vault, path, preset="Mine")
    desk = open_desk(open_vault(str(vault.root), None, vault.root), clock())
    [state] = [desk.state(card) for card, placed in desk.cards.items() if placed.card.question == "one"]
    assert (state.stability, state.difficulty) == pytest.approx((theirs.stability, theirs.difficulty), rel=1e-3)


def test_the_preset_of_an_export_with_schedule_is_in_use_here(vault: Vault, tmp_path: Path) -> None:
    export_anki(open_desk(vault, clock()), tmp_path / "out.apkg", scheduled=True)
    with collection(tmp_path / "anki") as col:
        take_in(col, tmp_path / "out.apkg", with_deck_configs=True)
        path = give_out(col, tmp_path / "back.apkg")
    assert [preset.state for preset in brought(vault, path).presets] == ["in use"]


def test_each_preset_has_a_name_of_its_own_by_which_it_is_adopted(vault: Vault, tmp_path: Path) -> None:
    retentions = {"Mine (2)": [0.81], "Mine": [0.82, 0.83, 0.84]}

    def write(col: Any) -> None:
        for name, each in [(name, each) for name, some in retentions.items() for each in some]:
            config = col.decks.add_config(name)
            col.decks.update_config({**config, "fsrsParams6": FITTED, "desiredRetention": each})
            deck = col.decks.get(col.decks.id(f"deck {each}"))
            col.decks.set_config_id_for_deck_dict(deck, config["id"])
            add(col, "Basic", [f"of {each}", "answer"], deck=f"deck {each}")

    path = made(tmp_path, write)
    presets = brought(vault, path, dry_run=True).presets
    assert {preset.name for preset in presets} == {"Mine (2)", "Mine", "Mine (3)", "Mine (4)"}
    assert next(preset.retention for preset in presets if preset.name == "Mine (2)") == pytest.approx(0.81)
    for preset in presets:
        report = brought(vault, path, preset=preset.name, dry_run=True)
        assert [(p.name, p.retention) for p in report.presets if p.state == "adopted"] == [
            (preset.name, preset.retention)
        ]


def test_an_empty_name_is_the_name_of_no_preset(vault: Vault, tmp_path: Path) -> None:
    path = package(tmp_path, fsrsParams6=FITTED)
    refused = run(vault, "import", "anki", str(path), "--preset", "")
    assert refused.code == 2 and "no preset named ''" in refused.stderr
    assert "1 created" in run(vault, "import", "anki", str(path)).stdout


def test_presets_of_other_decks_are_not_offered(vault: Vault, tmp_path: Path) -> None:
    def write(col: Any) -> None:
        with_preset(fsrsParams6=FITTED)(col)
        other = col.decks.add_config("Other")
        col.decks.update_config({**other, "fsrsParams6": DEFAULTS, "desiredRetention": 0.8})
        for deck in ("A", "Empty"):
            chosen = col.decks.get(col.decks.id(deck))
            col.decks.set_config_id_for_deck_dict(chosen, other["id"])
        add(col, "Basic", ["three", "four"], deck="A")

    path = made(tmp_path, write)
    assert [(p.name, p.cards) for p in brought(vault, path, deck="A").presets] == [("Other", 1)]
    assert {p.name for p in brought(vault, path).presets} == {"Mine", "Other"}
