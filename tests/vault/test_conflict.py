from vault.text.diff import line_of, sides

TEXT = """one
<<<<<<< HEAD
two
=======
zwei
drei
>>>>>>> branch
four
<<<<<<< HEAD
five
||||||| base
5
=======
>>>>>>> branch
"""


def test_the_two_sides_are_told_apart_whatever_the_style() -> None:
    assert sides(TEXT) == ("one\ntwo\nfour\nfive\n", "one\nzwei\ndrei\nfour\n")
    assert line_of(TEXT) == 2


def test_a_text_without_markers_has_no_sides() -> None:
    assert sides("a\n=======\nb\n") is None and line_of("a\n<<<<<<< HEAD\n") == 0


def test_markers_are_found_with_the_line_ends_of_windows_and_without_the_last_one() -> None:
    text = "a\r\n<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> other\r\n"
    assert sides(text) == ("a\r\nb\r\n", "a\r\nc\r\n") and line_of(text) == 2
    assert line_of("a\n<<<<<<< HEAD\nb\n=======\nc\n") == 2


def test_what_begins_like_a_conflict_and_is_none_stays_as_it_is() -> None:
    half = "<<<<<<< HEAD\nsix\n||||||| base\n=======\nseven\n"
    assert sides(half) is None and line_of(half) == 1
    assert sides(TEXT + half) == tuple(
        f"{side}{half}" for side in ("one\ntwo\nfour\nfive\n", "one\nzwei\ndrei\nfour\n")
    )
