"""The main clause of an English sentence: what stands in front, its subject, its verb, the rest; and its questions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compiler.engines.extractive.grammar import verbs
from compiler.engines.extractive.grammar.tagger import Token, tokens

FINITE = frozenset({"BE", "HAVE", "DO", "MODAL", "VBZ", "VBD", "VB"})
_NOMINAL = frozenset({"ADJ", "NOUN", "NUM", "VBN", "VBG", "POSS", "DET", "BEN"})
_AFTER_VERB = frozenset({"PREP", "DET", "ADJ", "ADV", "TO", "NOUN", "POSS", "PRON", "STOP", "SUB"})
_QUOTES = frozenset("\"“”„«»‘’'`")
_CONNECTIVES = frozenset(
    "however moreover furthermore additionally consequently therefore thus hence accordingly nevertheless "
    "nonetheless similarly likewise also indeed fortunately unfortunately interestingly importantly notably "
    "crucially clearly generally typically usually often specifically concretely formally intuitively essentially "
    "basically historically conceptually technically overall meanwhile besides surprisingly conversely still yet "
    "and but so instead alternatively traditionally recently ideally finally second third first next then".split()
)
_CONNECTIVE_PHRASES = (
    "in addition", "in particular", "in general", "in fact", "in short", "in practice", "in principle", "in essence",
    "in summary", "in theory", "in other words", "as a result", "for example", "for instance", "of course",
    "on the other hand", "at the same time", "by contrast", "in contrast", "to summarize", "simply put", "put simply",
    "more precisely", "more generally", "more formally", "in this way", "for this reason", "that is", "to this end",
    "after all", "at first sight", "on the one hand", "in turn", "as a consequence", "strictly speaking",
    "at a high level", "at a basic level", "at a top level", "in recent years", "in a sense", "in most cases",
    "in many cases", "in some cases", "by design", "by definition", "by default", "to a first approximation",
    "broadly speaking",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """Token indices into `words`: [0, start) is what introduces, [start, subject_end) the subject, `verb` the finite
    verb, [verb, end) the predicate. `front` is a fronted phrase or clause inside what introduces, without its comma.
    """

    text: str
    words: tuple[Token, ...]
    front: tuple[int, int] | None
    start: int
    subject_end: int
    verb: int
    end: int

    def slice(self, a: int, b: int) -> str:
        """The sentence's own characters from token `a` up to token `b`."""
        return self.text[self.words[a].start : self.words[b - 1].end] if a < b else ""

    @property
    def subject(self) -> str:
        """The subject without an insertion between commas at its end."""
        end = self.subject_end
        if end < self.end and self.words[end].tag == "COMMA":
            end = next((i for i in range(self.start, end) if self.words[i].tag == "COMMA"), end)
        return self.slice(self.start, end)

    @property
    def predicate(self) -> str:
        return self.slice(self.verb, self.end)

    @property
    def is_be(self) -> bool:
        return self.words[self.verb].tag == "BE"

    @property
    def fronted(self) -> str:
        return self.slice(*self.front) if self.front else ""

    def until(self, end: int) -> Clause:
        """The same clause, cut before token `end`."""
        return replace(self, end=end)

    def main_verb(self) -> int:
        """Index of the verb that carries the sense: after modals, have and be; the copula itself if nothing follows."""
        at = self.verb
        while at < self.end and self.words[at].tag in ("MODAL", "HAVE", "DO", "BE", "BEN", "ADV", "NOT"):
            at += 1
        if at < self.end and self.words[at].tag in ("VB", "INF", "VBN", "VBG", "VBD", "VBZ"):
            return at
        return max(
            (
                i
                for i in range(self.verb, min(at, self.end))
                if self.words[i].tag in FINITE or self.words[i].tag == "BEN"
            ),
            default=self.verb,
        )

    def lemma(self) -> str:
        """The lemma of the main verb, "be" or "have" for these; "" if unknown."""
        word = self.words[self.main_verb()]
        if word.tag in ("BE", "BEN", "HAVE", "DO", "MODAL"):
            return {"BE": "be", "BEN": "be", "HAVE": "have", "DO": "do"}.get(word.tag, "")
        if word.tag == "INF":
            return word.low
        return verbs.lemma(word.low, word.tag) or verbs.lemma(word.low, "VBZ")

    def is_passive(self) -> bool:
        """Whether the verb group is be + past participle."""
        at = self.main_verb()
        return self.words[at].tag == "VBN" and any(w.tag in ("BE", "BEN") for w in self.words[self.verb : at])


def parse(text: str) -> Clause | None:
    """The main clause of the sentence `text`; None where the rules don't see one with confidence."""
    words = tokens(text)
    end = len(words)
    while end and words[end - 1].tag == "STOP" and words[end - 1].text in ".;:!?":
        end -= 1
    return _clause(text, words, skip_connectives(text, words), end) if end >= 3 else None


def parse_part(clause: Clause, start: int, end: int) -> Clause | None:
    """The clause that fills tokens [start, end) of a sentence already tagged."""
    return _clause(clause.text, clause.words, start, end)


def _clause(text: str, words: tuple[Token, ...], start: int, end: int) -> Clause | None:
    if found := _subject_and_verb(words, start, end):
        return Clause(text, _as_verb(words, found[1]), None, start, *found, end)
    if start >= end or not (words[start].tag in _FRONTS or words[start].low in _FRONT_ADJECTIVES):
        return None
    needs_verb = words[start].tag in ("SUB", "WH")
    depth, seen = 0, False
    for i in range(start, end):
        tag = words[i].tag
        depth += (tag == "OPEN") - (tag == "CLOSE")
        seen = seen or tag in FINITE
        if tag == "COMMA" and depth == 0 and (seen or not needs_verb):
            after = i + 1
            if after < end and words[after].tag == "CC":
                continue
            if found := _subject_and_verb(words, after, end):
                return Clause(text, _as_verb(words, found[1]), (start, i), after, *found, end)
    return None


_FRONTS = frozenset({"PREP", "SUB", "TO", "VBG", "VBN", "ADV", "WH"})
_FRONT_ADJECTIVES = frozenset({"due", "similar", "contrary", "analogous", "subject", "thanks", "compared"})


def _as_verb(words: tuple[Token, ...], at: int) -> tuple[Token, ...]:
    """`words` with token `at` tagged as the verb it turned out to be."""
    if words[at].tag != "NOUN":
        return words
    tag = "VBZ" if verbs.lemma(words[at].low, "VBZ") else "VB"
    return (*words[:at], replace(words[at], tag=tag), *words[at + 1 :])


def skip_connectives(text: str, words: tuple[Token, ...]) -> int:
    """Index of the first token after "However,", "In addition," and their like; 0 if there are none."""
    low = text[:40].casefold()
    for phrase in _CONNECTIVE_PHRASES:
        if low.startswith(phrase + ",") or (low.startswith(phrase + " ") and phrase.startswith("as a ")):
            count = len(phrase.split())
            return count + (words[count].tag == "COMMA") if count < len(words) else 0
    if len(words) > 2 and words[0].low in _CONNECTIVES:
        if words[1].tag == "COMMA":
            return 2
        if words[0].low in ("thus", "hence", "therefore", "and", "but", "yet"):
            return 1
    return 0


def _subject_and_verb(words: tuple[Token, ...], start: int, end: int) -> tuple[int, int] | None:
    """(end of the subject, index of the finite verb) of a clause that begins at `start`."""
    at = _noun_phrase(words, start, end)
    if at is None or at == start:
        return _ambiguous_verb(words, start, end)
    verb = at
    while verb < end and words[verb].tag == "ADV":
        verb += 1
    if verb < end and words[verb].tag in FINITE:
        while at > start and words[at - 1].tag in ("ADV", "COMMA"):
            at -= 1
        return at, verb
    if verb < end and words[at - 1].tag == "COMMA" and _is_verb_after_insertion(words, at, end):
        return at - 1, at
    return _ambiguous_verb(words, start, end)


def _ambiguous_verb(words: tuple[Token, ...], start: int, end: int) -> tuple[int, int] | None:
    """The same where the only verb looks like a noun: "Interrogation works by linking ..."."""
    for i in range(start + 1, min(end, start + 8)):
        word = words[i]
        if word.tag in ("COMMA", "SUB", "WH") or word.tag in FINITE:
            return None
        if word.tag == "NOUN" and words[i - 1].tag in ("NOUN", "VBG") and _could_be_verb(words[i - 1], word):
            following = words[i + 1].tag if i + 1 < end else "STOP"
            if (
                _noun_phrase(words, start, i) == i
                and following in _AFTER_VERB
                and words[min(i + 1, end - 1)].low != "of"
            ):
                return i, i
    return None


def _is_verb_after_insertion(words: tuple[Token, ...], at: int, end: int) -> bool:
    """Whether the word after "X, also called Y," is X's verb though it looks like a noun: "..., help memory"."""
    if at + 1 >= end or words[at].tag != "NOUN" or words[at + 1].tag not in _AFTER_VERB:
        return False
    return bool(verbs.lemma(words[at].low, "VBZ") or verbs.lemma(words[at].low, "VB"))


def _could_be_verb(before: Token, word: Token) -> bool:
    """Whether the word could be the verb after `before`: "works" after a singular, "harm" after a plural."""
    if verbs.lemma(word.low, "VBZ"):
        return True
    return before.low.endswith("s") and not before.low.endswith("ss") and bool(verbs.lemma(word.low, "VB"))


def _noun_phrase(words: tuple[Token, ...], start: int, end: int) -> int | None:
    """Where the noun phrase that begins at `start` ends: at its clause's finite verb or what can't belong to it."""
    at, noun = start, False
    while at < end:
        tag = words[at].tag
        if tag in FINITE:
            return at if noun else None
        if tag in ("NOUN", "VBG", "NUM", "CLOSE", "PRON"):
            if tag == "PRON" and at > start and words[at - 1].tag not in ("PREP", "CC", "DET", "VBG", "VBN", "NOUN"):
                return None
            noun = True
            at += 1
        elif tag in _NOMINAL or words[at].text in _QUOTES or words[at].text in "–—/%*" or (tag == "TO" and noun):
            at += 1
            if tag == "TO" and at < end and words[at].tag == "INF":
                at += 1
        elif tag == "ADV" and (_leads_to_nominal(words, at, end) or (noun and words[at - 1].tag == "VBN")):
            at += 1
        elif tag in ("PREP", "CC"):
            if tag == "PREP" and not noun:
                return None
            at += 1
        elif tag == "OPEN":
            close = next((i for i in range(at, end) if words[i].tag == "CLOSE"), None)
            if close is None:
                return None
            at = close + 1
        elif tag == "WH" and noun:
            after = _relative(words, at, end)
            if after is None:
                return None
            at = after
        elif tag == "COMMA" and noun:
            after = _between_commas(words, at, end)
            if after is None:
                return at
            if after > at + 1 and _is_verb_after_insertion(words, after, end):
                return after
            at = after
        elif tag == "NOT" and at == start:
            at += 1
        else:
            return at if noun else None
    return at if noun else None


def _leads_to_nominal(words: tuple[Token, ...], at: int, end: int) -> bool:
    """Whether an adverb belongs to an adjective of the phrase ("commonly used models") and not to the verb."""
    after = at + 1
    while after < end and words[after].tag == "ADV":
        after += 1
    return after < end and words[after].tag in ("ADJ", "VBN", "VBG", "NOUN", "NUM", "DET")


def _relative(words: tuple[Token, ...], at: int, end: int) -> int | None:
    """The token after a relative clause's verb group, from which the phrase may go on to the main verb."""
    verb = at + 1
    while verb < end and words[verb].tag not in FINITE:
        if words[verb].tag in ("COMMA", "STOP", "WH", "SUB"):
            return None
        verb += 1
    while verb < end and words[verb].tag in ("BE", "BEN", "HAVE", "MODAL", "DO", "NOT", "ADV"):
        verb += 1
    if verb < end and words[verb].tag in ("VBZ", "VBD", "VB", "VBN", "VBG", "INF"):
        verb += 1
    while verb + 1 < end and words[verb].tag == "CC" and words[verb + 1].tag in FINITE:
        verb += 2  # "that holds and manipulates ..."
    if verb >= end or not any(words[i].tag in FINITE for i in range(verb, end)):
        return None
    return verb


def _between_commas(words: tuple[Token, ...], at: int, end: int) -> int | None:
    """The token after an insertion ", also called X," or after the comma of a list "A, B, and C"; None if neither."""
    after = words[at + 1].tag if at + 1 < end else ""
    second = next((i for i in range(at + 1, min(end, at + 22)) if words[i].tag == "COMMA"), None)
    if second is not None and second + 1 < end and words[second + 1].tag in (*FINITE, "ADV"):
        inside = words[at + 1 : second]
        is_verb = words[second + 1].tag != "ADV" or (second + 2 < end and words[second + 2].tag in FINITE)
        if is_verb and inside and inside[0].tag != "SUB":
            return second + 1
    if (
        second is not None
        and words[at + 1].tag in ("ADV", "VBN", "WH")
        and _is_verb_after_insertion(words, second + 1, end)
    ):
        return second + 1
    if after in ("NOUN", "ADJ", "DET", "CC", "VBG", "VBN", "NUM", "POSS") and _is_list(words, at, end):
        return at + 1
    return None


def _is_list(words: tuple[Token, ...], at: int, end: int) -> bool:
    """Whether a comma stands in "A, B, and C <verb>": an "and" or "or" comes before the next finite verb."""
    for i in range(at + 1, end):
        if words[i].tag in FINITE:
            return False
        if words[i].low in ("and", "or"):
            rest = _noun_phrase(words, i + 1, end)
            return rest is not None and rest < end and words[rest].tag in (*FINITE, "ADV")
    return False


def end_of_clause(clause: Clause, start: int) -> int:
    """Where the clause that goes on from token `start` ends: before "; ..." or ", and <another subject and verb>"."""
    for i in split_clauses(clause, frozenset({",", ";", "and", "but"}), start):
        if clause.words[i].tag == "CC":
            if _starts_clause(clause, start, i + 1):
                return i
            continue
        if clause.words[i].text == ";":
            return i
        if i + 2 < clause.end and clause.words[i + 1].low in ("and", "but", "so", "yet"):
            found = _subject_and_verb(clause.words, i + 2, clause.end)
            if found and clause.words[i + 2].tag not in ("WH", "VBG") and clause.words[found[1]].tag != "NOUN":
                return i
    return clause.end


def _starts_clause(clause: Clause, start: int, at: int) -> bool:
    """Whether a clause of its own begins at token `at`, after an "and" without a comma."""
    words = clause.words
    if words[at].tag != "DET" and any(w.tag == "WH" for w in words[start:at]):
        return False  # "a model in which keys and values are ..."
    if words[at].tag not in ("DET", "NOUN", "ADJ"):
        return False
    found = _subject_and_verb(words, at, clause.end)
    if found and any(w.tag == "COMMA" for w in words[at : found[1]]):
        return False
    return bool(found and found[1] - at < 7 and words[found[1]].tag in ("BE", "HAVE", "MODAL", "VBZ", "VBD", "DO"))


def split_clauses(clause: Clause, markers: frozenset[str], after: int | None = None) -> list[int]:
    """Indices of the tokens in the predicate, outside brackets, whose lower-case text is one of `markers`."""
    depth, found = 0, []
    for i in range(clause.verb + 1 if after is None else after, clause.end):
        tag = clause.words[i].tag
        depth += (tag == "OPEN") - (tag == "CLOSE")
        if depth == 0 and clause.words[i].low in markers:
            found.append(i)
    return found


def verb_first(clause: Clause, subject: str) -> str:
    """The clause as a question without its question word: "does X store keys", "is X divided by two"; "" if unsure."""
    words, verb = clause.words, clause.words[clause.verb]
    rest = clause.slice(clause.verb + 1, clause.end)
    adverbs = clause.slice(clause.subject_end, clause.verb).strip(", ")
    if "n't" in verb.low or "n’t" in verb.low or verb.low.startswith("'"):
        return ""
    if verb.tag == "DO" and not _is_auxiliary(clause):
        return _join({"does": "does", "did": "did"}.get(verb.low, "do"), subject, adverbs, "do", rest)
    if verb.tag in ("BE", "MODAL", "DO") or (verb.tag == "HAVE" and _is_auxiliary(clause)):
        if verb.low == "cannot":
            return _join("can", subject, adverbs, "not", rest)
        return _join(verb.low, subject, adverbs, rest)
    if verb.tag == "HAVE":
        return _join({"has": "does", "had": "did"}.get(verb.low, "do"), subject, adverbs, "have", rest)
    base = verbs.lemma(verb.low, verb.tag) or verbs.lemma(verb.low, "VBZ")
    if not base:
        return ""
    helper = {"VBD": "did", "VB": "do"}.get(verb.tag, "does")
    following = words[clause.verb + 1].tag if clause.verb + 1 < clause.end else ""
    if verb.tag == "VBD" and following in ("PREP",) and base in ("base", "use", "train", "give"):
        return ""  # "Models trained on text ..." without a verb of its own
    return _join(helper, subject, adverbs, base, rest)


def _is_auxiliary(clause: Clause) -> bool:
    at = clause.verb + 1
    while at < clause.end and clause.words[at].tag in ("ADV", "NOT"):
        at += 1
    denied = any(w.tag == "NOT" for w in clause.words[clause.verb + 1 : at])
    return at < clause.end and (denied or clause.words[at].tag in ("VBN", "BEN", "INF"))


def _join(*parts: str) -> str:
    return " ".join(p for p in parts if p)
