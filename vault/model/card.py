"""Flashcards as Markdown blocks: readable first, parseable always; an edit touches only its block."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from vault.diagnostic import Diagnostic
from vault.ids import ALPHABET, CardId
from vault.model.cloze import DELETION, back, front, numbers_in
from vault.model.fences import fence_after
from vault.model.foreign_cards import ForeignCards
from vault.model.frontmatter import Properties, body_of, read_properties
from vault.model.wikilink import Citation, citations, only_citations

OTHER = "Other cards"  # the heading of cards of no kind, below the others
LONE_COMMENT = "card-comment-alone"  # the code of a finding: the comment of a card, and no card above it
MAX_CARD = 64 * 1024  # characters of one block; more is named, not rendered
MAX_DELETIONS = 100  # cards of one cloze


class CardKind(StrEnum):
    """The four kinds of cards."""

    DEFINITIONAL = "definitional"  # state it
    MECHANISTIC = "mechanistic"  # how it works
    RELATIONAL = "relational"  # how it connects
    APPLIED = "applied"  # when to use it

    @property
    def heading(self) -> str:
        """Return the heading of the kind's section in a deck."""
        return self.value.capitalize()


REVERSED = "reversed"  # the variant that asks for the question by the answer
# Before version 2.7.0 the comment was one of HTML, which Obsidian's live preview shows.
_COMMENT = re.compile(
    rf"(?:%%|(?P<old><!--)) card (?P<id>[{ALPHABET}]{{10}})(?: (?P<variant>{REVERSED}|c\d{{1,3}}))?"
    r"(?: (?P<stamp>[0-9a-f]{6}))? (?(old)-->|%%)[ \t]*"
)
_ANY_COMMENT = re.compile(r"(?:%%|<!--)\s*card\b.*")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_TAG = re.compile(rf"\\(?:[QA]:|C:(?=.*{DELETION.pattern}))")


@dataclass(frozen=True, slots=True)
class Card:
    """One card. `question` and `answer` are Markdown; `stamp` is six hex digits of what retain last wrote, or "".

    `start` and `end` are the block's offsets in its file, `line` its 1-based first line; all 0 if not yet written. A
    block may hold several cards: `variant` names the one, `reversed`, or the deletion `c1` of a cloze.
    """

    kind: CardKind | None
    question: str
    answer: str
    support: tuple[Citation, ...] = ()
    id: CardId | None = None
    stamp: str = ""
    line: int = 0
    start: int = 0
    end: int = 0
    variant: str = ""
    words: tuple[str, str | None] | None = None  # those of its block, where they are not its own; no answer: a cloze
    note: CardId | None = field(default=None, compare=False)  # the first id of its block, which all its cards share

    @property
    def human_edited(self) -> bool:
        """Return whether the user wrote or changed the text since retain last wrote it."""
        return self.stamp != stamp_of(self)

    @property
    def block_words(self) -> tuple[str, str | None]:
        """Return question and answer as the block has them; of a cloze its text, and None."""
        return self.words or (self.question, self.answer)

    @property
    def is_cloze(self) -> bool:
        """Return whether the card asks for the words that a text hides."""
        return self.words is not None and self.words[1] is None


@dataclass(frozen=True, slots=True)
class Deck:
    """One file of `learning/flashcards/`."""

    path: str
    text: str
    cards: tuple[Card, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def properties(self) -> Properties:
        """Parse the front matter on request: YAML is slow, and the daily queue doesn't need it."""
        return read_properties(self.text)

    @property
    def title(self) -> str:
        """Return the first heading of level 1, else the file's stem."""
        found = re.search(r"^# +(\S.*)$", body_of(self.text), re.MULTILINE)
        return found[1].rstrip() if found else self.path.rsplit("/", 1)[-1].removesuffix(".md")


def stamp_of(card: Card) -> str:
    """Return six hex digits of the card's question, answer and support, white space at line ends left out."""
    words = "\x1f".join([_trim(card.question), _trim(card.answer), " ".join(str(c) for c in card.support)])
    return hashlib.sha256(words.encode()).hexdigest()[:6]


def _trim(text: str) -> str:
    """Return `text` without white space at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def with_stamp(card: Card) -> Card:
    """Return `card` with the stamp of its present text."""
    return replace(card, stamp=stamp_of(card))


def card_comment(id_: str, stamp: str = "", variant: str = "") -> str:
    """Return the line that names a card of the block above it."""
    return f"%% {' '.join(filter(None, ('card', id_, variant, stamp)))} %%"


def render_card(card: Card) -> str:
    """Return the block of `card`, ended by a line break; its text is Markdown already."""
    return render_block(card.question, card.answer, card.support, [] if card.id is None else [card])


def render_block(question: str, answer: str | None, support: Sequence[Citation], cards: Iterable[Card]) -> str:
    """Return a block with these words, or the cloze text `question` without an answer, and a comment for each card."""
    if answer is None:
        lines = _tagged("C:", question, "\n")
    else:
        lines = [*_tagged("Q:", question, "\n"), *_tagged("A:", answer, "\n")]
    if support:
        lines.append("> " + " ".join(map(str, support)))
    return "\n".join([*lines, *map(comment_of, cards)]) + "\n"


def comment_of(card: Card) -> str:
    """Return the comment that names the card."""
    return card_comment(card.id or "", card.stamp, card.variant)


def _guarded(text: str) -> str:
    """Return `text` without what a deck's parser would take for a tag, a heading or a card's comment.

    That is at the start of a line only, and never twice: what was written once is written the same again.
    """
    out = []
    fence = ""
    for n, line in enumerate(text.strip().splitlines()):
        fence, inside = fence_after(fence, line)
        if not inside and n and (_starts_part(line) or line[:1] == "#" or _TAG.match(line) or _ANY_COMMENT.match(line)):
            line = "\\" + line
        out.append(line)
    if fence:  # a fence left open would swallow the rest of the file
        out.append(fence)
    return "\n".join(out)


def _starts_part(line: str) -> bool:
    """Return whether a line inside a block would begin another part, or another block."""
    return line.startswith(("Q:", "A:")) or (line.startswith("C:") and DELETION.search(line) is not None)


def without_fences(text: str) -> str:
    """Return `text` with empty lines in place of code fences and of the comments that name cards."""
    out, fence = [], ""
    for line in text.split("\n"):
        fence, inside = fence_after(fence, line)
        out.append("" if inside or names_card(line) else line)
    return "\n".join(out)


def names_card(line: str) -> bool:
    """Return whether a line of a deck is a comment that names a card."""
    return _COMMENT.fullmatch(line.removesuffix("\r")) is not None


@dataclass(slots=True)
class _Block:
    """The lines of a block in a deck; `text` are those of a question, or of a cloze, which has no answer."""

    kind: CardKind | None
    line: int
    start: int
    text: list[str]
    is_cloze: bool = False
    answer: list[str] | None = None
    comments: list[re.Match[str]] = field(default_factory=list)
    end: int = 0

    def takes(self, comment: re.Match[str]) -> bool:
        """Return whether a comment names a card of this block."""
        if self.is_cloze:
            return comment["variant"] != REVERSED
        variant = comment["variant"]
        return variant == REVERSED if self.comments else variant in (None, REVERSED)


def parse_deck(text: str, path: str) -> Deck:
    """Return the cards of a file, in order; a faulty block is a diagnostic and doesn't affect other cards."""
    cards: list[Card] = []
    found: list[Diagnostic] = []
    block: _Block | None = None
    kind: CardKind | None = None
    fence = ""
    foreign = ForeignCards(path)

    def close() -> None:
        nonlocal block
        if block is not None:
            cards.extend(_cards(block, path, found))
        block = None

    for line_number, start, line in _body_lines(text):
        fence, inside = fence_after(fence, line)
        end = start + len(line)
        comment = None if inside else _COMMENT.fullmatch(line)
        heading = None if inside or not line.startswith("#") else _HEADING.fullmatch(line)
        if block is not None and comment is not None and block.takes(comment):
            block.comments.append(comment)
            block.end = end
            continue
        if block is not None and block.comments:  # its comments end a block
            close()
        if heading is not None:
            close()
            kind = _kind_named(heading[2].rstrip(" \t#"), kind if len(heading[1]) > 2 else None)
        elif not inside and line.startswith("Q:"):
            close()
            block = _Block(kind, line_number, start, [line[2:].strip()], end=end)
        elif not inside and line.startswith("C:") and (block is None or DELETION.search(line)):
            close()
            if not DELETION.search(line):
                foreign.inside(line, line_number)
            block = _Block(kind, line_number, start, [line[2:].strip()], is_cloze=True, end=end)
        elif not inside and line.startswith("A:") and block is not None and block.answer is None and not block.is_cloze:
            block.answer, block.end = [line[2:].strip()], end
        elif not inside and _ANY_COMMENT.match(line):
            found.append(_invalid_comment(path, line_number, comment["id"] if comment is not None else ""))
        elif block is not None:
            (block.text if block.answer is None else block.answer).append(line)
            if not inside:
                foreign.inside(line, line_number)
            if line.strip():
                block.end = end
        elif not inside:
            if line.startswith("A:"):
                what, hint = "this answer (A:) has no question above it", "put a line `Q: ...` above it"
                found.append(Diagnostic(path, line_number, "card-incomplete", what, hint))
            foreign.outside(line, line_number)
    close()
    return Deck(path, text, tuple(cards), (*found, *foreign.diagnostics(), *_repeats(cards, path)))


def _invalid_comment(path: str, line: int, id_: str) -> Diagnostic:
    """Return the diagnostic of a comment that ends no card: without a card above it, or without a card's id."""
    if not id_:
        what = "this card comment cannot be read"
        return Diagnostic(path, line, "card-comment", what, "an id consists of ten letters and digits")
    what = f"the comment with id {id_} does not follow a card"
    hint = "put it right below the answer of its card, with no heading in between; otherwise the card loses its history"
    return Diagnostic(path, line, LONE_COMMENT, what, hint)


def _body_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (1-based line, offset, line without its ending) of everything after the front matter."""
    offset = len(text) - len(body_of(text))
    number = text.count("\n", 0, offset) + 1
    for line in text[offset:].split("\n"):
        yield number, offset, line.removesuffix("\r")
        number += 1
        offset += len(line) + 1


def _kind_named(heading: str, outer: CardKind | None) -> CardKind | None:
    """Return the card kind of a section with this heading."""
    name = heading.strip().casefold()
    return next((k for k in CardKind if k.value == name), outer)


def _cards(block: _Block, path: str, found: list[Diagnostic]) -> list[Card]:
    """Return the cards of a block; none, and a diagnostic, if it is invalid."""
    fault = _fault(block)
    if fault:
        found.append(Diagnostic(path, block.line, *fault))
        return []
    note = CardId(block.comments[0]["id"]) if block.comments else None
    named = {each["variant"] or "": (CardId(each["id"]), each["stamp"] or "") for each in reversed(block.comments)}
    answer, support = _split_support(block.text if block.answer is None else block.answer)

    def card(variant: str, question: str, answer: str, words: tuple[str, str | None] | None = None) -> Card:
        id_, stamp = named.get(variant, (None, ""))
        place = (block.line, block.start, block.end)
        return Card(block.kind, question, answer, support, id_, stamp, *place, variant, words, note)

    said = unescaped(answer)
    shown, extra = split_quote(said)
    if block.is_cloze:
        return [card(f"c{n}", front(shown, n), back(shown, n) + extra, (said, None)) for n in numbers_in(shown)]
    question = unescaped(block.text)
    both = [card(REVERSED, shown, question + extra, (question, said))] if REVERSED in named else []
    return [card("", question, said), *both]


def _fault(block: _Block) -> tuple[str, str, str] | None:
    """Return code, message and hint of what is wrong with a block."""
    if block.is_cloze and not (numbers := numbers_in("\n".join(block.text))):
        hint = "write {{c1::words}} around the words to hide"
        return "card-incomplete", "this cloze (C:) hides no words", hint
    if block.is_cloze and len(numbers) > MAX_DELETIONS:
        return "card-too-large", f"this cloze makes more than {MAX_DELETIONS} cards", "split it"
    if not block.is_cloze and (block.answer is None or not "".join(block.text).strip()):
        what = "this card has no answer (A:)" if block.answer is None else "this card has no question"
        return "card-incomplete", what, "a card is a line `Q: ...` and a line `A: ...`"
    if block.end - block.start > MAX_CARD:
        return "card-too-large", "this card is larger than 64 KiB", "split it"
    return None


def _split_support(lines: list[str]) -> tuple[list[str], tuple[Citation, ...]]:
    """Return the answer's own lines, and the citations of its last quote block if that holds nothing else."""
    last = len(lines)
    while last > 0 and not lines[last - 1].strip():
        last -= 1
    first = last
    while first > 0 and lines[first - 1].startswith(">"):
        first -= 1
    quoted = "\n".join(line[1:] for line in lines[first:last])
    if first < last and only_citations(quoted):
        return lines[:first], citations(quoted)
    return lines, ()


def split_quote(text: str) -> tuple[str, str]:
    """Return a text without the quote block at its end, and that with what is before it: `\\n> Source: a book`.

    It is shown with the answer: of a cloze, and of a card that asks the other way round.
    """
    lines = text.split("\n")
    first = len(lines)
    while first > 1 and lines[first - 1].startswith(">"):
        first -= 1
    words = "\n".join(lines[:first]).rstrip()
    return words, text[len(words) :]


def unescaped(lines: list[str]) -> str:
    """Return the words of a part of a card from its lines."""
    return "\n".join(line[1:] if _TAG.match(line) else line for line in lines).strip()


def _repeats(cards: list[Card], path: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for every id that two cards have."""
    seen: dict[CardId, int] = {}
    for card in cards:
        if card.id is not None and card.id in seen:
            yield Diagnostic(
                path,
                card.line,
                "card-id-repeated",
                f"card {card.id} is also at line {seen[card.id]}",
                "delete one comment",
            )
        elif card.id is not None:
            seen[card.id] = card.line


def splice_card(text: str, card: Card, new: Card | None) -> str:
    """Return `text` with the block of `card` (parsed from `text`) replaced by `new` or removed; other bytes stay."""
    if new is not None:
        return text[: card.start] + render_card(new).removesuffix("\n") + text[card.end :]
    before, after = text[: card.start].rstrip("\n"), text[card.end :].lstrip("\r\n")
    return f"{before}\n\n{after}" if after else f"{before}\n"


def append_card(text: str, path: str, new: Card) -> str:
    """Return `text` with `new` after the last card of its kind, or under a new heading at the end."""
    return append_block(text, path, render_card(new), new.kind)


def append_block(text: str, path: str, block: str, kind: CardKind | None) -> str:
    """Return `text` with a block after the last card of that kind, or under a new heading at the end."""
    same = [c for c in parse_deck(text, path).cards if c.kind is kind]
    block = block.rstrip("\n")
    if same:
        end = same[-1].end
        return f"{text[:end]}\n\n{block}{text[end:]}"
    heading = kind.heading if kind else OTHER if _kind_at_end(text) else ""
    return f"{text.rstrip()}\n\n" + (f"## {heading}\n\n" if heading else "") + f"{block}\n"


def _kind_at_end(text: str) -> CardKind | None:
    """Return the kind that a card added at the end of a deck would have."""
    return parse_deck(f"{text.rstrip()}\n\nQ: ?\nA: ?\n", "").cards[-1].kind


def splice_words(text: str, card: Card, question: str, answer: str | None) -> str:
    """Return `text` with other words in the block of `card` (parsed from `text`); other bytes stay.

    Unchanged words keep their bytes; support, comments and the blank lines of the block stay in any case.
    A cloze has its text in `question`, and no answer.
    """
    lines = text[card.start : card.end].split("\n")
    end = "\r\n" if lines[0].endswith("\r") or text.startswith("\r\n", card.end) else "\n"
    plain = [line.removesuffix("\r") for line in lines]
    last = len(plain)
    while card.note is not None and last > 1 and _COMMENT.fullmatch(plain[last - 1]):
        last -= 1
    before = card.block_words
    second = None if card.is_cloze else answer_line(plain)
    first = 0 if second is None else second
    kept = first + len(_split_support(plain[first:last])[0])
    out = list(lines)
    if second is None:
        if question != before[0]:
            out[: _last_word(plain, 0, kept)] = _tagged("C:", question, end)
    else:
        if answer is not None and answer != before[1]:
            out[second : _last_word(plain, second, kept)] = _tagged("A:", answer, end)
        if question != before[0]:
            out[: _last_word(plain, 0, second)] = _tagged("Q:", question, end)
    changed = "\n".join(out)
    return text[: card.start] + (changed.removesuffix("\r") if len(lines) == last else changed) + text[card.end :]


def answer_line(lines: list[str]) -> int | None:
    """Return the index of the line that begins a block's answer, None without one; the first is the question's."""
    fence = ""
    for n, line in enumerate(lines):
        fence, inside = fence_after(fence, line)
        if n and not inside and line.startswith("A:"):
            return n
    return None


def _last_word(lines: list[str], first: int, end: int) -> int:
    """Return where the lines of a part end, without blank ones after it."""
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _tagged(tag: str, text: str, end: str) -> list[str]:
    """Return the lines of a part without its last line break; one that begins with a fence starts on a new line."""
    lines = _guarded(text).split("\n")
    alone = fence_after("", lines[0])[1]
    found = [tag, *lines] if alone else [f"{tag} {lines[0]}".rstrip(), *lines[1:]]
    return [line + end.removesuffix("\n") for line in found]
