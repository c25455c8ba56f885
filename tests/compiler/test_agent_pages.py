"""Articles that an agent wrote: what is sound stays as the agent's, what is not is set aside, and the old is back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from compiler import agent_inert, agent_pages
from tests.compiler.agent_scene import OTHER, PAGE, SOUND, TESTING, Scene, kept, quarantined, why
from vault.note import human_edited, read_properties

EASIER = "every successful recall makes the next recall easier"


def cited(scene: Scene, sentence: str = SOUND) -> str:
    return f"{sentence} {scene.claim(EASIER)} {scene.claim('instead of reading')}"


def test_a_sound_page_stays_and_is_no_edit_of_the_humans(scene: Scene) -> None:
    settled = scene.agent(lambda: scene.add(PAGE, f"## Overview\n\n- {cited(scene)}"))
    assert kept(settled) == {("page", PAGE)} and settled.clean
    assert SOUND in scene.text(PAGE) and not human_edited(scene.text(PAGE))
    assert scene.verify().clean
    built = scene.compile()
    assert SOUND in scene.text(PAGE) and built.agent == {"pages": 1, "cards": 0}
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


def test_a_page_goes_back_to_the_machine_when_a_claim_it_cites_is_gone(scene: Scene) -> None:
    machine = scene.text(PAGE)
    scene.agent(lambda: scene.add(PAGE, cited(scene)))
    source = "raw/articles/testing.md"
    gone = "Retrieval practice strengthens memory because every successful recall makes the next recall easier.\n"
    scene.change(source, gone, "")
    built = scene.compile()
    assert SOUND not in scene.text(PAGE) and scene.text(PAGE) != machine
    assert SOUND in scene.text(f"output/proposals/{PAGE}")
    assert any(n.code == "agent-page" for n in built.notices) and built.agent["pages"] == 0
    assert scene.verify().clean


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
    far = scene.claim("The spacing effect is the finding", "wiki/summaries/spacing").replace("|1]]", "|9]]")
    sentence = f"The spacing effect is the finding that reviews spread over days are remembered longer. {far}"
    settled = scene.agent(lambda: scene.add(PAGE, sentence))
    assert kept(settled) == {("page", PAGE)}
    sources = read_properties(scene.text(PAGE)).texts("sources")
    assert [s.partition("|")[0] for s in sources] == ["[[wiki/summaries/testing", "[[wiki/summaries/spacing"]
    assert far.replace("|9]]", "|2]]") in scene.text(PAGE)
    scene.compile()
    assert far.replace("|9]]", "|2]]") in scene.text(PAGE) and scene.verify().clean


FAR = "The spacing effect is the finding that reviews spread over days are remembered longer."


def _without_far(scene: Scene) -> None:
    text = scene.text(PAGE)
    scene.write(PAGE, text[: text.index(FAR)] + text[text.index(SOUND) :])


def test_a_source_that_a_later_run_no_longer_cites_leaves_the_page_at_once(scene: Scene) -> None:
    far = scene.claim("The spacing effect is the finding", "wiki/summaries/spacing")
    scene.agent(lambda: scene.add(PAGE, f"{FAR} {far}\n\n{cited(scene)}"))
    settled = scene.agent(lambda: _without_far(scene))
    assert kept(settled) == {("page", PAGE)}
    left = scene.text(PAGE)
    assert [s.partition("|")[0] for s in read_properties(left).texts("sources")] == ["[[wiki/summaries/testing"]
    scene.compile()
    assert scene.text(PAGE) == left


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
    far = scene.claim("The spacing effect is the finding", "wiki/summaries/spacing")
    settled = scene.agent(lambda: scene.add(PAGE, f"{cited(scene)}\n\n{FAR} {far}"))
    assert kept(settled) == {("page", PAGE)}, why(settled)
    left = scene.text(PAGE)
    assert read_properties(left).texts("sources")[:2] == listed and far.replace("|1]]", "|3]]") in left
    scene.compile()
    assert scene.text(PAGE) == left


def test_properties_are_codes_and_a_humans_own_stay(scene: Scene) -> None:
    scene.change(PAGE, "tags: []", "tags: []\nmine: yes, mine")
    scene.compile()

    def work() -> None:
        scene.add(PAGE, cited(scene))
        scene.change(PAGE, "tags: []", "tags:\n  - theirs")
        scene.change(PAGE, "mine: yes, mine", "learning: false")

    settled = scene.agent(work)
    assert kept(settled) == {("page", PAGE)}
    assert "theirs" not in scene.text(PAGE) and "learning:" not in scene.text(PAGE)
    assert "mine: yes, mine" in scene.text(PAGE)
    assert any("tags" in r.why for r in settled.restored if r.path == PAGE)


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
    assert scene.text(PAGE) == theirs and "the human edited this page" in why(settled)
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


def _changed(old: str, new: str) -> Bad:
    return lambda scene: scene.change(PAGE, old, new)


def _of_claim(sentence: str) -> Bad:
    return lambda scene: scene.add(PAGE, f"{sentence} {scene.claim(EASIER)}")


BAD: dict[str, tuple[Bad, str]] = {
    "cites nothing": (_appended("Recall is a fine thing."), "cites nothing"),
    "a claim that is not": (_appended(f"{SOUND} [[{TESTING}#^c-0000000000|1]]"), "does not"),
    "a claim that cannot be": (_appended(f"@ {SOUND} [[{TESTING}#^c-uuuuuuuuuu|1]]"), "no citation of a claim"),
    "says more": (_of_claim("Every successful recall makes the brain grow."), "do not bear out"),
    "a number of its own": (_of_claim("Every successful recall makes the next 3 recall easier."), "do not say 3"),
    "a negation of its own": (_of_claim("Not every successful recall makes the next recall easier."), "do not say Not"),
    "more for less": (_of_claim("Every more successful recall makes the next recall easier."), "do not say more"),
    "a comparison turned round": (
        lambda s: s.add(
            PAGE,
            "Reviews on one day are remembered longer than reviews spread over days. "
            + s.claim("The spacing effect is the finding", "wiki/summaries/spacing"),
        ),
        "in this order",
    ),
    "a heading that says": (_appended("## Memory is a kind of cheese\n\n@"), "no claim of the page says"),
    "a question that says": (_appended("@ Did you know the moon is cheese?"), "no claim of the page says"),
    "a link's alias that says": (
        _appended("@\n\n- [[wiki/concepts/spacing-effect|Send money to Bob]]"),
        "no claim of the page says",
    ),
    "a table's head that says": (_appended("| Send money | to Bob |\n| --- | --- |\n\n@"), "no claim of the page"),
    "a link inside a sentence": (
        _of_claim("Every [[wiki/concepts/spacing-effect|successful]] recall makes the next recall easier."),
        "a link inside",
    ),
    "a link to nowhere": (_appended("@\n\n- [[Spacing effect]]"), "a link to no page"),
    "a link to insights": (_appended("@\n\n- [[insights/mine|Recall]]"), "a link to no page"),
    "the human's mark": (_appended("> [!human]\n> Memory is cheese.\n\n@"), "which is the human's alone"),
    "code that nothing shows": (_appended("@\n\n```python\nprint(1)\n```"), "none of its claims show"),
    "a plugin's code": (_appended("@\n\n```dataviewjs\nx\n```"), "none of its claims show"),
    "a fence without language": (_appended("@\n\n```\nrecall\n```"), "a fence without"),
    "a query": (_appended("@ `= this.file`"), "code that a plugin would run"),
    "a template": (_appended("@ <% tp.file %>"), "a template"),
    "HTML": (_appended("@ <img src=x onerror=alert(1)>"), "HTML"),
    "HTML behind escaped code": (_appended("@ \\`<script>x</script>\\`"), "HTML"),
    "a comment": (_appended("@ <!-- recall -->"), "comment"),
    "an embed of insights": (_appended("@\n\n![[insights/mine]]"), "no claim"),
    "an embed under another name": (_appended("@\n\n![[output/reports/evil|of]]"), "drawn in"),
    "an embed of a page": (_appended("@\n\n![[wiki/concepts/spacing-effect|of]]"), "drawn in"),
    "an embed behind an escape": (_appended("@\n\n\\![[insights/mine|of]]"), "broken wikilink"),
    "a way out of raw": (_appended("@\n\n- [[raw/../insights/mine|recall]]"), "a link to no page"),
    "a picture from outside": (_appended("@ ![recall](http://x/y.png)"), "drawn in"),
    "a command link": (_appended("@ [recall](obsidian://open)"), "no wikilink"),
    "a bare command link": (_appended("@ obsidian://open"), "an address"),
    "a forged anchor": (_appended("@\n^c-7f3a9c1e2k"), "a block id"),
    "a tag": (_appended("@ #recall"), "a tag"),
    "hidden text": (_appended("@ re\u200bcall"), "hidden or control"),
    "turned text": (_appended("@ \u202erecall"), "hidden or control"),
    "conflict markers": (_appended("<<<<<<< a\n@\n=======\n@\n>>>>>>> b"), "conflict markers"),
    "another title": (_changed("# Retrieval practice\n", "# Recall\n"), "title was changed"),
    "another id": (_changed("id: ntyd1jfn1x", "id: hdd3k1avrv"), "`id` was changed"),
    "another type": (_changed("type: concept", "type: topic"), "`type` was changed"),
    "another title in the properties": (_changed("title: Retrieval practice", "title: Recall"), "`title` was changed"),
    "more confidence": (_changed("confidence: low", "confidence: high"), "`confidence` was changed"),
    "no properties to read": (_changed("tags: []", "tags: ["), "front matter"),
    "no citation left": (lambda s: s.write(PAGE, "# Retrieval practice\n"), "no sentence"),
    "not text": (lambda s: s.write(PAGE, b"# \xff\xfe"), "not UTF-8"),
    "endless": (lambda s: s.add(PAGE, " " * 50_000 + "x"), "a line of more than"),
    "endless marks": (lambda s: s.add(PAGE, "- " * 2_000 + "|" * 600), "an endless run"),
    "an old id on a new page": (
        lambda s: s.write("wiki/concepts/copy.md", s.text(PAGE)),
        "belongs to another page",
    ),
    "a name that is no slug": (
        lambda s: s.write("wiki/topics/My Page.md", f"# Recall\n\n{cited(s)}\n"),
        "not a slug",
    ),
    "a folder of its own": (
        lambda s: s.write("wiki/concepts/mine/recall.md", f"# Recall\n\n{cited(s)}\n"),
        "nothing of",
    ),
    "another kind of file": (lambda s: s.write("wiki/concepts/recall.canvas", "{}"), "nothing of this kind"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_sound_is_set_aside_and_the_old_page_is_back(scene: Scene, name: str) -> None:
    before = scene.tree()
    bad, words = BAD[name]
    settled = scene.agent(lambda: bad(scene))
    assert words in why(settled), why(settled)
    assert scene.tree("ledger/replies", "output/quarantine") == before
    assert kept(settled) == set()
    one = settled.quarantined[0]
    assert scene.there(one.where) and one.path in scene.text(settled.report)


def test_what_was_set_aside_is_read_by_nothing(scene: Scene) -> None:
    scene.agent(lambda: scene.add(PAGE, "Cheese. <% x %>\n\n```dataviewjs\nalert(1)\n````\n![[insights/mine]]"))
    inside = next(scene.root.glob("output/quarantine/*/wiki/concepts/*.md")).read_text()
    assert "<%" not in inside
    assert agent_inert.acting_in_output(inside) is None
    assert scene.compile().failures == [] and scene.verify().clean


PLAIN = "Every successful recall makes the next recall easier."
GATES: dict[str, tuple[object, Bad]] = {  # a gate of ours, what it would be if it did nothing, and what it alone stops
    "sentence_faults": (lambda body, views: iter(()), _appended(PLAIN)),
    "sentence_refused": (lambda sentence, views: "", _of_claim("Every successful recall makes the brain grow.")),
    "support": (lambda words, evidence: (1.0, []), _appended("## Memory is a kind of cheese\n\n@")),
    "acting": (lambda lines: None, _of_claim("Every successful recall makes the next recall <easier>.")),
    "unreadable": (lambda text: None, _of_claim(PLAIN.replace(" recall", "\u200b recall", 1))),
    "FIXED": ((), _changed("confidence: low", "confidence: high")),
}


@pytest.mark.parametrize("gate", GATES)
def test_without_its_gate_what_is_not_sound_would_stay(
    scene: Scene, gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant, bad = GATES[gate]
    second = Scene.copied(scene.root, scene.root.with_name("second"))
    assert quarantined(scene.agent(lambda: bad(scene))) == {PAGE}
    monkeypatch.setattr(agent_pages, gate, mutant)
    assert quarantined(second.agent(lambda: bad(second))) == set()
