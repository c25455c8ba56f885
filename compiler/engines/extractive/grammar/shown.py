"""A sentence less the words that point at a figure: "A gear is a wheel with teeth, as the figure below shows."

What is left says the same without the page, so that it stands alone and can be asked about.
"""

from __future__ import annotations

import re

_THING = (
    r"(?:figures?|figs?\.?|diagrams?|pictures?|images?|illustrations?|plots?|charts?|graphs?|drawings?|sketch(?:es)?|"
    r"photos?|photographs?|screenshots?|schematics?|tables?|animations?|visuali[sz]ations?)"
)
_SHOWN = (
    r"(?:shown|seen|illustrated|depicted|pictured|drawn|plotted|sketched|visuali[sz]ed|presented|displayed|"
    r"demonstrated|summari[sz]ed)"
)
_SHOWS = r"(?:shows?|illustrates?|depicts?|makes? clear|demonstrates?|indicates?|suggests?)"
_WHERE = r"(?: (?:above|below|here|(?:on|at|to) the (?:left|right|top|bottom)|(?:on|over) the (?:next|previous) page))?"
_NUMBER = r"(?: ?\d+(?:[.-]\d+)*[a-z]?(?: ?\([a-z]\))?)"
_ORDER = r"(?:following|above|next|accompanying|previous|preceding|first|second|last|left|right|adjacent)"
# "Figure 3", "the figure below", "the following diagram", "this picture"
_AT = (
    rf"(?:{_THING}{_NUMBER}(?: and{_NUMBER})?{_WHERE}|(?:the|this|these|our) (?:{_ORDER} )?{_THING}{_NUMBER}?"
    rf"(?: {_SHOWN})?{_WHERE})"
)
_PLACED = rf"(?:(?:in|by|on|with) {_AT}|above|below|here|opposite)"
_CLAUSE = (
    rf"(?:as (?:(?:is|are|was|were|can be|has been) )?(?:also )?{_SHOWN} {_PLACED}|as (?:in )?{_AT} {_SHOWS}"
    rf"|as in {_AT}|{_SHOWN} {_PLACED}|like (?:the one|those) {_SHOWN} {_PLACED}|see {_AT})"
)
_LEADING = re.compile(rf"{_CLAUSE}, (?=\S)", re.IGNORECASE)
_TRAILING = re.compile(rf"[,;] (?:and )?{_CLAUSE}(?=[.:!]?$)", re.IGNORECASE)
_BARE_TRAILING = re.compile(rf" as (?:is |are )?{_SHOWN} (?:in|by) {_AT}(?=[.:!]?$)", re.IGNORECASE)
_INSIDE = re.compile(rf", {_CLAUSE}(?P<comma>,)(?= )", re.IGNORECASE)
_BRACKETED = re.compile(rf" ?[(\[](?:{_CLAUSE}|{_AT}|above|below)[)\]]", re.IGNORECASE)
# Before its main clause a sentence keeps the comma: "In spring, as Figure 2 shows, the sea rises."
_FRONTED = re.compile(
    r"(?:in|on|at|by|for|with|without|when|if|while|because|since|after|before|during|although|though|as|once|unlike|"
    r"like|from|under|over|between|among|through|thus|hence|therefore|however)\b[^,]*$",
    re.IGNORECASE,
)
_HINT = re.compile(rf"\b{_SHOWN}\b|\b{_THING}\b|[(\[](?:above|below)[)\]]", re.IGNORECASE)


def without_shown(sentence: str) -> str:
    """`sentence` without its clauses and brackets that only point at a figure or a table; as it is without one."""
    if _HINT.search(sentence) is None:
        return sentence
    rest = _BRACKETED.sub("", sentence)
    lead = _LEADING.match(rest)
    if lead is not None:
        rest = rest[lead.end() : lead.end() + 1].upper() + rest[lead.end() + 1 :]
    inside = _INSIDE.search(rest)
    if inside is not None:
        comma = "," if _FRONTED.match(rest[: inside.start()]) else ""
        rest = rest[: inside.start()] + comma + rest[inside.end() :]
    return _BARE_TRAILING.sub("", _TRAILING.sub("", rest))
