"""The text of a filed answer: its sentences, which cite claims or words of a source that stand in the page itself.

Here the key of such words counts as the id of a claim of its source.
"""

from __future__ import annotations

from dataclasses import replace

from learning.training.pages import Section, join_sections, page_sections
from learning.training.record import LeftOut
from learning.training.sources import Sources
from vault.ids import ClaimId
from vault.model.answer_page import parse_page
from vault.text.formatting import clean_line


def answer_text(text: str, sources: Sources) -> tuple[Section, Sources] | str:
    """Return the sentences of an answer as one section, and the sources to look its claims up in; or why there are
    none. The claims are those of the vault, then the keys of words in the page.
    """
    page = parse_page(text)
    if any(sources.digests.get(ClaimId(id_), digest) != digest for id_, digest in page.claims.items()):
        return "a claim that it cites has changed"
    cited = {ClaimId(quote.key): quote.cites for quote in page.quotes}
    passages = {ClaimId(quote.key): sources.of_file(clean_line(quote.path)) for quote in page.quotes}
    known = replace(sources, by_claim={**sources.by_claim, **passages})
    lost = LeftOut()
    whole = join_sections(page_sections(page.text, known, lost))
    if lost.counts:
        return f"a sentence {min(lost.counts['sentence'])}"
    if not whole.blocks:
        return "contains only quotes, no sentences" if passages else "no cited sentence is left"
    below = [each.claim for key in whole.claims for each in cited.get(key, ()) if each.claim in sources.by_claim]
    whole.claims = dict.fromkeys([*(key for key in whole.claims if key not in cited), *below, *whole.claims])
    if all(key in cited for key in whole.claims):
        return "cites no claim, so its concepts are unknown"
    return whole, known
