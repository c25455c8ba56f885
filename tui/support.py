"""The words behind a card: each claim it cites, with the source and the place where a human finds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vault.claim import Claim
from vault.errors import RetainError
from vault.store import Vault
from vault.summary import Summary, parse_summary
from vault.wikilink import Citation


@dataclass(frozen=True, slots=True)
class Support:
    """One quote; or, with `claim` None, `problem` says why it cannot be shown. `source` is a path below `raw/`."""

    source: str
    claim: Claim | None = None
    problem: str = ""


def supports(vault: Vault, cites: Iterable[Citation]) -> list[Support]:
    """What the citations point to, in their order."""
    read: dict[str, Summary | str] = {}
    return [_support(vault, cite, read) for cite in cites]


def _support(vault: Vault, cite: Citation, read: dict[str, Summary | str]) -> Support:
    summary = read.get(cite.summary) or read.setdefault(cite.summary, _summary(vault, f"{cite.summary}.md"))
    if isinstance(summary, str):
        return Support(f"{cite.summary}.md", problem=summary)
    source = summary.properties.text("source") or summary.path
    claim = summary.claim(cite.claim)
    if claim is None:
        return Support(source, problem=f"the claim c-{cite.claim} is no longer in {summary.path}")
    return Support(source, claim)


def _summary(vault: Vault, path: str) -> Summary | str:
    """The summary, or what is wrong with it."""
    try:
        text = vault.read_text(path)
    except RetainError as error:
        return str(error)
    return parse_summary(text, path) if text is not None else "the summary is gone"
