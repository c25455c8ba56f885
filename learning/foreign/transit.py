"""The two notations of Clojure in which Mochi writes: Transit in JSON, and EDN. Both give dicts, lists and scalars.

Keywords and symbols are text without their colon; instants are aware datetimes; a tagged value of another kind is the
value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

_DEEPEST = 60
_CACHED = 44 * 44  # strings in Transit's cache
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOKEN = re.compile(
    r"[\s,]+|;[^\n]*|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<sign>#\{|#_|[\[\](){}])|\\(?P<char>newline|space|tab|return|u[0-9a-fA-F]{4}|.)"
    r"|#(?P<tag>[A-Za-z][\w./+-]*)|(?P<word>[^\s,;\"\[\](){}]+)",
    re.DOTALL,
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "b": "\b", "f": "\f"}


class _Transit:
    """Reads the JSON of Transit, in which keywords that were written before are short references."""

    def __init__(self) -> None:
        self._cache: list[str] = []

    def read(self, value: Any, depth: int = 0, *, key: bool = False) -> Any:
        """Return the value. Raises: ValueError."""
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        if isinstance(value, str):
            return self._text(value, key=key)
        if isinstance(value, dict):
            if len(value) == 1 and (tag := next(iter(value))).startswith("~#"):
                return _tagged(tag[2:], self.read(value[tag], depth + 1))
            return {str(self.read(k, depth + 1, key=True)): self.read(v, depth + 1) for k, v in value.items()}
        if not isinstance(value, list) or not value:
            return value
        if value[0] == "^ ":
            pairs = zip(value[1::2], value[2::2], strict=True)
            return {str(self.read(k, depth + 1, key=True)): self.read(v, depth + 1) for k, v in pairs}
        first = self.read(value[0], depth + 1)
        if isinstance(first, _Tag) and len(value) == 2:
            return _tagged(first.name, self.read(value[1], depth + 1))
        return [first, *(self.read(each, depth + 1) for each in value[1:])]

    def _text(self, text: str, *, key: bool) -> Any:
        if text.startswith("^") and len(text) in (2, 3):
            digits = [ord(sign) - 48 for sign in text[1:]]
            number = digits[0] if len(digits) == 1 else digits[0] * 44 + digits[1]
            if not 0 <= number < len(self._cache):
                raise ValueError("a reference to something that does not exist")
            text = self._cache[number]
        elif len(text) > 3 and (key or text[:2] in ("~:", "~$", "~#")):
            if len(self._cache) >= _CACHED:
                self._cache = []
            self._cache.append(text)
        return _scalar(text)


class _Tag:
    """The tag before a value."""

    def __init__(self, name: str) -> None:
        self.name = name


def _scalar(text: str) -> Any:
    """Return what a text of Transit means."""
    if not text.startswith("~") or len(text) < 2:
        return text
    kind, rest = text[1], text[2:]
    if kind == "#":
        return _Tag(rest)
    if kind in ":$u":
        return rest
    if kind in "~^`":
        return text[1:]
    if kind == "?":
        return rest == "t"
    if kind in "in":
        return int(rest)
    if kind == "d":
        return float(rest)
    if kind == "m":
        return _EPOCH + timedelta(milliseconds=int(rest))
    if kind == "t":
        return datetime.fromisoformat(rest)
    return None if kind == "_" else rest


def _tagged(name: str, value: Any) -> Any:
    """Return a tagged value: instants as such, sets and lists as lists, others as they are."""
    if name in ("dt", "m", "inst") and isinstance(value, int | float | str):
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        return _EPOCH + timedelta(milliseconds=value)
    if name == "cmap" and isinstance(value, list):
        return {str(k): v for k, v in zip(value[::2], value[1::2], strict=False)}
    return value


def read_transit(value: Any) -> Any:
    """Return what parsed JSON means. Raises: ValueError."""
    try:
        return _Transit().read(value)
    except (TypeError, IndexError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def read_edn(text: str) -> Any:
    """Return the first value of a text in EDN. Raises: ValueError."""
    try:
        return _value(_tokens(text), None, 0)
    except (StopIteration, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise ValueError(f"not valid EDN: {error}") from error


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each token."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"an invalid EDN character at {at}")
        at = found.end()
        if found.lastgroup is not None:
            yield found.lastgroup, found[found.lastgroup]


def _value(tokens: Iterator[tuple[str, str]], token: tuple[str, str] | None, depth: int) -> Any:
    """Return the value that begins with `token`, or with the next one."""
    kind, text = token or next(tokens)
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if kind == "string":
        return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _escape, text[1:-1], flags=re.DOTALL)
    if kind == "char":
        return {"newline": "\n", "space": " ", "tab": "\t", "return": "\r"}.get(text, text)
    if kind == "tag":
        return _tagged(text, _value(tokens, None, depth + 1))
    if kind == "word":
        return _word(text)
    if text == "#_":
        _value(tokens, None, depth + 1)
        return _value(tokens, None, depth)
    if text not in _CLOSING:
        raise ValueError(f"unexpected {text}")
    items = []
    while (token := next(tokens)) != ("sign", _CLOSING[text]):
        if token == ("sign", "#_"):
            _value(tokens, None, depth + 1)
            continue
        items.append(_value(tokens, token, depth + 1))
    return {str(k): v for k, v in zip(items[::2], items[1::2], strict=True)} if text == "{" else items


def _escape(found: re.Match[str]) -> str:
    """Return the character of an escape."""
    return chr(int(found[1][1:], 16)) if len(found[1]) == 5 else _ESCAPES.get(found[1], found[1])


def _word(text: str) -> Any:
    """Return what a bare word means."""
    if text in ("true", "false", "nil"):
        return {"true": True, "false": False, "nil": None}[text]
    if text.startswith(":"):
        return text[1:]
    if re.fullmatch(r"[+-]?\d+N?", text):
        return int(text.rstrip("N"))
    return float(text.rstrip("M")) if re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?M?", text) else text
