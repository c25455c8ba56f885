"""How other programs read the cards that we export, written from what they document and do, for tests.

hashcards: `Q:`, `A:`, `C:` in column 0, a line of three dashes, anything else is text; a text outside of a card is an
error. repeater: cards are cut at `Q:`/`C:` in column 0 and at dashes there, then each is read with its lines trimmed,
outside of lines between backtick fences. Spaced Repetition: `::` and `:::` in a line, `?` and `??` alone on one.
"""

from __future__ import annotations

Pair = tuple[str, str]


def hashcards(text: str) -> tuple[str, list[Pair]]:
    """(the deck's name, its cards). Raises: ValueError where hashcards would refuse the file."""
    import tomllib

    lines = text.split("\n")
    if lines[0].strip() != "---":
        raise ValueError("no front matter")
    end = next(n for n, line in enumerate(lines[1:], 1) if line.strip() == "---")
    name = tomllib.loads("\n".join(lines[1:end]))["name"]
    cards: list[Pair] = []
    parts: list[list[str]] = []

    def close() -> None:
        nonlocal parts
        if len(parts) == 1:
            raise ValueError("a question without an answer")
        if parts:
            cards.append(("\n".join(parts[0]).strip(), "\n".join(parts[1]).strip()))
        parts = []

    for line in lines[end + 1 :]:
        if line.startswith("Q:"):
            close()
            parts = [[line[2:].strip()]]
        elif line.startswith("A:"):
            if len(parts) != 1:
                raise ValueError("an answer out of place")
            parts.append([line[2:].strip()])
        elif line.startswith("C:"):
            raise ValueError("a cloze")
        elif line.strip() == "---":
            close()
        elif parts:
            parts[-1].append(line)
        elif line.strip():
            raise ValueError("text outside of a card")
    close()
    return name, cards


def repeater(text: str) -> list[Pair]:
    """The cards. Raises: ValueError where repeater would."""
    blocks: list[list[str]] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith(("Q:", "C:")):
            block = [line]
            blocks.append(block)
        elif block is None and "::" in line:
            raise ValueError("a card of one line")
        elif line.startswith("---"):
            block = None
        elif block is not None:
            block.append(line)
    return [_repeater_card(block) for block in blocks]


def _repeater_card(block: list[str]) -> Pair:
    parts: dict[str, list[str]] = {}
    section, fenced = "", False
    for raw in block:
        if raw.lstrip().startswith("```"):
            fenced = not fenced
            parts[section].append(raw)
        elif fenced:
            parts[section].append(raw)
        elif raw.strip() == "---":
            break
        elif raw.strip()[:2] in ("Q:", "A:", "C:"):
            section = raw.strip()[0]
            parts[section] = [raw.strip()[2:].strip()]
        else:
            parts[section].append(raw.strip())
    found = tuple("\n".join(parts.get(name, ())).strip() for name in "QA")
    if not all(found) or "C" in parts:
        raise ValueError("not a question with an answer")
    return found[0], found[1]


def spaced_repetition(text: str) -> list[tuple[str, str, str]]:
    """(front, back, the comment with its schedule) of each card; a card of another kind has an odd front."""
    cards: list[tuple[str, str, str]] = []
    held: list[str] = []
    parted = ""
    lines = iter([*text.split("\n"), ""])
    pending = next(lines, None)
    while pending is not None:
        line, pending = pending, next(lines, None)
        if not line.strip():
            if parted:
                cards.append(_multi(held, parted))
            held, parted = [], ""
            continue
        held.append(line.rstrip())
        if _inline(line, ":::") or _inline(line, "::"):
            comment = ""
            if pending is not None and pending.startswith("<!--SR:"):
                comment, pending = pending, next(lines, None)
            if ":::" in line:
                raise ValueError("a card of two directions")
            front, back = line.split("::", 1)
            cards.append((front, back, comment))
            held, parted = [], ""
        elif line.strip() == "?" and len("\n".join(held)) > 1 and len("\n".join(held[:-1])) > 1:
            parted = "?"
        elif line.strip() == "??":
            raise ValueError("a card of two directions")
        elif line.startswith(("```", "~~~")):
            mark = line[: len(line) - len(line.lstrip(line[0]))]
            while pending is not None and not pending.startswith(mark):
                held.append(pending)
                pending = next(lines, None)
            held.append(mark)
            pending = next(lines, None)
    return cards


def _inline(line: str, mark: str) -> bool:
    at = line.find(mark)
    inside = line[:at].count("`") % 2 == 1 and line[at + len(mark) :].count("`") % 2 == 1
    return at >= 0 and not inside


def _multi(held: list[str], mark: str) -> tuple[str, str, str]:
    comment = held.pop() if held[-1].startswith("<!--SR:") else ""
    at = held.index(mark)
    return "\n".join(held[:at]), "\n".join(held[at + 1 :]), comment
