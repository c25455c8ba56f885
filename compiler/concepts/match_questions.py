"""Questions for a model on names that may be one idea, or one name that may be two; rules decide where they are sure.

What no rule settles becomes a question for a model. Which questions there are hangs on each pair of names alone, not on
how many others there are, so that a wiki that grows asks for its new names only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.concepts.evidence import Evidence, SourceClaims, admitted, gather, summed
from compiler.concepts.rulings import Pair, Rulings, Sense, Union, pair
from compiler.concepts.similarity import (
    NameRelation,
    content,
    core,
    gloss_keys,
    initials,
    rule_of,
    similar_pairs,
    trigrams,
)
from compiler.language import names
from compiler.model.requests import MatchReply, MatchRequest, NameView, Reply
from vault.ids import ClaimId, SourceId, mint
from vault.log.ledger import Event, Ids
from vault.model.claim import Claim, ClaimKind

PER_NAME = 5  # questions that a name asks about itself and others, at most ...
MOST_ABOUT = 20  # ... and that all others together ask about it
SPELLING, SAYING = 0.5, 0.5  # how alike two names, or two definitions, must be to be asked about
FAR = 0.1  # definitions that share no more are perhaps of two ideas
_AFTER_HUMANS = 1_000_000  # a model's senses are applied where no user's was
_MOST_ALIASES = 6
_ARTICLES = frozenset("a an the any one".split())
_ENDS = frozenset("of for that which in on used to by from with whose where".split())


@dataclass(frozen=True, slots=True)
class Named:
    """A name with an article, by its key. `said` has the sentence with which each source defines it."""

    key: str
    view: NameView
    keys: frozenset[str]
    language: str
    said: tuple[tuple[SourceId, Claim], ...]
    english: frozenset[str] = frozenset()  # keys of its English names, where it has another


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and what it is about: a pair of names, or one name as `source` uses it."""

    request: MatchRequest
    pair: Pair
    source: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question to which the model had no answer."""

    titles: tuple[str, str]
    keys: Pair
    why: str
    said: tuple[str, str] = ("", "")


@dataclass(slots=True)
class Survey:
    """All names with an article, as the sources and rulings have them."""

    names: dict[str, Named] = field(default_factory=dict)
    union: Union = field(default_factory=Union)
    born: Mapping[str, str] = field(default_factory=dict)  # source id -> instant of its birth


def survey(sources: Sequence[SourceClaims], ids: Ids, rulings: Rulings) -> Survey:
    """Return the names that would have articles, with what the sources call them and say of them."""
    union, evidence, subjects = gather(sources, rulings)
    groups: dict[str, list[str]] = defaultdict(list)
    for key in sorted(evidence):
        groups[union.find(key)].append(key)
    about = {claim.id: (source.source, claim) for source in sources for claim, _ in source.claims}
    defined: dict[str, dict[SourceId, Claim]] = defaultdict(dict)
    for id_, named in subjects.items():
        source, claim = about[ClaimId(id_)]
        if named and claim.kind is ClaimKind.DEFINITION:
            mine = defined[union.find(named[0])]
            mine[source] = min((mine.get(source, claim), claim), key=lambda c: (len(c.words), c.words))
    out = Survey(union=union, born={i: b.at for i, b in ids.births.items() if b.noun == "source"})
    for root, keys in groups.items():
        found = summed(evidence[k] for k in keys)
        if admitted(found) or not rulings.kept.isdisjoint(keys):
            out.names[root] = _named(root, keys, found, evidence, defined[root], ids, rulings)
    return out


def _named(
    root: str,
    keys: list[str],
    found: Evidence,
    evidence: Mapping[str, Evidence],
    defined: Mapping[SourceId, Claim],
    ids: Ids,
    rulings: Rulings,
) -> Named:
    """Return one name that has an article, with its spellings and definitions."""
    language = min(found.languages, key=lambda tag: (-found.languages[tag], tag), default="")
    known = sorted((ids.births[i].at, i) for k in keys if (i := ids.keys.get(("concept", k))))
    given = next((rulings.titles[k] for k in keys if k in rulings.titles), "")
    title = ids.births[known[0][1]].name if known else given or names.title(found.variants.elements(), language)
    aliases = {names.title(evidence[k].variants.elements(), language) for k in keys} - {title, ""}
    said = tuple(sorted(defined.items(), key=lambda s: (len(s[1].words), s[1].words, s[0])))
    view = NameView(
        title=title, aliases=tuple(sorted(aliases)[:_MOST_ALIASES]), definition=said[0][1].words if said else ""
    )
    return Named(root, view, frozenset(keys), language, said, frozenset(found.english))


def questions(
    seen: Survey, rulings: Rulings, answered: Callable[[MatchRequest], bool] = lambda _: False
) -> list[Question]:
    """Return what to ask a model, in one order; what was answered before is always among it."""
    return [*_pair_questions(seen, rulings, answered), *_sense_questions(seen, rulings)]


def _pair_questions(seen: Survey, rulings: Rulings, answered: Callable[[MatchRequest], bool]) -> list[Question]:
    """Yield questions on pairs of names: those answered before, then the likeliest.

    The answered ones count, too: else every build would ask the next few, and more the larger the wiki.
    """
    found: list[tuple[Question, bool]] = []
    for (one, other), _ in sorted(_pairs(seen).items(), key=lambda item: (-item[1], item[0])):
        if seen.union.apart(one, other) or pair(one, other) in rulings.same:
            continue
        a, b = sorted((seen.names[one].view, seen.names[other].view), key=lambda v: (v.title.casefold(), v.title))
        request = MatchRequest(a=a, b=b)
        found.append((Question(request, (one, other)), answered(request)))
    asked = [question for question, known in found if known]
    counts = Counter(key for question in asked for key in question.pair)
    for question in (question for question, known in found if not known):
        fewer, more = sorted(counts[key] for key in question.pair)
        if fewer < PER_NAME and more < MOST_ABOUT:
            counts.update(question.pair)
            asked.append(question)
    return sorted(asked, key=lambda q: q.pair)


def _pairs(seen: Survey) -> dict[Pair, float]:
    """Return the pairs of names that look or sound like one idea, each with how much."""
    by_key = {key: root for root, named in seen.names.items() for key in named.keys}
    grams = {key: trigrams(key) for key in by_key}
    said = {root: content(named.view.definition) for root, named in seen.names.items()}
    close = similar_pairs(said, SAYING)
    found: dict[Pair, float] = {}
    for (one, other), much in similar_pairs(grams, SPELLING).items():
        _offer(found, by_key[one], by_key[other], much)
    for pair_, much in close.items():
        _offer(found, *pair_, much)
    for one, other, much in _by_form(seen, by_key):
        _offer(found, one, other, much)
    translated = {pair(one, other) for one, other, _ in _by_english(seen, by_key)}
    undecided = {
        (a, b): _is_open(seen.names[a], seen.names[b], close.get((a, b), 0.0), translated=(a, b) in translated)
        for a, b in found
    }
    return {p: much for p, much in found.items() if undecided[p]}


def _offer(found: dict[Pair, float], one: str, other: str, much: float) -> None:
    """Record a pair with the greatest likeness that was found for it."""
    if one != other:
        found[pair(one, other)] = max(much, found.get(pair(one, other), 0.0))


def _by_form(seen: Survey, by_key: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Yield pairs by their form: an acronym and its words, the same words in another order, a gloss."""
    spelled: dict[str, list[str]] = defaultdict(list)
    mixed: dict[frozenset[str], list[str]] = defaultdict(list)
    for key in sorted(by_key):
        parts = content(key)
        if len(parts) > 1:
            spelled[initials(key)].append(key)
            for other in mixed[parts]:
                yield by_key[key], by_key[other], 0.95
            mixed[parts].append(key)
            if core(key) in by_key:
                yield by_key[key], by_key[core(key)], 0.8
    for key in sorted(by_key):
        for long in spelled.get(key, ()) if 2 <= len(key) <= 6 else ():
            yield by_key[key], by_key[long], 0.9
    yield from _by_english(seen, by_key)
    for root, named in seen.names.items():
        for _, claim in named.said if named.language not in ("", "en") else ():
            for key in gloss_keys(claim.words):
                if key in by_key:
                    yield root, by_key[key], 0.98


def _by_english(seen: Survey, by_key: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Yield pairs of which one is called in English what the other is called, or both the same."""
    called: dict[str, list[str]] = defaultdict(list)
    for root in sorted(seen.names):
        for english in sorted(seen.names[root].english):
            if english in by_key:
                yield root, by_key[english], 0.99
            for other in called[english]:
                yield root, other, 0.97
            called[english].append(root)


def _is_open(one: Named, other: Named, said: float, *, translated: bool) -> bool:
    """Return whether no rule decides the pair: none of their spellings says that they are two."""
    verdicts = {rule_of(a, b) for a in one.keys for b in other.keys}
    if NameRelation.TWO in verdicts:
        return False
    if NameRelation.KIND in verdicts and not translated:  # one is a kind of the other, unless both are explained alike
        return said >= SAYING
    both = {s for s, _ in one.said} & {s for s, _ in other.said}
    return not both or said >= SAYING or NameRelation.SAME_WORDS in verdicts  # who defines both apart means two


def _sense_questions(seen: Survey, rulings: Rulings) -> list[Question]:
    """Yield questions on one name whose sources define it with next to nothing in common.

    Where a user joined two of its names, no model is asked whether they are one, and so no reply parts them.
    """
    asked = []
    humans = _joined_by_user(rulings)
    for root in sorted(seen.names):
        named = seen.names[root]
        if len({humans.find(key) for key in named.keys}) < len(named.keys):
            continue
        said = sorted(named.said, key=lambda s: (seen.born.get(s[0], ""), s[0]))
        for source, claim in said[1:]:
            first = said[0][1]
            if _shared(first.words, claim.words, named.keys) <= FAR:
                a, b = (NameView(title=named.view.title, definition=c.words) for c in (first, claim))
                asked.append(Question(MatchRequest(a=a, b=b), (root, root), source))
    return asked


def _joined_by_user(rulings: Rulings) -> Union:
    """Return the pairs of names that the user made one."""
    humans = Union()
    for one in sorted(rulings.same):
        humans.join(*one)
    return humans


def _shared(one: str, other: str, but: Iterable[str]) -> float:
    """Return how much two definitions share, without the name that they define."""
    own = {word for key in but for word in key.split()}
    a, b = content(one) - own, content(other) - own
    return len(a & b) / len(a | b) if a and b else 1.0


def ruled(seen: Survey, asked: Sequence[Question], replies: Sequence[Reply | None], rulings: Rulings) -> Rulings:
    """Return the rulings with a model's answers added; what the user decided takes precedence."""
    likely, unlikely, apart = set(rulings.likely), set(rulings.unlikely), set(rulings.apart)
    parted: list[Question] = []
    for question, reply in zip(asked, replies, strict=True):
        if not isinstance(reply, MatchReply) or reply.same == "unsure":
            continue
        if question.source:
            parted += [question] if reply.same == "no" else []
        else:
            (likely if reply.same == "yes" else unlikely).add(question.pair)
    humans = _joined_by_user(rulings)
    senses, titles = dict(rulings.senses), dict(rulings.titles)
    for question, title, key in _senses(seen, parted):
        root = question.pair[0]
        mine = seen.names[root].keys
        titles.setdefault(key, title)
        moved = tuple(Sense(_AFTER_HUMANS, k, key) for k in sorted(mine) if k != key)
        senses[question.source] = (*senses.get(question.source, ()), *moved)
        apart |= {pair(k, key) for k in mine if humans.find(k) != humans.find(key)}
    kept = rulings.kept | titles.keys()
    rest = {"apart": frozenset(apart), "senses": senses, "titles": titles, "kept": frozenset(kept)}
    return replace(rulings, likely=frozenset(likely), unlikely=frozenset(unlikely), **rest)  # type: ignore[arg-type]


def _senses(seen: Survey, parted: Sequence[Question]) -> Iterator[tuple[Question, str, str]]:
    """Yield (question, title, key) of each source that means another idea; equal ideas get one name."""
    labels: dict[str, list[tuple[str, str]]] = defaultdict(list)  # root -> (label, definition)
    for question in sorted(parted, key=lambda q: (q.pair, seen.born.get(q.source, ""), q.source)):
        named = seen.names[question.pair[0]]
        words = next(c.words for s, c in named.said if s == question.source)
        known = (label for label, said in labels[named.key] if _shared(said, words, named.keys) > FAR)
        label = next(known, "") or genus(words, named.keys)
        labels[named.key].append((label, words))
        title = f"{names.bare(named.view.title)} ({label})"
        yield question, title, f"{names.key(named.view.title)} ({names.key(label)})"


def genus(words: str, but: Iterable[str]) -> str:
    """Return in a word or two what a definition says that a thing is ("electrical device"); else "other sense"."""
    own = {word for key in but for word in key.split()}
    _, _, said = words.partition(" is ")
    run: list[str] = []
    for token in said.replace(",", " , ").split():
        plain = token.strip(".;:()").casefold()
        if plain in _ARTICLES and not run:
            continue
        if not plain.isalpha() or plain in _ENDS:
            break
        run.append(plain)
    return " ".join(w for w in run[-2:] if w not in own) or "other sense"


def doubt_events(found: Sequence[Doubt], ids: Ids, at: str) -> list[Event]:
    """Return the ledger events of doubts that appeared or disappeared, which the inbox lists."""
    events: list[Event] = []
    present = set()
    for doubt in sorted(found, key=lambda d: d.keys):
        key = " / ".join(doubt.keys)
        id_ = ids.keys.get(("doubt", key)) or mint("doubt", key, ids.births)
        present.add(id_)
        head: Event = {"v": 1, "type": "birth", "of": "doubt", "id": id_, "at": at}
        if id_ in ids.retired:
            events.append(head | {"type": "revive"})
        elif id_ not in ids.births:
            said = {"titles": list(doubt.titles), "said": list(doubt.said), "why": doubt.why}
            events.append(head | {"key": key, "names": list(doubt.keys), **said})
    gone = [i for i, b in ids.births.items() if b.noun == "doubt" and ids.alive(i) and i not in present]
    retirement = {"v": 1, "type": "retire", "of": "doubt", "at": at, "reason": "it is settled, or a name is gone"}
    return [*events, *(retirement | {"id": id_} for id_ in gone)]


def doubts(asked: Sequence[Question], replies: Sequence[Reply | None]) -> list[Doubt]:
    """Return the questions on which the model was unsure, for the user."""
    pairs = zip(asked, replies, strict=True)
    return [
        Doubt(
            (q.request.a.title, q.request.b.title),
            q.pair,
            r.why,
            (q.request.a.definition, q.request.b.definition),
        )
        for q, r in pairs
        if isinstance(r, MatchReply) and r.same == "unsure" and not q.source
    ]
