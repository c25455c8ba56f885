"""What is asked: requests for the passages, names and articles that no answer covers yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.drafts.names import Group
from compiler.drafts.shelf import Shelf
from compiler.language.tokens import content_words
from compiler.protocol.documents import view
from compiler.protocol.passages import Document, Passage, ref
from compiler.protocol.replies import WrittenArticle
from compiler.protocol.requests import (
    ConceptTask,
    DocumentView,
    NameLine,
    PresentSentence,
    ReadRequest,
    SettleRequest,
    WriteRequest,
)
from compiler.replies.knowledge import ATTEMPTS, Knowledge, Written, title_key
from vault.text.formatting import fold

MOST_CONCEPTS = 16  # of one WRITE request
MOST_NEIGHBOURS = 24
FEWEST_WORDS, MOST_WORDS = 100, 700  # of a page: what it is and why it matters takes some, however little is told of it
SHARE = 0.7  # of the words of its passages that a page may take beside these
WORDS_A_CARD = 90  # of the passages
MOST_SETTLED = 300  # names that go with new ones; of more, those that share a word


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why the user rejected versions of a page, and when the last one (an ISO instant)."""

    reasons: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of documents in a READ request, of passages in a WRITE request, of items in a CHECK request."""

    read: int
    write: int
    check: int

    @classmethod
    def of_part(cls, part_bytes: int) -> Sizes:
        """Return the sizes for a model that is to get parts of that many bytes."""
        return cls(part_bytes, part_bytes * 9 // 10, part_bytes)


# --- read ------------------------------------------------------------------------------------------------------------


def reads(shelf: Shelf, knowledge: Knowledge, sizes: Sizes) -> list[ReadRequest]:
    """Return the requests for all blocks that nobody has read: small documents together, a long one in parts."""
    known = knowledge.read_blocks
    names = list(dict.fromkeys(c.title for c, _ in knowledge.concepts(shelf.blocks)))
    parts: list[list[tuple[Document, list[Passage]]]] = [[]]
    left = sizes.read
    for document in shelf.documents:
        fresh = [p for p in document.passages if any(ref(document.id, b.key) not in known for b in p.blocks)]
        for run in _runs(document, fresh, sizes.read):
            own = _bytes(document, run)
            if own > left and parts[-1]:
                parts.append([])
                left = sizes.read
            parts[-1].append((document, run))
            left -= own
    numbers = {d.id: n for n, d in enumerate(shelf.documents, 1)}
    return [ReadRequest(documents=tuple(_views(part, numbers)), known=tuple(names)) for part in parts if part]


def _views(part: Sequence[tuple[Document, list[Passage]]], numbers: Mapping[str, int]) -> Iterator[DocumentView]:
    merged: dict[str, tuple[Document, list[Passage]]] = {}
    for document, passages in part:
        merged.setdefault(document.id, (document, []))[1].extend(passages)
    for document, passages in merged.values():
        yield view(document, numbers[document.id], passages)


def _runs(document: Document, passages: Sequence[Passage], most: int) -> Iterator[list[Passage]]:
    """Yield a document's passages in parts of at most so many bytes, cut at headings where it can be."""
    if _bytes(document, passages) <= most:
        if passages:
            yield list(passages)
        return
    sections: list[list[Passage]] = []
    for passage in passages:
        if sections and sections[-1][-1].headings == passage.headings and _bytes(document, sections[-1]) < most // 2:
            sections[-1].append(passage)
        else:
            sections.append([passage])
    run: list[Passage] = []
    for section in sections:
        if run and _bytes(document, run) + _bytes(document, section) > most:
            yield run
            run = []
        run += section
    if run:
        yield run


def _bytes(document: Document, passages: Sequence[Passage]) -> int:
    return sum(len(document.words(b).encode("utf-8", "surrogatepass")) + 6 for p in passages for b in p.blocks)


# --- settle ----------------------------------------------------------------------------------------------------------


def settles(groups: Sequence[Group], shelf: Shelf, knowledge: Knowledge) -> list[SettleRequest]:
    """Return the request about names of which nobody has decided; none for one name alone."""
    known = knowledge.settled_titles()
    new = [g for g in groups if any(title_key(t) not in known for t in g.titles)]
    if not new or len(groups) < 2:
        return []
    old = [g for g in groups if g not in new]
    if len(old) > MOST_SETTLED:
        words = {w for g in new for name in (g.title, *g.aliases) for w in content_words(name)}
        old = [g for g in old if any(words.intersection(content_words(n)) for n in (g.title, *g.aliases))]
    numbers = {d.id: n for n, d in enumerate(shelf.documents, 1)}
    lines = []
    for group in [*new, *old]:
        sources = list(dict.fromkeys(b.partition(":")[0] for b in group.blocks))
        open_ = [t for t in group.titles if title_key(t) not in known]
        for title in dict.fromkeys([*open_, group.titles[0]]) if group in new else [group.titles[0]]:
            line = NameLine(
                title=title,
                aliases=tuple(a for a in group.aliases if title_key(a) != title_key(title))[:6],
                line=group.line,
                page=group.page,
                passages=len(_passages(group.blocks, shelf)),
                documents=tuple(numbers[s] for s in sources),
                settled=title_key(title) in known,
            )
            lines += [line]
    return [SettleRequest(names=tuple(lines))]


# --- write -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Present:
    """The article of a group as the journal has it: sentences with their headings, and which lost their words."""

    written: Written | None
    sentences: tuple[PresentSentence, ...]
    known: frozenset[str]  # blocks that its writer was shown

    @property
    def article(self) -> WrittenArticle | None:
        """Return the last article; None if there is none."""
        return self.written.article if self.written is not None else None


def present_of(group: Group, shelf: Shelf, knowledge: Knowledge) -> Present:
    """Return the article of a group: the last one of any of its names, and after it what those of others add."""
    names = list(dict.fromkeys(title_key(t) for t in (group.title, *group.titles, *group.aliases)))
    last = [knowledge.articles[n][-1] for n in names if n in knowledge.articles]
    last.sort(key=lambda w: w.at)
    main = last[-1] if last else None
    key = (
        title_key(main.article.title)
        if main is not None
        else next((n for n in names if n in knowledge.known_blocks), "")
    )
    out: list[PresentSentence] = []
    for written in reversed(last):
        heading = "" if written is main else written.article.title
        for section in written.article.sections:
            for sentence in (s for p in section.paragraphs for s in p):
                said = knowledge.judged(sentence)
                if said is not None:
                    gone = bool(said.quotes) and not shelf.stands(said.quotes)
                    out.append(PresentSentence(heading=section.heading or heading, sentence=said, gone=gone))
    return Present(main, tuple(out), frozenset(knowledge.known_blocks.get(key, ())))


def writes(
    groups: Sequence[Group],
    shelf: Shelf,
    knowledge: Knowledge,
    sizes: Sizes,
    rejected: Mapping[str, Rejected],
) -> list[WriteRequest]:
    """Return the requests for the articles of pages that know not all of their passages yet.

    `rejected` says by title why and when the user rejected earlier versions.
    """
    tasks: dict[str, tuple[Group, Present]] = {}
    pages = [g for g in groups if g.page]
    shared = Counter(b for g in pages for b in set(g.blocks))
    for group in pages:
        if any(title_key(t) in knowledge.given_up for t in (group.title, *group.titles)):
            continue
        present = present_of(group, shelf, knowledge)
        if set(group.blocks) - present.known or _is_outdated(group, present, shared, rejected, knowledge):
            tasks[group.key] = group, present
    batches = _batches([g for g, _ in tasks.values()], shelf, knowledge, sizes)
    return [_write([tasks[g.key] for g in batch], shelf, sizes, pages, rejected) for batch in batches]


def _is_outdated(
    group: Group,
    present: Present,
    shared: Mapping[str, int],
    rejected: Mapping[str, Rejected],
    knowledge: Knowledge,
) -> bool:
    """Return whether an article is to be written again though it knows all passages of its concept.

    That is: its definition is gone, it tells of passages that are another concept's now, or the user rejected it.
    """
    if present.written is None or knowledge.declined.get(title_key(present.written.article.title), 0) >= ATTEMPTS:
        return False
    undefined = present.sentences[:1] and present.sentences[0].gone
    of_others = any(shared.get(b) for b in present.known - set(group.blocks))
    said = rejected.get(title_key(group.title))
    return bool(undefined or of_others or (said is not None and said.at > present.written.at))


def _batches(groups: Sequence[Group], shelf: Shelf, knowledge: Knowledge, sizes: Sizes) -> Iterator[list[Group]]:
    """Yield the groups that are written together: those of one cluster, then neighbours in the documents."""
    of_title = {title_key(t): g for g in groups for t in (g.title, *g.titles)}
    ordered: list[list[Group]] = []
    placed: set[str] = set()
    for reply in reversed(knowledge.settled):
        for cluster in reply.clusters:
            named = {g.key: g for t in cluster.titles if (g := of_title.get(title_key(t))) is not None}
            members = [g for g in named.values() if g.key not in placed]
            placed |= {g.key for g in members}
            ordered += [members] if members else []
    rest = [g for g in groups if g.key not in placed]
    ordered += [rest[n : n + MOST_CONCEPTS] for n in range(0, len(rest), MOST_CONCEPTS)]
    batch: list[Group] = []
    for together in (part for each in ordered for part in _parts(each, shelf, sizes)):
        full = len(batch) + len(together) > MOST_CONCEPTS or _size([*batch, *together], shelf) > sizes.write
        if batch and full:
            yield batch
            batch = []
        batch += together
    if batch:
        yield batch


def _parts(groups: Sequence[Group], shelf: Shelf, sizes: Sizes) -> Iterator[list[Group]]:
    """Yield a cluster in parts that fit into a request; most fit whole."""
    part: list[Group] = []
    for group in groups:
        if part and (len(part) >= MOST_CONCEPTS or _size([*part, group], shelf) > sizes.write):
            yield part
            part = []
        part.append(group)
    if part:
        yield part


def _size(groups: Sequence[Group], shelf: Shelf) -> int:
    """Return the bytes of the blocks that carry some groups."""
    blocks = {b for g in groups for b in g.blocks}
    return sum(shelf.blocks[b][2].end - shelf.blocks[b][2].start + 6 for b in blocks)


def _write(
    tasks: Sequence[tuple[Group, Present]],
    shelf: Shelf,
    sizes: Sizes,
    pages: Sequence[Group],
    rejected: Mapping[str, Rejected],
) -> WriteRequest:
    """Return the request for the articles of some groups."""
    numbers = {d.id: n for n, d in enumerate(shelf.documents, 1)}
    shown: dict[str, dict[int, Passage]] = {}
    shared = Counter(b for g in pages for b in g.blocks)
    concepts = []
    for group, present in tasks:
        carrying = _passages(group.blocks, shelf)
        new_blocks = [b for b in group.blocks if b not in present.known]
        new = _passages(new_blocks, shelf)
        if present.sentences:  # an update: what is new, and of the rest as much as fits
            carrying = _within(sizes.write // 3, new, carrying)
        else:  # what does not fit comes in an update
            carrying = _within(sizes.write, carrying[:1], carrying)
        held = {ref(d.id, b.key) for d, p in carrying for b in p.blocks}
        for document, passage in carrying:
            shown.setdefault(document.id, {})[passage.number] = passage
        label = {(d.id, p.number): f"{numbers[d.id]}:{p.number}" for d, p in carrying}
        length, cards = _length(group, shelf, shared)
        concepts.append(
            ConceptTask(
                title=group.title[:200],
                aliases=tuple(a[:200] for a in group.aliases[:6]),
                line=group.line,
                passages=tuple(label[d.id, p.number] for d, p in carrying),
                new=tuple(label[d.id, p.number] for d, p in new) if present.sentences else (),
                covers=tuple(b for b in group.blocks if present.sentences or b in held),
                words=length,
                most_cards=cards,
                present=present.sentences,
                cards=tuple(c for c in present.article.cards if shelf.stands(c.quotes)) if present.article else (),
                reasons=said.reasons if (said := rejected.get(title_key(group.title))) is not None else (),
            )
        )
    documents = tuple(
        view(shelf.by_id[id_], numbers[id_], [passages[n] for n in sorted(passages)])
        for id_, passages in sorted(shown.items(), key=lambda each: numbers[each[0]])
    )
    words = " ".join(b.text for d in documents for p in d.passages for b in p.blocks)
    languages = Counter(shelf.by_id[b.partition(":")[0]].text.language for g, _ in tasks for b in g.blocks)
    return WriteRequest(
        language=languages.most_common(1)[0][0] if languages else "",
        concepts=tuple(concepts),
        documents=documents,
        neighbours=tuple(_neighbours([g for g, _ in tasks], pages, words)),
    )


def _passages(blocks: Sequence[str], shelf: Shelf) -> list[tuple[Document, Passage]]:
    """Return the passages that hold some blocks, each once, in order."""
    found = {(shelf.blocks[b][0].id, shelf.blocks[b][1].number): shelf.blocks[b][:2] for b in blocks}
    return list(found.values())


def _within(
    most: int, first: Sequence[tuple[Document, Passage]], others: Sequence[tuple[Document, Passage]]
) -> list[tuple[Document, Passage]]:
    """Return the first passages, and of the others as many as fit into so many bytes, in the order of the others."""
    chosen = {(d.id, p.number) for d, p in first}
    left = most - sum(_bytes(d, [p]) for d, p in first)
    for document, passage in others:
        left -= _bytes(document, [passage])
        if left < 0:
            break
        chosen.add((document.id, passage.number))
    return [(d, p) for d, p in others if (d.id, p.number) in chosen]


def _length(group: Group, shelf: Shelf, shared: Mapping[str, int]) -> tuple[int, int]:
    """Return how many words the page of a group may have, and how many cards.

    `shared` counts the pages that a block carries: what several pages tell, each tells in part.
    """
    counts = {b: len(shelf.blocks[b][0].words(shelf.blocks[b][2]).split()) for b in group.blocks}
    own = sum(n / shared.get(b, 1) for b, n in counts.items())
    words = min(MOST_WORDS, FEWEST_WORDS + round(SHARE * own / 10) * 10)
    return words, max(1, min(8, round(own / WORDS_A_CARD)))


def _neighbours(groups: Sequence[Group], pages: Sequence[Group], words: str) -> Iterator[str]:
    """Yield the titles of other pages that the passages (`words`) name, or carry too."""
    own = {g.key for g in groups}
    blocks = {b for g in groups for b in g.blocks}
    plain = f" {fold(words).casefold()} "
    found = [
        p.title
        for p in pages
        if p.key not in own
        and (blocks.intersection(p.blocks) or any(n.casefold() in plain for n in (p.title, *p.titles)))
    ]
    yield from found[:MOST_NEIGHBOURS]
