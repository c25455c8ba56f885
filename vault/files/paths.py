"""Rules for paths: which scope may write where, and under which names; whether a path is inside a folder."""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from pathlib import Path

from vault.errors import Refused
from vault.files.conflicts import BESIDE
from vault.ids import DEVICE
from vault.text.formatting import truncate
from vault.text.sanitize import clean_line

TEMP_PREFIX = ".retain-tmp-"
NAME_BYTES = 255
DEPTH = 32

# The folders that belong to the human; a directory that *is* one of them, under whatever name, is never written.
HUMAN_FOLDERS = ("insights", "raw")


@dataclass(frozen=True, slots=True)
class Grant:
    """A place that a scope may write: a whole tree, or (with `files`) the matching files of one folder.

    `human` says that names there are the human's own, kept as they are; elsewhere only names that code makes pass.
    `dotted` lets names begin with a dot, as those of settings do; never `.git`, nor our temporary ones.
    """

    folder: tuple[str, ...]
    files: re.Pattern[str] | None = None
    human: bool = False
    dotted: bool = False

    def covers(self, parts: tuple[str, ...]) -> bool:
        inside = len(parts) > len(self.folder) and parts[: len(self.folder)] == self.folder
        if self.files is None:
            return inside
        return inside and len(parts) == len(self.folder) + 1 and self.files.fullmatch(parts[-1]) is not None

    def named(self, parts: tuple[str, ...]) -> int:
        """How many components of `parts` the allow-list itself names, letter by letter."""
        return len(self.folder) if self.files is None else len(parts)

    def covers_folder(self, parts: tuple[str, ...]) -> bool:
        """Whether the folder `parts` is this place, inside it, or on the way to it."""
        shared = min(len(parts), len(self.folder))
        return parts[:shared] == self.folder[:shared] and (self.files is None or len(parts) <= len(self.folder))


def _tree(path: str, *, human: bool = False, dotted: bool = False) -> Grant:
    return Grant(tuple(path.split("/")), human=human, dotted=dotted)


def _files(folder: str, *names: str) -> Grant:
    return Grant(tuple(folder.split("/")) if folder else (), re.compile("|".join(names)))


# What any agent may write, and nothing else: the cage, the jail and the schema all read it here.
AGENT_FOLDERS = ("wiki", "output", "learning/flashcards", ".retain/work")
_AGENT = tuple(_tree(folder) for folder in AGENT_FOLDERS)
_PRODUCTS = _files("learning", rf"(?:_review|gaps|reading-list)(?:{BESIDE})?\.md")


class Scope(Enum):
    """Whose hand it is that writes. Each value is an allow-list; what isn't in it is refused."""

    AGENT = _AGENT
    PUBLISHER = (*_AGENT, _tree("ledger"), _PRODUCTS, _tree(".retain"))
    LOG = (
        _files("learning", r"reviews(-[0-9]{4}(-[1-9][0-9]?)?)?\.jsonl"),
        _PRODUCTS,
        _files("output", r"promotion-queue\.md"),
        _tree("learning/flashcards", human=True),
        _tree("ledger"),
        _tree(".retain"),
    )
    # What the human accepts, keeps or rejects: pages and decks, the proposals for them, and the ledger that says so.
    INBOX = (
        *(_tree(folder) for folder in ("wiki/concepts", "wiki/topics", "wiki/summaries", "output/proposals")),
        _tree("learning/flashcards", human=True),
        _tree("output/proposals/learning/flashcards", human=True),
        _tree("ledger"),
        _tree(".retain"),
    )
    IMPORT = (_tree("learning/media"),)  # pictures and sounds of decks that the human brings home
    ADD = (_tree("raw", human=True),)
    INSIGHT = (_tree("insights", human=True),)  # a new note for the human, on the human's command; never an old one
    PERSONAL = (Grant((), human=True),)  # the same in the personal vault, which is the root then
    # `guard audit --restore`, likewise, in this vault and in the personal one.
    RESTORE = (_tree("insights", human=True, dotted=True), _tree("raw", human=True, dotted=True))
    RESTORE_PERSONAL = (Grant((), human=True, dotted=True),)
    # What stood in an agent's folders before it came, put back under the name that a human may have given it.
    RETURN = tuple(_tree(folder, human=True, dotted=True) for folder in AGENT_FOLDERS[:3])
    HOST = (
        _files(".claude", r"settings\.local\.json"),  # it names places of this machine: settings.json is committed
        _files(".codex", r"config\.toml"),
    )  # `init --host`
    CONFIG = (_files("", r"config\.toml"),)  # the user's settings; the root is retain's folder there
    SETTINGS = (_files("", r"retain\.toml"),)  # one line of the vault's, on the human's word in the settings screen
    STATE = (Grant(()),)  # the user's state of one vault; the root is that vault's folder there
    INIT = (
        _files("", r"AGENTS\.md", r"README\.md", r"retain\.toml", r"\.gitignore", r"\.gitattributes"),
        _files("insights", r"\.gitkeep"),
        *(_tree(name) for name in ("raw", "wiki", "output", "learning", "ledger", ".retain")),
    )

    @cached_property
    def replaces(self) -> bool:
        """Whether this hand may change or remove a file that is already there."""
        return self not in (Scope.ADD, Scope.INIT, Scope.INSIGHT, Scope.PERSONAL)

    @cached_property
    def owns(self) -> frozenset[str]:
        """Those of the human's folders that the allow-list opens to this hand by their own names."""
        named = {grant.folder[0] for grant in self.value if grant.folder}
        return frozenset(name for name in HUMAN_FOLDERS if self.everywhere or name in named)

    @cached_property
    def everywhere(self) -> bool:
        """Whether the root is the human's own vault, in which no folder has another owner."""
        return any(grant.folder == () and grant.human for grant in self.value)

    @cached_property
    def in_vault(self) -> bool:
        """Whether the root is the vault that the human works in: there, a path says by itself where it is."""
        return self not in (Scope.PERSONAL, Scope.RESTORE_PERSONAL, Scope.CONFIG, Scope.STATE, Scope.INIT)

    @cached_property
    def makes_root(self) -> bool:
        """Whether this hand may make the root folder itself."""
        return self in (Scope.INIT, Scope.CONFIG, Scope.STATE)


def split(path: str) -> tuple[str, ...]:
    """The components of a vault-relative POSIX path that stays below the root; "" is the root itself.

    Raises: Refused for an absolute path, `..`, an empty component, NUL or undecodable bytes.
    """
    if path == "":
        return ()
    parts = tuple(path.split("/"))
    for part in parts:
        if part in ("", ".", ".."):
            raise refusal(path, "not a plain path inside the vault")
        if "\0" in part or any("\ud800" <= c <= "\udfff" for c in part):
            raise refusal(path, "the name holds bytes that are not text", hint="rename the file")
    return parts


@lru_cache(256)
def writable(path: str, scope: Scope) -> tuple[str, ...]:
    """The components of `path` if `scope` may write that file; Refused says why not."""
    parts = split(path)
    grants = [grant for grant in scope.value if grant.covers(parts)]
    if not grants:
        raise refusal(path, _outside(parts))
    _check_names(path, parts, grants)
    return parts


def makeable(path: str, scope: Scope) -> tuple[str, ...]:
    """The components of `path` if `scope` may make that folder (or one on the way to it); Refused says why not."""
    parts = split(path)
    grants = [grant for grant in scope.value if grant.covers_folder(parts)]
    if not grants:
        raise refusal(path, _outside(parts))
    _check_names(path, parts, grants)
    return parts


def is_within(path: str | os.PathLike[str], folder: str | os.PathLike[str], *, on_disk: bool = False) -> bool:
    """Return whether `path` is `folder` or is inside it; neither needs to exist.

    Only their text is compared: both are absolute, without `..` and symbolic links. With `on_disk`, links are resolved
    and a folder under another name (a disk that ignores case, a bind mount) is recognized by device and inode.
    """
    if on_disk:
        path, folder = os.path.realpath(path), os.path.realpath(folder)
    inner, outer = Path(path), Path(folder)
    if inner == outer or outer in inner.parents:
        return True
    return on_disk and any(_is_same_folder(above, outer) for above in (inner, *inner.parents))


def _is_same_folder(path: Path, other: Path) -> bool:
    with suppress(OSError):
        return path.samefile(other)
    return False


def is_append_only(parts: tuple[str, ...]) -> bool:
    """Whether the file is a log or ledger: it only ever grows, line by line. No log is in a folder of learning/."""
    return parts[-1].endswith(".jsonl") and (parts[0] == "ledger" or (parts[0] == "learning" and len(parts) == 2))


def refusal(path: str, what: str, *, hint: str = "") -> Refused:
    """A Refused about `path`, which may be hostile and is cleaned for the screen."""
    shown = clean_line(path.encode("utf-8", "replace").decode())
    return Refused(what, where=truncate(shown, 200), hint=hint)


def _outside(parts: tuple[str, ...]) -> str:
    if parts and parts[0] in HUMAN_FOLDERS:
        return f"{parts[0]}/ is the human's; nothing is written there"
    return "this command may not write there"


def _check_names(path: str, parts: tuple[str, ...], grants: list[Grant]) -> None:
    """Refused for a name that is unfit; those that the allow-list names itself are fit."""
    if len(parts) > DEPTH:
        raise refusal(path, f"more than {DEPTH} folders deep")
    human, dotted = any(grant.human for grant in grants), any(grant.dotted for grant in grants)
    for name in parts[max(grant.named(parts) for grant in grants) :]:
        problem = _any_fault(name, dotted=dotted) or (None if human else _machine_fault(name))
        if problem:
            raise refusal(path, problem)


def _any_fault(name: str, *, dotted: bool) -> str | None:
    """What is wrong with a name, whoever gave it; None if nothing."""
    if len(name.encode()) > NAME_BYTES:
        return f"a name longer than {NAME_BYTES} bytes"
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in _BIDI for c in name):
        return "a control or direction character in the name"
    if set(re.split(r"[/\\]", _CODED.sub(lambda m: chr(int(m[1], 16)), name))) & {".", ".."}:
        return "a path hidden in the name"
    if name.startswith(TEMP_PREFIX) or name.casefold().rstrip(". ") == ".git":
        return "a name that retain or git keeps for itself"
    if name.startswith(".") and name != ".gitkeep" and not dotted:
        return "a name that starts with a dot"
    return None


_CODED = re.compile(r"%(2[eEfF]|5[cC])")  # . / and \ as web addresses write them
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = "\u200c\u200d"
_WINDOWS = re.compile(r'[<>:"|?*\\]')
_ESCAPE = re.compile(r"%(?:[0-9A-Fa-f]{2}|u)")
_SHORT_NAME = re.compile(r"~[0-9]")


def _machine_fault(name: str) -> str | None:
    """What is wrong with a name that code made; None if nothing. Obsidian, Windows and macOS can hold what passes."""
    if unicodedata.normalize("NFC", name) != name:
        return "a name that is not in Unicode's composed form (NFC)"
    if _has_hidden_character(name):
        return "an invisible character in the name"
    if _WINDOWS.search(name) or _ESCAPE.search(name) or _SHORT_NAME.search(name):
        return 'one of \\ : * ? " < > |, a %-escape or a ~1 in the name'
    wide = unicodedata.normalize("NFKC", name)
    if name[-1] in ". " or name[0] == " " or set(wide) & set("/\\") or not wide.strip(". "):
        return "a name of dots or slashes, or one that ends in a dot or space"
    if DEVICE.fullmatch(name.split(".", 1)[0].rstrip()):
        return "the name of a device"
    if skeleton(name) in _HUMAN_SKELETONS:
        return "a name that looks like one of the human's folders"
    return None


def _has_hidden_character(name: str) -> bool:
    """Format or private characters, odd spaces; a joiner between two letters of other scripts is a letter."""
    for i, c in enumerate(name):
        if c in _JOINERS and 0 < i < len(name) - 1 and not name[i - 1].isascii() and not name[i + 1].isascii():
            continue
        if unicodedata.category(c) in ("Cf", "Co", "Cs") or (c != " " and c.isspace()):
            return True
    return False


# Letters that pass for another in most fonts (from Unicode's confusables, those that the human's folder names need).
_LOOKS_LIKE = str.maketrans(
    {
        **dict.fromkeys("l1|!íіıɩιӏוߊ", "i"),
        **dict.fromkeys("пոռ", "n"),
        **dict.fromkeys("ѕꜱ5$", "s"),
        **dict.fromkeys("ɡցɢ9", "g"),
        **dict.fromkeys("һհʜ", "h"),
        **dict.fromkeys("тτᴛ", "t"),
        **dict.fromkeys("гᴦɾ", "r"),
        **dict.fromkeys("аɑαᴀ", "a"),
        **dict.fromkeys("ԝѡɯωшᴡ", "w"),
    }
)


def skeleton(name: str) -> str:
    """`name` as a hurried eye or a case-folding disk sees it: no case, no marks, nothing invisible, no look-alikes."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(c for c in plain if unicodedata.category(c) not in ("Mn", "Me", "Cf", "Cc"))
    return seen.translate(_LOOKS_LIKE).rstrip(". ").strip()


_HUMAN_SKELETONS = frozenset(skeleton(name) for name in HUMAN_FOLDERS)
