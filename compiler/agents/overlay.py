"""A build's articles with the text that agents wrote in them."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.agents.articles import Evidence, article_text
from compiler.agents.inert import markdown_fault
from compiler.agents.record import KeptPage
from compiler.articles.layout import Layout
from vault.diagnostic import Diagnostic
from vault.layout import PROPOSALS
from vault.model.claim import Claim
from vault.model.wikilink import Citation, citations


def add_agents_pages(layout: Layout, kept: Mapping[str, KeptPage]) -> dict[str, str]:
    """Put the agents' articles into `layout.files`; return those that have no place any more, as proposals by path."""
    stems = {stem: id_ for id_, stem in layout.shelf.summaries.items()}

    def claim_of(cite: Citation) -> Claim | None:
        claim = layout.claims.get(cite.claim)
        return claim if claim is not None and layout.shelf.summaries.get(claim.source) == cite.summary else None

    def link_of(stem: str) -> str:
        return layout.source_link(stems[stem]) if stem in stems else ""

    evidence = Evidence(claim_of, link_of)
    proposals: dict[str, str] = {}
    for path, page in kept.items():
        machine = layout.files.get(path)
        fault = markdown_fault(page.text, path)  # what wrote that line into the ledger need not have been `settle`
        why = fault[1] if fault is not None else ""
        if page.is_new != (machine is None):
            why = "retain has a page of its own there" if page.is_new else "retain has no page there any more"
        old = layout.read_old(path) if machine is None else None
        text = article_text(page, machine, layout.day(page.at), evidence, old)
        if not why:
            layout.files[path] = text
            layout.report.agent["pages"] += 1
            layout.also_cited |= {cite.claim for cite in citations(page.text.replace("\\|", "|"))}
            continue
        hint = f"`retain guard reject {path}` ends this"
        if fault is None:
            proposals[f"{PROPOSALS}/{path}"] = text
            hint = f"it is in {PROPOSALS}/{path}; {hint}"
        what = f"an agent's page is not used any more: {why}"
        layout.report.notices.append(Diagnostic(path, 0, "agent-page", what, hint))
    return proposals
