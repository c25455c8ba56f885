"""The sources of a vault and their claims, as the pages in `wiki/summaries/` have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from vault.errors import Damaged, Refused
from vault.ids import ClaimId, digest12
from vault.layout import SUMMARIES
from vault.model.claim import ClaimState
from vault.model.summary import parse_summary
from vault.text.formatting import clean_line, fold, short_line, short_title
from vault.vault import Vault

NOT_STATED = "not stated"
_LICENSE = 200  # characters of a licence that are shown
_STATED_AS = ("license", "licence", "rights")  # the keys by which a page may state it; the first is retain's own


@dataclass(frozen=True, slots=True)
class TrainingSource:
    """A source: the vault path of its page, its title, licence ("not stated" where it names none) and language."""

    path: str
    title: str
    license: str
    language: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Every claim that may be trained on, with its source; `held_back` are claims that are not current.

    `digests` are those of the quotes of all claims, `by_file` the sources by the vault path of their file.
    """

    by_claim: Mapping[ClaimId, TrainingSource]
    held_back: Mapping[ClaimId, ClaimState]
    digests: Mapping[ClaimId, str]
    by_file: Mapping[str, TrainingSource]

    def problem(self, claims: Iterable[ClaimId]) -> str:
        """Return why a text that cites these claims is left out; "" if it is not."""
        wanted = list(claims)
        if not wanted:
            return "cites no claim"
        for claim in wanted:
            if claim not in self.by_claim:
                state = self.held_back.get(claim)
                return f"cites a {state.value} claim" if state else "cites a claim that no longer exists"
        return ""

    def of(self, claims: Iterable[ClaimId]) -> tuple[TrainingSource, ...]:
        """Return the sources of the claims, each once, in the order of the claims."""
        return tuple(dict.fromkeys(self.by_claim[claim] for claim in claims))

    def of_file(self, path: str) -> TrainingSource:
        """Return the source whose file is at this vault path, also where it has no page."""
        name = short_title(path.rsplit("/", 1)[-1]) or "unknown"
        return self.by_file.get(path) or TrainingSource(path, name, NOT_STATED, "")

    def language(self, claims: Iterable[ClaimId]) -> str:
        """Return the language of most of the claims, of several the first; "" if unknown."""
        counts = Counter(language for claim in claims if (language := self.by_claim[claim].language))
        return counts.most_common(1)[0][0] if counts else ""


def read_sources(vault: Vault) -> Sources:
    """Return the sources of a vault; the claims of a page that cannot be read are gone."""
    by_claim: dict[ClaimId, TrainingSource] = {}
    held_back: dict[ClaimId, ClaimState] = {}
    digests: dict[ClaimId, str] = {}
    by_file: dict[str, TrainingSource] = {}
    for path in vault.paths(SUMMARIES, ".md"):
        text = None
        with suppress(Damaged, Refused):
            text = vault.read_text(path)
        if text is None:
            continue
        summary = parse_summary(text, path)
        said = summary.properties.text
        stated = next((value for key in _STATED_AS if (value := clean_line(said(key)))), "")
        source = TrainingSource(
            path,
            short_title(said("title")) or path.rsplit("/", 1)[-1].removesuffix(".md"),
            short_line(stated, _LICENSE) or NOT_STATED,
            said("language"),
        )
        by_file[said("source")] = source
        for located in summary.claims:
            digests.setdefault(located.claim.id, digest12(fold(located.claim.quote)))
            if located.claim.state is ClaimState.CURRENT:
                by_claim.setdefault(located.claim.id, source)
            else:
                held_back.setdefault(located.claim.id, located.claim.state)
    return Sources(by_claim, held_back, digests, by_file)
