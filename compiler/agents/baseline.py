"""The vault as it was before an agent was started: read from the manifest and the copies alone."""

from __future__ import annotations

from functools import cached_property

from compiler.agents.manifest import Manifest
from compiler.agents.record import KeptPage, files_of_agents, kept_pages
from vault.audit.blobs import Copies
from vault.layout import SUMMARIES
from vault.log import ledger
from vault.model.claim import Claim
from vault.model.frontmatter import human_edited, read_properties
from vault.model.summary import Summary, parse_summary
from vault.model.wikilink import Citation, Wikilink, alias
from vault.text.diff import sides
from vault.vault import Vault


class Baseline:
    """Files, claims and ledgers before a run."""

    def __init__(self, vault: Vault, before: Manifest, copies: Copies) -> None:
        self.vault, self.before, self._copies = vault, before, copies
        self._summaries: dict[str, Summary | None] = {}
        self.decided = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
        self.id_events = ledger.ordered(vault.ledger_events(ledger.IDS)[0])
        self.ids = ledger.fold(self.id_events)
        self.kept = kept_pages(vault, self.decided)

    def has_copy(self, path: str) -> bool:
        """Return whether there is a copy of what the file held."""
        mark = self.before.files.get(path)
        return mark is not None and bool(mark.sha256) and self._copies.has(mark.sha256)

    def text(self, path: str) -> str | None:
        """Return the file's text; None if there was none, or it is no text."""
        mark = self.before.files.get(path)
        data = self._copies.get(mark.sha256) if mark is not None and mark.sha256 else None
        try:
            return data.decode() if data is not None else None
        except UnicodeDecodeError:
            return None

    def is_humans_article(self, path: str) -> bool:
        """Return whether a user edited an article: another body than the machine's, a conflict, or no text at all."""
        text = self.text(path)
        return text is None or sides(text) is not None or human_edited(text)

    def is_humans_file(self, path: str) -> bool:
        """Return whether a file of output/ held bytes that no run recorded: what is no agent's is the user's."""
        mark = self.before.files.get(path)
        return mark is not None and (path, mark.sha256) not in self._files_of_agents

    @cached_property
    def _files_of_agents(self) -> frozenset[tuple[str, str]]:
        return files_of_agents(self.vault)

    def own_page(self, path: str) -> KeptPage | None:
        """Return the kept page where the article is an agent's alone; None where it is the machine's."""
        page, text = self.kept.get(path), self.text(path)
        is_own = page is not None and page.is_new and text is not None and read_properties(text).text("id") == page.id
        return page if is_own else None

    def claim(self, cite: Citation) -> Claim | None:
        """Return the claim that a citation leads to; None where none is."""
        summary = self._summary(cite.summary)
        claim = summary.claim(cite.claim) if summary is not None else None
        return claim if claim is not None and self.ids.alive(claim.id) else None

    def source_link(self, stem: str) -> str:
        """Return the link by which an article lists the source with this summary; "" if there is none."""
        summary = self._summary(stem)
        if summary is None:
            return ""
        return str(Wikilink(stem, alias=alias(summary.properties.text("title") or stem.rsplit("/", 1)[-1])))

    def _summary(self, stem: str) -> Summary | None:
        if stem not in self._summaries:
            path = f"{stem}.md"
            text = self.text(path) if path.startswith(f"{SUMMARIES}/") and path.count("/") == 2 else None
            self._summaries[stem] = parse_summary(text, path) if text is not None else None
        return self._summaries[stem]
