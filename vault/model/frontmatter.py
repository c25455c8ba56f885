"""Notes: YAML front matter and a body. Edits change only their own lines; every other byte stays."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vault.ids import digest12
from vault.model.source import Problem

MAX_FRONT_MATTER = 64 * 1024  # characters; YAML gets slow and strange beyond
MAX_NESTING = 20
_OPEN = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_KEY = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)")
_PLAIN = re.compile(r"[^\W\d_](?:[\w .,/()+-]*[\w.()+])?")  # what YAML 1.1 and 1.2 both read as this very string
_UNPRINTABLE = re.compile(
    "[<\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "none", "y", "n", "nan", "inf"}

Value = str | int | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties in a note's front matter, all scalars as strings, so that `no` is "no" and 0123 is "0123".

    Those below `retain:` are among them, unless the note has one of that name beside it.
    """

    values: Mapping[str, object]
    body: int  # offset of the first character after the front matter; 0 if there is none
    problems: tuple[Problem, ...] = ()

    def text(self, key: str) -> str:
        """Return a property as a string, "" if it is missing or a list."""
        value = self.values.get(key, "")
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the strings of a list property; a lone string is a list of one."""
        value = self.values.get(key)
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _bounds(text: str) -> tuple[int, int, int] | None:
    """Return offsets (first, last, body) of the YAML between the fences and of the body; None without front matter."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened.end())
    return (opened.end(), closed.start(), closed.end()) if closed is not None else None


def body_of(text: str) -> str:
    """Return `text` without its front matter."""
    bounds = _bounds(text)
    return text[bounds[2] :] if bounds else text


def read_properties(text: str) -> Properties:
    """Return the properties of a note, read with limits: 64 KiB, no anchors or aliases, strings only.

    Never raises: what is wrong with the front matter becomes a problem with its line, and the body is still known.
    """
    bounds = _bounds(text)
    if bounds is None:
        if _OPEN.match(text):
            return Properties({}, 0, (Problem("front-matter-unterminated", "the front matter has no closing ---", 1),))
        return Properties({}, 0)
    first, last, body = bounds
    if last - first > MAX_FRONT_MATTER:
        what = f"the front matter has more than {MAX_FRONT_MATTER} characters"
        return Properties({}, body, (Problem("front-matter-too-large", what, 1),))
    values, problem = _load(text[first:last])
    return Properties(_flat(values), body, (problem,) if problem else ())


def _flat(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the properties with those below `retain:` in its place; what stands beside it counts more."""
    inner = values.get(INNER)
    if not isinstance(inner, dict):
        return values
    flat: dict[str, object] = {}
    for key, value in values.items():
        flat |= {str(k): v for k, v in inner.items() if k not in values} if key == INNER else {key: value}
    return flat


@lru_cache(maxsize=16)  # a note is often asked for one property after another, and YAML is slow
def _load(front: str) -> tuple[Mapping[str, object], Problem | None]:
    """Return the mapping in `front`; on any fault {} and the problem."""
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(front, Loader=loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                line = _line_of(event)
                return {}, Problem("front-matter-alias", "anchors and aliases are not allowed in front matter", line)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING:
                return {}, Problem("front-matter-nested", "the front matter is nested too deeply", _line_of(event))
        # python-frontmatter's own splitting strips and re-encodes: only its YAML handler is used, on text split here.
        handler: Any = YAMLHandler()
        loaded: object = handler.load(front, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "not YAML"
        line = mark.line + 2 if mark else 1
        if "nesting depth" in reason:  # PyYAML from 6.0.4 on has a limit of its own, which comes first on one line
            return {}, Problem("front-matter-nested", "the front matter is nested too deeply", line)
        return {}, Problem("front-matter-invalid", f"the front matter is not valid YAML: {reason}", line)
    except (RecursionError, ValueError) as error:
        return {}, Problem("front-matter-invalid", f"the front matter is not valid YAML: {error}", 1)
    if loaded is None or loaded == "":
        return {}, None
    if not isinstance(loaded, dict):
        return {}, Problem("front-matter-invalid", "the front matter is not a list of `key: value` properties", 2)
    return {str(k): v for k, v in loaded.items()}, None


def _line_of(event: Any) -> int:
    """Return the 1-based line in the note at which a YAML event starts; the front matter begins at line 2."""
    mark = event.start_mark
    return int(mark.line) + 2 if mark else 1


def scalar(value: str | int | bool) -> str:
    """Return `value` as a YAML scalar that every YAML parser reads the same, quoted where needed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and value.casefold() not in _WORDS and ": " not in value:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(_escape, quoted)  # what YAML does not allow bare, what hides or turns words, and tags


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def render_property(key: str, value: Value) -> str:
    """Return the lines of one property, each ended; a list has one item a line."""
    if isinstance(value, tuple):
        return f"{key}: []\n" if not value else f"{key}:\n" + "".join(f"  - {scalar(item)}\n" for item in value)
    return f"{key}: {scalar(value)}\n"


def render_properties(properties: Mapping[str, Value]) -> str:
    """Return the properties of a generated note: those that a reader uses, then the others below `retain:`."""
    shown = "".join(render_property(k, v) for k, v in properties.items() if k not in OF_RETAIN)
    inner = "".join(_INDENT + render_property(k, v) for k, v in properties.items() if k in OF_RETAIN)
    return f"{shown}{INNER}:\n{inner}" if inner else shown


def render_note(properties: Mapping[str, Value], body: str) -> str:
    """Return a new note with these properties in this order."""
    return "---\n" + "".join(render_property(k, v) for k, v in properties.items()) + f"---\n{body}"


_GENERATED = (
    "type id title aliases created updated confidence freshness status sources related tags generated source"
    " source_sha256 text_sha256 reader authority language copy_of copy_kind written_by unsupported"
)
OURS = frozenset(_GENERATED.split(" "))  # the properties that the machine sets in its notes; all others are a human's
INNER = "retain"  # the property that holds what a reader does not use
_INDENT = "  "
_OF_RETAIN = (
    "id title created confidence freshness source_sha256 text_sha256 reader language copy_kind written_by unsupported"
    " engine inferred concept generator cards generated"
)
OF_RETAIN = frozenset(_OF_RETAIN.split(" "))  # the properties below `retain:`, none of them a list


def render_generated(properties: Mapping[str, Value], body: str, old: str | None) -> str:
    """Return a generated note: its properties, `generated`, the user's own properties of `old`, the body."""
    front = render_properties({**properties, "generated": digest12(body)})
    foreign = foreign_properties(old, OURS | properties.keys()) if old else ""
    return f"---\n{front}{foreign}---\n{body}"


def human_edited(text: str) -> bool:
    """Return whether the body is not what retain last wrote; true for a note without `generated`."""
    return read_properties(text).text("generated") != digest12(body_of(text))


def splice_properties(text: str, properties: Mapping[str, Value]) -> str:
    """Return a generated note with these properties set: their lines change, new ones come last, other bytes stay.

    Those that a reader does not use are set below `retain:`, and taken away where an older note has them beside it. A
    property `retain` of another form than a block is the user's: they are set beside it, where they take precedence.
    """
    bounds = _bounds(text)
    if bounds is None:
        return f"---\n{render_properties(properties)}---\n{text}"
    first, last, _ = bounds
    pending = {k: v for k, v in properties.items() if k not in OF_RETAIN}
    inner = {k: v for k, v in properties.items() if k in OF_RETAIN}
    out = []
    for key, lines in _entries(text[first:last]):
        if key == INNER and _is_block(lines):
            out.append(_with_inner(lines, inner))
            inner = {}
        elif key == INNER:
            out.append(lines)
            pending, inner = pending | inner, {}
        elif key not in properties:
            out.append(lines)
        elif key in pending:
            out.append(render_property(key, pending.pop(key)))
    out += [render_property(k, v) for k, v in pending.items()]
    return text[:first] + "".join(out) + render_properties(inner) + text[last:]


def _is_block(lines: str) -> bool:
    """Return whether a property has its value on the lines below its name."""
    return lines.partition(":")[2].partition("\n")[0].partition("#")[0].strip() == ""


def _with_inner(lines: str, properties: Mapping[str, Value]) -> str:
    """Return the lines of `retain:` with these properties set."""
    pending = dict(properties)
    out = [render_property(key, pending.pop(key)) if key in pending else each for key, each in _inner_entries(lines)]
    out += [render_property(k, v) for k, v in pending.items()]
    head = lines.partition("\n")[0]
    return f"{head}\n" + "".join(_INDENT + line for line in "".join(out).splitlines(keepends=True))


def _inner_entries(lines: str) -> list[tuple[str, str]]:
    """Return what is below `retain:` as (key, its lines), one level less deep."""
    return _entries(textwrap.dedent(lines.partition("\n")[2])) if _is_block(lines) else []


def foreign_properties(text: str, ours: frozenset[str]) -> str:
    """Return the lines of the front matter whose keys are not in `ours`, unchanged, to be put at its end.

    Those below `retain:` come first, since they continue the property that stays above.
    """
    bounds = _bounds(text)
    if bounds is None:
        return ""
    entries = _entries(text[bounds[0] : bounds[1]])
    inner = [each for key, lines in entries if key == INNER for each in _inner_entries(lines)]
    below = "".join(lines for key, lines in inner if key not in ours | OF_RETAIN)
    beside = "".join(lines for key, lines in entries if key not in ours | {INNER})
    return "".join(_INDENT + line for line in below.splitlines(keepends=True)) + beside


def _entries(front: str) -> list[tuple[str, str]]:
    """Return the front matter as (top-level key, its lines); comments and blank lines before a key have key ""."""
    out: list[tuple[str, str]] = []
    for line in front.splitlines(keepends=True):
        found = _KEY.match(line)
        if found is not None:
            out.append((found[1], line))
        elif out and out[-1][0] and (line[0] in " \t-" or not line.strip()):
            out[-1] = (out[-1][0], out[-1][1] + line)
        else:
            out.append(("", line))
    return out
