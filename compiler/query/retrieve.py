"""The claims that fit a question: those that share its words, rare ones counting more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compiler.gates.gates import content_words
from compiler.model.requests import ClaimView
from vault.errors import Damaged, Refused
from vault.layout import SUMMARIES
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.summary import Summary, parse_summary
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

MOST = 24  # claims that go with a question
_FIT = 0.2  # of what the question's words weigh: less is no answer to it
_HIDDEN = frozenset({ClaimState.RETRACTED, ClaimState.SUPERSEDED})
# What a question asks for, by the word that it begins with.
_ASKED = {
    "why": {ClaimKind.MECHANISM},
    "how": {ClaimKind.MECHANISM},
    "when": {ClaimKind.APPLICATION, ClaimKind.LIMITATION, ClaimKind.FACT},
    "what": {ClaimKind.DEFINITION},
    "was": {ClaimKind.DEFINITION},
    "warum": {ClaimKind.MECHANISM},
    "wie": {ClaimKind.MECHANISM},
}
_KIND_BONUS, _OPENING_BONUS = 1.2, 1.2  # of the kind that is asked for; that begins with a word of the question


@dataclass(frozen=True, slots=True)
class Known:
    """A claim with its place, and how well it fits: the share of the question's weight, 0 to 1 and more."""

    claim: Claim
    summary: str  # the vault path
    line: int
    title: str  # of the source
    raw: str
    fit: float = 0.0
    core: bool = False

    @property
    def view(self) -> ClaimView:
        """Return the claim as an engine sees it."""
        view = ClaimView.of(self.claim, self.title)
        return view.replaced(words=view.quote) if fold(view.words) == fold(view.quote) else view


def all_claims(vault: Vault) -> Iterator[Known]:
    """Return every claim of every readable summary, without retracted and superseded ones."""
    for path in vault.paths(SUMMARIES, ".md"):
        try:
            text = vault.read_text(path)
        except (Damaged, Refused):
            continue  # `retain verify` names it
        if text is not None:
            yield from _claims(parse_summary(text, path))


def _claims(summary: Summary) -> Iterator[Known]:
    """Yield the claims of one summary."""
    title, raw = (clean_line(summary.properties.text(key)) for key in ("title", "source"))
    for located in summary.claims:
        if located.claim.state not in _HIDDEN:
            yield Known(located.claim, summary.path, located.line, title, raw)


def fitting(claims: Iterable[Known], question: str) -> list[Known]:
    """Return the claims that answer the question, the most fitting first; of equal ones, one a source."""
    wanted = set(content_words(question))
    if not wanted:
        return []
    shelf = [
        (known, wanted.intersection(content_words(f"{known.claim.words} {known.claim.quote}"))) for known in claims
    ]
    weight = weights(wanted, [held for _, held in shelf])
    heard = set().union(*(held for _, held in shelf))
    rarest = max(sorted(heard), key=lambda word: weight[word], default="")
    kinds = _ASKED.get(question.split()[0].casefold(), set())
    found: dict[tuple[str, str], Known] = {}
    for known, held in shelf:
        fit = sum(weight[w] for w in held) / sum(weight.values())
        if fit >= _FIT:
            fit *= _KIND_BONUS if known.claim.kind in kinds else 1.0
            fit *= _OPENING_BONUS if wanted.intersection(content_words(known.claim.words)[:1]) else 1.0
            found.setdefault((known.raw, fold(known.claim.quote)), replace(known, fit=fit, core=rarest in held))
    return sorted(found.values(), key=lambda k: (-k.fit, len(k.claim.words), k.claim.id))[:MOST]


def weights(wanted: set[str], held: Sequence[set[str]]) -> dict[str, float]:
    """Return how much each wanted word counts, given those that each text has: a rare one counts more."""
    counts = Counter(word for words in held for word in words)
    return {word: math.log(1 + (len(held) + 1) / (counts[word] + 1)) for word in sorted(wanted)}


def unheard(claims: Iterable[Known], question: str) -> list[str]:
    """Return the words of the question, as it writes them, that no claim has."""
    known = {w for k in claims for w in content_words(f"{k.claim.words} {k.claim.quote}")}
    words = [w.strip(".,;:!?()[]\"'“”‘’") for w in question.split()]
    return [w for w in dict.fromkeys(words) if (own := content_words(w)) and not known.intersection(own)]
