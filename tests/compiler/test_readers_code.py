"""Source code: comments and docstrings as prose under what they are about, all else as code."""

from __future__ import annotations

import pytest

from compiler.readers.code.lexing import language_of_file
from compiler.readers.formats import kind_of
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

PYTHON = '''#!/usr/bin/env python
# Copyright 2020 Ann. Licensed under the MIT licence.
"""Attention layers weigh values by *similarity*."""
import torch  # noqa

# pylint: disable=all
# x = compute(y)
# return x


class Attention(Module):
    """Scaled attention maps a query to an output.

    Args:
        dim: the width of the model in numbers

    The scale keeps the softmax away from its flat ends.

    Parameters
    ----------
    heads : int
        How many heads there are.

    Notes
    -----
    Masks hide the future.
    """

    def forward(self, q):
        # The mask is added before the softmax, so that hidden
        # positions get a weight of zero.
        text = "# no comment at all in here"
        return q @ q  # trailing words are not taken


# A cache stores the keys of earlier tokens.
@decorated
def cache():
    pass
'''


def read(text: str, name: str) -> SourceText:
    return read_source(text.encode(), name)


def prose(source: SourceText) -> list[tuple[str, str]]:
    """(place, words) of each block that is neither code nor heading."""
    silent = [m for m in source.marks if m.kind in (MarkKind.CODE, MarkKind.HEADING)]
    out, at = [], 0
    for block in source.text.split("\n\n"):
        if not any(m.start <= at and m.end >= at + len(block) for m in silent):
            out.append((source.locate(at), block))
        at += len(block) + 2
    return out


def test_python_says_what_it_says_under_the_class_or_function_it_is_about() -> None:
    source = read(PYTHON, "attention.py")
    assert prose(source) == [
        ("line 3", "Attention layers weigh values by similarity."),
        ("Attention, line 12", "Scaled attention maps a query to an output."),
        ("Attention, line 17", "The scale keeps the softmax away from its flat ends."),
        ("Attention, line 26", "Masks hide the future."),
        (
            "Attention.forward, line 30",
            "The mask is added before the softmax, so that hidden positions get a weight of zero.",
        ),
        ("cache, line 36", "A cache stores the keys of earlier tokens."),
    ]
    assert source.title == "attention.py" and source.language == "en"
    assert {m.info for m in source.marks if m.kind is MarkKind.CODE} == {"python"}
    assert "return q @ q  # trailing words are not taken" in source.text


@pytest.mark.parametrize(
    ("name", "text", "place", "words"),
    [
        ("a.js", "/**\n * Waits until calls have stopped.\n * @param {X} fn the thing\n */\n"
         "export function debounce(fn) {}\n",
         "debounce, line 2", "Waits until calls have stopped."),
        ("a.ts", "class Foo {\n  /** Gives the bar of this foo, always. */\n  bar(): number { return 1 }\n}\n",
         "Foo.bar, line 2", "Gives the bar of this foo, always."),
        ("a.go", "// Push adds an item to the end.\nfunc (q *Q) Push(x int) {\n}\n",
         "Push, line 1", "Push adds an item to the end."),
        ("a.rs", "/// A ring has two operations on it.\n#[derive(Debug)]\npub struct Ring;\n",
         "Ring, line 1", "A ring has two operations on it."),
        ("a.java", "class A {\n  /* Adds two elements of the ring. */\n  public static int add(int a) {\n }}\n",
         "A.add, line 2", "Adds two elements of the ring."),
        ("a.rb", "# Pushes an item onto the stack.\ndef push(x)\nend\n",
         "push, line 1", "Pushes an item onto the stack."),
        ("a.sql", "-- Every user has one row here.\nCREATE TABLE x (id int);\n",
         "line 1", "Every user has one row here."),
        ("a.lua", "--[[ A table maps keys to values. ]]\nlocal x = 1\n", "line 1", "A table maps keys to values."),
        ("a.hs", "-- | A monad chains computations in order.\nbind = 1\n",
         "line 1", "A monad chains computations in order."),
        ("a.m", "% The transform maps time to frequency.\ny = fft(x);\n",
         "line 1", "The transform maps time to frequency."),
        ("a.sh", "# Builds the whole of the project.\nmake all\n", "line 1", "Builds the whole of the project."),
        ("a.ml", "(* A list is empty or a cell. *)\nlet x = 1\n", "line 1", "A list is empty or a cell."),
    ],
    ids=lambda v: v if str(v).startswith("a.") else "",
)  # fmt: skip
def test_each_language_has_its_comments(name: str, text: str, place: str, words: str) -> None:
    assert prose(read(text, name)) == [(place, words)]


def test_every_suffix_that_is_code_has_rules() -> None:
    suffixes = (
        ".py .pyi .js .mjs .cjs .ts .jsx .tsx .java .c .h .cc .cpp .cxx .hpp .cs .go .rs .rb .r .jl .sh .bash .swift "
        ".kt .scala .hs .lua .php .pl .sql .m .ex .exs .clj .ml .zig"
    ).split()
    assert all(kind_of(f"x{suffix}", b"x") == "code" and language_of_file(f"x{suffix}", "") for suffix in suffixes)


def test_strings_hide_comment_signs_and_comments_hide_declarations() -> None:
    source = read(
        'const s = "/* not a comment of four words */";\nconst t = `\n// nor is this one of any kind\n`;\n'
        "// the function fake(x) { was here before\nlet y = 1;\n",
        "a.js",
    )
    assert prose(source) == [("line 5", "the function fake(x) { was here before")]


def test_licences_orders_to_tools_rules_and_sleeping_code_are_no_prose() -> None:
    source = read(
        "// SPDX-License-Identifier: MIT and then some words\nint a;\n"
        "// eslint-disable-next-line no words here\nint b;\n"
        "// int c = f(x, y);\n// return c + a * b;\nint d;\n"
        "// ------------------- \nint e;\n// TODO: make it all faster\nint f;\n",
        "a.c",
    )
    assert prose(source) == []


def test_a_file_that_a_program_made_says_so_and_its_comments_are_not_read() -> None:
    source = read("// Code generated by tool. DO NOT EDIT.\n\n// These are words of a program.\nvar x = 1\n", "a.go")
    assert [p.code for p in source.problems] == ["code-generated"] and prose(source) == []


def test_minified_code_is_refused_in_one_line() -> None:
    with pytest.raises(Unreadable, match="minified"):
        read("var a=1;" * 2_000, "a.js")


@pytest.mark.parametrize(
    "sign", ['"""', "'", "/*", "/**\n", "{-", "--[[", "#=", "`", "(((\n", "def a\n", "a(", "# a b c d\n"]
)
@pytest.mark.parametrize("name", ["a.py", "a.js", "a.rs", "a.hs", "a.lua", "a.jl"])
def test_hostile_code_ends(name: str, sign: str) -> None:
    line = sign * (1_000 // len(sign)) + "\n"
    try:
        source = read("x = 1\n" + line * 60, name)
    except Unreadable:
        return
    assert source.text.startswith("x = 1")


def test_a_notebook_kept_as_a_script_has_its_sections_as_places() -> None:
    source = read(
        "# %% [markdown]\n# # Attention\n# It weighs the values by similarity.\n\n# %%\nx = 1\n\n"
        "# Queries are compared with all of the keys.\ny = 2\n",
        "lesson.py",
    )
    assert prose(source)[-2:] == [
        ("Attention, line 3", "It weighs the values by similarity."),
        ("Attention, line 8", "Queries are compared with all of the keys."),
    ]
