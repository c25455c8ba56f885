"""READ: which concepts documents teach, as lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.gates.proposed_names import SearchableText
from compiler.language import names
from compiler.language.tokens import content_words
from compiler.protocol.citations import Shown, clash_in, sides_in
from compiler.protocol.documents import lines_of
from compiler.protocol.faults import Fault
from compiler.protocol.replies import Clash, ReadConcept, ReadReply, ReadTerm, SourceStatement, Statement
from compiler.protocol.requests import ReadRequest
from vault.text.formatting import clean_line, fold, normal

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:[.-]\w+)*")  # a name in code
_KNOWN_BYTES = 4_000  # of the names that are there already
_RANGE = re.compile(r"(\d{1,3}):(\d{1,5})[a-z]{0,2}(?:\s*[-–]\s*(?:\1:)?(\d{1,5}))?")
_LINE = re.compile(r"^[\s>*-]*(CONCEPT|IS|FROM|TERM|CLASH|SUM)\b\**:?\s*(.*)$")
_SHORT = re.compile(r"\(([^()\s]+)\)\s*$")  # convolutional network (CNN)
_DOCUMENT = re.compile(r"(\d{1,5})[.:]*(?:\s|$)")
_MOST_PASSAGES = 400  # of one range


def render(request: ReadRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    known: list[str] = []
    left = _KNOWN_BYTES
    for name in request.known:
        left -= len(name.encode()) + 2
        if left < 0:
            break
        known.append(name)
    head = [f"Names found so far (use them where you mean the same idea): {'; '.join(known)}", ""] if known else []
    return "\n".join([*head, *lines_of(request.documents)])


@dataclass
class _Concept:
    title: str
    aliases: tuple[str, ...]
    page: bool
    at: int
    line: Statement | None = None
    blocks: dict[str, None] = field(default_factory=dict)


def parse(request: ReadRequest, text: str) -> tuple[ReadReply, list[Fault]]:
    """Return what an answer says of the documents, and its faults; nothing that is faulty is in the reply."""
    reader = _Reader(request)
    for number, kind, words in _lines(text):
        reader.take(number, kind, words)
    return reader.reply(), reader.faults


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, keyword, words); a line without keyword goes on with the one before."""
    start, kind = 0, ""
    words: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match:
            if kind:
                yield start, kind, " ".join(words)
            start, kind, words = number, match[1], [match[2]]
        elif kind and line.strip() and not line.startswith(("```", "===", "#")):
            words.append(line.strip())
    if kind:
        yield start, kind, " ".join(words)


class _Reader:
    """Collects the lines of one answer."""

    def __init__(self, request: ReadRequest) -> None:
        self.request, self.shown = request, Shown(request.documents)
        self.faults: list[Fault] = []
        self.concepts: list[_Concept] = []
        self.refused = False  # whether the last concept was
        self.terms: list[ReadTerm] = []
        self.clashes: list[Clash] = []
        self.summaries: list[SourceStatement] = []
        text = "\n".join(
            [d.title for d in request.documents]
            + [" ".join(p.headings) for d in request.documents for p in d.passages]
            + [b.text for d in request.documents for p in d.passages for b in p.blocks]
        )
        self.text = SearchableText.of(text)
        blocks = (b.text for d in request.documents for p in d.passages for b in p.blocks)
        self.stems = [frozenset(content_words(block)) for block in blocks]

    def take(self, number: int, kind: str, words: str) -> None:
        """Add one line."""
        if kind == "CONCEPT":
            self._concept(number, words)
        elif kind == "TERM":
            name, _, where = words.partition("|")
            short = _SHORT.search(name)
            if not self._is_name(number, name := _name(name)):
                return
            said = [n for n in (name, short[1] if short else "") if n and self.text.has(n)]
            stems = set(content_words(name))
            if said or (stems and any(stems <= block for block in self.stems)):
                self.terms.append(ReadTerm(name=said[0] if said else name, blocks=tuple(self._blocks(where))))
            else:
                self.faults.append(
                    Fault(
                        number,
                        name,
                        "the documents shown do not contain this term",
                        "write the term as the documents do",
                    )
                )
        elif kind == "CLASH":
            clash, faults = clash_in(self.shown, number, words)
            self.clashes += [clash] if clash is not None else []
            self.faults += faults
        elif kind == "SUM":
            self._summary(number, words)
        elif self.refused:
            return  # what is said of a name that cannot be one
        elif not self.concepts:
            self.faults.append(Fault(number, words, f"{kind} comes before any CONCEPT", "begin with CONCEPT"))
        elif kind == "IS":
            self.concepts[-1].line = self._line(number, words) or self.concepts[-1].line
        elif kind == "FROM":
            found = self._blocks(words)
            if not found:
                self.faults.append(
                    Fault(
                        number,
                        words,
                        "it does not name a passage of this request",
                        "write the passages, such as 1:3-9, 1:14",
                    )
                )
            self.concepts[-1].blocks |= dict.fromkeys(found)

    def _concept(self, number: int, words: str) -> None:
        parts = [part.strip() for part in words.split("|")]
        page = True
        if len(parts) > 1 and parts[-1].casefold() in ("page", "line"):
            page = parts.pop().casefold() == "page"
        title = _name(parts[0])
        self.refused = not self._is_name(number, title)
        if self.refused:
            return
        listed = [_name(a) for part in parts[1:] for a in part.split(";")]
        aliases = tuple(
            a
            for a in dict.fromkeys(listed)
            if a and a != title and (names.could_name(a) or _IDENTIFIER.fullmatch(a)) and self.text.has(a)
        )
        self.concepts.append(_Concept(title, aliases, page, number))

    def _is_name(self, number: int, name: str) -> bool:
        """Return whether words can be the name of a concept; if not, add a fault."""
        if name and names.could_name(name):
            return True
        why = names.unfit(name) if name else "it is empty"
        hint = "use a noun phrase of at most six words, without commas, quotes, formulas or code"
        self.faults.append(
            Fault(number, name, f"this cannot be the name of a concept{f': {why}' if why else ''}", hint)
        )
        return False

    def _line(self, number: int, words: str) -> Statement | None:
        """Return a sentence with its evidence; None if it has none."""
        text, sides, faults = sides_in(self.shown, number, words)
        self.faults += faults
        quotes = tuple(dict.fromkeys(q for side in sides for q in side))[:12]
        return Statement(text=text, quotes=quotes) if text and quotes else None

    def _summary(self, number: int, words: str) -> None:
        numbered = _DOCUMENT.match(words)
        said = self._line(number, words[numbered.end() :] if numbered else words)
        if said is None:
            return
        source = self.shown.source_of(int(numbered[1])) if numbered else said.quotes[0].source
        own = tuple(q for q in said.quotes if q.source == source)
        if own:
            self.summaries.append(SourceStatement(source=source, text=said.text, quotes=own))

    def _blocks(self, words: str) -> list[str]:
        """Return references to the blocks of the passages that words name, as `1:3-9, 2:4`."""
        found: list[str] = []
        for document, first, last in _RANGE.findall(words):
            end = min(int(last or first), int(first) + _MOST_PASSAGES)
            for n in range(int(first), end + 1):
                found += self.shown.blocks(f"{document}:{n}")
        return list(dict.fromkeys(found))

    def reply(self) -> ReadReply:
        """Return what was collected; a concept that no passage carries is left out."""
        concepts = []
        for one in self.concepts:
            if not one.blocks and one.line is not None:
                one.blocks |= dict.fromkeys(self._blocks_of(one.line))
            if not one.blocks:
                self.faults.append(Fault(one.at, one.title, "no passage supports it", "add FROM 1:3-9"))
                continue
            concepts.append(
                ReadConcept(
                    title=one.title[:200],
                    aliases=tuple(a[:200] for a in one.aliases),
                    page=one.page,
                    line=one.line,
                    blocks=tuple(one.blocks),
                )
            )
        if not concepts and not self.summaries and not self.terms:
            self.faults.append(
                Fault(
                    0,
                    "",
                    "the answer has no line in the requested form",
                    "begin lines with CONCEPT, IS, FROM, TERM or SUM",
                )
            )
        return ReadReply(
            covers=tuple(covered(self.request)),
            concepts=tuple(concepts),
            terms=tuple(self.terms),
            clashes=tuple(self.clashes),
            summaries=tuple(self.summaries),
        )

    def _blocks_of(self, said: Statement) -> Iterator[str]:
        """Yield references to the blocks that hold the evidence of a sentence."""
        for quote in said.quotes:
            for searched in self.shown.passages.values():
                if searched.document.source == quote.source:
                    for block in searched.passage.blocks:
                        if quote.words in fold(block.text):
                            yield f"{quote.source}:{block.key}"


def covered(request: ReadRequest) -> list[str]:
    """Return references to all blocks that a request shows."""
    return list(dict.fromkeys(f"{d.source}:{b.key}" for d in request.documents for p in d.passages for b in p.blocks))


def _name(words: str) -> str:
    """Return a name without what is no part of it."""
    return names.bare(clean_line(normal(words)).strip('*`"“” ').removesuffix("."))
