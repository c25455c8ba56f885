"""The reading process with an engine that does whatever the text it reads tells it to; all else of it is the real one.

Started in the place of `compiler.workers.process`. With `--free` as its first argument it does not shut itself in:
that is the control, which shows that its attempts are real.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.injection.orders import orders_in
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from orders import orders_in  # which lies beside this program

    del sys.path[0]

from compiler.model.requests import CardsRequest, ComposeRequest, ExtractRequest
from compiler.workers import process
from vault.model.claim import ClaimKind
from vault.sandbox import child_main

_DEFINITION = re.compile(r"An? (?P<name>[a-z]+) is [^.\n]+\.")
_SENTENCE = re.compile(r"[A-Z][^.\n]*\.")
FLOOD = 1_500


class Unchecked(dict[str, Any]):
    """A value of a reply, of whatever shape, with nothing cleaned."""

    def as_brief_json(self) -> dict[str, Any]:
        return self


class ObedientEngine:
    """Takes every sentence about the source's subject for a claim, and does what the orders between them say."""

    def load(self) -> None:
        pass

    def extract(self, request: ExtractRequest) -> Any:
        found = _DEFINITION.search(request.text)
        subject = found["name"] if found else ""
        claims, terms = [], []
        for verb, words, whole in orders_in(request.text):
            self.act(verb, words)
            claims.append(_claim(ClaimKind.FACT, whole, (subject,) if subject else ()))  # so that later stages read it
            claims += self._claims(verb, words, found[0] if found else "", subject)
            if verb == "name":
                terms += [
                    Unchecked(name=words[:200], aliases=(words[:190] + " too",), signal=signal)
                    for signal in ("definition", "named")
                ]
        for sentence in _SENTENCE.findall(request.text):
            if subject and subject in sentence.lower() and "ORDER" not in sentence:
                kind = ClaimKind.DEFINITION if found and sentence == found[0] else ClaimKind.MECHANISM
                claims.append(_claim(kind, sentence, (subject,)))
        if subject:
            terms.append(Unchecked(name=subject, signal="definition"))
        return Unchecked(claims=tuple(claims), terms=tuple(terms))

    def read(self, requests: Sequence[ExtractRequest]) -> list[Any]:
        return [self.extract(request) for request in requests]

    def _claims(self, verb: str, words: str, quote: str, subject: str) -> list[Any]:
        match verb:
            case "quote":
                return [_claim(ClaimKind.FACT, words, (subject,))]
            case "state":
                return [_claim(ClaimKind.FACT, quote, (subject,), words)]
            case "name":
                return [_claim(ClaimKind.DEFINITION, quote, (words[:200], subject))]
            case "kind":
                return [_claim(words, quote, (subject,))]
            case "toolong":
                return [_claim(ClaimKind.FACT, quote, (words * 100,))]
            case "flood":
                return [_claim(ClaimKind.FACT, f"{words} {n}", (f"{words} {n}",)) for n in range(FLOOD)]
        return []

    def compose(self, request: ComposeRequest) -> Any:
        ids = tuple(claim.id for claim in request.claims)
        paragraphs = [tuple(Unchecked(text=c.words, cites=(c.id,)) for c in request.claims)]
        sections = [Unchecked(heading="", paragraphs=tuple(paragraphs))]
        for verb, words, _ in (each for claim in request.claims for each in orders_in(claim.quote)):
            self.act(verb, words)
            said: dict[str, Any] = {"text": request.claims[0].words, "cites": ids[:1]}
            if verb == "sentence":
                said["text"] = words
            elif verb == "hide":
                said["text"] = words.join(request.claims[0].words.split(" "))
            elif verb == "cite":
                said["cites"] = (words,)
            elif verb != "heading":
                continue
            heading = words[:200] if verb == "heading" else ""
            sections.append(Unchecked(heading=heading, paragraphs=((Unchecked(**said),),)))
        return Unchecked(sections=tuple(sections))

    def cards(self, request: CardsRequest) -> Any:
        ids = tuple(claim.id for claim in request.claims)
        cards = []
        for claim in request.claims:
            if claim.kind is ClaimKind.DEFINITION:
                cards.append(_card("definitional", f"What is meant by {request.title}?", claim.words, (claim.id,)))
            for verb, words, _ in orders_in(claim.quote):
                self.act(verb, words)
                first = next((c for c in request.claims if c.kind is ClaimKind.DEFINITION), request.claims[0])
                if verb == "card":
                    cards += [_card("definitional", f"{words} Why?", words, (first.id,)), _card("", words, words, ids)]
                elif verb == "ask":
                    cards.append(_card("definitional", f"{words} What is {request.title}?", first.words, (first.id,)))
                elif verb == "hide":
                    answer = words.join(first.words.split(" "))
                    cards.append(_card("definitional", f"What{words} is this {request.title}?", answer, (first.id,)))
                elif verb == "cite":
                    cards.append(_card("definitional", "Why?", first.words, (words,)))
        return Unchecked(cards=tuple(cards))

    def act(self, verb: str, words: str) -> None:
        """What is ordered to be done, rather than said: to files, programs, the network, and its own answers."""
        with suppress(Exception):
            if verb == "write":
                Path(words).parent.mkdir(parents=True, exist_ok=True)
                Path(words).write_text("pwned\n", encoding="utf-8")
            elif verb == "remove":
                Path(words).unlink()
            elif verb == "run":
                os.system(words)
            elif verb == "call":
                socket.create_connection(("127.0.0.1", int(words)), timeout=5).close()
            elif verb == "print":
                os.write(1, words.encode())
                os.write(2, words.encode())


def _claim(kind: Any, quote: str, about: tuple[str, ...], statement: str = "") -> Any:
    return Unchecked(kind=kind, quote=quote, about=about, statement=statement, start=0)


def _card(kind: str, question: str, answer: str, cites: tuple[str, ...]) -> Any:
    return Unchecked(kind=kind or "relational", question=question, answer=answer, cites=cites)


def main() -> None:
    process.engine_named = lambda name: ObedientEngine()
    if sys.argv[1:2] == ["--free"]:
        del sys.argv[1]
        for name in ("restrict_worker", "limit_worker"):
            setattr(child_main, name, lambda *places, **how: None)
    process.main()


if __name__ == "__main__":
    main()
