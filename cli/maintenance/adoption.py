"""What `retain init --adopt` finds in a folder of notes: sources, notes that are left out, and cards."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from compiler.sources.inventory import scan
from compiler.sources.notes import MOST_BYTES, NoteFacts, facts_of
from learning.foreign import obsidian_sr
from learning.foreign.tree import Tree
from learning.imports.blocks import variants_of
from vault.config.notes import ABOVE, HERE, HUMAN, PICTURES, WRITTEN, NoteRules
from vault.errors import Unreadable, UsageError
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

BESIDE = "retain"  # the folder of the vault where the names of its own folders are taken
OWN_TAGS = ("insight", "insights", "private")  # of notes that are the user's own: no source unless the user says so
_TAKEN = tuple(name for name in WRITTEN if name != "raw")
_SETTINGS = (  # of Obsidian: file, and the key with the folder of templates
    (".obsidian/templates.json", "folder"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)
_APP = ".obsidian/app.json"
_MOST_SETTINGS = 1 << 20
# Pages of a wiki that another tool compiles which list or sum up what the articles say.
_LISTS = ("index.md", "log.md", "_index.md", "_log.md", "_concepts.md", "_graph.md", "hot.md", "overview.md")
_REPEATS = ("sources", "summaries", "queries", "answers")
_MOST_SHOWN = 12


@dataclass(slots=True)
class Adoption:
    """A folder of notes and its vault: `root` is the vault's folder, `rules` say what it reads of the notes."""

    folder: Path
    root: Path
    rules: NoteRules
    notes: int = 0
    pictures: int = 0
    others: int = 0  # documents beside the notes
    folders: Counter[str] = field(default_factory=Counter)  # notes by their first folder
    left_out: Counter[str] = field(default_factory=Counter)  # notes by what leaves them out
    cards: int = 0  # of Obsidian's plugin Spaced Repetition
    scheduled: int = 0  # of those
    notes_with_cards: int = 0
    is_wiki: bool = False  # that another tool compiles

    @property
    def is_beside(self) -> bool:
        """Return whether the vault is a folder among the notes, and not the folder of the notes itself."""
        return self.root != self.folder


def survey(folder: Path, exclude: Iterable[str], exclude_tags: Iterable[str], count: Callable[[], None]) -> Adoption:
    """Return what adopting a folder means. `exclude` are its folders, files and patterns that are no sources.

    Nothing is written. Raises: UsageError for an excluded path that is not there.
    """
    taken = [name for name in _names(folder) if name.casefold() in _TAKEN and _holds_files(folder / name)]
    root = folder / BESIDE if taken else folder
    prefix = "../" if taken else ""
    is_wiki = "wiki" in taken and any((folder / "wiki").rglob("*.md"))
    tops = [f"{prefix}wiki"] if is_wiki else [ABOVE if taken else HERE]
    out = [*_obsidian_excludes(folder), *(_wiki_excludes(folder) if is_wiki else ())]
    given = [_checked(folder, each) for each in exclude]
    tags = (tag.removeprefix("#").strip("/").casefold() for tag in (*OWN_TAGS, *exclude_tags))
    left_out = dict.fromkeys(_prefixed(prefix, each) for each in (*out, *given))
    rules = NoteRules(tuple(tops), tuple(left_out), tuple(dict.fromkeys(tags)))
    found = Adoption(folder, root, rules, is_wiki=is_wiki)
    _count_all(found, prefix, count)
    return found


def survey_again(
    vault: Vault, folder: Path, exclude: Iterable[str], exclude_tags: Iterable[str], count: Callable[[], None]
) -> Adoption:
    """Return the same for a vault that is there: by its own rules, if it has some, and what is excluded now."""
    prefix, rules = "../" if vault.root != folder else "", vault.settings.notes
    if not rules.folders:
        rules = NoteRules((ABOVE if prefix else HERE,), tuple(_obsidian_excludes(folder)), OWN_TAGS)
    out = (_prefixed(prefix, _checked(folder, each)) for each in exclude)
    tags = (tag.removeprefix("#").strip("/").casefold() for tag in exclude_tags)
    rules = NoteRules(
        rules.folders, tuple(dict.fromkeys((*rules.exclude, *out))), tuple(dict.fromkeys((*rules.exclude_tags, *tags)))
    )
    found = Adoption(folder, vault.root, rules, is_wiki=any(each.endswith("/wiki") for each in rules.folders))
    _count_all(found, prefix, count)
    return found


def _count_all(found: Adoption, prefix: str, count: Callable[[], None]) -> None:
    """Count the notes and cards of a folder; those that the rules leave out, too."""
    top = ABOVE if prefix else HERE
    base = next(path for path in found.folder.iterdir() if path.is_dir()) if prefix else found.folder  # of the paths
    everything = NoteRules((top, f"{prefix}{HUMAN}"), (f"../{found.root.name}",))
    for path in (file.path for file in scan(base, "" if top == HERE else top, everything).files):
        if not path.lower().endswith(".md"):
            if found.rules.covers(path):
                is_picture = path.lower().endswith(PICTURES)
                found.pictures += is_picture
                found.others += not is_picture
            continue
        count()
        data = _bytes(base / path)
        facts = facts_of(data)
        inner = path.removeprefix(prefix)
        if why := _reason(found.rules, path, inner, facts):
            found.left_out[why] += 1
        else:
            found.notes += 1
            found.folders[f"{inner.partition('/')[0]}/" if "/" in inner else "not in any folder"] += 1
    _count_cards(found)


def _count_cards(found: Adoption) -> None:
    """Count the cards that `retain import cards` would import from the notes."""
    try:
        cards = obsidian_sr.read(Tree(found.folder), UTC).cards  # the zone only dates reviews
    except Unreadable:  # too many files: the import will say so
        return
    found.cards = sum(len(variants_of(card)) for card in cards)
    found.scheduled = sum(len(card.learnt) for card in cards)
    found.notes_with_cards = len({card.path for card in cards})


def _reason(rules: NoteRules, path: str, inner: str, facts: NoteFacts) -> str:
    """Return why a note is no source; "" if it is one."""
    if not rules.covers(path):
        above = inner.partition("/")[0]
        if above == HUMAN:
            return f"{HUMAN}/, your own notes"
        return rules.excluded_by(path).removeprefix("../") or f"{above if '/' in inner else inner}, elsewhere"
    if not facts.learning:
        return "learning: false"
    if not facts.has_words:
        return "empty, or only pictures"
    return next((f"#{tag}" for tag in rules.exclude_tags if NoteRules(exclude_tags=(tag,)).leaves_out(facts.tags)), "")


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return b""  # a compile will report it


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _holds_files(folder: Path) -> bool:
    return any(names for _, _, names in os.walk(folder))


def _obsidian_excludes(folder: Path) -> Iterator[str]:
    """Yield the folders of templates in Obsidian's settings, and what they exclude from searches."""
    for path, key in _SETTINGS:
        yield from _folders_there(folder, [_settings(folder / path).get(key)])
    ignored = _settings(folder / _APP).get("userIgnoreFilters")
    yield from _folders_there(folder, ignored if isinstance(ignored, list) else [])


def _settings(path: Path) -> dict[str, object]:
    """Return a settings file of Obsidian; empty if there is none, or it cannot be read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MOST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _folders_there(folder: Path, given: Iterable[object]) -> Iterator[str]:
    """Yield those of some paths in settings that are files or folders of the vault."""
    for each in given:
        path = each.strip().strip("/") if isinstance(each, str) else ""
        plain = path and clean_line(path) == path and not {"", ".", ".."} & set(path.split("/"))
        if plain and (folder / path).exists():
            yield path


def _wiki_excludes(folder: Path) -> Iterator[str]:
    """Yield the pages of another tool's wiki that are lists, logs and summaries of sources."""
    yield from (f"wiki/{name}" for name in (*_LISTS, *_REPEATS) if (folder / "wiki" / name).exists())


def _checked(folder: Path, given: str) -> str:
    """Return an excluded path or pattern as seen from the folder. Raises: UsageError."""
    path = clean_line(given).strip("/").removeprefix("./")
    absolute = Path(given).expanduser()
    if absolute.is_absolute() and absolute.is_relative_to(folder):
        path = absolute.relative_to(folder).as_posix()
    if not path or ".." in path.split("/"):
        raise UsageError("not a folder, file or pattern among the notes", where=given, hint="--exclude Templates")
    if "*" not in path and not (folder / path).exists():
        raise UsageError("no such file or folder among the notes", where=given, hint=f"give its path in {folder}")
    return path


def _prefixed(prefix: str, path: str) -> str:
    """Return an excluded path as the vault sees it; a pattern for names holds anywhere."""
    return path if "*" in path and "/" not in path else prefix + path


def preview(found: Adoption) -> list[str]:
    """Return the lines that say what becomes a source, what does not, and which cards are there."""
    kinds = [plural(found.notes, "note")]
    kinds += [plural(n, kind) for n, kind in ((found.pictures, "picture"), (found.others, "document")) if n]
    where = "articles of a wiki that another tool compiles" if found.is_wiki else "used as sources where they are"
    lines = [f"{where}, read-only: {', '.join(kinds)}"]
    lines += _table(found.folders, "  {0}: {1}")
    lines += ["left out:", *_table(found.left_out, "  {0}: {1}")] if found.left_out else []
    if found.is_beside:
        why = "because this folder already contains folders with names that it needs"
        lines.append(f"the vault is in {found.root}, {why}; nothing is written anywhere else")
    if found.cards:
        notes = plural(found.notes_with_cards, "note")
        words = f"{plural(found.cards, 'card')} for the Spaced Repetition plugin in {notes}"
        lines.append(f"{words}, {found.scheduled} with a schedule: import them with `retain import cards FOLDER`")
    return lines


def _table(counts: Counter[str], form: str) -> list[str]:
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    lines = [form.format(clean_line(name), plural(count, "note")) for name, count in rows[:_MOST_SHOWN]]
    return [*lines, f"  and {len(rows) - _MOST_SHOWN} more"] if len(rows) > _MOST_SHOWN else lines
