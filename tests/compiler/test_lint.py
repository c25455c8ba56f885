"""`retain lint` finds each planted fault, and nothing in a wiki as the compiler left it."""

from __future__ import annotations

import random
import re
import shlex
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from benchmarks.lint_planters import PLANTERS, Scene
from compiler.build.compile import Options, compile_vault
from compiler.concepts.decisions import event_of
from compiler.concepts.edits import Shelf, dated, never
from compiler.lint.card_text import damaged
from compiler.lint.names import candidates
from compiler.lint.rules import RULES, lint, no_longer_found
from compiler.lint.wiki import Wiki
from docs import lint as page_of_rules
from tests.builders import make_vault
from tests.compiler.test_search import KNOTS, NOON, ROPES
from vault.diagnostic import Diagnostic
from vault.files.guard import Scope
from vault.log import ledger
from vault.text.diff import sides
from vault.vault import Vault, open_vault

TODAY = date(2026, 11, 28)
ARTICLE = "wiki/concepts/halyard.md"
DECK = "learning/flashcards/halyard.md"
LINKING = """# Rigging

Rigging is the system of ropes that hold up the masts of a ship. A halyard is a part of the rigging that hoists a sail.
A bowline is a knot that joins the rigging to a sail.
"""


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = {"ropes": ROPES, "knots": KNOTS, "rigging": LINKING}
    files = {f"raw/articles/{name}.md": text for name, text in texts.items()}
    made = make_vault(tmp_path_factory.mktemp("made-once") / "v", files)
    compile_vault(made, Options(), NOON, lambda event: None)
    return made.root


@pytest.fixture
def vault(tmp_path: Path, made_once: Path) -> Vault:
    root = Path(shutil.copytree(made_once, tmp_path / "v"))
    return open_vault(str(root), None, root)


def found(vault: Vault) -> list[Diagnostic]:
    return lint(Wiki(open_vault(str(vault.root), None, vault.root), TODAY))


def edit(vault: Vault, path: str, change: Callable[[str], str]) -> None:
    file = vault.root / path
    text = change(old := file.read_text(encoding="utf-8"))
    assert text != old, path
    file.write_text(text, encoding="utf-8")


def appended(words: str) -> Callable[[str], str]:
    return lambda text: f"{text.rstrip()}\n\n{words}\n"


def _card(question: str, answer: str) -> Callable[[str], str]:
    return appended(f"Q: {question}\nA: {answer}")


FAULTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "broken-link": (ARTICLE, appended("See [[wiki/concepts/mizzen|mizzen]].")),
    "confidence": (ARTICLE, lambda text: re.sub(r"\bconfidence: .*$", "confidence: high", text, flags=re.MULTILINE)),
    "stale": (ARTICLE, lambda text: re.sub(r"^updated: .*$", 'updated: "2026-01-01"', text, flags=re.MULTILINE)),
    "quarantined": (ARTICLE, lambda text: text.replace("type: concept\n", "type: concept\nstatus: quarantined\n")),
    "uncited": (ARTICLE, appended("A halyard is mostly made of polyester.")),
    "card-long": (DECK, _card("What does a halyard do?", "It hoists " + "the sail " * 40)),
    "card-double": (DECK, lambda text: text + re.search(r"^Q: .*?\nA: .*?\n", text, re.MULTILINE | re.DOTALL)[0]),  # type: ignore[index]
    "card-leaks": (DECK, _card("Does the halyard hoist the sail?", "The halyard hoists the sail.")),
    "card-unclear": (DECK, _card("What does it do?", "It hoists a sail.")),
}


def test_a_compiled_wiki_has_no_findings_but_on_what_is_short(vault: Vault) -> None:
    assert {each.code for each in found(vault)} <= {"thin", "orphan", "no-definition"}


@pytest.mark.parametrize("code", FAULTS)
def test_a_planted_fault_is_found_by_its_rule_at_its_place(vault: Vault, code: str) -> None:
    before = found(vault)
    path, change = FAULTS[code]
    edit(vault, path, change)
    new = [each for each in found(vault) if each not in before]
    mine = [each for each in new if each.code == code]
    assert mine and mine[0].path == path and mine[0].message and mine[0].hint


LOST = "records-lost"  # which the commands alone notice, as they remember what the logs held
PLANTED = [(code, planter) for code, planters in PLANTERS.items() if code != LOST for planter in planters]


@pytest.mark.parametrize(("code", "planter"), PLANTED, ids=[f"{code}-{p.__name__}" for code, p in PLANTED])
def test_each_way_to_make_a_fault_is_found_by_the_rule(vault: Vault, code: str, planter: Callable[..., object]) -> None:
    scene = Scene(vault.root, random.Random(1))
    before = {(each.code, each.path, each.message) for each in found(vault)}
    places = planter(scene)
    if places is None:
        pytest.skip("nothing in this small vault to plant it in; `benchmarks.lint_battery` plants it in real ones")
    new = {(each.code, each.path, each.message) for each in found(vault)} - before
    assert any(each == code and path in places for each, path, _ in new), new  # type: ignore[operator]


def test_every_rule_has_a_way_to_make_its_fault() -> None:
    assert PLANTERS.keys() == {rule.code for rule in RULES}


def test_links_from_the_users_notes_are_looked_at(vault: Vault) -> None:
    note = vault.root / "insights/mine.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Mine\n\n[[wiki/concepts/gone]] and [[wiki/concepts/halyard#^c-aaaaaaaaaa]], not `[[raw/x]]`.\n")
    mine = [each for each in found(vault) if each.path == "insights/mine.md"]
    assert [(each.code, each.line) for each in mine] == [("broken-link", 3)] * 2 and "your note" in mine[0].hint


def test_links_that_lead_to_files_and_what_looks_like_a_link_in_code_are_not_broken(vault: Vault) -> None:
    lines = (
        "See [it](../wiki/concepts/halyard.md#Halyard), [it](<wiki/concepts/halyard.md>), [out](https://a.b/c.md).",
        "> ```sh\n> [[wait for it]]\n> [x](none.md)\n\nSee `[[none]]`.",
    )
    (vault.root / "insights/mine.md").write_text("\n\n".join(lines) + "\n")
    edit(vault, ARTICLE, appended("> [!human] It is so.\n> ```sh\n> [[wait for it]]\n> ```"))
    assert not [each for each in found(vault) if each.code == "broken-link"]


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3_000, "a\0b", "a%00b"], ids=["long", "deep", "nul", "escaped"])
def test_links_to_names_that_no_file_can_have_are_broken(vault: Vault, name: str) -> None:
    links = f"# Mine\n\nSee [x]({name}.md), [y](<../wiki/{name}.md#Z>) and [[wiki/{name}]].\n"
    (vault.root / "insights/mine.md").write_text(links)
    edit(vault, ARTICLE, appended(f"See [[wiki/concepts/{name}|it]] and [it]({name}.md)."))
    broken = [each.path for each in found(vault) if each.code == "broken-link"]
    assert (broken.count("insights/mine.md"), broken.count(ARTICLE)) == (3, 2)


def test_pages_that_no_index_lists_or_that_cannot_be_read_are_found(vault: Vault) -> None:
    for index in (vault.root / "wiki").glob("_*.md"):
        index.write_text(index.read_text().replace("[[wiki/concepts/halyard|", "[[wiki/concepts/bowline|"))
    (vault.root / "wiki/concepts/bowline.md").write_bytes(b"\xff\xfe")
    codes = [(each.code, each.path) for each in found(vault)]
    assert ("unindexed", ARTICLE) in codes and ("unreadable", "wiki/concepts/bowline.md") in codes


def test_a_source_whose_page_has_damaged_properties_is_not_called_gone(vault: Vault) -> None:
    (summary,) = vault.paths("wiki/summaries", ".md")[:1]
    before = found(vault)
    edit(vault, summary, lambda text: text.replace("type: ", "type: [", 1))
    new = {(each.code, each.path) for each in found(vault) if each not in before}
    assert ("unreadable", summary) in new and "source-changed" not in {code for code, _ in new}


def test_cards_that_ask_the_same_and_answer_otherwise_are_ambiguous_in_one_deck_too(vault: Vault) -> None:
    edit(vault, DECK, _card("What is a sheet?", "A rope that sets a sail."))
    edit(vault, DECK, _card("What is a sheet?", "A page of paper."))
    assert [each.code for each in found(vault) if "What is a sheet" in each.message] == ["card-ambiguous"]


def test_closed_code_comments_and_deletions_in_a_card_are_no_damage(vault: Vault) -> None:
    blocks = (
        "Q: What does this print?\n```python\n# Q: 5 %% 3 <!--\nprint(1)\n```\nA: `%% card`, and 1. %% a remark %%",
        "C: The {{c1::sheet {{c2::trims}}}} a sail. <!-- a\nremark -->",
        "Q: What is 5 % 3?\nA: 2, and `<!--` begins a comment.",
    )
    edit(vault, DECK, appended("\n\n".join(blocks)))
    assert not [each for each in found(vault) if each.code == "card-damaged"]


ENDLESS = {  # a text that begins, repeats and ends so: a search that starts again at each place takes hours
    "fences": ("<<<<<<< mine\n", "```a\n\n", "<<<<<<< mine\n=======\n"),
    "markers": ("", "<<<<<<< mine\n", ""),
    "bases": ("<<<<<<< mine\n", "||||||| base\n", "=======\n"),
    "anchors": ("[a](a.md", "#.md", "\n"),
    "angled": ("[a](<a.md", "#.md", "\n"),
    "heading": ("# a", " ", "b\n"),
    "comments": ("", "<!-- ", "-->\n"),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_lint_of_a_megabyte_of_repeated_markup_ends(vault: Vault, kind: str) -> None:
    start, repeated, end = ENDLESS[kind]
    text = f"\n{start}{repeated * (1_000_000 // len(repeated))}{end}"
    (vault.root / "insights/mine.md").write_text(f"# Mine\n{text}")
    (vault.root / "raw/articles/mine.md").write_text(text)
    edit(vault, DECK, appended(f"Q: What is a sheet?\nA: A rope.\n{text}"))
    marked = {each.path for each in found(vault) if each.code == "conflicted"}
    assert marked == ({"insights/mine.md", "raw/articles/mine.md", DECK} if "=====" in end else set())
    assert sides(text) is None


def test_lint_of_a_deck_of_many_cards_ends(vault: Vault) -> None:
    edit(vault, DECK, appended("\n\n".join(f"Q: How long is rope {n}?\nA: {n} feet." for n in range(10_000))))
    (deck,) = (deck for deck in vault.decks() if deck.path == DECK)
    assert len(deck.cards) > 10_000
    assert not list(damaged(Wiki(vault, TODAY)))


def test_a_code_block_that_is_open_or_may_hold_cards_is_named(vault: Vault) -> None:
    before = (vault.root / DECK).read_text().rstrip().count("\n") + 3
    code = "Q: How is it written?\nA: So:\n```sh\nls\n%% card k7q2m9xd3f 9f31c2 %%\n\nQ: And now?\nA: So:\n```"
    edit(vault, DECK, appended(code))
    (late,) = damaged(Wiki(vault, TODAY))
    assert late[:2] == (DECK, before + 2) and "may be closed too late" in late[2]
    edit(vault, DECK, lambda text: text.replace("%% card k7q2m9xd3f 9f31c2 %%", "```"))
    (never,) = damaged(Wiki(vault, TODAY))
    assert never[:2] == (DECK, before + 8) and "never closed" in never[2]


@pytest.mark.parametrize("word", ["`this`", '"this"', "“this”", "'this'", "*this*"])
def test_a_question_about_a_word_in_quotation_marks_says_what_it_is_about(vault: Vault, word: str) -> None:
    edit(vault, DECK, _card(f"What is {word} for?", "A program."))
    assert not [each for each in found(vault) if each.code == "card-unclear"]
    edit(vault, DECK, _card("Why is this **slow**?", "It copies."))
    assert [each for each in found(vault) if each.code == "card-unclear"]


def test_a_word_that_is_put_in_quotation_marks_changes_nothing_that_is_said(vault: Vault) -> None:
    before = found(vault)
    edit(
        vault,
        ARTICLE,
        lambda text: text.replace("A halyard is a rope that hoists", 'A "halyard" is a “rope” that *hoists*'),
    )
    assert found(vault) == before


def test_a_term_that_no_source_explains_is_a_missing_page_until_the_user_decides(vault: Vault) -> None:
    for name, words in (("one", "before"), ("two", "after"), ("three", "without"), ("four", "with")):
        what = f"A {name} knot is a knot that is tied {words} a capstan brake. A capstan brake holds it."
        (vault.root / f"raw/articles/{name}.md").write_text(f"# On {name}\n\n{what}\n")
    compile_vault(vault, Options(), NOON, lambda event: None)
    (gap,) = [each for each in found(vault) if each.code == "missing-page"]
    assert gap.path == "learning/gaps.md" and "apstan brake" in gap.message and gap.line
    edit(vault, "learning/gaps.md", lambda text: text.replace("- [ ]", "- [x]"))
    compile_vault(vault, Options(), NOON, lambda event: None)
    assert "missing-page" not in {each.code for each in found(vault)}


OTHER_FORMS = """# Storage

The write-amplification of a store is the ratio of the bytes written to the bytes stored. The block reads the sequence
length (seqlen) from the header of each segment. In arithmetic, the greatest common divisor of two sizes is the largest
size that divides both. The writer appends each record to the log of the store. The store waits for 20 microseconds
before the writer flushes a record. The checksum follows the record in each segment.
"""


def test_a_term_that_is_explained_in_another_form_or_names_nothing_is_no_missing_page(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"raw/storage.md": OTHER_FORMS})
    compile_vault(vault, Options(), NOON, lambda event: None)
    pages = ", ".join(f"[[wiki/concepts/{name}|{name}]]" for name in ("one", "two", "three"))
    names = ("Write amplification", "Seqlen", "Common divisors", "Append", "Microsecond", "Bottommost", "Checksum")
    gaps = (f"- [ ] **{name}**: what is it? Needed in {pages}. ^g-{n:010d}" for n, name in enumerate(names))
    edit(vault, "learning/gaps.md", appended("\n".join(("## Structural", "", *gaps))))
    (named,) = [each.message for each in found(vault) if each.code == "missing-page"]
    assert "mention Checksum, but" in named


def test_two_notes_of_one_name_make_a_bare_link_ambiguous(vault: Vault) -> None:
    for folder in ("insights/a", "insights/b"):
        (vault.root / folder).mkdir(parents=True)
        (vault.root / folder / "mast.md").write_text("# Mast\n")
    (vault.root / "insights/mine.md").write_text("See [[mast]] and [[halyard]].\n")
    assert [each.code for each in found(vault) if each.path == "insights/mine.md"] == ["ambiguous-link"]


def test_spellings_of_one_name_are_found_and_versions_are_not(vault: Vault) -> None:
    text = (vault.root / ARTICLE).read_text()
    for name in ("Halyards", "Halyard 2", "Halyard 3"):
        path = vault.root / f"wiki/concepts/{name.lower().replace(' ', '-')}.md"
        path.write_text(text.replace("title: Halyard", f"title: {name}"))
    pairs = [each for each in found(vault) if each.code == "near-duplicate"]
    assert len(pairs) == 1 and "retain concept merge" in pairs[0].hint


def named(vault: Vault, *titles: str) -> list[Diagnostic]:
    """What is found of articles with these names."""
    text = (vault.root / ARTICLE).read_text()
    for number, title in enumerate(titles):
        page = text.replace("title: Halyard", f"title: {title}")
        (vault.root / f"wiki/concepts/named-{number}.md").write_text(page)
    return [each for each in found(vault) if each.code == "near-duplicate"]


def test_names_alike_are_found_whatever_letter_they_begin_with_and_whatever_stands_between(vault: Vault) -> None:
    pairs = named(vault, "Chebychev inequality", "Clew", "Luff", "Tack", "Tchebychev inequality", "Rite-ahead log",
                  "Stay", "Write-ahead log")  # fmt: skip
    assert {each.hint.split("`")[1] for each in pairs} == {
        "retain concept merge 'Chebychev inequality' 'Tchebychev inequality'",
        "retain concept merge 'Rite-ahead log' 'Write-ahead log'",
    }


@pytest.mark.parametrize(
    "titles",
    [
        ("Asynchronous replication", "Synchronous replication"),
        ("Deductive reasoning system", "Inductive reasoning system"),
        ("Endothermic reactions", "Exothermic reactions"),
        ("Type I error", "Type II error"),
        ("Hepatitis A virus", "Hepatitis B virus"),
        ("Maximum first estimate", "Maximum last estimate"),
    ],
)
def test_names_that_differ_in_a_prefix_an_opposite_or_a_letter_are_no_spellings(
    vault: Vault, titles: tuple[str, str]
) -> None:
    assert named(vault, *titles) == []


def test_of_many_names_few_are_compared_and_those_alike_are_among_them() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfp", k=chance.randint(4, 10))) for _ in range(700)]
    names = [" ".join(chance.choices(words, k=chance.randint(1, 3))) for _ in range(2_000)]
    pairs = candidates([*names, "xylophone concert", "zylophone concert"])
    assert len(pairs) < len(names) ** 2 / 20
    assert (len(names), len(names) + 1) in pairs


def test_words_of_a_document_are_quoted_in_the_commands_that_a_finding_offers(vault: Vault) -> None:
    title = "Zed $(touch x)"
    text = (vault.root / ARTICLE).read_text().replace("title: Halyard", f"title: {title}")
    text = re.sub("^updated: .*$", 'updated: "2026-01-01"', text, flags=re.MULTILINE)
    for name in ("zed", "zeds"):
        (vault.root / f"wiki/concepts/{name}.md").write_text(text)
    hints = {each.code: each.hint for each in found(vault) if "touch" in each.hint}
    assert {"near-duplicate", "stale"} <= hints.keys()
    for hint in hints.values():
        words = shlex.split(hint.split("`retain ", 1)[1].split("` ")[0].split("`,")[0].rstrip("`"))
        assert any(title in word for word in words) and f"'{title}'" in hint


def test_a_changed_quote_is_named_where_it_was_changed_and_not_where_it_is_cited(vault: Vault) -> None:
    before = found(vault)
    path = next(page.path for page in Wiki(vault, TODAY).sources if "A halyard is a rope" in page.text)
    edit(vault, path, lambda text: text.replace("> A halyard is a rope", "> A halyard is a chain"))
    (new,) = [each for each in found(vault) if each not in before]
    assert (new.code, new.path) == ("unsupported", path) and "a chain" in new.message and "a rope" in new.message
    edit(vault, path, lambda text: text.replace("> A halyard is a chain", "> A halyard is a rope"))
    edit(
        vault,
        path,
        lambda text: re.sub(r"^> \[!quote\].*(?=\n> A halyard)", "> [!quote] It anchors.", text, flags=re.M),
    )
    (new,) = [each for each in found(vault) if each not in before]
    assert (new.code, new.path) == ("unsupported", path) and "It anchors" in new.message


def test_claims_that_are_gone_or_replaced_and_files_that_are_new_are_found(vault: Vault) -> None:
    summary = "wiki/summaries/ropes.md"
    edit(
        vault, summary, lambda text: text.replace(" · current", " · superseded", 1).replace("current", "superseded", 1)
    )
    (vault.root / "raw/articles/new.md").write_text("# New\n\nA new text.\n")
    codes = {each.code: each.path for each in found(vault)}
    assert codes["not-compiled"] == "raw/articles/new.md" and codes["superseded"].startswith("wiki/concepts/")


def test_what_a_compile_does_not_list_is_not_missed_and_a_longer_name_hides_no_file(vault: Vault) -> None:
    raw, text = vault.root / "raw", "# Sheet\n\nA sheet is a rope that trims a sail.\n"
    for name in (".hid/x.md", "node_modules/x.md", "x.md~"):
        (raw / name).parent.mkdir(exist_ok=True)
        (raw / name).write_text(text)
    (raw / "empty [1].md").write_text("\n")
    (raw / "ab.md").write_text("- -\n")
    source = next(path for path in sorted(raw.rglob("*.md")) if path.stat().st_size > 100)
    (raw / "zz-copy.md").write_bytes(source.read_bytes())  # compiled once
    report = compile_vault(vault, Options(), NOON, lambda event: None)
    assert [each.path for each in report.notices if "raw/zz-copy.md" in each.message] == [
        source.relative_to(vault.root).as_posix()
    ]
    index = (vault.root / "wiki/_index.md").read_text()
    assert "[[raw/ab|" in index and "raw/empty%20" in index, "they have no claims, and so no page"
    assert "not-compiled" not in {each.code for each in found(vault)}
    (raw / "a.md").write_text(text)
    assert [each.path for each in found(vault) if each.code == "not-compiled"] == ["raw/a.md"]


def test_what_is_found_at_another_line_or_with_another_number_is_still_found() -> None:
    built = "2 pages link to it"
    before = [Diagnostic("a.md", 4, "thin", built), Diagnostic("a.md", 9, "thin", built)]
    before.append(Diagnostic("b.md", 1, "orphan", "no page links to it"))
    now = [Diagnostic("a.md", 5, "thin", "3 pages link to it"), Diagnostic("c.md", 1, "orphan", "no page links to it")]
    assert no_longer_found(before, now) == before[1:]


def test_the_page_of_rules_is_what_the_code_says() -> None:
    assert page_of_rules.PAGE.read_text(encoding="utf-8") == page_of_rules.render(), "run `make docs`"
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_a_page_past_its_time_counts_a_step_less(vault: Vault) -> None:
    edit(vault, ARTICLE, lambda text: re.sub(r"\bconfidence: .*$", "confidence: high", text, flags=re.MULTILINE))
    edit(vault, ARTICLE, lambda text: re.sub("^updated: .*$", 'updated: "2026-01-01"', text, flags=re.MULTILINE))
    (old,) = [each for each in found(vault) if each.code == "stale"]
    assert "its confidence counts as medium instead of high" in old.message and "retain concept freshness" in old.hint


def test_both_sides_of_a_contradiction_are_shown_with_their_places(vault: Vault) -> None:
    edit(vault, "wiki/concepts/bowline.md", appended("A halyard is not a rope that hoists a sail."))
    said = [each for each in found(vault) if each.code == "contradiction"]
    assert any("“A halyard is not a rope" in each.message and f"({ARTICLE}:" in each.message for each in said)


def test_names_that_the_user_keeps_apart_are_no_duplicates(vault: Vault) -> None:
    text, names = (vault.root / ARTICLE).read_text(), ("Halyard of the main mast", "Halyard of the main masst")
    for number, name in enumerate(names):
        (vault.root / f"wiki/concepts/mast-{number}.md").write_text(text.replace("title: Halyard", f"title: {name}"))
    assert [each.code for each in found(vault) if each.code == "near-duplicate"]
    shelf = Shelf.of(vault)
    apart = dated(never(shelf, *names), shelf, NOON)
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event_of(apart)))
    assert not [each.code for each in found(vault) if each.code == "near-duplicate"]
