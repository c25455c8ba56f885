"""The comments of programming languages, found in one pass by the signs of comments and strings alone.

Pygments knows more, takes fifty times as long, and minutes for what a hostile file holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

_QUOTED = (r'"(?:[^"\\\n]|\\.)*+"', r"'(?:[^'\\\n]|\\.)*+'")
_DOUBLE = (r'"(?:[^"\\\n]|\\.)*+"', r"'(?:[^'\\\n]|\\[^\n]{1,8})'")  # ' is a character's, a lifetime's or a quote's
_TRIPLE = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Comment:
    """`text[start:end]` is a comment, or a docstring if `doc`."""

    start: int
    end: int
    doc: bool


@dataclass(frozen=True, slots=True)
class Language:
    """Signs of a language: `line` for comments to the line's end, `block` for longer ones, `strings` over lines."""

    name: str
    line: tuple[str, ...]
    block: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ()
    quoted: tuple[str, ...] = _QUOTED
    docstrings: bool = False  # a string over lines that stands alone is said of what is declared before it


_C = (("/*", "*/"),)
_LANGUAGES: dict[str, Language] = {
    suffix: language
    for suffixes, language in (
        (".py .pyi", Language("python", ("#",), (), _TRIPLE, docstrings=True)),
        (".js .mjs .cjs .jsx", Language("javascript", ("//",), _C, ("`",))),
        (".ts .tsx", Language("typescript", ("//",), _C, ("`",))),
        (".java", Language("java", ("//",), _C, ('"""',))),
        (".c .h", Language("c", ("//",), _C)),
        (".cc .cpp .cxx .hpp", Language("cpp", ("//",), _C, (), _DOUBLE)),
        (".cs", Language("csharp", ("//",), _C, ('"""',), _DOUBLE)),
        (".go", Language("go", ("//",), _C, ("`",), _DOUBLE)),
        (".rs", Language("rust", ("//",), _C, (), _DOUBLE)),
        (".swift", Language("swift", ("//",), _C, ('"""',), _DOUBLE)),
        (".kt", Language("kotlin", ("//",), _C, ('"""',), _DOUBLE)),
        (".scala", Language("scala", ("//",), _C, ('"""',), _DOUBLE)),
        (".zig", Language("zig", ("//",), (), (), _DOUBLE)),
        (".php", Language("php", ("//", "#"), _C)),
        (".rb", Language("ruby", ("#",), (("\n=begin", "\n=end"),))),
        (".r", Language("r", ("#",))),
        (".jl", Language("julia", ("#",), (("#=", "=#"),), ('"""',), _DOUBLE)),
        (".sh .bash", Language("bash", ("#",), (), (), ())),
        (".pl", Language("perl", ("#",), (("\n=pod", "\n=cut"), ("\n=head", "\n=cut")), (), _DOUBLE)),
        (".ex .exs", Language("elixir", ("#",), (), _TRIPLE, _DOUBLE)),
        (".sql", Language("sql", ("--",), _C)),
        (".lua", Language("lua", ("--",), (("--[[", "]]"),), ("[[",))),
        (".hs", Language("haskell", ("--",), (("{-", "-}"),), (), _DOUBLE)),
        (".ml", Language("ocaml", (), (("(*", "*)"),), (), _DOUBLE)),
        (".clj", Language("clojure", (";",), (), (), (_QUOTED[0],))),
        (".m", Language("matlab", ("%",), (("%{", "%}"),), (), ())),
    )
    for suffix in suffixes.split()
}
_OBJECTIVE_C = Language("objective-c", ("//",), _C)
_IS_OBJECTIVE_C = re.compile(r"^[ \t]*(?:@interface|@implementation|@import|#import|#include)\b", re.MULTILINE)


def language_of_file(name: str, text: str) -> Language | None:
    """Return the language of a file by its name and, where two share a suffix, its text; None if unknown."""
    suffix = PurePosixPath(name.lower()).suffix
    return _OBJECTIVE_C if suffix == ".m" and _IS_OBJECTIVE_C.search(text) else _LANGUAGES.get(suffix)


@cache
def _signs(language: Language) -> re.Pattern[str]:
    """Return the pattern of what begins a string or comment; ordinary strings are matched whole."""
    openings = [re.escape(sign) for sign in (*(a for a, _ in language.block), *language.strings)]
    lines = [rf"^[ \t]*(?P<line>{'|'.join(map(re.escape, language.line))})[^\n]*"] if language.line else []
    loose = [rf"{re.escape(sign)}[^\n]*" for sign in language.line]  # after code: passed over
    return re.compile(
        "|".join(
            [f"(?P<open>{'|'.join(openings)})" if openings else "(?P<open>(?!))", *lines, *language.quoted, *loose]
        ),
        re.M,
    )


def comments_in(text: str, language: Language) -> list[Comment]:
    """Return the comments and docstrings on lines of their own; those on neighbouring lines are one."""
    closing = dict(language.block) | {sign: "]]" if sign == "[[" else sign for sign in language.strings}
    found: list[Comment] = []
    at = 0
    pattern = _signs(language)
    while (sign := pattern.search(text, at)) is not None:
        at = max(sign.end(), at + 1)
        opened = sign["open"]
        if opened:
            end = text.find(closing[opened], sign.end())
            at = end + len(closing[opened]) if end >= 0 else len(text)  # what never closes is all that follows
            stands_alone = not text[text.rfind("\n", 0, sign.start() + 1) + 1 : sign.start()].strip(" \trRuUbB@doc")
            doc = opened in language.strings
            if (language.docstrings if doc else True) and stands_alone:
                _take(Comment(sign.start(), at, doc), text, found)
        elif language.line and sign["line"]:
            _take(Comment(sign.start("line"), sign.end(), False), text, found)
    return found


def _take(comment: Comment, text: str, found: list[Comment]) -> None:
    """Add a comment, joined to the one on the line before it."""
    if found and not comment.doc and not found[-1].doc:
        between = text[found[-1].end : comment.start]
        if not between.strip() and between.count("\n") <= 1:
            found[-1] = Comment(found[-1].start, comment.end, False)
            return
    found.append(comment)
