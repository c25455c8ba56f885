"""Answers as pages of `wiki/answers/`: their text, and what such a page cites.

A page cites claims of summaries as articles do. Words of a source that are no claim stand in the page itself, each in a
block with an id, which its sentences cite. A page is inferred: nothing may rest on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from compiler.query.answer import Answer
from compiler.query.retrieve import Known, passage_key
from vault.ids import ClaimId, digest12
from vault.model.frontmatter import Value, read_properties, render_generated
from vault.model.markdown import escape
from vault.model.wikilink import Citation, note_link, raw_link
from vault.text.formatting import clean_line, fold

SYNTHESIS, COMPARISON = "synthesis", "comparison"
_COMPARES = re.compile(
    r"\b(?:compar(?:e|ed|es|ing|ison)|versus|vs\.?|differ(?:s|ed|ent|ence|ences)?|distinguish\w*|in common"
    r"|(?:worse|more|less|(?!(?:oth|rath)er\b)\w+er) than"
    r"|vergleich\w*|unterschied\w*|unterscheide\w*|gegenüber|(?:mehr|weniger|\w+er) als)\b"
    r"|区别|差异|差別|相比|比较|違い|차이|비교",
    re.IGNORECASE,
)
_WHICH_OF = re.compile(r"^\s*(?:which|what|who|welche[rs]?|was|wer)\b[^?]*[,:][^?]*\b(?:or|oder)\b", re.IGNORECASE)


def kind_of_question(question: str) -> str:
    """Return whether a question asks for a comparison, by its form: it says so, or names things to choose from."""
    return COMPARISON if _COMPARES.search(question) or _WHICH_OF.search(question) else SYNTHESIS


# --- writing ---------------------------------------------------------------------------------------------------------


def render_page(answer: Answer, day: str, confidence: str, old: str | None) -> str:
    """Return the page of an answer; `old` is the one that it replaces, whose first day and own properties stay."""
    stems = _summaries(answer)
    places = {stem: n for n, stem in enumerate(stems, 1)}
    body = f"\n# {escape(clean_line(answer.question))}\n"
    body += _sentences(answer, places)
    passages = [known for known in answer.claims if not known.is_claim]
    if passages:
        body += "\n## Quoted from the sources\n" + "".join(map(_passage, passages))
    for quote in answer.quotes:
        cites = [Citation(_stem(c.summary), c.id, places[_stem(c.summary)]) for c in quote.claims]
        body += _block(quote.text, quote.path, quote.place, cites)
        body += "".join(f"\n- {note_link(path, title)}" for path, title in quote.articles) + "\n" * bool(quote.articles)
    if answer.missing:
        body += f"\n## What your sources do not say\n\n> [!missing] {escape(clean_line(answer.missing))}\n"
    keys = [(str(known.claim.id), known.raw) for known in passages]
    keys += [(str(passage_key(quote.path, quote.text)), quote.path) for quote in answer.quotes]
    before = read_properties(old) if old is not None else None
    properties: dict[str, Value] = {
        "type": kind_of_question(answer.question),
        "title": answer.question,
        "question": answer.question,
        "created": (before.text("created") if before is not None else "") or day,
        "updated": day,
        "engine": answer.engine,
        "inferred": True,
        "confidence": confidence,
        "sources": tuple(dict.fromkeys(_source_links(answer, stems))),
        "claims": tuple(f"{id_} {digest12(fold(words))}" for id_, words in _claims(answer).items()),
        "quotes": tuple(f"{key} {clean_line(path)}" for key, path in dict(keys).items()),
    }
    return render_generated(properties, body, old)


def _sentences(answer: Answer, places: Mapping[str, int]) -> str:
    """Return the sentences of an answer, each with its citations."""
    numbers = {known.claim.id: n for n, known in enumerate((k for k in answer.claims if not k.is_claim), 1)}
    by_id = {str(known.claim.id): known for known in answer.claims}
    said = []
    for sentence in answer.sentences:
        cited = [by_id[id_] for id_ in sentence.cites]
        marks = (_cite(known, places, numbers) for known in cited)
        said.append(f"{escape(fold(sentence.text))} {' '.join(marks)}")
    return f"\n{' '.join(said)}\n" if said else ""


def _cite(known: Known, places: Mapping[str, int], numbers: Mapping[ClaimId, int]) -> str:
    if not known.is_claim:
        return f"[[#^q-{known.claim.id}|q{numbers[known.claim.id]}]]"
    stem = _stem(known.summary)
    return str(Citation(stem, known.claim.id, places[stem]))


def _passage(known: Known) -> str:
    return _block(known.claim.quote, known.raw, known.claim.locator, ())


def _block(words: str, path: str, place: str, cites: Sequence[Citation]) -> str:
    """Return a quote with its place, the claims in it, and its id."""
    at = f", {escape(clean_line(place))}" if place else ""
    about = " ".join([f"{raw_link(path, path)}{at}", *map(str, cites)])
    return f"\n> {escape(fold(words))}\n>\n> {about}\n\n^q-{passage_key(path, words)}\n"


def _claims(answer: Answer) -> dict[str, str]:
    """Return the quotes of the claims that an answer rests on, by id."""
    found = {str(known.claim.id): known.claim.quote for known in answer.claims if known.is_claim}
    return found | {str(claim.id): claim.quote for quote in answer.quotes for claim in quote.claims}


def _stem(path: str) -> str:
    return path.removesuffix(".md")


def _summaries(answer: Answer) -> list[str]:
    """Return the pages of the sources that an answer rests on, without `.md`, in order of their first use."""
    found = [known.summary for known in answer.claims] + [quote.summary for quote in answer.quotes]
    return [_stem(path) for path in dict.fromkeys(found) if path]


def _source_links(answer: Answer, stems: Sequence[str]) -> Iterator[str]:
    """Yield the links to the pages of the sources, and to the files that have no page."""
    titles = {_stem(known.summary): known.title for known in answer.claims}
    titles |= {_stem(quote.summary): quote.title for quote in answer.quotes}
    yield from (note_link(f"{stem}.md", titles[stem] or stem) for stem in stems)
    bare = [(k.raw, k.summary) for k in answer.claims] + [(q.path, q.summary) for q in answer.quotes]
    yield from (raw_link(path, path) for path, summary in bare if not summary)
