"""What a terminal can show of formulas, pictures and code: LaTeX as Unicode, the rest by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from vault.model.exhibit import UNNAMED, Exhibit, ExhibitKind
from vault.text.sanitize import clean, clean_line, fold

MAX_FORMULA = 600  # characters; a longer formula stays as it is written
_DEPTH = 12
_PRIVATE = 0xE000  # where finished pieces wait while the rest is converted
_MATH = r"\$\$[^$\n]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d)|\$[^\s$\\]\$(?!\d)"
EMBED = re.compile(r"!\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<caption>[^\[\]\n]*))?\]\]")
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*).*")
_LIVE = re.compile(rf"(?P<code>`[^`\n]+`)|(?P<math>{_MATH})|{EMBED.pattern}|(?P<escape>\\[!-/:-@\[-`{{-~])")
_MEDIA = dict.fromkeys("mp3 ogg oga opus wav m4a flac aac".split(), "sound")
_MEDIA |= dict.fromkeys("mp4 webm mkv mov ogv 3gp".split(), "film")
_SUPER = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ⊤′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡᵀ′",
        strict=True,
    )
)
_SUB = dict(zip("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
_MACRO = re.compile(r"\\(?:[A-Za-z]+\*?|.)", re.DOTALL)
_STYLES = frozenset(  # they change how letters look, not what they say
    "mathbf mathrm mathit mathsf mathtt mathnormal boldsymbol bm pmb operatorname operatorname* text textrm textbf "
    "textit textsf texttt mbox hbox displaystyle textstyle scriptstyle limits nolimits left right big Big bigg Bigg "
    "bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle".split()
)
_SPACES = {",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": "  ", "qquad": "  "}
_SIGNS = {"|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖", "mid": " | ", "{": "{", "}": "}", "_": "_", "%": "%"}
_ATOM = re.compile(r"√?[\w′]+|√?\([^()]*\)|\w+\([^()]*\)|.")
_FUNCTIONS = frozenset("log ln exp sin cos tan sinh cosh tanh max min sup inf lim arg det dim ker gcd Pr".split())
_PASSED = {"%": "%", "&": " ", "~": " ", "#": "#"}  # characters that mean something to the library
_GRIDS = {
    "matrix": " ",
    "pmatrix": "()",
    "bmatrix": "[]",
    "vmatrix": "||",
    "Vmatrix": "‖‖",
    "cases": "{ ",
    "aligned": "  ",
}
_GRID = re.compile(
    r"\s*\{(?P<name>[A-Za-z]+)\*?\}(?P<body>(?:(?!\\begin\b|\\end\b).)*)\\end\{(?P=name)\*?\}", re.DOTALL
)


def picture(target: str, caption: str) -> str:
    """A picture in words; a sound or a film is called so, as its suffix says."""
    noun = _MEDIA.get(target.rpartition(".")[2].strip().lower(), "picture")
    return f"[{noun}: {', '.join(filter(None, map(clean_line, (caption, target))))}]"


def exhibit(shown: Exhibit) -> str:
    """What a source shows with a claim, on one line."""
    if shown.kind is ExhibitKind.FORMULA:
        return formula(shown.content)
    return clean_line(str(shown))


def words(plain: str) -> str:
    """Plain words with their formulas readable."""
    return re.sub(_MATH, lambda found: formula(found[0]), clean_line(plain)) if "$" in plain else clean_line(plain)


def text(markdown: str) -> str:
    """Markdown as plain text, escapes undone: formulas readable, pictures named, code below its language's name."""
    out: list[str] = []
    fence = ""
    for row in clean(markdown).split("\n"):
        mark = FENCE.fullmatch(row)
        if fence:
            if mark and mark["fence"].startswith(fence) and not mark["language"]:
                fence = ""
            else:
                out.append(f"    {row}")
        elif mark:
            fence = mark["fence"]
            out += [f"[{mark['language']}]"] if mark["language"] not in ("", UNNAMED) else []
        else:
            out.append(_LIVE.sub(_said, row))
    return "\n".join(out)


def _said(found: re.Match[str]) -> str:
    if found["code"]:
        return found["code"]
    if found["math"]:
        return formula(found["math"])
    if found["escape"]:
        return found["escape"][1:]
    return picture(found["target"], found["caption"] or "")


@lru_cache(maxsize=512)
def formula(tex: str) -> str:
    """A formula, with or without its dollars, in Unicode; the LaTeX itself where it says more than that can."""
    bare = fold(tex.strip().strip("$"))
    if not bare or len(bare) > MAX_FORMULA or any(_PRIVATE <= ord(c) < _PRIVATE + 0x1900 for c in bare):
        return tex
    try:
        shown = fold(_Converter().shown(bare))
    except Exception:  # noqa: BLE001 (whatever scraps of a formula do to the library, the formula itself can be shown)
        return tex
    return clean_line(shown) or tex


class _Converter:
    """Scripts, fractions and roots by hand, which the library flattens; all other commands by the library."""

    def __init__(self) -> None:
        self._done: list[str] = []

    def shown(self, tex: str, depth: int = 0) -> str:
        """Raises: ValueError for what it does not know."""
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        out: list[str] = []
        at = 0
        while at < len(tex):
            at = self._step(tex, at, out, depth)
        return self._restored(_convert("".join(out)))

    def _step(self, tex: str, at: int, out: list[str], depth: int) -> int:
        """Converts what begins at `at` onto `out`; gives where the next thing begins."""
        char = tex[at]
        if char in "^_":
            body, at = _argument(tex, at + 1)
            out.append(self._kept(_script(self.shown(body, depth + 1), char)))
            return at
        if char == "{":
            body, at = _argument(tex, at)
            out.append(self._kept(self.shown(body, depth + 1)))
            return at
        if char != "\\":
            out.append(self._kept(_PASSED[char]) if char in _PASSED else char)
            return at + 1
        macro = _MACRO.match(tex, at)
        if macro is None:
            raise ValueError("a lone backslash")
        return self._command(tex, macro, out, depth)

    def _command(self, tex: str, macro: re.Match[str], out: list[str], depth: int) -> int:
        name, at = macro[0][1:], macro.end()
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            above, at = _argument(tex, at)
            below, at = _argument(tex, at)
            parts = (_grouped(self.shown(part, depth + 1)) for part in (above, below))
            out.append(self._kept("/".join(parts)))
        elif name == "sqrt":
            power = re.compile(r"\s*\[([^\[\]]*)\]").match(tex, at)
            body, at = _argument(tex, power.end() if power else at)
            root = _script(power[1], "^") if power else ""
            out.append(self._kept(f"{root}√{_grouped(self.shown(body, depth + 1))}"))
        elif name in ("text", "textrm", "mbox", "operatorname", "operatorname*"):
            body, at = _argument(tex, at)
            out.append(self._kept(body if "\\" not in body else self.shown(body, depth + 1)))
        elif name in _SPACES or name in _SIGNS:
            out.append(self._kept(_SPACES.get(name) or _SIGNS.get(name, "")))
        elif name in _STYLES:
            at += name in ("left", "right", "middle") and tex[at : at + 1] == "."
        elif name in _FUNCTIONS:
            out.append(self._kept(name + " " * (tex[at : at + 1].isspace() or tex[at : at + 1] == "\\")))
        elif name == "begin":
            at = self._grid(tex, at, out, depth)
        else:
            at = self._foreign(tex, macro, out, depth)
        return at

    def _foreign(self, tex: str, macro: re.Match[str], out: list[str], depth: int) -> int:
        """A command that the library knows, with the argument that follows it."""
        name, at = macro[0][1:], macro.end()
        if not _library()[1](name):
            raise ValueError(f"no such command: {name}")
        bare = tex[at:].lstrip()
        out.append(macro[0])
        if bare.startswith("{"):
            body, at = _argument(tex, at)
            out.append(f"{{{body if body.isalnum() else self._kept(self.shown(body, depth + 1))}}}")
        elif len(bare) < len(tex) - at:
            out.append(self._kept(" "))
        elif bare[:1].isalpha():
            out.append(" ")
        return at

    def _grid(self, tex: str, at: int, out: list[str], depth: int) -> int:
        """A matrix or a list of cases on one line: cells parted by spaces, rows by semicolons."""
        grid = _GRID.match(tex, at)
        if grid is None or grid["name"] not in _GRIDS:
            raise ValueError("an environment that is not known")
        rows = [[self.shown(cell.strip(), depth + 1) for cell in row.split("&")] for row in grid["body"].split(r"\\")]
        inside = "; ".join(" ".join(filter(None, row)) for row in rows if any(row))
        sides = _GRIDS[grid["name"]]
        out.append(self._kept(f"{sides[:1]}{inside}{sides[1:]}".strip()))
        return grid.end()

    def _kept(self, words: str) -> str:
        self._done.append(words)
        return chr(_PRIVATE + len(self._done) - 1)

    def _restored(self, words: str) -> str:
        last = _PRIVATE + len(self._done)
        while any(_PRIVATE <= ord(c) < last for c in words):
            words = "".join(self._done[ord(c) - _PRIVATE] if _PRIVATE <= ord(c) < last else c for c in words)
        return words


def _argument(tex: str, at: int) -> tuple[str, int]:
    """(the argument of a command that begins at `at`, where it ends): a group, a command, or one character."""
    while at < len(tex) and tex[at].isspace():
        at += 1
    if at >= len(tex):
        raise ValueError("an argument is missing")
    if tex[at] == "\\":
        macro = _MACRO.match(tex, at)
        end = macro.end() if macro else at + 1
        while macro and macro[0][1:] in _STYLES and end < len(tex) and tex[end] == "{":
            end = _argument(tex, end)[1]
        return tex[at:end], end
    if tex[at] != "{":
        return tex[at], at + 1
    depth = 0
    for end in range(at, len(tex)):
        if tex[end] in "{}" and (end == 0 or tex[end - 1] != "\\"):
            depth += 1 if tex[end] == "{" else -1
            if depth == 0:
                return tex[at + 1 : end], end + 1
    raise ValueError("a group is not closed")


def _script(words: str, mark: str) -> str:
    table = _SUPER if mark == "^" else _SUB
    words = words.strip()
    if words and all(c in table for c in words):
        return "".join(table[c] for c in words)
    bound = words.isalnum() or len(words) == 1 or re.fullmatch(r"\([^()]*\)", words)
    return f"{mark}{words}" if bound else f"{mark}({words})"


def _grouped(words: str) -> str:
    """Words that bind together as they are, or in brackets."""
    return words if _ATOM.fullmatch(words) else f"({words})"


@lru_cache(maxsize=1)
def _library() -> tuple[Any, Callable[[str], bool]]:
    from pylatexenc.latex2text import LatexNodes2Text, get_default_latex_context_db

    database = get_default_latex_context_db()
    known = {name for kind in database.categories() for name in database.d[kind]["macros"]}
    known -= {"overline", "underline", "textcolor", "color", "input", "include", "href", "url", "includegraphics"}
    return LatexNodes2Text(math_mode="text", strict_latex_spaces=False), known.__contains__


def _convert(tex: str) -> str:
    if "\\" not in tex:
        return tex
    return str(_library()[0].latex_to_text(tex))
