"""Notes that are sources where they are: the table [notes] of `retain.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from vault.config.toml_file import TomlFile
from vault.text.formatting import clean_line

HERE, ABOVE = ".", ".."
HUMAN = "insights"  # the user's own notes: sources only where `folders` names them
WRITTEN = ("raw", "wiki", "learning", "output", "ledger")  # retain's own folders: never notes
_SCHEMAS = frozenset({"AGENTS.md", "AGENTS.new.md", "CLAUDE.md", "GEMINI.md"})  # what agents are told, not a note
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif")
SUFFIXES = (".md", ".pdf", *PICTURES)  # what Obsidian shows and a compile reads
_MOST = 500  # entries of a list


@dataclass(frozen=True, slots=True)
class NoteRules:
    """Which files outside `raw/` are sources in place. They are only read, never written.

    `folders` are vault paths: "." is the whole vault, ".." the folder that holds it, "../wiki" a folder beside it.
    `exclude` has paths of folders and files, and patterns with `*`. `exclude_tags` are case folded, without `#`; a tag
    below one of them counts too.
    """

    folders: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()

    def enters(self, folder: str) -> bool:
        """Return whether notes may be in this folder, a vault path; its name alone decides."""
        return self._is_inside(folder) and not self.excluded_by(folder)

    def covers(self, path: str) -> bool:
        """Return whether the file at this vault path is a source by its folder and name; its tags are not looked at."""
        name = path.rpartition("/")[2]
        if not name.lower().endswith(SUFFIXES) or (name in _SCHEMAS and path.count("/") <= path.startswith("../")):
            return False
        return self.enters(path)

    def leaves_out(self, tags: Iterable[str]) -> bool:
        """Return whether a note with these tags is left out."""
        return any(tag == out or tag.startswith(f"{out}/") for tag in tags for out in self.exclude_tags)

    def _is_inside(self, path: str) -> bool:
        parts = path.removeprefix("../").split("/")
        if any(part.startswith(".") for part in parts):
            return False
        above = path.startswith("../")
        if any(f not in (HERE, ABOVE) and (path == f or path.startswith(f"{f}/")) for f in self.folders):
            return True
        if above:
            return ABOVE in self.folders and parts[0].casefold() != HUMAN
        return HERE in self.folders and parts[0].casefold() not in (*WRITTEN, HUMAN)

    def excluded_by(self, path: str) -> str:
        """Return the entry of `exclude` that leaves out a file or folder; "" if there is none."""
        name = path.rpartition("/")[2]
        for out in self.exclude:
            if path == out or path.startswith(f"{out}/"):
                return out
            if "*" in out and (fnmatchcase(path, out) or ("/" not in out and fnmatchcase(name, out))):
                return out
        return ""


def read_rules(file: TomlFile, table: Mapping[str, Any]) -> NoteRules:
    """Return the rules in the table [notes]. Raises Damaged."""
    tags = (tag.removeprefix("#").strip("/").casefold() for tag in file.strings(table, "exclude_tags"))
    rules = NoteRules(
        tuple(_folder(file, each) for each in file.strings(table, "folders")),
        tuple(each.strip("/") for each in file.strings(table, "exclude") if each.strip("/")),
        tuple(tag for tag in tags if tag),
    )
    for key, values in (("folders", rules.folders), ("exclude", rules.exclude), ("exclude_tags", rules.exclude_tags)):
        if len(values) > _MOST:
            raise file.wrong(key, f"{key} in [notes] may have at most {_MOST} entries")
    return rules


def _folder(file: TomlFile, given: str) -> str:
    """Return a folder of notes as a vault path. Raises Damaged."""
    folder = given.rstrip("/") or HERE
    folder = folder.removeprefix("./") or HERE
    parts = folder.removeprefix("../").split("/")
    if folder in (HERE, ABOVE):
        return folder
    if {"", ".", ".."} & set(parts) or "\\" in folder or any(part.startswith(".") for part in parts):
        raise file.wrong(
            "folders", f'{clean_line(given)!r} in [notes] must be a folder like ".", "Notes" or "../Notes"'
        )
    if not folder.startswith("../") and parts[0] in WRITTEN:
        raise file.wrong("folders", f"{clean_line(given)!r} in [notes] is a folder that retain writes to")
    return folder
