"""Every border that a stranger's text crosses, fed with what a terminal or a model would obey: none comes out.

A stranger is a document, a model, an agent, the name of a file, or whoever wrote into a lock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import click
import pytest

from cli import output
from compiler.agents.inert import unreadable
from compiler.agents.quarantine import shown
from compiler.claims.extract import claims_in
from compiler.model.requests import CardsReply, ComposeReply, ExtractReply
from compiler.readers.read import read_source
from learning.anki.field_html import field, field_of_words, inert
from learning.formats.csv import cell
from vault.audit.agent_runs import cleaned
from vault.diagnostic import Diagnostic
from vault.errors import Refused
from vault.locks import _parse
from vault.model import latex
from vault.model.frontmatter import scalar
from vault.model.wikilink import alias, note_link, raw_link
from vault.text.formatting import clean, clean_line, normal

EVIL = "a\x00\x07\x1b[2J\x1b]52;c;eA==\x07\x7f\x9b31m\u061c\u200e\u200f\u2028\u2029\u202e\u2066\u2069\ufff9\ud800b"
HIDDEN = "a\u200b\u00ad\u2060\u206a\ufeff\U000e0041b"
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_UNSEEN = re.compile("[\u00ad\u200b\u2060-\u2065\u206a-\u206f\ufeff\U000e0000-\U000e007f]")
_WRITTEN = EVIL.replace("\x00", "").replace("\ud800", "") + HIDDEN  # what a file of text can hold

# What a person is shown: nothing in it acts.
SHOWN: dict[str, Callable[[str], str]] = {
    "clean": clean,
    "clean_line": clean_line,
    "normal": normal,
    "an Anki field": field,
    "a quote in an Anki field": field_of_words,
    "inert text in an Anki field": inert,
    "a cell": cell,
    "a card as plain text": latex.text,
    "words as plain text": latex.words,
    "a picture in words": lambda text: latex.picture(text, text),
    "a link's alias": alias,
    "a link to a note": lambda text: note_link("wiki/concepts/x.md", text),
    "a link to a document": lambda text: raw_link("raw/x.md", text),
    "the path of a document": lambda text: raw_link(f"raw/{text.replace(chr(0xD800), '')}.md", "x"),
    "a property": lambda text: scalar(text.replace("\ud800", "")),
    "a command of an agent's": lambda text: " ".join(cleaned([text])),
    "a path that was set aside": shown,
}
# What a model reads, or a page is made of: nothing in it is hidden, either.
READ: dict[str, Callable[[str], str]] = {
    "markdown": lambda text: _read(f"# {text}\n\n{text} is a thing.\n", "x.md"),
    "front matter": lambda text: _read(f"---\ntitle: {json.dumps(text)}\nauthor: {json.dumps(text)}\n---\nx\n", "x.md"),
    "html": lambda text: _read(f"<html><title>{text}</title><h1>{text}</h1><p>{text} is.</p></html>", "x.html"),
    "references": lambda text: _read(f"<p>x {''.join(f'&#{ord(c)};' for c in text)} y is</p>", "x.html"),
    "text": lambda text: _read(f"{text}\n\n{text} is a thing.\n", "x.txt"),
    "tex": lambda text: _read(f"\\begin{{document}}{text} is a thing.\\end{{document}}", "x.tex"),
    "table": lambda text: _read(f'term,definition\n"{text}","{text} is a thing"\n', "x.csv"),
    "notebook": lambda text: _read(
        json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": f"# {text}\n\n{text} is."}]}),
        "x.ipynb",
    ),
    "a name of a model's": lambda text: str(
        ExtractReply.from_json({"terms": [{"name": text, "aliases": [text], "signal": "definition"}]}).terms
    ),
    "a heading of a model's": lambda text: ComposeReply.from_json(
        {"sections": [{"heading": text, "paragraphs": []}]}
    ).sections[0].heading,
    "a sentence of a model's": lambda text: ComposeReply.from_json(
        {"sections": [{"heading": "", "paragraphs": [[{"text": text, "cites": []}]]}]}
    ).sections[0].paragraphs[0][0].text,
    "a card of a model's": lambda text: str(
        CardsReply.from_json({"cards": [{"kind": "applied", "question": text, "answer": text, "cites": []}]}).cards
    ),
    "a claim of a model's": lambda text: _claimed(text),
}  # fmt: skip


def _read(text: str, name: str) -> str:
    many = "" if name.endswith("b") else "\n\n" + "Other words stand here as well. " * 100  # it is a text, after all
    source = read_source(f"{text}{many}".encode(), name)
    told = [source.text, source.title, *source.properties.values(), *(m.info for m in source.marks)]
    return "\n".join([*told, *(h for s in source.segments for h in s.headings), *(p.label for p in source.places)])


def _claimed(text: str) -> str:
    source = read_source(b"A lamp is a thing.\n", "x.txt")
    said = {"kind": "fact", "quote": f"lamp{text}", "statement": text}
    told = {"kind": "fact", "quote": "A lamp is a thing.", "statement": f"A lamp{text[1:-1]} is a thing."}
    found = claims_in(source, [ExtractReply.from_json({"claims": [said, told]})] * len(source.segments))
    return "\n".join([*(c.quote + c.statement for c in found.claims), *(r.words + r.reason for r in found.rejections)])


@pytest.mark.parametrize("border", SHOWN)
def test_nothing_that_is_shown_acts(border: str) -> None:
    assert not _OBEYED.search(SHOWN[border](EVIL)), border


@pytest.mark.parametrize("border", READ)
def test_nothing_that_is_read_acts_or_hides(border: str) -> None:
    came = READ[border](_WRITTEN)
    assert came and not _OBEYED.search(came) and not _UNSEEN.search(came), (border, came)


def test_whatever_is_printed_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    output.say(EVIL)
    output.show(EVIL)
    output.show_json({EVIL: EVIL})
    output.failed(Refused(EVIL, where=EVIL, hint=EVIL))
    output.found([Diagnostic(EVIL, 1, EVIL, EVIL, EVIL)])
    output.usage(click.UsageError(EVIL))
    output.Progress("jsonl")({"event": "source", "path": EVIL, "done": 1, "of": 1})
    told = capsys.readouterr()
    assert len(told.err.splitlines()) >= 6 and not _OBEYED.search(told.out) and not _OBEYED.search(told.err)


def test_whoever_names_himself_in_a_lock_is_shown_clean() -> None:
    words = {"pid": 1, "host": EVIL, "since": EVIL, "purpose": EVIL, "machine": EVIL, "started": EVIL}
    holder = _parse(json.dumps(words).encode())
    assert holder is not None and not _OBEYED.search(holder.description(datetime.now(UTC)) + holder.started)


@pytest.mark.parametrize("mark", [*"\x00\x1b\x7f\x9b\u202e\u2066\u200b\u206a\U000e0041"])
def test_a_page_of_an_agents_with_such_a_mark_is_not_taken(mark: str) -> None:
    assert unreadable("Words.\n") is None
    assert unreadable(f"Wo{mark}rds.\n") is not None


def test_the_marks_are_what_they_are_taken_for() -> None:
    assert _OBEYED.search(EVIL) and _UNSEEN.search(HIDDEN), "the control: what is looked for is there before the border"
    assert clean("Zeile\n\tTab, é 注意 🧠") == normal("Zeile\n\tTab, é 注意 🧠") == "Zeile\n\tTab, é 注意 🧠"
