"""Values that cross a process border as JSON, and the types of their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Self, dataclass_transform, get_args, get_type_hints

import msgspec

from vault.text.formatting import fold, normal

_Clean = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A mark of a field's type: `by` is applied to the text when a value is made."""

    by: Callable[[str], str]


# What an engine says in its own words is cleaned as it comes in, as a document's text was: nothing hidden in it.
Verbatim = Annotated[str, msgspec.Meta(max_length=20_000)]
Text = Annotated[str, msgspec.Meta(max_length=20_000), Cleaned(normal)]
Line = Annotated[str, msgspec.Meta(max_length=2_000), Cleaned(lambda text: fold(normal(text)))]
Name = Annotated[str, msgspec.Meta(max_length=200), Cleaned(normal)]
Id = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-hjkmnp-tv-z]{10}\Z")]


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value with a JSON form. Its shape is checked where it comes from outside: `from_json` and `from_text`."""

    def __post_init__(self) -> None:
        for name, clean in _cleaners(type(self)):
            msgspec.structs.force_setattr(self, name, clean(getattr(self, name)))

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the value that decoded JSON stands for. Raises: ValueError for another shape."""
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """Return the value of a JSON text. Raises: ValueError for another shape or no JSON."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error

    def as_json(self) -> dict[str, Any]:
        """Return the value as JSON with all its fields."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields

    def as_brief_json(self) -> dict[str, Any]:
        """Return the value as JSON without fields that have their default."""
        defaults = _defaults(type(self))
        return {name: _brief(value) for name, default in defaults if (value := getattr(self, name)) != default}

    def replaced(self, **fields: Any) -> Self:
        """Return the value with other fields."""
        return msgspec.structs.replace(self, **fields)


def _brief(value: Any) -> Any:
    if isinstance(value, Message):
        return value.as_brief_json()
    return [_brief(item) for item in value] if isinstance(value, tuple) else msgspec.to_builtins(value)


@cache
def _defaults(shape: type[Message]) -> tuple[tuple[str, Any], ...]:
    """Return the fields with their defaults."""
    return tuple((field.name, field.default) for field in msgspec.structs.fields(shape))


@cache
def _cleaners(shape: type[Message]) -> tuple[tuple[str, _Clean], ...]:
    """Return the fields whose texts are cleaned, each with what cleans it."""
    hints = get_type_hints(shape, include_extras=True)
    return tuple((name, clean) for name in shape.__struct_fields__ if (clean := _cleaner(hints[name])) is not None)


def _cleaner(hint: Any) -> _Clean | None:
    """Return what cleans a text of this type, or each text in a tuple of it; None where nothing is cleaned."""
    if hasattr(hint, "__metadata__"):
        marks = [mark.by for mark in hint.__metadata__ if isinstance(mark, Cleaned)]
        return marks[0] if marks else _cleaner(hint.__origin__)
    inner = next((clean for part in get_args(hint) if (clean := _cleaner(part)) is not None), None)
    return None if inner is None else lambda values: tuple(map(inner, values))
