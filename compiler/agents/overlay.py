"""A build's articles with the text that agents wrote in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.agents.articles import Evidence, article_text
from compiler.agents.inert import markdown_fault
from compiler.agents.record import KeptPage
from compiler.articles.article import TextOf
from compiler.articles.concepts import Concepts
from vault.diagnostic import Diagnostic
from vault.ids import ClaimId
from vault.layout import PROPOSALS
from vault.model.claim import Claim
from vault.model.wikilink import Citation, citations


@dataclass(frozen=True, slots=True)
class AgentPages:
    """The articles with agents' text by path, those that have no place any more as `proposals`, and what they cite."""

    pages: dict[str, str] = field(default_factory=dict)
    proposals: dict[str, str] = field(default_factory=dict)
    cited: set[ClaimId] = field(default_factory=set)
    notices: list[Diagnostic] = field(default_factory=list)


def agents_pages(
    kept: Mapping[str, KeptPage], pages: Mapping[str, str], concepts: Concepts, old_text: TextOf
) -> AgentPages:
    """Return the agents' articles among the `pages` of a build. `old_text` gives the pages of the last build."""
    sources = concepts.sources
    stems = {stem: id_ for id_, stem in sources.summaries.items()}

    def claim_of(cite: Citation) -> Claim | None:
        claim = sources.claims.get(cite.claim)
        return claim if claim is not None and sources.summaries.get(claim.source) == cite.summary else None

    def link_of(stem: str) -> str:
        return sources.link(stems[stem]) if stem in stems else ""

    evidence = Evidence(claim_of, link_of)
    out = AgentPages()
    for path, page in kept.items():
        machine = pages.get(path)
        fault = markdown_fault(page.text, path)  # what wrote that line into the ledger need not have been `settle`
        why = fault[1] if fault is not None else ""
        if page.is_new != (machine is None):
            why = "retain already has a page at this path" if page.is_new else "retain no longer has a page there"
        old = old_text(path) if machine is None else None
        text = article_text(page, machine, concepts.history.day(page.at), evidence, old)
        if not why:
            out.pages[path] = text
            out.cited.update(cite.claim for cite in citations(page.text.replace("\\|", "|")))
            continue
        hint = f"run `retain guard reject {path}` to reject it"
        if fault is None:
            out.proposals[f"{PROPOSALS}/{path}"] = text
            hint = f"it is in {PROPOSALS}/{path}; {hint}"
        what = f"an agent's page is no longer used: {why}"
        out.notices.append(Diagnostic(path, 0, "agent-page", what, hint))
    return out
