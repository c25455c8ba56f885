"""`retain.toml`: what belongs to a vault, read strictly. Never a secret, a person's path, an endpoint or a command."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vault.diagnostic import Diagnostic
from vault.errors import Damaged, Refused, SchemaTooNew

FILE = "retain.toml"
SCHEMA_VERSION = "2.3.0"  # of AGENTS.md and of every format it describes
_STEP = re.compile(r"([0-9]{1,5})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_MOST_STEPS = 20
_LEARNING_STEPS = (timedelta(minutes=1), timedelta(minutes=10))
_RELEARNING_STEPS = (timedelta(minutes=10),)
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_FORBIDDEN = r"(?i)key|token|secret|password|url|endpoint|host|command|hook|helper|exec|shell|path"  # rarely needed


@dataclass(frozen=True, slots=True)
class Settings:
    """`rollover` is the hour (0-23) at which the study day begins; `retention` a probability in [0.7, 0.99].

    `retention_by_tag` names tags, case folded and without `#`, that want another one: the highest of a card's tags
    counts. `minutes_per_day` is what new cards may bring a day to; 0 leaves that to `new_per_day`.
    """

    vault_id: str
    name: str
    schema: str = SCHEMA_VERSION
    timezone: str = "UTC"
    rollover: int = 4
    new_per_day: int = 20
    reviews_per_day: int = 200
    retention: float = 0.9
    retention_by_tag: Mapping[str, float] = field(default_factory=dict)
    learning_steps: tuple[timedelta, ...] = _LEARNING_STEPS
    relearning_steps: tuple[timedelta, ...] = _RELEARNING_STEPS
    maximum_interval: int = 36_500
    fuzz: bool = True
    bury_siblings: bool = False
    leech_threshold: int = 8
    leech_action: str = "flag"
    minutes_per_day: int = 0
    auto_optimize: bool = True

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def render_settings(settings: Settings) -> str:
    """The text of a new `retain.toml`."""
    return f"""# Settings of this vault. They travel with it, so nothing secret or personal belongs here:
# keys, endpoints and commands come from your own configuration or environment.

[vault]
id = "{settings.vault_id}"
name = {quoted(settings.name)}
schema = "{settings.schema}"

[learning]
timezone = {quoted(settings.timezone)}  # recorded once, so that study days are the same on every machine
rollover = {settings.rollover}  # the hour at which a new study day begins
new_per_day = {settings.new_per_day}
reviews_per_day = {settings.reviews_per_day}
retention = {settings.retention}  # the chance of recalling a card on the day it is due
# More can be set here, shown with what holds unless you say otherwise:
# minutes_per_day = 0       # new cards wait while reviews would take longer than this a day; 0: no such limit
# learning_steps = ["1m", "10m"]
# relearning_steps = ["10m"]
# maximum_interval = 36500  # days
# fuzz = true               # intervals vary a little, so that cards learnt together do not stay together
# bury_siblings = false     # at most one card of a concept a day
# leech_threshold = 8       # lapses after which a card counts as a leech; 0: never
# leech_action = "flag"     # or "suspend"
# auto_optimize = true      # fit the scheduler to you by itself when your reviews have doubled
#
# [learning.retention_by_tag]
# exam = 0.95
"""


def quoted(text: str) -> str:
    """Return the text as a TOML string."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_settings(text: str, path: str = FILE) -> tuple[Settings, list[Diagnostic]]:
    """The settings, and a diagnostic for each key that is unknown.

    Raises: Damaged (file and line named) for what cannot be read; SchemaTooNew for a newer vault; Refused for a
    key that would send a machine somewhere or make it run something.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line[1]}" if line else path
        raise Damaged(f"not TOML: {error}", where=where, hint="mend it, or restore it from git") from error
    except RecursionError as error:
        raise Damaged("nested too deeply", where=path) from error
    return _Reader(text, path, data).settings()


class _Reader:
    def __init__(self, text: str, path: str, data: dict[str, Any]) -> None:
        self.text, self.path, self.data = text, path, data
        self.found: list[Diagnostic] = []

    def settings(self) -> tuple[Settings, list[Diagnostic]]:
        self._known_keys()
        vault = self._table("vault")
        schema = self._value(vault, "schema", str, "")
        if not re.fullmatch(r"\d+\.\d+\.\d+", schema):
            raise self._damaged("schema", 'schema must be like "2.3.0"')
        if _version(schema)[:2] > _version(SCHEMA_VERSION)[:2]:
            what = f"this vault has schema {schema}; this retain knows {SCHEMA_VERSION}"
            raise SchemaTooNew(
                what, where=f"{self.path}:{self._line('schema')}", hint="update retain; nothing was touched"
            )
        id_ = self._value(vault, "id", str, "")
        if not _ID.fullmatch(id_):
            raise self._damaged("id", "id must be the 26 letters and digits that init wrote")
        learning = self._table("learning")
        timezone = self._value(learning, "timezone", str, "UTC")
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise self._damaged("timezone", f'no time zone is named "{timezone}"') from error
        settings = Settings(
            vault_id=id_,
            name=self._value(vault, "name", str, "vault"),
            schema=schema,
            timezone=timezone,
            rollover=self._between(learning, "rollover", 4, 0, 23),
            new_per_day=self._between(learning, "new_per_day", 20, 0, 9999),
            reviews_per_day=self._between(learning, "reviews_per_day", 200, 0, 9999),
            retention=self._retention(learning, "retention", 0.9),
            retention_by_tag=self._retention_by_tag(learning),
            learning_steps=self._steps(learning, "learning_steps", _LEARNING_STEPS),
            relearning_steps=self._steps(learning, "relearning_steps", _RELEARNING_STEPS),
            maximum_interval=self._between(learning, "maximum_interval", 36_500, 1, 36_500),
            fuzz=self._switch(learning, "fuzz", True),
            bury_siblings=self._switch(learning, "bury_siblings", False),
            leech_threshold=self._between(learning, "leech_threshold", 8, 0, 99),
            leech_action=self._leech_action(learning),
            minutes_per_day=self._between(learning, "minutes_per_day", 0, 0, 1440),
            auto_optimize=self._switch(learning, "auto_optimize", True),
        )
        return settings, self.found

    def _known_keys(self) -> None:
        known = {
            "vault": {"id", "name", "schema"},
            "learning": {each.name for each in fields(Settings)} - {"vault_id", "name", "schema"},
        }
        for table, value in self.data.items():
            keys = list(value) if isinstance(value, dict) else []
            for key in [table, *keys]:
                if key in known or key in known.get(table, ()):
                    continue
                where = f"{self.path}:{self._line(key)}"
                if re.search(_FORBIDDEN, key):
                    what = f"a vault's settings may not name `{key}`: whoever wrote the vault would choose it for you"
                    raise Refused(what, where=where, hint="delete the line; put it in your own configuration")
                hint = "check its spelling; it has no effect"
                self.found.append(
                    Diagnostic(self.path, self._line(key), "unknown-setting", f"unknown setting `{key}`", hint)
                )

    def _table(self, name: str) -> dict[str, Any]:
        value = self.data.get(name, {})
        if not isinstance(value, dict):
            raise self._damaged(name, f"[{name}] must be a table")
        return value

    def _value(self, table: dict[str, Any], key: str, type_: type[str], default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, type_):
            raise self._damaged(key, f"{key} must be a text in quotes")
        return value

    def _between(self, table: dict[str, Any], key: str, default: int, low: int, high: int) -> int:
        value = table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._damaged(key, f"{key} must be a whole number from {low} to {high}")
        return value

    def _retention(self, table: dict[str, Any], key: str, default: float | None = None) -> float:
        value = table.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0.7 <= value <= 0.99:
            raise self._damaged(key, f"{key} must be a number from 0.7 to 0.99")
        return float(value)

    def _retention_by_tag(self, learning: dict[str, Any]) -> Mapping[str, float]:
        table = learning.get("retention_by_tag", {})
        if not isinstance(table, dict):
            raise self._damaged("retention_by_tag", "[learning.retention_by_tag] must be a table of tags")
        return {tag.removeprefix("#").casefold(): self._retention(table, tag) for tag in table}

    def _steps(self, table: dict[str, Any], key: str, default: tuple[timedelta, ...]) -> tuple[timedelta, ...]:
        value = table.get(key)
        if value is None:
            return default
        found = [_STEP.fullmatch(each) if isinstance(each, str) else None for each in value if isinstance(value, list)]
        if not isinstance(value, list) or None in found or len(found) > _MOST_STEPS:
            raise self._damaged(key, f'{key} must be a list of at most {_MOST_STEPS} times like ["1m", "10m", "1d"]')
        steps = tuple(timedelta(**{_UNITS[step[2]]: int(step[1])}) for step in found if step)
        if any(step <= timedelta() for step in steps):
            raise self._damaged(key, f"{key} must hold times longer than nothing")
        return steps

    def _switch(self, table: dict[str, Any], key: str, default: bool) -> bool:
        value = table.get(key, default)
        if not isinstance(value, bool):
            raise self._damaged(key, f"{key} must be true or false")
        return value

    def _leech_action(self, table: dict[str, Any]) -> str:
        value = self._value(table, "leech_action", str, "flag")
        if value not in ("flag", "suspend"):
            raise self._damaged("leech_action", 'leech_action must be "flag" or "suspend"')
        return value

    def _line(self, key: str) -> int:
        """The 1-based line on which `key` is set; 1 if it isn't to be found."""
        found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?{re.escape(key)}\b", self.text, re.MULTILINE)
        return self.text.count("\n", 0, found.start()) + 1 if found else 1

    def _damaged(self, key: str, what: str) -> Damaged:
        return Damaged(what, where=f"{self.path}:{self._line(key)}", hint="mend the line, or restore it from git")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
