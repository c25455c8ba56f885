"""Notes of Obsidian, and a wiki of another tool, where they are: what `init --adopt` finds, and what a compile does."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from tests.builders import DOCUMENTS, NEEDY
from tests.commands import Result, Run, on_terminal

NOTES = {
    "Caches.md": (
        "---\naliases: [data cache, fast store]\ntags: [cs]\n---\n# Cache\n\n"
        "A cache is a small and fast memory that holds copies of data which a program needs often.\n\n![[Plot.PNG]]\n"
    ),
    "Systems/Latency.md": (
        "# Latency\n\nLatency is the time that passes between a request and the answer of a data cache. "
        "See [[Caches]].\n"
    ),
    "Systems/Rigging.md": NEEDY["raw/articles/rigging.md"].replace("capstan", "[[capstan]]", 1),
    "Systems/Anchors.md": NEEDY["raw/articles/anchors.md"].replace("capstan", "[[capstan]]", 1),
    "Systems/Empty.md": "",
    "Systems/Picture.md": "# \n\n![[plot.png]]\n",
    "Private/Diary.md": "# Diary\n\nA diary is a book in which a person writes what happened on a day.\n",
    "Health.md": "A fever is a body temperature above the usual one. #private/health\n",
    "Plans.md": "---\nlearning: false\n---\nA budget is a plan for the money of a month. [[My secret]]\n",
    "insights/Mine.md": "A hunch is an idea for which nobody has evidence yet.\n",
    "Templates/Lecture.md": "A lecture is a talk that teaches many people at once.\n",
    ".obsidian/templates.json": '{"folder": "Templates"}',
    ".obsidian/app.json": '{"userIgnoreFilters": ["Archive/", "/^Old/"]}',
    "Archive/Old.md": "A relic is a thing that is left of an earlier time.\n",
    "Cards.md": (
        "#flashcards/cs\n\nWhat is a register?::The memory of a processor.\n<!--SR:!2026-01-04,3,250-->\n\n"
        "cache:::fast memory\n\nWhere is the kernel?\n?\nIn memory.\n<!--SR:!2026-02-01,10,270-->\n\n"
        "The ==heap== grows.\n\n`std::vector` is no card.\n"
    ),
    "code.py": "x = 1\n",
}
SYSTEMS = {"Systems/Latency.md", "Systems/Rigging.md", "Systems/Anchors.md"}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "attachments").mkdir()
    (folder / "attachments/plot.png").write_bytes(PIXEL)
    return folder


def digests(folder: Path, left_out: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the SHA-256 of every file, but for those below some folders."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] not in left_out)
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def ids(vault: Path, noun: str) -> dict[str, str]:
    """Return the present key of each source, claim or card of the ledger, by id."""
    events = [json.loads(line) for line in (vault / "ledger/ids.jsonl").read_text().splitlines()]
    return {e["id"]: e["key"] for e in events if e.get("of") == noun and "key" in e}


def sources(vault: Path) -> set[str]:
    pages = (page.read_text() for page in (vault / "wiki/summaries").glob("*.md"))
    return {
        line.removeprefix("source: ").strip('"')
        for page in pages
        for line in page.split("\n")
        if line[:8] == "source: "
    }


def adopted(run: Run, notes: Path) -> Result:
    done = run("init", "notes", "--adopt", "--no-git", "--exclude", "Private")
    assert done.code == 0, done.stderr
    compiled = run("compile", cwd=notes)
    assert compiled.code == 0, compiled.stderr
    return compiled


def test_a_dry_run_says_what_would_become_a_source_and_writes_nothing(run: Run, notes: Path) -> None:
    before = digests(notes)
    shown = run("init", "notes", "--adopt", "--dry-run", "--exclude", "Private", "--exclude-tag", "#CS")
    assert shown.code == 0 and digests(notes) == before
    for words in (
        "read-only: 4 notes, 1 picture",
        "Systems/: 3 notes",
        "Private: 1 note",
        "#private: 1 note",
        "#cs: 1 note",
        "learning: false: 1 note",
        "insights/, your own notes: 1 note",
        "Templates: 1 note",
        "Archive: 1 note",
        "empty, or only pictures: 2 notes",
        "5 cards for the Spaced Repetition plugin in 1 note, 2 with a schedule",
        "nothing was written",
    ):
        assert words in shown.stderr, words


def test_notes_are_compiled_where_they_are_and_no_byte_of_them_changes(run: Run, notes: Path) -> None:
    before = digests(notes)
    adopted(run, notes)
    assert {path: digest for path, digest in digests(notes).items() if path in before} == before
    assert sources(notes) == {"Caches.md", "Cards.md", *SYSTEMS}
    assert not any((notes / "raw").rglob("*.md"))
    summary = (notes / "wiki/summaries/caches.md").read_text()
    assert "Source: [[Caches|Caches.md]]" in summary and "A cache is a small and fast memory" in summary
    everything = "".join(p.read_text() for p in (notes / "wiki").rglob("*.md"))
    everything += "".join(p.read_text() for p in (notes / "learning").rglob("*.md"))
    for private in ("diary", "fever", "budget", "hunch", "lecture", "relic", "secret"):
        assert private not in everything.casefold(), private
    assert run("verify", "--compare", cwd=notes).code == 0
    findings = run("lint", "--json", cwd=notes).json()["findings"]
    assert not [
        found for found in findings if found["code"] in ("broken-link", "not-compiled", "source-changed", "source-gone")
    ]


def test_a_second_run_changes_nothing(run: Run, notes: Path) -> None:
    adopted(run, notes)
    before = digests(notes, (".retain",))
    again = run("init", "notes", "--adopt", "--no-git")
    assert again.code == 0 and "nothing was written" in again.stderr
    assert run("compile", "--json", cwd=notes).json()["written"] == []
    assert digests(notes, (".retain",)) == before


def test_other_names_of_a_note_are_names_of_its_concept_and_what_several_link_to_is_a_gap(
    run: Run, notes: Path
) -> None:
    adopted(run, notes)
    article = (notes / "wiki/concepts/cache.md").read_text()
    assert "Data cache" in article and "Fast store" in article
    assert "[[wiki/concepts/cache|data cache]]" in (notes / "wiki/concepts/latency.md").read_text()
    gaps = run("gaps", "list", "--json", cwd=notes).json()
    assert "Capstan" in json.dumps(gaps)


def test_a_note_that_moves_is_renamed_or_edited_keeps_its_claims_and_cards(run: Run, notes: Path) -> None:
    adopted(run, notes)
    claims, cards = ids(notes, "claim"), ids(notes, "card")
    assert claims and cards
    (notes / "Hardware").mkdir()
    (notes / "Caches.md").rename(notes / "Hardware/Memory.md")
    latency = notes / "Systems/Latency.md"
    latency.write_text(latency.read_text() + "\nBandwidth is the number of bytes that a link carries in a second.\n")
    done = run("compile", "--json", cwd=notes).json()
    assert done["claims"]["retracted"] == 0 and done["cards"]["suspended"] == 0 and done["claims"]["added"] == 1
    assert sources(notes) == {"Hardware/Memory.md", "Cards.md", *SYSTEMS}
    assert set(claims) <= set(ids(notes, "claim")) and set(cards) <= set(ids(notes, "card"))
    assert "[[Hardware/Memory|Memory.md]]" in (notes / "wiki/summaries/caches.md").read_text()


def test_a_note_that_becomes_private_takes_its_claims_away(run: Run, notes: Path) -> None:
    adopted(run, notes)
    latency = notes / "Systems/Latency.md"
    latency.write_text(latency.read_text() + "\n#private\n")
    done = run("compile", "--json", cwd=notes).json()
    assert done["claims"]["retracted"] > 0 and sources(notes) == {"Caches.md", "Cards.md", *SYSTEMS} - {
        "Systems/Latency.md"
    }
    assert not (notes / "wiki/concepts/latency.md").exists()


def test_a_folder_that_is_gone_takes_no_claims_away(run: Run, notes: Path) -> None:
    assert run("init", "vault", "--no-git").code == 0
    vault = notes.parent / "vault"
    settings = vault / "retain.toml"
    settings.write_text(settings.read_text() + '\n[notes]\nfolders = ["../notes/Systems"]\n')
    assert run("compile", cwd=vault).code == 0 and sources(vault) == {f"../notes/{path}" for path in SYSTEMS}
    (notes / "Systems").rename(notes / "away")
    gone = run("compile", "--json", cwd=vault)
    assert gone.code == 1 and "this notes folder does not exist" in gone.stdout
    assert gone.json()["claims"]["retracted"] == 0 and sources(vault) == {f"../notes/{path}" for path in SYSTEMS}


def test_the_users_own_notes_are_sources_where_the_user_says_so(run: Run, notes: Path) -> None:
    adopted(run, notes)
    settings = notes / "retain.toml"
    settings.write_text(settings.read_text().replace('folders = ["."]', 'folders = [".", "insights"]'))
    before = (notes / "insights/Mine.md").read_bytes()
    assert run("compile", cwd=notes).code == 0
    assert "insights/Mine.md" in sources(notes) and (notes / "insights/Mine.md").read_bytes() == before


def test_add_says_of_what_is_in_the_vault_already_what_to_do(run: Run, notes: Path, compiled: Path) -> None:
    adopted(run, notes)
    there = run("add", "Caches.md", "--json", cwd=notes)
    assert there.code == 0 and there.json()["in_place"] == ["Caches.md"] and there.json()["added"] == []
    assert "already used as a source where it is" in run("add", "Systems", cwd=notes).stderr
    left_out = run("add", "Templates/Lecture.md", cwd=notes)
    assert left_out.code == 2 and "[notes] table in retain.toml" in left_out.stderr
    assert "`learning: false`" in run("add", "Plans.md", cwd=notes).stderr
    assert not any((notes / "raw").rglob("*.md"))
    (compiled / "Note.md").write_text("# A note\n")
    told = run("add", "Note.md", cwd=compiled)
    assert told.code == 2 and "--adopt" in told.stderr
    adopt = run("init", ".", "--adopt", cwd=compiled)
    assert adopt.code == 0 and run("add", "Note.md", cwd=compiled).code == 0


def test_on_a_terminal_the_user_is_asked(notes: Path) -> None:
    before = digests(notes)
    shown = on_terminal("init", str(notes), "--adopt", "--no-git", cwd=notes, typed="n\n")
    assert "with these as sources? [y/N]" in shown and "nothing was written" in shown and digests(notes) == before


def test_what_is_excluded_must_be_there(run: Run, notes: Path) -> None:
    for wrong in ("Nowhere", "../other", ""):
        done = run("init", "notes", "--adopt", "--exclude", wrong)
        assert done.code == 2 and not (notes / "retain.toml").exists()
    assert run("init", "notes", "--exclude", "Private").code == 2


# --- a wiki that another tool compiles --------------------------------------------------------------------------------

FRONT = "---\ntitle: {0}\ntype: concept\n---\n\n"
WIKIS = {
    "geo-lab": {  # by its AGENTS.md: concepts, topics and summaries, indexes that begin with an underscore
        "AGENTS.md": "# Schema\n",
        "raw/articles/paper.md": "A paper is a sheet.\n",
        "wiki/_index.md": "- RLHF\n",
        "wiki/summaries/paper.md": "A summary is a short text.\n",
        "wiki/concepts/cache.md": FRONT.format("Cache") + NOTES["Caches.md"].split("---\n", 2)[2],
        "wiki/topics/latency.md": NOTES["Systems/Latency.md"],
        "wiki/topics/rigging.md": NOTES["Systems/Rigging.md"],
        "wiki/topics/anchors.md": NOTES["Systems/Anchors.md"],
        "wiki/concepts/plans.md": NOTES["Plans.md"],
        "learning/flashcards/cache.md": "Q: What is it?\nA: Memory.\n",
        "output/reports/lint.md": "A report is a text.\n",
        "insights/mine.md": NOTES["insights/Mine.md"],
    },
    "synto": {  # articles in wiki/ itself, drafts hidden, a page for each source
        "synto.toml": "",
        "raw/paper.md": "A paper is a sheet.\n",
        "wiki/Cache.md": FRONT.format("Cache") + NOTES["Caches.md"].split("---\n", 2)[2],
        "wiki/Latency.md": NOTES["Systems/Latency.md"],
        "wiki/Rigging.md": NOTES["Systems/Rigging.md"],
        "wiki/Anchors.md": NOTES["Systems/Anchors.md"],
        "wiki/Plans.md": NOTES["Plans.md"],
        "wiki/.drafts/Draft.md": "A draft is a text that is not finished.\n",
        "wiki/sources/paper.md": "A summary is a short text.\n",
        "wiki/queries/what.md": "A query is a question.\n",
    },
    "llm_wiki": {  # entities and concepts beside lists
        "CLAUDE.md": "# Schema\n",
        "raw/sources/paper.md": "A paper is a sheet.\n",
        "wiki/index.md": "- [[Cache]]\n",
        "wiki/log.md": "A log is a list of what happened.\n",
        "wiki/overview.md": "An overview is a short text.\n",
        "wiki/concepts/cache.md": FRONT.format("Cache") + NOTES["Caches.md"].split("---\n", 2)[2],
        "wiki/entities/latency.md": NOTES["Systems/Latency.md"],
        "wiki/entities/rigging.md": NOTES["Systems/Rigging.md"],
        "wiki/entities/anchors.md": NOTES["Systems/Anchors.md"],
        "wiki/entities/plans.md": NOTES["Plans.md"],
        "wiki/sources/paper.md": "A summary is a short text.\n",
    },
}


@pytest.mark.parametrize("tool", WIKIS)
def test_a_wiki_of_another_tool_gets_cards_and_gaps_and_stays_as_it_is(run: Run, tmp_path: Path, tool: str) -> None:
    wiki = tmp_path / "wiki-of-another"
    for path, text in WIKIS[tool].items():
        (wiki / path).parent.mkdir(parents=True, exist_ok=True)
        (wiki / path).write_text(text)
    before = digests(wiki)
    done = run("init", "wiki-of-another", "--adopt", "--no-git")
    assert done.code == 0 and f"the vault is in {wiki}/retain" in done.stderr
    vault = wiki / "retain"
    assert run("compile", cwd=vault).code == 0
    assert digests(wiki, ("retain",)) == before
    assert {Path(path).stem.casefold() for path in sources(vault)} == {"cache", "latency", "rigging", "anchors"}
    cards = "".join(deck.read_text() for deck in (vault / "learning/flashcards").glob("*.md"))
    assert "What is a cache?" in cards and "budget" not in cards
    assert "Capstan" in run("gaps", "list", "--json", cwd=vault).stdout
    assert run("verify", cwd=vault).code == 0
    again = run("init", "wiki-of-another", "--adopt")
    assert again.code == 0 and "nothing was written" in again.stderr
    assert run("compile", "--json", cwd=vault).json()["written"] == []
    assert digests(wiki, ("retain",)) == before


def test_documents_in_raw_and_notes_in_place_are_compiled_together(run: Run, notes: Path) -> None:
    adopted(run, notes)
    assert run("add", *(str(p) for p in sorted(DOCUMENTS.iterdir())), cwd=notes).code == 0
    assert run("compile", cwd=notes).code == 0
    assert {"raw/articles/spacing.md", "raw/articles/testing.md", "Caches.md"} <= sources(notes)
