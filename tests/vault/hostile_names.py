"""Names and paths made to mislead: a seeded stream of them, for batteries that try each one."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator

_HUMANS = ("insights", "raw", "personal")
_GRANTED = ("wiki", "wiki/concepts", "output", "learning/flashcards", ".retain/work", "raw", "learning", "ledger")
_ALIKE = {"i": "іıíl1İ!ιⅰ", "n": "ոռп", "s": "ѕꜱ$5", "g": "ɡցɢ", "h": "һհ", "t": "тτ", "r": "гᴦ", "a": "аɑα", "w": "ԝѡ"}
_UNSEEN = ("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\U000e0041", "\u202e", "\u2066")
_TAILS = (".", " ", "...", " .", "::$DATA", ":x", "::$INDEX_ALLOCATION", "\u00a0", "~1", "%20", "%00", "\t")
_UP = (
    *("..", ".", "", "...", ". .", ".. ", "..\\", "\\..", "%2e%2e", "%2E.", "%252e%252e", "\uff0e\uff0e", "\u2025"),
    *("..%2f", "..%5c", "%c0%ae%c0%ae", "..;", "~", "~root", "$HOME", "C:", "\\\\?\\C:", "/", "//", "\0"),
)
_DEVICES = ("CON", "nul", "aux.md", "COM1", "lpt9.txt", "COM¹", "conin$", "PRN .x")
_OWNED = (
    *(".git", ".GIT", ".git/hooks/pre-commit", ".obsidian/app.json", ".claude/settings.json", ".codex/config.toml"),
    *("retain.toml", "AGENTS.md", "learning/reviews.jsonl", "ledger/ids.jsonl", ".retain-tmp-0123456789abcdef"),
)
_CONTROLS = ("\n", "\r", "\x1b[2J", "\x7f", "\x9b", "\u2028", "\u0085", "\ud800", "\udcff")


def hostile_paths(seed: int, count: int) -> Iterator[str]:
    """`count` paths, the same ones for the same seed."""
    random_ = random.Random(seed)
    for _ in range(count):
        yield _path(random_)


def _path(random_: random.Random) -> str:
    humans = _disguised(random_, random_.choice(_HUMANS))
    leaf = random_.choice(("mine.md", "new.md", "deep/mine.md", "deep/new.md", _odd_leaf(random_)))
    granted = random_.choice(_GRANTED)
    shape = random_.randrange(8)
    if shape == 0:
        return f"{humans}/{leaf}"
    if shape == 1:
        return f"{granted}/{random_.choice(_UP)}/{humans}/{leaf}"
    if shape == 2:
        return f"{granted}/{humans}/{leaf}"
    if shape == 3:
        ups = "/".join(random_.choice(_UP) for _ in range(random_.randrange(1, 5)))
        return f"{granted}/{ups}/{leaf}"
    if shape == 4:
        return f"{granted}/{random_.choice(_DEVICES)}/{leaf}"
    if shape == 5:
        return random_.choice(("", f"{granted}/", f"{humans}/")) + random_.choice(_OWNED)
    if shape == 6:
        return f"{granted}/{leaf}{random_.choice(_TAILS)}"
    separator = random_.choice(("/", "\\", "\u2215", "\uff0f", "//", "/./"))
    return separator.join((granted, random_.choice(_UP), humans, leaf))


def _odd_leaf(random_: random.Random) -> str:
    name = random_.choice(("note", "Überblick", "注意", "a" * random_.choice((1, 200, 252, 300))))
    middle = random_.choice((*_UNSEEN, *_CONTROLS, *_TAILS, "", "", ""))
    return f"{name}{middle}.md"


def _disguised(random_: random.Random, name: str) -> str:
    """`name` as it is, or in up to three disguises at once."""
    for _ in range(random_.randrange(4)):
        name = random_.choice(_DISGUISES)(random_, name)
    return name


def _letter_for_letter(random_: random.Random, name: str) -> str:
    return "".join(random_.choice(_ALIKE[c]) if c in _ALIKE and random_.random() < 0.3 else c for c in name)


def _with_unseen(random_: random.Random, name: str) -> str:
    at = random_.randrange(len(name) + 1)
    return name[:at] + random_.choice(_UNSEEN) + name[at:]


def _wide(random_: random.Random, name: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and random_.random() < 0.5 else c for c in name)


def _accented(random_: random.Random, name: str) -> str:
    at = random_.randrange(1, len(name) + 1)
    return unicodedata.normalize(random_.choice(("NFC", "NFD")), name[:at] + "\u0301" + name[at:])


def _escaped(random_: random.Random, name: str) -> str:
    at = random_.randrange(len(name))
    return name[:at] + f"%{ord(name[at]) & 0xFF:02x}" + name[at + 1 :]


_DISGUISES: tuple[Callable[[random.Random, str], str], ...] = (
    lambda random_, name: "".join(random_.choice((c.lower(), c.upper())) for c in name),
    lambda random_, name: name.upper(),
    lambda random_, name: name.title(),
    lambda random_, name: name + random_.choice(_TAILS),
    lambda random_, name: name[:6].upper() + "~1",
    _letter_for_letter,
    _with_unseen,
    _wide,
    _accented,
    _escaped,
)
