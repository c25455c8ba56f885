"""Inline markup of AsciiDoc: emphasis, monospace, links, references, index terms, attributes, footnotes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from compiler.readers.markup import link, math
from compiler.readers.page import OMISSION

MAX_SPAN = 600  # characters between two signs of emphasis
MAX_NESTED = 5
MAX_WORDS = 50_000  # characters; inline markup is not looked for in a longer paragraph
SIGNS = {
    "nbsp": " ", "sp": " ", "empty": "", "blank": "", "zwsp": "", "wj": "", "plus": "+", "cpp": "C++", "pp": "++",
    "deg": "°", "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "startsb": "[",
    "endsb": "]", "vbar": "|", "amp": "&", "lt": "<", "gt": ">", "asterisk": "*", "tilde": "~", "caret": "^",
    "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;", "brvbar": "¦", "zwnj": "",
}  # fmt: skip
_TEXT = r"(?:\\\]|[^\]\n]|\n(?!\n)){0,1000}"
_INLINE = re.compile(
    r"(?P<index>\(\(\((?:[^()\n]|\n(?!\n)|\([^()\n]{0,80}\)){1,400}\)\)\)|indexterm:\[" + _TEXT + r"\])"
    r"|\(\((?P<flow>[^()\n]{1,200})\)\)|indexterm2:\[(?P<flow2>[^\]\n]{1,200})\]"
    r"|(?P<pass>\+\+\+(?P<raw>.{0,2000}?)\+\+\+|pass:[a-z,]{0,20}\[(?P<passed>" + _TEXT + r")\])"
    r"|(?:(?P<tex>latexmath)|stem|asciimath):[a-z,]{0,20}\[(?P<formula>(?:\\\]|[^\]]){0,2000})\]"
    r"|footnote(?:ref)?:(?P<fid>[\w-]{0,60})\[(?P<note>(?:\\\]|\[[^\]\[]{0,400}\]|[^\]\[]){0,2000})\]"
    r"|<<(?P<xref>[^<>,\n]{1,300})(?:,\s*(?P<xtext>[^<>]{1,400}?))?>>|xref:(?P<xref2>[^\s\[\]]{1,300})"
    r"\[(?P<xtext2>" + _TEXT + r")\]"
    r"|\[\[\[?(?P<anchor>[^\[\]\n]{1,200})\]\]\]?|(?P<anchor2>anchor:[\w:.-]{1,200}\[[^\]\n]{0,200}\])"
    r"|(?P<icon>(?:image|icon):(?!:)[^\s\[\]:][^\s\[\]]{0,300}\[" + _TEXT + r"\])"
    r"|(?:kbd|btn):\[(?P<key>(?:\\\]|[^\]\n]){1,200})\]|menu:(?P<menu>[^\[\]\n]{1,80})\[(?P<choice>[^\]\n]{0,200})\]"
    r"|(?P<scheme>(?:link|mailto):(?=\S)|(?<![\w/])(?=(?:https?|ftp|irc)://))(?P<target>[^\s\[\]<>]{1,2000})"
    r"\[(?P<shown>" + _TEXT + r")\]"
    r"|<?(?<![\w/])(?P<url>(?:https?|ftp)://[^\s\[\]<>]{1,2000}[^\s\[\]<>.,;:!?'\")])>?"
    r"|\"`(?P<double>(?!\s).{1,600}?(?<!\s))`\"|(?<!\w)'`(?P<single>(?!\s).{1,600}?(?<!\s))`'"
    r"|``(?P<mono2>[^`\n](?:[^`]|`(?!`)){0,600}?)``|(?<!\w)`(?P<mono>(?!\s)[^`]{1,600}?(?<!\s))`(?!\w)"
    r"|(?<![\w\\])\{(?P<name>[A-Za-z0-9_][\w:-]{0,60})\}"
    r"|(?P<role>(?<!\w)\[[.#%\w-][\w.#%, =\"'-]{0,80}\](?=[*_#`]))"
    r"|(?P<two>\*\*|__|##)(?P<inner2>(?!\s)(?:(?!(?P=two)).){1," + str(MAX_SPAN) + r"}?)(?P=two)"
    r"|(?<![\w\\;:}*_#])(?P<one>[*_#])(?P<inner>(?!\s)"
    r"(?:(?!(?P=one)).|(?<=\w)(?P=one)(?=\w)){1," + str(MAX_SPAN) + r"}?(?<!\s))(?P=one)(?!\w)"
    r"|(?<!\w)\+(?P<literal>(?![\s+])[^+\n]{1,300}?(?<!\s))\+(?!\w)"
    r"|\^(?P<sup>[^\s^]{1,60})\^|~(?P<sub>[^\s~]{1,60})~|(?P<hard>[ \t]\+(?=\n|$))"
    r"|(?P<dash>(?<=\w)--(?=\w)|(?<=\s)--(?=\s|$))|(?P<dots>(?<!\.)\.\.\.(?!\.))"
    r"|\((?P<mark>C|R|TM)\)|\\(?P<escaped>[*_#`{<\"'^~+\[(&]|(?=(?:https?|link|image|kbd|footnote|indexterm)))",
    re.DOTALL,
)  # fmt: skip
_CLOSED = re.compile(r"^[\"']|[\"']$")
_TERM_ROLE = re.compile(r"\.(?:term|definition|dfn|glossary)\b")
_ATTRIBUTE = re.compile(r"\{([A-Za-z0-9_][\w-]{0,60})\}")
_NAMED = re.compile(r"(?:^|,)\s*(?:window|role|opts|options|id|title|rel|alt|width|height|link|float)\s*=")


@dataclass(slots=True)
class Inline:
    """Inline markup, with the attributes that the document has set so far and what could not be read."""

    attributes: dict[str, str]
    unknown: dict[str, int] = field(default_factory=dict)  # name of an attribute that nobody set -> how often
    pictures: int = 0  # within sentences
    _role: str = ""

    def markup(self, words: str, depth: int = 0) -> str:
        """Return `words` as escaped markup."""
        if len(words) > MAX_WORDS or depth > MAX_NESTED:
            return escape(words, quote=False)
        out: list[str] = []
        at = 0
        for found in _INLINE.finditer(words):
            out += (escape(words[at : found.start()], quote=False), self._match(found, depth))
            at = found.end()
            if found["index"] is not None:  # "word (((index))) goes on"
                out[-2] = out[-2] if words[at : at + 1].isalnum() else out[-2].rstrip(" ")
            if found["role"] is None:
                self._role = ""
        return "".join(out) + escape(words[at:], quote=False)

    def plain(self, words: str) -> str:
        """Return `words` with known attributes replaced, for code and addresses."""
        return _ATTRIBUTE.sub(lambda m: self._value(m[1], m[0]), words)

    def _value(self, name: str, otherwise: str) -> str:
        known = SIGNS.get(name)
        return known if known is not None else self.attributes.get(name.lower(), otherwise)

    def _match(self, found: re.Match[str], depth: int) -> str:
        """Return the markup of one match of the inline pattern."""
        group = found.lastgroup or ""
        inner = found["inner"] if found["inner"] is not None else found["inner2"]
        if inner is not None:
            return self._emphasized(found["one"] or found["two"][0], inner, depth)
        for name in ("mono", "mono2"):
            if found[name] is not None:
                return self._mono(found[name])
        if found["xref"] is not None or found["xref2"] is not None:
            return self._reference(found["xref"] or found["xref2"], found["xtext"] or found["xtext2"] or "", depth)
        if found["shown"] is not None:
            return self._link(found, depth)
        if found["formula"] is not None:
            return self._formula(found["formula"], found["tex"] is not None)
        if found["note"] is not None:
            return f"<x-note>{self.markup(found['note'], depth + 1)}</x-note>" if found["note"].strip() else ""
        if found["name"] is not None:
            return self._attribute(found["name"], depth)
        if found["icon"] is not None:
            self.pictures += 1
            return OMISSION
        if found["menu"] is not None:
            words = " > ".join(filter(None, (found["menu"], found["choice"])))
            return escape(words, quote=False)
        if found["pass"] is not None:
            return escape(found["raw"] or found["passed"] or "", quote=False)
        if found["role"] is not None:
            self._role = found["role"]
            return ""
        return self._simple(found, group, depth)

    def _simple(self, found: re.Match[str], group: str, depth: int) -> str:
        """Return the markup of what takes no arguments."""
        words = found[group] if group else ""
        if group in ("flow", "flow2"):
            return self.markup(words, depth + 1)
        if group in ("double", "single"):
            before, after = ("“", "”") if group == "double" else ("‘", "’")
            return before + self.markup(words, depth + 1) + after
        if group in ("sup", "sub"):
            return f"<{group}>{self.markup(words, depth + 1)}</{group}>"
        if group == "url":
            return link(words, escape(words, quote=False))
        fixed = {"hard": "<br>", "dash": "—", "dots": "…", "index": "", "anchor": "", "anchor2": ""}.get(group)
        if fixed is not None:
            return fixed
        if group == "mark":
            return {"C": "©", "R": "®", "TM": "™"}[words]
        return escape(words, quote=False)

    def _emphasized(self, sign: str, words: str, depth: int) -> str:
        """Return the markup of emphasized words; a role may say that they are a term."""
        role, self._role = self._role, ""
        inner = self.markup(words, depth + 1)
        if _TERM_ROLE.search(role):
            return f"<dfn>{inner}</dfn>"
        if sign == "#":
            struck = "line-through" in role or "strike" in role
            return f"<del>{inner}</del>" if struck else inner if role else f"<mark>{inner}</mark>"
        return f"<strong>{inner}</strong>" if sign == "*" else f"<em>{inner}</em>"

    def _mono(self, words: str) -> str:
        """Return the markup of monospaced words."""
        literal = len(words) > 2 and words[0] == words[-1] == "+"
        words = words[1:-1] if literal else self.plain(words)
        return f"<code>{escape(words, quote=False)}</code>"

    def _reference(self, target: str, words: str, depth: int) -> str:
        """Return the markup of a cross reference; without words of its own it leaves a gap."""
        shown = self.markup(words.replace("\\]", "]"), depth + 1) if words.strip() else OMISSION
        return link("#" + target.lstrip("#"), shown)

    def _link(self, found: re.Match[str], depth: int) -> str:
        """Return the markup of a link."""
        target = self.plain(found["target"])
        address = "mailto:" + target if found["scheme"] == "mailto:" else target
        words = found["shown"].replace("\\]", "]")
        named = _NAMED.search(words)
        words = _CLOSED.sub("", (words[: named.start()] if named else words).strip().removesuffix("^"))
        return link(address, self.markup(words, depth + 1) if words else escape(target, quote=False))

    def _formula(self, words: str, tex: bool) -> str:
        """Return the markup of a formula; AsciiMath is shown as it is written."""
        words = words.replace("\\]", "]").strip().strip("$")
        if not words:
            return ""
        return math(words) if tex else f"<code>{escape(words, quote=False)}</code>"

    def _attribute(self, name: str, depth: int) -> str:
        """Return the value of an attribute; one that nobody set leaves a gap."""
        if name.startswith(("counter:", "counter2:", "set:")):
            return OMISSION if name.startswith("counter:") else ""
        value = self._value(name, "\0")
        if value != "\0":
            return self.markup(value, depth + 1)
        self.unknown[name] = self.unknown.get(name, 0) + 1
        return OMISSION
