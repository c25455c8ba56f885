"""The words that a second reader accepted, as the stored replies have it."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.gates.gates import Accepted
from compiler.protocol.check import item_key
from compiler.protocol.replies import AnswerReply
from compiler.replies.journal import Journal
from compiler.replies.knowledge import Knowledge
from vault.model.claim import Claim


def accepted_in(journal: Journal) -> Accepted:
    """Return whether a second reader accepted words on quotes, as the journal has it."""
    known = Knowledge.of(journal.entries).accepted()
    return lambda words, answer, quotes: item_key(words, answer, quotes) in known


def accepted_answers(journal: Journal, claims: Iterable[Claim], accepted: Accepted) -> Accepted:
    """Return what `accepted` accepts, and the sentences of answers that a second reader corrected."""
    quotes = {str(claim.id): claim.quote for claim in claims}
    verdicts = Knowledge.of(journal.entries).verdicts
    corrected = set[str]()
    for entry in journal.entries:
        reply = entry.value()
        for sentence in reply.sentences if isinstance(reply, AnswerReply) else ():
            said = tuple(quotes[c] for c in sentence.cites if c in quotes)
            said += tuple(quote.words for quote in sentence.quotes)
            verdict = verdicts.get(item_key(sentence.text, "", said))
            if verdict is not None and verdict.verdict == "fix":
                corrected.add(item_key(verdict.text, "", said))
    return lambda words, answer, by: item_key(words, answer, by) in corrected or accepted(words, answer, by)
