"""A question with its answer, and the rules every pair must pass before it may be proposed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from compiler.engines.extractive.grammar.commonplace import is_common
from compiler.engines.extractive.grammar.standalone import without_pointers
from compiler.engines.extractive.grammar.tagger import tokens
from compiler.language import lexicon, names

Kind = Literal["definitional", "mechanistic", "relational", "applied"]
MAX_QUESTION, MAX_ANSWER, AIM_ANSWER = 190, 300, 200


@dataclass(frozen=True, slots=True)
class Ask:
    """One proposed question and answer; a higher `score` is a better card. `reverse` asks for the name itself."""

    kind: Kind
    question: str
    answer: str
    score: float
    reverse: bool = False


class Matter:
    """What a card is about: a concept by its names, and the words of its evidence that keep their capitals."""

    def __init__(self, title: str, aliases: Iterable[str] = (), texts: Iterable[str] = (), language: str = "") -> None:
        self.title = title
        self.names = tuple(dict.fromkeys(n for n in (title, *aliases) if n))
        self.language = language
        self.keys = frozenset(k for n in self.names if (k := names.key(n, language)))
        self._flat = tuple(f" {flat(n)} " for n in self.names if flat(n))
        joined = tuple(texts)
        self._proper, self._common = _cases(joined)
        self._text = " ".join(joined)

    def is_named(self, phrase: str) -> bool:
        """Whether the noun phrase is one of the concept's names, article and brackets aside."""
        bare = re.sub(r"\s*\([^()]*\)", "", phrase)
        return names.key(phrase, self.language) in self.keys or names.key(bare, self.language) in self.keys

    def is_in(self, text: str) -> bool:
        """Whether `text` names the concept."""
        padded = f" {flat(text)} "
        return any(name in padded for name in self._flat)

    def lower(self, text: str) -> str:
        """`text` as it stands inside a sentence: its first word in lower case unless it is a name or an acronym."""
        match = re.match(r"[\"“”'‘(]*([^\W\d_][\w'’]*)", text)
        if not match:
            return text
        word, after = match[1], text[match.end() :]
        keeps = any(c.isupper() or c.isdigit() for c in word[1:]) or word in lexicon.PROPER
        keeps = keeps or (len(word) == 1 and word != "A") or bool(re.match(r"[.\d+#]\w|-[A-Z]", after))
        keeps = keeps or (bool(re.match(r" [A-Z][a-z]", after)) and word.casefold() not in lexicon.DETERMINERS)
        if keeps or (word.casefold() not in self._common and (word in self._proper or not is_common(word.casefold()))):
            return text
        at = match.start(1)
        return text[:at] + text[at].lower() + text[at + 1 :]

    def with_article(self, term: str) -> str:
        """A bare singular name as the evidence uses it: "a cue", "the lag effect", "chunking"."""
        if (
            term.split()[0].casefold() in ("a", "an", "the")
            or names.key(term.split()[-1]) != term.split()[-1].casefold()
        ):
            return self.lower(term)
        inside = re.findall(
            rf"\b(?:(an?|the|no|each|every|one|any)\s+)?{re.escape(term)}\b(?!\s[a-z]+(?:s|ed)?\b\s(?:of|is))",
            self._text,
            re.IGNORECASE,
        )
        used = [w.casefold() for w in inside]
        shown = self.lower(term)
        if used.count("the") and not used.count("") > 1 and term.split()[-1].casefold() in _DEFINITE:
            return f"the {shown}"
        if any(w in ("a", "an") for w in used):
            return f"{'an' if shown[0].casefold() in 'aeiou' else 'a'} {shown}"
        return f"the {shown}" if term.split()[-1].casefold() in _DEFINITE else shown


_DEFINITE = frozenset(
    "effect law principle hypothesis theorem problem paradox curve assumption rule conjecture".split()
)
_MID_WORD = re.compile(r"(?<=[a-z,;)] )[\"“(]?([^\W\d_]+)")


def _cases(texts: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """(words that stand with a capital inside a sentence, words that stand without)."""
    inside = [w for t in texts for w in _MID_WORD.findall(t)]
    return frozenset(w for w in inside if w[0].isupper()), frozenset(w for w in inside if w[0].islower())


_FLAT_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?[+#]*")


def flat(text: str) -> str:
    """Every word of `text` in lower case, singular, one spelling, parted by single blanks: for finding a name in it."""
    return " ".join(lexicon.singular(lexicon.american(w.casefold())) for w in _FLAT_WORD.findall(text))


_SPACE = re.compile(r"\s+")
_AUTHORS = re.compile(r"\s+by [A-Z][a-z]+(?: and [A-Z][a-z]+| et al\.?)(?: \(\d{4}\))?\.?$")
_GAP = re.compile(r"\s+([,;.])")


def tidy(text: str) -> str:
    """`text` without citations in brackets, white space folded, no loose punctuation at its ends."""
    out = _AUTHORS.sub("", text)
    out = _GAP.sub(r"\1", _SPACE.sub(" ", without_pointers(out))).strip()
    return re.sub(r"[\s,;:–—-]+$", "", re.sub(r"^[\s,;:–—]+", "", out))


def sentence(text: str) -> str:
    """`text` as an answer: first letter a capital, a full stop at the end."""
    out = tidy(text)
    if not out:
        return ""
    first = re.match(r"[\"“”'‘(]*", out)
    at = first.end() if first else 0
    word = re.match(r"[\w-]+", out[at:])
    if word and not any(c.isupper() for c in word[0][1:]):  # "iPhone" keeps its form
        out = out[:at] + out[at : at + 1].upper() + out[at + 1 :]
    return out if out.endswith((".", "!", "?", ".”", '."')) else out + "."


_STOP = frozenset(
    "a an the this that these those it its they them their he she his her we our you your one ones some any each "
    "every all both either neither no not nor and or but if then else so because since as than while although "
    "though however of in on at by for from to into onto with without within between among over under about above "
    "below through during is are was were be been being do does did doing has have had having can could may might "
    "must shall should will would there here when where which who whom whose what why how also only just very "
    "more most less least much many few other another such same own too up out off again further once".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")


def _content(text: str) -> set[str]:
    return {lexicon.stem(w) for w in _WORD.findall(text.casefold()) if w not in _STOP}


_POINTING = re.compile(
    r"^(?:this|these|those|that|such|same|similar|another|other|the same|a similar|the other|a different|the latter|"
    r"here|there|he|she|we|our|its|their|them|his|her)\b|\b(?:this|these|such a|such an|those) (?:\w+)\b(?! (?:who|"
    r"that|which|with|of|in|from)\b)|"
    r"\b(?:above|below|following|former|latter|aforementioned|previously (?:described|mentioned|discussed|seen|"
    r"introduced|defined)|previous|preceding|respectively|figure \d|"
    r"section \d|chapter \d|et al)\b",
    re.IGNORECASE,
)
_PRONOUN_IN_QUESTION = re.compile(
    r"\b(?:it|they|them|he|she|we|you|i|this|these|those|here|its|their|his|her|our|your)\b", re.IGNORECASE
)
# "This" stands for what the question has just said.
_NAMING_QUESTION = re.compile(r"What (?:is this|are these)(?: \w+)? called\?$")
_BROKEN_QUESTION = re.compile(
    r"\b(?:the|a|an|and|or|that|which|than|because|also|such|both|is|are|e\.g|i\.e)\?$", re.IGNORECASE
)
_BROKEN_END = re.compile(
    r"\b(?:the|a|an|of|to|in|for|and|or|with|by|is|are|that|which|as|from|on|at|than|if|when|because|not|also|both|"
    r"such|e\.g|i\.e)\.$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:As |For |In |To |\w+ing )?(?:several|two|three|four|various|many|some|a (?:number|variety|range|lot|few) "
    r"of|multiple|different) (?:\w+ ){0,2}\w+\.$",
    re.IGNORECASE,
)
# "Both problems" points to two named elsewhere, "q(i)" to a formula; "of the same number" compares with nothing.
_UNRESOLVED = re.compile(
    r"\bboth (?:of )?(?:\w+ )?[a-z]+s\b(?! and)|\b[A-Za-z]\w?\([\w ,:−–-]{1,8}\)|\bof the same (?:number|kind|type|"
    r"size|name)\b[.?]"
    r"|\bfor example,|;.*\?$|−|\([a-z]\d\)|\bin the same way\.$|^What happens (?:if|when) .* (?:is|are) to [a-z]|"
    r"\b(?:is|are) [a-z]+ed first\.$|\bthe heart of it\b"
)
_LOOSE_END = re.compile(r"\b(?:as well|too|instead|again|either|otherwise|so|respectively)\?$", re.IGNORECASE)
_BROKEN_START = re.compile(r"^(?:of|which|and|or|who|whose|whom|but|than|very|also|,)\b", re.IGNORECASE)


def ask(kind: Kind, question: str, answer: str, score: float, matter: Matter, *, reverse: bool = False) -> Ask | None:
    """The card, if it can stand: it names its matter, gives nothing away, and points at nothing outside itself."""
    question, answer = _space(tidy(question.rstrip("?"))) + "?", sentence(answer)
    question = question[:1].upper() + question[1:]
    if not 12 <= len(question) <= MAX_QUESTION or not 3 <= len(answer) <= MAX_ANSWER:
        return None
    if not reverse and not matter.is_in(question):
        return None
    told = _NAMING_QUESTION.sub("", question)
    if (
        _POINTING.search(told)
        or _POINTING.search(answer)
        or _BROKEN_QUESTION.search(question)
        or _BROKEN_END.search(answer)
    ):
        return None
    if (
        _BROKEN_START.match(answer)
        or _EMPTY.match(answer)
        or _LOOSE_END.search(question)
        or not _is_paired(question)
        or not _is_paired(answer)
    ):
        return None
    pronoun = _PRONOUN_IN_QUESTION.search(told)
    if pronoun and (
        len(question[: pronoun.start()].split()) < 4
        or pronoun[0].casefold() in ("we", "you", "i", "here", "our", "your")
    ):
        return None
    if re.search(r"\bones?\?$", question) or _UNRESOLVED.search(answer) or _lacks_antecedent(answer):
        return None
    if re.match(r"(?:because |in that |when |if |by )?(?:it|they|this|these|he|she)\b", answer, re.IGNORECASE):
        return None
    if _gives_away(question, answer, matter):
        return None
    return Ask(kind, question, answer, score - _cost(question, answer), reverse)


def _lacks_antecedent(answer: str) -> bool:
    """Whether a pronoun stands in the answer before any noun it could mean."""
    for word in tokens(answer):
        if word.tag == "NOUN":
            return False
        if word.low in ("it", "they", "them", "its", "their", "itself", "themselves"):
            return True
    return False


def _space(text: str) -> str:
    return _SPACE.sub(" ", text)


def _is_paired(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("“") == text.count("”")


def _gives_away(question: str, answer: str, matter: Matter) -> bool:
    bare_answer, bare_question = flat(answer), flat(question)
    if f" {bare_answer} " in f" {bare_question} ":
        return True
    told = _content(question)
    named = {w for n in matter.names[:1] for w in _content(n)} & told
    wanted = _content(answer) - named
    return not wanted or len(wanted & told) * 2 > len(wanted)


def _cost(question: str, answer: str) -> float:
    """What length takes from a card's worth: long questions and long answers are reviewed badly."""
    return max(0, len(question) - 90) / 60 + max(0, len(answer) - 140) / 60


def instead_of_pronoun(clause: str, subject: str, plural: bool) -> str:
    """`clause` with its leading "it", "they", "its" or "their" replaced by the subject it stands for, if it agrees."""
    match = re.match(r"(it|they|its|their)(?=\s)", clause, re.IGNORECASE)
    if not match or (match[1].casefold() in ("they", "their")) != plural or len(subject.split()) > 6:
        return clause
    owner = ("’" if subject.endswith("s") else "’s") if match[1].casefold() in ("its", "their") else ""
    return subject + owner + clause[match.end() :]
