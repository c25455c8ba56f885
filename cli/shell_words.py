"""A line of shell cut into the commands it holds: words, redirections, substitutions. It runs and expands nothing.

Not a shell: it reads what agents write every day, and leaves a mark where only a shell could tell what comes out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

UNKNOWN = "\ufdd2"  # what a substitution gives, or a variable that nobody can know here
_VARIABLE = ("\ufdd0", "\ufdd1")  # around the name of a variable
VARIABLE = re.compile(f"{_VARIABLE[0]}(.*?){_VARIABLE[1]}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(r"!?([A-Za-z_][A-Za-z0-9_]*)")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_ENDS = frozenset(";&|()\n")
_OPERATOR = re.compile(r"&?>>?\|?&?|<<<|<<-?|<>|<&?")


class Unreadable(ValueError):
    """Quotes or brackets that do not close: no shell would run it either, or we misread it."""


@dataclass(slots=True)
class Simple:
    """One simple command. `substituted` are the commands inside its words; `body` what its here-documents hold."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    substituted: list[str] = field(default_factory=list)
    body: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.writes or self.substituted)


def simple_commands(text: str) -> list[Simple]:
    """The simple commands of `text` in the order of writing. Raises: Unreadable."""
    return _Scanner(text).commands()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\\\n", "")
        self.at = 0
        self.done: list[Simple] = []
        self.now = Simple()
        self.word: str | None = None
        self.redirect = ""  # "write", "read", "here" or "string" while the next word is its target
        self.waiting: list[tuple[Simple, str, bool]] = []  # here-documents whose body comes after the line

    def commands(self) -> list[Simple]:
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_command()
        self.done = [each for each in self.done if each]
        return self.done

    def _step(self, c: str) -> None:
        if c in " \t":
            self._end_word()
            self.at += 1
        elif c == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif c in "<>" or (c == "&" and self.text[self.at + 1 : self.at + 2] == ">"):
            self._redirection()
        elif c in _ENDS:
            self._end_command()
            self.at += 1
            if c == "\n":
                self._bodies()
        else:
            self._piece(c)

    def _piece(self, c: str) -> None:
        """One piece of a word, quoted or not."""
        if c == "\\":
            self._add(self.text[self.at + 1 : self.at + 2])
            self.at += 2
        elif c == "'":
            self._add(self._until("'"))
        elif self.text.startswith("$'", self.at):
            self.at += 1
            self._add(_ESCAPE.sub(_unescaped, self._ansi()))
        elif c == '"' or self.text.startswith('$"', self.at):
            self.at += 1 if c == '"' else 2
            self._quoted()
        elif c == "`":
            self._substitute(self._until("`"))
        elif c == "$":
            self._dollar()
        else:
            self._add(c)
            self.at += 1

    def _quoted(self) -> None:
        """The inside of double quotes, where `$`, backticks and some backslashes still act."""
        self._add("")
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == '"':
                self.at += 1
                return
            if c == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                self._add(self.text[self.at + 1])
                self.at += 2
            elif c == "`":
                self._substitute(self._until("`"))
            elif c == "$":
                self._dollar()
            else:
                self._add(c)
                self.at += 1
        raise Unreadable("a quote is not closed")

    def _dollar(self) -> None:
        after = self.at + 1
        if self.text.startswith("((", after):
            self.at = _balanced(self.text, after)
            self._add(UNKNOWN)
        elif self.text.startswith("(", after):
            end = _balanced(self.text, after)
            inner, self.at = self.text[self.at + 2 : end - 1], end
            self._substitute(inner)
        elif self.text.startswith("{", after):
            end = self.text.find("}", self.at)
            if end < 0:
                raise Unreadable("a brace is not closed")
            name, self.at = self.text[self.at + 2 : end], end + 1
            plain = _BRACED.match(name)
            whole = plain is not None and plain[0] == name
            self._add(_VARIABLE[0] + name + _VARIABLE[1] if whole else UNKNOWN)
        elif name_ := _NAME.match(self.text, after):
            self.at = name_.end()
            self._add(_VARIABLE[0] + name_[0] + _VARIABLE[1])
        else:
            self._add("$")
            self.at += 1

    def _redirection(self) -> None:
        """`>`, `>>`, `>|`, `&>`, `<>`, `<`, `<<`, `<<-`, `<<<`, `>(`, `<(`; a file number before it is no word."""
        if self.word is not None and self.word.isdigit():
            self.word = None
        self._end_word()
        operator = _OPERATOR.match(self.text, self.at)
        assert operator is not None
        self.at = operator.end()
        if operator[0] in ("<", ">") and self.text.startswith("(", self.at):
            end = _balanced(self.text, self.at)
            inner, self.at = self.text[self.at + 1 : end - 1], end
            self._substitute(inner)
            return
        kinds = {"<": "read", "<&": "read", "<<<": "string", "<<": "here", "<<-": "here-tabs"}
        self.redirect = kinds.get(operator[0], "write")

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _substitute(self, inner: str) -> None:
        self.now.substituted.append(inner)
        self._add(UNKNOWN)

    def _until(self, mark: str) -> str:
        end = self.text.find(mark, self.at + 1)
        if end < 0:
            raise Unreadable("a quote is not closed")
        inner, self.at = self.text[self.at + 1 : end], end + 1
        return inner

    def _ansi(self) -> str:
        closing = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if closing is None:
            raise Unreadable("a quote is not closed")
        self.at = closing.end()
        return closing[1]

    def _end_word(self) -> None:
        word, self.word = self.word, None
        if word is None:
            return
        redirect, self.redirect = self.redirect, ""
        if redirect == "write":
            if not re.fullmatch(r"[0-9]|-", word):  # a file number: 2>&1
                self.now.writes.append(word)
        elif redirect == "string":
            self.now.body += word + "\n"
        elif redirect.startswith("here"):
            self.waiting.append((self.now, word, redirect == "here-tabs"))
        elif not redirect:
            self.now.words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        self.redirect = ""
        self.done.append(self.now)
        self.now = Simple()

    def _bodies(self) -> None:
        """Takes the here-documents that the line just ended has announced."""
        for command, mark, tabs in self.waiting:
            lines = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at += len(line) + 1
                if (line.lstrip("\t") if tabs else line) == mark:
                    break
                lines.append(line)
            command.body += "\n".join(lines) + "\n"
        self.waiting.clear()


def _balanced(text: str, opening: int) -> int:
    """Where the bracket that opens at `opening` has closed, quotes minded."""
    depth, at = 0, opening
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c in "'\"":
            end = at + 1
            while end < len(text) and text[end] != c:
                end += 2 if text[end] == "\\" and c == '"' else 1
            at = end
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise Unreadable("a bracket is not closed")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    plain = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return plain.get(code, code)


def braced(word: str, limit: int = 64) -> list[str]:
    """The words that `a{b,c}` stands for; at most `limit`, and the word itself where it holds no such braces."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if found is None or limit <= 1:
        return [word]
    words: list[str] = []
    for part in found[1].split(","):
        if len(words) < limit:
            words += braced(word[: found.start()] + part + word[found.end() :], limit - len(words))
    return words[:limit]
