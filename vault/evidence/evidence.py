"""The evidence of a card or sentence: each claim it cites, with its source and the place of the quote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vault.errors import RetainError, UsageError
from vault.model.claim import Claim
from vault.model.summary import Summary, parse_summary
from vault.model.wikilink import Citation
from vault.text.urls import normalize_address
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Evidence:
    """One claim's words; or, with `claim` None, `problem` says why they can't be shown.

    `title` names the source in plain words, `source` is its path below the vault; the locator is the claim's.
    `address` is where the source came from on the web, http or https alone; "" where it names none.
    """

    source: str
    title: str
    claim: Claim | None = None
    problem: str = ""
    address: str = ""

    @property
    def place(self) -> str:
        """Return `The spacing effect, line 14`: the caption of the quote."""
        locator = self.claim.locator if self.claim else ""
        if not locator or locator.startswith(f"{self.title},"):
            return locator or self.title
        return f"{self.title}, {locator}"


class EvidenceReader:
    """Reads the summaries of one vault, each once."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._read: dict[str, Summary | str] = {}

    def of(self, cites: Iterable[Citation]) -> list[Evidence]:
        """Return the evidence of the citations, in their order."""
        return [self._evidence(cite) for cite in cites]

    def _evidence(self, cite: Citation) -> Evidence:
        """Return the evidence of one citation."""
        path = f"{cite.summary}.md"
        if path not in self._read:
            self._read[path] = self._summary(path)
        summary = self._read[path]
        if isinstance(summary, str):
            return Evidence(path, cite.summary.rsplit("/", 1)[-1], problem=summary)
        source = summary.properties.text("source") or path
        title = summary.properties.text("title") or source.rsplit("/", 1)[-1]
        claim = summary.claim(cite.claim)
        problem = "" if claim else f"the claim c-{cite.claim} is no longer in {path}"
        return Evidence(source, title, claim, problem, _web(summary.properties.text("url")))

    def _summary(self, path: str) -> Summary | str:
        """Return the summary, or what is wrong with it."""
        try:
            text = self._vault.read_text(path)
        except RetainError as error:
            return str(error)
        return parse_summary(text, path) if text is not None else "the summary no longer exists"


def _web(address: str) -> str:
    """Return `address` if it is on the web and can be shown as it is, else ""."""
    if not address:
        return ""
    try:
        return normalize_address(address)
    except UsageError:
        return ""
