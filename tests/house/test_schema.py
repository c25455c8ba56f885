"""The examples and lists of docs/format.md and AGENTS.md are those of the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

import templates
from cli.agent_commands import AGENT_COMMANDS, may_run
from cli.command_list import COMMANDS
from cli.maintenance.init import FOLDERS
from compiler.gates.gates import KIND_OF
from compiler.pages import indexes
from vault.config.settings import SCHEMA_VERSION
from vault.errors import Refused
from vault.files.write_scopes import Scope, writable
from vault.ids import ALPHABET, ID
from vault.log import events, ledger
from vault.log.events import LogEvent
from vault.model import article
from vault.model.card import CardKind, parse_deck
from vault.model.claim import ClaimKind, ClaimState
from vault.model.frontmatter import OURS, read_properties
from vault.model.gaps import GapKind, parse_agenda
from vault.model.summary import parse_summary
from vault.model.wikilink import Wikilink, links

RULES = templates.read("AGENTS.md")
FORMATS = templates.read("format.md")
LOG = (Path(__file__).parents[2] / "docs/log.md").read_text(encoding="utf-8")


def fence(language: str, beginning: str, text: str = FORMATS) -> str:
    """Return the content of the only fence of this language that begins so."""
    found = re.findall(rf"^```{language}\n({re.escape(beginning)}.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, beginning
    return str(found[0])


def ticked(text: str) -> list[str]:
    """Return what is in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def rows(header: str, text: str = FORMATS) -> list[list[str]]:
    """Return the cells of the table whose head line begins so, without its two head lines."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"| {header} |"))
    out = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        out.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return out


def listed(label: str) -> list[str]:
    return ticked(next(line for line in FORMATS.splitlines() if line.startswith(f"- {label}:")))


def test_the_version_is_the_one_that_the_code_writes() -> None:
    assert f"Schema version: {SCHEMA_VERSION}." in RULES and f"schema {SCHEMA_VERSION}" in FORMATS
    entries = re.findall(r"^- \*\*(\d+\.\d+\.\d+)\*\* \(\d{4}-\d\d-\d\d\)", FORMATS, re.MULTILINE)
    assert entries[0] == SCHEMA_VERSION


def test_the_rules_fit_what_an_agent_reads_at_every_start() -> None:
    assert len(RULES.encode()) <= 10_000


class TestWords:
    """Lists of words are the code's enumerations, whole and in order."""

    def test_kinds_and_states_of_claims(self) -> None:
        assert listed("Kinds") == [k.value for k in ClaimKind]
        assert listed("States") == [s.value for s in ClaimState]

    def test_kinds_of_cards_and_the_claims_they_cite(self) -> None:
        table = rows("kind | asks")
        assert [ticked(row[0])[0] for row in table] == [k.value for k in CardKind]
        for row in table:
            assert {ClaimKind(name) for name in row[2].split(", ")} == KIND_OF[ticked(row[0])[0]]

    def test_types_of_the_review_log(self) -> None:
        def types(of: type[LogEvent]) -> set[str]:
            return {of.type} - {""} | {t for sub in of.__subclasses__() for t in types(sub)}

        assert {ticked(row[0])[0] for row in rows("type | fields", LOG)} == types(LogEvent)

    def test_types_of_the_ledger_of_ids(self) -> None:
        assert {name for row in rows("type | says") for name in ticked(row[0])} == {
            *("birth", "rename", "reanchor", "change", "merge", "retire", "revive")
        }

    def test_freshness_and_its_days(self) -> None:
        row = next(row for row in rows("key | value") if row[0] == "`freshness`")
        assert ticked(row[1])[: len(article.FRESHNESS_DAYS)] == list(article.FRESHNESS_DAYS)
        assert ", ".join(str(n) for n in article.FRESHNESS_DAYS.values()) in row[1]


class TestFormats:
    """Every example in a fence is read by the code as what the text says it is."""

    def test_patterns_of_ids_take_their_examples_and_the_codes_own(self) -> None:
        ids = rows("thing | pattern")
        assert f"`{ALPHABET}`" in FORMATS
        for row in ids:
            assert re.fullmatch(ticked(row[1])[0], ticked(row[2])[0])
        plain = ticked(ids[0][1])[0]
        for c in map(chr, range(128)):
            assert bool(re.fullmatch(plain, c * 10)) == bool(ID.fullmatch(c * 10))

    @pytest.mark.parametrize("page", [FORMATS, RULES], ids=["formats", "rules"])
    def test_the_links_are_the_codes_own_form(self, page: str) -> None:
        text = fence("markdown", "[[", page)
        link = Wikilink("wiki/concepts/spacing-effect", alias="Spacing effect")
        assert text.splitlines() == [str(link), link.in_table()]
        assert [found.target for found in links(text)] == [link.target] * 2

    @pytest.mark.parametrize("page", [FORMATS, RULES], ids=["formats", "rules"])
    def test_the_claim_block_is_a_claim(self, page: str) -> None:
        summary = parse_summary(fence("markdown", "> [!quote]", page), "wiki/summaries/x.md")
        (claim,) = (c.claim for c in summary.claims)
        assert summary.diagnostics == () and claim.kind is ClaimKind.DEFINITION
        assert claim.locator and claim.statement != claim.quote

    @pytest.mark.parametrize("page", [FORMATS, RULES], ids=["formats", "rules"])
    def test_the_article_sentence_is_cited(self, page: str) -> None:
        (sentence,) = article.sentences(fence("markdown", "The spacing effect is", page))
        assert len(sentence.cites) == 1

    def test_a_remark_of_the_user_asserts_nothing(self) -> None:
        remark = fence("markdown", "> [!human]")
        assert list(article.sentences(remark)) == []
        assert list(article.sentences(remark.replace("human", "note"))) != []

    @pytest.mark.parametrize("page", [FORMATS, RULES], ids=["formats", "rules"])
    def test_the_card_block_is_a_card(self, page: str) -> None:
        deck = parse_deck(fence("markdown", "## Mechanistic", page), "learning/flashcards/x.md")
        (card,) = deck.cards
        assert card.kind is CardKind.MECHANISTIC and card.id and card.stamp and card.support and not deck.diagnostics

    def test_the_gap_item_is_a_gap(self) -> None:
        (gap,) = parse_agenda("## Structural\n\n" + fence("markdown", "- [ ]"))
        assert gap.open and gap.mentions and gap.kind is GapKind.STRUCTURAL
        assert [row[0] for row in rows("gap | means")] == [k.value for k in GapKind]

    def test_the_index_files_and_their_types(self) -> None:
        pages = [indexes.INDEX, indexes.CONCEPTS, indexes.GRAPH, indexes.LOG]
        texts = [
            indexes.render_index([], [], []),
            indexes.render_concepts([]),
            indexes.render_graph([]),
            indexes.render_log(
                [{"type": "build", "at": "2026-11-21T09:30:00.123Z", "command": "compile", "words": "..."}],
                ZoneInfo("UTC"),
            ),
        ]
        types = [read_properties(text).text("type") for text in texts]
        assert [(ticked(row[0])[0], ticked(row[1])[0]) for row in rows("file | `type`")] == list(
            zip(pages, types, strict=True)
        )
        assert fence("text", "## [2026-11-21] compile | ") and "## [2026-11-21] compile | " in texts[-1]

    def test_the_line_of_the_review_log_is_whole(self) -> None:
        line = fence("json", '{"v":1,"id"', LOG).strip().encode()
        assert events.encode(events.decode(line)) == line

    def test_the_line_of_a_ledger_is_an_event(self) -> None:
        lines, found = ledger.decode(fence("json", '{"v":1,"type"').encode(), ledger.DECISIONS)
        assert len(lines) == 1 and found == []

    def test_properties_are_the_ones_that_are_written(self) -> None:
        keys = {row[0]: ticked(row[1]) for row in rows("page | keys")}
        at_times = {"author", "published", "url", "license", "copy_of", "copy_kind"}
        assert [k for k in keys["summary"] if k not in at_times] == list(
            read_properties(templates.read("summary.md")).values
        )
        assert set(keys["summary"]) | set(keys["concept, topic"]) >= OURS
        assert set(read_properties(templates.read("concept.md")).values) < set(keys["concept, topic"])
        assert keys["flashcards"] == list(read_properties(templates.read("flashcards.md")).values)


OWNERSHIP = [(path, row[2]) for row in rows("path | user") for path in ticked(row[0])]


@pytest.mark.parametrize(("path", "agent"), OWNERSHIP)
def test_the_guard_lets_an_agent_write_what_the_table_says_and_nothing_else(path: str, agent: str) -> None:
    file = path.replace("*", "") + ("a/b.md" if path.endswith("/") else "")
    if agent == "may write":
        assert writable(file, Scope.AGENT)
    else:
        assert agent in ("never writes", "writes in `.retain/work/` only")
        with pytest.raises(Refused):
            writable(file, Scope.AGENT)


def test_an_agent_may_run_the_commands_that_the_rules_list() -> None:
    named = re.search(r"You may run: (.*?); and (`compile` and `rebuild`), but not inside", RULES, re.DOTALL)
    assert named is not None
    assert {name.removeprefix("retain ") for name in ticked(named[1])} == set(AGENT_COMMANDS)
    assert all(may_run(name.split()) for name in AGENT_COMMANDS)
    assert not any(may_run([name]) for name in ticked(named[2]))


def test_the_layout_names_the_folders_that_init_makes() -> None:
    layout = fence("text", "AGENTS.md")
    for folder in FOLDERS:
        first, *inner = folder.split("/")
        assert f"{folder}/" in layout or re.search(rf"^{first}/ .*\b{'/'.join(inner)}/", layout, re.MULTILINE), folder


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


@pytest.mark.parametrize("page", [FORMATS, RULES], ids=["formats", "rules"])
def test_commands_subcommands_and_options_of_the_page_exist(page: str) -> None:
    checked = 0
    for span in ticked(page):
        if not span.startswith("retain ") or not span[7].isalpha():
            continue
        name, *rest = span.removeprefix("retain ").split()
        assert name in COMMANDS, span
        if rest and re.fullmatch(r"--[a-z]+|[a-z]+(\|[a-z]+)*", rest[0]):
            assert all(offers(click_command(name), word) for word in rest[0].split("|")), span
            checked += 1
    assert checked >= 4
