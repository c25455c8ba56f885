"""The records of a vault: those of its articles, cards and filed answers that are trusted enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from learning.cards.workspace import Desk
from learning.store.placed import Placed, front_pauses
from learning.training.answers import answer_text
from learning.training.pages import Section, join_sections, page_sections
from learning.training.prompts import page_prompt
from learning.training.record import ANSWER, ARTICLE, CARD, LeftOut, Record, usable_records
from learning.training.sources import Sources, read_sources
from learning.training.text import plain_card, shows_picture
from vault.errors import Damaged, Refused
from vault.ids import ClaimId
from vault.layout import ANSWERS, CONCEPTS, INFERRED_TYPES
from vault.model.frontmatter import Properties, read_properties
from vault.text.formatting import clean, clean_line, short_title
from vault.vault import Vault

_TRUSTED = ("high", "medium")
_LONG = 1_000  # characters: the sections of a longer article are records of their own
Progress = Callable[[int, int, str], None]  # pages done, pages in all, the next page


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of the wiki with its text. `problem` says why neither it nor its cards are exported, "" if they are."""

    path: str
    text: str
    properties: Properties
    problem: str

    @property
    def stem(self) -> str:
        return self.path.rsplit("/", 1)[-1].removesuffix(".md")

    @property
    def id(self) -> str:
        """Return the id of the concept or answer; its file's name where the page has none."""
        return clean_line(self.properties.text("id")) or self.stem

    @property
    def title(self) -> str:
        return short_title(self.properties.text("title")) or self.stem

    @property
    def confidence(self) -> str:
        return self.properties.text("confidence")


@dataclass(frozen=True, slots=True)
class Collected:
    """The records of a vault, by page, and what was left out. `ids` are those of concepts by stem."""

    records: list[Record]
    left_out: LeftOut
    sources: Sources
    ids: dict[str, str]


@dataclass(slots=True)
class _Collector:
    """Makes the records of one vault."""

    vault: Vault
    sources: Sources
    left_out: LeftOut = field(default_factory=LeftOut)
    concepts: dict[ClaimId, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))  # stems that cite it
    ids: dict[str, str] = field(default_factory=dict)

    def record(
        self,
        page: _Page,
        kind: str,
        id_: str,
        prompt: str,
        answer: str,
        claims: Iterable[ClaimId],
        concepts: Sequence[str],
        *,
        derived: bool = False,
        sources: Sources | None = None,
    ) -> Record:
        """Return a record of a page with what its claims say of their sources; `sources` are the vault's by default."""
        cited, known = tuple(dict.fromkeys(claims)), sources or self.sources
        cited_sources = known.of(cited)
        return Record(
            id_,
            kind,
            clean(prompt).strip(),
            clean(answer).strip(),
            page.title,
            tuple(concepts),
            known.language(cited),
            page.confidence,
            cited,
            tuple(dict.fromkeys(source.title for source in cited_sources)),
            tuple(dict.fromkeys(source.license for source in cited_sources)),
            page.path,
            derived,
        )

    def article(self, page: _Page) -> Iterator[Record]:
        """Yield the pairs of an article: one, or one for each section of a long one."""
        self.ids[page.stem] = page.id
        if page.problem:
            self.left_out.add(ARTICLE, page.problem)
            return
        sections = page_sections(page.text, self.sources, self.left_out)
        if not sections:
            self.left_out.add(ARTICLE, "no cited sentence is left")
        for part in _parts(sections):
            for claim in part.claims:
                self.concepts[claim][page.stem] = None
        language = self.sources.language(claim for section in sections for claim in section.claims)
        for number, part in enumerate(_parts(sections), 1):
            prompt = page_prompt(page.title, part.heading, language)
            id_ = f"{page.id}-{number}"
            yield self.record(page, ARTICLE, id_, prompt, part.text, part.claims, [page.stem], derived=part.derived)

    def card(self, placed: Placed, page: _Page | None, *, suspended: bool, retracted: bool) -> Iterator[Record]:
        """Yield the record of a card, if its article is trusted and its support holds."""
        claims = [each.claim for each in placed.card.support]
        shown = placed.card.question + placed.card.answer
        if retracted or suspended:
            problem = "retracted" if retracted else "suspended"
        elif page is None:
            problem = "no article"
        elif page.problem:
            problem = f"its article: {page.problem}"
        elif _pauses(page.text) or _pauses(placed.deck.text):
            problem = "learning: false"
        else:
            problem = self.sources.problem(claims) or ("contains a picture" if shows_picture(shown) else "")
        if problem or page is None:
            self.left_out.add(CARD, problem)
            return
        for claim in claims:
            self.concepts[claim][page.stem] = None
        prompt, answer = plain_card(placed.card.question), plain_card(placed.card.answer)
        yield self.record(page, CARD, placed.id, prompt, answer, claims, [page.stem])

    def answer(self, page: _Page) -> Iterator[Record]:
        """Yield the record of a filed answer, unless a sentence of it has lost its support."""
        found: tuple[Section, Sources] | str = page.problem
        if not found and page.properties.text("type") not in INFERRED_TYPES:
            found = "neither a synthesis nor a comparison"
        found = found or answer_text(page.text, self.sources)
        if isinstance(found, str):
            self.left_out.add(ANSWER, found)
            return
        whole, sources = found
        question = clean_line(page.properties.text("question")) or page.title
        of_claims = dict.fromkeys(stem for claim in whole.claims for stem in self.concepts.get(claim, ()))
        concepts = list(of_claims) or [page.stem]  # a column of empty lists would have no type
        made = self.record(
            page, ANSWER, page.id, question, whole.text, whole.claims, concepts, derived=whole.derived,
            sources=sources,
        )  # fmt: skip
        yield replace(made, claims=tuple(claim for claim in made.claims if claim in self.sources.by_claim))


def collect(desk: Desk, progress: Progress = lambda done, of, path: None) -> Collected:
    """Return the records of a vault: of each concept its article and its cards, then the filed answers."""
    vault = desk.vault
    collector = _Collector(vault, read_sources(vault))
    cards: dict[str, list[Placed]] = defaultdict(list)
    for placed in desk.cards.values():
        cards[placed.article].append(placed)
    paths = [*vault.paths(CONCEPTS, ".md"), *vault.paths(ANSWERS, ".md")]
    records: list[Record] = []
    for done, path in enumerate(paths):
        progress(done, len(paths), path)
        page = _read_page(vault, path)
        if path.startswith(f"{ANSWERS}/"):
            records += collector.answer(page)
            continue
        records += collector.article(page)
        records += _cards_of(collector, desk, cards.pop(path, []), page)
    for left in cards.values():
        records += _cards_of(collector, desk, left, None)
    progress(len(paths), len(paths), "")
    return Collected(usable_records(records, collector.left_out), collector.left_out, collector.sources, collector.ids)


def _cards_of(collector: _Collector, desk: Desk, cards: Iterable[Placed], page: _Page | None) -> Iterator[Record]:
    """Yield the records of one concept's cards."""
    for placed in cards:
        state = desk.state(placed.id)
        yield from collector.card(placed, page, suspended=state.suspended, retracted=state.retracted)


def _read_page(vault: Vault, path: str) -> _Page:
    """Return a page, also one that cannot be read or trusted."""
    text = None
    with suppress(Damaged, Refused):
        text = vault.read_text(path)
    if text is None:
        return _Page(path, "", Properties({}, 0), "cannot be read")
    properties = read_properties(text)
    confidence, status = properties.text("confidence"), clean_line(properties.text("status"))
    problem = ""
    if status:
        problem = "quarantined" if status == "quarantined" else "has a `status` property"
    elif confidence not in _TRUSTED:
        problem = f"confidence {confidence}" if confidence in ("low", "speculative") else "confidence not set"
    return _Page(path, text, properties, problem)


def _pauses(text: str) -> bool:
    """Return whether a page keeps its cards out of the reviews."""
    return front_pauses(text.encode("utf-8", "replace"))


def _parts(sections: Sequence[Section]) -> list[Section]:
    """Return the parts of an article that are records: the whole of a short one, else its sections."""
    whole = join_sections(sections)
    return [whole] if sections and len(whole.text) <= _LONG else list(sections)
