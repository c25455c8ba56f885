"""The settings of a vault, `retain.toml`: read strictly, without secrets, paths, endpoints or commands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vault.config.notes import NoteRules, read_rules
from vault.config.toml_file import TomlFile, parsed
from vault.diagnostic import Diagnostic
from vault.errors import Refused, SchemaTooNew
from vault.text.formatting import clean_line

FILE = "retain.toml"
SCHEMA_VERSION = "2.7.0"  # of AGENTS.md and of every format it describes
_SPAN = re.compile(r"([0-9]{1,4}) ?(hour|day|week)s?")
_STEP = re.compile(r"([0-9]{1,5})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_MOST_STEPS = 20
_LEARNING_STEPS = (timedelta(minutes=1), timedelta(minutes=10))
_RELEARNING_STEPS = (timedelta(minutes=10),)
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
RETENTION = (0.7, 0.99)
_WHOLE = {  # the least and the greatest of each whole number
    "rollover": (0, 23),
    "new_per_day": (0, 9999),
    "reviews_per_day": (0, 9999),
    "maximum_interval": (1, 36_500),
    "leech_threshold": (0, 99),
}
_MINUTES = (0, 1440)
AUTO = "auto"
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EASY = re.compile(rf"({'|'.join(_WEEK)}):([0-9]{{1,3}})%")
_SWITCHES = ("fuzz", "bury_siblings", "auto_optimize", "pause_new_cards")
_FORBIDDEN = r"(?i)key|token|secret|password|url|endpoint|host|command|hook|helper|exec|shell|path"  # rarely needed


@dataclass(frozen=True, slots=True)
class Settings:
    """`rollover` is the hour (0-23) at which the study day begins; `retention` a probability in [0.7, 0.99].

    `easy_days` has days of the week with the percentage of a usual day's reviews that each takes. `retention_by_tag`
    has tags, case folded and without `#`, with another retention: the highest of a card's tags counts.
    `minutes_per_day` limits the study time of a day; 0 is no limit, None half as many again as the learner usually
    takes. `pause_new_cards` while more than a usual day is overdue. `freshness` has folders of `raw/`, and how long
    after its last change or confirmation a source in them is to be looked at again. `notes` says which files outside
    `raw/` are sources.
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
    easy_days: tuple[str, ...] = ()
    leech_threshold: int = 8
    leech_action: str = "flag"
    minutes_per_day: int | None = None
    pause_new_cards: bool = True
    auto_optimize: bool = True
    freshness: Mapping[str, timedelta] = field(default_factory=dict)
    notes: NoteRules = field(default_factory=NoteRules)

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone."""
        return ZoneInfo(self.timezone)

    @property
    def easy_shares(self) -> tuple[float, ...]:
        """Return the share of a usual day's reviews that each day of the week takes, from Monday on."""
        percent = dict(day.removesuffix("%").split(":") for day in self.easy_days)
        return tuple(int(percent.get(day, 100)) / 100 for day in _WEEK)


def render_settings(settings: Settings) -> str:
    """Return the text of a new `retain.toml`."""
    return f"""# Settings of this vault. They are part of the vault, so put nothing secret or personal here:
# keys, endpoints and commands belong in your user settings (config.toml) or environment.

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
# More settings, with their defaults:
# minutes_per_day = "auto"  # daily time limit; "auto": 1.5 times your average over the last two weeks, 0: no limit
# pause_new_cards = true    # pause new cards while the backlog exceeds a typical day
# learning_steps = ["1m", "10m"]
# relearning_steps = ["10m"]
# maximum_interval = 36500  # days
# fuzz = true               # vary intervals a little, so that cards learned together are not always due together
# bury_siblings = false     # at most one card per concept each day
# easy_days = []            # like ["sat:50%", "sun:0%"]: weekdays with fewer reviews
# leech_threshold = 8       # lapses after which a card counts as a leech; 0: never
# leech_action = "flag"     # or "suspend"
# auto_optimize = true      # optimize the FSRS parameters each time your number of reviews has doubled
#
# [learning.retention_by_tag]
# exam = 0.95
#
# [freshness]               # when a source in a folder must be checked again after its last change
# "raw/policies" = "30 days"
{_notes_table(settings.notes)}"""


def _notes_table(rules: NoteRules) -> str:
    """Return the table [notes]; commented out where no note outside `raw/` is a source."""
    if not rules.folders:
        return """#
# [notes]                   # notes outside raw/, used as sources where they are: they are read, but never changed
# folders = []              # like ["."], the whole vault, or ["Physics"]
# exclude = []              # like ["Templates", "*.excalidraw.md"]
# exclude_tags = []         # like ["private"]
"""
    lists = ((key, getattr(rules, key)) for key in ("folders", "exclude", "exclude_tags"))
    lines = "".join(f"{key} = [{', '.join(map(quoted, values))}]\n" for key, values in lists)
    return f"\n[notes]  # notes outside raw/, used as sources where they are: they are read, but never changed\n{lines}"


def quoted(text: str) -> str:
    """Return the text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_settings(text: str, path: str = FILE) -> tuple[Settings, list[Diagnostic]]:
    """Return the settings, and a diagnostic for each unknown key.

    Raises Damaged (with file and line) for invalid values; SchemaTooNew for a newer vault; Refused for a key that could
    make a machine connect somewhere or run something.
    """
    data = parsed(text, path, "fix it, or restore it from git")
    file = TomlFile(text, path, "fix the line, or restore it from git")
    found = _unknown(file, data)
    vault, learning = file.table(data, "vault"), file.table(data, "learning")
    values: dict[str, Any] = {"schema": _schema(file, vault), "vault_id": file.string(vault, "id")}
    if not _ID.fullmatch(values["vault_id"]):
        raise file.wrong("id", "id must be the 26-character id that `retain init` wrote")
    values["name"] = file.string(vault, "name", "vault")
    values["timezone"] = _timezone(file, learning)
    values["leech_action"] = file.choice(learning, "leech_action", ("flag", "suspend"), "flag")
    values |= {key: file.whole(learning, key, *span) for key, span in _WHOLE.items() if key in learning}
    values |= {key: file.switch(learning, key) for key in _SWITCHES if key in learning}
    values |= {key: _steps(file, learning, key) for key in ("learning_steps", "relearning_steps") if key in learning}
    values["minutes_per_day"] = _minutes(file, learning, "minutes_per_day")
    if "easy_days" in learning:
        values["easy_days"] = _easy_days(file, learning)
    if "retention" in learning:
        values["retention"] = file.number(learning, "retention", *RETENTION)
    tags = file.table(learning, "retention_by_tag", "learning.retention_by_tag")
    values["retention_by_tag"] = {t.removeprefix("#").casefold(): file.number(tags, t, *RETENTION) for t in tags}
    freshness = file.table(data, "freshness")
    values["freshness"] = {_folder(file, key): _span(file, key, value) for key, value in freshness.items()}
    values["notes"] = read_rules(file, file.table(data, "notes"))
    return Settings(**values), found


def _schema(file: TomlFile, vault: Mapping[str, Any]) -> str:
    """Return the schema version. Raises Damaged, SchemaTooNew."""
    schema = file.string(vault, "schema")
    if not re.fullmatch(r"\d+\.\d+\.\d+", schema):
        raise file.wrong("schema", 'schema must be like "2.3.0"')
    if version_numbers(schema)[:2] > version_numbers(SCHEMA_VERSION)[:2]:
        what = f"this vault has schema {schema}; this version of retain supports {SCHEMA_VERSION}"
        where = f"{file.path}:{file.line('schema')}"
        raise SchemaTooNew(what, where=where, hint="update retain; nothing was changed")
    return schema


def _timezone(file: TomlFile, learning: Mapping[str, Any]) -> str:
    timezone = file.string(learning, "timezone", "UTC")
    try:
        ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise file.wrong("timezone", f'unknown time zone "{timezone}"') from error
    return timezone


def _unknown(file: TomlFile, data: Mapping[str, Any]) -> list[Diagnostic]:
    """Return a diagnostic for each unknown key. Raises: Refused for one that no vault may set."""
    known = {
        "vault": {"id", "name", "schema"},
        "learning": {each.name for each in fields(Settings)} - {"vault_id", "name", "schema", "freshness", "notes"},
        "notes": {each.name for each in fields(NoteRules)},
    }
    found = []
    for table, value in data.items():
        if table == "freshness":
            continue  # its keys are folders
        for key in [table, *(value if isinstance(value, dict) else ())]:
            if key in known or key in known.get(table, ()):
                continue
            line = file.line(key)
            if re.search(_FORBIDDEN, key):
                what = f"`{key}` is not allowed in retain.toml (security)"
                hint = "delete the line; set it in your user settings (config.toml)"
                raise Refused(what, where=f"{file.path}:{line}", hint=hint)
            hint = "check the spelling; this setting has no effect"
            found.append(Diagnostic(file.path, line, "unknown-setting", f"unknown setting `{key}`", hint))
    return found


def _minutes(file: TomlFile, learning: Mapping[str, Any], key: str) -> int | None:
    """Return the minutes a day; None for "auto". Raises Damaged."""
    if learning.get(key, AUTO) == AUTO:
        return None
    if isinstance(learning[key], str):
        raise file.wrong(key, f'{key} must be "{AUTO}" or a whole number from {_MINUTES[0]} to {_MINUTES[1]}')
    return file.whole(learning, key, *_MINUTES)


def _steps(file: TomlFile, learning: Mapping[str, Any], key: str) -> tuple[timedelta, ...]:
    """Return learning steps such as ["1m", "10m"]."""
    value = learning[key]
    given = value if isinstance(value, list) else [None]
    found = [_STEP.fullmatch(each) if isinstance(each, str) else None for each in given]
    if None in found or len(found) > _MOST_STEPS:
        raise file.wrong(key, f'{key} must be a list of at most {_MOST_STEPS} times like ["1m", "10m", "1d"]')
    steps = tuple(timedelta(**{_UNITS[step[2]]: int(step[1])}) for step in found if step)
    if any(step <= timedelta() for step in steps):
        raise file.wrong(key, f"the times in {key} must be greater than zero")
    return steps


def _easy_days(file: TomlFile, learning: Mapping[str, Any]) -> tuple[str, ...]:
    """Return easy days such as ["sat:50%", "sun:0%"]."""
    value = learning["easy_days"]
    found = (
        [_EASY.fullmatch(each) if isinstance(each, str) else None for each in value]
        if isinstance(value, list)
        else [None]
    )
    days = [each[1] for each in found if each and int(each[2]) <= 100]
    if len(days) != len(found) or len(set(days)) != len(days):
        what = 'easy_days must be a list like ["sat:50%", "sun:0%"]'
        what += f": each day ({', '.join(_WEEK)}) at most once, with 0% to 100%"
        raise file.wrong("easy_days", what)
    return tuple(value)


def _folder(file: TomlFile, key: str) -> str:
    """Return the folder that a key of [freshness] names, without a slash at its end. Raises Damaged."""
    parts = key.rstrip("/").split("/")
    if parts[0] != "raw" or {"", ".", ".."} & set(parts):
        raise file.wrong(key, f'{clean_line(key)!r} must be a folder in raw/, like "raw/policies"')
    return "/".join(parts)


def _span(file: TomlFile, key: str, value: object) -> timedelta:
    """Return the time in the text of a key of [freshness]. Raises Damaged."""
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None or not int(found[1]):
        raise file.wrong(key, f'the time for {clean_line(key)!r} must be like "12 hours", "1 day" or "2 weeks"')
    return timedelta(**{f"{found[2]}s": int(found[1])})


def version_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version like "2.4.0", which compare as versions do."""
    return tuple(int(part) for part in text.split("."))
