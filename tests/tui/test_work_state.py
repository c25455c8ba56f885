"""How far long work is, folded from lines that may be anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tui.models import work as strings
from tui.state import job_state
from tui.state.job_state import WorkState, after, begun, ended, event_in

AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["event", "done", "of", "path", "words", "what", "where", "hint", "usd", "line", "reason"])
kinds = st.sampled_from(["source", "compose", "note", "wait", "error", "finding", "\x1b[31m"])


def heard(state: WorkState, *events: dict[str, object], seconds: float = 0) -> WorkState:
    for event in events:
        state = after(state, event, AT + timedelta(seconds=seconds))
    return state


@given(st.lists(st.fixed_dictionaries({"event": kinds}, optional={}) | st.dictionaries(names, values), max_size=8))
def test_no_line_of_the_process_breaks_the_state_or_comes_uncleaned(
    events: list[dict[str, object]],
) -> None:
    state = begun(("compile",), AT)
    for told in events:
        event = event_in(json.dumps(told).encode())
        state = state if event is None else after(state, event, AT)
    said = (state.path, state.waits, state.note, *(stage.name for stage in state.stages))
    assert not any(sign in words for words in said for sign in "\x1b\n\x9b")
    assert all(0 <= stage.done <= stage.of or stage.of == 0 for stage in state.stages)
    assert strings.in_short(state).startswith("compiling")


@given(st.binary(max_size=60))
def test_what_is_no_event_is_passed_over(line: bytes) -> None:
    found = event_in(line)
    assert found is None or isinstance(found["event"], str)


def test_steps_are_told_in_order_with_the_time_that_the_present_one_takes_still() -> None:
    state = heard(begun(("compile",), AT), {"event": "source", "done": 0, "of": 4, "path": "raw/a.md"})
    state = heard(state, {"event": "source", "done": 1, "of": 4, "path": "raw/b.md"}, seconds=10)
    assert strings.in_short(state) == "compiling 1 of 4"
    assert state.seconds_left(AT + timedelta(seconds=10)) == 30
    state = heard(state, {"event": "compose", "done": 2, "of": 2}, seconds=11)
    assert state.stage is not None and state.stage.name == "compose" and state.stage.over
    assert state.seconds_left(AT + timedelta(seconds=12)) is None
    assert [stage.name for stage in state.stages] == ["source", "compose", "cards", "save"]


def test_what_a_model_costs_is_told_and_that_without_one_it_costs_nothing() -> None:
    state = begun(("compile",), AT)
    assert strings.cost(state) == "offline: no cost"
    asked = heard(
        state, {"event": "source", "done": 1, "of": 2, "input_tokens": 1200, "output_tokens": 34, "usd": 0.02}
    )
    assert strings.cost(asked) == "1,200 tokens in, 34 out · $0.02"


def test_a_result_is_told_by_what_was_made_and_what_failed() -> None:
    result = {
        "cards": {"created": 3, "kept": 0},
        "gaps": {"structural": 1},
        "failures": [{"id": "empty", "path": "raw/a.md", "line": 0, "reason": "the file is empty", "hint": "fill it"}],
        "written": ["a"],
    }
    state = ended(begun(("compile",), AT), 1, json.dumps(result).encode(), AT + timedelta(seconds=65))
    assert strings.head(state) == "Finished with problems:"
    assert strings.made(state) == [("cards", "3 created"), ("gaps", "1 structural")]
    assert job_state.failures(state.result) == [job_state.Finding("the file is empty", "raw/a.md", "fill it")]
    assert strings.length(state.seconds(AT)) == "1 min 05 s"


def test_an_import_says_what_it_left_out_and_why() -> None:
    result = {
        "notes": {"ours": 2, "strange": 8},
        "reviews": {"added": 4, "left_out": 7},
        "left_out": {"its card was not imported": 6, "it has no rating": 1},
        "note_types": {
            "Image Occlusion": {"reported": [{"cards": 3, "reason": "its pictures are not cards"}]},
            "Basic": {"reported": [], "without": [{"cards": 2, "reason": "a filter"}]},
        },
    }
    state = ended(begun(("import", "anki", "a.apkg"), AT), 0, json.dumps(result).encode(), AT)
    assert strings.made(state) == [("notes", "2 created here, 8 created elsewhere"), ("reviews", "4 added, 7 left out")]
    assert strings.reasons(state) == [
        "6 reviews: its card was not imported",
        "3 cards of the note type Image Occlusion: its pictures are not cards",
        "2 cards of the note type Basic: imported without a filter",
        "1 review: it has no rating",
    ]


def test_an_error_and_a_process_that_was_ended_are_told_apart() -> None:
    failed = heard(begun(("optimize",), AT), {"event": "error", "what": "no", "where": "f:1", "hint": "do"})
    assert strings.head(ended(failed, 3, b"", AT)) == "Optimizing failed."
    assert strings.head(ended(begun(("compile",), AT), 130, b"not json", AT)) == strings.STOPPED
    heads = [strings.in_short(ended(begun(("compile",), AT), code, b"", AT)) for code in (0, 1, 3, 130)]
    assert heads == [f"compiling {how}" for how in ("done", "done, with problems", "failed", "was cancelled")]
