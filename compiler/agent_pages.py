"""Articles that an agent wrote: which may stand. Held to what `retain verify` demands, and to words alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compiler.agent_inert import Fault, acting, unreadable
from compiler.agent_words import turned
from compiler.agent_world import World
from compiler.engines.port import ClaimView, Sentence
from compiler.gates import content_words, sentence_refused, support
from vault.article import sentences
from vault.clean import clean_line, fold
from vault.exhibit import Exhibit, parted
from vault.ids import slug
from vault.markdown import unescape
from vault.note import body_of, read_properties
from vault.store import GAPS
from vault.wikilink import Citation, Wikilink, citations, links

MAX_PAGE = 2 << 20  # characters
MAX_TITLE = 120
MAX_FAULTS = 20  # named of one page
FIXED = ("id", "type", "title", "confidence")  # properties that an agent may not change, on pain of the whole page
Views = Callable[[Sequence[Citation]], tuple[dict[str, ClaimView], str]]

_HUMAN = re.compile(r"[ \t>]*\[!human\]", re.IGNORECASE)
_TITLE = re.compile(r"# +(.+?)[ \t]*")
_GENERIC = (  # what headings may say of any matter
    "overview summary introduction background definition definitions what it is how it works how it relates how when"
    " to use it is used limits limitations examples example applications application mechanism mechanisms relations"
    " related concepts see also open questions question where sources disagree what belongs together how the"
    " concepts relate comparison compared why it matters key points details history evidence in practice notes contents"
    " überblick zusammenfassung grundlagen beispiele grenzen anwendung anwendungen siehe auch offene fragen"
    " wie es wirkt wie es zusammenhängt verwandte begriffe"
)


@dataclass(slots=True)
class PageVerdict:
    """A page's body as it may stand, and its title; or what is wrong with it."""

    body: str = ""
    title: str = ""
    faults: list[Fault] = field(default_factory=list)
    put_back: tuple[str, ...] = ()  # properties that the agent changed and that code sets


@dataclass(slots=True)
class Lines:
    """A body parted: lines of words with their numbers, and what is shown between them."""

    words: list[tuple[int, str]]
    exhibits: tuple[Exhibit, ...]


def judge_page(path: str, data: bytes, world: World, pages: frozenset[str]) -> PageVerdict:
    """Whether the bytes that an agent left at `path` may stand; `pages` are all notes that links may lead to."""
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return PageVerdict(faults=[(0, "not UTF-8")])
    if len(text) > MAX_PAGE:
        return PageVerdict(faults=[(0, f"more than {MAX_PAGE >> 20} MiB")])
    if fault := unreadable(text):
        return PageVerdict(faults=[fault])
    before = world.text(path)
    verdict = PageVerdict()
    verdict.faults += _front_faults(text, before, path, world, verdict)
    body = "\n" + body_of(text).strip("\n") + "\n"
    first = text.count("\n", 0, len(text) - len(body_of(text).lstrip("\n")))  # lines above the body's first words
    check = _Check(world, pages, path, before, verdict)
    verdict.faults += sorted((first + line - 1 if line else 0, why) for line, why in check.faults(body))[:MAX_FAULTS]
    verdict.body = body
    return verdict


def _front_faults(text: str, before: str | None, path: str, world: World, verdict: PageVerdict) -> Iterator[Fault]:
    new = read_properties(text)
    yield from ((p.line, p.message) for p in new.problems)
    old = read_properties(before) if before is not None else None
    if old is None:
        if new.text("id") in world.ids.births:
            yield 1, f"the id {clean_line(new.text('id'))[:20]} belongs to another page"
        yield from ((0, why) for why in [_name_fault(path, world)] if why)
        return
    for key in FIXED:
        if key in new.values and new.text(key) != old.text(key):
            yield 1, f"the property `{key}` was changed, and an agent does not set it"
    known = {k: v for k, v in old.values.items() if k not in FIXED}
    if new.values:
        theirs = {k: v for k, v in new.values.items() if k not in FIXED}
        changed = {str(k) for k in known.keys() | theirs.keys() if known.get(k) != theirs.get(k)}
        verdict.put_back = tuple(sorted(clean_line(k)[:40] for k in changed - {"generated", "updated", "sources"}))


def _name_fault(path: str, world: World) -> str:
    """Why a new page cannot have its name; "" if it can."""
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    if slug(stem) != stem:
        return f"the name is not a slug; it would be {slug(stem)}.md"
    taken = world.ids.slugs("concept") | world.ids.slugs("topic")
    if stem.casefold() in taken:
        return "the name belongs to a page of retain's, or did"
    return ""


class _Check:
    """Looks at one body, line by line: what asserts must be borne out, all else may only name and show."""

    def __init__(
        self, world: World, pages: frozenset[str], path: str, before: str | None, verdict: PageVerdict
    ) -> None:
        self.world, self.pages, self.path, self.verdict = world, pages, path, verdict
        self.before = before
        self.old_body = body_of(before) if before is not None else ""

    def faults(self, body: str) -> Iterator[Fault]:
        lines = lines_of(body)
        yield from self._title(lines)
        if (fault := acting(lines.words)) is not None:
            yield fault
        yield from (
            (n, "the mark [!human], which is the human's alone") for n, line in lines.words if _HUMAN.match(line)
        )
        cited = list(sentences(body))
        yield from sentence_faults(body, self.world.views)
        if not any(s.cites for s in cited):
            yield 0, "no sentence of the page cites a claim"
        yield from self._links(body)
        evidence = self._evidence(body)
        allowed = {*evidence[1], *parted(self.old_body.split("\n"))[1]}
        for shown in lines.exhibits:
            if shown not in allowed:
                yield 0, f"it shows a {shown.kind} that none of its claims show"
        yield from self._labels(lines, {s.line for s in cited}, evidence[0])

    def _title(self, lines: Lines) -> Iterator[Fault]:
        number, first = next(((n, line) for n, line in lines.words if line.strip()), (1, ""))
        found = _TITLE.fullmatch(first)
        title = fold(unescape(found[1])) if found else ""
        wanted = read_properties(self.before).text("title") if self.before is not None else ""
        self.verdict.title = title[:MAX_TITLE]
        if not title:
            yield number, "the page does not begin with its title (`# ...`)"
        elif wanted and title != fold(wanted):
            yield number, "the page's title was changed"
        elif len(title) > MAX_TITLE:
            yield number, "the title is too long"

    def _links(self, body: str) -> Iterator[Fault]:
        for number, line in enumerate(body.split("\n"), 1):
            for link in links(line):
                why = self._link(link, line)
                if why:
                    yield number, why

    def _link(self, link: Wikilink, line: str) -> str:
        """Why a link may not stand; "" if it may. An embed is looked at as a picture."""
        if link.anchor.startswith("^c-"):
            cites = [c for c in citations(line.replace("\\|", "|")) if str(c) == str(link)]
            if not cites:
                return f"no citation of a claim: {str(link)[:80]}"
            return "" if self.world.claim(cites[0]) is not None else f"claim {cites[0].claim} does not exist"
        if link.embed or not link.target:
            return ""
        in_raw = link.target.startswith("raw/") and not {"", ".", ".."} & {*link.target.split("/")}
        if link.target == GAPS.removesuffix(".md") or in_raw:
            return ""
        if f"{link.target}.md" in self.pages and link.target.startswith("wiki/"):
            return ""
        return f"a link to no page of the wiki: {clean_line(link.target)[:80]} (a full path without .md)"

    def _evidence(self, body: str) -> tuple[list[str], set[Exhibit]]:
        """(the words that the page's claims, title and links say, what its claims show)."""
        said: list[str] = [_GENERIC, self.old_body, self.verdict.title if self.before is not None else ""]
        shown: set[Exhibit] = set()
        for cite in citations(body):
            claim = self.world.claim(cite)
            if claim is not None:
                said += [claim.quote, claim.words]
                shown |= set(claim.exhibits)
        if self.before is not None:
            said += [read_properties(self.before).text("title"), *read_properties(self.before).texts("aliases")]
        for link in links(body):
            if link.target.startswith("wiki/") and not link.anchor.startswith("^c-"):
                said += [self.world.title(link.target), link.target.rsplit("/", 1)[-1].replace("-", " ")]
        return said, shown

    def _labels(self, lines: Lines, asserting: set[int], said: list[str]) -> Iterator[Fault]:
        """Headings, questions, lists of links and heads of tables: they may name what the page is about, no more."""
        evidence = " ".join(said)
        for number, line in lines.words:
            label = line.rsplit("]]", 1)[-1] if number in asserting else line
            words = unescape(_without_links(label))
            if not content_words(words):
                continue
            share, strange = support(words, [evidence])
            if strange or share < 1.0:
                yield number, f"it says what no claim of the page says: {fold(words)[:80]}"


def sentence_faults(body: str, views_of: Views) -> Iterator[Fault]:
    """What is wrong with the sentences of a body that assert something; lines are counted from its first."""
    for sentence in sentences(body):
        words = fold(sentence.text)[:80]
        if "[[" in sentence.text:
            yield sentence.line, f"a link inside a sentence; links stand in lists of their own: {words}"
            continue
        if not sentence.cites:
            yield sentence.line, f"the sentence cites nothing: {words}"
            continue
        views, why = views_of(sentence.cites)
        why = why or sentence_refused(Sentence(text=sentence.text[:20_000], cites=tuple(views)), views)
        why = why or turned(sentence.text, views.values())
        if why:
            yield sentence.line, f"{why}: {words}"


def lines_of(body: str) -> Lines:
    """The body parted, with the number of each line of words."""
    whole = body.split("\n")
    words, exhibits = parted(whole)
    numbered: list[tuple[int, str]] = []
    at = 0
    for line in words:
        at = whole.index(line, at) + 1
        numbered.append((at, line))
    return Lines(numbered, exhibits)


def _without_links(line: str) -> str:
    """A line with its links as they are shown, and its citations gone."""
    shown: Iterable[Wikilink] = links(line)
    for link in shown:
        cites = link.anchor.startswith("^c-")
        words = "" if cites else link.alias or link.target.rsplit("/", 1)[-1]
        line = line.replace(str(link), f" {words} ", 1).replace(link.in_table(), f" {words} ", 1)
    return line
