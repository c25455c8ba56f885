# ruff: noqa: E501 - a pattern is read best on one line
"""Definitions and questions in Chinese sentences, by the words of grammar that mark them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.phrases import is_whole, trimmed
from compiler.engines.extractive.questions import Question

_NAME = r"[①-⑳]?\s*[“「《\"]?(?P<term>[\w·\-\s]{2,16}?)[”」》\"]?(?:（[^）]{1,60}）|\([^)]{1,60}\))?"
_DOMAIN = r"(?P<domain>在[^，。]{2,15}[中里上内，],?)?"
_PATTERNS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (rf"^{_DOMAIN}(?:所谓的?)?{_NAME}(?:，)?(?:是指|指的是|就是指|系指|意指|意为|意思是|表示)(?P<meaning>.+)$", "means"),
        (rf"^{_DOMAIN}(?:所谓的?)?{_NAME}(?:，)?(?:就是|是)(?P<meaning>(?:一种|一个|一类|一套|一项|一组|一门|由|指|对|将|把|通过|用于|用来).+)$", "copula"),
        (rf"^(?P<meaning>.+?)(?:，)?(?:被称为|称为|称作|叫做|叫作|称之为|简称为?){_NAME}[。]?$", "called"),
        (rf"^{_NAME}[：:](?P<meaning>.{{6,}})$", "lead"),
    )
)  # fmt: skip
_CONDITION = re.compile(r"^(?P<condition>(?:如果|若|一旦|只要|当)[^，。]+)，(?:那么|则|就)?(?P<main>[^。]+)。$")
_REASON = re.compile(r"^(?:因为|由于)(?P<reason>[^，。]+)，(?:因此|所以|故)?(?P<main>[^。]+)。$")
_PARTS = re.compile(
    r"^(?P<subject>[^，。]{2,16}?)(?:由(?P<parts>[^，。].+?)(?:组成|构成)|(?:主要)?(?:包括|包含)(?P<items>.+))。$"
)
_OPENING = re.compile(r"^(?:实际上)?(?:就?是)?(?:指的是|指)?")
_LABEL = re.compile(r"的?(?:含义|定义|概念)$")
_NUMBER = re.compile(r"^[①-⑳\d（）()、.\s]+")
POINTS = re.compile(r"这|该|此(?!外)|上述|以下|如下|本文|我们|你|前者|后者|其中")
_IN_NAMES = frozenset("neljvbgsxtq")  # first letters of jieba's tags for what names are made of
_NO_START = frozenset("当对在从把被将由与和及若如以为其各每某")


def _is_name(term: str) -> bool:
    """Return whether every word of a term can be part of a name, and the last is a noun."""
    import jieba.posseg

    tags = [pair.flag for pair in jieba.posseg.cut(term) if pair.word.strip()]
    if term[:1] in _NO_START or not tags:
        return False
    return all(t[:1] in _IN_NAMES and t != "vshi" for t in tags) and (tags[-1] == "vn" or tags[-1][:1] in "neljgx")


def definitions_in(text: str) -> Iterator[Definition]:
    """Yield what a Chinese sentence defines."""
    for pattern, name in _PATTERNS:
        if match := pattern.match(text):
            term = _LABEL.sub("", _NUMBER.sub("", match["term"].strip()))
            meaning = _OPENING.sub("", trimmed(match["meaning"]).rstrip("。；，").removeprefix(term))
            if len(meaning) > 5 and is_whole(meaning) and _is_name(term) and not POINTS.search(meaning):
                yield Definition(term, meaning, name, "", (match.groupdict().get("domain") or "").strip("，,"))
                return


def from_definition(definition: Definition) -> Iterator[Question]:
    """Yield the questions for the meaning of a term, and for the term of a meaning."""
    term, meaning = definition.term, definition.meaning.rstrip("。；，")
    if meaning.endswith("？"):
        return
    yield Question("definition", "definitional", f"什么是{term}？", f"{meaning}。", term)
    yield Question("term", "definitional", f"哪个术语的意思是：{meaning}？", f"{term}。", term)


def questions_in(text: str) -> Iterator[Question]:
    """Yield the questions that a Chinese sentence answers."""
    if match := _CONDITION.match(text):
        yield Question("condition", "mechanistic", f"{match['condition']}，会怎样？", f"{match['main']}。", "")
    if match := _REASON.match(text):
        yield Question("reason", "mechanistic", f"为什么{match['main']}？", f"因为{match['reason']}。", "")
    if match := _PARTS.match(text):
        subject = match["subject"]
        if match["parts"]:
            yield Question("parts", "relational", f"{subject}由什么组成？", f"{match['parts']}。", subject)
        else:
            yield Question("parts", "relational", f"{subject}包括什么？", f"{match['items']}。", subject)
