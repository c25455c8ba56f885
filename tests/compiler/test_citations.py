"""Citations: found in an answer, and looked up in the passages that were shown."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.protocol.citations import Cited, Shown, citations_in
from compiler.protocol.documents import lines_of
from compiler.protocol.replies import Quote
from tests.compiler.shown_documents import IDS, document, shown
from vault.text.formatting import fold

ROPES = """# Ropes

A halyard is a rope that hoists a sail. It runs over a block (a "sheave") at the top of the mast. Don't ease it – ever.

The crew said: “Make fast!” and nobody moved.

- first, *haul* the sail
- then make [it] fast

## Numbers

| rope | length |
|---|---|
| halyard | 24 m |
| sheet | 12 m |

```python
def haul(rope):
    return rope[0] + 1
```

The pull is $F = m g$ at rest.
"""
OTHER = "# Knots\n\nA bowline is a knot that makes a loop. A halyard is bent to the sail by a bowline.\n"
SHOWN = Shown(shown(ROPES, OTHER))


def evidence(label: str, words: str = "", letters: str = "") -> list[str]:
    found, why, _ = SHOWN.quotes(Cited(label, words, tuple(letters)))
    assert not why, why
    return [quote.words for quote in found]


def items(text: str) -> list[tuple[str, str, str]]:
    return [(i.label, i.words, "".join(i.letters)) for cite in citations_in(text) for i in cite.items]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It hoists. [1:1a]", [("1:1", "", "a")]),
        ("It hoists. [1:1a,c; 2:1b]", [("1:1", "", "ac"), ("2:1", "", "b")]),
        ("It hoists. [1:1a-c]", [("1:1", "", "abc")]),
        ("It hoists. [1:3]", [("1:3", "", "")]),
        ("It hoists. [1:3-5]", [("1:3", "", ""), ("1:4", "", ""), ("1:5", "", "")]),
        ("It hoists. [1:3-1:4]", [("1:3", "", ""), ("1:4", "", "")]),
        ('It hoists. [1:1 "hoists a sail"]', [("1:1", "hoists a sail", "")]),
        ("It hoists. [1:1 “hoists a sail”; 2:1 „a loop“]", [("1:1", "hoists a sail", ""), ("2:1", "a loop", "")]),
        ('It hoists. [1:1 "hoists"; "the mast"]', [("1:1", "hoists", ""), ("1:1", "the mast", "")]),
        ('It hoists. [1:1 "a block (a "sheave") at"]', [("1:1", 'a block (a "sheave") at', "")]),
        ('It hoists. [1:1 "a \\"sheave\\" [at] the top"]', [("1:1", 'a "sheave" [at] the top', "")]),
        ("Two. [1:1a] Three. [1:1b]", [("1:1", "", "a"), ("1:1", "", "b")]),
        ("None: [see above] [1] [12] [a:b] 1:1a", []),
        ("Never closed [1:1a", []),
        ("An [array] of [1:2 or 3] kinds", []),
    ],
)  # fmt: skip
def test_a_citation_names_passages_with_letters_or_words(text: str, found: list[tuple[str, str, str]]) -> None:
    assert items(text) == found


@pytest.mark.parametrize(
    ("text", "mark", "note"),
    [
        ("[1:1a]", "", ""),
        ("[derived 1:1a; 2:1b]", "derived", ""),
        ("[derived: 1:1a]", "derived", ""),
        ("[1:1a; derived 2:1b]", "derived", ""),
        ('[1:3 "a, derived 1:2 words"; 1:4]', "", ""),
        ("[computed: haul([3]) in Python; 1:4]", "computed", ""),
        ("[computed: haul of three; 1:4]", "computed", "haul of three"),
    ],
)
def test_a_citation_says_whether_the_sentence_is_a_step_or_a_result(text: str, mark: str, note: str) -> None:
    if "[3]" in text:
        assert citations_in(text) == []  # brackets would end it: what was run is said in words
        return
    (cite,) = citations_in(text)
    assert (cite.mark, cite.note) == (mark, note) and text[cite.start : cite.end] == text


def test_letters_name_the_sentences_items_rows_and_listings_that_are_shown_under_them() -> None:
    text = "\n".join(lines_of(shown(ROPES)))
    assert "{a}A halyard is a rope that hoists a sail. {b}It runs over" in text and "- {e}first, haul the sail" in text
    assert evidence("1:1", letters="a") == ["A halyard is a rope that hoists a sail."]
    assert evidence("1:1", letters="ac") == ["A halyard is a rope that hoists a sail.", "Don't ease it – ever."]
    assert evidence("1:1", letters="ef") == ["first, haul the sail", "then make [it] fast"]
    assert evidence("1:2", letters="bc") == ["halyard | 24 m", "sheet | 12 m"]
    assert evidence("1:3") == ["def haul(rope): return rope[0] + 1"]
    assert evidence("1:4") == ["The pull is $F = m g$ at rest."]
    assert {q.source for q in SHOWN.quotes(Cited("2:1", "", ("a",)))[0]} == {IDS[1]}


@pytest.mark.parametrize(
    ("label", "words", "sentence"),
    [
        ("1:1", "is a rope that hoists", "A halyard is a rope that hoists a sail."),
        ("1:1", "IS A  ROPE\nthat", "A halyard is a rope that hoists a sail."),
        ("1:1", "Don’t ease it — ever", "Don't ease it – ever."),
        ("1:1", "Don't ease it - ever", "Don't ease it – ever."),
        ("1:1", 'said: "Make fast!"', "The crew said: “Make fast!” and nobody moved."),
        ("1:1", '(a "sheave") at the top', 'It runs over a block (a "sheave") at the top of the mast.'),
        ("1:1", "(a “sheave”) at the top", 'It runs over a block (a "sheave") at the top of the mast.'),
        ("1:1", "then make [it] fast", "then make [it] fast"),
        ("1:1", "**first**, haul", "first, haul the sail"),
        ("1:1", "It runs over … of the mast", 'It runs over a block (a "sheave") at the top of the mast.'),
        ("1:2", "sheet | 12 m", "sheet | 12 m"),
        ("1:3", "rope[0] + 1", "def haul(rope): return rope[0] + 1"),
        ("1:4", "F = m g", "The pull is $F = m g$ at rest."),
        ("1:1", "is a rope that hoistes a sail", "A halyard is a rope that hoists a sail."),  # a slip of the pen
    ],
)
def test_words_find_the_whole_sentence_in_spite_of_other_signs(label: str, words: str, sentence: str) -> None:
    assert evidence(label, words) == [sentence]


def test_words_across_two_sentences_give_both_and_pieces_left_out_give_each() -> None:
    assert evidence("1:1", "hoists a sail. It runs") == [
        'A halyard is a rope that hoists a sail. It runs over a block (a "sheave") at the top of the mast.'
    ]
    assert evidence("1:1", "hoists a sail ... Make fast") == [
        "A halyard is a rope that hoists a sail.",
        "The crew said: “Make fast!” and nobody moved.",
    ]


def test_words_under_a_wrong_number_are_found_where_they_stand() -> None:
    assert evidence("1:2", "is a rope that hoists") == ["A halyard is a rope that hoists a sail."]
    assert SHOWN.quotes(Cited("1:4", "makes a loop"))[0] == [
        Quote(source=IDS[1], words="A bowline is a knot that makes a loop.")
    ]


@pytest.mark.parametrize(
    ("cited", "why", "hint"),
    [
        (Cited("7:1", "a rope"), "there is no passage 7:1", "the numbers shown"),
        (Cited("1:1", "a rope which hoists flags"), "does not contain these words", "a rope that hoists"),
        (Cited("1:1", "quantum entanglement"), "does not contain these words", "its letter"),
        (Cited("1:1", "", ("z",)), "has no piece z", "a, b, c"),
        (Cited("1:1", "hoists a sail ... quantum entanglement"), "does not contain these words", "its letter"),
    ],
)
def test_what_is_not_there_is_a_fault_that_helps(cited: Cited, why: str, hint: str) -> None:
    found, reason, help_ = SHOWN.quotes(cited)
    assert found == [] and why in reason and hint in help_


def test_a_long_passage_of_many_pieces_is_not_cited_as_a_whole() -> None:
    rows = "\n".join(f"| rope {n} | {n} metres of it |" for n in range(60))
    found, why, hint = Shown(shown(f"# Ropes\n\n| name | length |\n|---|---|\n{rows}\n")).quotes(Cited("1:1"))
    assert (found, why) == ([], "1:1 is cited as a whole") and "letter" in hint


WORDS = st.sampled_from(
    ["keel", "the", "Rope", "don't", "“fast”", "12", "$x^2$", "naïve", "Straße", "绳", "(so)", "e.g."]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(lambda w: f"{' '.join(w)}.")
TEXTS = st.lists(st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5).map("\n\n".join)
WAYS: list[Callable[[str], str]] = [str, str.upper, lambda t: t.replace("'", "’").replace("“", '"').replace("”", '"')]


@given(TEXTS, st.data())
def test_the_evidence_for_any_run_of_words_is_a_part_of_the_source_that_holds_them(
    text: str, data: st.DataObject
) -> None:
    whole = f"# Boats\n\nBoats float. {text}\n"
    made = document(whole)
    passage = data.draw(st.sampled_from(made.passages))
    run = made.words(data.draw(st.sampled_from(passage.blocks))).split()
    first = data.draw(st.integers(0, len(run) - 1))
    words = " ".join(run[first : data.draw(st.integers(first + 1, len(run)))])
    spelled = data.draw(st.sampled_from(WAYS))(words)
    found, why, _ = Shown(shown(whole)).quotes(Cited(f"1:{passage.number}", spelled))
    if any(c.isalnum() for c in words) and "..." not in words:
        assert not why and found
    assert all(quote.words in fold(made.text.text) and made.folded.find(quote.words) for quote in found)


@given(TEXTS)
def test_every_letter_that_is_shown_names_the_words_behind_it(text: str) -> None:
    documents = shown(f"# Boats\n\n{text}\n")
    looked_up = Shown(documents)
    for line in "\n".join(lines_of(documents)).split("\n["):
        if "{" not in line:
            continue
        label = line.partition("]")[0].lstrip("[")
        for part in line.split("{")[1:]:
            letters, _, words = part.partition("}")
            (quote,), why, _ = looked_up.quotes(Cited(label, "", (letters,)))
            assert not why and fold(words).startswith(quote.words)


@given(st.text(max_size=200))
def test_any_text_is_searched_for_citations(text: str) -> None:
    for cite in citations_in(text):
        assert 0 <= cite.start < cite.end <= len(text) and cite.items


@pytest.mark.parametrize(
    "piece", ["[1:1", "[1:1;", '[1:1 "', '[1:1 "a" "a"', "[derived 1:1 ", "[computed: ", "1:1a,", "…"]
)
def test_hostile_citations_cost_little(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    began = time.process_time()
    citations_in(text)
    SHOWN.quotes(Cited("1:1", text[:20_000]))
    assert time.process_time() - began < 5
