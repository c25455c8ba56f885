"""The prose of a code comment, without its signs; licences, directives to tools and commented-out code are none."""

from __future__ import annotations

import re

MIN_WORDS = 4
MAX_COMMENT = 100_000  # characters
_LICENCE = re.compile(
    r"\bcopyright\b|\(c\) \d{4}|\blicen[sc]ed? (?:under|to)\b|\bSPDX-|all rights reserved|permission is hereby granted"
    r"|redistribution and use in source|without warrant",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\s*(?:!|-\*-|vim?:|noqa\b|type:|mypy:|pylint:|flake8:|ruff:|isort:|fmt:|yapf:|pragma\b|pyright:|eslint\b|eslint-"
    r"|prettier-|tslint:|@ts-|@flow\b|istanbul |jshint\b|global\b|NOLINT|clang-format|cppcheck|go:|\+build\b|nolint\b"
    r"|rubocop:|frozen_string_literal|coding[:=]|region\b|endregion\b|@formatter|noinspection|shellcheck |codespell:"
    r"|<reference|sourceMappingURL|language=|TODO\b|FIXME\b|XXX\b|HACK\b|@author\b|@date\b|@file\b|Created (?:by|on)\b"
    r")",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"\s*[@\\](?:param|return|returns|throws|exception|type|typedef|see|since|version|ingroup|tparam|retval|private|public|internal|override|deprecated|template|property|default|module|memberof|class|extends|implements|function|brief|file|name)\b"
)
_KEEP_TAGGED = re.compile(r"\s*[@\\](?:brief|details|note|remark|remarks|summary|description|desc|deprecated)\s*")
_RULE = re.compile(r"\s*([-=*#~_/+.%;])\1{2,}.{0,80}?\1*\s*|\s*[-=*#~_/+]{3,}\s*|%%.*")  # %% begins a cell
_CODE_LINE = re.compile(
    r".*[;{}\\]\s*$|\s*[\w.\[\]\"'*&()]+(?:\s*,\s*\w+)*\s*(?:[-+*/|:]?=|:=|<-|=>)\s*\S|\s*[\w.]+\([^()]*\)\s*[:,;]?\s*$"
    r"|\s*(?:import|from|return|elif|else:|for|while|if|def|class|let|var|const|print|assert|with|try:|except|func|fn|end"
    r"|raise|del|async|await|echo|#include|#define|using)\b.*(?:[=()\[\]:;{}]|import)\s*\S*\s*$|\s*[)\]}],?\s*$|\s*</?\w+[^<>]*>\s*$|\s*@\w+"
)  # fmt: skip
_SECTION = re.compile(
    r"([ \t]*)(?:Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Attributes|Keyword Args|Keyword Arguments|"
    r"Other Parameters|Methods|References|See Also|Shape|Inputs?|Outputs?|Usage|Examples?):?[ \t]*"
)
_UNDERLINE = re.compile(r"[ \t]*[-=~]{3,}[ \t]*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_OPENINGS = ("/**", "/*!", "/*", "<!--", "{-|", "{-", "(*", "--[[", "#|", "=begin", "%{", "#=")
_CLOSINGS = ("**/", "*/", "-->", "-}", "*)", "]]", "|#", "=end", "%}", "=#")


def is_licence(raw: str) -> bool:
    """Return whether a comment is a licence or copyright notice."""
    return _LICENCE.search(raw[:MAX_COMMENT]) is not None


def prose_of(raw: str, docstring: bool) -> str | None:
    """Return the words of a comment, line for line as in the file; None if they are no prose."""
    if len(raw) > MAX_COMMENT:
        return None
    lines = _docstring_lines(raw) if docstring else _comment_lines(raw)
    if not docstring:
        begins = next((line for line in lines if line.strip()), "")
        if is_licence(raw) or _ORDER.match(begins):
            return None
        lines = _without_tags(lines)
    else:
        lines = _without_sections(lines)
    lines = ["" if _RULE.fullmatch(line) and not (docstring and _UNDERLINE.fullmatch(line)) else line for line in lines]
    said = [line for line in lines if line.strip()]
    coded = sum(_CODE_LINE.match(line) is not None for line in said)
    words = sum(len(_WORD.findall(line)) for line in said)
    if words < MIN_WORDS or (not docstring and coded * 2 >= len(said)):
        return None
    return "\n".join(lines)


def _comment_lines(raw: str) -> list[str]:
    """Return a comment's lines without the signs of a comment."""
    out: list[str] = []
    for line in raw.split("\n"):
        bare = line.strip()
        if opening := next(filter(bare.startswith, _OPENINGS), ""):
            bare = bare.removeprefix(opening)
        else:
            bare = re.sub(r"^(?:///?!?|#+['!]?|--+(?: ?\|)?|;+|%+|'|\*(?!\*|/)|//)(?=\s|$|\w)", "", bare, count=1)
        bare = bare.removesuffix(next(filter(bare.endswith, _CLOSINGS), ""))
        out.append(bare.removeprefix(" ").rstrip())
    edge = min((len(line) - len(line.lstrip()) for line in out if line.strip()), default=0)
    return [line[edge:] for line in out]


def _docstring_lines(raw: str) -> list[str]:
    """Return a docstring's lines without quotes and the indentation of its code."""
    raw = re.sub(r"^[rRbBuUfF]{0,2}(\"\"\"|'''|\"|')", "", raw)
    raw = re.sub(r"(\"\"\"|'''|\"|')$", "", raw)
    first, *rest = raw.split("\n")
    edge = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return [first.strip(), *(line[edge:].rstrip() for line in rest)]


def _without_tags(lines: list[str]) -> list[str]:
    """Return the lines without those about single parameters (@param ...) and their continuations."""
    out: list[str] = []
    tagged = False
    for line in lines:
        kept = _KEEP_TAGGED.match(line)
        if kept:
            line, tagged = line[kept.end() :], False
        elif _TAGGED.match(line):
            tagged = True
        elif not line.strip():
            tagged = False
        out.append("" if tagged or _ORDER.match(line) else line)
    return out


def _without_sections(lines: list[str]) -> list[str]:
    """Return a docstring without lists of arguments and results, in Google's or NumPy's style."""
    out: list[str] = []
    skipping = -1  # the indentation of the section that is left out; NumPy's ends where the next one begins
    numpy = False
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        underlined = number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1]) is not None
        section = _SECTION.fullmatch(line)
        if section is not None and (underlined or line.rstrip().endswith(":")):
            skipping, numpy = indent, underlined
        elif line.strip() and not _UNDERLINE.fullmatch(line) and (underlined or (not numpy and indent <= skipping)):
            skipping = -1
        out.append("" if skipping >= 0 or _UNDERLINE.fullmatch(line) or (underlined and line.strip()) else line)
    return out
