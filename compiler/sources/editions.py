"""Which of two documents with largely the same text is the newer edition, by what they say of themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from compiler.language.lexicon import pattern
from compiler.language.quantities import quantities
from vault.model.source import SourceText
from vault.text.formatting import fold

_VERSION = re.compile(pattern("editions_version").pattern, re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-_.]?(0[1-9]|1[0-2])(?:[-_.]?(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_FRONT = 1_500  # characters in which a document says of what day it is
_LINE = 60  # characters; in a longer line a date belongs to what is told
_WORDS = 4  # of a line that gives a date, with the month: "Last updated 3 May 2024"
_DRAFT = re.compile(r"\b(?:draft|preliminary|entwurf|vorläufig)\b|草稿|草案|征求意见稿", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marks:
    """What marks an edition. `names` are its title and file name without marks; dates are ISO or their beginning."""

    names: frozenset[str]
    version: tuple[int, ...] = ()
    published: str = ""
    named: str = ""  # the date in the title or file name
    dated: str = ""  # the date in the text
    is_draft: bool = False


def marks_of(source: SourceText, path: str) -> Marks:
    """Return what a source at `path` says of its edition."""
    words = (source.title, PurePosixPath(path).stem.replace("_", " "))
    version = next((found for w in words if (found := _version(w))), ())
    without = (_VERSION.sub(" ", w) for w in words)
    dates = [_DATE.search(w) for w in (_VERSION.sub(" ", w) for w in words)]
    named = next(("-".join(filter(None, m.groups())) for m in dates if m), "")
    names = frozenset(" ".join(re.findall(r"[^\W_]+", _DATE.sub(" ", w).casefold())) for w in without)
    draft = any(_DRAFT.search(w) for w in words)
    dated = _dated(source.text[:_FRONT])
    return Marks(names - {""}, version, source.properties.get("published", ""), named, dated, draft)


def newer(one: Marks, other: Marks) -> str:
    """Return why `one` is the newer edition of the document that both are; "" if it is not, or nothing says so."""
    if not one.names & other.names or one.is_draft != other.is_draft:
        return ""
    signs = [
        ("published {}, the older one {}", one.published, other.published),
        ("dated {}, the older one {}", one.named, other.named),
    ]
    found = [(text, a, b) for text, a, b in signs if are_comparable(a, b)]
    verdicts = [(a > b, text.format(a, b)) for text, a, b in found]
    if one.version and other.version and one.version != other.version:
        shown = (".".join(map(str, v)) for v in (one.version, other.version))
        verdicts.append((one.version > other.version, "version {}, the older one {}".format(*shown)))
    if not verdicts and are_comparable(one.dated, other.dated):
        verdicts.append((one.dated > other.dated, f"dated {one.dated}, the older one {other.dated}"))
    return verdicts[0][1] if verdicts and all(later for later, _ in verdicts) else ""


def _version(words: str) -> tuple[int, ...]:
    """Return the version or edition that a title or file name states, () if it states none."""
    found = _VERSION.search(words)
    number = next((g for g in found.groups() if g), "") if found else ""
    return tuple(int(part) for part in re.findall(r"\d+", number))


def are_comparable(one: str, other: str) -> bool:
    """Return whether two dates are known well enough to tell which is later."""
    return bool(one and other) and not one.startswith(other) and not other.startswith(one)


def _dated(text: str) -> str:
    """Return the only day that stands in the short lines with which a text begins, "" if there is none or several."""
    days = set()
    for line in text.split("\n"):
        if len(fold(line)) <= _LINE and len(re.findall(r"[^\W\d_]+", line)) <= _WORDS:
            days |= {
                "-".join([str(d.year), f"{d.month:02}", *([f"{d.day:02}"] if d.day else [])])
                for d in quantities(line).days
                if d.year
            }
    return days.pop() if len(days) == 1 else ""
