"""The state of one LaTeX reading: the current block, open groups, and text that is captured as a property."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape, unescape

from compiler.readers.latex import commands as names
from compiler.readers.latex.input import Input
from compiler.readers.markup import Markup, math
from vault.model.source import Problem
from vault.text.formatting import clean_line

MAX_GROUPS = 300  # braces and environments inside one another; deeper ones mean nothing
_TAG = re.compile(r"<[^<>]*>")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n?")


@dataclass(slots=True)
class Group:
    r"""An open brace or \begin: inline tags to close at its end, and what to do then."""

    environment: str = ""
    tags: list[str] = field(default_factory=list)
    after: Callable[[], None] | None = None
    listing: str = ""  # ul, ol or dl
    item: str = ""  # the tag of the item that is open


class Blocks:
    """Writes blocks onto `markup` and collects the document's own properties in `properties`."""

    def __init__(self, text: str, markup: Markup) -> None:
        self.input = Input(text)
        self.markup = markup
        self.properties: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.statements = set(names.STATEMENTS)
        self.code_language = ""
        self.groups: list[Group] = [Group()]
        self.too_deep = 0
        self.muted = "\\begin{document}" in text  # what stands before it is no text
        self.done = False
        self._block: list[str] = []
        self._tag = "p"
        self._line = 0
        self._captures: list[list[str]] = []

    # --- words and blocks -------------------------------------------------------------------------------------

    def words(self, words: str) -> None:
        """Write plain words."""
        self.raw(escape(words.replace("`", "‘"), quote=False))

    def raw(self, inner: str) -> None:
        """Write inline markup into the capture, if one is open, else into the current block."""
        if self._captures:
            self._captures[-1].append(inner)
        elif not self.muted:
            if not self._block:
                self._line = self.input.line
                if not inner.strip():
                    return
                self._block += [f"<{tag}>" for tag in self._open_tags()]
            self._block.append(inner)

    @property
    def writing(self) -> bool:
        """Return whether the current block or capture has words."""
        return bool(self._block or self._captures)

    @property
    def capturing(self) -> bool:
        """Return whether words go into a property rather than into a block."""
        return bool(self._captures)

    def _open_tags(self) -> list[str]:
        """Return the inline tags of all open groups."""
        return [tag for group in self.groups for tag in group.tags]

    def tail(self) -> str:
        """Return the last words of the current block."""
        return unescape(_TAG.sub("", "".join(self._block[-4:])))

    def unspace(self) -> None:
        """Remove white space at the end of the current block, because what comes next was left out."""
        while self._block and not self._block[-1].strip():
            self._block.pop()
        if self._block:
            self._block[-1] = self._block[-1].rstrip()

    def flush(self) -> None:
        """End the current block; inline markup that is still open continues in the next one."""
        if self._captures or not self._block:
            return
        self._block += [f"</{tag.split()[0]}>" for tag in reversed(self._open_tags())]
        self.markup.block(self._tag, "".join(self._block), self._line)
        self._block = []

    def structure(self, act: Callable[[str, int], None], tag: str) -> None:
        """Open or close an element around blocks."""
        if not self.muted and not self._captures:
            self.flush()
            act(tag, self.input.line)

    def open_element(self, tag: str) -> None:
        """Open an element around blocks."""
        self.structure(self.markup.open, tag)

    def close_element(self, tag: str) -> None:
        """Close an element around blocks."""
        self.structure(lambda t, line: self.markup.close(t), tag)

    # --- groups -----------------------------------------------------------------------------------------------

    def push_group(self, group: Group) -> bool:
        """Open a group; return False if groups are nested too deeply."""
        if len(self.groups) > MAX_GROUPS:
            self.too_deep += 1
            return False
        self.groups.append(group)
        if group.tags and self.writing:
            self.raw("".join(f"<{tag}>" for tag in group.tags))
        return True

    def close_group(self) -> None:
        """Close the innermost group and do what was to be done at its end."""
        group = self.groups.pop()
        if group.tags and self.writing:
            self.raw("".join(f"</{tag.split()[0]}>" for tag in reversed(group.tags)))
        if group.after is not None:
            group.after()

    def marked(self, tag: str) -> None:
        """Put the words of the next argument inside this inline tag."""
        if self.input.opens():
            self.push_group(Group(tags=[tag]))

    def as_block(self, tag: str) -> None:
        """Write the next argument as a block of its own."""
        if not self.input.opens():
            return
        self.flush()
        before, self._tag = self._tag, tag

        def after() -> None:
            self.flush()
            self._tag = before

        if not self.push_group(Group(after=after)):
            self._tag = before

    def captured(self, key: str) -> None:
        """Record the words of the next argument as this property of the document, after a shorter form of them."""
        self.input.optional()
        if not self.input.opens():
            return
        self._captures.append([])

        def after() -> None:
            words = clean_line(unescape(_TAG.sub("", "".join(self._captures.pop()))))
            if words:
                known = self.properties.get(key, "") if key == "author" else ""  # some classes name them one by one
                words = words.replace(" ,", ",")
                self.properties[key] = f"{known}, {words}" if known else self.properties.get(key, words)

        if not self.push_group(Group(after=after)):
            self._captures.pop()

    def math(self, tex: str, display: bool) -> None:
        """Write a formula, in the line or displayed."""
        tex = self.input.formula(names.formula(_COMMENT.sub("", tex)))
        if tex.strip():
            self.raw(math(tex, display))

    def drop(self, arguments: int) -> None:
        """Skip this many arguments, and the optional ones before and after each."""
        while self.input.optional() is not None:
            pass
        for _ in range(arguments):
            self.input.argument()
            self.input.optional()
