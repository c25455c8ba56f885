"""Import of cards from other programs than Anki: cards into decks, schedules into memory states.

The same import twice changes nothing the second time: a card is known by what the other program calls it, a schedule
and a review by their origin. First the pictures are on disk, then the cards, then their births, then the log; whatever
was cut off, the next import completes.
"""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from learning.anki.media_import import MEDIA, safe_name
from learning.cards.workspace import Desk, after, open_desk, read_desk
from learning.foreign import csv_table, hashcards, mnemosyne, mochi, obsidian_sr, own_jsonl, remnote
from learning.foreign.cards import ForeignCard, Reading
from learning.foreign.deck_database import past_of
from learning.foreign.packages import Zip
from learning.foreign.tree import Tree
from learning.imports.blocks import Blocks, known_births
from learning.imports.detect import CSV, JSONL, MNEMOSYNE, MOCHI, REMNOTE, Detected, detect, opened
from learning.imports.events import LogCounts, LogEvents
from learning.imports.markup import to_markdown, without_quoted_deletions
from vault.audit.agent_runs import refuse_beside_agents
from vault.diagnostic import Diagnostic
from vault.errors import NotFound, UsageError
from vault.files.guard import Scope, sha256_hex
from vault.ids import ALPHABET
from vault.locks import lock
from vault.log import ledger
from vault.log.review_log import append
from vault.model.markdown import escape
from vault.text.formatting import clean_line, short_line
from vault.vault import Vault

_PATIENCE_S = 5.0  # for a compile that ends, or an agent's start
_EXAMPLES = 3
_WIDTH = 70  # characters of an example's side
_MOST_MEDIA = 1024**3  # bytes of all pictures of one import


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user asked for. `columns` are those of a table; `database` is that of hashcards or repeater."""

    format: str = ""
    columns: tuple[str, ...] = ()
    deck: str = ""
    database: Path | None = None
    history: bool = True
    restore: bool = False
    separators: tuple[str, ...] = ()  # of Spaced Repetition, where its settings are not at hand
    notes: bool = False  # of Spaced Repetition: also those that are scheduled as a whole
    dry_run: bool = False


@dataclass(slots=True)
class CardsReport:
    """What an import did, or (`dry_run`) would do."""

    format: str
    reason: str = ""
    dry_run: bool = False
    batch: str = ""
    cards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("created", "updated", "kept", "skipped"), 0))
    decks: dict[str, int] = field(default_factory=dict)
    log: LogCounts = field(default_factory=LogCounts)
    media: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "kept", "left_out"), 0))
    columns: list[tuple[str, str, str]] = field(default_factory=list)
    examples: list[dict[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def import_cards(vault: Vault, source: Path, now: datetime, options: ImportOptions) -> CardsReport:
    """Import the cards of a file or folder.

    Raises: NotFound, Unreadable or UsageError before anything is written; LockHeld while another import or a compile
    runs; Refused while an agent's work is not judged; WriteFailed, after which the
    rest can be imported again.
    """
    if not source.exists():
        raise NotFound("no such file or folder", where=clean_line(str(source)))
    tree = Tree(source)
    package = opened(tree)
    found = Detected(options.format, "as specified") if options.format else detect(tree, package)
    reading = read_cards(tree, package, found.format, options, vault.settings.zone)
    report = CardsReport(found.format, found.reason, options.dry_run)
    if found.others:
        report.remarks.append(f"other files in the folder look like {found.others}: import them with --format")
    if options.dry_run:
        return _imported(replace(read_desk(vault), now=now), reading, report, options)
    with ExitStack() as held:
        held.enter_context(lock(vault.root, "import", purpose="importing", now=now))
        held.enter_context(lock(vault.root, "publish", purpose="importing", now=now, timeout_s=_PATIENCE_S))
        refuse_beside_agents(vault)
        return _imported(open_desk(vault, now, queued=False), reading, report, options)


def read_cards(tree: Tree, package: Zip | None, format_: str, options: ImportOptions, zone: tzinfo) -> Reading:
    """Return what the reader of the format finds. Raises: UsageError, Unreadable."""
    if options.columns and format_ != CSV:
        raise UsageError("--columns is for tables", where=format_, hint="use --format csv")
    match format_:
        case _ if format_ == CSV:
            return csv_table.read(tree, options.columns)
        case hashcards.HASHCARDS | hashcards.REPEATER:
            return hashcards.read(tree, format_, past_of(tree, options.database, zone))
        case obsidian_sr.FORMAT:
            return obsidian_sr.read(tree, zone, notes=options.notes, separators=options.separators)
        case _ if format_ == JSONL:
            return own_jsonl.read(tree)
        case _ if format_ == REMNOTE:
            return remnote.read(tree)
        case _ if format_ == MNEMOSYNE:
            return mnemosyne.read(package or tree, zone)
        case _ if format_ == MOCHI and package is not None:
            return mochi.read(package, zone)
    raise UsageError(f"this is not a {format_} export", where=clean_line(str(tree.path)))


def _imported(desk: Desk, reading: Reading, report: CardsReport, options: ImportOptions) -> CardsReport:
    """Import what was read; return the report."""
    report.batch = "".join(secrets.choice(ALPHABET) for _ in range(10))
    report.problems, report.columns = list(reading.problems), reading.columns
    report.remarks += reading.remarks

    def skip(card: ForeignCard, what: str, hint: str) -> None:
        report.problems.append(Diagnostic(card.path, card.line, "card-skipped", what, hint))

    pictures = _Pictures(reading, report)
    blocks = Blocks(desk, report.format, report.batch, skip, known_births(desk), options.restore)
    cards = [_in_words(card, pictures, report, options) for card in reading.cards]
    for card in cards:
        blocks.add(card)
    outcome, texts = blocks.outcome, blocks.texts()
    report.cards = {"created": outcome.created, "updated": outcome.updated, "kept": outcome.kept}
    report.cards["skipped"] = len(report.problems)
    report.decks, report.files = dict(sorted(outcome.decks.items())), sorted(texts)
    report.examples = [_example(card) for card in cards[:_EXAMPLES]]
    if not options.dry_run:
        pictures.write(desk.vault)
        _write(desk.vault, texts, outcome.births)
        desk = after(desk)
    else:
        pictures.count(desk.vault)
    log = LogEvents(desk, report.format)
    events = log.all(cards, outcome.cards)
    report.log = log.counts
    if events and not options.dry_run:
        append(desk.vault.guard(Scope.LOG), *events)
    return report


def _in_words(card: ForeignCard, pictures: _Pictures, report: CardsReport, options: ImportOptions) -> ForeignCard:
    """Return the card with its words as Markdown of ours."""

    def embed(name: str) -> str:
        return pictures.embed(name, card)

    if report.format == JSONL:  # Markdown of ours already, from a vault
        question, answer = card.question, card.answer
    else:
        html = pictures.reading.html
        question = to_markdown(card.question, embed, html=html)
        answer = None if card.answer is None else to_markdown(card.answer, embed, html=html)
        question = without_quoted_deletions(question) if answer is None else question
    learnt = card.learnt if options.history else {}
    return replace(card, question=question, answer=answer, deck=options.deck or card.deck, learnt=learnt)


def _example(card: ForeignCard) -> dict[str, str]:
    """Return what a preview shows of a card."""
    due = next((one.schedule.due.isoformat() for one in card.learnt.values() if one.schedule is not None), "")
    shown = {"question": card.question, "answer": card.answer or "", "deck": card.deck, "tags": " ".join(card.tags)}
    return {name: short_line(text, _WIDTH) for name, text in shown.items()} | {"due": due}


def _write(vault: Vault, texts: dict[str, tuple[str | None, str]], births: list[ledger.Event]) -> None:
    """Write the decks, then the ledger."""
    guard = vault.guard(Scope.LOG)
    for path in sorted(texts):
        old, new = texts[path]
        guard.write(path, new.encode(), expect=None if old is None else sha256_hex(old.encode()))
    if births:
        guard.append(ledger.IDS, b"".join(map(ledger.encode, births)))


@dataclass(slots=True)
class _Pictures:
    """The pictures and sounds of an import, by their path in the vault."""

    reading: Reading
    report: CardsReport
    _found: dict[str, bytes] = field(default_factory=dict)
    _missing: Counter[str] = field(default_factory=Counter)
    _size: int = 0

    def embed(self, name: str, card: ForeignCard) -> str:
        """Return the Markdown of a picture or sound that a card names."""
        if "://" in name:
            return escape(f"[picture: {clean_line(name)[:300]}]")
        data = self.reading.pictures(name, card.base)
        safe = safe_name(name.rsplit("/", 1)[-1], data) if data is not None else None
        if data is None or safe is None or self._size + len(data) > _MOST_MEDIA:
            self.report.media["left_out"] += not self._missing[name]
            self._missing[name] += 1
            if self._missing[name] == 1:
                what = "does not exist" if data is None else "does not match its file extension, or is too large"
                self.report.remarks.append(f"{card.path}:{card.line}: the file {clean_line(name)[:100]} {what}")
            return escape(f"[{clean_line(name)[:100]}: missing]")
        path = f"{MEDIA}/{safe}"
        self._size += len(data) if path not in self._found else 0
        self._found[path] = data
        return f"![[{path}]]"

    def write(self, vault: Vault) -> None:
        """Write what is not there yet."""
        guard = vault.guard(Scope.IMPORT)
        for path, data in sorted(self._found.items()):
            is_new = not guard.exists(path)
            if is_new:
                guard.write(path, data, expect=None)
            self.report.media["added" if is_new else "kept"] += 1

    def count(self, vault: Vault) -> None:
        """Count as `write` does, and write nothing."""
        for path in self._found:
            self.report.media["kept" if (vault.root / path).is_file() else "added"] += 1
