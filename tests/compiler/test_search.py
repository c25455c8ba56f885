"""The sources and the wiki are found by words, the best first, as their files are now."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.build.search import with_search_index
from compiler.language.search_terms import places, query_words, terms
from compiler.query.extract import extract
from compiler.search.search import KINDS, Results, search, snippet
from tests.builders import make_vault
from vault.errors import Refused
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
ROPES = """# Ropes

A halyard is a rope that hoists a sail. The halyard runs over a block at the top of the mast.

## Care

Salt water makes ropes stiff, so that they are rinsed in fresh water after each voyage. Nylon stretches by a quarter
before it breaks.
"""
KNOTS = """# Knots

A bowline is a knot that makes a loop which does not slip. Sailors tie a bowline in the sheet of a jib.

A figure eight stops a rope from running out through a block.
"""
GERMAN = "# Häfen\n\nEin Hafen ist ein geschützter Liegeplatz für Schiffe. Die Häfen der Ostsee frieren im Winter zu.\n"
CHINESE = "# 操作系统\n\n虚拟内存是一种内存管理技术。虚拟内存由页表管理,把暂时不用的数据放到磁盘上。\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    documents = {"ropes": ROPES, "knots": KNOTS, "hafen": GERMAN, "os": CHINESE}
    made = make_vault(tmp_path / "v", {f"raw/articles/{name}.md": text for name, text in documents.items()})
    compile_vault(made, Options(), NOON, lambda event: None)
    return open_vault(str(made.root), None, made.root)


def found(vault: Vault, query: str, *kinds: str) -> Results:
    return with_search_index(vault, lambda index: search(index, query, kinds or KINDS), NOON, lambda event: None)


def passages(vault: Vault, query: str) -> list[str]:
    """The names of the documents in which passages are found, the best first."""
    return [Path(hit.entry.path).stem for hit in found(vault, query, "passage").hits["passage"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("hoisting sails", "ropes"),
        ("Why rinse a rope?", "ropes"),
        ("tied bowlines", "knots"),
        ("Hafen", "hafen"),
        ("虚拟内存", "os"),
        ("care of ropes", "ropes"),
        ('"figure eight"', "knots"),
    ],
)
def test_the_passage_with_the_words_comes_first_whatever_their_endings(vault: Vault, query: str, first: str) -> None:
    assert passages(vault, query)[0] == first


def test_a_word_that_is_nowhere_is_named_and_empties_nothing(vault: Vault) -> None:
    results = found(vault, "zeppelin halyard")
    assert results.unknown == ("zeppelin",) and results.hits["passage"]
    nothing = found(vault, "zeppelin")
    assert nothing.unknown == ("zeppelin",) and not nothing


def test_an_unknown_word_is_taken_for_the_beginning_of_others(vault: Vault) -> None:
    assert passages(vault, "haly")[0] == "ropes" and found(vault, "haly").unknown == ()


def test_what_is_excluded_is_not_found_and_a_phrase_stands_together(vault: Vault) -> None:
    assert set(passages(vault, "block")) == {"ropes", "knots"}
    assert set(passages(vault, "block -halyard")) == {"knots"}
    assert passages(vault, '"water fresh"') == [] and passages(vault, '"fresh water"') == ["ropes"]
    assert passages(vault, 'rope* OR ( NEAR "') == passages(vault, "rope or near"), "no syntax of the index acts"


def test_a_negative_number_excludes_nothing(tmp_path: Path) -> None:
    made = make_vault(tmp_path / "w", {"raw/articles/frost.md": "# Frost\n\nSalt water freezes at about -2 degrees.\n"})
    compile_vault(made, Options(), NOON, lambda event: None)
    assert passages(made, "what freezes at -2 degrees") == ["frost"]


def test_a_phrase_that_stands_nowhere_is_named_and_empties_nothing(vault: Vault) -> None:
    results = found(vault, '"water fresh" halyard', "passage")
    assert results.unknown == ("water fresh",) and results.hits["passage"]


def test_a_question_in_chinese_is_found_by_parts_of_it(vault: Vault) -> None:
    assert passages(vault, "虚拟内存是什么技术") == ["os"]
    assert found(vault, "天气预报").unknown == ("天气预报",)


def test_a_source_is_found_by_the_name_of_its_file(vault: Vault) -> None:
    (vault.root / "raw/articles/rigging-handbook.md").write_text("# Notes\n\nA sheet trims the clew of a sail.\n")
    compile_vault(vault, Options(), NOON, lambda event: None)
    assert passages(vault, "rigging handbook") == ["rigging-handbook"]


def test_of_equal_passages_that_of_the_document_on_the_subject_comes_first(vault: Vault) -> None:
    same = "The grommet is replaced every year."
    (vault.root / "raw/articles/one.md").write_text(f"# Diary\n\n{same} It rained on Sunday.\n")
    about = "Lanyards wear out. A lanyard is spliced by hand.\n"
    (vault.root / "raw/articles/two.md").write_text(f"# Diary\n\n{same} It rained on Monday.\n\n## More\n\n{about}" * 9)
    compile_vault(vault, Options(), NOON, lambda event: None)
    assert passages(vault, "grommet lanyard year")[0] == "two" and "one" in passages(vault, "grommet lanyard year")


def test_of_equal_pages_that_with_links_to_it_comes_first(vault: Vault) -> None:
    concepts = vault.root / "wiki/concepts"
    for name in ("aft", "fore"):
        (concepts / f"{name}.md").write_text(f"# {name.title()}\n\nThe gunwale is the edge of a boat.\n")
    (concepts / "hull.md").write_text("# Hull\n\nSee [[wiki/concepts/fore|Fore]].\n")
    (concepts / "deck.md").write_text("# Deck\n\nSee [[wiki/concepts/fore|Fore]] and [[wiki/concepts/hull|Hull]].\n")
    first = [hit.entry.title for hit in found(vault, "gunwale", "article").hits["article"]]
    assert first == ["Fore", "Aft"]
    (concepts / "hull.md").unlink()
    (concepts / "deck.md").unlink()
    assert [hit.entry.title for hit in found(vault, "gunwale", "article").hits["article"]] == ["Aft", "Fore"]


def test_articles_claims_cards_and_sources_are_found_too(vault: Vault) -> None:
    hits = found(vault, "halyard").hits
    assert hits["article"][0].entry.path == "wiki/concepts/halyard.md"
    claim = hits["claim"][0].entry
    assert claim.cites == "raw/articles/ropes.md" and claim.path.startswith("wiki/summaries/") and claim.line > 1
    assert hits["card"][0].entry.ref and hits["card"][0].entry.path.startswith("learning/flashcards/")
    assert found(vault, "knots", "summary").hits["summary"][0].entry.title == "Knots"


def test_a_page_is_found_as_it_is_now(vault: Vault) -> None:
    page = vault.root / "wiki/concepts/halyard.md"
    page.write_text(page.read_text() + "\nIt was once made of marlin twine.\n")
    assert found(vault, "marlin", "article").hits["article"][0].entry.path == "wiki/concepts/halyard.md"
    page.unlink()
    assert not found(vault, "marlin")


def test_a_source_is_found_as_it_was_compiled_last(vault: Vault) -> None:
    (vault.root / "raw/articles/knots.md").unlink()
    (vault.root / "raw/articles/anchors.md").write_text("# Anchors\n\nAn anchor is a weight that holds a ship.\n")
    compile_vault(vault, Options(), NOON, lambda event: None)
    assert passages(vault, "anchor") == ["anchors"] and "knots" not in passages(vault, "bowline")


def test_without_an_index_the_sources_are_read_again(vault: Vault) -> None:
    before = found(vault, "halyard").hits["passage"]
    shutil.rmtree(vault.root / ".retain")
    assert found(vault, "halyard").hits["passage"] == before


def test_a_copy_of_a_passage_is_shown_once(vault: Vault) -> None:
    (vault.root / "raw/articles/again.md").write_text(ROPES.replace("# Ropes", "# Ropes again"))
    compile_vault(vault, Options(), NOON, lambda event: None)
    texts = [hit.entry.text for hit in found(vault, "halyard mast", "passage").hits["passage"]]
    assert len(texts) == len(set(texts))


def test_a_snippet_shows_where_the_words_stand(vault: Vault) -> None:
    results = found(vault, "nylon stretches", "passage")
    text, marks = snippet(results.hits["passage"][0], results.words, 60)
    assert [text[start:end] for start, end in marks] == ["Nylon", "stretches"] and len(text) < 70


def test_terms_are_stems_without_accents_and_pairs_of_chinese_characters() -> None:
    assert terms("The children's vacuuming in C++", "en")[-1] == "cpp" and terms("behaviour") == terms("behaviors")
    assert terms("Häfen", "de") == terms("hafen", "de") and terms("ate") == terms("eating")
    assert terms("虚拟内存", "zh") == ["虚拟", "拟内", "内存"] and terms("页", "zh") == ["页"]
    assert query_words("What is the halyard?") == ["halyard"] and query_words("to be or not to be")
    assert places("Two ropes, one rope.", "en", frozenset(terms("rope"))) == [(4, 9), (15, 19)]


# --- disks and files that fail ----------------------------------------------------------------------------------------


@contextmanager
def no_room_in_files(most: int) -> Iterator[None]:
    """Refuse to let any file grow beyond so many bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 16_384, 120_000])
def test_where_the_disk_is_full_the_sources_are_read_into_memory_and_found(vault: Vault, room: int) -> None:
    for path in (vault.root / ".retain").glob("wiki.sqlite3*"):
        path.unlink()
    with no_room_in_files(room):
        assert passages(vault, "halyard")[0] == "ropes"
    assert passages(vault, "halyard")[0] == "ropes"


def test_a_page_that_is_new_on_a_full_disk_is_found(vault: Vault) -> None:
    found(vault, "halyard")
    page = vault.root / "wiki/concepts/capstan.md"
    page.write_text("---\ntype: concept\ntitle: Capstan\n---\n\n# Capstan\n\nA capstan winds rope.\n", encoding="utf-8")
    with no_room_in_files(4_096):
        assert [hit.entry.title for hit in found(vault, "capstan", "article").hits["article"]] == ["Capstan"]


def test_where_no_source_can_be_read_that_is_said(tmp_path: Path) -> None:
    made = make_vault(tmp_path / "v", {"raw/ropes.pdf": "%PDF-1.4\nno pages\n"})
    with pytest.raises(Refused, match="none of the sources can be read"):
        found(made, "halyard")
    (made.root / "raw/knots.md").write_text(KNOTS, encoding="utf-8")
    assert passages(made, "bowline") == ["knots"]


CAPSTAN = """# Winding

A capstan is a drum that winds a rope. Its speed sets how fast the rope is wound.

```python
def wind(capstan, rope, speed):
    # capstan rope speed capstan rope speed
    rope.wound_length += speed
```

Sailors grease the drum.
"""


@pytest.fixture
def winding(tmp_path: Path) -> Vault:
    made = make_vault(tmp_path / "code", {"raw/articles/winding.md": CAPSTAN})
    compile_vault(made, Options(), NOON, lambda event: None)
    return made


def test_a_listing_comes_behind_the_prose_that_has_its_words(winding: Vault) -> None:
    texts = [hit.entry.text for hit in found(winding, "capstan rope speed", "passage").hits["passage"]]
    assert texts[0].startswith("A capstan is") and texts[1].startswith("def wind"), texts
    assert not any("def wind" in text and "Sailors" in text for text in texts), "they are found apart"
    quotes = with_search_index(winding, lambda index: extract(index, "capstan rope speed"), NOON, lambda event: None)
    assert quotes.quotes[0].text.startswith("A capstan is")


def test_a_listing_comes_first_where_it_alone_has_the_words_and_is_found_by_its_names(winding: Vault) -> None:
    results = found(winding, "wound_length of the rope", "passage")
    assert results.unknown == () and results.hits["passage"][0].entry.text.startswith("def wind")
