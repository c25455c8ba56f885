"""The exports and the sync as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.learning.connect_server import ConnectServer, serving

Run = Callable[..., Any]


def test_each_export_writes_the_cards_and_says_how_many(run: Run, compiled: Path, tmp_path: Path) -> None:
    lines = run("export", "jsonl", str(tmp_path / "cards.jsonl"), "--json", cwd=compiled).json
    cards = [json.loads(line) for line in (tmp_path / "cards.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines["cards"] == len(cards) > 3
    for kind in ("qa", "obsidian-sr"):
        for _ in range(2):
            done = run("export", kind, str(tmp_path / kind), "--json", cwd=compiled)
            assert done.code == 0 and done.json["cards"] == len(cards)
            assert done.json["files"] == len(list((tmp_path / kind).glob("*.md")))
    first = next((tmp_path / "qa").glob("*.md"))
    first.write_text("mine\n")
    refused = run("export", "qa", str(tmp_path / "qa"), cwd=compiled)
    assert refused.code == 3 and first.name in refused.err and first.read_text() == "mine\n"


def test_sync_without_anki_says_how_to_start_it_and_takes_no_address_of_the_vaults(run: Run, compiled: Path) -> None:
    done = run("sync", "anki", "--url", "http://127.0.0.1:9", cwd=compiled)
    assert done.code == 1 and "2055492159" in done.err
    assert run("sync", "anki", "--url", "http://192.168.0.9:8765", cwd=compiled).code == 2


def test_sync_takes_cards_there_and_tells_what_it_did(run: Run, compiled: Path, tmp_path: Path) -> None:
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col, key="sesame")) as server:
        words = ("sync", "anki", "--url", server.url)
        refused = run(*words, cwd=compiled)
        assert refused.code == 1 and "RETAIN_ANKI_KEY" in refused.err
        env = {"RETAIN_ANKI_KEY": "sesame"}
        planned = run(*words, "--dry-run", "--json", cwd=compiled, env=env).json
        assert planned["dry_run"] is True and planned["notes"]["created"] > 3 and col.note_count() == 0
        done = run(*words, cwd=compiled, env=env)
        assert done.code == 0 and f"{planned['notes']['created']} notes made in Anki" in done.out
        again = run(*words, "--json", cwd=compiled, env=env).json
        assert again["notes"]["created"] == 0 and again["notes"]["unchanged"] == planned["notes"]["created"]
        assert again["reviews"] == {"new": 0, "known": 0, "odd": 0} and again["failed"] == []
    col.close()
