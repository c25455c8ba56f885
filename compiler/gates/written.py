"""The rules for sentences and cards that a model or an agent wrote: numbers, names and arithmetic.

They see only what rules can decide for sure. Whether the words say more, surer or other things than their evidence is
for a second reader to judge (`compiler.protocol.check`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from compiler.gates.arithmetic import arithmetic_fault
from compiler.gates.facts import name_fault, quantity_fault
from compiler.gates.gates import MAX_ANSWER, MAX_QUESTION, contains_answer
from compiler.language.formulas import is_acting_command, plain_formulas
from compiler.language.tokens import FUNCTION_WORDS
from compiler.model.requests import ProposedCard
from vault.text.formatting import clean, fold

MAX_SENTENCE = 2_000  # characters
FORMULA = re.compile(r"(?<![\\$\w])\$(?=[^\s$])[^$\n]{0,400}(?<=[^\s\\])\$(?![\d$])|\$\$[^$\n]{1,400}\$\$")
_WHICH = re.compile(r"\bwhich (?:two|three|four)\b", re.IGNORECASE)
# A reference to a step of the list that the sentence stands in: "go back to step 3"
_STEP = re.compile(r"\bsteps? \d{1,2}\b(?=[.;:)]|,? (?:and|or|to|until|if|when|again|once)\b|$)", re.IGNORECASE)
_ADDRESS = re.compile(r"\w[\w+.-]{0,40}://\S*|\bwww\.\S*|\[\[", re.IGNORECASE)
_MARKUP = re.compile(r"\]\(\S*|<[a-z/!]\S*", re.IGNORECASE)  # in a formula, these are brackets and "less than"
_AFTER_TAG = re.compile(r">[.,;:!?)]+$")  # <END>,
_COMMAND = re.compile(r"\\([A-Za-z@]+)")


def sentence_fault(text: str, mark: str, passages: Sequence[str], known: tuple[str, ...]) -> str:
    """Return why a sentence may not be in an article; "" if rules see nothing against it.

    `passages` are the cited ones in full, `known` (`known_names`) all texts whose names it may use. Numbers of a
    sentence that is marked as derived or computed may be new: its equations are computed again.
    """
    said = fold(text)
    if not said:
        return "the text is empty"
    if len(said) > MAX_SENTENCE:
        return "the text is too long"
    return _facts_fault(said, mark, passages, known)


def card_fault(card: ProposedCard, passages: Sequence[str], known: tuple[str, ...]) -> str:
    """Return what is wrong with a card; "" if rules see nothing against it.

    `passages` are the cited ones in full, `known` (`known_names`) all texts whose names it may use.
    """
    question, answer = fold(card.question), fold(card.answer)
    if not question or not answer:
        return "the card has no question or no answer"
    if len(question) > MAX_QUESTION or len(answer) > MAX_ANSWER:
        return f"the card is too long: at most {MAX_QUESTION} characters of question and {MAX_ANSWER} of answer"
    if "\ufffd" in clean(card.question + card.answer):
        return "the card contains control characters"
    if not question.endswith(("?", "？", ".", "。", ":", "…", "_")):
        return "the question is not phrased as a question"
    if contains_answer(card):
        return "the question contains its answer"
    asked = _WHICH.sub("which", question)  # it counts what the question names, not what a passage says
    return _facts_fault(answer, "", (*passages, question), known) or _facts_fault(asked, "", passages, known)


def _facts_fault(said: str, mark: str, passages: Sequence[str], known: tuple[str, ...]) -> str:
    """Return which number, name or result is wrong; "" if none is."""
    if fault := arithmetic_fault(said):
        return fault
    there = "\n".join(passages)
    if fault := address_fault(said, there):
        return fault
    plain = plain_formulas(_STEP.sub("step", said))
    if not mark and (fault := quantity_fault(plain, [plain_formulas(p) for p in passages])):
        return f"the cited passages {_plural(fault)}"
    cells = plain.split(" | ")
    if len(cells) > 1:  # each cell of a row begins with a capital
        plain = " | ".join(_uncapitalized(cell, known) for cell in cells)
    fault = name_fault(plain, known)
    return f"the passages {_plural(fault)}" if fault else ""


def _uncapitalized(cell: str, known: tuple[str, ...]) -> str:
    """Return a cell of a row without the capital it begins with, where its first word is no name."""
    first = re.match(r"[A-Z][a-z]+\b", cell)
    if first is None:
        return cell
    small = first[0].lower()
    word = re.compile(rf"\b{small}\b")
    return small + cell[first.end() :] if small in FUNCTION_WORDS or any(map(word.search, known)) else cell


def address_fault(said: str, there: str = "") -> str:
    """Return what leads somewhere that the words `there` do not have, or what a formula does; "" if nothing does."""
    found = [*_ADDRESS.findall(said), *_MARKUP.findall(FORMULA.sub(" ", said))]
    if any(_AFTER_TAG.sub(">", address) not in there for address in found):
        return "it contains a link or an address that is not in the passages"
    commands = [name.casefold() for name in _COMMAND.findall(said)] if "$" in said else ()
    if any(map(is_acting_command, commands)):
        return "it contains a formula with an unsafe command"
    return ""


def known_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts prepared for the rules: names that they have may be used."""
    return tuple(dict.fromkeys(plain_formulas(text) for text in texts))


def _plural(fault: str) -> str:
    """Return a predicate of "the evidence" as one of several passages."""
    return fault.replace("does not", "do not", 1).replace("says", "say", 1).replace("gives", "give", 1)
