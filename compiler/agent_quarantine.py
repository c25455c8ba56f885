"""What failed, laid aside so that nothing in it acts: text in a fence, other bytes under a name no program opens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.agent_plan import NOT_KEPT, Plan, Quarantined
from compiler.agent_settling import QUARANTINE
from vault.clean import clean, clean_line
from vault.errors import Refused
from vault.markdown import escape
from vault.safe_path import Scope, writable

_MAX_NAME = 240  # bytes of a name, with what is added to it
_ALONE = 200  # texts that get a file of their own: each costs a wait for the disk, and nobody opens a thousand
_TOGETHER = 1 << 20  # bytes, about, of a file that holds many of the others


class Quarantine:
    """The folder of one run. Its files are put on the plan as they come, its report at the end."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.folder = f"{QUARANTINE}/{plan.run}"
        self._notes: list[tuple[Quarantined, str]] = []
        self._files: set[str] = set()  # what is laid here, casefolded, and the folders above it
        self._above: set[str] = set()
        self._bundles: list[list[bytes]] = []  # the pages of each file that holds many

    def take(self, path: str, data: bytes | None, reasons: Sequence[tuple[int, str]], todo: str = "") -> None:
        """Lay the bytes of a file aside (None: there are none to keep), with each (line, why)."""
        words = "\n".join(f"- {_at(line)}{why}" for line, why in reasons)
        where = ""
        if data is not None and len(self._files) >= _ALONE and len(data) < _TOGETHER and _is_text(data):
            where = self._bundled(_page(path, data, words))
        elif data is not None:
            where = self._place(path, data)
            self.plan.puts[where] = (None, _page(path, data, words) if where.endswith(".md") else data)
        for line, why in reasons:
            one = Quarantined(shown(path), line, clean_line(why), where)
            self.plan.quarantined.append(one)
            self._notes.append((one, todo))

    def close(self) -> None:
        """Put the report on the plan, if anything failed, and the files that hold many."""
        for number, pages in enumerate(self._bundles, 1):
            self.plan.puts[f"{self.folder}/more-{number}.md"] = (None, b"\n".join(pages))
        if self._notes or any(found.code == NOT_KEPT for found in self.plan.findings):
            self.plan.report = f"{self.folder}/report.md"
            self.plan.puts[self.plan.report] = (None, self._report().encode())

    def _bundled(self, page: bytes) -> str:
        """Put a page into a file with others; its path."""
        if not self._bundles or sum(map(len, self._bundles[-1])) >= _TOGETHER:
            self._bundles.append([])
        self._bundles[-1].append(page)
        return f"{self.folder}/more-{len(self._bundles)}.md"

    def _place(self, path: str, data: bytes) -> str:
        """A path for the copy that no name can make a trap of."""
        suffix = "" if _is_text(data) and path.endswith(".md") else ".md" if _is_text(data) else ".bytes"
        wanted = f"{self.folder}/{path}{suffix}"
        try:
            writable(wanted, Scope.PUBLISHER)
            fits = len(wanted.rsplit("/", 1)[-1].encode()) <= _MAX_NAME
        except Refused:
            fits = False
        if not fits or not self._free(wanted):
            wanted = f"{self.folder}/odd-{len(self._files) + 1}{'.md' if _is_text(data) else '.bytes'}"
        parts = wanted.casefold().split("/")
        self._files.add(wanted.casefold())
        self._above |= {"/".join(parts[:n]) for n in range(1, len(parts))}
        return wanted

    def _free(self, wanted: str) -> bool:
        """Whether a file can have this path beside those that are laid here: none is it, or is a folder of it."""
        parts = wanted.casefold().split("/")
        above = {"/".join(parts[:n]) for n in range(1, len(parts))}
        return not ({wanted.casefold()} & (self._files | self._above) or above & self._files)

    def _report(self) -> str:
        lost = [found for found in self.plan.findings if found.code == NOT_KEPT]
        back = "What stood in its place before is put back."
        if lost:
            back = "What stood in its place before is put back, but for what is named as lost."
        parts = [
            "# What was set aside",
            f"A run of `{_code(self.plan.program)}` ended. What is listed here failed a gate: its text lies in this"
            f" folder, where nothing of it acts. {back} You may delete this folder when you have read it.",
        ]
        for found in lost:
            parts += [f"## Lost: `{_code(found.path)}`", f"{escape(found.message)}: {escape(found.hint)}."]
        for one, todo in self._notes:
            place = f"`{_code(one.path)}`" + (f", line {one.line}" if one.line else "")
            lines = [f"## {place}", f"Why: {escape(one.why)}."]
            lines += [f"Its text: `{_code(one.where)}`"] if one.where else ["Its text was not kept."]
            lines += [f"What to do: {escape(todo)}."] if todo else []
            parts += lines
        return "\n\n".join(parts) + "\n"


def shown(path: str) -> str:
    """A path as it may be shown and taken down, whatever its names hold."""
    return clean_line(path.encode("utf-8", "replace").decode())


def _at(line: int) -> str:
    return f"line {line}: " if line else ""


def _code(text: str) -> str:
    """`text` for a code span in which nothing acts."""
    return re.sub(r"[`<>]|^[=$]", "_", shown(text)) or "_"


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _page(path: str, data: bytes, words: str) -> bytes:
    text = clean(data.decode()).replace("<%", "< %")  # a plugin looks for it in every new file, fences and all
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    why = "\n".join(
        escape(line) if not line.startswith("- ") else f"- {escape(line[2:])}" for line in words.split("\n")
    )
    ended = text if text.endswith("\n") else f"{text}\n"
    return f"# Set aside: `{_code(path)}`\n\n{why}\n\n{fence}text\n{ended}{fence}\n".encode()
