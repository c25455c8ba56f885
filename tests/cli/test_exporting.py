"""The exports and the sync as a user runs them."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.commands import Run
from tests.learning.connect_server import ConnectServer, serving

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/compiled"


def test_each_export_writes_the_cards_and_says_how_many(run: Run, compiled: Path, tmp_path: Path) -> None:
    lines = run("export", "jsonl", str(tmp_path / "cards.jsonl"), "--json", cwd=compiled).json()
    cards = [json.loads(line) for line in (tmp_path / "cards.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines["cards"] == len(cards) > 3
    for kind in ("qa", "obsidian-sr"):
        for _ in range(2):
            done = run("export", kind, str(tmp_path / kind), "--json", cwd=compiled)
            assert done.code == 0 and done.json()["cards"] == len(cards)
            assert done.json()["files"] == len(list((tmp_path / kind).glob("*.md")))
    first = next((tmp_path / "qa").glob("*.md"))
    first.write_text("mine\n")
    refused = run("export", "qa", str(tmp_path / "qa"), cwd=compiled)
    assert refused.code == 3 and first.name in refused.stderr and first.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["anki", "csv", "jsonl"])
def test_an_export_replaces_an_earlier_one_and_no_other_file(
    run: Run, compiled: Path, tmp_path: Path, name: str
) -> None:
    out, words = tmp_path / f"mine.{name}", ("export", name, str(tmp_path / f"mine.{name}"))
    for _ in range(2):
        assert run(*words, cwd=compiled).code == 0
    for theirs in (b"mine, all mine\n", b'{"id": "mine"}\n', _of_anki(tmp_path)):
        out.write_bytes(theirs)
        refused = run(*words, cwd=compiled)
        assert refused.code == 3 and "--force" in refused.stderr and out.read_bytes() == theirs
    assert run(*words, "--force", cwd=compiled).code == 0 and out.read_bytes() != theirs
    out.unlink()
    (tmp_path / "thesis.md").write_text("years of work\n")
    out.symlink_to(tmp_path / "thesis.md")
    assert run(*words, "--force", cwd=compiled).code == 3
    assert (tmp_path / "thesis.md").read_text() == "years of work\n"


def _of_anki(folder: Path) -> bytes:
    """The bytes of a package that nobody here wrote."""
    with zipfile.ZipFile(folder / "phone.zip", "w") as archive:
        archive.writestr("collection.anki2", b"reviews of years")
    return (folder / "phone.zip").read_bytes()


def test_a_dash_is_stdout_for_text_and_no_name_for_the_others(run: Run, compiled: Path, tmp_path: Path) -> None:
    for name in ("csv", "jsonl"):
        done = run("export", name, "-", cwd=compiled)
        assert done.code == 0 and run("export", name, str(tmp_path / name), cwd=compiled).code == 0
        kept = (tmp_path / name).read_text(encoding="utf-8-sig")
        assert done.stdout.splitlines() == kept.splitlines() and len(kept.splitlines()) > 3
        assert run("export", name, "-", "--json", cwd=compiled).code == 2
    for name in ("anki", "qa", "obsidian-sr"):
        assert run("export", name, "-", cwd=compiled).code == 2
    assert not (compiled / "-").exists()


def test_sync_without_anki_says_how_to_start_it_and_takes_no_address_of_the_vaults(run: Run, compiled: Path) -> None:
    done = run("sync", "anki", "--url", "http://127.0.0.1:9", cwd=compiled)
    assert done.code == 1 and "2055492159" in done.stderr
    assert run("sync", "anki", "--url", "http://192.168.0.9:8765", cwd=compiled).code == 2


def test_sync_takes_cards_there_and_tells_what_it_did(run: Run, compiled: Path, tmp_path: Path) -> None:
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col, key="sesame")) as server:
        words = ("sync", "anki", "--url", server.url)
        refused = run(*words, cwd=compiled)
        assert refused.code == 1 and "RETAIN_ANKI_KEY" in refused.stderr
        env = {"RETAIN_ANKI_KEY": "sesame"}
        planned = run(*words, "--dry-run", "--json", cwd=compiled, env=env).json()
        assert planned["dry_run"] is True and planned["notes"]["created"] > 3 and col.note_count() == 0
        done = run(*words, cwd=compiled, env=env)
        assert done.code == 0 and f"{planned['notes']['created']} notes created in Anki" in done.stdout
        again = run(*words, "--json", cwd=compiled, env=env).json()
        assert again["notes"]["created"] == 0 and again["notes"]["unchanged"] == planned["notes"]["created"]
        assert again["reviews"] == {"new": 0, "known": 0, "odd": 0, "sent": 0} and again["failed"] == []
        kind = col.models.by_name("retain")
        col.models.rename_field(kind, kind["flds"][1], "Other")  # type: ignore[arg-type,index]
        col.models.update_dict(kind)  # type: ignore[arg-type]
        other = run(*words, "--newer", cwd=compiled, env=env)
        assert "need another note type" in other.stderr and "edited in Anki" not in other.stderr
        listed = run(*words, "--newer", "--json", cwd=compiled, env=env).json()["notes"]
        assert len(listed["other_type"]) == planned["notes"]["created"] and listed["edited"] == []
    col.close()


def test_sync_looks_for_the_vault_first_and_a_dry_run_changes_no_file(run: Run, compiled: Path, tmp_path: Path) -> None:
    from anki.collection import Collection

    nowhere = run("sync", "anki", "--url", "http://127.0.0.1:9")
    assert nowhere.code == 2 and "vault" in nowhere.stderr
    by_hand = compiled / "learning/flashcards/by-hand.md"
    by_hand.write_text("Q: Who wrote this?\nA: A human.\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in (compiled / "learning").rglob("*") if path.is_file()}
    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col, imports=True)) as server:
        words = ("sync", "anki", "--url", server.url, "--json")
        planned = run(*words, "--dry-run", cwd=compiled).json()
        ledger = (compiled / "ledger/ids.jsonl").read_bytes()
        assert {path: path.read_bytes() for path in (compiled / "learning").rglob("*") if path.is_file()} == before
        done = run(*words, cwd=compiled).json()
        assert done["notes"]["created"] == planned["notes"]["created"] + 1 == col.note_count()
        assert (
            "%% card" in by_hand.read_text(encoding="utf-8") and (compiled / "ledger/ids.jsonl").read_bytes() > ledger
        )
    col.close()


def test_an_anki_package_leaves_out_what_came_from_anki_unless_asked(run: Run, compiled: Path, tmp_path: Path) -> None:
    from anki.collection import Collection, ExportAnkiPackageOptions

    col = Collection(str(tmp_path / "collection.anki2"))
    note = col.new_note(col.models.by_name("Basic"))  # type: ignore[arg-type]
    note["Front"], note["Back"] = "Whose is this?", "Anki's."
    col.add_note(note, 1)  # type: ignore[arg-type]
    path = str(tmp_path / "mine.apkg")
    options = ExportAnkiPackageOptions(with_scheduling=True, with_media=True, legacy=False)
    col.export_anki_package(out_path=path, options=options, limit=None)
    col.close()
    assert run("import", "anki", path, cwd=compiled).code == 0
    few = run("export", "anki", str(tmp_path / "few.apkg"), cwd=compiled)
    assert "1 card imported from Anki skipped" in few.stdout
    all_ = run("export", "anki", str(tmp_path / "all.apkg"), "--imported", "--json", cwd=compiled).json()
    few_ = run("export", "anki", str(tmp_path / "few2.apkg"), "--json", cwd=compiled).json()
    assert all_["notes"] == few_["notes"] + 1 and len(few_["imported"]) == 1 and all_["imported"] == []


def test_training_data_of_the_example_is_split_by_concept(run: Run, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "example")
    out = tmp_path / "data"
    done = run("export", "train", str(out), "--json", "--progress", "jsonl", cwd=tmp_path / "example")
    report, sides = done.json(), {}
    for side in ("train", "test"):
        lines = (out / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()
        sides[side] = [json.loads(line) for line in lines]
        assert len(lines) == sum(report["splits"][side].values())
    keys = {side: {key for row in found for key in (*row["concepts"], *row["claims"])} for side, found in sides.items()}
    assert keys["train"] and keys["test"] and not keys["train"] & keys["test"]
    assert {row["confidence"] for found in sides.values() for row in found} <= {"high", "medium"}
    words = [message["content"] for found in sides.values() for row in found for message in row["messages"]]
    assert all(words) and not any("[[" in text or "\\_" in text for text in words)
    assert report["left_out"]["article"]["confidence low"] > 0 and (out / "README.md").is_file()
    events = [json.loads(line) for line in done.stderr.splitlines()]
    steps = [event for event in events if event["event"] == "source"]
    assert (steps[0]["done"], steps[-1]["done"]) == (0, steps[-1]["of"])
    again = run("export", "train", str(out), cwd=tmp_path / "example")
    assert again.code == 0 and "before you publish this data" in again.stderr and "skipped article" in again.stdout


def test_training_data_that_would_be_empty_is_a_finding_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    assert run("init", "empty", "--no-git").code == 0
    done = run("export", "train", str(tmp_path / "data"), cwd=tmp_path / "empty")
    assert done.code == 1 and "retain compile" in done.stderr and not (tmp_path / "data").exists()
    assert run("export", "train", "-", cwd=tmp_path / "empty").code == 2
    assert run("export", "train", "data", "--test-share", "0.9", cwd=tmp_path / "empty").code == 2
    for share in ("nan", "inf", "-inf"):
        assert run("export", "train", "data", f"--validation-share={share}", cwd=tmp_path / "empty").code == 2
    assert run("lint", "--engine", "claude", "--budget", "inf", cwd=tmp_path / "empty").code == 2
