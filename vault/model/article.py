"""Concept articles: cited sentences under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count, groupby
from typing import Literal

from vault.ids import ClaimId
from vault.model.exhibit import Exhibit, is_formula, lines_of
from vault.model.frontmatter import body_of
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Citation, citations
from vault.text.formatting import clean_line, fold

# Days after which a page is to be looked at again. `stable` is what older vaults call `slow`.
FRESHNESS_DAYS = {"fast": 30, "normal": 90, "slow": 365, "stable": 365}
NORMAL = "normal"  # of a page of which nobody decided it
CONFIDENCE = ("speculative", "low", "medium", "high")
_CITED = re.compile(r"((?:[ \t]*\[\[wiki/summaries/[^\[\]|#\n]+#\^c-[0-9a-z]{10}\|\d+\]\])+)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
_WORDY_FENCES = {"", "text", "txt", "plain", "md", "markdown", "quote"}  # what is in such a fence is words, not code
_QUOTED = re.compile(r" {0,3}>[ \t]?")
_COMMENT = re.compile(r" {0,3}(<!--|%%)")
_HUMAN = re.compile(r" {0,3}>[ \t]*\[!human\](?:[-+]?[ \t]|[-+]?$)", re.IGNORECASE)
_CALLOUT = re.compile(r"\[![\w-]+\][-+]?[ \t]*")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]|(?<!!)\[[^\[\]\n]*\]\(<[^<>\n]*>\)")
_EMBEDS = re.compile(r"\s*(?:!\[\[[^\[\]\n]*\]\]\s*)+")
_DELIMITER = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+")
_STATES = re.compile(r"[.!。！]['\")\]”’]*\s")  # a sentence that ends before the question begins


_LINKABLE = re.compile(r"[^\W_](?:[\w '’.+/-]*[^\W_])?")  # words that need no escape in a link
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts without a blank between words
_TO_PAGE = re.compile(r"\[\[wiki/(?:concepts|topics)/[^\[\]|#\n]+\|([^\[\]|\n]+)\]\]")
_BAR = re.compile(r"(?<!\\)\|")
_MARK = re.compile(r"[ \t]*\*((?:derived|computed)(?:: [^*\n]+)?)\*[ \t]*$")
Form = Literal["", "item", "step", "head", "row"]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence in plain words and the claims it rests on; `line` is 1-based, 0 if not yet written.

    `mark` is "derived" for a step from what it cites, "computed: WHAT" for a result of running code, else "". `form`
    says how it stands: in a paragraph, a list or a table, whose `head` asserts nothing. `shown` is put in with it; with
    `text` "" it stands alone. `links` are words of the text that lead to another page, as (words, vault path without
    .md): they are no part of what is said.
    """

    text: str
    cites: tuple[Citation, ...]
    line: int = 0
    mark: str = ""
    form: Form = ""
    shown: Exhibit | None = None
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ArticleSection:
    """A section of an article. `heading` "" is the lead; `level` is its depth below the title, which is 1."""

    heading: str
    paragraphs: tuple[tuple[CitedSentence, ...], ...]
    level: int = 2


def is_stale(updated: str, freshness: str, today: date) -> bool:
    """Return whether a page was last updated longer ago than its `freshness` allows; False where it does not say."""
    days = FRESHNESS_DAYS.get(freshness)
    try:
        return days is not None and (today - date.fromisoformat(updated)).days > days
    except ValueError:
        return False


def lowered(confidence: str, stale: bool) -> str:
    """Return the confidence that is shown: a stale page has one step less, never below low."""
    if not stale or confidence not in CONFIDENCE:
        return confidence
    step = CONFIDENCE.index(confidence)
    return CONFIDENCE[step - 1] if step > CONFIDENCE.index("low") else confidence


def render_body(
    title: str, sections: Sequence[ArticleSection], exhibits: Mapping[ClaimId, Sequence[Exhibit]] | None = None
) -> str:
    """Return the body of an article: headings and cited paragraphs, each followed by the `exhibits` of its claims."""
    parts = [f"# {escape(clean_line(title))}"]
    shown: dict[Exhibit, None] = {}
    for section in sections:
        if section.heading:
            parts.append(f"{'#' * section.level} {escape(clean_line(section.heading))}")
        for paragraph in section.paragraphs:
            parts += _rendered(paragraph)
            new = [e for s in paragraph for c in s.cites for e in (exhibits or {}).get(c.claim, ()) if e.copied]
            parts += ["\n".join(lines_of(e)) for e in dict.fromkeys(new) if e not in shown]
            shown |= dict.fromkeys(new)
    return "\n" + "\n\n".join(parts) + "\n"


def _rendered(paragraph: Sequence[CitedSentence]) -> list[str]:
    """Return the blocks of Markdown of a paragraph: sentences, a list, a table, or what is put in whole."""
    blocks: list[str] = []
    for form, run in groupby(paragraph, lambda s: "table" if s.form in ("head", "row") else s.form):
        sentences = list(run)
        if form == "table":
            blocks.append("\n".join(_rows(sentences)))
        elif form in ("item", "step"):
            signs = ("-" if form == "item" else f"{n}." for n in count(1))
            blocks.append("\n".join(f"{sign} {render_sentence(s)}" for sign, s in zip(signs, sentences, strict=False)))
        else:
            said = [s for s in sentences if s.shown is None]
            blocks += [" ".join(map(render_sentence, said))] if said else []
            for sentence in sentences:
                if sentence.shown is not None:
                    blocks += ["\n".join(lines_of(sentence.shown)), " ".join(map(str, sentence.cites))]
    return blocks


def _rows(sentences: Sequence[CitedSentence]) -> list[str]:
    """Return the lines of a table; the last column holds the citations."""
    rows = [s for s in sentences if s.form == "row"]
    head = next((s.text for s in sentences if s.form == "head"), "")
    texts = [s.text.removesuffix(" | –") if len(s.text.split(" | ")) > len(head.split(" | ")) else s.text for s in rows]
    width = max(len(text.split(" | ")) for text in (head, *texts))
    named = " | ".join("" if cell == "–" else cell for cell in head.split(" | "))  # a column without a name
    lines = [_row(named, width, ""), "|" + " --- |" * (width + 1)]
    return [*lines, *(_row(t, width, _tail(s).replace("|", "\\|")) for t, s in zip(texts, rows, strict=True))]


def _row(text: str, width: int, cites: str) -> str:
    cells = [_BAR.sub(r"\\|", escape(fold(cell))) for cell in text.split(" | ")] if text else []
    return f"| {' | '.join([*cells, *[''] * (width - len(cells)), cites])} |"


def _tail(sentence: CitedSentence) -> str:
    """Return the mark and the citations of a sentence."""
    mark = f"*{escape(fold(sentence.mark)).replace('*', '')}*" if sentence.mark else ""
    return " ".join(filter(None, (mark, *map(str, sentence.cites))))


def render_sentence(sentence: CitedSentence) -> str:
    """Return a sentence as an article shows it: Markdown-escaped words, its mark if it has one, then its citations."""
    return f"{_linked(fold(sentence.text), sentence.links)} {_tail(sentence)}"


def _linked(text: str, links: Sequence[tuple[str, str]]) -> str:
    """Return words escaped for Markdown, the first place of each link's words as a link."""
    for words, target in links:
        place = link_place(words, text)
        if place is not None:
            before, after = text[: place[0]], text[place[1] :]
            rest = [(w, t) for w, t in links if t != target]
            return f"{_linked(before, rest)}[[{target}|{words}]]{_linked(after, rest)}"
    return escape(text)


def link_place(words: str, text: str) -> tuple[int, int] | None:
    """Return (start, end) of the first place in a text where these words can be a link; None if there is none.

    A place in code or math, or inside a longer word, does not count.
    """
    if not _LINKABLE.fullmatch(words):
        return None
    pattern = re.escape(words)
    if not _UNSPACED.match(words):
        pattern = rf"(?<!\w){pattern}(?!\w)"
    found = re.search(pattern, text)
    if found is None or "$" in text[: found.start()] or "`" in text[: found.start()]:
        return None
    return found.span()


def without_page_links(body: str) -> str:
    """Return Markdown with the words of links to articles in place of the links: what a page says, but for them."""
    return _TO_PAGE.sub(r"\1", body)


def sentences(text: str) -> Iterator[CitedSentence]:
    """Yield every sentence of an article that asserts something, with its line; without citations `cites` is ().

    Headings, questions, list items and lines of nothing but links, displayed formulas, code in a fence that names its
    language, block ids, comments and callouts of the kind `[!human]` assert nothing. A row of a table counts as one
    sentence.
    """
    body = body_of(text)
    first = text[: len(text) - len(body)].count("\n") + 1
    for number, line in _wordy_lines(body.split("\n")):
        yield from _sentences_in(line, first + number)


def _sentences_in(line: str, number: int) -> Iterator[CitedSentence]:
    """Yield the sentences of one line. A link to another page is no part of what is said."""
    line = without_page_links(line)
    if line.lstrip().startswith("|"):
        row = re.sub(r"(?<!\\)\|", " ", line).replace("\\|", "|")
        said = [(_CITED.sub(" ", row), "".join(_CITED.findall(row)))]
    else:
        pieces = _CITED.split(line)
        said = list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))
    for words, cited in said:
        marked = _MARK.search(words)
        plain = fold(unescape(words[: marked.start()] if marked else words))
        if plain and (cited or _asserts(plain)):
            mark = fold(unescape(marked[1])) if marked else ""
            yield CitedSentence(plain, citations(cited), number, mark)


def _asserts(plain: str) -> bool:
    """Return whether words without a citation assert something: no question, block id, rule or punctuation."""
    if _BLOCK_ID.fullmatch(plain) or not any(c.isalnum() for c in plain):
        return False
    return not plain.endswith(("?", "？")) or _STATES.search(plain) is not None


def _wordy_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (index, words) of the lines of a body that can assert something, without signs of lists and quotes."""
    fence, code = "", False
    comment, human, quoted = "", False, False
    for index, whole in enumerate(lines):
        line = whole.rstrip("\r")
        if fence:
            if re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", line):
                fence = ""
            elif not code:
                yield index, line
            continue
        begins = _COMMENT.match(line) if not comment else None
        if comment or begins:
            sign = comment or ("-->" if begins is not None and begins[1] == "<!--" else "%%")
            inside = line if comment else line.lstrip()[2:]  # `<!-->` is a whole comment
            _, end, line = inside.partition(sign)
            comment = "" if end else sign
        opened = _FENCE.match(line)
        if opened:
            fence, code = opened[1], opened[2].strip().casefold() not in _WORDY_FENCES
            continue
        before, quoted = quoted, _QUOTED.match(line) is not None
        human = quoted and (human if before else _HUMAN.match(line) is not None)
        head = index + 1 < len(lines) and line.lstrip().startswith("|") and _DELIMITER.fullmatch(lines[index + 1])
        if not human and not head:
            words = _words(line)
            if words:
                yield index, words


def _words(line: str) -> str:
    """Return a line without the signs before its words; "" if lines of its kind assert nothing."""
    if _HEADING.match(line) or _EMBEDS.fullmatch(line) or is_formula(line) or _DELIMITER.fullmatch(line):
        return ""
    quoted = False
    while mark := _QUOTED.match(line):
        line, quoted = line[mark.end() :], True
    if quoted:
        line = _CALLOUT.sub("", line, count=1) if _CALLOUT.match(line) else line
    item = _ITEM.match(line)
    if item is not None:
        line = line[item.end() :]
        rest = _LINK.sub("", line)
        if rest != line and not any(c.isalnum() for c in rest):
            return ""
    return line
