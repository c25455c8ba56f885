"""Articles with an agent's text under properties that code sets, and its sentences without evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compiler.agents.inert import Fault, markdown_fault, text_of, unreadable
from compiler.agents.record import KeptPage
from compiler.gates.gates import sentence_refused
from compiler.model.requests import ClaimView, Sentence
from vault.ids import digest12, slug
from vault.layout import ANSWERS, CONCEPTS, INFERRED_TYPES, TOPICS
from vault.log.ledger import Ids
from vault.model.article import CitedSentence, sentences
from vault.model.claim import Claim, ClaimState
from vault.model.frontmatter import Value, body_of, read_properties, render_generated, splice_properties
from vault.model.markdown import unescape
from vault.model.wikilink import Citation, citations, links
from vault.text.formatting import clean_line, fold

MAX_TITLE = 120
WRITTEN_BY, UNSUPPORTED = "written_by", "unsupported"  # the properties that mark an article with an agent's text
_RANK = ("speculative", "low", "medium")  # what an agent wrote is trusted at most as medium
_TYPES = {CONCEPTS: "concept", TOPICS: "topic", ANSWERS: INFERRED_TYPES[0]}
_RESERVED = re.compile(r"(?im)^[ \t>]*\[!human\]|\^[cg]-[0-9a-z]{10}[ \t]*$|\[\[[ \t./]*insights/")
_CITE = re.compile(r"(?P<head>\[\[(?P<stem>wiki/summaries/[^\[\]|#^\n\\]+)#\^c-[0-9a-hjkmnp-tv-z]{10}\\?\|)\d+\]\]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What articles cite: the claim of a citation, and the link by which `sources` lists a summary ("" for none)."""

    claim: Callable[[Citation], Claim | None]
    source_link: Callable[[str], str]


def article_fault(path: str, data: bytes | None, ids: Ids, *, is_new: bool) -> Fault | None:
    """Return why an article that an agent wrote can't stay; None if it can, whatever its sentences say."""
    text, fault = text_of(data)
    above = "\n" * text.count("\n", 0, len(text) - len(body_of(text)))  # the properties are replaced by code's
    fault = fault or unreadable(text) or markdown_fault(above + body_of(text), path)
    if fault is None and (reserved := _RESERVED.search(text)) is not None:
        line = text.count("\n", 0, reserved.start()) + 1
        return (
            line,
            "text that only the user or retain may write: [!human], a link to insights/, or the id of a claim or gap",
        )
    if fault is None and is_new:
        stem = path.rsplit("/", 1)[-1].removesuffix(".md")
        if slug(stem) != stem:
            return 0, f"the file name is not in the required form; rename it to {slug(stem)}.md"
        if not path.startswith(f"{ANSWERS}/") and stem.casefold() in ids.slugs("concept") | ids.slugs("topic"):
            return 0, "the name is, or was, used for a page that retain wrote"
    return fault


def body_in(data: bytes) -> str:
    """Return the body of an article that has no fault."""
    return "\n" + body_of(text_of(data)[0]).strip("\n") + "\n"


def title_in(body: str, path: str) -> str:
    """Return the title of a new article: its first heading, else its name."""
    first = body.strip().split("\n")[0]
    title = fold(unescape(first.lstrip("# "))) if first.startswith("# ") else ""
    return title[:MAX_TITLE] or path.rsplit("/", 1)[-1].removesuffix(".md").replace("-", " ")


def article_text(page: KeptPage, machine: str | None, day: str, evidence: Evidence, old: str | None = None) -> str:
    """Return the file of a kept page. `machine` is the machine's article below it; None where it is the agent's alone.

    Sources that only the agent cites come last, so that the numbers of the others stay. Properties that a user added
    to the `old` file stay.
    """
    before = read_properties(machine) if machine is not None else None
    sources = before.texts("sources") if before is not None else ()
    body, added = _numbered(page.text, [next((link.target for link in links(s)), "") for s in sources], evidence)
    confidence = before.text("confidence") if before is not None else "low"
    properties: dict[str, Value] = {
        "updated": max(before.text("updated") if before is not None else "", day),
        "confidence": confidence if confidence in _RANK else "medium",
        "sources": (*sources, *added),
        WRITTEN_BY: "agent",
        UNSUPPORTED: sum(1 for _ in unsupported(body, evidence)),
    }
    if machine is not None:
        text = splice_properties(machine, properties | {"generated": digest12(body)})
        return text[: len(text) - len(body_of(text))] + body
    own: dict[str, Value] = {
        "type": _TYPES[page.path.rpartition("/")[0]],
        "id": page.id,
        "title": page.title or clean_line(title_in(page.text, page.path)),
        "aliases": (),
        "created": day,
    }
    rest: dict[str, Value] = {"freshness": "normal", "related": (), "tags": ()}
    if page.path.startswith(f"{ANSWERS}/"):
        rest = {"inferred": True}
    return render_generated(own | properties | rest, body, old)


def _numbered(body: str, stems: list[str], evidence: Evidence) -> tuple[str, list[str]]:
    """Return `body` with its source's place as the number of each citation, and the links of sources not in `stems`."""
    places = {stem: place for place, stem in reversed([*enumerate(stems, 1)])}
    added: list[str] = []
    for cite in citations(body.replace("\\|", "|")):
        if cite.summary not in places and (link := evidence.source_link(cite.summary)):
            added.append(link)
            places[cite.summary] = len(stems) + len(added)

    def number(match: re.Match[str]) -> str:
        return f"{match['head']}{places[match['stem']]}]]" if match["stem"] in places else match[0]

    return _CITE.sub(number, body), added


def unsupported(text: str, evidence: Evidence) -> Iterator[Fault]:
    """Yield (line, why) of each sentence that cites nothing, or not what bears it out."""
    for sentence in sentences(text):
        if why := _unsupported(sentence, evidence):
            yield sentence.line, f"{why}: {fold(sentence.text)[:80]}"


def _unsupported(sentence: CitedSentence, evidence: Evidence) -> str:
    if not sentence.cites:
        return "the sentence cites nothing"
    views: dict[str, ClaimView] = {}
    for cite in sentence.cites:
        claim = evidence.claim(cite)
        if claim is None or claim.state is ClaimState.RETRACTED:
            return f"claim {cite.claim} is not in {cite.summary}.md"
        views[str(claim.id)] = ClaimView.of(claim)
    return sentence_refused(Sentence(text=sentence.text[:20_000], cites=tuple(views)), views)
