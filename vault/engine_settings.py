"""Which model may be asked, where it is and whose key opens it: the table [engine] of the user's own `config.toml`.

    [engine]
    use = "claude"                        # who grades and quizzes: without it nobody, whatever keys lie about
    compile = "claude"                    # who compiles where no --engine says it; else "agent" or "extractive"
    base_url = "http://127.0.0.1:8080"    # any server that speaks the Messages API; else Anthropic's own
    key_env = "ANTHROPIC_API_KEY"         # the variable that holds the key; or key_file = "/home/me/.secrets/key";
    key_keyring = "retain/me"             # or service and user of the system's keyring
    concurrency = 4                       # calls of one compile under way at once
    patience = 120                        # seconds that one of its calls may take, all tries together
    pages = false                         # whether a compile shows the pages and pictures themselves, too

    [engine.models]                       # a model for each thing that may be asked of one
    grade = "claude-haiku-5-5"
    quiz = "claude-sonnet-5-5"

    [engine.prices."my-model"]            # USD for a million tokens, where retain does not know them
    input = 0.5
    output = 2.0

Nothing of this is ever read from a vault, as a vault may come from a stranger.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vault import user
from vault.clean import clean_line
from vault.errors import Damaged, ModelUnavailable
from vault.redaction import protect

USUAL = "https://api.anthropic.com"
KEY_ENV = "ANTHROPIC_API_KEY"
ROLES = ("extract", "write", "check", "grade", "quiz")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# Who compiles at Anthropic where the user names no model: the small fast one reads and checks, the middle one writes.
COMPILING = {"extract": "claude-haiku-5-5", "write": "claude-sonnet-5-5", "check": "claude-haiku-5-5"}
COMPILERS = ("claude", "agent", "extractive")
PRICED = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
_KNOWN = {
    *("use", "compile", "base_url", "key_env", "key_file", "key_keyring", "models", "prices"),
    *("concurrency", "patience", "pages"),
}
_MOST = {"concurrency": 32, "patience": 3_600}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`use` "" asks no model. `models` has a role's model; the key is read when it is needed, and kept nowhere.

    `compile` "" leaves open who compiles. `patience` is in seconds; `prices` are USD for a million tokens, by model.
    """

    use: str = ""
    base_url: str = USUAL
    key_env: str = KEY_ENV
    key_file: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    compile: str = ""
    key_keyring: str = ""
    concurrency: int = 4
    patience: float = 120.0
    pages: bool = False
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def loopback(self) -> bool:
        """Whether the model runs on this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def place(self) -> str:
        """The endpoint, where it is not the usual one: to be shown before anything is sent there."""
        return "" if self.base_url == USUAL else self.base_url

    def model(self, role: str) -> str:
        """The model of that role. Raises: ModelUnavailable, saying what to write where."""
        if not self.use:
            raise ModelUnavailable("no model is configured", hint=f"{_where()}: {_HOW.format(role=role)}")
        if role not in self.models:
            hint = f'put `{role} = "NAME"` below [engine.models] in {_where()}'
            raise ModelUnavailable(f"no model is named for `{role}`", hint=hint)
        return self.models[role]

    def compiling(self, role: str) -> str:
        """The model for that role of a compile. Raises: ModelUnavailable for a server of which we know none."""
        named = self.models.get(role) or (COMPILING.get(role) if self.base_url == USUAL else None)
        if named is None:
            hint = f'put `{role} = "NAME"` below [engine.models] in {_where()}'
            raise ModelUnavailable(f"no model is named for `{role}`", where=self.place, hint=hint)
        return named

    def key(self, environment: Mapping[str, str]) -> str:
        """The key, protected from being shown; "" for a model on this machine that wants none.

        Raises: ModelUnavailable.
        """
        key = self._found_key(environment)
        protect(key)
        return key

    def _found_key(self, environment: Mapping[str, str]) -> str:
        if self.key_file:
            return self._filed_key()
        if self.key_keyring:
            return self._key_of_the_ring()
        found = environment.get(self.key_env, "").strip()
        if not found and not self.loopback:
            hint = f"set {self.key_env}, or name a `key_file` below [engine] in {_where()}"
            raise ModelUnavailable("there is no key for the model", hint=hint)
        return found

    def _filed_key(self) -> str:
        path = Path(self.key_file)
        try:
            found = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = clean_line(getattr(error, "strerror", "") or "not text").lower()
            raise ModelUnavailable(f"the file of the key cannot be read: {reason}", where=self.key_file) from error
        if not found or not found.isprintable() or " " in found:
            raise ModelUnavailable("the file of the key holds no key", where=self.key_file)
        return found

    def _key_of_the_ring(self) -> str:
        service, _, owner = self.key_keyring.partition("/")
        try:
            ring = importlib.import_module("keyring")
            found = ring.get_password(service, owner)
        except ImportError as error:
            hint = "`pip install keyring` beside retain, or name a `key_file`"
            raise ModelUnavailable("the key lies in a keyring, and nothing here opens one", hint=hint) from error
        except Exception as error:  # each system's keyring fails in its own way
            what = f"the keyring would not open: {clean_line(str(error))[:200]}"
            raise ModelUnavailable(what, where=_where(), hint="unlock it, or name a `key_file`") from error
        if not isinstance(found, str) or not found.strip():
            hint = f"put it there: `keyring set {service} {owner}`"
            raise ModelUnavailable(f"the keyring has no key for {self.key_keyring}", where=_where(), hint=hint)
        return found.strip()


_HOW = '[engine] with use = "claude", then [engine.models] with {role} = "NAME OF A MODEL"'


def _where() -> str:
    return str(user.config_folder() / user.CONFIG)


def of_user() -> EngineSettings:
    """What the user of this machine has chosen; no model where they have said nothing. Raises: Damaged."""
    return read_engine(user.config_text(), _where())


def read_engine(text: str, path: str) -> EngineSettings:
    """The table [engine] of `text`, the settings at `path`. Raises: Damaged, with file and line."""
    return _Reader(text, path).read(user.tables(text, path).get("engine", {}))


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path

    def read(self, table: object) -> EngineSettings:
        if not isinstance(table, dict):
            raise self._wrong("engine", "[engine] must be a table")
        strange = next((key for key in table if key not in _KNOWN), None)
        if strange is not None:  # not passed over: a word misspelt here sends words or money elsewhere
            raise self._wrong(strange, f"unknown setting `{clean_line(strange)}` of [engine]")
        use = self._words(table, "use", "")
        if use not in ("", "claude"):
            raise self._wrong("use", 'use must be "claude" or be left out')
        key_file = self._words(table, "key_file", "")
        if key_file and not Path(key_file).is_absolute():
            raise self._wrong("key_file", "key_file must be an absolute path")
        who = self._words(table, "compile", "")
        if who not in ("", *COMPILERS):
            raise self._wrong("compile", f"compile must be one of {', '.join(COMPILERS)}")
        ring = self._words(table, "key_keyring", "")
        if ring and not all(ring.partition("/")):
            raise self._wrong("key_keyring", 'key_keyring must be "SERVICE/USER"')
        return EngineSettings(
            use,
            self._url(table),
            self._words(table, "key_env", KEY_ENV),
            key_file,
            self._models(table),
            compile=who,
            key_keyring=ring,
            concurrency=int(self._number(table, "concurrency", 4)),
            patience=self._number(table, "patience", 120),
            pages=self._switch(table, "pages"),
            prices=self._prices(table),
        )

    def _url(self, table: dict[str, Any]) -> str:
        url = self._words(table, "base_url", USUAL).rstrip("/")
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host, parts = None, urlsplit("")
        safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
        if not host or not safe or parts.username or parts.query or parts.fragment:
            raise self._wrong(
                "base_url", "base_url must be an https address, or http on this machine, without a name in it"
            )
        return url

    def _models(self, table: dict[str, Any]) -> dict[str, str]:
        models = table.get("models", {})
        if not isinstance(models, dict):
            raise self._wrong("models", "[engine.models] must be a table")
        strange = next((role for role in models if role not in ROLES), None)
        if strange is not None:
            raise self._wrong(strange, f"nothing is asked of a model as `{clean_line(strange)}`: {', '.join(ROLES)}")
        return {role: self._words(models, role, "") for role in models if self._words(models, role, "")}

    def _prices(self, table: dict[str, Any]) -> dict[str, dict[str, float]]:
        prices = table.get("prices", {})
        if not isinstance(prices, dict):
            raise self._wrong("prices", '[engine.prices."MODEL"] must be a table')
        for model, row in prices.items():
            if not isinstance(row, dict):
                raise self._wrong("prices", '[engine.prices."MODEL"] must be a table')
            strange = next((key for key in row if key not in PRICED), None)
            if strange is not None:
                raise self._wrong(strange, f"a price is one of {', '.join(PRICED)}")
            wrong = next((key for key, usd in row.items() if not _is_price(usd)), None)
            wrong = wrong or next((key for key in ("input", "output") if key not in row), None)
            if wrong is not None:
                words = f"{clean_line(model)} needs `{wrong}`: USD for a million tokens"
                raise self._wrong(wrong if wrong in row else "prices", words)
        return {model: {key: float(usd) for key, usd in row.items()} for model, row in prices.items()}

    def _number(self, table: dict[str, Any], key: str, default: float) -> float:
        value, most = table.get(key, default), _MOST[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= most:
            raise self._wrong(key, f"{key} must be a number from 1 to {most}")
        return float(value)

    def _switch(self, table: dict[str, Any], key: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, f"{key} must be true or false")
        return value

    def _words(self, table: dict[str, Any], key: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or not value.isprintable():
            raise self._wrong(key, f"{key} must be a text in quotes")
        return value.strip()

    def _wrong(self, key: str, what: str) -> Damaged:
        found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?(?:engine\.)?{re.escape(key)}\b", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, found.start()) + 1 if found else 1
        return Damaged(what, where=f"{self._path}:{line}", hint="mend the line")


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
