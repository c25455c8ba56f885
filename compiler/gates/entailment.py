"""Whether words follow from evidence as far as rules can tell: yes, no with a reason, or a check is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.gates import facts
from compiler.language.formulas import plain_formulas
from compiler.language.lexicon import words
from compiler.language.negation import polarity_fault
from compiler.language.roles import sides_fault
from compiler.language.tokens import Token, sentences, tokens
from vault.text.formatting import fold

FLOOR = 0.3  # of the content words must stand in the evidence, or it speaks of something else
UNRELATED = "the quote does not support it"
LONGEST = 2_000  # characters of what is said in one go
_LIGHT = words("entailment_light")
_HALTS = words("entailment_halts")
_BEFORE_TO = frozenset("and or according help helps helped helping".split())  # its "to" may stand or fall
_ASIDE = re.compile(r"\([^()]{0,400}\)|\[[^\[\]]{0,400}\]|（[^（）]{0,400}）")
_DOUBTS = words("entailment_doubts")
_LIMITS = _DOUBTS | frozenset(  # in brackets, these undo a part of what is said
    """but although though unless except only without until before after when while where under at most least up
    aber obwohl außer nur bis vor nach während unter 但 而 除 仅 只""".split()
)


_ADDRESS = re.compile(r"\w[\w+.-]*://|\bwww\.|\]\(|\[\[|<[a-z/!]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judgement:
    """`refused` says why words are refused, "" if nothing is against them; then `needs_check` may be set."""

    refused: str = ""
    needs_check: bool = False

    @property
    def passes(self) -> bool:
        return not self.refused and not self.needs_check


def judge(words: str, evidence: Sequence[str], names: Sequence[str] = ()) -> Judgement:
    """Return what rules say of `words` on `evidence`; `names` may be named though the evidence does not have them.

    Words of the evidence in its order pass. A number, date, name, negation or side that disagrees is refused, as are
    words that have next to nothing in common with the evidence. Anything else is for a check.
    """
    said, evidence = fold(plain_formulas(words)), tuple(dict.fromkeys(fold(plain_formulas(e)) for e in evidence))
    if not said:
        return Judgement("nothing is said")
    if _is_verbatim(said, evidence):
        return Judgement()
    if _ADDRESS.search(said):
        return Judgement("it holds a link or an address, and the evidence has no such words")
    if len(said) > LONGEST:
        return Judgement("too much is said in one go")
    if fault := contradiction(said, evidence, names):
        return Judgement(f"the evidence {fault}")
    if shared_content(said, (*evidence, *names)) < FLOOR and not facts.in_another_language(said, evidence):
        return Judgement(UNRELATED)
    return Judgement(needs_check=not stated_in_order(said, evidence))


def needs_check(words: str, evidence: Sequence[str], names: Sequence[str] = ()) -> bool:
    """Return whether rules alone can't say that the words follow, and see nothing against it."""
    return judge(words, evidence, names).needs_check


def names_around(context: str) -> tuple[str, ...]:
    """Return the names around a quote: the quote may mean one of them by "it"."""
    return (*facts.identifiers(context), *dict.fromkeys(" ".join(run) for run in facts.capitalized_names(context)))


def contradiction(words: str, evidence: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return what the evidence says otherwise than `words`, as a predicate of "the evidence"; "" if nothing."""
    return (
        facts.quantity_fault(words, (*evidence, *names))
        or facts.name_fault(words, evidence, names)
        or polarity_fault(words, evidence)
        or facts.scope_fault(words, evidence)
        or sides_fault(words, evidence)
    )


def shared_content(words: str, evidence: Iterable[str]) -> float:
    """Return the share in [0, 1] of the content words of `words` that the evidence has in some form."""
    wanted = [t for t in tokens(words) if t.content]
    there = {t.stem for text in evidence for t in tokens(text) if t.content}
    heads = {s[:5] for s in there if len(s) >= 5}
    found = sum(t.stem in there or (len(t.stem) >= 5 and t.stem[:5] in heads) for t in wanted)
    return found / len(wanted) if wanted else 1.0


def stated_in_order(words: str, evidence: Sequence[str]) -> bool:
    """Return whether the evidence has all the words, in this order, with nothing between that changes their sense.

    Each sentence of the words has to stand in one sentence of the evidence. What stands there in brackets may be left
    out, unless it limits what is said.
    """
    evidence_rows = [row for text in evidence for row in _sentence_tokens(text)]
    said = [_needed_tokens(s) for s in sentences(words)]
    return bool(said) and all(wanted and any(_is_subsequence(wanted, row) for row in evidence_rows) for wanted in said)


@lru_cache(maxsize=1 << 10)
def _sentence_tokens(text: str) -> tuple[tuple[Token, ...], ...]:
    """Return the tokens of each sentence; of a text with brackets, also without harmless brackets."""
    bare = _ASIDE.sub(lambda m: m[0] if any(t.word in _LIMITS for t in tokens(m[0])) else " ", text)
    return tuple(tokens(s) for one in dict.fromkeys((text, bare)) for s in sentences(one))


def _needed_tokens(sentence: str) -> list[Token]:
    """Return the words that the evidence has to have: all but those that change nothing."""
    found = tokens(sentence)
    return [
        t
        for n, t in enumerate(found)
        if t.word in _HALTS or t.word not in _LIGHT
        if not (t.word == "to" and n and found[n - 1].word in _BEFORE_TO)
    ]


def _is_subsequence(wanted: Sequence[Token], row: Sequence[Token]) -> bool:
    """Return whether a sentence of the evidence has the words in order, and nothing between changes them."""
    at, first = 0, -1
    for n, token in enumerate(row):
        if at < len(wanted) and _same_word(wanted[at], token):
            at += 1
            first = n if first < 0 else first
        elif token.word == "to" and n and row[n - 1].word in _BEFORE_TO:
            continue
        elif token.word in (_HALTS if 0 < at < len(wanted) else _DOUBTS):
            return False
    return at == len(wanted)


def _same_word(a: Token, b: Token) -> bool:
    """Return whether two tokens are one word, or forms of one."""
    return a.word == b.word or (a.content and b.content and a.stem == b.stem)


def _is_verbatim(said: str, evidence: Sequence[str]) -> bool:
    """Return whether these are whole sentences of the evidence, word for word."""
    bare = said.rstrip(".。").casefold()
    for text in evidence:
        folded = fold(text).casefold()
        at = folded.find(bare) if bare else -1
        if at < 0:
            continue
        before, after = folded[:at].rstrip(), folded[at + len(bare) :]
        if (not before or before[-1] in ".!?。！？") and _ends_sentence(bare, after):
            return True
    return False


def _ends_sentence(bare: str, after: str) -> bool:
    """Return whether a sentence ends between two pieces of text."""
    return not after.strip() or bool(re.match(r"\.\s|\.$|。", after)) or bare[-1] in "!?！？"
