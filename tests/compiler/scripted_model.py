"""A model that answers the requests of a compile by rule, from their text alone; behind the Messages API it bills, too.

READ finds a concept in every sentence "X is a ...", WRITE says the passages of each concept sentence by sentence, and
nothing is wrong with anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.protocol.requests import REQUESTS
from compiler.replies.prompts import prompt

if TYPE_CHECKING:
    from tests.compiler.messages_server import Reply

_DOCUMENT = re.compile(r"=== DOCUMENT (\d+): (.*)")
_PASSAGE = re.compile(r"\[(\d+:\d+)\*?\] ?(.*)")
_DEFINING = re.compile(r"(?:An?|The)?\s*\b([^\W\d_][\w-]*(?: [\w-]+){0,2}) is (an?) ([^?]+)")
_NO_NAME = {
    *("it", "this", "that", "there", "he", "she", "what", "which", "one", "they", "these", "those"),
    *("as", "but", "if", "so", "when", "while", "first", "even", "just", "now", "here"),
}
_SIGN = re.compile(r"\{([a-z]{1,2})\}")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)")
_ITEM = re.compile(r"\s*(-|\d+\.) (.*)")
_PICTURE = re.compile(r" \(picture: .*\)$")
_NAME = re.compile(r"(\d+)\* (.+?)(?: \([^()]*\))? \| page, ")
_CLAIM = re.compile(r"\[(\d+)\] (.*?)(?: \(that is: .*\))? \([^()]*\)$")
_KEPT = re.compile(r"    s(\d+): (.*)")
_GONE = " (its text is no longer in the source: write it again or leave it out)"


@dataclass(frozen=True)
class Shown:
    """A passage as a request shows it."""

    label: str
    document: str
    heading: str
    text: str

    @property
    def whole(self) -> bool:
        """Whether it is a listing or a table."""
        return self.text.startswith(("```", "(table)"))

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield (sign of the list item, sentence) for the prose."""
        for line in () if self.whole else _SIGN.sub("", self.text).split("\n"):
            item = _ITEM.match(line)
            for sentence in _SENTENCE.findall(_PICTURE.sub("", item[2] if item else line.removeprefix("\\"))):
                yield (f"{item[1]} " if item else ""), sentence

    def cited(self, sentence: str) -> str:
        """The citation of a sentence, without brackets: by its letter, by its words where it has none."""
        parts = _SIGN.split(self.text)
        found = (letter for letter, words in zip(parts[1::2], parts[2::2], strict=True) if words.startswith(sentence))
        letter = next(found, "")
        return f"{self.label}{letter}" if letter else f'{self.label} "{" ".join(sentence.split()[:6])}"'


def answer_for(type_: str, text: str) -> str:
    """What the rules answer to a request of that type, which was rendered as `text`."""
    return _RULES[type_](text)


def shown_in(text: str) -> list[Shown]:
    """The passages that a request shows."""
    out: list[Shown] = []
    document = heading = ""
    for line in text[text.find("=== DOCUMENT ") :].split("\n"):
        if opened := _DOCUMENT.fullmatch(line):
            document, heading = opened[1], ""
        elif line.startswith("## "):
            heading = line
        elif begun := _PASSAGE.match(line):
            out.append(Shown(begun[1], document, heading, begun[2]))
        elif out and line != "...":
            last = out.pop()
            out.append(Shown(last.label, last.document, last.heading, f"{last.text}\n{line}"))
    return out


def defined(sentence: str) -> str:
    """What a sentence "X is a ..." defines; "" if it is none."""
    match = _DEFINING.match(sentence)
    return match[1][:1].upper() + match[1][1:] if match and match[1].split()[0].casefold() not in _NO_NAME else ""


def _read(text: str) -> str:
    passages = shown_in(text)
    lines: dict[str, str] = {}
    carried: dict[str, dict[str, None]] = {}
    summaries: dict[str, str] = {}
    for passage in passages:
        section = [p.label for p in passages if (p.document, p.heading) == (passage.document, passage.heading)]
        for _, sentence in passage.sentences():
            summaries.setdefault(passage.document, f"{sentence} [{passage.cited(sentence)}]")
            if title := defined(sentence):
                lines.setdefault(title, f"{sentence} [{passage.cited(sentence)}]")
                carried.setdefault(title, {}).update(dict.fromkeys(section))
    out = [f"CONCEPT {title} | page\nIS {line}\nFROM {', '.join(carried[title])}" for title, line in lines.items()]
    return "\n".join([*out, *(f"SUM {document} {words}" for document, words in summaries.items())])


def _settle(text: str) -> str:
    new = [(m[1], m[2]) for line in text.split("\n") if (m := _NAME.match(line))]
    fives = [new[n : n + 5] for n in range(0, len(new), 5)]
    return "\n".join(f"CLUSTER {five[0][1]} and others: {', '.join(n for n, _ in five)}" for five in fives)


def _write(text: str) -> str:
    passages = {p.label: p for p in shown_in(text)}
    head = text[: text.find("=== DOCUMENT ")]
    return "\n".join(_page(task, passages) for task in re.split(r"^WRITE ", head, flags=re.MULTILINE)[1:])


def _page(task: str, passages: dict[str, Shown]) -> str:
    """The page of one concept and its card. Of an article that is there, what still holds stays."""
    title = re.sub(r" \(also: .*\)$", "", task.partition("\n")[0])
    listed = re.search(r"^  passages: (.*)$", task, re.MULTILINE)
    own = [passages[label] for label in re.findall(r"\d+:\d+", listed[1] if listed else "")]
    out = [f"=== {title}"]
    kept = [(m[1], m[2]) for line in task.split("\n") if (m := _KEPT.match(line)) and not m[2].endswith(_GONE)]
    for number, _ in kept:
        out += [f"@s {number}", ""]
    for passage in own:
        out += _said(passage, {words for _, words in kept})
    card = next(((p, s) for p in own for _, s in p.sentences() if defined(s).casefold() == title.casefold()), None)
    question = f"What is meant by {title.casefold()}?"
    if card is None or f"  card to keep: {question}" in task.split("\n"):
        return "\n".join(out)
    passage, sentence = card
    match = _DEFINING.match(sentence)
    assert match is not None
    lines = ["K: definitional", f"Q: {question}", f"A: {match[2]} {match[3]}", f"C: {passage.cited(sentence)}"]
    return "\n".join([*out, f"=== CARDS {title}", *lines])


def _said(passage: Shown, kept: set[str]) -> list[str]:
    if passage.whole:
        return ["", f"@keep {passage.label}", ""]
    said = [(sign, words) for sign, words in passage.sentences() if words not in kept]
    return [f"{sign}{words} [{passage.cited(words)}]" for sign, words in said] + [""]


def _answer(text: str) -> str:
    claims = [m for line in text.split("\n") if (m := _CLAIM.match(line))]
    return "\n".join(f"{m[2]} [{m[1]}]" for m in claims[:2]) or "MISSING The claims do not say."


_RULES: dict[str, Callable[[str], str]] = {
    "read": _read,
    "settle": _settle,
    "write": _write,
    "check": lambda _: "OK",
    "reconcile": lambda _: "NONE",
    "answer": _answer,
}


# --- behind the Messages API ---


def type_of(body: dict[str, Any]) -> str:
    """The type of request that a call puts, by its prompt."""
    system = body["system"]
    text = system if isinstance(system, str) else "".join(block["text"] for block in system)
    return next(of for of in REQUESTS if text == prompt(of).text)


def text_for(body: dict[str, Any]) -> str:
    """What the rules answer."""
    return answer_for(type_of(body), body["messages"][0]["content"])


def tokens_in(body: dict[str, Any]) -> int:
    """What the server counts: more than a token for three characters, and something around them."""
    return len(json.dumps(body, ensure_ascii=False)) // 3 + 300


def answering(body: dict[str, Any]) -> Reply:
    """The message that answers, with its bill."""
    from tests.compiler.messages_server import message  # seconds for the SDK's types, which the rules don't need

    text = text_for(body)
    return message(text, usage=(tokens_in(body), len(text) // 3))
