"""Choose the paths in raw/ for files and folders to add, and skip what is not a source."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cli import output
from cli.build.in_place import sources_in_place
from cli.maintenance.init import KINDS
from compiler.sources.inventory import is_hidden, is_ignored_path
from vault.config.settings import FILE
from vault.errors import UsageError
from vault.files.folder import is_folder, named
from vault.files.write_scopes import is_conflict_copy
from vault.text.urls import looks_like_address
from vault.vault import Vault

SHOWN = 5  # names of each reason
_BY_SUFFIX = {
    **dict.fromkeys((".pdf", ".ps", ".djvu"), "papers"),
    **dict.fromkeys((".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".xls"), "datasets"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff"), "images"),
}
# Documents that name pictures by their place beside them; all of these go to articles/.
_NAMES_PICTURES = frozenset(
    ".md .markdown .mdown .mkd .mdx .qmd .rmd .html .htm .xhtml .org .tex .ltx .rst .rest .ipynb".split()
)


@dataclass(slots=True)
class Places:
    """The files to add: `found` are (file, vault path), `skipped` are paths in folders with the reason.

    `in_place` are the vault paths of sources that are in the vault already.

    `kind` is the folder of raw/ to use, None to choose by file type.
    """

    vault: Vault
    kind: str | None
    found: list[tuple[Path, str]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    in_place: list[str] = field(default_factory=list)
    count: Callable[[], None] = lambda: None  # called for each file of a folder

    def find(self, sources: Iterable[str]) -> None:
        """Add all files and folders given; the inner folders of a folder are kept. Raises UsageError."""
        for given in sources:
            self._add(given)

    def _add(self, given: str) -> None:
        """Add one file or folder."""
        if not given.strip():
            raise UsageError("the name is empty", hint="specify a file, a folder or a web address")
        source = Path(given).expanduser()
        if named(source) is None:
            web = "give a web page's address with https://" if looks_like_address(given) else ""
            raise UsageError("no such file or folder", where=given, hint=web)
        if (found := sources_in_place(self.vault, given)) is not None:
            self.in_place += found
            return
        if not is_folder(source):
            self.found.append((source, f"raw/{self.kind or _kind(source)}/{source.name}"))
        elif _is_vault(source, self.vault):
            raise UsageError(
                "this folder is itself a vault and cannot be added",
                where=given,
                hint="specify files or folders inside it",
            )
        else:
            self._add_folder(source)

    def _add_folder(self, folder: Path) -> None:
        """Add the files of a folder."""
        kind = self.kind
        repository = kind == "repos" or (kind is None and os.access(folder / ".git", os.F_OK))
        if repository:  # two of them must not lie on one another
            kind = f"repos/{folder.resolve().name}"
        before = len(self.skipped)
        paths = sorted(self._files(folder, f"raw/{kind}" if repository else "raw"))
        self._report_skipped(folder, self.skipped[before:])
        if not paths:
            raise UsageError("this folder contains no files to add", where=str(folder))
        beside = any(path.suffix.lower() in _NAMES_PICTURES for path in paths)
        for path in paths:
            inner = path.relative_to(folder)
            own = inner.parts[0] in KINDS and len(inner.parts) > 1 and not kind
            of = kind or _kind(path)
            if of == "images" and beside and not self.kind:
                of = "articles"  # where the notes go that show it: their links lead beside them
            self.found.append((path, f"raw/{inner.as_posix()}" if own else f"raw/{of}/{inner.as_posix()}"))

    def _files(self, folder: Path, to: str) -> Iterator[Path]:
        """Yield the regular files below `folder`, for the vault folder `to`; skip hidden files, links, vaults and

        folders that programs generate.
        """

        def unread(error: OSError) -> None:
            self._skip(Path(str(error.filename)), f"cannot be listed: {error.strerror}")

        for here, folders, names in os.walk(folder, onerror=unread):
            entered = []
            for name in sorted(folders):
                path = Path(here, name)
                if path.is_symlink() or name.startswith("."):
                    self._skip(path, _reason_to_skip(path))
                elif _is_vault(path, self.vault):
                    self._skip(path, "a vault")
                elif is_ignored_path(f"{to}/{path.relative_to(folder).as_posix()}"):
                    self._skip(path, "a folder of generated files")
                else:
                    entered.append(name)
            folders[:] = entered
            for path in (Path(here, name) for name in sorted(names)):
                reason = _reason_to_skip(path)
                if reason:
                    self._skip(path, reason)
                else:
                    self.count()
                    yield path

    def _skip(self, path: Path, reason: str) -> None:
        self.skipped.append({"path": str(path), "reason": reason})

    def _report_skipped(self, folder: Path, skipped: list[dict[str, str]]) -> None:
        """Report in one line what was skipped in a folder, by reason."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for one in skipped:
            by_reason[one["reason"]].append(os.path.relpath(one["path"], folder))
        groups = []
        for reason, names in by_reason.items():
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            groups.append(f"{', '.join(names[:SHOWN])}{more} ({reason})")
        if groups:
            output.say(f"  skipped in {folder}: {'; '.join(groups)}")


def _reason_to_skip(path: Path) -> str:
    """Return why a file in a folder is skipped; "" if it is not."""
    if is_hidden(path.name):
        return "hidden" if path.name.startswith(".") else "an editor's backup file"
    if is_conflict_copy(path.name):
        return "a conflicted copy"
    if path.is_symlink():
        return "a link"
    try:
        return "" if path.is_file() else "not a regular file"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _is_vault(folder: Path, ours: Vault) -> bool:
    try:
        return (folder / FILE).exists() or folder.samefile(ours.root)
    except OSError:
        return False  # nobody may look into it, so nothing in it is copied


def _kind(path: Path) -> str:
    return _BY_SUFFIX.get(path.suffix.lower(), "articles")
