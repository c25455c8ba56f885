"""The concepts that readers found, joined to groups: one group is one idea under all its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.concepts.evidence import SourceClaims, gather, key_of
from compiler.concepts.rulings import Rulings, last, pair
from compiler.drafts.shelf import Shelf
from compiler.model.requests import Term
from compiler.protocol.replies import ReadConcept, Statement
from compiler.replies.knowledge import Knowledge, title_key
from vault.ids import ConceptId, SourceId
from vault.log.ledger import Ids


@dataclass(slots=True)
class Group:
    """One idea: its names, the blocks that carry it in the order of the documents, what it is in one line."""

    key: str
    title: str
    titles: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    blocks: list[str] = field(default_factory=list)
    lines: list[Statement] = field(default_factory=list)
    page: bool = False

    @property
    def line(self) -> str:
        """Return the first line that says what it is; "" if there is none."""
        return self.lines[0].text if self.lines else ""


def settled(rulings: Rulings, knowledge: Knowledge, languages: Mapping[str, str]) -> Rulings:
    """Return the rulings with the names that SETTLE joined. `languages` are those of titles, by key."""
    joins = set()
    for reply in knowledge.settled:
        for one, other in reply.same:
            keys = [key_of(t, languages.get(title_key(t), ""), True) for t in (one, other)]
            if all(keys) and keys[0] != keys[1]:
                joins.add(pair(keys[0], keys[1]))
    return replace(rulings, likely=rulings.likely | frozenset(joins))


def languages_of(knowledge: Knowledge, shelf: Shelf) -> dict[str, str]:
    """Return for each title that readers used, by key, the language of the document that it comes from."""
    found: dict[str, str] = {}
    for concept, blocks in knowledge.concepts(shelf.blocks):
        found.setdefault(title_key(concept.title), shelf.blocks[blocks[0]][0].text.language)
    return found


def terms_of(knowledge: Knowledge, shelf: Shelf, pages: Mapping[str, bool] | None = None) -> dict[SourceId, list[Term]]:
    """Return the names that readers give to what each source teaches; `pages` says by title which get a page."""
    terms: dict[SourceId, dict[tuple[str, tuple[str, ...], bool], Term]] = {}
    for concept, blocks in knowledge.concepts(shelf.blocks):
        for source in dict.fromkeys(b.partition(":")[0] for b in blocks):
            page = (pages or {}).get(title_key(concept.title), concept.page)
            term = Term(name=concept.title, aliases=concept.aliases, signal="page" if page else "line")
            terms.setdefault(SourceId(source), {})[concept.title, concept.aliases, concept.page] = term
    return {source: list(found.values()) for source, found in terms.items()}


def groups_of(knowledge: Knowledge, shelf: Shelf, rulings: Rulings, ids: Ids) -> list[Group]:
    """Return the ideas that the documents teach, in the order in which they come up."""
    terms = terms_of(knowledge, shelf)
    sources = [
        SourceClaims(SourceId(d.id), d.text.title, d.text.language, (), tuple(terms.get(SourceId(d.id), ())), True)
        for d in shelf.documents
    ]
    union, _, _ = gather(sources, rulings)
    order = {block: n for n, block in enumerate(shelf.blocks)}
    groups: dict[str, Group] = {}
    counts: dict[str, Counter[str]] = {}
    for concept, blocks in knowledge.concepts(shelf.blocks):
        for source, own in _by_source(blocks).items():
            key = key_of(concept.title, shelf.by_id[source].text.language, True)
            if not key:
                continue
            key = rulings.meant(key, source)
            root = union.find(key)
            group = groups.setdefault(root, Group(root, ""))
            _add(group, concept, own, shelf)
            group.keys.add(key)
            counts.setdefault(root, Counter())[concept.title] += len(own)
    decided, preferred = knowledge.is_page(), _preferred(knowledge)
    for root, group in groups.items():
        group.blocks = sorted(set(group.blocks), key=lambda b: order[b])
        group.title = _title(group, counts[root], preferred, rulings, ids)
        said = [decided[title_key(t)] for t in group.titles if title_key(t) in decided]
        group.page = any(said) if said else group.page
        chosen = title_key(group.title)
        group.aliases = [a for a in dict.fromkeys((*group.titles, *group.aliases)) if title_key(a) != chosen]
    return sorted(groups.values(), key=lambda g: (order[g.blocks[0]], g.title.casefold()))


def _by_source(blocks: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for block in blocks:
        found.setdefault(block.partition(":")[0], []).append(block)
    return found


def _add(group: Group, concept: ReadConcept, blocks: Sequence[str], shelf: Shelf) -> None:
    """Add what one reader says of an idea."""
    group.blocks += blocks
    if concept.title not in group.titles:
        group.titles.append(concept.title)
    group.aliases += [a for a in concept.aliases if a not in group.aliases]
    group.page |= concept.page
    line = concept.line
    if line is not None and line not in group.lines and shelf.stands(line.quotes):
        group.lines.append(line)


def _preferred(knowledge: Knowledge) -> dict[str, str]:
    """Return for titles that were joined, by key, the title that goes on."""
    chosen: dict[str, str] = {}
    for reply in knowledge.settled:
        for one, other in reply.same:
            chosen[title_key(other)] = chosen[title_key(one)] = one
    return chosen


def _title(group: Group, counts: Counter[str], preferred: Mapping[str, str], rulings: Rulings, ids: Ids) -> str:
    """Return the title of a group: the ledger's, else the one that SETTLE chose, else the most used one."""
    alive = {ConceptId(i) for k in group.keys if (i := ids.keys.get(("concept", k))) is not None and ids.alive(i)}
    if known := sorted(alive, key=lambda i: (ids.births[i].at, i)):  # of several, that which goes on: see `resolve`
        goes_on = last(rulings.into, known[0])
        id_ = goes_on if goes_on in alive else known[0]
        return rulings.names.get(id_) or ids.first_name(id_)
    chosen = next((preferred[title_key(t)] for t in group.titles if title_key(t) in preferred), "")
    best = chosen or max(group.titles, key=lambda t: (counts[t], -len(t)))
    return capitalized(best)


def capitalized(title: str) -> str:
    """Return a title with its first letter in upper case, unless it is written like pH."""
    return title if title[1:2].isupper() else title[:1].upper() + title[1:]
