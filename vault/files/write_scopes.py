"""Rules for paths: which scope may write where, and under which names; names for a version beside a file that the user
edited; whether a path is inside a folder."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cached_property, lru_cache
from pathlib import Path

from vault.errors import Refused
from vault.ids import DEVICE
from vault.text.formatting import clean_line, truncate

TEMP_PREFIX = ".retain-tmp-"
NAME_BYTES = 255
# The part of a conflict version's name before its suffix, as a pattern: `page.conflict-2026-11-22.md`.
BESIDE = r"\.conflict-[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{1,3})?"
# The same part of the copies that Syncthing, Dropbox and Nextcloud make of a file that was edited on two machines.
_SYNCED = (
    r"\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]{7})?"
    r"| \((?:[^()]+ )?conflicted copy [0-9]{4}-[0-9]{2}-[0-9]{2}[^()]*\)"
)
_BESIDE = re.compile(rf"(?P<stem>.+)(?:{BESIDE}|{_SYNCED})(?P<ending>\.[^./]+)?", re.DOTALL)

DEPTH = 32

# The folders of the user; a directory that is one of them under another name is never written either.
HUMAN_FOLDERS = ("insights", "raw")


@dataclass(frozen=True, slots=True)
class Grant:
    """A place that a scope may write: a whole tree, or (with `files`) matching files of one folder.

    `human` permits any name that a user may give; else only names that are valid everywhere. `dotted` permits names
    that begin with a dot, but never `.git` or our temporary names.
    """

    folder: tuple[str, ...]
    files: re.Pattern[str] | None = None
    human: bool = False
    dotted: bool = False

    def covers(self, parts: tuple[str, ...]) -> bool:
        """Return whether the file `parts` is in this place."""
        inside = len(parts) > len(self.folder) and parts[: len(self.folder)] == self.folder
        if self.files is None:
            return inside
        return inside and len(parts) == len(self.folder) + 1 and self.files.fullmatch(parts[-1]) is not None

    def named(self, parts: tuple[str, ...]) -> int:
        """Return how many components of `parts` the allow-list itself names."""
        return len(self.folder) if self.files is None else len(parts)

    def covers_folder(self, parts: tuple[str, ...]) -> bool:
        """Return whether the folder `parts` is this place, inside it, or on the way to it."""
        shared = min(len(parts), len(self.folder))
        return parts[:shared] == self.folder[:shared] and (self.files is None or len(parts) <= len(self.folder))


def _tree(path: str, *, human: bool = False, dotted: bool = False) -> Grant:
    return Grant(tuple(path.split("/")), human=human, dotted=dotted)


def _files(folder: str, *names: str) -> Grant:
    return Grant(tuple(folder.split("/")) if folder else (), re.compile("|".join(names)))


# What an agent may write; the sandbox, the readers' process and the schema use this list.
AGENT_FOLDERS = ("wiki", "output", "learning/flashcards", ".retain/work")
_AGENT = tuple(_tree(folder) for folder in AGENT_FOLDERS)
_PRODUCTS = _files("learning", rf"(?:_review|gaps|reading-list)(?:{BESIDE})?\.md")


class Scope(Enum):
    """Who writes: each value is the allow-list of one kind of writer; everything else is refused."""

    AGENT = _AGENT
    PUBLISHER = (*_AGENT, _tree("ledger"), _PRODUCTS, _tree(".retain"))
    LOG = (
        _files("learning", r"reviews(-[0-9]{4}(-[1-9][0-9]?)?)?\.jsonl"),
        _PRODUCTS,
        _files("output", r"promotion-queue\.md"),
        _tree("learning/flashcards", human=True),
        _files("learning/anki", r"notes\.jsonl"),
        _tree("ledger"),
        _tree(".retain"),
    )
    # Decisions of the inbox: pages and decks, the proposals for them, and the ledger.
    INBOX = (
        *(
            _tree(folder)
            for folder in ("wiki/concepts", "wiki/topics", "wiki/summaries", "wiki/answers", "output/proposals")
        ),
        _tree("learning/flashcards", human=True),
        _tree("output/proposals/learning/flashcards", human=True),
        _tree("ledger"),
        _tree(".retain"),
    )
    IMPORT = (_tree("learning/media"),)  # pictures and sounds of imported decks
    ADD = (_tree("raw", human=True),)
    INSIGHT = (_tree("insights", human=True),)  # a new note for the human, on the human's command; never an old one
    PERSONAL = (Grant((), human=True),)  # the same in the personal vault, which is the root then
    # `guard audit --restore`, likewise, in this vault and in the personal one.
    RESTORE = (_tree("insights", human=True, dotted=True), _tree("raw", human=True, dotted=True))
    RESTORE_PERSONAL = (Grant((), human=True, dotted=True),)
    # What was in an agent's folders before its run, restored under any name that the user gave it.
    RETURN = tuple(_tree(folder, human=True, dotted=True) for folder in AGENT_FOLDERS[:3])
    HOST = (
        _files(".claude", r"settings\.local\.json"),  # it names places of this machine: settings.json is committed
        _files(".codex", r"config\.toml"),
        *(_files(f"{folder}/skills/retain", r"SKILL\.md") for folder in (".claude", ".agents")),
    )  # `init --host`
    CONFIG = (_files("", r"config\.toml"),)  # the user's settings; the root is retain's folder there
    SETTINGS = (_files("", r"retain\.toml"),)  # one setting of the vault, changed in the settings screen
    UPGRADE = (_files("", r"AGENTS(?:\.new)?\.md", r"retain\.toml", r"\.gitattributes"),)  # `retain upgrade`
    STATE = (Grant(()),)  # the user's state or data of one vault; the root is that vault's folder there
    INDEX = (_tree(".retain"),)  # the root is the vault, or a folder of the user's cache
    INIT = (
        _files("", r"AGENTS\.md", r"README\.md", r"retain\.toml", r"\.gitignore", r"\.gitattributes"),
        _files("insights", r"\.gitkeep"),
        *(_tree(name) for name in ("raw", "wiki", "output", "learning", "ledger", ".retain")),
    )

    @cached_property
    def replaces(self) -> bool:
        """Return whether this scope may change or delete existing files."""
        return self not in (Scope.ADD, Scope.INIT, Scope.INSIGHT, Scope.PERSONAL)

    @cached_property
    def owns(self) -> frozenset[str]:
        """Return the user's folders that this scope may write."""
        named = {grant.folder[0] for grant in self.value if grant.folder}
        return frozenset(name for name in HUMAN_FOLDERS if self.everywhere or name in named)

    @cached_property
    def everywhere(self) -> bool:
        """Return whether the root is the personal vault, where no folder has another owner."""
        return any(grant.folder == () and grant.human for grant in self.value)

    @cached_property
    def in_vault(self) -> bool:
        """Return whether the root is the vault, so that a relative path is clear in a message."""
        return self not in (Scope.PERSONAL, Scope.RESTORE_PERSONAL, Scope.CONFIG, Scope.STATE, Scope.INIT)

    @cached_property
    def makes_root(self) -> bool:
        """Return whether this scope may create the root folder itself."""
        return self in (Scope.INIT, Scope.CONFIG, Scope.STATE, Scope.INDEX)


def split(path: str) -> tuple[str, ...]:
    """Return the components of a vault-relative POSIX path; "" is the root.

    Raises Refused for an absolute path, `..`, an empty component, NUL or undecodable bytes.
    """
    if path == "":
        return ()
    parts = tuple(path.split("/"))
    for part in parts:
        if part in ("", ".", ".."):
            raise refusal(path, "not a relative path inside the vault")
        if "\0" in part or any("\ud800" <= c <= "\udfff" for c in part):
            raise refusal(path, "the name is not valid text", hint="rename the file")
    return parts


@lru_cache(256)
def writable(path: str, scope: Scope) -> tuple[str, ...]:
    """Return the components of `path` if `scope` may write that file. Raises Refused."""
    return _granted(path, scope, Grant.covers)


def makeable(path: str, scope: Scope) -> tuple[str, ...]:
    """Return the components of `path` if `scope` may create that folder, or one on the way to it. Raises Refused."""
    return _granted(path, scope, Grant.covers_folder)


def _granted(path: str, scope: Scope, covers: Callable[[Grant, tuple[str, ...]], bool]) -> tuple[str, ...]:
    parts = split(path)
    grants = [grant for grant in scope.value if covers(grant, parts)]
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
    """Return whether the file is a log or ledger, to which lines are only appended."""
    folder = parts[:-1]
    return parts[-1].endswith(".jsonl") and (parts[0] == "ledger" or folder in (("learning",), ("learning", "anki")))


def refusal(path: str, what: str, *, hint: str = "") -> Refused:
    """Return a Refused about `path`, which is untrusted and sanitized."""
    shown = clean_line(path.encode("utf-8", "replace").decode())
    return Refused(what, where=truncate(shown, 200), hint=hint)


def _outside(parts: tuple[str, ...]) -> str:
    """Return the message for a path outside the allow-list."""
    if parts and parts[0] in HUMAN_FOLDERS:
        return f"{parts[0]}/ belongs to you; retain does not write to it"
    return "this command cannot write there"


def _check_names(path: str, parts: tuple[str, ...], grants: list[Grant]) -> None:
    """Raise Refused for an invalid name; those that the allow-list itself names are valid."""
    if len(parts) > DEPTH:
        raise refusal(path, f"the path is more than {DEPTH} folders deep")
    human, dotted = any(grant.human for grant in grants), any(grant.dotted for grant in grants)
    for name in parts[max(grant.named(parts) for grant in grants) :]:
        problem = _any_fault(name, dotted=dotted) or (None if human else _machine_fault(name))
        if problem:
            raise refusal(path, problem)


def _any_fault(name: str, *, dotted: bool) -> str | None:
    """Return what is wrong with a name that a user may have given; None if nothing."""
    if len(name.encode()) > NAME_BYTES:
        return f"the name is longer than {NAME_BYTES} bytes"
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in _BIDI for c in name):
        return "the name contains a control or text-direction character"
    if set(re.split(r"[/\\]", _CODED.sub(lambda m: chr(int(m[1], 16)), name))) & {".", ".."}:
        return "the name contains a path"
    if name.startswith(TEMP_PREFIX) or name.casefold().rstrip(". ") == ".git":
        return "the name is reserved for retain or git"
    if name.startswith(".") and name != ".gitkeep" and not dotted:
        return "the name starts with a dot"
    return None


_CODED = re.compile(r"%(2[eEfF]|5[cC])")  # . / and \ as web addresses write them
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = "\u200c\u200d"
_WINDOWS = re.compile(r'[<>:"|?*\\]')
_ESCAPE = re.compile(r"%(?:[0-9A-Fa-f]{2}|u)")
_SHORT_NAME = re.compile(r"~[0-9]")


def _machine_fault(name: str) -> str | None:
    """Return what is wrong with a name made by code; None if Obsidian, Windows and macOS accept it."""
    if unicodedata.normalize("NFC", name) != name:
        return "the name is not in Unicode's composed form (NFC)"
    if _has_hidden_character(name):
        return "the name contains an invisible character"
    if _WINDOWS.search(name) or _ESCAPE.search(name) or _SHORT_NAME.search(name):
        return 'the name contains one of \\ : * ? " < > |, a percent code such as %20, or a ~ before a digit'
    wide = unicodedata.normalize("NFKC", name)
    if name[-1] in ". " or name[0] == " " or set(wide) & set("/\\") or not wide.strip(". "):
        return "the name consists of dots or slashes, or ends in a dot or space"
    if DEVICE.fullmatch(name.split(".", 1)[0].rstrip()):
        return "the name is reserved for a device on Windows"
    if skeleton(name) in _HUMAN_SKELETONS:
        return "the name looks like one of your own folders"
    return None


def _has_hidden_character(name: str) -> bool:
    """Return whether a name has format or private characters or unusual spaces, except joiners in words."""
    for i, c in enumerate(name):
        if c in _JOINERS and 0 < i < len(name) - 1 and not name[i - 1].isascii() and not name[i + 1].isascii():
            continue
        if unicodedata.category(c) in ("Cf", "Co", "Cs") or (c != " " and c.isspace()):
            return True
    return False


# Letters that pass for another in most fonts (from Unicode's confusables), as far as the user's folder names need them.
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
    """Return `name` as a reader or a case-folding disk sees it: no case, marks, invisible or look-alike characters."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(c for c in plain if unicodedata.category(c) not in ("Mn", "Me", "Cf", "Cc"))
    return seen.translate(_LOOKS_LIKE).rstrip(". ").strip()


_HUMAN_SKELETONS = frozenset(skeleton(name) for name in HUMAN_FOLDERS)


def beside(name: str, on: date, number: int = 1) -> str:
    """Return the file name for another version of the file `name`; `number` if earlier names are taken."""
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    tail = f".conflict-{on.isoformat()}" + (f"-{number}" if number > 1 else "") + dot + ending
    while len((stem + tail).encode()) > NAME_BYTES:
        stem = stem[:-1]
    return stem.rstrip(". ") + tail


def is_conflict_copy(path: str) -> bool:
    """Return whether the file at `path` is a version beside another, so neither a page, a deck nor a source.

    Retain makes such versions where a file was edited meanwhile, and programs that sync files where two machines did.
    """
    return "conflict" in path and _BESIDE.fullmatch(path.rpartition("/")[2]) is not None


def file_of_conflict_copy(path: str) -> str:
    """Return the path of the file beside which the version at `path` is; `path` if it is no such version."""
    folder, slash, name = path.rpartition("/")
    found = _BESIDE.fullmatch(name)
    return path if found is None else f"{folder}{slash}{found['stem']}{found['ending'] or ''}"
