"""WRITE: articles and cards of some concepts, from passages in full, as plain text with citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.gates.headings import plain_heading
from compiler.gates.repeated_cards import PER_KIND, repeats
from compiler.gates.written import MAX_SENTENCE, address_fault, card_fault, known_names, sentence_fault
from compiler.language.tokens import content_words
from compiler.model.requests import CardKindName, ProposedCard
from compiler.protocol.citations import CLASH, MAX_QUOTE, Citation, Shown, citations_in, clash_in, pieces_of
from compiler.protocol.faults import Fault
from compiler.protocol.passages import cells
from compiler.protocol.plain_text import LINK, links_in, plain_words
from compiler.protocol.replies import (
    Clash,
    Form,
    Left,
    Mark,
    Quote,
    Statement,
    WriteReply,
    WrittenArticle,
    WrittenCard,
    WrittenSection,
    WrittenSentence,
)
from compiler.protocol.requests import ConceptTask, WriteRequest
from vault.text.formatting import clean_line, fold, normal

_TITLE = re.compile(r"^={2,}\s*(?:(CARDS|OPEN|LEFT)\b[:\s]*)?(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_ITEM = re.compile(r"^\s*(?:([-*+•])|(\d{1,2})[.)])\s+(?=\S)")
_KEEP = re.compile(r"^\s*@keep\s+\[?(\d{1,3}:\d{1,5})[a-z]{0,2}\]?\s*(.*)$")
_STAYS = re.compile(r"@s\s*(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?\.?(?=\s|$)")
_SEE = re.compile(r"\bSee(?: also)? ((?:\[\[[^\]\n]+\]\](?:,? (?:and )?)?)+)(?:\.|$)", re.MULTILINE)
_DELIMITER = re.compile(r"^\s*(?:\|\s*)?:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*(?:\|\s*)?$")
_FIELD = re.compile(r"^\s*\**(T|K|KIND|Q|A|C|CITE)\**\s*:\s*(.*)$", re.IGNORECASE)
_KINDS: dict[str, CardKindName] = {
    "def": "definitional",
    "mec": "mechanistic",
    "rel": "relational",
    "app": "applied",
}
_MOST_CELLS = 30
_NUMBERING = re.compile(r"^(?:[Ss]tep\s+)?\d{1,2}(?:[.):]|\s|$)\s*")
_MOST_LEFT = 60
_EMPTY = "–"  # stands in a cell without words
_LEFT = re.compile(r"^[\s*-]*\[?(\d{1,3}:\d{1,5})[a-z]{0,2}\b\]?(?:\s*[-–]\s*\d{1,5})?[\s:–-]*(.*)$")


def parse(request: WriteRequest, text: str) -> tuple[WriteReply, list[Fault]]:
    """Return the articles of an answer, and its faults. A concept without an article has one without sections."""
    reader = _Reader(request)
    reader.take(text.split("\n"))
    return reader.reply(), reader.faults


@dataclass
class _Draft:
    """What an answer says of one concept."""

    task: ConceptTask
    sections: list[tuple[str, list[list[WrittenSentence]]]] = field(default_factory=lambda: [("", [])])
    cards: list[WrittenCard] = field(default_factory=list)
    questions: list[Statement] = field(default_factory=list)
    see: list[str] = field(default_factory=list)

    def add(self, paragraph: Sequence[WrittenSentence]) -> None:
        if paragraph:
            self.sections[-1][1].append(list(paragraph))


class _Reader:
    """Reads one answer, line by line."""

    def __init__(self, request: WriteRequest) -> None:
        self.request, self.shown = request, Shown(request.documents)
        self.faults: list[Fault] = []
        self.drafts = {task.title: _Draft(task) for task in request.concepts}
        self.left: list[Left] = []
        self.clashes: list[Clash] = []
        self.leads: list[tuple[int, str]] = []  # words that end in a colon, until what they lead to is read
        names = [t for task in request.concepts for t in (task.title, *task.aliases, task.line)]
        names += request.neighbours
        names += [" ".join((d.title, *p.headings)) for d in request.documents for p in d.passages]
        texts = [s.text for s in self.shown.passages.values()]
        self.words = "\n".join(texts)
        self.known = known_names([*names, *texts])

    # --- structure ---------------------------------------------------------------------------------------------------

    def take(self, lines: Sequence[str]) -> None:
        """Read all lines."""
        part, draft = "", None
        buffer: list[tuple[int, str]] = []
        fence = False
        for number, line in enumerate([*lines, "=== LEFT"], 1):
            if line.lstrip().startswith("```"):
                fence = not fence
                continue
            title = _TITLE.match(line)
            if title is None or (
                fence and not title[1] and self._draft(title[2].rstrip("= \t")) is None
            ):  # a fence may be around all
                buffer.append((number, line))
                continue
            self._part(part, draft, buffer)
            buffer, part = [], title[1] or ""
            name = title[2].rstrip("= \t")
            draft = self._draft(name) if name else draft if part in ("CARDS", "OPEN") else None
            if draft is None and part != "LEFT":
                hint = f"the concepts are: {', '.join(self.drafts)}"
                self.faults.append(Fault(number, line, "this request has no such concept", hint))

    def _draft(self, name: str) -> _Draft | None:
        plain = clean_line(name).casefold().strip(" :*")
        for draft in self.drafts.values():
            if plain in (n.casefold() for n in (draft.task.title, *draft.task.aliases)):
                return draft
        return None

    def _part(self, part: str, draft: _Draft | None, lines: Sequence[tuple[int, str]]) -> None:
        """Read the lines of one part."""
        if part == "LEFT":
            for number, line in lines:
                self._left(number, line)
        elif draft is None:
            return
        elif part == "CARDS":
            self._cards(draft, lines)
        elif part == "OPEN":
            self._questions(draft, lines)
        else:
            self._article(draft, lines)

    def _left(self, number: int, line: str) -> None:
        """Read a line of LEFT: a block that was not used, or two passages that cannot both be right."""
        if clash := CLASH.match(line):
            found, faults = clash_in(self.shown, number, clash[1])
            self.clashes += [found] if found is not None else []
            self.faults += faults
            return
        match = _LEFT.match(line)
        why = clean_line(normal(match[2] if match else line)).lstrip("-*:– ")[:500]
        blocks = self.shown.blocks(match[1]) if match else []
        if why:
            self.left.append(Left(block=blocks[0] if blocks else "", why=why))

    def _article(self, draft: _Draft, lines: Sequence[tuple[int, str]]) -> None:
        paragraph: list[tuple[int, str]] = []
        table: list[tuple[int, str]] = []

        def flush() -> None:
            if paragraph:
                before, self.leads = self.leads, []
                said = self._sentences(draft, paragraph, "")
                found, self.leads = self.leads, before
                if said or not found:
                    self._add(draft, said)
                self.leads += found  # to what comes next
                paragraph.clear()
            if table:
                self._add(draft, self._table(draft, table))
                table.clear()

        listed: list[WrittenSentence] = []
        for number, line in [*lines, (0, "")]:
            heading, keep, item = _HEADING.match(line), _KEEP.match(line), _ITEM.match(line)
            row = line.lstrip().startswith("|")
            if listed and not item:
                self._add(draft, listed)
                listed = []
            if not line.strip() or heading or keep or item or (row != bool(table) and (row or table)):
                flush()
            if heading:
                self._add(draft, [])
                draft.sections.append((self._heading(number, heading[1], draft.task.title), []))
            elif keep:
                self._add(draft, self._kept(number, keep[1], keep[2]))
            elif item:
                form: Form = "step" if item[2] else "item"
                listed += self._sentences(draft, [(number, line[item.end() :])], form)
            elif row:
                if not _DELIMITER.match(line):
                    table.append((number, line))
            elif line.strip():
                paragraph.append((number, line))
        if listed:
            self._add(draft, listed)
        self._add(draft, [])

    def _add(self, draft: _Draft, paragraph: Sequence[WrittenSentence]) -> None:
        """Add a paragraph, a list or a table; words before it that lead to it (`The steps are:`) cite what it cites."""
        evidence = next((s.quotes for s in paragraph if s.quotes), ())
        for number, said in self.leads if evidence or not paragraph else ():
            fault = (
                sentence_fault(said, "", [q.words for q in evidence], self.known) if evidence else "it cites nothing"
            )
            if fault:
                self.faults.append(Fault(number, said, fault, "end it with its citation, or leave it out"))
            else:
                draft.add([WrittenSentence(text=said, quotes=evidence)])
        self.leads = [] if evidence or not paragraph else self.leads
        draft.add(paragraph)

    def _heading(self, number: int, text: str, title: str) -> str:
        """Return a heading in plain words; "" for the title itself and, with a fault, for one that asserts too much."""
        words = plain_heading(normal(text[:MAX_SENTENCE]).rstrip("# \t")).rstrip(":")
        if not words or words.casefold() == title.casefold():
            return ""
        said = _NUMBERING.sub("", words)
        if len(said.split()) > 2 and all(w[0].isupper() or len(w) < 4 for w in said.split()):
            said = " ".join(w if w.isupper() else w.lower() for w in said.split())  # A Heading in This Style
        if said and (fault := sentence_fault(said, "", self.known, self.known)):
            self.faults.append(Fault(number, words, fault, "give the section a heading that says what it is about"))
            return ""
        return words

    # --- sentences ---------------------------------------------------------------------------------------------------

    def _sentences(self, draft: _Draft, lines: Sequence[tuple[int, str]], form: Form) -> list[WrittenSentence]:
        """Return the sentences of a paragraph or an item that are right; what is wrong with the others is a fault."""
        text = "\n".join(line for _, line in lines)
        out: list[WrittenSentence] = []
        at = before = row = 0
        for cite in [*citations_in(text), None]:
            piece = text[at : cite.start if cite else len(text)]
            begins = at + len(piece) - len(piece.lstrip())
            row, before = row + text.count("\n", before, begins), begins
            number = lines[min(row, len(lines) - 1)][0]
            piece = self._stays(draft, number, piece, out)
            piece = self._in_sentence(self._see(draft, piece))
            at = cite.end if cite else len(text)
            said = plain_words(piece).lstrip(".,;: ") if out else plain_words(piece)
            if not any(c.isalnum() for c in said):
                if cite and out and not out[-1].block:
                    out[-1] = self._more(number, out[-1], cite)  # a second citation of the same sentence
                continue
            if cite is None and said.endswith((":", "：")) and not form:
                self.leads.append((number, said))
                continue
            if cite is None:
                hint = "end it with its citation, or leave it out"
                self.faults.append(Fault(number, said, "the sentence cites nothing", hint))
                continue
            sentence = self._sentence(number, said, cite, form, links_in(piece))
            if sentence is not None:
                out.append(sentence)
        return out

    def _stays(self, draft: _Draft, number: int, piece: str, out: list[WrittenSentence]) -> str:
        """Return a piece without the signs that keep sentences of the article as it is; these are added to `out`."""
        present = draft.task.present
        for match in _STAYS.finditer(piece) if present else ():
            for n in range(int(match[1]), int(match[2] or match[1]) + 1):
                if 1 <= n <= len(present) and not present[n - 1].gone:
                    out.append(present[n - 1].sentence)
                else:
                    self.faults.append(Fault(number, match[0], f"s{n} cannot be kept", "write it again"))
        return _STAYS.sub(" ", piece) if present else piece

    def _in_sentence(self, piece: str) -> str:
        """Return a piece with the titles in it written as the documents write them in a sentence: [[Mast|mast]]."""

        def linked(match: re.Match[str]) -> str:
            title = match[1]
            small = title[:1].lower() + title[1:]
            written = re.search(rf"\b{re.escape(small)}(?!\w)", self.words)
            known = written and not re.search(rf"[a-z,;] {re.escape(title)}(?!\w)", self.words)  # no name: Go, Rust
            before = piece[: match.start()].strip(" (*_")
            begins = not before or before.endswith((".", "!", "?", ":"))
            return match[0] if begins or match[2] or not known else f"[[{title}|{small}]]"

        return LINK.sub(linked, piece)

    def _see(self, draft: _Draft, piece: str) -> str:
        """Return a piece without "See [[Title]]", which is recorded."""
        for match in _SEE.finditer(piece):
            draft.see += [clean_line(link[1]) for link in LINK.finditer(match[1])]
        return _SEE.sub(" ", piece)

    def _sentence(
        self, number: int, said: str, cite: Citation, form: Form, links: tuple[tuple[str, str], ...] = ()
    ) -> WrittenSentence | None:
        """Return a sentence with its evidence; None, and a fault, where something is wrong with it."""
        quotes = self._quotes(number, cite)
        if not quotes:
            return None
        passages = [self.shown.passages[i.label].text for i in cite.items if i.label in self.shown.passages]
        passages += [q.words for q in quotes]
        fault = sentence_fault(said, cite.mark, (*passages, *self._headings(cite)), self.known)
        if fault:
            hint = "say what the passage says, cite the passage that says it, or mark it [derived ...] if it follows"
            if cite.mark:
                hint = (
                    "use the names and units of what the sentence cites, and make sure that its equations are correct"
                )
            self.faults.append(Fault(number, said, fault, hint))
            return None
        note = clean_line(cite.note)
        note = "" if "*" in note or address_fault(note) else note
        return WrittenSentence(text=said, quotes=quotes, form=form, mark=cite.mark, note=note, links=links)

    def _headings(self, cite: Citation) -> list[str]:
        found = [self.shown.passages[i.label] for i in cite.items if i.label in self.shown.passages]
        return [" ".join((s.document.title, *s.passage.headings)) for s in found]

    def _quotes(self, number: int, cite: Citation) -> tuple[Quote, ...]:
        """Return the evidence of a citation; none, and a fault, where an item of it is not found."""
        quotes: list[Quote] = []
        for item in cite.items:
            found, why, hint = self.shown.quotes(item)
            if why:
                self.faults.append(Fault(number, item.words or item.label, why, hint))
                if not cite.mark and len(cite.items) == 1:
                    return ()
            quotes += found
        return tuple(dict.fromkeys(quotes))[:12]

    def _more(self, number: int, sentence: WrittenSentence, cite: Citation) -> WrittenSentence:
        """Return a sentence with the evidence and the mark of one more citation."""
        quotes = tuple(dict.fromkeys((*sentence.quotes, *self._quotes(number, cite))))[:12]
        mark: Mark = cite.mark or sentence.mark
        return sentence.replaced(quotes=quotes, mark=mark)

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _kept(self, number: int, label: str, rest: str) -> list[WrittenSentence]:
        """Return a passage that is put in whole."""
        blocks = self.shown.passages.get(label)
        if blocks is None:
            self.faults.append(Fault(number, label, f"there is no passage {label} in this request", ""))
            return []
        special = [b for b in blocks.passage.blocks if b.kind in ("code", "table", "formula") or b.picture]
        out = []
        for block in special or blocks.passage.blocks:
            spans = [(0, len(block.text))] if len(block.text) <= MAX_QUOTE else pieces_of(block)
            rows = dict.fromkeys(fold(block.text[start:end])[:MAX_QUOTE] for start, end in spans)
            quotes = tuple(Quote(source=blocks.document.source, words=words) for words in rows)[:12]
            out.append(WrittenSentence(form="keep", quotes=quotes, block=f"{blocks.document.source}:{block.key}"))
        return out

    def _table(self, draft: _Draft, lines: Sequence[tuple[int, str]]) -> list[WrittenSentence]:
        """Return the rows of a table; the first is its head. Rows without evidence are faults."""
        out: list[WrittenSentence] = []
        for n, (number, line) in enumerate(lines):
            cites = citations_in(line)
            ends = [0, *(cite.end for cite in cites)]
            bare = " ".join(line[a:b] for a, b in zip(ends, [*(c.start for c in cites), len(line)], strict=True))
            found = [plain_words(c) or _EMPTY for c in cells(bare.strip().removeprefix("|").removesuffix("|"))]
            if cites and found[-1] == _EMPTY and len(found) > 1:  # the citation stood in a cell of its own
                found.pop()
            row = " | ".join(found)
            if len(found) > _MOST_CELLS:
                self.faults.append(Fault(number, row, f"a row has at most {_MOST_CELLS} cells", ""))
                continue
            if n == 0 and not cites:
                if row.strip(f"| {_EMPTY}") and (fault := sentence_fault(row, "", self.known, self.known)):
                    self.faults.append(Fault(number, row, fault, "write only the names of the columns"))
                    row = " | ".join(_EMPTY for _ in found)
                out.append(WrittenSentence(text=row, form="head"))
                continue
            if not cites:
                self.faults.append(Fault(number, row, "the row cites nothing", "put its citation after the last |"))
                continue
            sentence = self._sentence(number, row, cites[0], "row")
            for cite in cites[1:] if sentence is not None else ():
                sentence = self._more(number, sentence, cite) if sentence is not None else None
            if sentence is not None:
                out.append(sentence)
        return out if any(s.form == "row" for s in out) else []

    # --- cards and questions -----------------------------------------------------------------------------------------

    def _cards(self, draft: _Draft, lines: Sequence[tuple[int, str]]) -> None:
        fields: dict[str, list[str]] = {}
        start, last = 0, ""
        for number, line in [*lines, (0, "K: ")]:
            match = _FIELD.match(line)
            name = {"T": "K", "KIND": "K", "CITE": "C"}.get(match[1].upper(), match[1].upper()) if match else ""
            if name and (name in fields or (name == "K" and fields)):
                self._card(draft, start, {name: " ".join(said) for name, said in fields.items()})
                fields = {"K": fields.get("K", [])} if name == "Q" else {}
            if match:
                start = start if fields else number
                fields[name], last = [match[2].strip()], name
            elif last and line.strip():
                fields.setdefault(last, []).append(line.strip())

    def _card(self, draft: _Draft, number: int, fields: dict[str, str]) -> None:
        question, answer = plain_words(fields.get("Q", "")), plain_words(fields.get("A", ""))
        if not question and not answer:
            return
        kind = _KINDS.get(fields.get("K", "").casefold().strip(" *")[:3])
        shown = f"{question} / {answer}"
        if kind is None:
            names = ", ".join(_KINDS.values())
            self.faults.append(Fault(number, shown, f"unknown kind {fields.get('K', '')!r}", f"use one of {names}"))
            return
        cited = fields.get("C", "") if fields.get("C", "").lstrip().startswith("[") else f"[{fields.get('C', '')}]"
        quotes: list[Quote] = []
        labels: list[str] = []
        for cite in citations_in(cited):
            quotes += self._quotes(number, cite)
            labels += [item.label for item in cite.items]
        if not quotes:
            if not citations_in(cited):
                self.faults.append(Fault(number, shown, "the card cites nothing", "add C: 1:25b"))
            return
        proposed = ProposedCard(kind=kind, question=question, answer=answer, cites=())
        passages = [self.shown.passages[label].text for label in labels if label in self.shown.passages]
        passages += [q.words for q in quotes]
        fault = card_fault(proposed, passages, self.known) or self._too_many(draft, proposed)
        if not fault and set(content_words(answer)) <= set(content_words(draft.task.title)):
            fault = "the page's title, which is shown above the question, is the answer"
        if fault:
            self.faults.append(Fault(number, shown, fault, "ask something else, or say what the passage says"))
            return
        unique = tuple(dict.fromkeys(quotes))[:12]
        draft.cards.append(WrittenCard(kind=kind, question=question, answer=answer, quotes=unique))

    def _too_many(self, draft: _Draft, card: ProposedCard) -> str:
        """Return why a card is one too many of its page; "" if it is not."""
        stay = [c for c in draft.task.cards if fold(c.question) != card.question]  # one with its question is replaced
        others = [*stay, *draft.cards]
        if sum(c.kind == card.kind for c in others) >= PER_KIND:
            return f"there are already {PER_KIND} {card.kind} cards for this page: keep the better ones"
        return repeats(card.question, card.answer, [(c.question, c.answer) for c in others])

    def _questions(self, draft: _Draft, lines: Sequence[tuple[int, str]]) -> None:
        for number, line in lines:
            cites = citations_in(line)
            text = plain_words(line[: cites[0].start] if cites else line).lstrip("-*• ")
            if not any(c.isalnum() for c in text):
                continue
            fault = sentence_fault(text, "", self.known, self.known)
            if not text.rstrip('"”*_ ').endswith(("?", "？")):
                fault = "an open question must end with a question mark"
            if fault:
                self.faults.append(
                    Fault(number, text, fault, "ask a question that the passages raise, or leave it out")
                )
                continue
            quotes = [q for cite in cites for q in self._quotes(number, cite)]
            draft.questions.append(Statement(text=text[:2_000], quotes=tuple(dict.fromkeys(quotes))[:12]))

    def reply(self) -> WriteReply:
        """Return what was read. A concept of which nothing is left is a fault."""
        articles = []
        for title, draft in self.drafts.items():
            sections = tuple(
                WrittenSection(heading=heading, paragraphs=tuple(tuple(p) for p in paragraphs if p))
                for heading, paragraphs in draft.sections
                if any(paragraphs)
            )
            if not sections:
                self.faults.append(Fault(0, title, "there is no article about it", f"write it below `=== {title}`"))
            stay = [c for c in draft.task.cards if fold(c.question) not in {fold(d.question) for d in draft.cards}]
            articles.append(
                WrittenArticle(
                    title=title,
                    covers=draft.task.covers,
                    sections=sections,
                    cards=(*stay, *draft.cards),
                    questions=tuple(draft.questions),
                    left=tuple(self.left[:_MOST_LEFT]) if title == next(iter(self.drafts)) else (),
                    see=tuple(dict.fromkeys(s[:200] for s in draft.see)),
                )
            )
        return WriteReply(articles=tuple(articles), clashes=tuple(self.clashes))
