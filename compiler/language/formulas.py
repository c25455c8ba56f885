"""Formulas in running text in one plain form: LaTeX, mathematical letters and raised figures."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from compiler.language.lexicon import words

_LETTER = re.compile(  # 𝑡, ℝ
    "[\U0001d400-\U0001d7ff\u2102\u210a-\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2138]"
)
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070-\u207f]+")
_FONT = re.compile(
    r"\\(?:math(?:bf|bb|rm|cal|it|sf|frak|scr)|boldsymbol|bm|text(?:rm|bf|it|sc)?|operatorname|emph)\b\s*"
    r"(?:\{(?P<in>[^{}]{0,80})\})?"
)
_ONE = re.compile(r"(?P<mark>[_^])\{(?P<in>[^{}\s]{1,20})\}")  # 10^{6}, x_{i}
_SPACE = re.compile(r"\\[,;:! ]")
_BETWEEN = re.compile(r"\$\$?(?=\S)([^$]{1,600})(?<=\S)\$\$?(?!\d)")  # what is paid has a space before one of its marks
_BELOW = re.compile(r"(?<=\w)~([\w/]{1,8})~")  # an index in Pandoc's Markdown: V~1~
_LATEX = re.compile(r"[$\\]|[_^]\{")


@lru_cache(maxsize=1 << 12)
def plain_formulas(text: str) -> str:
    """Return `text` with plain letters and without LaTeX marks in formulas: $-10^{6}$ is -10^6, 𝑡 is t, n² is n^2."""
    if not text.isascii():
        text = _RAISED.sub(lambda m: f"^{unicodedata.normalize('NFKC', m[0]).replace('−', '-')}", text)
        text = _LETTER.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    if "~" in text:
        text = _BELOW.sub(r"_\1", text)
    if not _LATEX.search(text):
        return text
    for _ in range(2):  # a font round an index, or in one
        text = _FONT.sub(lambda m: m["in"] or "", text)
        text = _ONE.sub(r"\g<mark>\g<in>", text)
    text = _SPACE.sub(" ", text).replace("{,}", ",")  # 50{,}176
    return _BETWEEN.sub(r"\1", text)


# What a formula has no need of: commands that lead somewhere, fetch, write, or give other commands a new meaning.
_ACTING_COMMANDS = words("figures_acting_commands")
_ACTING_PREFIXES = ("html", "url", "href", "write", "input", "include")


def is_acting_command(name: str) -> bool:
    """Return whether a LaTeX command does something other than to show a formula."""
    return name in _ACTING_COMMANDS or name.startswith(_ACTING_PREFIXES)
