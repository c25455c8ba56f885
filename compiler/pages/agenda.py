"""The gaps of a build: what the vault cannot answer, as the agenda and as a reading list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.articles.article import Articles
from compiler.articles.concepts import Concepts
from compiler.articles.renames import is_undone_gap
from compiler.articles.writer import Writer
from compiler.cards import gaps
from compiler.cards.live_cards import LiveCard
from compiler.cards.noted_gaps import noted_gaps
from compiler.pages import model_gaps, reading_list
from vault.diagnostic import Diagnostic
from vault.ids import GapId
from vault.layout import GAPS, READING_LIST
from vault.log.ledger import Event
from vault.model.gaps import Gap, GapKind, GapStatus, render_agenda
from vault.model.reading_list import Wanted, cited, query, render_reading_list, search_for


@dataclass(frozen=True, slots=True)
class Agenda:
    """The two pages by path, the gaps that are open or were decided on with their keys, and what is new of them."""

    pages: dict[str, str]
    gaps: list[tuple[str, Gap]]
    counts: dict[str, int]
    events: list[Event]
    notices: list[Diagnostic]


def write_agenda(
    articles: Articles,
    cards: Mapping[str, Sequence[LiveCard]],
    concepts: Concepts,
    writer: Writer,
    *,
    decided: Mapping[GapId, GapStatus],
    fills: Mapping[GapId, Sequence[str]],
    old_page: str,
    asked: Sequence[gaps.OpenGap] = (),
    answered: Collection[str] = (),
) -> Agenda:
    """Return the gaps of a build and their pages.

    `cards` are the live cards by concept, `decided` what the user decided about gaps, `fills` the files that were added
    for a gap, `old_page` the agenda of the last build ("" if none). `asked` are the gaps that questions leave,
    `answered` the keys of those of which a later answer lacks nothing.
    """
    sources, history = concepts.sources, concepts.history
    known = replace(concepts.resolution, concepts={i: a.concept for i, a in articles.items()})
    texts = {i: g.source for i, g in sources.by_id.items() if g.source is not None}
    links: dict[str, str] = {i: a.link for i, a in articles.items()}
    contested = {i for i, a in articles.items() if concepts.is_contested(a.concept)}
    contents = {i: sources.by_id[i].tracked.content for i in texts}
    own_pages = {i: sources.link(i) for i in texts}
    shelf = gaps.Shelf(texts, own_pages, sources.kinship.copies, contents, writer.embedded.steps)
    if writer.consulted is None:
        found = gaps.find_gaps(known, cards, links=links, shelf=shelf, contested=contested)
    else:
        summaries = {str(i): link for i, link in shelf.links.items()}
        sides = {(str(c.source), c.quote) for d in concepts.contests.disagreements for c in (d.first, d.second)}
        found = model_gaps.find_gaps(known, writer.consulted, links, summaries, contested, sides)
    found = [*found, *asked]
    births = {
        str(e["id"]): e
        for e in history.events
        if e.get("of") == "gap" and e.get("type") == "birth" and not is_undone_gap(e, history.rulings)
    }
    added = reading_list.fill_links(fills, sources.gathered)
    keys = {gap.key for gap in found}
    noted = noted_gaps(births, history.ids, links)
    found += [gaps.noted(birth, link) for birth, link in noted if str(birth["key"]) not in keys]
    items, events = gaps.agenda_gaps(found, known, births, history.ids, decided, history.at, added, answered)
    keyed = [(gap.key, item) for gap, item in zip(found, items, strict=False)]
    wanted = reading_list.reading_list(keyed, known, articles, sources)
    subjects = {lack.gap: subject for subject in reversed(wanted) for lack in subject.lacks}  # the first one counts
    items = [_with_reading(item, subjects.get(item.id)) for item in items]
    learners = gaps.learner_gaps(old_page, decided)
    still_open = Counter(g.kind for g in [*items, *learners] if g.open)
    pages = {
        GAPS: render_agenda([*items, *learners]),
        READING_LIST: render_reading_list(wanted),
    }
    counts = {k.value: still_open[k] for k in GapKind} | {"filled": sum(g.status is GapStatus.FILLED for g in items)}
    return Agenda(pages, keyed, counts, events, reading_list.fill_notices(items, fills, sources.gathered))


def _with_reading(gap: Gap, subject: Wanted | None) -> Gap:
    """Return an open gap with a query to search for and a work that sources cite, by its subject in the reading
    list.
    """
    if not gap.open:
        return gap
    if subject is None:
        return replace(gap, search=query(gap.what))
    work = next(iter(subject.works), None)
    return replace(gap, search=search_for(subject, gap.id), read=cited(work) if work is not None else "")
