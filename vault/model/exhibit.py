"""Exhibits: the picture, code or formula that a source shows with a claim, rendered to Markdown and parsed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from vault.model.markdown import escape
from vault.model.wikilink import alias
from vault.text.formatting import fold, plural, truncate

ASSETS = "wiki/assets"
MAX_CAPTION = 200  # characters
MAX_TARGET = 300
MAX_CODE_LINES = 40
MAX_CODE = 4_000  # characters
MAX_FORMULA = 600

# Languages whose fences only show code. Any other word could be one that a plugin of Obsidian's runs or draws.
LANGUAGES = frozenset(
    "python py python3 pycon ipython r julia c h cpp c++ cxx cs csharp fsharp java kotlin scala go golang rust rs zig "
    "javascript js jsx typescript ts tsx ruby rb php perl lua swift objective-c bash sh zsh fish shell console "
    "powershell bat sql html xml css scss json yaml yml toml ini haskell hs ocaml ml elixir erlang clojure lisp scheme "
    "racket matlab octave fortran pascal ada asm nasm llvm cuda opencl glsl wgsl dockerfile makefile make cmake diff "
    "patch graphql proto nix dart groovy prolog verilog vhdl tex latex bibtex regex abap cobol awk sed vim stan".split()
)
UNNAMED = "code"  # the fence of code in a language that is not known

_EMBED = re.compile(r"!\[\[(?P<target>wiki/assets/[^\[\]|#^\n\\]+)(?:\|(?P<caption>[^\[\]\n]*))?\]\]")
_LEFT = re.compile(r"Not copied: `(?P<target>[^`\n]+)`(?: \((?P<caption>.+)\))?")
# A formula whose text part is a sentence of three words or more is a sentence in disguise.
_SPEAKS = r"(?![^$`\n]*\\(?:text\w*|mbox|mathrm|hbox|fbox)\s*\{[^{}]*\w\s+[^{}]*\w\s+\w)"
_FORMULA = re.compile(rf"\$\${_SPEAKS}(?P<tex>[^$`\n]+)\$\$")
_FENCE = re.compile(r"(?P<fence>`{3,})(?P<language>[\w+#.-]+)")
_SIZE = re.compile(r"[\dxX\s]+")  # what Obsidian would take for the width of a picture
_COPY = re.compile(rf"{ASSETS}/[^/]+-([0-9a-f]{{12}})\.(?:png|jpg|gif|webp|svg)")
# Lines that mean something to the reader of summaries or decks even where they stand inside a fence; and what a
# plugin for templates runs wherever it stands.
_TAKEN_AMISS = re.compile(
    r"^\s*\[!|(?:<!--|%%)\s*card\b|^\\[QA]:|\[\[wiki/|^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)|<%", re.MULTILINE
)


class ExhibitKind(StrEnum):
    """What is shown."""

    PICTURE = "picture"
    CODE = "code"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One picture, code listing or formula.

    A picture's `content` is the vault path of its copy, or where it lies if there is none, and its `note` the
    caption; code's are its lines and its language ("" if unknown); a formula's `content` is LaTeX without dollars.
    """

    kind: ExhibitKind
    content: str
    note: str = ""

    @property
    def copied(self) -> bool:
        """Return whether all of it is in the vault; false for a picture that is only named."""
        return self.kind is not ExhibitKind.PICTURE or self.content.startswith(f"{ASSETS}/")

    def __str__(self) -> str:
        """Return one line for a screen without pictures; the words are raw and must be cleaned before display."""
        if self.kind is ExhibitKind.PICTURE:
            return f"[picture: {', '.join(filter(None, (self.note, self.content)))}]"
        if self.kind is ExhibitKind.CODE:
            lines = plural(self.content.count("\n") + 1, "line")
            return f"[code{f' in {self.note}' if self.note else ''}, {lines}]"
        return f"[formula: {self.content}]"


def picture(target: str, caption: str) -> Exhibit:
    """Return a picture with an escaped caption; `target` is an asset's path, or an address that is only named."""
    return Exhibit(ExhibitKind.PICTURE, target, _caption(caption))


def _caption(words: str) -> str:
    """Return a caption as it can be shown in a link."""
    if not words.strip():
        return ""
    shown = truncate(alias(words), MAX_CAPTION)
    return f"picture {shown}" if _SIZE.fullmatch(shown) else shown


def is_nameable(target: str) -> bool:
    """Return whether an address can be written on a line of its own without acting there."""
    return 0 < len(target) <= MAX_TARGET and not re.search(r"[`\s]|<%", target) and target[0] not in "=$"


def code(text: str, language: str) -> Exhibit | None:
    """Return a listing; None for one that is too long, empty, or would be misread inside a note."""
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    text = "\n".join(line for line in lines if line)
    fits = len(text) <= MAX_CODE and text.count("\n") < MAX_CODE_LINES
    if not fits or not any(c.isalnum() for c in text) or _TAKEN_AMISS.search(text):
        return None
    return Exhibit(ExhibitKind.CODE, text, language if language in LANGUAGES else "")


def formula(tex: str) -> Exhibit | None:
    """Return a displayed formula; None for one that is too long or would not stay a formula in Markdown."""
    tex = fold(tex)
    shown = f"$${tex}$$"
    inert = _FORMULA.fullmatch(shown) is not None and escape(shown) == shown
    return Exhibit(ExhibitKind.FORMULA, tex) if tex and inert and len(tex) <= MAX_FORMULA else None


def lines_of(exhibit: Exhibit) -> list[str]:
    """Return the lines of Markdown that show the exhibit; none asserts anything."""
    if exhibit.kind is ExhibitKind.FORMULA:
        return [f"$${exhibit.content}$$"]
    if exhibit.kind is ExhibitKind.CODE:
        longest = max((len(run) for run in re.findall("`+", exhibit.content)), default=0)
        fence = "`" * max(3, longest + 1)
        return [f"{fence}{exhibit.note or UNNAMED}", *exhibit.content.split("\n"), fence]
    caption = _caption(exhibit.note)
    if exhibit.copied:
        return [f"![[{exhibit.content}{f'|{caption}' if caption else ''}]]"]
    return [f"Not copied: `{exhibit.content}`{f' ({caption})' if caption else ''}"]


def split_exhibits(lines: Sequence[str]) -> tuple[list[str], tuple[Exhibit, ...]]:
    """Return (lines of words, exhibits) of a piece of Markdown, whose first line is always words."""
    words: list[str] = []
    found: list[Exhibit] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.fullmatch(line.rstrip()) if any(w.strip() for w in words) else None
        end = _closing(lines, at, fence["fence"]) if fence else None
        shown = _line(line.strip()) if any(w.strip() for w in words) else None
        if fence is not None and end is not None:
            language = "" if fence["language"] == UNNAMED else fence["language"]
            body = "\n".join(each.rstrip() for each in lines[at + 1 : end])
            found.append(Exhibit(ExhibitKind.CODE, body, language))
            at = end
        elif shown is not None:
            found.append(shown)
        else:
            words.append(line)
        at += 1
    return words, tuple(found)


def _closing(lines: Sequence[str], start: int, fence: str) -> int | None:
    """Return the index of the line that closes a fence, None if none does."""
    return next((n for n in range(start + 1, len(lines)) if lines[n].rstrip() == fence), None)


def _line(line: str) -> Exhibit | None:
    """Return the exhibit that a line is by itself, None if it is none."""
    if match := _FORMULA.fullmatch(line):
        return Exhibit(ExhibitKind.FORMULA, match["tex"])
    if match := _EMBED.fullmatch(line) or _LEFT.fullmatch(line):
        return Exhibit(ExhibitKind.PICTURE, match["target"], match["caption"] or "")
    return None


def is_copy(path: str, data: bytes) -> bool:
    """Return whether the bytes are those that an asset's name (a digest) promises; a file of the user's is not."""
    named = _COPY.fullmatch(path)
    return named is not None and hashlib.sha256(data).hexdigest().startswith(named[1])


def is_formula(line: str) -> bool:
    """Return whether a line holds a displayed formula and nothing else."""
    return _FORMULA.fullmatch(line.strip()) is not None


def embedded_assets(text: str) -> set[str]:
    """Return the vault paths of the assets that a text embeds."""
    return {found["target"] for found in _EMBED.finditer(text)}
