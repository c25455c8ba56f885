"""The folder of what may not stay: text in a fence, other bytes under a name that no program opens."""

from __future__ import annotations

import re

from compiler.agents.plan import Note, Plan
from vault.errors import Refused
from vault.files.write_scopes import Scope, writable
from vault.model.markdown import escape
from vault.text.formatting import clean, clean_line

QUARANTINE = "output/quarantine"
_MAX_NAME = 240  # bytes of a name, with what is added to it
_ALONE = 200  # texts that get a file of their own: each costs a wait for the disk
_TOGETHER = 1 << 20  # bytes, about, of a file that holds many of the others


class Quarantine:
    """The folder of one run. Its files are added to the plan as they come, its report at the end."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.folder = plan, f"{QUARANTINE}/{plan.outcome.run}"
        self._todos: list[str] = []
        self._taken: set[str] = set()  # casefolded paths of files
        self._folders: set[str] = set()  # casefolded paths of the folders above them
        self._bundles: list[list[bytes]] = []  # the pages of each file that holds many

    def take(self, path: str, data: bytes | None, line: int, why: str, todo: str = "") -> None:
        """Store the bytes of a file (None: there are none to keep), with the reason."""
        where = ""
        if data is not None:
            is_page = _is_text(data)
            page = _page(path, data, f"line {line}: {why}" if line else why) if is_page else data
            if is_page and len(self._taken) >= _ALONE and len(data) < _TOGETHER:
                where = self._bundled(page)
            else:
                where = self._place(path, "" if is_page and path.endswith(".md") else ".md" if is_page else ".bytes")
                self.plan.write(where, None, page)
        self.plan.outcome.quarantined.append(Note(shown(path), clean_line(why), line, where))
        self._todos.append(todo)

    def close(self) -> None:
        """Add the report to the plan, if there is anything to report, and the files that hold many."""
        outcome = self.plan.outcome
        for number, pages in enumerate(self._bundles, 1):
            self.plan.write(f"{self.folder}/more-{number}.md", None, b"\n".join(pages))
        if outcome.quarantined or outcome.lost:
            outcome.report = f"{self.folder}/report.md"
            self.plan.write(outcome.report, None, self._report().encode())

    def _bundled(self, page: bytes) -> str:
        """Put a page into a file with others; return its path."""
        if not self._bundles or sum(map(len, self._bundles[-1])) >= _TOGETHER:
            self._bundles.append([])
        self._bundles[-1].append(page)
        return f"{self.folder}/more-{len(self._bundles)}.md"

    def _place(self, path: str, suffix: str) -> str:
        """Return a free path for the copy that no name can make a trap of."""
        wanted = f"{self.folder}/{path}{suffix}"
        try:
            writable(wanted, Scope.PUBLISHER)
            fits = len(wanted.rsplit("/", 1)[-1].encode()) <= _MAX_NAME
        except Refused:
            fits = False
        if not fits or wanted.casefold() in self._taken | self._folders or _above(wanted) & self._taken:
            wanted = f"{self.folder}/invalid-{len(self._taken) + 1}{suffix or '.md'}"
        self._taken.add(wanted.casefold())
        self._folders |= _above(wanted)
        return wanted

    def _report(self) -> str:
        outcome = self.plan.outcome
        parts = [
            "# Quarantine",
            f"A run of `{_code(outcome.program)}` ended. The files listed here were rejected: their text was moved to"
            " this folder, where it cannot run. The previous versions were restored"
            f"{', except those listed as lost' if outcome.lost else ''}."
            " You may delete this folder after reading this report.",
        ]
        for found in outcome.lost:
            parts += [f"## Lost: `{_code(found.path)}`", f"{escape(found.message)}: {escape(found.hint)}."]
        for one, todo in zip(outcome.quarantined, self._todos, strict=True):
            parts += [
                f"## `{_code(one.path)}`" + (f", line {one.line}" if one.line else ""),
                f"Why: {escape(one.why)}.",
            ]
            parts += [f"Its text is in `{_code(one.where)}`." if one.where else "Its text was not kept."]
            parts += [f"What to do: {escape(todo)}."] if todo else []
        return "\n\n".join(parts) + "\n"


def shown(path: str) -> str:
    """Return a path as it may be shown and recorded, whatever its names hold."""
    return clean_line(path.encode("utf-8", "replace").decode())


def _above(path: str) -> set[str]:
    parts = path.casefold().split("/")
    return {"/".join(parts[:n]) for n in range(1, len(parts))}


def _code(text: str) -> str:
    """Return `text` for a code span in which nothing acts."""
    return re.sub(r"[`<>]|^[=$]", "_", shown(text)) or "_"


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _page(path: str, data: bytes, why: str) -> bytes:
    text = clean(data.decode()).replace("<%", "< %")  # a plugin looks for it in every new file, fences and all
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    ended = text if text.endswith("\n") else f"{text}\n"
    return f"# Quarantine: `{_code(path)}`\n\n{escape(why)}\n\n{fence}text\n{ended}{fence}\n".encode()
