"""Topic articles in a vault: cited like every article, and only touched by what touches their concepts."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from tests.builders import copy_vault, vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_journaled import MEIOSIS, MITOSIS, saying
from tests.compiler.test_journaled import compiled as by_model
from vault.model.article import sentences
from vault.model.frontmatter import read_properties
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
SPACING = "wiki/topics/the-spacing-effect.md"
SPREAD = """# The spacing effect

The spacing effect is the finding that study sessions spread over days produce better memory than one long session.
The spacing effect is larger when the test comes late, because a cue that was met yesterday is hard to retrieve.
Unlike the lag effect, the spacing effect compares one long session with several short ones.

## Why it works

Deficient processing is the loss of attention to an item that was met a moment ago.
Deficient processing weakens the second reading, because the item is still in working memory.
Encoding variability is the tendency of an item to be understood differently on each occasion.
Encoding variability supports the spacing effect, because each occasion leaves another cue.

## How long to wait

The lag effect is the finding that longer gaps produce better memory than shorter gaps when the test is far away.
The retention interval is the time between the last study session and the test.
The lag effect depends on the retention interval.
"""
INTERVALS = """Equal intervals

A uniform schedule is a schedule in which every gap has the same length.
Unlike the lag effect, the spacing effect was found in every laboratory.
The spacing effect depends on the retention interval.
A retention interval of two days favours the uniform schedule over shorter first gaps.
"""
SLEEP = """<html><body><article><h1>Memory and sleep</h1>
<p>Memory consolidation is the process by which a new memory becomes stable during sleep. Memory consolidation is
strongest in slow-wave sleep, because slow oscillations accompany the replay of the day.</p>
<p>Slow-wave sleep is the deep sleep of the first half of the night. A sleep spindle is a burst of brain activity that
accompanies slow-wave sleep. Hippocampal replay is the repetition of the day's activity in the hippocampus.
Hippocampal replay supports memory consolidation, because the cortex receives the same pattern again. A nap is a short
sleep in the daytime. A nap helps memory consolidation when it contains slow-wave sleep.</p>
</article></body></html>
"""
SOURCES = {"The spacing effect.md": SPREAD, "equal-intervals.txt": INTERVALS, "memory-and-sleep.html": SLEEP}
BREAD = """# Baking bread

A **sourdough** is a dough that is raised by wild yeast. A **poolish** is a dough of flour, water and baker's yeast.
An **autolyse** is a rest in which flour and water stand without salt. A **crumb** is the inside of a baked loaf.
The **oven spring** is the rise of a loaf in the first minutes of baking.
"""


def compiled(vault: Vault, hours: int = 0, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), MORNING + timedelta(hours=hours), lambda event: None)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Articles on spacing that disagree, compiled once; copy it, don't touch it."""
    root = tmp_path_factory.mktemp("topics") / "vault"
    compiled(vault_with_sources(root, SOURCES))
    return root


@pytest.fixture
def vault(made: Path, tmp_path: Path) -> Vault:
    return copy_vault(made, tmp_path / "vault")


def pages(vault: Vault) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((vault.root / "wiki/topics").glob("*.md"))}


def text(vault: Vault, path: str = SPACING) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    found = re.search(rf"(?ms)^## {heading}\n(.*?)(?=^## |\Z)", page)
    assert found is not None, f"no section {heading}"
    return found[1]


def test_a_topic_is_named_by_a_heading_and_leads_to_its_concepts(vault: Vault) -> None:
    properties = read_properties(text(vault))
    assert (properties.text("type"), properties.text("title")) == ("topic", "The spacing effect")
    members = re.findall(r"(?m)^- \[\[(wiki/concepts/[^|]+)\|", section(text(vault), "Concepts"))
    assert len(members) >= 4 and "wiki/concepts/spacing-effect" in members
    assert all((vault.root / f"{m}.md").is_file() for m in members)
    assert [link.split("|")[0].removeprefix("[[") for link in properties.texts("related")] == members
    assert f"[[{SPACING.removesuffix('.md')}|The spacing effect]] · " in text(vault, "wiki/_index.md")


def test_every_sentence_of_a_topic_is_cited_and_the_check_reads_it(vault: Vault) -> None:
    said = [s for name in pages(vault) for s in sentences(text(vault, f"wiki/topics/{name}"))]
    assert len(said) > 10 and all(s.cites for s in said)
    assert verify(vault, lambda event: None).clean
    spoilt = f"{text(vault)}\nAll of this is certain.\n"
    (vault.root / SPACING).write_text(spoilt, encoding="utf-8")
    assert [f["path"] for f in verify(vault, lambda event: None).uncited] == [SPACING]


def test_no_sentence_stands_twice_in_a_topic(vault: Vault) -> None:
    for name in pages(vault):
        said = [s.text for s in sentences(text(vault, f"wiki/topics/{name}"))]
        assert len(said) == len(set(said))


BETTER = """

An expanding schedule is a schedule in which each gap is longer than the one before.
Expanding schedules produce better retention than equal gaps.
"""
WORSE = """

An expanding schedule is a schedule whose intervals grow from review to review.
Expanding schedules produce worse retention than equal gaps.
"""


def disputed_topic(vault: Vault) -> str:
    """Let two sources contradict each other, compile, and return the path of the topic that shows it."""
    for name, words in (("The spacing effect.md", BETTER), ("equal-intervals.txt", WORSE)):
        path = vault.root / "raw/articles" / name
        path.write_text(path.read_text(encoding="utf-8") + words, encoding="utf-8")
    compiled(vault, 1)
    return next(f"wiki/topics/{name}" for name, data in pages(vault).items() if b"Where sources disagree" in data)


def test_what_sources_cannot_both_be_right_about_is_shown_and_the_more_trusted_comes_first(vault: Vault) -> None:
    page = disputed_topic(vault)
    disputed = section(text(vault, page), "Where sources disagree")
    assert "### Undecided" in disputed
    assert disputed.index("summaries/the-spacing-effect#") < disputed.index("summaries/equal-intervals#")
    summary = vault.root / "wiki/summaries/equal-intervals.md"
    summary.write_text(summary.read_text(encoding="utf-8").replace("authority: 1", "authority: 3"), encoding="utf-8")
    compiled(vault, 2)
    disputed = section(text(vault, page), "Where sources disagree")
    assert "### The first has more authority: 3, the other 1" in disputed
    assert disputed.index("summaries/equal-intervals#") < disputed.index("summaries/the-spacing-effect#")


def test_a_source_on_other_matters_leaves_every_topic_as_it_was(vault: Vault) -> None:
    before = pages(vault)
    (vault.root / "raw/articles/bread.md").write_text(BREAD, encoding="utf-8")
    report = compiled(vault, 24)
    assert report.topics["created"] == 1 and report.topics["updated"] == report.topics["removed"] == 0
    assert pages(vault).items() > before.items()


def test_topics_come_back_byte_for_byte(vault: Vault) -> None:
    before = pages(vault)
    assert compiled(vault, 1).nothing_new
    shutil.rmtree(vault.root / "wiki/topics")
    assert compiled(vault, 2).topics["created"] == len(before)
    assert pages(vault) == before
    compiled(vault, 3, fresh=True)
    assert pages(vault) == before


def test_a_topic_that_a_human_wrote_in_stays_and_the_machine_proposes(vault: Vault) -> None:
    page = disputed_topic(vault)
    mine = f"{text(vault, page)}\n> [!human] I doubt it.\n"
    (vault.root / page).write_text(mine, encoding="utf-8")
    (vault.root / "raw/articles/equal-intervals.txt").unlink()
    compiled(vault, 2)
    assert text(vault, page) == mine
    assert "Where sources disagree" not in text(vault, f"output/proposals/{page}")


def test_a_topic_whose_concepts_are_gone_goes_and_comes_back_with_its_id(vault: Vault) -> None:
    sleep = "wiki/topics/memory-and-sleep.md"
    id_ = read_properties(text(vault, sleep)).text("id")
    page = (vault.root / "raw/articles/memory-and-sleep.html").read_bytes()
    (vault.root / "raw/articles/memory-and-sleep.html").unlink()
    assert compiled(vault, 1).topics["removed"] == 1
    assert not (vault.root / sleep).exists()
    (vault.root / "raw/articles/memory-and-sleep.html").write_bytes(page)
    compiled(vault, 2)
    assert read_properties(text(vault, sleep)).text("id") == id_


def test_what_a_human_adds_to_the_tags_of_a_topic_stays(vault: Vault) -> None:
    (vault.root / SPACING).write_text(text(vault).replace("tags: []", "tags:\n  - mine"), encoding="utf-8")
    assert "tags: []" not in text(vault)
    compiled(vault, 1)
    assert read_properties(text(vault)).texts("tags") == ("mine",)


def test_what_belongs_together_lists_no_link_without_a_sentence(vault: Vault) -> None:
    for name in pages(vault):
        listed = section(text(vault, f"wiki/topics/{name}"), "Concepts")
        links = re.findall(r"(?m)^- \[\[.*\]\]$", listed)
        assert links and len(links) == len(re.findall(r"(?m)^  \S.*#\^c-\w+", listed))


CODE = '"""How sails are cut and set, for those who read programs."""\n\n\ndef luff_of(sail):\n    """{said}"""\n'


def test_functions_of_source_code_are_no_topics(vault: Vault) -> None:
    parts = ("keel", "rudder", "tiller", "halyard", "gooseneck", "backstay", "forestay", "shroud")
    said = " ".join(f"A {part} is a part of a boat that a sailor must know." for part in parts)
    (vault.root / "raw/articles/rigging.py").write_text(CODE.format(said=said), encoding="utf-8")
    compiled(vault, 24)
    assert "keel.md" in {p.name for p in (vault.root / "wiki/concepts").glob("*.md")}
    assert not [name for name in pages(vault) if "luff" in name]


def test_topics_of_a_vault_that_a_model_compiled_come_of_its_clusters_and_stay(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})
    clusters = saying(settle={"Meiosis and others:": "How cells divide:", "Autolyse and others:": "Kinds of dough:"})
    by_model(vault, Scripted(reword=clusters))
    before = pages(vault)
    assert list(before) == ["how-cells-divide.md"]
    page = text(vault, "wiki/topics/how-cells-divide.md")
    members = re.findall(r"(?m)^- \[\[(wiki/concepts/[^|]+)\|", section(page, "Concepts"))
    assert len(members) == 3 and all((vault.root / f"{m}.md").is_file() for m in members)
    assert all(s.cites for s in sentences(page)) and verify(vault, lambda event: None).clean
    (vault.root / "raw/articles/bread.md").write_text(BREAD, encoding="utf-8")
    by_model(vault, Scripted(reword=clusters), MORNING + timedelta(hours=1))
    after = pages(vault)
    assert "kinds-of-dough.md" in after and {name: after[name] for name in before} == before


RIGG = """# Vom Segeln

Der Kurs ist der Weg, den ein Schiff nimmt. Er wird in Grad angegeben und von der Steuerfrau gehalten.

## Der Mars

Der Mars ist eine Plattform am Mast. Von ihm aus werden die Segel bedient, und er trägt die Wanten.

## Der Klüs

Der Klüs ist ein Loch in der Bordwand. Durch ihn läuft die Kette des Ankers nach außen.
"""
GERMAN = {
    "read": "\n".join(
        f"CONCEPT {name} | page\nIS {said} [1:{n}a]\nFROM 1:{n}"
        for n, (name, said) in enumerate(
            {
                "Kurs": "Der Kurs ist der Weg, den ein Schiff nimmt.",
                "Mars": "Der Mars ist eine Plattform am Mast.",
                "Klüs": "Der Klüs ist ein Loch in der Bordwand.",
            }.items(),
            1,
        )
    ),
    "settle": "CLUSTER Das Schiff: 1, 2, 3",
    "write": "=== Kurs\nDer Kurs ist der Weg, den ein Schiff nimmt. [1:1a]\n"
    "=== Mars\nDer Mars ist eine Plattform am Mast, anders als der [[Kurs]]. [1:2a; 1:1a]\n"
    "=== Klüs\nDer Klüs ist ein Loch in der Bordwand. [1:3a]",
    "check": "OK",
}


def test_names_whose_language_keeps_their_endings_are_found_again(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"segeln.md": RIGG})
    by_model(vault, Scripted(reword=lambda type_, answer: GERMAN.get(type_, answer)))
    assert list(pages(vault)) == ["das-schiff.md"]
    assert "[[wiki/concepts/kurs|Kurs]]" in text(vault, "wiki/concepts/mars.md")
