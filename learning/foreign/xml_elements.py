"""XML of an untrusted file as elements with their lines; a document type, with entities of its own, is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from vault.errors import Unreadable

_DEEPEST = 50


@dataclass(slots=True)
class Element:
    """An element; `text` is the text that is right in it."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    below: list[Element] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def below_named(self, tag: str) -> Iterator[Element]:
        """Yield the elements of that tag right below."""
        return (each for each in self.below if each.tag == tag)

    def text_of(self, tag: str) -> str:
        """Return the text of the first element of that tag right below; "" without one."""
        return next((each.text for each in self.below_named(tag)), "")


@dataclass(slots=True)
class _Builder:
    """Builds the elements while expat reads."""

    parser: expat.XMLParserType
    open: list[Element] = field(default_factory=list)
    root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the beginning of an element."""
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if len(self.open) >= _DEEPEST:
            raise ValueError("elements are nested too deeply")
        if self.open:
            self.open[-1].below.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self.open.pop()

    def words(self, text: str) -> None:
        """Take text."""
        if self.open:
            self.open[-1].text += text

    def doctype(self, *_: object) -> None:
        """Refuse a document type."""
        raise ValueError("it contains a DOCTYPE declaration, which is not allowed")


def parsed(data: bytes, shown: str) -> Element:
    """Return the root element. Raises: Unreadable, which names the line."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    builder = _Builder(parser)
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.words, builder.doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        where = f"{shown}:{parser.CurrentLineNumber}"
        raise Unreadable(f"the XML cannot be read: {error}"[:200], where=where, hint="export it again") from error
    if builder.root is None:
        raise Unreadable("the XML is empty", where=shown)
    return builder.root
