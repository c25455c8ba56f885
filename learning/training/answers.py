"""The text of a filed answer: its sentences, which cite claims or words of a source that stand in the page itself.

Such words are a block `> words`, `> place and claims`, `^q-key`, and are cited as `[[#^q-key|q1]]`. Here a key counts
as the id of a claim of its source.
"""

from __future__ import annotations

import re
from dataclasses import replace

from learning.training.pages import Section, join_sections, page_sections
from learning.training.record import LeftOut
from learning.training.sources import Sources
from vault.ids import ClaimId
from vault.layout import SUMMARIES
from vault.model.frontmatter import Properties
from vault.model.wikilink import citations
from vault.text.formatting import clean_line

_QUOTE = re.compile(r"^> [^\n]*\n>[ \t]*\n> (?P<about>[^\n]*)\n\n\^q-(?P<key>[0-9a-z]{10})[ \t]*$", re.MULTILINE)
_OWN_CITE = re.compile(r"\[\[#\^q-([0-9a-z]{10})\|q(\d{1,3})\]\]")
_MISSING = re.compile(r"^> \[!missing\].*$", re.MULTILINE)


def answer_text(text: str, properties: Properties, sources: Sources) -> tuple[Section, Sources] | str:
    """Return the sentences of an answer as one section, and the sources to look its claims up in; or why there are
    none. The claims are those of the vault, then the keys of words in the page.
    """
    for id_, digest in _pairs(properties, "claims"):
        if sources.digests.get(ClaimId(id_), digest) != digest:
            return "a claim below it changed"
    text = text.replace("\r\n", "\n")
    paths = dict(_pairs(properties, "quotes"))
    cited = {ClaimId(quote["key"]): citations(quote["about"]) for quote in _QUOTE.finditer(text)}
    passages = {key: sources.of_file(clean_line(paths.get(key, ""))) for key in cited}
    known = replace(sources, by_claim={**sources.by_claim, **passages})
    plain = _OWN_CITE.sub(rf"[[{SUMMARIES}/-#^c-\1|\2]]", _MISSING.sub("", _QUOTE.sub(_blank, text)))
    lost = LeftOut()
    whole = join_sections(page_sections(plain, known, lost))
    if lost.counts:
        return f"a sentence {min(lost.counts['sentence'])}"
    if not whole.blocks:
        return "holds no sentences, but quotes alone" if passages else "no cited sentence is left"
    below = [each.claim for key in whole.claims for each in cited.get(key, ()) if each.claim in sources.by_claim]
    whole.claims = dict.fromkeys([*(key for key in whole.claims if key not in cited), *below, *whole.claims])
    if all(key in cited for key in whole.claims):
        return "cites no claim, so that its concepts are unknown"
    return whole, known


def _pairs(properties: Properties, name: str) -> list[tuple[str, str]]:
    """Return (key, value) of the lines of a property, as `k7q2m9xd3f value`."""
    return [(key, value) for key, _, value in (line.partition(" ") for line in properties.texts(name))]


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
