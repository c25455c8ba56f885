"""Which works a source cites where it says something: by number, by author and year, by key, or by a link.

Careful on purpose: where it is not plain which work is meant, none is named.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from compiler.language.lexicon import pattern
from vault.model.source import Mark, MarkKind, SourceText
from vault.text.formatting import clean_line, fold

MAX_REFERENCES = 3_000  # entries of one bibliography
MAX_ENTRY = 2_000  # characters
MAX_SENTENCE = 1_200
MAX_GROUP = 4  # works named in one place; more are a list of literature, not the source of a point
MAX_TITLE = 200
NEAR = 24  # characters between a name and the works cited for it
_LIST = pattern("references_list")
_YEAR = r"(?:1[5-9]|20)\d\d"
_PARTS = re.compile(r"[,;:.。，；：]|\b(?:and|or|but|than|und|oder)\b")  # what comes after it is about something else
_NUMBERED = re.compile(r"\[(\d{1,4})\]\s*|(\d{1,3})\.\s+(?=[A-Z“\"])")
_NUMBERS = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4}){0,9})\]")
_GLUED = re.compile(rf"(?<=\({_YEAR}\)\.)\s+(?=[A-Z][\w’'-]+, [A-Z])")
_SURNAME = r"(?:(?:van|von|de|der|den|di|la|le|el|al)\s+){0,3}[A-ZÀ-ÞŠŽ][\w’'-]{1,60}"
_NAMED = re.compile(
    rf"(?P<who>{_SURNAME})(?:(?:,? (?:and|&|und|y|et) {_SURNAME})|(?:,? et\.? al\.?|,? u\.\s?a\.))?"
    rf"(?:,? |,? \()(?P<year>{_YEAR})(?P<letter>[a-z]?)\b"
)
_IN_BRACKETS = re.compile(rf"\([^()]{{0,300}}?{_YEAR}[a-z]?[^()]{{0,100}}\)")
_PANDOC = re.compile(r"\[[^\[\]@]{0,80}(?:@\w[^\[\]@]{0,160}){1,6}\]")
_KEY = re.compile(r"@([\w:.#$%&+?<>~/-]*\w)")
_ARXIV = re.compile(r"(?:arxiv[:.\s]*(?:org/(?:abs|pdf)/)?|\babs/)\s*(\d{4}\.\d{4,5})", re.IGNORECASE)
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>,;]+[^\s\"<>,;.)])")
_HTTP = re.compile(r"https?://[^\s\"<>]+[^\s\"<>.,;)]")
_WEB = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[\w./%~:@!$&'*+,;=?#-]*)?", re.ASCII)
_END = re.compile(r"[.!?][\"”’)\]]*(?:\s?\[\d[^\]]{0,20}\])*(?=\s+[A-ZÀ-Þ“\"(\[\u3400-\u9fff]|\s*\Z)|[。！？]")
_NO_END = pattern("references_no_end")
_NOT_READ = pattern("references_not_read")
_SCHOLARLY = pattern("references_scholarly")
_FILES = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|mp4|zip|gz|csv|json|ipynb)$", re.IGNORECASE)
_SAYS_NOTHING = pattern("references_says_nothing")


@dataclass(frozen=True, slots=True)
class Work:
    """A work as a source names it; "" is what the source does not say. `address` is a plain http one."""

    title: str
    author: str = ""
    year: str = ""
    address: str = ""

    @property
    def words(self) -> str:
        """Return one line: authors, title, year."""
        head = f"{self.author}: {self.title}" if self.author and self.title else self.author or self.title
        return f"{head} ({self.year})" if head and self.year else head

    @property
    def key(self) -> str:
        """Return what is the same however the work is cited: its title's letters, or its address if it has no title."""
        letters = "".join(c for c in self.title.casefold() if c.isalnum())
        return letters[:80] or self.address or self.words.casefold()


@dataclass(frozen=True, slots=True)
class _Group:
    """Works that are named in one place, `text[start:end]`."""

    start: int
    end: int
    works: tuple[Work, ...]
    any_page: bool = False  # a link to just any page: it counts only for what its own words name


class Citations:
    """What one source cites. Its list of references is read once; sentences are looked at when asked for."""

    def __init__(self, source: SourceText) -> None:
        self._text = source.text
        self._marks = [m for m in source.marks if m.kind in (MarkKind.LINK, MarkKind.CITATION) and m.info]
        self._starts = [m.start for m in self._marks]
        self._numbered: dict[int, Work] = {}
        self._by_name: dict[tuple[str, str], list[Work]] = defaultdict(list)
        self._listed: dict[str, Work] = {}
        self._list = _list_of(source)
        for entry in _entries(source.text[slice(*self._list)]):
            self._enter(entry)

    def _enter(self, entry: str) -> None:
        number = _NUMBERED.match(entry)
        work = work_in(entry[number.end() :] if number else entry)
        if work is None:
            return
        self._listed.setdefault(work.key, work)
        if number:
            self._numbered.setdefault(int(number[1] or number[2]), work)
        for name in _first_names(entry[number.end() :] if number else entry):
            self._by_name[name, work.year].append(work)

    def at(self, offset: int, names: Iterable[str], *, about: bool) -> tuple[Work, ...]:
        """Return the works that the sentence at `offset` cites for one of the `names`; none when in doubt.

        That is a work whose title holds the name, or the works named right behind it; for a common word only where the
        whole sentence is `about` it. If that cites in one place only, it is also what is cited there.
        """
        if self._list[0] <= offset < self._list[1]:
            return ()
        names = tuple(names)
        start, end = sentence(self._text, offset)
        groups = [g for g in self._groups(start, end) if len(g.works) <= MAX_GROUP]
        specific = _specific(names)
        titled = tuple(w for g in groups for w in g.works if _first_of(w.title, names if g.any_page else specific))
        if titled:
            return titled
        groups = [g for g in groups if not g.any_page]
        named = _first_of(self._text[start:end], names if about else specific)
        if named is not None:
            for group in groups:
                between = self._text[start + named[1] : max(group.start, start + named[1])]
                if group.end > start + named[1] and len(between) <= NEAR and not _PARTS.search(between):
                    return group.works
        return groups[0].works if about and len(groups) == 1 else ()

    def titled(self, names: Iterable[str]) -> tuple[Work, ...]:
        """Return the works of the list of references whose titles hold one of the names, if it is specific enough."""
        specific = _specific(names)
        return tuple(w for w in self._listed.values() if specific and _first_of(w.title, specific))

    def _groups(self, start: int, end: int) -> list[_Group]:
        """Where works are named between the offsets, in order; places that overlap are one, the first found."""
        found = [*self._marked(start, end), *self._bracketed(start, end), *self._spelt_out(start, end)]
        out: list[_Group] = []
        for group in sorted(found, key=lambda g: (g.start, -g.end)):
            if group.works and (not out or group.start >= out[-1].end):
                out.append(group)
        return out

    def _marked(self, start: int, end: int) -> Iterator[_Group]:
        for mark in self._marks[bisect_right(self._starts, start - 1) : bisect_right(self._starts, end - 1)]:
            if mark.kind is MarkKind.CITATION:
                works = (_of_key(line) if " " not in line else work_in(line) for line in mark.info.split("\n"))
                yield _Group(mark.start, mark.end, tuple(w for w in works if w is not None))
            elif (work := _of_link(mark, self._text)) is not None:
                yield _Group(mark.start, mark.end, (work,), not _SCHOLARLY.search(work.address))

    def _bracketed(self, start: int, end: int) -> Iterator[_Group]:
        for found in _NUMBERS.finditer(self._text, start, end) if self._numbered else ():
            numbers = _numbers(found[1])
            works = tuple(self._numbered[n] for n in numbers if n in self._numbered)
            yield _Group(found.start(), found.end(), works if len(works) == len(numbers) else ())
        for found in _PANDOC.finditer(self._text, start, end):
            works = tuple(w for key in _KEY.findall(found[0]) if (w := _of_key(key)) is not None)
            yield _Group(found.start(), found.end(), works)
        for found in _IN_BRACKETS.finditer(self._text, start, end):
            yield _Group(found.start(), found.end(), tuple(self._named(found[0])))

    def _spelt_out(self, start: int, end: int) -> Iterator[_Group]:
        for found in _NAMED.finditer(self._text, start, end):
            yield _Group(found.start(), found.end(), tuple(self._named(found[0])))

    def _named(self, words: str) -> Iterator[Work]:
        """The works that "Surname (year)" names, where the list has one such and no other."""
        for found in _NAMED.finditer(words):
            works = self._by_name.get((found["who"].casefold(), found["year"] + found["letter"]), [])
            if len({w.key for w in works}) == 1:
                yield works[0]


def sentence(text: str, offset: int) -> tuple[int, int]:
    """Return (start, end) of the sentence that holds `offset`; reference marks after its stop belong to it."""
    earliest, latest = max(0, offset - MAX_SENTENCE), min(len(text), offset + MAX_SENTENCE)
    blank, end = text.rfind("\n\n", earliest, offset), text.find("\n\n", offset, latest)
    first, last = (blank + 2 if blank >= 0 else earliest), (end if end >= 0 else latest)
    start = first
    for found in _END.finditer(text, first, last):
        if _NO_END.search(text, max(first, found.start() - 12), found.start() + 1):
            continue
        if found.end() > offset:
            return start, found.end()
        start = found.end()
    return start, last


def _first_of(words: str, names: Iterable[str]) -> tuple[int, int] | None:
    """Return (start, end) of the first place where one of the names is in the words, whole; None if none is."""
    lowered = words.casefold()
    found = []
    for name in filter(None, names):
        if re.split(r"[\s-]", name.casefold(), maxsplit=1)[0] not in lowered:
            continue
        wanted = re.escape(name.casefold()).replace(r"\ ", r"[\s-]").replace(r"\-", r"[\s-]")
        bounded = rf"(?<!\w){wanted}(?:e?s)?(?!\w)" if name.isascii() else wanted
        if (m := re.search(bounded, lowered)) is not None:
            found.append(m.span())
    return min(found, default=None)


def _specific(names: Iterable[str]) -> list[str]:
    """Return those of the names that mean one thing wherever they are: no common word alone, as "keys" is."""
    return [n for n in names if re.search(r"\S[\s-]\S|\w[A-Z\d]", n) or (not n.isascii() and len(n) > 3)]


def _numbers(words: str) -> list[int]:
    """Return the numbers of "3, 5–7"; a range that is not plain counts as its ends."""
    out: list[int] = []
    for part in re.split(r"\s*[,;]\s*", words):
        ends = [int(n) for n in re.split(r"\s*[–-]\s*", part)]
        out += range(ends[0], ends[-1] + 1) if 0 <= ends[-1] - ends[0] <= MAX_GROUP else ends
    return out


def _list_of(source: SourceText) -> tuple[int, int]:
    """Return (start, end) of the list of references: below the last heading of that name; (0, 0) if none."""
    headings = [m for m in source.marks if m.kind is MarkKind.HEADING]
    for n in range(len(headings) - 1, -1, -1):
        mark = headings[n]
        if _LIST.fullmatch(fold(source.text[mark.start : mark.end])):
            after = (h.start for h in headings[n + 1 :] if h.level <= mark.level)
            return mark.end, next(after, len(source.text))
    return 0, 0


def _entries(text: str) -> Iterator[str]:
    """Return the entries of a list of references, joined where a page broke them, split where two are one line."""
    entry = ""
    count = 0
    for paragraph in re.split(r"\n\n+", text):
        for piece in _GLUED.split(fold(paragraph)):
            if not piece:
                continue
            if entry and _goes_on(entry, piece):
                entry += ("" if piece.startswith(("//", ".")) or entry.endswith("/") else " ") + piece
                continue
            if entry:
                yield entry[:MAX_ENTRY]
                count += 1
            if count >= MAX_REFERENCES:
                return
            entry = piece
    if entry:
        yield entry[:MAX_ENTRY]


def _goes_on(entry: str, piece: str) -> bool:
    """Return whether a paragraph continues the entry before it: it begins in the middle, or that has no year."""
    if _NUMBERED.match(piece):
        return False
    if _NUMBERED.match(entry):
        return True
    if not (piece[0].isupper() or piece[0] in '“"') or not _first_names(piece):
        return True
    return not re.search(rf"\b{_YEAR}\b", entry) and not re.match(rf"{_SURNAME}, [A-Z]|(?:[A-Z]\. ?)+[A-Z]", piece)


def work_in(entry: str) -> Work | None:
    """Return the work that an entry of a bibliography describes; None if it has no recognisable title."""
    entry = clean_line(entry)[:MAX_ENTRY]
    quoted = re.search(r"[“\"„«](.{8,300}?)[”\"“»]", entry)
    parts = [p for p in re.split(r"(?<!\b[A-Z])(?<!\beds)\.\s+(?=\S)", entry) if p.strip()]
    if quoted:
        title, author = quoted[1], entry[: quoted.start()]
    elif len(parts) >= 2:
        author, title = parts[0], parts[1]
        dated = re.match(rf"\(?({_YEAR})[a-z]?\)?\.?$", title)
        if dated and len(parts) > 2:  # Surname, A. (2017). Title.
            title = parts[2]
    else:
        return None
    title = re.split(r"\.?\s+(?:In: |https?://|arXiv)", title)[0]
    title = re.sub(rf",?\s*\(?{_YEAR}[a-z]?\)?\.?$", "", title).strip(' .,“”"')
    if len(title) < 8 or not re.search(r"[^\W\d]{3}", title):
        return None
    return Work(title[:MAX_TITLE], _short_author(author), _year(entry), address_in(entry))


def _year(entry: str) -> str:
    """Return the year of an entry: one in brackets, or the last that is a word by itself."""
    bare = re.sub(r"https?://\S+|arxiv:?\s*\S+|abs/\S+|\b10\.\d{4,9}/\S+", " ", entry, flags=re.IGNORECASE)
    found = re.findall(rf"\(({_YEAR}[a-z]?)\)", bare) or re.findall(rf"(?<![\d–-])({_YEAR}[a-z]?)(?![\d–-])", bare)
    return str(found[-1]) if found else ""


def _short_author(names: str) -> str:
    """Return "Surname et al." for the authors of an entry."""
    surnames = _first_names(names)
    if not surnames:
        return ""
    first = names[: _chunk_end(names)]
    shown = next((w for w in reversed(re.findall(r"[\w’'-]+", first)) if w.casefold() == surnames[0]), surnames[0])
    more = re.search(r"\bet al\b|\band\b|&|;", names) or names.count(",") >= 2
    return f"{shown} et al." if more else shown


def _chunk_end(names: str) -> int:
    """Return where the first author of a list of names ends."""
    found = re.search(r",| and | & |;| et al|(?<!\b[A-Z])\.(?:\s|\Z)|\s\(", names)
    return found.start() if found else len(names)


def _first_names(entry: str) -> list[str]:
    """Return the surname by which an entry's first author may be cited, lower case; none if it begins with none."""
    first = entry[: _chunk_end(entry)].strip()
    words = first.split()
    if not 1 <= len(words) <= 5 or not re.match(r"[^\W\d_]", first) or not any(w[0].isupper() for w in words):
        return []
    return [words[-1].strip(".,").casefold()]


def address_in(entry: str) -> str:
    """Return the address in an entry: at arXiv, by its DOI, else as written; "" if none."""
    paper = _ARXIV.search(entry)
    if paper:
        return f"https://arxiv.org/abs/{paper[1]}"
    doi = _DOI.search(entry)
    if doi and _WEB.fullmatch(f"https://doi.org/{doi[1]}"):
        return f"https://doi.org/{doi[1]}"
    web = _HTTP.search(entry)
    return web[0] if web and _WEB.fullmatch(web[0]) else ""


def _of_key(key: str) -> Work | None:
    """Return what a bibliography key says by itself: "Bahdanau.Cho.Bengio.2014", "vaswani2017attention"."""
    dotted = re.fullmatch(rf"((?:[A-Z][\w’'-]+\.)+)(ea\.)?(?:etal\.)?({_YEAR})[a-z]?", key)
    if dotted:
        names = dotted[1].rstrip(".").split(".")
        return Work("", ", ".join(names) + (" et al." if dotted[2] else ""), dotted[3])
    plain = re.fullmatch(rf"([a-z][a-z-]{{2,30}})[_:.-]?({_YEAR})[_:.-]?([a-z]{{3,30}})?[a-z]?", key.casefold())
    if plain:
        return Work("", f"{plain[1].title()}{f', “{plain[3]} …”' if plain[3] else ''}", plain[2])
    return None


def _of_link(mark: Mark, text: str) -> Work | None:
    """Return the page that a link leads to, if it is one to read, with the link's words as its title."""
    address = mark.info
    paper = _ARXIV.search(address)
    if paper:
        address = f"https://arxiv.org/abs/{paper[1]}"
    if not _WEB.fullmatch(address):
        return None
    parts = urlsplit(address)
    if _NOT_READ.search(parts.hostname or "") or _FILES.search(parts.path) or len(parts.path) < 2:
        return None
    words = re.sub(r"[“”„\"`]", "", clean_line(text[mark.start : mark.end])).strip(" .,'")
    named = _NAMED.fullmatch(words.strip("()"))
    if named:
        more = named["who"] if len(words) - len(named["who"]) < 8 else f"{named['who']} et al."
        return Work("", more, named["year"], address)
    if words.startswith(("http://", "https://", "www.")) or len(words) < 4 or _SAYS_NOTHING.fullmatch(words):
        words = ""
    return Work(words[:MAX_TITLE], address=address)
