"""The vault as it stood before an agent was started: what its work is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from compiler.agent_manifest import Manifest
from compiler.agent_record import KeptPage, alive_events, kept_pages
from compiler.cards import LiveCard, live_cards
from compiler.engines.port import ClaimView
from vault import ledger
from vault.card import Card, Deck, parse_deck
from vault.claim import Claim, ClaimState
from vault.conflict import is_beside, sides
from vault.copies import Copies
from vault.errors import Damaged
from vault.ids import CardId
from vault.note import human_edited, read_properties
from vault.store import CONCEPTS, FLASHCARDS, TOPICS, Vault
from vault.summary import Summary, parse_summary
from vault.wikilink import Citation


class World:
    """Reads from the manifest and the copies alone; never what lies in the folders now."""

    def __init__(self, vault: Vault, before: Manifest, copies: Copies) -> None:
        self.vault, self.before, self._copies = vault, before, copies
        self._summaries: dict[str, Summary | None] = {}
        self._decks: dict[str, Deck] = {}
        self.decided = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
        self.id_events = ledger.ordered(vault.ledger_events(ledger.IDS)[0])
        self.builds = ledger.ordered(vault.ledger_events(ledger.BUILDS)[0])
        self.ids = ledger.fold(self.id_events)

    def data(self, path: str) -> bytes | None:
        """The bytes that the file held; None if there was none, or if it was too large to be kept."""
        mark = self.before.files.get(path)
        return self._copies.get(mark.sha256) if mark is not None and mark.sha256 else None

    def text(self, path: str) -> str | None:
        """The file's text; None if there was none or it is no text."""
        data = self.data(path)
        try:
            return data.decode() if data is not None else None
        except UnicodeDecodeError:
            return None

    def is_humans(self, path: str) -> bool:
        """Whether a human had a hand in an article: another body than the machine's, a conflict, or no text at all."""
        text = self.text(path)
        return text is None or sides(text) is not None or human_edited(text)

    def summary(self, stem: str) -> Summary | None:
        """The summary at this path without `.md`."""
        if stem not in self._summaries:
            path = f"{stem}.md"
            text = self.text(path) if path.startswith("wiki/summaries/") and path.count("/") == 2 else None
            self._summaries[stem] = parse_summary(text, path) if text is not None else None
        return self._summaries[stem]

    def claim(self, cite: Citation) -> Claim | None:
        summary = self.summary(cite.summary)
        return summary.claim(cite.claim) if summary is not None else None

    def views(self, cites: Sequence[Citation]) -> tuple[dict[str, ClaimView], str]:
        """(the claims as a gate sees them, why one of them cannot be cited or "")."""
        views: dict[str, ClaimView] = {}
        for cite in cites:
            claim = self.claim(cite)
            if claim is None:
                return {}, f"claim {cite.claim} does not stand in {cite.summary}.md"
            if claim.state is ClaimState.RETRACTED:
                return {}, f"claim {cite.claim} is retracted"
            if not self.ids.alive(claim.id):
                return {}, f"claim {cite.claim} has no id that retain gave it"
            views[str(claim.id)] = ClaimView(
                id=claim.id, kind=claim.kind, words=claim.words, quote=claim.quote, source=""
            )
        return views, ""

    def title(self, stem: str) -> str:
        """The title of the note at this path without `.md`; "" if there is none."""
        text = self.text(f"{stem}.md")
        return read_properties(text).text("title") if text is not None else ""

    def articles(self) -> list[str]:
        """The paths of all articles."""
        tops = (f"{CONCEPTS}/", f"{TOPICS}/")
        return [p for p in self.before.files if p.startswith(tops) and p.endswith(".md") and p.count("/") == 2]

    def deck(self, path: str) -> Deck:
        if path not in self._decks:
            self._decks[path] = parse_deck(self.text(path) or "", path)
        return self._decks[path]

    def decks(self) -> list[Deck]:
        """All decks, by path."""
        return [self.deck(path) for path in sorted(self.before.files) if is_deck(path)]

    @cached_property
    def cards(self) -> dict[CardId, tuple[Deck, Card]]:
        """Every card with an id, where it stands first."""
        found: dict[CardId, tuple[Deck, Card]] = {}
        for deck in self.decks():
            for card in deck.cards:
                if card.id is not None:
                    found.setdefault(card.id, (deck, card))
        return found

    @cached_property
    def live(self) -> dict[CardId, LiveCard]:
        """The machine's cards, as the ledger has them."""
        return live_cards(alive_events(self.id_events, self.decided), self.ids)

    @cached_property
    def kept(self) -> dict[str, KeptPage]:
        """The pages of agents' that earlier runs kept, by path."""
        return kept_pages(self.vault, self.decided)

    def own_page(self, path: str) -> KeptPage | None:
        """The kept page where what stands at `path` is an agent's alone; None where it is the machine's."""
        page, text = self.kept.get(path), self.text(path)
        mine = page is not None and page.is_new and text is not None and read_properties(text).text("id") == page.id
        return page if mine else None

    @cached_property
    def engine(self) -> str:
        """The engine of the last build."""
        return next((str(e["engine"]) for e in reversed(self.builds) if e.get("engine")), "")

    def must(self, path: str) -> bytes:
        """The bytes that the file held. Raises: Damaged if they were not kept."""
        data = self.data(path)
        if data is None:
            what = "what stood here before the agent was not kept"
            raise Damaged(what, where=path, hint="take the file from git or from your backup")
        return data


def is_deck(path: str) -> bool:
    """Whether a vault path is that of a file of flashcards."""
    inside = path.startswith(f"{FLASHCARDS}/") and path.endswith(".md") and path.count("/") == 2
    return inside and not path.startswith(f"{FLASHCARDS}/.") and not is_beside(path)
