"""Which model may be asked, where it is and whose key opens it: the table [engine] of the user's own `config.toml`.

    [engine]
    use = "claude"                        # the switch: without it no model is ever asked, whatever keys lie about
    base_url = "http://127.0.0.1:8080"    # any server that speaks the Messages API; else Anthropic's own
    key_env = "ANTHROPIC_API_KEY"         # the variable that holds the key; or key_file = "/home/me/.secrets/key"

    [engine.models]                       # a model for each thing that may be asked of one
    grade = "claude-haiku-5-5"
    quiz = "claude-sonnet-5-5"

Nothing of this is ever read from a vault, as a vault may come from a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vault import user
from vault.clean import clean_line
from vault.errors import Damaged, ModelUnavailable

USUAL = "https://api.anthropic.com"
KEY_ENV = "ANTHROPIC_API_KEY"
ROLES = ("extract", "write", "check", "grade", "quiz")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_KNOWN = {"use", "base_url", "key_env", "key_file", "models"}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`use` "" asks no model. `models` has a role's model; the key is read when it is needed, and kept nowhere."""

    use: str = ""
    base_url: str = USUAL
    key_env: str = KEY_ENV
    key_file: str = ""
    models: Mapping[str, str] = field(default_factory=dict)

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

    def key(self, environment: Mapping[str, str]) -> str:
        """The key; "" for a model on this machine that wants none. Raises: ModelUnavailable."""
        if self.key_file:
            return self._filed_key()
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
        return EngineSettings(
            use, self._url(table), self._words(table, "key_env", KEY_ENV), key_file, self._models(table)
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

    def _words(self, table: dict[str, Any], key: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or not value.isprintable():
            raise self._wrong(key, f"{key} must be a text in quotes")
        return value.strip()

    def _wrong(self, key: str, what: str) -> Damaged:
        found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?(?:engine\.)?{re.escape(key)}\b", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, found.start()) + 1 if found else 1
        return Damaged(what, where=f"{self._path}:{line}", hint="mend the line")
