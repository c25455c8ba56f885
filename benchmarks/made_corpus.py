"""A made-up library: sources in plain sentences about terms that nobody has heard of, as many as one asks for.

Real documents explain some dozens of terms each; for the size of a large vault we need thousands, and may not ship
somebody's book. The words are invented, the grammar isn't, so the compiler reads them as it reads anything else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

TERMS_PER_SOURCE = 8
SEED = 20261121

_ONSETS = "b br d dr f fl g gr h j k kl l m n p pl r s sk t tr v z".split()
_VOWELS = "a e i o u ai ea ou".split()
_CODAS = "l m n r rn nd lt rk x th ng".split()
_HEADS = (
    "lattice valve coupling relay membrane ledger filter kiln buffer gearing rotor anchor bellows column sieve".split()
)
_KINDS = "device structure mechanism container circuit surface chamber joint vessel frame".split()
_MATTERS = "brine resin steam gravel pollen starch lime silt ash wax vapour slurry amber tar dye sap".split()
_PLACES = "harbour mill orchard foundry quarry greenhouse tannery brewery cellar reservoir workshop mine".split()
_VERBS = "stores slows splits warms dries measures sorts thickens cools dilutes presses loosens".split()
_EFFECTS = "pressure humidity friction sediment current temperature tension viscosity acidity backflow".split()
_PARTS = "spindle collar baffle hinge nozzle grate flange wick plunger gasket trough pulley".split()

_DEFINITIONS = (
    "A **{term}** is a {kind} that {verb} {matter} before it reaches the {place}.",
    "The **{term}** is the {kind} by which a {place} {verb} its {matter} with a {part}.",
    "**{Term}** refers to a {kind} that {verb} {matter} between a {part} and a {part2}.",
    "A **{term}** is a {kind} of {number} parts, used where {matter} meets {matter2} in a {place}.",
)
_MECHANISMS = (
    "The {term} works by turning its {part}, so that the {effect} of the {matter} falls before the {part2} opens.",
    "Because the {part} of a {term} closes first, the {effect} rises and the {matter} is driven towards the {part2}.",
    "A {term} lowers the {effect} by leading the {matter} past its {part} {number} times.",
)
_RELATIONS = (
    "Unlike the {other}, the {term} needs no {part} and keeps its {effect} when the {matter} runs out.",
    "The {term} depends on the {other}, which supplies it with {matter} from the {place}.",
    "In contrast to the {other}, a {term} loses its {effect} within {number} hours of contact with {matter}.",
)
_APPLICATIONS = (
    "The {term} is used to clean {matter} out of a {place} after {number} days of standing.",
    "Builders use a {term} when the {effect} in a {place} must stay below {number} grades.",
    "A {term} is applied in every {place} whose {matter} carries too much {matter2}.",
)
_ASIDES = (
    "Its {part} wears out after {number} seasons.",
    "Most are built from a {part} and {number} layers of {matter}.",
    "The oldest one still turning stands in a {place}.",
)


@dataclass(frozen=True, slots=True)
class Made:
    """How much was written."""

    sources: int
    terms: int
    bytes: int


def write_library(folder: Path, terms: int, *, seed: int = SEED) -> Made:
    """Writes Markdown sources below `folder` that define `terms` invented terms between them; the same for a seed."""
    dice = random.Random(seed)
    names = _names(dice, terms)
    size = 0
    groups = [names[n : n + TERMS_PER_SOURCE] for n in range(0, terms, TERMS_PER_SOURCE)]
    for number, group in enumerate(groups):
        text = _source(dice, group, names)
        path = folder / f"part-{number // 50:02}" / f"source-{number:04}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        size += len(text.encode())
    return Made(len(groups), terms, size)


def one_more_source(seed: int) -> str:
    """The text of one more source, on terms of its own, to be added to a library of another seed."""
    dice = random.Random(seed)
    names = _names(dice, TERMS_PER_SOURCE)
    return _source(dice, names, names)


def _names(dice: random.Random, wanted: int) -> list[str]:
    """So many different terms of two words, the first of each invented and never used twice."""
    coined: dict[str, None] = {}
    while len(coined) < wanted:
        word = "".join(dice.choice(_ONSETS) + dice.choice(_VOWELS) for _ in range(2)) + dice.choice(_CODAS)
        coined[word] = None
    return [f"{word} {dice.choice(_HEADS)}" for word in coined]


def _source(dice: random.Random, group: list[str], names: list[str]) -> str:
    title = f"Notes on the {group[0]} and its kin"
    return f"# {title}\n\n" + "\n\n".join(_section(dice, term, names) for term in group) + "\n"


def _section(dice: random.Random, term: str, names: list[str]) -> str:
    """A heading and two short paragraphs on one term: what it is, how it works, what it goes with, what it is for."""
    first = [_sentence(dice, _DEFINITIONS, term, names), _sentence(dice, _MECHANISMS, term, names)]
    second = [_sentence(dice, kind, term, names) for kind in (_RELATIONS, _APPLICATIONS, _ASIDES)]
    return f"## {term.capitalize()}\n\n{' '.join(first)}\n\n{' '.join(second)}"


def _sentence(dice: random.Random, patterns: tuple[str, ...], term: str, names: list[str]) -> str:
    part, part2 = dice.sample(_PARTS, 2)
    matter, matter2 = dice.sample(_MATTERS, 2)
    return dice.choice(patterns).format(
        term=term,
        Term=term.capitalize(),
        other=dice.choice(names),
        kind=dice.choice(_KINDS),
        verb=dice.choice(_VERBS),
        effect=dice.choice(_EFFECTS),
        place=dice.choice(_PLACES),
        number=dice.randrange(2, 90),
        part=part,
        part2=part2,
        matter=matter,
        matter2=matter2,
    )
