"""What the ledger knows of the concepts and topics that pages are about: created when, last changed how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from compiler.articles.renames import before_undone
from compiler.concepts.rulings import Rulings
from vault.ids import SourceId, digest12
from vault.log.ledger import Event, Ids, day_of, strings
from vault.model.article import FRESHNESS_DAYS, NORMAL, without_page_links
from vault.model.frontmatter import body_of, read_properties


@dataclass(frozen=True, slots=True)
class History:
    """The ledger as pages need it. `events` are those of earlier builds in order; `ids` has this build's, too."""

    ids: Ids
    events: Sequence[Event]
    rulings: Rulings
    at: str
    zone: ZoneInfo

    def day(self, instant: str) -> str:
        """Return the date of an instant in the vault's time zone, as YYYY-MM-DD."""
        return day_of(instant, self.zone)

    def created(self, id_: str) -> str:
        """Return the date on which the ledger first knew of something."""
        return self.day(self.ids.births[id_].at)

    def updated(self, id_: str) -> str:
        """Return the date on which something last changed."""
        return self.day(self.ids.changed_at(id_))

    def freshness(self, id_: str, old: str | None) -> str:
        """Return after how long a page is to be looked at again: as decided, or as its text `old` has it."""
        given = read_properties(old).text("freshness") if old else ""
        return self.rulings.freshness.get(id_) or (given if given in FRESHNESS_DAYS else NORMAL)

    def last_change(self, id_: str) -> Event:
        """Return the last change event of a concept or topic, {} if none; not those of undone decisions."""
        known = self.ids.changed.get(id_, {})
        return before_undone(known, self.rulings, self.events) if self.rulings.undone and known else known

    def sources_before(self, id_: str) -> list[SourceId]:
        """Return the sources of a page in the order of the numbers that it gave them."""
        return [SourceId(s) for s in strings(self.last_change(id_).get("sources"))]

    def change(self, noun: str, id_: str, facts: Mapping[str, object]) -> list[Event]:
        """Return the change event with the `facts` of a page if any is new, else nothing.

        With it the page has the day of this build, and what the user changed in its properties can be distinguished
        from what the machine last wrote there. A page that an undone decision changed, and that is as before, keeps its
        day.
        """
        known = self.ids.changed.get(id_, {})
        if all(known.get(key) == value for key, value in facts.items()):
            return []
        event: Event = {"v": 1, "type": "change", "of": noun, "id": id_, "at": self.at} | dict(facts)
        before = self.last_change(id_)
        if before is not known and "at" in before and all(before.get(k) == v for k, v in facts.items()):
            event["as_of"] = str(before.get("as_of", before["at"]))
        return [event]

    def written(self, id_: str, last: Event, page: str | None) -> Event:
        """Return the change event of the text of a page: `last`, or an earlier one if a build was killed meanwhile."""
        if page is None:
            return last
        digests = {digest12(without_page_links(body_of(page))), read_properties(page).text("generated")}
        if last.get("digest") in digests:
            return last
        return next((e for e in reversed(self.events) if e.get("id") == id_ and e.get("digest") in digests), last)


def merged(key: str, machine: tuple[str, ...], before: Event, old: str | None) -> tuple[str, ...]:
    """Return the machine's values of a property, plus those that the user added in the page `old`, less those removed.

    `before` is the change event that holds what the machine last wrote there.
    """
    if old is None:
        return machine
    last = before.get(key)
    base = set(last) if isinstance(last, list) else set(machine)
    theirs = read_properties(old).texts(key)
    kept = [m for m in machine if m in theirs or m not in base]
    return (*kept, *(t for t in theirs if t not in base and t not in kept))
