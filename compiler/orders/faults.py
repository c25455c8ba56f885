"""Judgement of a reply to an order: its faults item by item, with hints by which the agent can correct it.

The gates are those of the build; what only a check can decide (other words for the same) passes here, and is asked
about later. A reply without a fault enters the wiki unless that check says no.
"""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError
from rapidfuzz import fuzz

from compiler.cards.cards import PER_KIND
from compiler.claims.extract import MAX_QUOTE, around
from compiler.concepts.evidence import key_of
from compiler.gates import gates
from compiler.gates.proposed_names import SearchableText
from compiler.language import names
from compiler.model.requests import (
    REPLY_TO,
    AnswerReply,
    AnswerRequest,
    CardsReply,
    CardsRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    ExtractedClaim,
    ExtractReply,
    ExtractRequest,
    ProposedCard,
    Reply,
    Request,
    Section,
    Sentence,
    Term,
)
from vault.model.source import FoldedText
from vault.text.formatting import clean, clean_line, fold

_SHOWN = 200  # characters of somebody's words in a fault
_MOST = 100  # faults that are listed
_NEAR = 60  # of 100: how alike the nearest passage must be to be shown


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a reply: `path` leads to it ("claims[2].quote"), `words` are those at fault, `hint` what would be
    right."""

    path: str
    words: str
    why: str
    hint: str

    def as_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(slots=True)
class JudgedReply:
    """A reply without its faulty items (None if nothing is usable), and the faults."""

    reply: Reply | None
    faults: list[Fault] = field(default_factory=list)

    def fault(self, path: str, words: str, why: str, hint: str) -> None:
        """Add a fault."""
        if len(self.faults) < _MOST:
            self.faults.append(Fault(path, clean_line(words)[:_SHOWN], why, hint))


def judge_reply(request: Request, value: object) -> JudgedReply:
    """Return the judgement of a JSON reply to the request: its shape first, then everything that rules can decide."""
    judged = JudgedReply(None)
    reply = _parse_shape(request, value, judged)
    if reply is None:
        return judged
    if isinstance(request, ExtractRequest) and isinstance(reply, ExtractReply):
        judged.reply = _judge_extract(request, reply, judged)
    elif isinstance(request, ComposeRequest) and isinstance(reply, ComposeReply):
        judged.reply = _judge_compose(request, reply, judged)
    elif isinstance(request, CardsRequest) and isinstance(reply, CardsReply):
        judged.reply = _judge_cards(request, reply, judged)
    elif isinstance(request, AnswerRequest) and isinstance(reply, AnswerReply):
        judged.reply = _judge_answer(request, reply, judged)
    else:
        judged.reply = reply
    return judged


# --- shape ----------------------------------------------------------------------------------------------------------


def _parse_shape(request: Request, value: object, judged: JudgedReply) -> Reply | None:
    """Return the reply as far as it has the right shape; None if its lists of items can't be recognized."""
    model = REPLY_TO[request.type]
    if not isinstance(value, dict):
        keys = " and ".join(f"`{name}`" for name in model.model_fields)
        judged.fault("", _shown_value(value), "the reply is not a JSON object", f"send an object with {keys}")
        return None
    while True:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False)
        for each in errors:
            _report_shape_errors(each, model, judged)
        value = _without(value, [each["loc"] for each in errors])
        if value is None:
            return None


def _report_shape_errors(error: Any, model: type[Reply], judged: JudgedReply) -> None:
    """Add a fault for every error in the reply's shape."""
    where, kind = _path(error["loc"]), error["type"]
    shown = "" if kind == "missing" else _shown_value(error.get("input"))
    fields = ", ".join(model.model_fields)
    hints = {
        "missing": "add it",
        "extra_forbidden": f"leave it out; at the top there are: {fields}",
        "literal_error": "take one of these words",
        "enum": "take one of these words",
        "string_pattern_mismatch": "ids are given in the request; copy them as they stand, without ^c-",
        "string_too_long": "make it shorter",
    }
    hint = hints.get(kind, "see reply_schema")
    judged.fault(where, shown, clean_line(str(error["msg"])), hint)


def _shown_value(value: object) -> str:
    """Return a value of a reply as it can be shown."""
    if isinstance(value, str):
        return value[:_SHOWN]
    short = reprlib.Repr()
    short.maxstring = short.maxother = _SHOWN
    return short.repr(value)


def _path(location: Sequence[int | str]) -> str:
    """Return the path to a place in the reply, as "claims[2].quote"."""
    out = ""
    for step in location:
        out += f"[{step}]" if isinstance(step, int) else f".{clean_line(step)[:60]}" if out else clean_line(step)[:60]
    return out


def _without(value: dict[str, Any], places: Sequence[Sequence[int | str]]) -> dict[str, Any] | None:
    """Return `value` without the list items that hold one of `places`; None if one of them is outside any item."""
    bad: dict[str, set[int]] = {}
    for location in places:
        if len(location) < 2 or not isinstance(location[0], str) or not isinstance(location[1], int):
            return None
        bad.setdefault(location[0], set()).add(location[1])
    return value | {key: [v for n, v in enumerate(value[key]) if n not in out] for key, out in bad.items()}


# --- claims ---------------------------------------------------------------------------------------------------------


def _passes(words: str, evidence: Sequence[str]) -> bool:
    """Return whether rules accept the words; what they can't decide is left to a later check."""
    return True


def _judge_extract(request: ExtractRequest, reply: ExtractReply, judged: JudgedReply) -> ExtractReply:
    """Return the reply's claims and terms that rules accept."""
    text = FoldedText.of(request.text)
    claims = []
    for n, claim in enumerate(reply.claims):
        before = len(judged.faults)
        _judge_claim(f"claims[{n}]", claim, request, text, judged)
        if len(judged.faults) == before:
            claims.append(claim)
    terms = []
    there = SearchableText.of("\n".join([request.title, *request.headings, request.text]))
    for n, term in enumerate(reply.terms):
        before = len(judged.faults)
        _judge_term(f"terms[{n}]", term, request, there, judged)
        if len(judged.faults) == before:
            terms.append(term)
    return ExtractReply(claims=tuple(claims), terms=tuple(terms))


def _judge_claim(
    path: str, claim: ExtractedClaim, request: ExtractRequest, text: FoldedText, judged: JudgedReply
) -> None:
    """Add the faults of one claim."""
    words = fold(clean(claim.quote))
    if not words:
        judged.fault(f"{path}.quote", "", "the quote is empty", "copy the sentence that says it")
    elif len(words) > MAX_QUOTE:
        why = f"the quote has {len(words)} characters, and {MAX_QUOTE} are the most"
        judged.fault(f"{path}.quote", words, why, "quote the sentence alone that says it; make two claims of two")
    elif text.find(words) is None:
        judged.fault(
            f"{path}.quote", words, "the quote does not occur in the request's text", _nearest_quote_hint(words, text)
        )
    else:
        statement = "" if fold(claim.statement) == words else fold(clean(claim.statement))
        span = text.find(words)
        context = around(request.title, request.headings, request.text, span[0] if span else 0)
        why = gates.statement_refused(statement, words, _passes, context) if statement else ""
        if why:
            judged.fault(f"{path}.statement", statement, why, 'say no more and no less than the quote, or leave it ""')
    if not claim.about:
        judged.fault(f"{path}.about", words, "the claim is about nothing", "name its concepts, the main one first")
    for k, name in enumerate(claim.about):
        _is_concept_name(f"{path}.about[{k}]", name, request.language, judged)


def _nearest_quote_hint(words: str, text: FoldedText) -> str:
    """Return a hint for a quote that the source lacks: the passage that it may have meant."""
    near = fuzz.partial_ratio_alignment(words.casefold(), text.text.casefold()) if text.text else None
    if near is None or near.score < _NEAR:
        return "copy the words letter by letter from `text`; what is not there cannot be claimed"
    start, end = near.dest_start, near.dest_end
    while start > 0 and not text.text[start - 1].isspace():
        start -= 1
    while end < len(text.text) and not text.text[end].isspace():
        end += 1
    return f"copy letter by letter; the nearest words in `text` are: {clean_line(text.text[start:end])[: 2 * _SHOWN]}"


def _judge_term(path: str, term: Term, request: ExtractRequest, there: SearchableText, judged: JudgedReply) -> None:
    """Add the faults of one term."""
    for where, name in (
        (f"{path}.name", term.name),
        *((f"{path}.aliases[{n}]", a) for n, a in enumerate(term.aliases)),
    ):
        if _is_concept_name(where, name, request.language, judged) and not there.has(name):
            judged.fault(
                where, name, "the text does not write this name", "offer names as `text` or a heading has them"
            )
    if term.english:
        _is_concept_name(f"{path}.english", term.english, "en", judged)


def _is_concept_name(path: str, name: str, language: str, judged: JudgedReply) -> bool:
    """Return whether a name can be that of a concept; if not, add a fault."""
    if key_of(name, language, True):
        return True
    why = _name_fault(names.bare(name))
    hint = "a noun phrase of at most six words and 64 characters, without brackets, commas, quotes, formulas or code"
    judged.fault(path, name, f"this cannot be the name of a concept: {why}", hint)
    return False


def _name_fault(name: str) -> str:
    """Return why a name can't be that of a concept."""
    if len(name) > names.MAX_CHARS:
        return f"it has {len(name)} characters, and {names.MAX_CHARS} are the most"
    if not any(c.isalpha() for c in name):
        return "it has no letter"
    if why := names.unfit(name):
        return why
    count = len(name.split())
    return (
        f"it has {count} words, and {names.MAX_WORDS} are the most"
        if count > names.MAX_WORDS
        else "no text could call it so"
    )


# --- sentences ------------------------------------------------------------------------------------------------------


def _judge_compose(request: ComposeRequest, reply: ComposeReply, judged: JudgedReply) -> ComposeReply | None:
    """Return the reply's sentences that rules accept, None if there are none."""
    claims, fresh = {c.id: c for c in request.claims}, frozenset(request.fresh)
    sections = []
    for i, section in enumerate(reply.sections):
        paragraphs = []
        for j, paragraph in enumerate(section.paragraphs):
            path = f"sections[{i}].paragraphs[{j}]"
            kept = tuple(
                s for k, s in enumerate(paragraph) if _judge_sentence(f"{path}[{k}]", s, claims, fresh, judged)
            )
            if kept:
                paragraphs.append(kept)
        if paragraphs:
            sections.append(Section(heading=section.heading, paragraphs=tuple(paragraphs)))
    if not sections and not judged.faults:
        judged.fault(
            "sections", "", "there is no sentence in it", "say what the claims say, each sentence with its claims"
        )
    return ComposeReply(sections=tuple(sections)) if sections else None


def _judge_sentence(
    path: str, sentence: Sentence, claims: dict[str, ClaimView], fresh: frozenset[str], judged: JudgedReply
) -> bool:
    """Return whether rules accept a sentence; if not, add a fault."""
    strange = [c for c in sentence.cites if c not in claims]
    if strange:
        why = f"no claim of this request is called {', '.join(strange[:5])}"
        judged.fault(f"{path}.cites", sentence.text, why, "cite ids of `request.claims`")
        return False
    why = gates.sentence_refused(sentence, claims, _passes)
    if why:
        judged.fault(f"{path}.text", sentence.text, why, _citation_hint(sentence.cites, claims))
        return False
    if fresh and not fresh.intersection(sentence.cites):
        why = "it cites none of the claims in `fresh`, and the rest of the article stays as it is"
        judged.fault(f"{path}.cites", sentence.text, why, "write on the claims in `fresh` alone")
        return False
    return True


def _citation_hint(cites: Sequence[str], claims: dict[str, ClaimView]) -> str:
    """Return what would make a sentence or an answer pass."""
    if not cites:
        return "end it with the ids of the claims it rests on, or leave it out"
    said = clean_line(claims[cites[0]].quote)[:_SHOWN]
    return f"say no more than the claims it cites, or cite the claim that says it; {cites[0]} says: {said}"


def _judge_answer(request: AnswerRequest, reply: AnswerReply, judged: JudgedReply) -> AnswerReply | None:
    """Return the answer's sentences that rules accept, None if nothing is left."""
    claims = {c.id: c for c in request.claims}
    kept = tuple(
        s for k, s in enumerate(reply.sentences) if _judge_sentence(f"sentences[{k}]", s, claims, frozenset(), judged)
    )
    if not kept and not reply.missing:
        judged.fault("missing", "", "the reply says nothing", "say in `missing` what the claims do not tell")
        return None
    return AnswerReply(sentences=kept, missing=reply.missing)


# --- cards ----------------------------------------------------------------------------------------------------------


def _judge_cards(request: CardsRequest, reply: CardsReply, judged: JudgedReply) -> CardsReply:
    """Return the cards that rules accept."""
    claims = {c.id: c for c in request.claims}
    gate = gates.CheckedCardGate(entailed=_passes)
    for card in request.standing:
        gate.admit(card.question, card.answer, request.title)
    count = Counter(card.kind for card in request.standing)
    kept: list[ProposedCard] = []
    for n, card in enumerate(reply.cards):
        path, shown = f"cards[{n}]", f"{card.question} / {card.answer}"
        strange = [c for c in card.cites if c not in claims]
        if strange:
            why = f"no claim of this request is called {', '.join(strange[:5])}"
            judged.fault(f"{path}.cites", shown, why, "cite ids of `request.claims`")
        elif count[card.kind] >= PER_KIND:
            judged.fault(path, shown, f"there are {PER_KIND} {card.kind} cards already", "keep the better ones")
        elif why := gate.refused(card, request.title, claims, names=request.aliases):
            judged.fault(path, shown, why, _card_hint(why, card, claims))
        else:
            count[card.kind] += 1
            kept.append(card)
    return CardsReply(cards=tuple(kept))


_CARD_HINTS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("no cited claim is evidence", lambda: f"a kind rests on claims of its own: {_kinds()}"),
    ("points at something outside", lambda: "name what it is about; no `this`, no `above`, no `the paper`"),
    ("what it stands for", lambda: "name it instead of the pronoun"),
    ("at once", lambda: "make two cards of it"),
    ("its answer has", lambda: "one idea a card: say the one thing that is asked for"),
    ("its answer lists", lambda: "one idea a card, or ask for so many in the question"),
    ("does not ask", lambda: "end the question with a question mark"),
    ("the question", lambda: "ask without the words of the answer"),
    ("another card", lambda: "leave it out, or ask something else"),
    ("too long", lambda: f"at most {gates.MAX_QUESTION} characters of question and {gates.MAX_ANSWER} of answer"),
    ("only names the concept", lambda: "ask for what it is or does, not for its name"),
)


def _card_hint(why: str, card: ProposedCard, claims: dict[str, ClaimView]) -> str:
    """Return what would make a card pass."""
    return next((hint() for begins, hint in _CARD_HINTS if begins in why), "") or _citation_hint(card.cites, claims)


def _kinds() -> str:
    return "; ".join(f"{kind}: {', '.join(sorted(c.value for c in of))}" for kind, of in gates.KIND_OF.items())
