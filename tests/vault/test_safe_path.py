"""Names and places: what each scope may write, and which names never pass."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import Refused
from vault.files.write_scopes import (
    Scope,
    beside,
    is_append_only,
    is_conflict_copy,
    is_within,
    makeable,
    skeleton,
    split,
    writable,
)
from vault.ids import slug

ALLOWED = {
    Scope.AGENT: [
        "wiki/_index.md",
        "wiki/concepts/kv-cache.md",
        "wiki/concepts/KV cache 🧠 (draft) #2.md",
        "wiki/concepts/注意力机制.md",
        "wiki/concepts/raw.md",
        "wiki/concepts/insights.md",
        "wiki/summaries/2024 – 50% of it.md",
        "wiki/concepts/می‌خواهم.md",
        "wiki/concepts/👩‍🔬.md",
        "output/reports/x.md",
        "learning/flashcards/kv-cache.md",
        ".retain/work/job-1/text.json",
    ],
    Scope.PUBLISHER: [
        "wiki/topics/a.md",
        "ledger/ids.jsonl",
        "ledger/replies/01J.jsonl",
        "learning/_review.md",
        "learning/gaps.md",
        ".retain/cache/spans.json",
    ],
    Scope.LOG: [
        "learning/reviews.jsonl",
        "learning/reviews-2025.jsonl",
        "learning/_review.md",
        "learning/gaps.md",
        "learning/flashcards/Ho\u0308ren.md",
        "ledger/decisions.jsonl",
        "ledger/edits.jsonl",
        "learning/anki/notes.jsonl",
    ],
    Scope.INBOX: [
        "wiki/concepts/kv-cache.md",
        "output/proposals/wiki/concepts/kv-cache.md",
        "learning/flashcards/Ho\u0308ren.md",
        "output/proposals/learning/flashcards/Ho\u0308ren.md",
        "ledger/decisions.jsonl",
    ],
    Scope.ADD: [
        "raw/articles/#hash [brackets] | pipe.md",
        "raw/-leading-dash.md",
        "raw/U\u0308berblick – Aufmerksamkeit.md",
        "raw/注意力🧠机制.md",
        "raw/name with  two spaces & (parens).md",
        "raw/insights/https%3A%2F%2Fexample.com%2Fa.html",
        "raw/aux.tex",
        "raw/what is it?.",
        "raw/c:drive",
        "raw/family 👩‍👩‍👧‍👦.md",
    ],
    Scope.INIT: [
        "AGENTS.md",
        "retain.toml",
        ".gitignore",
        ".gitattributes",
        "raw/articles/.gitkeep",
        "insights/.gitkeep",
        "wiki/_log.md",
        "ledger/ids.jsonl",
    ],
    Scope.INSIGHT: ["insights/a.md", "insights/ideas/Über das Vergessen?.md"],
    Scope.RESTORE: [
        *("insights/a.md", "insights/deep/b: c.md", "raw/articles/#hash [brackets] | pipe.md"),
        *("insights/.obsidian/app.json", "raw/repos/x/.github/ci.yml", "raw/repos/x/.gitignore"),
    ],
    Scope.RESTORE_PERSONAL: ["a.md", "insights/a.md", ".obsidian/plugins/x/main.js", ".a.md", "learning/reviews.jsonl"],
    Scope.PERSONAL: ["a.md", "journal/2026/11 – 22.md", "insights/a.md", "wiki", "learning/reviews.jsonl"],
    Scope.HOST: [".claude/settings.local.json", ".codex/config.toml"],
    Scope.CONFIG: ["config.toml"],
    Scope.UPGRADE: ["AGENTS.md", "AGENTS.new.md", "retain.toml", ".gitattributes"],
    Scope.STATE: ["copies.sqlite3", "runs/01KA5WQ4Z0000000000000000A.json", "agent-files.json"],
}

# Refused for every scope, but for those that it is the very purpose of.
HOSTILE = [
    "",
    ".",
    "..",
    "/",
    "/etc/passwd",
    "../insights/a.md",
    "wiki/../insights/a.md",
    "wiki/concepts/../../insights/a.md",
    "raw/../insights/a.md",
    "wiki//a.md",
    "wiki/./a.md",
    "wiki/a.md/",
    "wiki",
    "insights/a.md",
    "Insights/a.md",
    "INSIGHTS/a.md",
    "insights./a.md",
    "insights /a.md",
    "INSIGH~1/a.md",
    "insights::$DATA",
    "\u0456nsights/a.md",
    "in\u200bsights/a.md",
    "./insights/a.md",
    "wiki\\..\\insights\\a.md",
    "raw\\..\\insights\\a.md",
    "%2e%2e/insights/a.md",
    "wiki/%2e%2e/a.md",
    "raw/%2e%2e/a.md",
    "raw/%2E%2E%2Finsights/a.md",
    "raw/..\\insights\\a.md",
    "wiki/a\0b.md",
    "raw/a\0b.md",
    "wiki/a\nb.md",
    "raw/a\x1b[31mb.md",
    "raw/a\x7f.md",
    "raw/a\x9bb.md",
    "raw/\u202egpj.md",
    "raw/a\u2028b.md",
    "raw/.git/hooks/pre-commit",
    "raw/.claude/settings.json",
    "raw/" + "a" * 256,
    "raw/" + "ä" * 128,
    "raw/" + "/".join("a" * 40),
    "raw/\udcff.md",
    "wiki/\udcff.md",
    ".git/config",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    ".obsidian/app.json",
    ".codex/config.toml",
    ".retain",
    ".retain-tmp-0123456789abcdef",
    "wiki/.retain-tmp-0123456789abcdef",
    "raw/.retain-tmp-0123456789abcdef",
    "learning/reviews.jsonl/../../insights/a",
    "learning/reviews-../x.jsonl",
    "~/insights/a.md",
    "C:/insights/a.md",
    "file:///etc/passwd",
]

# What is no attack for some scopes: places named letter by letter in their allow-lists; and in the human's own vault,
# which holds no folder of another owner, whatever a human may call a note of theirs.
_IN_THE_HUMANS_OWN = {
    *("wiki", "insights/a.md", "Insights/a.md", "INSIGHTS/a.md", "insights./a.md", "insights /a.md"),
    *("INSIGH~1/a.md", "insights::$DATA", "\u0456nsights/a.md", "in\u200bsights/a.md"),
    *("learning/reviews-../x.jsonl", "~/insights/a.md", "C:/insights/a.md"),
}
MEANT = {
    Scope.INSIGHT: {"insights/a.md"},
    Scope.RESTORE: {"insights/a.md", "raw/.claude/settings.json"},
    Scope.HOST: {".codex/config.toml"},
    Scope.STATE: {"wiki"},  # a name like any other, in the user's state folder
    Scope.PERSONAL: _IN_THE_HUMANS_OWN,
    # What was known to stand there, settings of the human's programs included.
    Scope.RESTORE_PERSONAL: {
        *_IN_THE_HUMANS_OWN,
        *("raw/.claude/settings.json", ".claude/settings.json", ".obsidian/app.json", ".codex/config.toml", ".retain"),
    },
}

# Refused where code makes the names.
UNFIT = [
    "wiki/insights/a.md",
    "wiki/Insights/a.md",
    "wiki/\u0456nsights/a.md",
    "wiki/ins\u0131ghts/a.md",
    "wiki/lnsights/a.md",
    "wiki/i\u0307nsights/a.md",
    "wiki/\uff49\uff4e\uff53\uff49\uff47\uff48\uff54\uff53/a.md",
    "wiki/r\u0430w/a.md",
    "wiki/RAW/a.md",
    "wiki/in\u200bsights/a.md",
    "wiki/\ufeffa.md",
    "wiki/a\u00ad.md",
    "wiki/a\u00a0b.md",
    "wiki/a\u200db.md",
    "wiki/e\u0301.md",
    "wiki/a./b.md",
    "wiki/a /b.md",
    "wiki/ a.md",
    "wiki/a.md.",
    "wiki/a.md ",
    "wiki/con",
    "wiki/CON.md",
    "wiki/nul.tar.gz",
    "wiki/com1.md",
    "wiki/LPT\u00b9.md",
    "wiki/conin$",
    "wiki/INSIGH~1/a.md",
    "wiki/a::$DATA",
    "wiki/a:b.md",
    "wiki/a|b.md",
    "wiki/a*b.md",
    'wiki/a"b.md',
    "wiki/a<b>.md",
    "wiki/a?.md",
    "wiki/%2e%2e.md",
    "wiki/a%2fb.md",
    "wiki/%u002e.md",
    "wiki/\uff0e\uff0e/a.md",
    "wiki/\u2025/a.md",
    "wiki/a\uff0fb.md",
    "wiki/a\uff3cb.md",
    "wiki/a\\b.md",
    "wiki/\ue000.md",
    "wiki/\U000e0041.md",
]


@pytest.mark.parametrize(("scope", "path"), [(s, p) for s, paths in ALLOWED.items() for p in paths])
def test_each_scope_may_write_what_it_is_for(scope: Scope, path: str) -> None:
    assert "/".join(writable(path, scope)) == path


@pytest.mark.parametrize(("scope", "path"), [(s, p) for s in Scope for p in HOSTILE if p not in MEANT.get(s, set())])
def test_no_scope_writes_a_hostile_path(scope: Scope, path: str) -> None:
    with pytest.raises(Refused):
        writable(path, scope)


@pytest.mark.parametrize(("scope", "path"), [(s, p) for s, paths in MEANT.items() for p in sorted(paths)])
def test_what_is_meant_for_a_scope_is_still_a_plain_path_below_its_root(scope: Scope, path: str) -> None:
    assert path in HOSTILE
    assert "/".join(writable(path, scope)) == path
    assert not {"", ".", ".."} & set(writable(path, scope))


def test_each_scope_owns_just_the_human_folders_that_its_allow_list_names() -> None:
    owning = {scope: scope.owns for scope in Scope if scope.owns}
    assert owning == {
        Scope.ADD: {"raw"},
        Scope.INSIGHT: {"insights"},
        Scope.RESTORE: {"insights", "raw"},
        Scope.INIT: {"insights", "raw"},
        Scope.PERSONAL: {"insights", "raw"},
        Scope.RESTORE_PERSONAL: {"insights", "raw"},
    }


def test_who_only_adds_never_replaces() -> None:
    assert {s for s in Scope if not s.replaces} == {Scope.ADD, Scope.INIT, Scope.INSIGHT, Scope.PERSONAL}


@pytest.mark.parametrize("scope", [Scope.AGENT, Scope.PUBLISHER, Scope.INIT])
@pytest.mark.parametrize("path", UNFIT)
def test_code_does_not_make_a_name_that_some_disk_or_eye_mistakes(scope: Scope, path: str) -> None:
    with pytest.raises(Refused):
        writable(path, scope)


DENIED = {
    Scope.AGENT: [
        "ledger/ids.jsonl",
        "learning/_review.md",
        "learning/gaps.md",
        ".retain/locks/x.lock",
        "learning/x.md",
    ],
    Scope.PUBLISHER: ["learning/x.md", "learning/x.jsonl", "output.md", "learning/anki/notes.jsonl", "tests/a.py"],
    Scope.LOG: [
        "wiki/_log.md",
        "output/a.md",
        "learning/reviews-.jsonl",
        "learning/reviews-20255.jsonl",
        "learning/deep/reviews.jsonl",
        "learning/anki/reviews.jsonl",
        "learning/a.md",
    ],
    Scope.INBOX: ["wiki/_log.md", "output/reports/a.md", "learning/reviews.jsonl", "learning/gaps.md", "raw/a.md"],
    Scope.ADD: ["wiki/a.md", "output/a.md", "learning/a.md", "ledger/ids.jsonl", ".retain/x", "raw", "raws/a.md"],
    Scope.INIT: ["insights/a.md", ".obsidian/app.json", "src/a.py", "Makefile", "AGENTS.md.bak", "agents.md"],
    Scope.INSIGHT: ["raw/a.md", "wiki/a.md", "insights", "insights/.obsidian/app.json", "Insights/a.md", "a.md"],
    Scope.RESTORE: ["wiki/a.md", "ledger/ids.jsonl", "insights/.git/config", "raw/.retain-tmp-00", "AGENTS.md"],
    Scope.PERSONAL: [".obsidian/app.json", ".git/config", "notes/.git/config", ".trash/a.md", ".a.md", "a/../b.md"],
    Scope.RESTORE_PERSONAL: [".git/config", "notes/.GIT/config", ".git./x", "a/../b.md", ".retain-tmp-00", "a\nb.md"],
    Scope.HOST: [
        *(".git/config", ".git/hooks/post-commit", ".git/hooks/pre-commit", ".claude/settings.json"),
        *(".claude/hooks/x.sh", ".codex/auth.json", ".obsidian/app.json", "settings.json", "insights/a.md"),
    ],
    Scope.UPGRADE: ["AGENTS.old.md", "agents.md", "CLAUDE.md", "wiki/AGENTS.md", ".gitignore", "ledger/ids.jsonl"],
    Scope.CONFIG: ["config.toml.bak", "x/config.toml", "insights/a.md", "copies.sqlite3"],
    Scope.STATE: ["insights/a.md", "r\u0430w/a.md", "CON", "runs/a:b.json", ".ssh/config", "runs/%2e%2e/a"],
}


@pytest.mark.parametrize(("scope", "path"), [(s, p) for s, paths in DENIED.items() for p in paths])
def test_what_a_scope_is_not_for_is_refused(scope: Scope, path: str) -> None:
    with pytest.raises(Refused):
        writable(path, scope)


@pytest.mark.parametrize("scope", [Scope.AGENT, Scope.PUBLISHER])
@pytest.mark.parametrize(
    "path", ["learning/reviews.jsonl", "learning/reviews-2025.jsonl", "raw/a.md", "AGENTS.md", "retain.toml"]
)
def test_neither_agent_nor_publisher_writes_the_review_log_the_sources_or_the_schema(scope: Scope, path: str) -> None:
    with pytest.raises(Refused):
        writable(path, scope)


def test_a_refusal_says_whose_folder_it_is_and_shows_no_control_character() -> None:
    with pytest.raises(Refused) as caught:
        writable("insights/\x1b]0;owned\x07a.md", Scope.AGENT)
    assert "insights/ belongs to you" in str(caught.value)
    assert "\x1b" not in str(caught.value) and "\x07" not in str(caught.value)


def test_folders_are_made_where_files_may_go_and_on_the_way_there_only() -> None:
    assert makeable("learning", Scope.AGENT) == ("learning",)
    assert makeable("learning/flashcards", Scope.AGENT) == ("learning", "flashcards")
    assert makeable("wiki/a/b", Scope.AGENT) == ("wiki", "a", "b")
    assert makeable("insights", Scope.INIT) == ("insights",)
    for path, scope in [
        ("insights", Scope.AGENT),
        ("raw", Scope.PUBLISHER),
        ("learning/other", Scope.LOG),
        ("insights/deep", Scope.INIT),
        ("wiki", Scope.ADD),
        ("learning/_review.md", Scope.AGENT),
        ("wiki/raw", Scope.AGENT),
    ]:
        with pytest.raises(Refused):
            makeable(path, scope)


def test_logs_and_ledgers_only_grow() -> None:
    for log in ("learning/reviews.jsonl", "learning/anki/notes.jsonl", "ledger/replies/x.jsonl"):
        assert is_append_only(tuple(log.split("/")))
    assert not is_append_only(("learning", "gaps.md")) and not is_append_only((".retain", "work", "x.jsonl"))


@given(st.text(max_size=80))
def test_every_slug_is_a_name_the_guard_takes(title: str) -> None:
    path = f"wiki/concepts/{slug(title)}.md"
    assert writable(path, Scope.AGENT)[-1] == f"{slug(title)}.md"


_PIECES = st.sampled_from(
    [
        "..",
        ".",
        "",
        "insights",
        "raw",
        "wiki",
        "/",
        "\\",
        "%2e",
        "%2F",
        "~",
        "\0",
        "\u202e",
        "\u200b",
        "learning",
        "a",
        ":",
    ]
)


@given(
    st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=8).map("/".join) | st.text(max_size=30),
    st.sampled_from(Scope),
)
def test_what_passes_lies_in_a_granted_place_and_has_no_dots(path: str, scope: Scope) -> None:
    try:
        parts = writable(path, scope)
    except Refused:
        return
    assert "/".join(parts) == path
    assert not {"", ".", ".."} & set(parts) and "\0" not in path
    assert any(grant.covers(parts) for grant in scope.value)
    if not scope.owns:
        assert skeleton(parts[0]) not in {skeleton("insights"), skeleton("raw")}


@given(st.sampled_from(["insights", "raw"]), st.data())
def test_a_look_alike_has_the_skeleton_of_what_it_looks_like(name: str, data: st.DataObject) -> None:
    alike = {"i": "iIl1\u0456\u0130\u0131", "n": "nN\u0578", "s": "sS\u0455", "g": "gG\u0261", "h": "hH\u04bb"}
    alike |= {"t": "tT\u0442", "r": "rR\u0433", "a": "aA\u0430\u0391", "w": "wW\u0461"}
    unseen = st.sampled_from(["", "\u200b", "\u0301", "\u2060"])
    seen = "".join(data.draw(st.sampled_from(alike[c])) + data.draw(unseen) for c in name)
    assert skeleton(seen + data.draw(st.sampled_from(["", ".", " ", ". ."]))) == skeleton(name)


@pytest.mark.parametrize("name", ["insight", "draw", "raws", "in-sights", "concepts", "row", "weight"])
def test_other_names_do_not(name: str) -> None:
    assert skeleton(name) not in {skeleton("insights"), skeleton("raw")}


@given(st.text(max_size=30))
def test_splitting_is_the_inverse_of_joining_or_refuses(path: str) -> None:
    try:
        parts = split(path)
    except Refused:
        return
    assert "/".join(parts) == path


DAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        ("kv-cache.md", 1, "kv-cache.conflict-2026-11-22.md"),
        ("kv-cache.md", 12, "kv-cache.conflict-2026-11-22-12.md"),
        ("a.tar.gz", 2, "a.tar.conflict-2026-11-22-2.gz"),
        ("plain", 1, "plain.conflict-2026-11-22"),
        ("注" * 84 + ".md", 1, "注" * 77 + ".conflict-2026-11-22.md"),
    ],
)
def test_another_version_of_a_file_is_laid_beside_it_under_a_name_that_tells(
    name: str, number: int, expected: str
) -> None:
    assert beside(name, DAY, number) == expected
    assert is_conflict_copy(expected) and not is_conflict_copy(name)
    assert writable(f"wiki/concepts/{expected}", Scope.AGENT)


def test_a_version_may_be_laid_beside_each_page_that_the_publisher_writes() -> None:
    for page in ("_review", "gaps", "reading-list"):
        assert writable(f"learning/{beside(page + '.md', DAY)}", Scope.PUBLISHER)
    for name in ("gaps.conflict-.md", "gaps.conflict-2026-11-22-1234.md", "x.conflict-2026-11-22.md", "gaps.md.md"):
        with pytest.raises(Refused):
            writable(f"learning/{name}", Scope.PUBLISHER)


@given(st.text(max_size=40), st.dates(), st.integers(1, 999))
def test_no_slug_is_taken_for_a_version_laid_beside(title: str, day: date, number: int) -> None:
    name = f"{slug(title)}.md"
    assert not is_conflict_copy(name) and is_conflict_copy(beside(name, day, number))
    assert writable(f"wiki/{beside(name, day, number)}", Scope.AGENT)


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/b/c/d", "/a/b/", True),
        ("/a/bc", "/a/b", False),
        ("/a", "/a/b", False),
        ("/a/b", "/", True),
        ("/", "/", True),
        ("/a/B/c", "/a/b", False),
    ],
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_is_within(path: str, folder: str, inside: bool, on_disk: bool) -> None:
    assert is_within(path, folder, on_disk=on_disk) is inside
    assert is_within(Path(path), Path(folder), on_disk=on_disk) is inside


def test_is_within_on_disk_resolves_links(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    assert is_within(link / "sub", real, on_disk=True)
    assert is_within(real / "sub" / "not yet there", link, on_disk=True)
    assert not is_within(link / "sub", real)
