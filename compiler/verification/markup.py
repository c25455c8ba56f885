"""Markup that is folded away for the second reading of text files, by their format."""

from __future__ import annotations

import html
import re
from functools import partial

# (pattern, what to put in its place) or (beginning, end, what to put in the place of both and all between), applied in
# this order. What may go on to the end of a text is bounded, so that a hostile file takes no quadratic time.
Rules = tuple[tuple[str, str] | tuple[str, str, str], ...]
DOTS = re.compile(r"\\[lcdv]?dots(?![A-Za-z])")  # which readers write as "..." in text and leave in formulas
_SIGNS = {"ss": "ß", "ae": "æ", "oe": "œ", "AE": "Æ", "OE": "Œ", "l": "ł", "L": "Ł", "o": "ø", "O": "Ø"}
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})(?![A-Za-z])\s*")
_MACRO = re.compile(
    r"\\(?:re|provide)?(?:newcommand|command)\*?\s*\{?\\([A-Za-z]+)\}?\s*(?:\[(\d)\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
# A span of code; or what holds backticks of another meaning: a comment, or the words of a role.
_CODE_SPAN = re.compile(
    r"(?s:<!--.{0,2000}?-->)|[}:]`[^`\n]*`|"
    r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<code>(?:[^\n]|\n(?![ \t]*\n)){1,1000}?)(?<!`)(?P=ticks)(?!`)"
)
TAGS: Rules = (
    ("<!--", "-->", " "),
    *((rf"<{name}\b", rf"</{name}\s*>", " ") for name in ("script", "style", "s", "del", "strike")),
    (r"</?[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>", ""),
)
MARKDOWN: Rules = (
    *TAGS,
    (r"\{cite\w*(?::\w+)?\}`[^`]*`|:(?:cite|eq|num)\w*:`[^`]*`", ""),
    (
        r"\[\^[^\[\]\n]*\]|\[-?@[^\]\n]{0,1000}\](?![(\[])|\{(?:[%<][^\n]{0,500}?[%>]|\{[^\\{}\n]*\})\}|\{[#.:][^{}\n]*\}|\{\w+\}(?=`)",
        "",
    ),
    (r"!\[[^\]\n]{0,2000}\](?:\([^()\n]*\)|\[[^\]\n]*\])(?:\{[^{}\n]*\})?", ""),
    (r"\]\(<[^<>\n]*>[^()\n]*\)|\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)", ""),
    (r"\]\[[^\]\n]*\]|\]\{[^{}\n]*\}|\\@?ref\([^()\s]*\)|\\(?:index|label)\{[^{}]*\}", ""),
    (r"\[\[(?:[^\[\]|\n]*\|)?|\\(?=[.,])", ""),
    (r"(?<![~\\])~~(?![~\s])(?:[^~\n]|\n(?![ \t]*\n)){1,1000}~~(?!~)", ""),  # struck out
)
UNNOTED: Rules = ((r"\^\[(?:[^\[\]]|\[[^\[\]]*\])*\]", ""), *MARKDOWN)  # without notes in the line
RST: Rules = (
    (r"(?m)^\.\.(?![ \t]+(?:[\w:+-]+::|\[|_|\|)).*\n(?:[ \t]+.*\n|[ \t]*\n(?=[ \t]))*", "\n"),
    (r"(?m)^\.\. _.*$|^[ \t]*:[\w -]+:(?=\s|$)", ""),
    (r":(?:cite|footcite|index|eq|numref):?\w*:?`[^`]*`|\[[#*\w-]*\]_|\|[\w -]+\|_?", ""),
    (r"(?<![ \t\n])[ \t\n]*<[^<>`]*>`", "`"),
    (r":[a-z][\w:+-]{0,100}:(?=`)", ""),
)
ASCIIDOC: Rules = (
    ("^////$", "^////$", ""),
    (r"\(\(\(", r"\)\)\)", ""),
    (r"(?m)^//(?!/).*$|footnote(?:ref)?:\w*\[[^\]]*\]|\[\[[^\]]*\]\]", ""),
    (r"(?m)^(?:ifdef|ifndef|endif|include|image)::.*$|^:[\w-]+:.*$|image:\S{1,1000}?\[[^\]]*\]", ""),
    (r"(?:link:|xref:|https?://|mailto:|kbd:|btn:|menu:)[^\s\[\]]{0,1000}\[(?!\]|\^\])", "["),
    (r"<<[^<>,]*,?|\{[\w-]+\}", ""),
    *TAGS,
)
ORG: Rules = (
    (r"(?m)^[ \t]*#(?: .*|\+\w+:.*)?$|^[ \t]*:\w+:.*$|\[fn:[^\]]*\]|\[cite[^\]]*\]|\bcite\w*:[\w:.,-]*\w", ""),
    (r"\[\[[^\]]*\]\[", "["),
)
TEX: Rules = (
    (r"(?<!\\)%.*\n?[ \t]*", ""),
    (r"\\(?:\w*cite\w*|label|\w*ref|index|glsadd|hspace|vspace|includegraphics)\*?(?:\[[^\]]*\])*\{[^{}]*\}", ""),
    (r"\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?", " "),
)


def without(text: str, rules: Rules) -> str:
    """Return a text without markup."""
    for rule in rules:
        text = without_spans(text, *rule) if len(rule) == 3 else re.sub(*rule, text)
    return html.unescape(text)


def without_markdown(text: str, rules: Rules) -> str:
    """Return Markdown without markup; the words of code spans stay as they are."""
    codes: list[str] = []

    def set_aside(found: re.Match[str]) -> str:
        if not found["code"]:
            return found[0]
        codes.append(found["code"])
        return f"\ue000{len(codes) - 1}\ue001"

    words = without(_CODE_SPAN.sub(set_aside, re.sub("[\ue000\ue001]", " ", text)), rules)
    return re.sub("\ue000([0-9]+)\ue001", lambda mark: codes[int(mark[1])], words)


def without_spans(text: str, beginning: str, end: str, instead: str) -> str:
    """Return a text with `instead` for each span between two patterns, in linear time; one without an end stays."""
    last = max((found.end() for found in re.finditer(f"(?m){end}", text)), default=0)
    return re.sub(f"(?ms:{beginning}.*?{end})", instead, text[:last]) + text[last:]


def expanded(text: str) -> str:
    """Return LaTeX with letters for the commands that print them, and with the macros that it defines expanded."""
    text = _SIGN.sub(lambda found: _SIGNS[found[1]], DOTS.sub("", text))
    for name, count, body in _MACRO.findall(text):
        use = re.compile(rf"\\{name}(?![A-Za-z])" + r"\s*\{([^{}]*)\}" * int(count or 0) + r"(?:\{\})?")
        text = use.sub(partial(_with_arguments, body), text)
    return text


def _with_arguments(body: str, found: re.Match[str]) -> str:
    return re.sub(r"#(\d)", lambda place: ("", *found.groups(), *9 * ("",))[int(place[1])], body)


def without_commands(text: str) -> str:
    """Return LaTeX without the commands outside of formulas."""
    return re.sub(
        r"(?s)(\$\$.{0,2000}?\$\$|\$[^$]*\$|\\\(.{0,2000}?\\\)|\\\[.{0,2000}?\\\])|\\[A-Za-z]+\*?",
        lambda found: found[1] or "",
        text,
    )
