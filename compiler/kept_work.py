"""Agents' pages that were kept, laid over what a build laid out, as long as the claims they cite bear them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.agent_inert import acting
from compiler.agent_overlay import laid_over, new_page, summaries_of
from compiler.agent_pages import lines_of, sentence_faults
from compiler.agent_record import KeptPage
from compiler.cards import AGENTS, CardNews
from compiler.engines.port import ClaimView
from compiler.layout import Layout
from vault.claim import ClaimState
from vault.diagnostic import Diagnostic
from vault.exhibit import Exhibit, parted
from vault.ids import SourceId
from vault.store import PROPOSALS
from vault.wikilink import Citation


def lay_over(layout: Layout, kept: Mapping[str, KeptPage]) -> dict[str, str]:
    """Put the agents' pages into `layout.files`; of those that cannot stand, the proposals, by their own paths.

    A page stands while every claim it cites lives and still says so; else the machine's own page is back.
    """
    over = _Overlay(layout)
    proposals: dict[str, str] = {}
    for path, page in kept.items():
        why = over.fault(page)
        if why:
            what = f"an agent's page cannot stand any more: {why}"
            hint = f"it lies in {PROPOSALS}/{path}; `retain guard reject {path}` ends this"
            layout.report.notices.append(Diagnostic(path, 0, "agent-page", what, hint))
            proposals[f"{PROPOSALS}/{path}"] = over.text(page)
        else:
            layout.files[path] = over.text(page)
            layout.report.agent["pages"] += 1
            layout.also_cited |= {c.claim for cites in summaries_of(page.text).values() for c in cites}
    return proposals


def count_cards(layout: Layout, news: CardNews) -> None:
    """Take down how many of the living cards have an agent's words."""
    layout.report.agent["cards"] = sum(c.engine.startswith(AGENTS) for cards in news.cards.values() for c in cards)


class _Overlay:
    """The claims and sources of one build, as pages cite them."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.by_stem = {stem: id_ for id_, stem in layout.shelf.summaries.items()}

    def fault(self, page: KeptPage) -> str:
        """Why the page cannot stand; "" if it can."""
        if page.is_new == (page.path in self.layout.files):
            return "retain has a page of its own there" if page.is_new else "retain has no page there any more"
        lines = lines_of(page.text)
        if (acts := acting(lines.words)) is not None or self._shows_others(page, lines.exhibits):
            return acts[1] if acts is not None else "it shows what its claims do not show"
        return next((why for _, why in sentence_faults(page.text, self._views)), "")

    def _shows_others(self, page: KeptPage, shown: Sequence[Exhibit]) -> bool:
        cites = {c.claim for each in summaries_of(page.text).values() for c in each}
        own = parted((self.layout.files.get(page.path) or "").split("\n"))[1]
        return not {*shown} <= {*own, *(e for c in cites for e in self.layout.exhibits.get(c, ()))}

    def text(self, page: KeptPage) -> str:
        """The page as a file."""
        layout, day = self.layout, self.layout.day(page.at)
        machine = layout.files.get(page.path)
        if machine is not None:
            return laid_over(machine, page, day, self._link)
        sources = {self.by_stem[stem] for stem in summaries_of(page.text) if stem in self.by_stem}
        return new_page(page, day, layout.confidence(sources), self._link, layout.read_old(page.path))

    def _link(self, stem: str) -> str:
        id_ = self.by_stem.get(stem)
        return self.layout.source_link(id_) if id_ is not None else f"{stem} (gone)"

    def _views(self, cites: Sequence[Citation]) -> tuple[dict[str, ClaimView], str]:
        views: dict[str, ClaimView] = {}
        for cite in cites:
            claim = self.layout.claims.get(cite.claim)
            if claim is None or self._stem(claim.source) != cite.summary or claim.state is ClaimState.RETRACTED:
                return {}, f"claim {cite.claim} is gone"
            views[str(claim.id)] = ClaimView(
                id=claim.id, kind=claim.kind, words=claim.words, quote=claim.quote, source=""
            )
        return views, ""

    def _stem(self, source: SourceId) -> str:
        return self.layout.shelf.summaries.get(source, "")
