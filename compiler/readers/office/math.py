"""Conversion of Word's and PowerPoint's formulas (Office MathML) to LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from compiler.readers.office.package import attribute, child, local

MAX_LENGTH = 5_000  # characters of one formula
MAX_PARTED = 50
_ESCAPED = {c: f"\\{c}" for c in "#%&$_{}"} | {"\\": r"\backslash ", "~": r"\sim ", "^": r"\hat{}", "`": "'"}
_FUNCTION = re.compile(
    r"(?<![A-Za-z\\])(?:arcsin|arccos|arctan|sinh|cosh|tanh|coth|sin|cos|tan|cot|sec|csc|exp|ln|log|lg|max|min|sup|inf|lim"
    r"|det|dim|gcd|ker|arg|deg|Pr|hom)(?![A-Za-z])"
)
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot", "\u0308": "ddot",
    "\u030c": "check", "\u0301": "acute", "\u0300": "grave", "\u0306": "breve", "\u20d7": "vec",
    "\u20d6": "overleftarrow",
}  # fmt: skip
_NARY = {
    "∑": "sum", "∏": "prod", "∫": "int", "∬": "iint", "∭": "iiint", "∮": "oint", "⋃": "bigcup", "⋂": "bigcap",
    "⋁": "bigvee", "⋀": "bigwedge", "∐": "coprod", "⨁": "bigoplus", "⨂": "bigotimes",
}  # fmt: skip
_PARTED = re.compile(r"\\(text|math[a-z]+)\{([^{}]*)\}( *)\\\1\{")
_STYLES = (("DOUBLE-STRUCK", "mathbb"), ("BOLD", "mathbf"), ("SCRIPT", "mathcal"), ("FRAKTUR", "mathfrak"))
_SCRIPTS = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak", "sans-serif": "mathsf"}


def latex(formula: Any) -> str:
    """Return the LaTeX of an `oMath` or `oMathPara` element, without dollars."""
    lines = [e for e in formula if local(e) == "oMath"] if local(formula) == "oMathPara" else [formula]
    words = r" \\ ".join(w for e in lines if (w := _inside(e)))
    for _ in range(MAX_PARTED):  # Word may part one word into a run for each character
        words, found = _PARTED.subn(lambda m: f"\\{m[1]}{{{m[2]}{m[3]}", words)
        if not found:
            break
    return words if len(words) <= MAX_LENGTH else " ".join("".join(formula.itertext()).split())[:MAX_LENGTH]


def _inside(element: Any) -> str:
    """Return the LaTeX of all children in turn."""
    if element is None:
        return ""
    return " ".join(words for e in element if (words := _one(e)))


def _one(element: Any) -> str:
    """Return the LaTeX of one element."""
    name = local(element)
    if name in _RULES:
        return _RULES[name](element)
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    return _inside(element)


def _group(element: Any, name: str) -> str:
    """Return the LaTeX of the child of this name, in braces."""
    return "{" + _inside(child(element, name)) + "}"


def _property(element: Any, properties: str, name: str, default: str) -> str:
    """Return a setting of a structure: its value, "" where it is set to nothing, the default where it isn't set."""
    found = child(element, properties, name)
    return default if found is None else attribute(found, "val")


def _is_on(element: Any, properties: str, name: str) -> bool:
    """Return whether a setting of a structure is on."""
    found = child(element, properties, name)
    return found is not None and attribute(found, "val") not in ("0", "off", "false")


def _run(element: Any) -> str:
    """Return a run of characters as LaTeX."""
    text = "".join(e.text or "" for e in element if local(e) == "t")
    if child(element, "rPr", "nor") is not None and len(text.strip()) > 1:
        return r"\text{" + "".join(_ESCAPED.get(c, c) for c in text if c not in "\\^~`") + "}"
    words = "".join(map(_sign, text)).strip()
    words = _FUNCTION.sub(r"\\\g<0>", words)
    script = _SCRIPTS.get(_property(element, "rPr", "scr", ""), "")
    if not script and _property(element, "rPr", "sty", "") in ("b", "bi"):
        script = "mathbf"
    return f"\\{script}{{{words}}}" if script and words else words


def _sign(char: str) -> str:
    """Return one character as LaTeX; mathematical alphabets become plain letters with their style."""
    if char in _ESCAPED:
        return _ESCAPED[char]
    if "\U0001d400" <= char <= "\U0001d7ff" or "\u2102" <= char <= "\u2138":
        name, plain = unicodedata.name(char, ""), unicodedata.normalize("NFKC", char)
        style = next((command for word, command in _STYLES if word in name), "")
        return f"\\{style}{{{plain}}}" if style else plain
    return char


def _fraction(element: Any) -> str:
    """Return a fraction as LaTeX."""
    kind = _property(element, "fPr", "type", "bar")
    if kind == "lin":
        return f"{_inside(child(element, 'num'))} / {_inside(child(element, 'den'))}"
    over = r"\binom" if kind == "noBar" else r"\frac"
    return f"{over}{_group(element, 'num')}{_group(element, 'den')}"


def _root(element: Any) -> str:
    """Return a root as LaTeX."""
    degree = _inside(child(element, "deg"))
    index = f"[{degree}]" if degree and not _is_on(element, "radPr", "degHide") else ""
    return rf"\sqrt{index}{_group(element, 'e')}"


def _base(element: Any) -> str:
    """Return what carries a script: in braces unless it is one character or command."""
    words = _inside(child(element, "e"))
    return words if len(words) <= 1 or (words[0] == "\\" and words[1:].isalpha()) else f"{{{words}}}"


def _scripted(*names: str) -> Callable[[Any], str]:
    """Return the converter of an element with these scripts."""
    signs = {"sub": "_", "sup": "^"}
    return lambda element: _base(element) + "".join(signs[name] + _group(element, name) for name in names)


def _before(element: Any) -> str:
    """Return an element with scripts before it as LaTeX."""
    return f"{{}}_{_group(element, 'sub')}^{_group(element, 'sup')}{_base(element)}"


def _nary(element: Any) -> str:
    """Return a sum, integral or the like with its limits as LaTeX."""
    sign = _property(element, "naryPr", "chr", "∫")
    words = f"\\{_NARY[sign]}" if sign in _NARY else sign
    for name, mark in (("sub", "_"), ("sup", "^")):
        limit = _inside(child(element, name))
        if limit and not _is_on(element, "naryPr", f"{name}Hide"):
            words += f"{mark}{{{limit}}}"
    return f"{words} {_inside(child(element, 'e'))}"


def _delimited(element: Any) -> str:
    """Return an expression between delimiters as LaTeX."""
    begin, end = (_property(element, "dPr", name, usual) for name, usual in (("begChr", "("), ("endChr", ")")))
    between = _property(element, "dPr", "sepChr", "|") or " "
    inside = f" {between} ".join(_inside(e) for e in element if local(e) == "e")
    left, right = (_ESCAPED.get(c, c) if c else "." for c in (begin, end))
    return rf"\left{left} {inside} \right{right}"


def _function(element: Any) -> str:
    """Return a function and its argument as LaTeX."""
    return f"{_inside(child(element, 'fName'))} {_inside(child(element, 'e'))}"


def _limit(mark: str) -> Callable[[Any], str]:
    """Return the converter of an element with a limit below (`_`) or above (`^`)."""
    return lambda element: f"{_base(element)}{mark}{_group(element, 'lim')}"


def _matrix(element: Any) -> str:
    """Return a matrix as LaTeX."""
    rows = [" & ".join(_inside(e) for e in row if local(e) == "e") for row in element if local(row) == "mr"]
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


def _lines(element: Any) -> str:
    """Return lines of equations as LaTeX."""
    lines = [_inside(e).replace("\\&", "&") for e in element if local(e) == "e"]  # Word's marks to align at
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"


def _accent(element: Any) -> str:
    """Return an accented expression as LaTeX."""
    sign = _property(element, "accPr", "chr", "\u0302")
    return f"\\{_ACCENTS.get(sign, 'hat')}{_group(element, 'e')}"


def _lined(properties: str, sign: str) -> Callable[[Any], str]:
    """Return the converter of an expression with a line or brace, which is below it if nothing else is stated."""

    def convert(element: Any) -> str:
        side = "under" if _property(element, properties, "pos", "bot") == "bot" else "over"
        return f"\\{side}{sign}{_group(element, 'e')}"

    return convert


_RULES: dict[str, Callable[[Any], str]] = {
    "r": _run,
    "f": _fraction,
    "rad": _root,
    "sSup": _scripted("sup"),
    "sSub": _scripted("sub"),
    "sSubSup": _scripted("sub", "sup"),
    "sPre": _before,
    "nary": _nary,
    "d": _delimited,
    "func": _function,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
    "m": _matrix,
    "eqArr": _lines,
    "acc": _accent,
    "bar": _lined("barPr", "line"),
    "groupChr": _lined("groupChrPr", "brace"),
    "phant": lambda element: "",
}
