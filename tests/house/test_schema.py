"""AGENTS.md and the code say the same: names, formats, who may write what, and what is built."""

from __future__ import annotations

import importlib
import re
from typing import ClassVar
from zoneinfo import ZoneInfo

import click
import pytest

import templates
from cli.founding import FOLDERS
from cli.main import COMMANDS
from compiler import indexes
from compiler.gates import KIND_OF
from vault import article, log_event
from vault.agenda import GapKind, parse_agenda
from vault.card import CardKind, parse_deck
from vault.claim import ClaimKind, ClaimState
from vault.errors import Refused
from vault.ids import ALPHABET, ID
from vault.note import OURS, read_properties
from vault.safe_path import Scope, writable
from vault.settings import SCHEMA_VERSION
from vault.summary import parse_summary
from vault.wikilink import Wikilink, links

SCHEMA = templates.read("AGENTS.md")


def section(number: int) -> str:
    """The text of a numbered section, without its heading."""
    found = re.search(rf"^## {number}\. .*?\n(.*?)(?=^## \d|\Z)", SCHEMA, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def fences(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def ticked(text: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def rows(text: str, header: str) -> list[list[str]]:
    """The cells of the table whose first header cell is `header`, without its two head lines."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"| {header} |"))
    out = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        out.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return out


def line_of(text: str, label: str) -> list[str]:
    return ticked(next(line for line in text.splitlines() if line.startswith(f"- {label}:")))


def test_the_version_is_the_one_that_the_code_writes() -> None:
    assert f"Schema version: {SCHEMA_VERSION}\n" in SCHEMA
    entries = re.findall(r"^- \*\*(\d+\.\d+\.\d+)\*\* \(\d{4}-\d\d-\d\d\)", section(14), re.MULTILINE)
    assert entries[0] == SCHEMA_VERSION


class TestWords:
    """Lists of words are the code's enumerations, whole and in order."""

    def test_kinds_and_states_of_claims(self) -> None:
        assert line_of(section(4), "Kinds") == [k.value for k in ClaimKind]
        assert line_of(section(4), "States") == [s.value for s in ClaimState]

    def test_kinds_of_cards_and_the_claims_they_rest_on(self) -> None:
        table = rows(section(9), "kind")
        assert [ticked(row[0])[0] for row in table] == [k.value for k in CardKind]
        for row in table:
            assert {ClaimKind(name) for name in row[2].split(", ")} == KIND_OF[ticked(row[0])[0]]


class TestFormats:
    """Every example in a fence is read by the code as what the text says it is."""

    ids: ClassVar[list[list[str]]] = rows(section(3), "thing")

    def test_patterns_of_ids_take_their_examples_and_the_codes_own(self) -> None:
        assert f"`{ALPHABET}`" in section(3)
        for row in self.ids:
            assert re.fullmatch(ticked(row[1])[0], ticked(row[2])[0])
        plain = ticked(self.ids[0][1])[0]
        for c in map(chr, range(128)):
            assert bool(re.fullmatch(plain, c * 10)) == bool(ID.fullmatch(c * 10))

    def test_the_links_are_the_codes_own_form(self) -> None:
        (fence,) = fences(section(3), "markdown")
        link = Wikilink("wiki/concepts/spacing-effect", alias="Spacing effect")
        assert fence.splitlines() == [str(link), link.in_table()]
        assert [found.target for found in links(fence)] == [link.target] * 2

    def test_the_claim_block_is_a_claim(self) -> None:
        summary = parse_summary(fences(section(4), "markdown")[0], "wiki/summaries/x.md")
        ((claim,), none) = (tuple(c.claim for c in summary.claims), summary.diagnostics)
        assert none == () and claim.kind is ClaimKind.DEFINITION and claim.locator and claim.statement != claim.quote

    def test_the_article_sentence_is_cited(self) -> None:
        (sentence,) = article.sentences(fences(section(4), "markdown")[1])
        assert len(sentence.cites) == 1

    def test_the_humans_mark_asserts_nothing(self) -> None:
        remark = fences(section(4), "markdown")[2]
        assert list(article.sentences(remark)) == [] and "[!human]" in remark and "`[!human]`" in section(11)
        assert list(article.sentences(remark.replace("human", "note"))) != []

    def test_the_card_block_is_a_card(self) -> None:
        deck = parse_deck(fences(section(9), "markdown")[0], "learning/flashcards/x.md")
        (card,) = deck.cards
        assert card.kind is CardKind.MECHANISTIC and card.id and card.stamp and card.support and not deck.diagnostics

    def test_the_gap_item_is_a_gap(self) -> None:
        (gap,) = parse_agenda("## Structural\n\n" + fences(section(9), "markdown")[1])
        assert gap.open and gap.mentions and gap.kind is GapKind.STRUCTURAL
        assert [ticked(row[0]) or [row[0]] for row in rows(section(9), "gap")] == [[k.value] for k in GapKind]

    def test_the_index_files_and_their_types(self) -> None:
        pages = [indexes.INDEX, indexes.CONCEPTS, indexes.GRAPH, indexes.LOG]
        texts = [
            indexes.render_index([], [], []),
            indexes.render_concepts([]),
            indexes.render_graph([]),
            indexes.render_log(
                [{"at": "2026-11-21T09:30:00.123Z", "command": "compile", "words": "..."}], ZoneInfo("UTC")
            ),
        ]
        types = [read_properties(text).text("type") for text in texts]
        assert [(ticked(row[0])[0], ticked(row[1])[0]) for row in rows(section(5), "file")] == list(
            zip(pages, types, strict=True)
        )
        (heading,) = fences(section(5), "text")
        assert re.match(r"## \[2026-11-21\] compile \| ", heading) and "## [2026-11-21] compile | " in texts[-1]

    def test_the_line_of_the_review_log_is_whole(self) -> None:
        (line,) = fences(section(9), "json")
        event = log_event.decode(line.strip().encode())
        assert log_event.encode(event) == line.strip().encode()

    def test_properties_are_the_ones_that_are_written(self) -> None:
        keys = {row[0]: ticked(row[1]) for row in rows(section(4), "page")}
        said = {"author", "published", "url"}  # by the document; elsewhere a human may use these names
        at_times = said | {"copy_of", "copy_kind"}
        assert [k for k in keys["summary"] if k not in at_times] == list(
            read_properties(templates.read("summary.md")).values
        )
        assert set(keys["summary"]) | set(keys["concept, topic"]) == OURS | said | {"learning"}
        assert set(read_properties(templates.read("concept.md")).values) < set(keys["concept, topic"])
        assert keys["flashcards"] == list(read_properties(templates.read("flashcards.md")).values)


OWNERSHIP = [(path, row[2]) for row in rows(section(2), "path") for path in ticked(row[0])]


@pytest.mark.parametrize(("path", "agent"), OWNERSHIP)
def test_the_guard_lets_an_agent_write_what_the_table_says_and_nothing_else(path: str, agent: str) -> None:
    file = path.replace("*", "") + ("a/b.md" if path.endswith("/") else "")
    if agent == "may write":
        assert writable(file, Scope.AGENT)
    else:
        assert agent == "**never writes**"
        with pytest.raises(Refused):
            writable(file, Scope.AGENT)


def test_the_layout_names_every_folder_that_init_makes() -> None:
    layout = fences(section(1), "text")[0]
    for folder in FOLDERS:
        first, *inner = folder.split("/")
        assert f"{folder}/" in layout or re.search(rf"^{first}/ .*\b{'/'.join(inner)}/", layout, re.MULTILINE), folder


COMMAND = re.compile(r"retain ([a-z]+)")
BUILT = "\n\n".join(p for p in re.split(r"\n\n+", SCHEMA) if not p.startswith("Not built yet:"))


def click_command(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def offers(command: click.Command, word: str) -> bool:
    """Whether the command has this option, or this subcommand."""
    if word.startswith("-"):
        return any(word in parameter.opts for parameter in command.params)
    return isinstance(command, click.Group) and word in command.list_commands(click.Context(command))


def test_every_command_is_in_the_schema_and_every_command_of_the_schema_exists() -> None:
    named = {c for span in ticked(BUILT) for c in COMMAND.findall(span)}
    assert named <= set(COMMANDS)
    assert set(COMMANDS) <= named | {span.split()[0] for span in ticked(section(2))}


def test_subcommands_and_options_that_the_schema_names_exist() -> None:
    checked = 0
    for span in ticked(BUILT):
        name, *rest = span.removeprefix("retain ").split() or [""]
        if name in COMMANDS and rest and re.fullmatch(r"--[a-z]+|[a-z]+(\|[a-z]+)*", rest[0]):
            assert all(offers(click_command(name), word) for word in rest[0].split("|")) or name == "rate", span
            checked += 1
    assert checked >= 6
