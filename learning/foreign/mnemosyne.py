"""Mnemosyne's exports: `.cards` of version 2 (a zip with `cards.xml`), and the XML of version 1.

A fact makes one block: both ways, with its pronunciation, or a cloze. Texts are HTML in which line ends count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo

from learning.foreign.cards import ForeignCard, Learnt, Reading, schedule_of_ease
from learning.foreign.packages import Zip
from learning.foreign.tree import MAX_TEXT, Tree, read_bytes, unique_key
from learning.foreign.xml_elements import Element, parsed
from vault.errors import Unreadable
from vault.model.card import REVERSED

ENTRY = "cards.xml"
_TAG_ENTRY, _FACT_ENTRY, _CARD_ENTRY = "10", "16", "6"  # kinds of `log` elements
_NO_TAGS = frozenset({"__UNTAGGED__", "<default>", ""})
_CLOZE = re.compile(r"\[(?P<words>[^\]:]+)(?::(?P<hint>[^\]]*))?\]")
_INDEX = re.compile(r"'index':\s*(\d{1,3})")
_SOUND = re.compile(r"<(?:audio|video|sound)\s[^<>]*?src\s*=\s*[\"']([^\"'<>]+)[\"'][^<>]*>", re.IGNORECASE)
_LATEX = re.compile(r"<(/?)(\$\$?|latex)>")
_DAY_S = 86_400
_LAST_S = 32_503_680_000  # the year 3000


def read(source: Zip | Tree, zone: tzinfo) -> Reading:
    """Return the cards of a `.cards` file or of XML. Raises: Unreadable."""
    if isinstance(source, Zip):
        root = _root(source.read(ENTRY, MAX_TEXT), source.shown)
        reading = Reading(html=True, pictures=lambda name, base: source.picture(name))
        shown = f"{source.shown}, {ENTRY}"
    else:
        shown = source.shown(source.path)
        root, reading = _root(read_bytes(source.path, MAX_TEXT), shown), Reading(html=True, pictures=source.picture)
    deck = source.shown.rsplit("/", 1)[-1].rpartition(".")[0] if isinstance(source, Zip) else source.path.stem
    keys: dict[str, int] = {}
    cards = (
        _of_version_1(root, shown, zone, reading)
        if root.tag == "mnemosyne"
        else _of_version_2(root, shown, zone, reading)
    )
    reading.cards = [unique_key(replace(card, deck=deck), keys) for card in cards]
    return reading


def _root(data: bytes, shown: str) -> Element:
    """Return the root element. Raises: Unreadable."""
    root = parsed(data, shown)
    if root.tag not in ("openSM2sync", "mnemosyne"):
        raise Unreadable("this XML file is not a Mnemosyne export", where=shown)
    return root


# --- version 2 ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Fact:
    """A fact with its cards by fact view; `rows` are the attributes of each card."""

    values: Mapping[str, str]
    line: int
    rows: list[tuple[Mapping[str, str], str]] = field(default_factory=list)  # attributes, extra data


def _of_version_2(root: Element, shown: str, zone: tzinfo, reading: Reading) -> list[ForeignCard]:
    """Return the cards of the log entries that a `.cards` file consists of."""
    tags: dict[str, str] = {}
    facts: dict[str, _Fact] = {}
    for log in root.below_named("log"):
        children = {child.tag: child.text for child in log.below}
        kind, id_ = log.get("type"), log.get("o_id")
        if kind == _TAG_ENTRY:
            tags[id_] = children.get("name", "")
        elif kind == _FACT_ENTRY:
            facts[id_] = _Fact(children, log.line)
        elif kind == _CARD_ENTRY:
            fact = facts.get(log.get("fact"))
            if fact is None:
                reading.add_problem(shown, log.line, "a card without a fact", "export it again from Mnemosyne")
            else:
                fact.rows.append((log.attributes, children.get("extra", "")))
    found = []
    for id_, fact in facts.items():
        if not fact.rows:
            continue
        card = _of_fact(id_, fact, shown, zone)
        if card is None:
            reading.add_problem(shown, fact.line, "a fact without a question, or of a card type that needs a plugin")
            continue
        names = [tags.get(tag, "") for row, _ in fact.rows for tag in row.get("tags", "").split(",")]
        found.append(_with_tags(card, names))
    return found


def _of_fact(id_: str, fact: _Fact, shown: str, zone: tzinfo) -> ForeignCard | None:
    """Return the block of a fact; None where its words are not understood."""
    values, views = fact.values, [row.get("fact_v", "") for row, _ in fact.rows]
    if text := values.get("text", ""):
        if not _CLOZE.search(text):
            return None
        learnt = {}
        for row, extra in fact.rows:
            index = _INDEX.search(extra)
            if index and (one := _learnt_2(row, zone)) is not None:
                learnt[f"c{int(index[1]) + 1}"] = one
        return ForeignCard(id_, _html(_marked(text)), None, shown, fact.line, learnt=learnt)
    front, back = values.get("f", ""), values.get("b", "") or values.get("m_1", "")
    if not front.strip() or not back.strip():
        return None
    said = [values[name] for name in ("p_1", "n") if values.get(name, "").strip()]
    answer = _html(back) + "".join(f"<blockquote>{_html(each)}</blockquote>" for each in said)
    learnt = {}
    for (row, _), view in zip(fact.rows, views, strict=True):
        name = REVERSED if view.endswith(".2") else ""
        if (one := _learnt_2(row, zone)) is not None:
            learnt[name] = one
    ways = {view.rpartition(".")[2] for view in views}
    if ways == {"2"}:  # only the way back was activated
        back_only = {"": learnt[REVERSED]} if REVERSED in learnt else {}
        return ForeignCard(id_, _html(back), _html(front), shown, fact.line, learnt=back_only)
    return ForeignCard(id_, _html(front), answer, shown, fact.line, is_reversed="2" in ways, learnt=learnt)


def _learnt_2(row: Mapping[str, str], zone: tzinfo) -> Learnt | None:
    """Return what version 2 knows of a card: seconds since 1970, -1 for none."""
    try:
        last, due, grade = int(row.get("l_rp", -1)), int(row.get("n_rp", -1)), int(row.get("gr", -1))
    except ValueError:
        return None
    if grade < 2 or not (0 < last <= _LAST_S and 0 < due <= _LAST_S):
        return None  # new, or forgotten: it is learnt from the start
    days = [datetime.fromtimestamp(second, UTC).date() for second in (last, due)]
    return _learnt(days[1], (days[1] - days[0]).days, row)


def _learnt(due: date, interval: int, row: Mapping[str, str]) -> Learnt | None:
    """Return what is known of a card that is due on a day."""
    try:
        counts = [int(row.get(name, 0)) for name in ("ac_rp", "rt_rp", "lps")]
        schedule = schedule_of_ease(due, max(interval, 1), float(row.get("e", 2.5)), counts[0] + counts[1], counts[2])
    except ValueError:
        return None
    return None if schedule is None else Learnt(schedule)


# --- version 1 ------------------------------------------------------------------------------------------------------


def _of_version_1(root: Element, shown: str, zone: tzinfo, reading: Reading) -> list[ForeignCard]:
    """Return the cards of version 1, in which the way back is an item of its own."""
    start = _number(root.get("time_of_start"))
    items = {item.get("id") or f"{n}": item for n, item in enumerate(root.below_named("item"))}
    found = []
    for id_, item in items.items():
        base, _, way = id_.rpartition(".inv") if id_.endswith(".inv") else id_.rpartition(".tr.1")
        if base and base in items and not way:
            continue  # comes with the other one
        question, answer, category = (item.text_of(name).strip() for name in ("Q", "A", "cat"))
        if not question or not answer:
            reading.add_problem(shown, item.line, f"the item has no {'answer' if question else 'question'}")
            continue
        other = items.get(f"{id_}.inv")
        if other is None:
            other = items.get(f"{id_}.tr.1")
        pairs = (("", item), (REVERSED, other))
        learnt = {name: one for name, each in pairs if each is not None and (one := _learnt_1(each, start)) is not None}
        card = ForeignCard(
            id_,
            _html(question),
            _html(answer),
            shown,
            item.line,
            is_reversed=other is not None,
            learnt=learnt,
        )
        found.append(_with_tags(card, [category]))
    return found


def _learnt_1(item: Element, start: int) -> Learnt | None:
    """Return what version 1 knows of an item: days since `start`."""
    last, due = _number(item.get("l_rp")), _number(item.get("n_rp"))
    is_new = item.get("u") == "1" or _number(item.get("gr")) < 2 or not start
    if is_new or not 0 <= start + due * _DAY_S <= _LAST_S:
        return None
    return _learnt(datetime.fromtimestamp(start + due * _DAY_S, UTC).date(), due - last, item.attributes)


def _number(text: str) -> int:
    """Return a whole number; 0 for text that is none."""
    try:
        return int(float(text or 0))
    except (ValueError, OverflowError):
        return 0


# --- words ----------------------------------------------------------------------------------------------------------


def _with_tags(card: ForeignCard, names: Sequence[str]) -> ForeignCard:
    return replace(card, tags=tuple(dict.fromkeys(name for name in names if name not in _NO_TAGS)))


def _marked(text: str) -> str:
    """Return a cloze text with Anki's marks."""
    numbers = iter(range(1, 1_000))
    return _CLOZE.sub(lambda m: f"{{{{c{next(numbers)}::{m['words']}{'::' + m['hint'] if m['hint'] else ''}}}}}", text)


def _html(text: str) -> str:
    """Return the text with line ends as breaks, formulas and sounds marked as Anki marks them."""
    marked = _SOUND.sub(r"[sound:\1]", _LATEX.sub(lambda m: f"[{m[1]}{m[2]}]", text.strip()))
    return marked.replace("\r\n", "\n").replace("\n", "<br>")
