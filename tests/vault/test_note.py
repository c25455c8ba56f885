import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vault.model.frontmatter import (
    body_of,
    foreign_properties,
    human_edited,
    read_properties,
    render_generated,
    render_note,
    render_property,
    scalar,
    splice_properties,
)

ANY = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=200)


def test_scalars_stay_strings() -> None:
    values = read_properties("---\nid: 0123\nanswer: no\ntime: 1:30\nday: 2026-13-45\n---\nbody").values
    assert values == {"id": "0123", "answer": "no", "time": "1:30", "day": "2026-13-45"}


@given(ANY)
def test_a_written_string_is_read_back_by_us_and_by_any_yaml_reader(value: str) -> None:
    line = render_property("key", value)
    assert yaml.safe_load(line) == {"key": value}
    assert read_properties(f"---\n{line}---\n").values == {"key": value}


@given(st.lists(ANY, max_size=4))
def test_a_written_list_is_read_back(values: list[str]) -> None:
    text = render_note({"aliases": tuple(values)}, "x")
    assert read_properties(text).texts("aliases") == tuple(values)


@given(ANY)
def test_reading_any_front_matter_never_raises_and_keeps_the_body(front: str) -> None:
    text = f"---\n{front}\n---\nthe body"
    found = read_properties(text)
    assert text[found.body :].endswith("the body")


@given(ANY, ANY)
def test_setting_a_property_changes_no_other_byte(front: str, body: str) -> None:
    text = f"---\n# mine\nother: 'x'  # why\nmine:\n  - a\nretain:\n  id: x\n  title: old\nauthor: old\n---\n{body}"
    for key in ("title", "author"):
        new = splice_properties(text, {key: front or "x"})
        assert new.replace(render_property(key, front or "x"), f"{key}: old\n") == text


def test_what_a_user_wrote_below_that_property_stays() -> None:
    text = render_generated({"type": "concept", "id": "x"}, "\nbody\n", None)
    mine = text.replace("retain:\n", "retain:\n  mine:\n    - a\n").replace(
        "type: concept\n", "type: concept\nnote: b\n"
    )
    again = render_generated({"type": "concept", "id": "x"}, "\nnew body\n", mine)
    assert read_properties(again).texts("mine") == ("a",) and read_properties(again).text("note") == "b"
    assert render_generated({"type": "concept", "id": "x"}, "\nnew body\n", again) == again


def test_what_a_reader_does_not_use_is_one_property_and_is_read_beside_it_too() -> None:
    text = render_generated({"type": "concept", "id": "x", "tags": ("a",)}, "\nbody\n", None)
    assert text.startswith("---\ntype: concept\ntags:\n  - a\nretain:\n  id: x\n  generated: ")
    assert read_properties(text).text("id") == "x" and not human_edited(text)
    older = "---\nid: x\nmine: 1\ncreated: old\n---\nbody"
    assert read_properties(older).text("created") == "old"
    assert splice_properties(older, {"created": "new"}) == "---\nid: x\nmine: 1\nretain:\n  created: new\n---\nbody"
    assert read_properties("---\nlearning: no\nid: y\nretain:\n  id: x\n---\n").values == {"learning": "no", "id": "y"}


def test_a_bomb_an_unclosed_fence_and_bad_yaml_are_named_with_their_line() -> None:
    bomb = "---\na: &x [1]\nb: *x\n---\n"
    assert [(p.code, p.line) for p in read_properties(bomb).problems] == [("front-matter-alias", 2)]
    assert [p.code for p in read_properties("---\na: 1\n").problems] == ["front-matter-unterminated"]
    bad = read_properties('---\ntitle: "open\n\tb: c\n---\nbody')
    assert [p.code for p in bad.problems] == ["front-matter-invalid"] and bad.values == {}
    assert [p.code for p in read_properties("---\n" + "[" * 50000 + "\n---\n").problems] == ["front-matter-nested"]
    assert [p.code for p in read_properties("---\n" + "a" * 70000 + "\n---\n").problems] == ["front-matter-too-large"]


def test_keys_of_a_human_are_found_as_they_stand() -> None:
    text = "---\ntype: concept\n# a comment\nrating:   5   # stars\nmine:\n- a\n- b\ntitle: x\n---\nbody"
    assert (
        foreign_properties(text, frozenset({"type", "title"}))
        == "# a comment\nrating:   5   # stars\nmine:\n- a\n- b\n"
    )
    assert body_of(text) == "body"


def test_plain_words_are_not_quoted_and_traps_are() -> None:
    assert [scalar(v) for v in ("KV cache", "no", "1e3", "a: b", "- x", "", "2026-11-22", True, 3)] == [
        "KV cache", '"no"', '"1e3"', '"a: b"', '"- x"', '""', '"2026-11-22"', "true", "3"
    ]  # fmt: skip


def test_strange_yaml_is_words_or_a_named_problem_and_never_runs() -> None:
    tagged = read_properties("---\na: !!python/object/apply:os.system ['touch pwned']\nb: !!int 3\n---\n")
    assert tagged.values == {"a": ["touch pwned"], "b": "3"}
    assert read_properties("---\n<<: {a: b}\nc: " + "9" * 5_000 + "\n---\n").text("c") == "9" * 5_000
    assert read_properties("---\na: first\na: second\n---\n").values == {"a": "second"}
    assert [p.code for p in read_properties("---\n? [a]\n: b\n---\n").problems] == ["front-matter-invalid"]
    assert [p.code for p in read_properties("---\na: \x1b[2J\n---\n").problems] == ["front-matter-invalid"]
    assert [
        p.code for p in read_properties("---\n" + "\n".join(f"k{n}: 1" for n in range(100_000)) + "\n---\n").problems
    ] == ["front-matter-too-large"]


def test_the_most_keys_that_fit_are_read() -> None:
    front = "".join(f"k{n}: \n" for n in range(8_000))[:64_000].rpartition("\n")[0]
    found = read_properties(f"---\n{front}\n---\n")
    assert not found.problems and len(found.values) == front.count("\n") + 1


def test_a_mark_of_byte_order_and_windows_line_ends_hide_no_property() -> None:
    for text in ("\ufeff---\nanswer: no\n---\nbody", "---\r\nanswer: no\r\n---\r\nbody"):
        assert read_properties(text).values == {"answer": "no"} and body_of(text) == "body"


def test_what_hides_or_turns_words_stands_as_an_escape_in_a_property() -> None:
    hidden = "a\u202eb\u200bc\u2066d\U000e0041e"
    line = render_property("key", hidden)
    assert line.isascii() and yaml.safe_load(line) == {"key": hidden}


@pytest.mark.parametrize(
    "retain",
    ["retain:\n    id: k7q2m9xd3f\n    mine: yes\n", "retain: {id: k7q2m9xd3f}\n", "retain: mine\n", "retain:\n"],
)
def test_properties_are_set_whatever_form_the_user_gave_the_property_retain(retain: str) -> None:
    note = f"---\ntype: concept\n{retain}tags: [a]\n---\n\nText.\n"
    changed = splice_properties(note, {"type": "concept", "generated": "0123456789ab", "confidence": "low"})
    read = read_properties(changed)
    assert not read.problems and changed.endswith("---\n\nText.\n")
    assert read.text("generated") == "0123456789ab" and read.text("confidence") == "low"
    assert read.texts("tags") == ("a",)
    if "id" in retain:
        assert read.text("id") == "k7q2m9xd3f"
    assert splice_properties(changed, {"type": "concept", "generated": "0123456789ab", "confidence": "low"}) == changed
