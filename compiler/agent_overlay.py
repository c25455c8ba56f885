"""Agents' pages that were kept, laid over the machine's: the agent's body, and properties that code computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from compiler.agent_record import KeptPage
from vault.clean import clean_line
from vault.ids import digest12
from vault.note import Value, body_of, read_properties, render_generated, splice_properties
from vault.store import CONCEPTS
from vault.wikilink import Citation, citations, links

_RANK = ("speculative", "low", "medium", "high")
LinkOf = Callable[[str], str]  # a summary's path without .md -> the link that `sources` lists


def laid_over(machine: str, page: KeptPage, day: str, link_of: LinkOf) -> str:
    """The machine's page with the agent's body in it: sources that only the agent cites come last, and an agent's
    page is trusted at most as medium."""
    properties = read_properties(machine)
    sources = properties.texts("sources")
    stems = [_target(entry) for entry in sources]
    body, new = numbered(page.text, stems)
    values: dict[str, Value] = {
        "updated": max(properties.text("updated"), day),
        "confidence": at_most_medium(properties.text("confidence")),
        "sources": (*sources, *(link_of(stem) for stem in new)),
        "generated": digest12(body),
    }
    text = splice_properties(machine, values)
    return text[: len(text) - len(body_of(text))] + body


def new_page(page: KeptPage, day: str, confidence: str, link_of: LinkOf, old: str | None) -> str:
    """A page that is the agent's alone; properties that a human added to the `old` one stay."""
    body, stems = numbered(page.text, ())
    properties: dict[str, Value] = {
        "type": "concept" if page.path.startswith(f"{CONCEPTS}/") else "topic",
        "id": page.id,
        "title": page.title or clean_line(page.text.strip().split("\n")[0].lstrip("# ")),
        "aliases": (),
        "created": day,
        "updated": day,
        "confidence": at_most_medium(confidence),
        "freshness": "normal",
        "sources": tuple(link_of(stem) for stem in stems),
        "related": (),
        "tags": (),
    }
    return render_generated(properties, body, old)


def at_most_medium(confidence: str) -> str:
    """What an agent inferred is at most that."""
    return "medium" if confidence == "high" or confidence not in _RANK else confidence


def numbered(body: str, stems: Sequence[str]) -> tuple[str, list[str]]:
    """(`body` with each citation's number its source's place, the sources that are not among `stems` yet)."""
    places: dict[str, int] = {}
    for place, stem in enumerate(stems, 1):
        places.setdefault(stem, place)
    new: list[str] = []
    for cite in citations(body.replace("\\|", "|")):
        if cite.summary not in places:
            places[cite.summary] = len(stems) + len(new) + 1
            new.append(cite.summary)

    return _CITE.sub(lambda found: f"{found['head']}{places[found['stem']]}]]", body), new


_CITE = re.compile(r"(?P<head>\[\[(?P<stem>wiki/summaries/[^\[\]|#^\n\\]+)#\^c-[0-9a-hjkmnp-tv-z]{10}\\?\|)\d+\]\]")


def _target(entry: str) -> str:
    """The summary to which an entry of `sources` leads; "" for one that is gone."""
    return next((link.target for link in links(entry)), "")


def summaries_of(body: str) -> Mapping[str, list[Citation]]:
    """The citations of a body by the summary they lead to, in order."""
    found: dict[str, list[Citation]] = {}
    for cite in citations(body.replace("\\|", "|")):
        found.setdefault(cite.summary, []).append(cite)
    return found
