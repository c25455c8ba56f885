"""The input of the LaTeX reader: arguments and comments are consumed from it, and macros expanded into it."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

MAX_EXPANDED = 500_000  # characters that macros may put into a document, all together
MAX_DEPTH = 50  # macros inside macros
MAX_OPTIONAL = 4_000  # characters of one [optional argument]
_BRACES = re.compile(r"\\(?:href|url|nolinkurl)\s*\{[^{}\s]*\}|\\.|[{}]|%[^\n]*", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t]|%[^\n]*\n[ \t]*|\n(?![ \t]*\n))*")
_CALL = re.compile(r"\\([A-Za-z@]+)")


@dataclass(frozen=True, slots=True)
class Macro:
    r"""A macro of \newcommand: `arguments` counts all of them; the first is optional if there is a `default`."""

    body: str
    arguments: int = 0
    default: str | None = None

    def expanded(self, given: list[str]) -> str:
        """Return the body with these arguments in place of #1 to #9."""
        return re.sub(r"#([1-9])", lambda m: given[int(m[1]) - 1] if int(m[1]) <= len(given) else "", self.body)


def closings(text: str) -> dict[int, int]:
    """Return offset of each opening brace -> offset of its closing brace; comments and escaped braces don't count."""
    out: dict[int, int] = {}
    opened: list[int] = []
    for sign in _BRACES.finditer(text):
        if sign[0] == "{":
            opened.append(sign.start())
        elif sign[0] == "}" and opened:
            out[opened.pop()] = sign.start()
        elif len(sign[0]) > 2 and sign[0][0] == "\\":  # an address may hold a bare %
            out[sign.start() + sign[0].index("{")] = sign.end() - 1
    return out


@dataclass(slots=True)
class _Frame:
    """A text being read: the document or the expansion of a macro, and the position in it."""

    text: str
    at: int
    closing: dict[int, int]
    whole: bool = False  # the document itself, not what a macro made


@dataclass(slots=True)
class Input:
    """The text still to be read: the document, and on top of it the expansions of macros."""

    text: str
    macros: dict[str, Macro] = field(default_factory=dict)
    _frames: list[_Frame] = field(default_factory=list)
    _expanded: int = 0
    _breaks: list[int] = field(default_factory=list)
    _here: int = 0  # where in the document the words or the token at hand begin
    _token_at: int = 0
    _absent: dict[str, tuple[int, int]] = field(default_factory=dict)  # text -> a stretch that does not hold it

    def __post_init__(self) -> None:
        self._frames = [_Frame(self.text, 0, closings(self.text), whole=True)]
        self._breaks = [m.start() for m in re.finditer("\n", self.text)]

    @property
    def line(self) -> int:
        """Return the 1-based line of the document that is being read."""
        return bisect_left(self._breaks, self._here) + 1

    @property
    def at(self) -> int:
        """Return the offset in the document itself."""
        return self._frames[0].at

    def next(self, token: re.Pattern[str]) -> tuple[str, str] | None:
        """Return (words before the next token, token), the token "" at the end of an expansion; None at the end of
        input."""
        while True:
            frame = self._frames[-1]
            if frame.at >= len(frame.text):
                if frame.whole:
                    return None
                self._frames.pop()
                continue
            found = token.search(frame.text, frame.at)
            start, end = found.span() if found else (len(frame.text), len(frame.text))
            words = frame.text[frame.at : start]
            if frame.whole:
                self._here, self._token_at = frame.at + len(words) - len(words.lstrip()), start
            frame.at = end
            return words, found[0] if found else ""

    def at_token(self) -> None:
        """Move the current line from the words that `next` returned to its token."""
        self._here = self._token_at

    def push(self, text: str) -> bool:
        """Put `text` before what is still to be read; return False if the limit of expansions is reached."""
        self._expanded += len(text) + 1
        if self._expanded > MAX_EXPANDED or len(self._frames) > MAX_DEPTH:
            return False
        if text:
            self._frames.append(_Frame(text, 0, closings(text)))
        return True

    def blank(self) -> None:
        """Skip blanks and comments, but not the end of a paragraph."""
        frame = self._frames[-1]
        found = _BLANK.match(frame.text, frame.at)
        frame.at = found.end() if found else frame.at

    def peek(self) -> str:
        """Return the next character without consuming it."""
        frame = self._frames[-1]
        return frame.text[frame.at : frame.at + 1]

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Return what the pattern matches at the current position, consumed; "" if it doesn't match."""
        frame = self._frames[-1]
        found = pattern.match(frame.text, frame.at)
        if found is None:
            return ""
        frame.at = found.end()
        return found[0]

    def argument(self) -> str | None:
        """Return the next {argument} unread, consumed; None if there is none, or it is never closed."""
        if not self.opens():
            return None
        frame = self._frames[-1]
        begin, end = frame.at, frame.closing[frame.at - 1]
        frame.at = end + 1
        return frame.text[begin:end]

    def arguments(self) -> int:
        """Return how many {arguments} follow one another here, up to 2, without consuming them."""
        frame = self._frames[-1]
        found = _BLANK.match(frame.text, frame.at)
        first = frame.closing.get(found.end() if found else frame.at)
        return 0 if first is None else 2 if first + 1 in frame.closing else 1

    def opens(self) -> bool:
        """Consume the brace of the next {argument}; return False if there is none."""
        before = self._frames[-1].at
        self.blank()
        frame = self._frames[-1]
        if frame.at in frame.closing:
            frame.at += 1
            return True
        frame.at = before
        return False

    def optional(self, brackets: str = "[]") -> str | None:
        """Return the next [optional argument], consumed; None if there is none."""
        before = self._frames[-1].at
        self.blank()
        frame = self._frames[-1]
        if not frame.text.startswith(brackets[0], frame.at):
            frame.at = before
            return None
        at = frame.at + 1
        stop = min(len(frame.text), at + MAX_OPTIONAL)
        if frame.text.find(brackets[1], at, stop) < 0:
            stop = at
        while at < stop:
            sign = frame.text[at]
            if sign == brackets[1]:
                words = frame.text[frame.at + 1 : at]
                frame.at = at + 1
                return words
            at = frame.closing.get(at, at) + 1 if sign == "{" else at + (2 if sign == "\\" else 1)
        frame.at = before
        return None

    def until(self, end: str, limit: int) -> str | None:
        """Return everything up to `end`, both consumed; None if `end` is not within `limit` characters."""
        frame = self._frames[-1]
        first, last = self._absent.get(end, (0, 0)) if frame.whole else (0, 0)
        begin = max(frame.at, last - len(end)) if first <= frame.at < last else frame.at
        limit = min(frame.at + limit, len(frame.text))
        stop = frame.text.find(end, begin, limit)
        if stop < 0:
            if frame.whole:
                self._absent[end] = (frame.at, limit)
            return None
        words = frame.text[frame.at : stop]
        frame.at = stop + len(end)
        return words

    def expand(self, name: str) -> bool:
        """Replace a macro call by its expansion; return False if there is no such macro or the limit is reached."""
        macro = self.macros.get(name)
        return macro is not None and self.push(macro.expanded(self._given(macro)))

    def _given(self, macro: Macro) -> list[str]:
        """Return the arguments of a macro call, consumed."""
        given: list[str] = []
        if macro.default is not None:
            found = self.optional()
            given.append(macro.default if found is None else found)
        while len(given) < macro.arguments:
            given.append(self.argument() or "")
        return given

    def formula(self, tex: str) -> str:
        """Return a formula with the document's own macros expanded, as far as the limit allows."""
        for _ in range(3):
            parts: list[str] = []
            at = 0
            inner = Input(tex, self.macros) if self.macros and "\\" in tex else None
            for call in _CALL.finditer(tex) if inner is not None else ():
                macro = self.macros.get(call[1])
                if macro is None or call.start() < at or inner is None:
                    continue
                inner._frames[0].at = call.end()
                words = macro.expanded(inner._given(macro))
                self._expanded += len(words) + 1
                if self._expanded > MAX_EXPANDED:
                    return tex
                gap = " " if re.search(r"\\[A-Za-z]+$", words) and tex[inner.at : inner.at + 1].isalpha() else ""
                parts += (tex[at : call.start()], words, gap)
                at = inner.at
            if not parts:
                return tex
            tex = "".join(parts) + tex[at:]
        return tex
