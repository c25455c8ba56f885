"""Articles that an agent wrote: they stay as the agent's, sentences without evidence are marked, what acts goes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from compiler.agents import articles
from compiler.agents.inert import markdown_fault
from compiler.agents.record import reject
from tests.compiler.agent_scene import OTHER, PAGE, SOUND, TESTING, Scene, kept, quarantined, why
from vault.model.frontmatter import human_edited, read_properties

EASIER = "every successful recall makes the next recall easier"


def cited(scene: Scene, sentence: str = SOUND) -> str:
    return f"{sentence} {scene.claim(EASIER)} {scene.claim('instead of reading')}"


def test_a_sound_page_stays_and_is_no_edit_of_the_humans(scene: Scene) -> None:
    settled = scene.agent(lambda: scene.add(PAGE, f"## Overview\n\n- {cited(scene)}"))
    assert kept(settled) == {("page", PAGE)} and settled.clean
    assert SOUND in scene.text(PAGE) and not human_edited(scene.text(PAGE))
    assert scene.verify().clean
    built = scene.compile()
    assert SOUND in scene.text(PAGE) and built.agent == {"pages": 1}
    assert not scene.there(f"output/proposals/{PAGE}")
    assert scene.verify().clean


def test_a_kept_page_is_rebuilt_byte_for_byte_from_the_ledgers(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    scene.compile()
    before = scene.tree("ledger/builds")
    for path in [PAGE, OTHER]:
        (scene.root / path).unlink()
    scene.rebuild()
    assert scene.tree("ledger/builds") == before
    assert SOUND in scene.text(PAGE)


def test_settling_and_the_next_build_write_the_same_bytes(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    left = scene.text(PAGE)
    scene.compile()
    assert scene.text(PAGE) == left


def unsupported(scene: Scene, path: str = PAGE) -> str:
    return read_properties(scene.text(path)).text("unsupported")


def test_sentences_without_evidence_are_kept_marked_and_listed(scene: Scene) -> None:
    """In the report of the run, in the article's properties, and by `retain verify`, until the agent cites a claim."""
    bare, unknown = "Recall is a fine thing.", f"{SOUND} [[{TESTING}#^c-0000000000|1]]"
    beyond = f"Every successful recall makes the brain grow. {scene.claim(EASIER)}"
    before = scene.text(PAGE).rstrip("\n").count("\n")
    settled = scene.agent(lambda: scene.add(PAGE, f"{bare}\n\n{unknown}\n\n{beyond}\n\n{cited(scene)}"))
    assert kept(settled) == {("page", PAGE)} and settled.clean
    reasons = ["cites nothing", "is not in wiki/summaries/testing.md", "does not support it"]
    assert [words for each, words in zip(settled.unsupported, reasons, strict=True) if words in each.why] == reasons
    lines = scene.text(PAGE).split("\n")
    assert [lines[each.line - 1] for each in settled.unsupported] == [bare, unknown, beyond] and before < len(lines)
    assert unsupported(scene) == "3" and read_properties(scene.text(PAGE)).text("written_by") == "agent"
    found = scene.verify().uncited
    assert [(f["path"], f["line"]) for f in found] == [(each.path, each.line) for each in settled.unsupported]
    assert not human_edited(scene.text(PAGE))
    left = scene.text(PAGE)
    scene.compile()
    assert scene.text(PAGE) == left

    def mend(text: str) -> str:
        return text.replace(f"{bare}\n\n", "").replace(f"{unknown}\n\n", "").replace(f"{beyond}\n\n", "")

    settled = scene.agent(lambda: scene.write(PAGE, mend(left)))
    assert settled.unsupported == [] and unsupported(scene) == "0" and scene.verify().clean


def test_a_sentence_whose_claim_is_gone_is_marked_by_the_next_compile(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    assert unsupported(scene) == "0"
    gone = "Retrieval practice strengthens memory because every successful recall makes the next recall easier.\n"
    scene.change("raw/articles/testing.md", gone, "")
    built = scene.compile()
    assert SOUND in scene.text(PAGE) and built.agent["pages"] == 1
    assert int(unsupported(scene)) >= 1 and any(SOUND[:20] in f["id"] for f in scene.verify().uncited)


def test_a_page_that_was_taken_back_leaves_no_mark(scene: Scene) -> None:
    machine = scene.text(PAGE)
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    reject(scene.vault, PAGE, scene.now())
    scene.compile()
    assert scene.text(PAGE) == machine


def test_a_page_forged_in_the_ledger_does_not_act(scene: Scene) -> None:
    """Should a cage leak: a build believes no line of a ledger more than the agent itself."""
    machine = scene.text(PAGE)
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    ledger = next(scene.root.glob("ledger/replies/*.jsonl"))
    forged = ledger.read_text().replace(SOUND, f"<img src=x> {SOUND}")
    ledger.write_text(forged)
    scene.compile()
    assert scene.text(PAGE) == machine
    ledger.write_text(forged.replace("<img src=x> ", "").replace(SOUND, f"```dataviewjs\\nx\\n```\\n\\n{SOUND}"))
    scene.compile()
    assert scene.text(PAGE) == machine
    ledger.write_text(forged.replace("<img src=x> ", ""))
    scene.compile()
    assert SOUND in scene.text(PAGE)


def test_sources_that_only_the_agent_cites_come_last_and_code_numbers_them(scene: Scene) -> None:
    far = scene.claim("The spacing effect is an effect", "wiki/summaries/spacing").replace("|1]]", "|9]]")
    sentence = f"The spacing effect is an effect by which reviews spread over days are remembered longer. {far}"
    settled = scene.agent(lambda: scene.add(PAGE, sentence))
    assert kept(settled) == {("page", PAGE)}
    sources = read_properties(scene.text(PAGE)).texts("sources")
    assert [s.partition("|")[0] for s in sources] == ["[[wiki/summaries/testing", "[[wiki/summaries/spacing"]
    assert far.replace("|9]]", "|2]]") in scene.text(PAGE)
    scene.compile()
    assert far.replace("|9]]", "|2]]") in scene.text(PAGE) and scene.verify().clean


FAR = "The spacing effect is an effect by which reviews spread over days are remembered longer."


def _without_far(scene: Scene) -> None:
    text = scene.text(PAGE)
    scene.write(PAGE, text[: text.index(FAR)] + text[text.index(SOUND) :])


def test_a_source_that_a_later_run_no_longer_cites_leaves_the_page(scene: Scene) -> None:
    far = scene.claim("The spacing effect is an effect", "wiki/summaries/spacing")
    scene.agent(lambda: scene.add(PAGE, f"{FAR} {far}\n\n{cited(scene)}"))
    settled = scene.agent(lambda: _without_far(scene))
    assert kept(settled) == {("page", PAGE)}
    scene.compile()
    left = scene.text(PAGE)
    assert [s.partition("|")[0] for s in read_properties(left).texts("sources")] == ["[[wiki/summaries/testing"]


def test_a_source_that_is_gone_keeps_its_number_and_one_that_a_human_took_out_comes_back(scene: Scene) -> None:
    third = "raw/articles/a-third.md"
    said = "Retrieval practice is the act of calling facts to mind, which makes the next attempt to recall them easier."
    scene.write(third, f"# Calling to mind\n\n{said}\n")
    scene.compile()
    assert len(read_properties(scene.text(PAGE)).texts("sources")) == 2
    (scene.root / third).unlink()
    scene.compile()
    listed = read_properties(scene.text(PAGE)).texts("sources")
    assert listed[1] == f"{third} (gone)"
    scene.change(PAGE, f'  - "{listed[0]}"\n', "")
    far = scene.claim("The spacing effect is an effect", "wiki/summaries/spacing")
    settled = scene.agent(lambda: scene.add(PAGE, f"{cited(scene)}\n\n{FAR} {far}"))
    assert kept(settled) == {("page", PAGE)}, why(settled)
    scene.compile()
    left = scene.text(PAGE)
    assert read_properties(left).texts("sources")[:2] == listed and far.replace("|1]]", "|3]]") in left


def test_properties_are_codes_and_a_humans_own_stay(scene: Scene) -> None:
    scene.change(PAGE, "tags: []", "tags: []\nmine: yes, mine")
    scene.compile()

    def work() -> None:
        scene.add(PAGE, cited(scene))
        scene.change(PAGE, "tags: []", "tags:\n  - theirs")
        scene.change(PAGE, "mine: yes, mine", "learning: false")

    settled = scene.agent(work)
    assert kept(settled) == {("page", PAGE)}
    scene.compile()
    assert "theirs" not in scene.text(PAGE) and "learning:" not in scene.text(PAGE)
    assert "mine: yes, mine" in scene.text(PAGE)


def test_a_new_page_of_an_agents_gets_its_properties_from_code(scene: Scene) -> None:
    path = "wiki/topics/recall-and-memory.md"
    body = f"# Recall and memory\n\n{cited(scene)}\n\n- [[wiki/concepts/retrieval-practice|Retrieval practice]]\n"
    settled = scene.agent(lambda: scene.write(path, f"---\nconfidence: high\ntype: topic\n---\n{body}"))
    assert kept(settled) == {("page", path)}, why(settled)
    found = read_properties(scene.text(path))
    assert (found.text("type"), found.text("title"), found.text("confidence")) == ("topic", "Recall and memory", "low")
    assert len(found.text("id")) == 10 and not human_edited(scene.text(path))
    left = scene.text(path)
    scene.compile()
    assert scene.text(path) == left and scene.verify().clean
    (scene.root / path).unlink()
    scene.rebuild()
    assert scene.text(path) == left


def test_index_pages_list_what_the_sources_say_and_no_page_that_is_an_agents_alone(scene: Scene) -> None:
    """As docs/guard.md says: what settling leaves there is what every later build would write."""
    paths = ("wiki/_index.md", "wiki/_concepts.md", "wiki/_graph.md")
    before = [scene.text(path) for path in paths]
    new = {"wiki/topics/recall-and-memory.md": "Recall and memory", "wiki/concepts/recall.md": "Recall"}

    def work() -> None:
        for path, title in new.items():
            scene.write(path, f"# {title}\n\n{cited(scene)}\n")

    settled = scene.agent(work)
    assert kept(settled) == {("page", path) for path in new}, why(settled)
    assert [scene.text(path) for path in paths] == before
    assert not {e.get("id") for e in scene.events()} & {read_properties(scene.text(p)).text("id") for p in new}
    scene.compile()
    assert [scene.text(path) for path in paths] == before
    for path in paths:
        (scene.root / path).unlink()
    scene.rebuild()
    assert [scene.text(path) for path in paths] == before


def test_a_page_that_the_human_had_edited_stays_the_humans(scene: Scene) -> None:
    scene.add(PAGE, "> [!human]\n> I doubt this.")
    theirs = scene.text(PAGE)
    settled = scene.agent(lambda: scene.add(PAGE, cited(scene)))
    assert scene.text(PAGE) == theirs and "the user edited this page" in why(settled)
    assert SOUND in scene.text(settled.quarantined[0].where)


def test_an_edit_by_the_human_after_the_run_is_the_humans_again(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    scene.add(PAGE, "> [!human]\n> And I agree.")
    theirs = scene.text(PAGE)
    scene.compile()
    assert scene.text(PAGE) == theirs


def test_of_two_runs_the_later_page_stands(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    second = "Successful recall makes the next recall easier."
    scene.agent(lambda: scene.change(PAGE, SOUND, second))
    scene.compile()
    assert second in scene.text(PAGE) and SOUND not in scene.text(PAGE)


def test_a_new_page_that_a_second_agent_adds_to_stays_an_agents_page(scene: Scene) -> None:
    path = "wiki/concepts/recall.md"
    scene.agent(lambda: scene.write(path, f"# Recall\n\n{cited(scene)}\n"))
    id_ = read_properties(scene.text(path)).text("id")
    second = "Successful recall makes the next recall easier."
    settled = scene.agent(lambda: scene.add(path, f"{second} {scene.claim(EASIER)}"))
    assert kept(settled) == {("page", path)}, why(settled)
    left = scene.text(path)
    built = scene.compile()
    assert scene.text(path) == left and SOUND in left and second in left
    assert read_properties(left).text("id") == id_ and read_properties(left).text("title") == "Recall"
    assert not scene.there(f"output/proposals/{path}") and built.agent["pages"] == 1
    assert scene.verify().clean


def test_the_later_run_wins_though_the_clock_went_back(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    scene.clock -= timedelta(hours=5)
    second = "Successful recall makes the next recall easier."
    scene.agent(lambda: scene.change(PAGE, SOUND, second))
    scene.clock += timedelta(hours=6)
    scene.compile()
    assert second in scene.text(PAGE) and SOUND not in scene.text(PAGE)


def test_words_of_the_machines_own_are_no_page_of_an_agents(scene: Scene) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: scene.change(PAGE, "tags: []", "tags:\n  - x"))
    assert kept(settled) == set() and scene.tree("ledger/replies") == before


def test_a_deleted_page_comes_back(scene: Scene) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: (scene.root / PAGE).unlink())
    assert [(r.path, r.why) for r in settled.restored] == [(PAGE, "it was deleted")]
    assert scene.tree("ledger/replies") == before


Bad = Callable[[Scene], None]


def _appended(text: str) -> Bad:
    return lambda scene: scene.add(PAGE, text.replace("@", cited(scene)))


BAD: dict[str, tuple[Bad, str]] = {
    "the human's mark": (_appended("> [!human]\n> Memory is cheese.\n\n@"), "only the user or retain may write"),
    "a plugin's code": (_appended("@\n\n```dataviewjs\nx\n```"), "which a plugin may run"),
    "a query": (_appended("@ `= this.file`"), "code that a plugin would run"),
    "a template": (_appended("@ <% tp.file %>"), "a template"),
    "HTML": (_appended("@ <img src=x onerror=alert(1)>"), "HTML"),
    "HTML behind escaped code": (_appended("@ \\`<script>x</script>\\`"), "HTML"),
    "a picture from outside": (_appended("@ ![recall](http://x/y.png)"), "an external picture"),
    "an embed from outside": (_appended("@ ![[https://x.org/y.png]]"), "an embedded external page"),
    "a command link": (_appended("@ [recall](obsidian://open)"), "a link with active content"),
    "a bare command link": (_appended("@ obsidian://open"), "an address"),
    "a forged anchor": (_appended("@\n^c-7f3a9c1e2k"), "only the user or retain"),
    "an embed of insights": (_appended("@\n\n![[insights/mine]]"), "a link to insights/"),
    "a link to insights": (_appended("@\n\n- [[../insights/mine|recall]]"), "a link to insights/"),
    "hidden text": (_appended("@ re\u200bcall"), "hidden or control"),
    "turned text": (_appended("@ \u202erecall"), "hidden or control"),
    "conflict markers": (_appended("<<<<<<< a\n@\n=======\n@\n>>>>>>> b"), "conflict markers"),
    "not text": (lambda s: s.write(PAGE, b"# \xff\xfe"), "not UTF-8"),
    "endless": (lambda s: s.add(PAGE, " " * 50_000 + "x"), "a line of more than"),
    "endless marks": (lambda s: s.add(PAGE, "- " * 2_000 + "|" * 600), "a very long run"),
    "too large": (lambda s: s.write(PAGE, "word\n" * (1 << 19)), "more than 2 MiB"),
    "a name that is no slug": (
        lambda s: s.write("wiki/topics/My Page.md", f"# Recall\n\n{cited(s)}\n"),
        "not in the required form",
    ),
    "a name of retain's": (
        lambda s: s.write("wiki/topics/spacing-effect.md", f"# Recall\n\n{cited(s)}\n"),
        "used for a page that retain wrote",
    ),
    "a folder of its own": (
        lambda s: s.write("wiki/concepts/mine/recall.md", f"# Recall\n\n{cited(s)}\n"),
        "files of this kind",
    ),
    "another kind of file": (lambda s: s.write("wiki/concepts/recall.canvas", "{}"), "files of this kind"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_may_not_stay_is_quarantined_and_the_old_page_is_back(scene: Scene, name: str) -> None:
    before = scene.tree()
    bad, words = BAD[name]
    settled = scene.agent(lambda: bad(scene))
    assert words in why(settled), why(settled)
    assert scene.tree("ledger/replies", "output/quarantine") == before
    assert kept(settled) == set()
    one = settled.quarantined[0]
    assert scene.there(one.where) and one.path in scene.text(settled.report)


def test_the_identity_of_a_page_is_retains(scene: Scene) -> None:
    """Whatever an agent puts into the properties, and whichever page it copies."""
    machine, other = read_properties(scene.text(PAGE)), "wiki/concepts/copy.md"
    given = {
        "tags: []": "tags: [",
        "id: ntyd1jfn1x": "id: hdd3k1avrv",
        "type: concept": "type: topic",
        "confidence: low": "confidence: high",
    }

    def work() -> None:
        scene.write(other, scene.text(PAGE))
        for old, new in given.items():
            scene.change(PAGE, old, new)
        scene.add(PAGE, cited(scene))

    settled = scene.agent(work)
    assert kept(settled) == {("page", PAGE), ("page", other)}
    found = read_properties(scene.text(PAGE))
    assert [found.text(k) for k in ("id", "type", "title")] == [machine.text(k) for k in ("id", "type", "title")]
    assert found.text("confidence") != "high"
    assert read_properties(scene.text(other)).text("id") not in ("", machine.text("id"))


def test_what_was_quarantined_is_read_by_nothing(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, "Cheese. <% x %>\n\n```dataviewjs\nalert(1)\n````\n![[insights/mine]]"))
    inside = next(scene.root.glob("output/quarantine/*/wiki/concepts/*.md")).read_text()
    assert "<%" not in inside
    assert markdown_fault(inside) is None
    assert scene.compile().failures == [] and scene.verify().clean


@pytest.mark.parametrize("check", ["unreadable", "markdown_fault"])
def test_without_its_check_what_acts_would_stay(scene: Scene, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {"unreadable": "re\u200bcall", "markdown_fault": "<img src=x>"}[check]
    second = Scene.copied(scene.root, scene.root.with_name("second"))
    assert quarantined(scene.agent(lambda: scene.add(PAGE, bad))) == {PAGE}
    monkeypatch.setattr(articles, check, lambda *_: None)
    assert quarantined(second.agent(lambda: second.add(PAGE, bad))) == set()
