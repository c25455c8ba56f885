"""Formulas, pictures and code as text for a terminal: LaTeX as Unicode, the rest by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from vault.model.exhibit import UNNAMED, Exhibit, ExhibitKind
from vault.text.formatting import clean, clean_line, fold

MAX_FORMULA = 600  # characters; a longer formula stays as it is written
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
_SILENT = re.compile(r"\\(?:left|right|middle)(?![A-Za-z])\s*\.?")
_PERCENT = re.compile(r"(?<!\\)%")
_FRACTIONS = frozenset("frac dfrac tfrac cfrac".split())
_STYLED = frozenset(  # they change how the letters of their argument look
    "text textrm textbf textit textsf texttt mbox hbox operatorname mathbf mathrm mathit mathsf mathtt mathnormal "
    "boldsymbol bm pmb".split()
)
_NOT_SHOWN = "overline underline textcolor color input include href url includegraphics".split()
_SWITCHES = frozenset(  # they change the size or place of what follows, not what it says
    "displaystyle textstyle scriptstyle limits nolimits big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl "
    "Biggr".split()
)
_SPACES = {",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": "  ", "qquad": "  "}
_SIGNS = {"|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖", "mid": " | ", "{": "{", "}": "}", "_": "_", "%": "%"}
_ATOM = re.compile(r"√?[\w′]+|√?\([^()]*\)|\w+\([^()]*\)|.")
_FUNCTIONS = frozenset("log ln exp sin cos tan sinh cosh tanh max min sup inf lim arg det dim ker gcd Pr".split())
_GRIDS = {
    "matrix": " ",
    "pmatrix": "()",
    "bmatrix": "[]",
    "vmatrix": "||",
    "Vmatrix": "‖‖",
    "cases": "{ ",
    "aligned": "  ",
}


def picture(target: str, caption: str) -> str:
    """Return a picture in words; a sound or film is called so, by its suffix."""
    noun = _MEDIA.get(target.rpartition(".")[2].strip().lower(), "picture")
    return f"[{noun}: {', '.join(filter(None, map(clean_line, (caption, target))))}]"


def exhibit(shown: Exhibit) -> str:
    """Return what a source shows with a claim, on one line."""
    if shown.kind is ExhibitKind.FORMULA:
        return formula(shown.content)
    return clean_line(str(shown))


def words(plain: str) -> str:
    """Return plain words with readable formulas."""
    return re.sub(_MATH, lambda found: formula(found[0]), clean_line(plain)) if "$" in plain else clean_line(plain)


def text(markdown: str) -> str:
    """Return Markdown as plain text: escapes undone, formulas readable, pictures named, code below its language."""
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
            out.append(_LIVE.sub(_render_live, row))
    return "\n".join(out)


def _render_live(found: re.Match[str]) -> str:
    """Return what stands for a formula, code, picture or escape in plain text."""
    if found["code"]:
        return found["code"]
    if found["math"]:
        return formula(found["math"])
    if found["escape"]:
        return found["escape"][1:]
    return picture(found["target"], found["caption"] or "")


@lru_cache(maxsize=512)
def formula(tex: str) -> str:
    """Return a formula, with or without its dollars, in Unicode; the LaTeX itself where Unicode can't say the same."""
    bare = fold(tex.strip().strip("$"))
    if not bare or len(bare) > MAX_FORMULA:
        return tex
    try:
        shown = fold(_converter().latex_to_text(_SILENT.sub("", _PERCENT.sub(r"\%", bare))))
    except Exception:  # noqa: BLE001 (whatever scraps of a formula do to the library, the formula itself can be shown)
        return tex
    return clean_line(shown) or tex


@lru_cache(maxsize=1)
def _converter() -> Any:
    """Return the converter of LaTeX to text: pylatexenc's, with scripts, fractions, roots and matrices kept apart."""
    from pylatexenc import latex2text, latexwalker, macrospec

    parsed = latexwalker.get_default_latex_context_db()
    two = [macrospec.std_macro(name, "{{") for name in _FRACTIONS]
    one = [macrospec.std_macro(name, "*{") for name in _STYLED]
    grids = [macrospec.std_environment(name + star, None) for name in _GRIDS for star in ("", "*")]
    bare = [macrospec.std_macro(name, "") for name in (*_SWITCHES, *_SPACES, *_SIGNS, *_FUNCTIONS)]
    parsed.add_context_category("formulas", macros=[*two, *one, *bare], environments=grids, prepend=True)
    known = latex2text.get_default_latex_context_db()
    for category in known.categories():
        for name in _NOT_SHOWN:
            known.d[category]["macros"].pop(name, None)

    class Converter(latex2text.LatexNodes2Text):  # type: ignore[misc]
        def latex_to_text(self, latex: str) -> str:
            walker = latexwalker.LatexWalker(latex, latex_context=parsed, tolerant_parsing=False)
            return self.nodelist_to_text(walker.get_latex_nodes()[0])

        def nodelist_to_text(self, nodelist: Sequence[Any]) -> str:
            out: list[str] = []
            items = iter(_items(nodelist))
            for node in items:
                words = node if isinstance(node, str) else self.node_to_text(node)
                if isinstance(node, str) and node in "^_":
                    base = next(each for each in items if not isinstance(each, str) or each != " ")
                    raised = base if isinstance(base, str) else self.node_to_text(base)
                    words = _script(raised, node) + raised[len(raised.rstrip()) :]
                elif out and re.match("[_^].", out[-1]) and words[:1].isalnum():
                    out.append(" ")  # W_q q is not W_qq
                out.append(words)
            return "".join(out)

        def specials_node_to_text(self, node: Any) -> str:
            return " " if node.specials_chars in "&~" else str(node.specials_chars)

        def math_node_to_text(self, node: Any) -> str:
            return self.nodelist_to_text(node.nodelist)

        def macro_node_to_text(self, node: Any) -> str:
            name = str(node.macroname)
            arguments: list[Any] = list(node.nodeargd.argnlist) if node.nodeargd else []
            after = str(node.macro_post_space) if not arguments else ""
            if name in _FRACTIONS:
                return "/".join(_grouped(self._groupnodecontents_to_text(part)) for part in arguments)
            if name == "sqrt":
                power, body = (self._groupnodecontents_to_text(part) for part in arguments)
                return f"{_script(power, '^') if power else ''}√{_grouped(body)}"
            if name in _STYLED:
                return str(self._groupnodecontents_to_text(arguments[-1]))
            if name in _SPACES or name in _SIGNS:
                return _SPACES.get(name) or _SIGNS.get(name, "")
            if name in _SWITCHES:
                return after
            if name in _FUNCTIONS:
                return name + after
            if self.latex_context.get_macro_spec(name) is None:
                raise ValueError(f"no such command: {name}")
            return f"{super().macro_node_to_text(node)}{after}"

        def environment_node_to_text(self, node: Any) -> str:
            """Return a matrix or a list of cases on one line: cells parted by spaces, rows by semicolons."""
            sides = _GRIDS[node.environmentname.removesuffix("*")]
            rows: list[list[list[Any]]] = [[[]]]
            for each in node.nodelist:
                if getattr(each, "macroname", "") == "\\":
                    rows.append([[]])
                elif getattr(each, "specials_chars", "") == "&":
                    rows[-1].append([])
                else:
                    rows[-1][-1].append(each)
            shown = [" ".join(filter(None, (self.nodelist_to_text(cell).strip() for cell in row))) for row in rows]
            return f"{sides[:1]}{'; '.join(filter(None, shown))}{sides[1:]}".strip()

    return Converter(known)


def _items(nodes: Sequence[Any]) -> Iterator[Any]:
    """Yield the nodes of a formula, in place of those of plain characters the single characters."""
    for node in nodes:
        yield from getattr(node, "chars", None) or (node,)


def _script(words: str, mark: str) -> str:
    """Return words raised (`^`) or lowered (`_`), in Unicode's own characters where it has them."""
    table = _SUPER if mark == "^" else _SUB
    words = words.strip()
    if not words:
        return ""
    if all(c in table for c in words):
        return "".join(table[c] for c in words)
    bound = words.isalnum() or len(words) == 1 or re.fullmatch(r"\([^()]*\)", words)
    return f"{mark}{words}" if bound else f"{mark}({words})"


def _grouped(words: str) -> str:
    """Return words unchanged if they bind together, else in brackets."""
    return words if _ATOM.fullmatch(words) else f"({words})"
