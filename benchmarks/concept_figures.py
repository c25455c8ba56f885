"""How well articles agree with a hand-made key: recall, precision, doubles, gaps, and what to judge by hand."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.concept_key import Concept, Key, folded


@dataclass(frozen=True, slots=True)
class Made:
    """A concept that was made: its names, its first words, and the documents it rests on (paths as in the key)."""

    title: str
    aliases: tuple[str, ...] = ()
    lead: str = ""
    files: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.title, *self.aliases)


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole`."""

    part: int
    whole: int

    @property
    def ratio(self) -> float | None:
        return self.part / self.whole if self.whole else None

    def __str__(self) -> str:
        return f"{self.part / self.whole:.3f} ({self.part} of {self.whole})" if self.whole else "- (none)"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the articles and the key say of each other.

    `found` are the key's concepts with an article whose title or alias they share. `matched` and `unmatched` part the
    articles by whether they share a name with a concept of the key. `doubles` are articles that share one concept or
    one folded title, `merged` those that share names with several concepts.
    """

    key: Key
    made: tuple[Made, ...]
    found: frozenset[str]
    matched: tuple[Made, ...]
    unmatched: tuple[Made, ...]
    doubles: tuple[tuple[str, tuple[str, ...]], ...]
    merged: tuple[tuple[str, tuple[str, ...]], ...]

    def recall(self, of: Iterable[Concept]) -> Share:
        """How many of these concepts of the key have an article."""
        asked = list(of)
        return Share(sum(c.name in self.found for c in asked), len(asked))

    @property
    def wanted(self) -> list[Concept]:
        """The key's concepts that a reader would miss."""
        return [c for c in self.key.concepts if not c.minor]

    def recalls(self) -> dict[str, Share]:
        """Recall over all wanted concepts, the core, those of short and of long documents, and with minor ones."""
        long = self.key.long
        return {
            "all": self.recall(self.wanted),
            "core": self.recall(c for c in self.wanted if c.core),
            "short documents": self.recall(c for c in self.wanted if set(c.files) - long),
            "long documents": self.recall(c for c in self.wanted if set(c.files) & long),
            "minor ones too": self.recall(self.key.concepts),
        }

    def recall_by_file(self) -> dict[str, Share]:
        return {f: self.recall(c for c in self.wanted if f in c.files) for f in self.key.files()}

    def precisions(self) -> dict[str, Share]:
        """The share of articles that the key has, of all and by whether they rest on a short document."""
        short = {m.title for m in self.made if set(m.files) - self.key.long}
        return {
            "all": Share(len(self.matched), len(self.made)),
            "from short documents": Share(sum(m.title in short for m in self.matched), len(short)),
            "from long documents only": Share(
                sum(m.title not in short for m in self.matched), sum(m.title not in short for m in self.made)
            ),
        }

    def errors(self) -> list[str]:
        """The titles of articles about what the key calls no concept."""
        wrong = {folded(n) for n in self.key.not_concepts}
        return sorted(m.title for m in self.made if any(folded(n) in wrong for n in m.names))

    def about_gaps(self) -> list[str]:
        """The titles of articles about what, after the key, no document explains."""
        gaps = self.key.gap_index()
        return sorted(m.title for m in self.unmatched if any(folded(n) in gaps for n in m.names))

    def missed(self) -> list[str]:
        return sorted(c.name for c in self.wanted if c.name not in self.found)


def agreement(key: Key, made: Sequence[Made]) -> Agreement:
    """The articles `made` beside the key."""
    index = key.concept_index()
    by_concept: dict[str, list[str]] = defaultdict(list)
    by_title: dict[str, list[str]] = defaultdict(list)
    matched: list[Made] = []
    unmatched: list[Made] = []
    merged: list[tuple[str, tuple[str, ...]]] = []
    for article in sorted(made, key=lambda m: (m.title.casefold(), m.title)):
        by_title[folded(article.title)].append(article.title)
        shared = sorted({index[folded(n)].name for n in article.names if folded(n) in index})
        (matched if shared else unmatched).append(article)
        if len(shared) > 1:
            merged.append((article.title, tuple(shared)))
        for name in shared:
            by_concept[name].append(article.title)
    doubled = {tuple(titles): name for group in (by_title, by_concept) for name, titles in group.items() if titles[1:]}
    return Agreement(
        key=key,
        made=tuple(made),
        found=frozenset(by_concept),
        matched=tuple(matched),
        unmatched=tuple(unmatched),
        doubles=tuple(sorted((name, titles) for titles, name in doubled.items())),
        merged=tuple(merged),
    )


@dataclass(frozen=True, slots=True)
class GapAgreement:
    """The structural gaps on the agenda beside the key's: how many of the key's are on it, how many on it are wrong."""

    recall: Share
    listed: int
    explained: tuple[str, ...]  # on the agenda, though the key says that a document explains it
    not_concepts: tuple[str, ...]


def gap_agreement(key: Key, listed: Sequence[str]) -> GapAgreement:
    gaps, concepts = key.gap_index(), key.concept_index()
    wrong = {folded(n) for n in key.not_concepts}
    names = sorted(set(listed), key=str.casefold)
    hit = {gaps[folded(n)].name for n in names if folded(n) in gaps}
    return GapAgreement(
        recall=Share(len(hit), len(key.gaps)),
        listed=len(names),
        explained=tuple(n for n in names if folded(n) in concepts),
        not_concepts=tuple(n for n in names if folded(n) in wrong),
    )


@dataclass(frozen=True, slots=True)
class JudgedPrecision:
    """Precision where the articles that the key lacks count as good as the share of good ones in a judged sample.

    `precision` is None as long as articles of the sample are `unjudged`.
    """

    precision: float | None
    good: int
    sample: int
    unjudged: tuple[Made, ...]


def sample_of(found: Agreement, number: int, seed: int) -> list[Made]:
    """So many articles that the key lacks, at random: all of them where `number` is 0 or there are no more."""
    number = min(number or len(found.unmatched), len(found.unmatched))
    return random.Random(seed).sample(found.unmatched, number)


def judged_precision(found: Agreement, sample: Sequence[Made], verdicts: Mapping[str, bool]) -> JudgedPrecision:
    """`sample` is a random one of the articles that the key lacks; `verdicts` are by folded title.

    Only verdicts on the sample count: titles that were judged for another engine's sake are no random sample of these.
    """
    good = sum(verdicts.get(folded(m.title), False) for m in sample)
    unjudged = tuple(m for m in sample if folded(m.title) not in verdicts)
    share = good / len(sample) if sample else 0.0
    whole = len(found.matched) + share * len(found.unmatched)
    precision = None if unjudged or not found.made else whole / len(found.made)
    return JudgedPrecision(precision, good, len(sample), unjudged)


# --- what is printed ------------------------------------------------------------------------------------------------


def as_markdown(found: Agreement, gaps: GapAgreement, judged: JudgedPrecision | None) -> str:
    """The figures as tables and lists, for humans."""
    lines = ["| against the key | figure |", "| --- | --- |"]
    lines += [f"| recall, {name} | {share} |" for name, share in found.recalls().items()]
    lines += [f"| precision, {name} | {share} |" for name, share in found.precisions().items()]
    if judged is not None:
        shown = "-" if judged.precision is None else f"{judged.precision:.3f}"
        left = f"; {len(judged.unjudged)} not yet judged" if judged.unjudged else ""
        lines.append(
            f"| precision, judged | {shown} ({judged.good} of a sample of {judged.sample} are concepts{left}) |"
        )
    lines += [
        f"| gap recall | {gaps.recall} |",
        f"| structural gaps listed | {gaps.listed} |",
        f"|   of which a document explains | {len(gaps.explained)} |",
        f"|   of which no concept | {len(gaps.not_concepts)} |",
        f"| articles about no concept | {len(found.errors())} |",
        f"| articles about a gap of the key | {len(found.about_gaps())} |",
        f"| doubles | {len(found.doubles)} |",
        f"| articles that merge concepts of the key | {len(found.merged)} |",
        "",
        "| document | recall |",
        "| --- | --- |",
        *(f"| {file} | {share} |" for file, share in found.recall_by_file().items()),
        "",
        *_listed("Articles about no concept", found.errors()),
        *_listed("Doubles", [f"{name}: {', '.join(titles)}" for name, titles in found.doubles]),
        *_listed("Articles that merge concepts of the key", [f"{t}: {', '.join(n)}" for t, n in found.merged]),
    ]
    return "\n".join(lines)


def _listed(heading: str, items: Sequence[str]) -> list[str]:
    return [f"{heading}:", "", *(f"- {item}" for item in items), ""] if items else []


def as_json(found: Agreement, gaps: GapAgreement, judged: JudgedPrecision | None) -> dict[str, Any]:
    """The same for programs, with every title by name."""
    return {
        "recall": {name: _figure(share) for name, share in found.recalls().items()},
        "recall_by_file": {name: _figure(share) for name, share in found.recall_by_file().items()},
        "precision": {name: _figure(share) for name, share in found.precisions().items()},
        "judged": None
        if judged is None
        else {"precision": judged.precision, "good": judged.good, "sample": judged.sample}
        | {"unjudged": [m.title for m in judged.unjudged]},
        "gap_recall": _figure(gaps.recall),
        "gaps": {"listed": gaps.listed, "explained": gaps.explained, "not_concepts": gaps.not_concepts},
        "errors": found.errors(),
        "about_gaps": found.about_gaps(),
        "doubles": [[name, *titles] for name, titles in found.doubles],
        "merged": dict(found.merged),
        "missed": found.missed(),
        "unmatched": [m.title for m in found.unmatched],
    }


def _figure(share: Share) -> dict[str, float | int | None]:
    return {"part": share.part, "whole": share.whole, "ratio": share.ratio}


def to_judge(found: Agreement, chosen: Sequence[Made]) -> str:
    """Articles that the key lacks, each with its first words and room for a verdict, as a Markdown list."""
    head = f"# {len(chosen)} of {len(found.unmatched)} concepts that the key lacks"
    asked = "Judge each by itself: does the title name something that could be taught, and do its first words teach it?"
    lines = [head, "", asked, ""]
    for n, article in enumerate(chosen, 1):
        also = f" (also: {', '.join(article.aliases)})" if article.aliases else ""
        lines += [f"{n}. **{article.title}**{also}", f"   {article.lead}", f"   - from {', '.join(article.files)}"]
        lines += ["   - concept/not — reason: ", ""]
    return "\n".join(lines)
