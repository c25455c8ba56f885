"""The table [engine] of the user's `config.toml`: which model is used, where it is, and its key.

    [engine]
    use = "claude"                        # grade and quiz with a model; without it, with none
    compile = "claude"                    # the default engine of compile; or "command", "agent", "extractive"
    command = ["claude", "-p"]            # a program that compiles: see `vault.config.command`
    size = "small"                        # a model with 1 to 8 billion parameters: smaller requests
    part_bytes = 40000                    # bytes of documents in a request
    base_url = "http://127.0.0.1:8080"    # any server of the Messages API (default: Anthropic)
    key_env = "ANTHROPIC_API_KEY"         # the variable with the key; or key_file = "/home/me/.secrets/key";
    key_keyring = "retain/me"             # or service and user of the system's keyring
    concurrency = 4                       # parallel requests of one compile
    patience = 120                        # seconds for one request with all retries

    [engine.models]                       # a model for each role
    grade = "claude-haiku-5-5"
    quiz = "claude-sonnet-5-5"

    [engine.prices."my-model"]            # USD per million tokens, for models that retain does not know
    input = 0.5
    output = 2.0

None of this is read from a vault, as a vault may come from somebody else.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vault.config import user
from vault.config.command import CommandSettings, read_command
from vault.config.toml_file import TomlFile, parsed
from vault.errors import ModelUnavailable
from vault.text.formatting import clean_line
from vault.text.redaction import protect

USUAL = "https://api.anthropic.com"
KEY_ENV = "ANTHROPIC_API_KEY"
ROLES = ("read", "write", "check", "grade", "quiz")
_FORMER = "extract"  # the name of `read` in files of earlier versions
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# Who compiles at Anthropic where the user names no model: another one checks than the one that writes.
COMPILING = {"read": "claude-sonnet-5-5", "write": "claude-sonnet-5-5", "check": "claude-haiku-5-5"}
COMPILERS = ("claude", "command", "agent", "extractive")
PART_BYTES = {"large": 40_000, "small": 4_000}  # of documents in a request, by the model's size
PRICED = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
_KNOWN = {
    *("use", "compile", "base_url", "key_env", "key_file", "key_keyring", "models", "prices"),
    *("concurrency", "patience", "size", "part_bytes", "command", "command_check", "command_env"),
}
_LIMITS = {"concurrency": (1, 32), "patience": (1, 3_600), "part_bytes": (1_000, 400_000)}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`use` "" means no model. `models` are by role; the key is read when needed, and not stored.

    `compile` "" leaves the engine open. `patience` is in seconds; `prices` are USD per million tokens, by model.
    `command` is the program that compiles, with limits of its own; None if there is none.
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
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    size: str = "large"
    part_bytes: int = PART_BYTES["large"]
    command: CommandSettings | None = None

    @property
    def loopback(self) -> bool:
        """Return whether the model runs on this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def place(self) -> str:
        """Return the endpoint if it is not the default, to show before anything is sent there; else ""."""
        return "" if self.base_url == USUAL else self.base_url

    def model(self, role: str) -> str:
        """Return the model for a role. Raises ModelUnavailable with the setting to write."""
        if not self.use:
            raise ModelUnavailable("no model is configured", hint=f"{_config_path()}: {_HOW.format(role=role)}")
        if role not in self.models:
            hint = f'put `{role} = "NAME"` below [engine.models] in {_config_path()}'
            raise ModelUnavailable(f"no model is set for `{role}`", hint=hint)
        return self.models[role]

    def compiling(self, role: str) -> str:
        """Return the model for a role of a compile. Raises ModelUnavailable if none is known."""
        named = self.models.get(role) or (COMPILING.get(role) if self.base_url == USUAL else None)
        if named is None:
            hint = f'put `{role} = "NAME"` below [engine.models] in {_config_path()}'
            raise ModelUnavailable(f"no model is set for `{role}`", where=self.place, hint=hint)
        return named

    def key(self, environment: Mapping[str, str]) -> str:
        """Return the key, protected from being printed; "" for a model on this machine without one.

        Raises ModelUnavailable.
        """
        key = self._read_key(environment)
        protect(key)
        return key

    def _read_key(self, environment: Mapping[str, str]) -> str:
        """Return the key from file, keyring or environment. Raises ModelUnavailable."""
        if self.key_file:
            return self._key_from_file()
        if self.key_keyring:
            return self._key_from_keyring()
        found = environment.get(self.key_env, "").strip()
        if not found and not self.loopback:
            hint = f"set {self.key_env}, or set `key_file` in [engine] in {_config_path()}"
            raise ModelUnavailable("no key for the model", hint=hint)
        return found

    def _key_from_file(self) -> str:
        """Return the key in `key_file`. Raises ModelUnavailable."""
        path = Path(self.key_file)
        try:
            found = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = clean_line(getattr(error, "strerror", "") or "the file is not text").lower()
            raise ModelUnavailable(f"the key file cannot be read: {reason}", where=self.key_file) from error
        if not found or not found.isprintable() or " " in found:
            raise ModelUnavailable("the key file is empty", where=self.key_file)
        return found

    def _key_from_keyring(self) -> str:
        """Return the key in the keyring. Raises ModelUnavailable."""
        service, _, owner = self.key_keyring.partition("/")
        try:
            ring = importlib.import_module("keyring")
            found = ring.get_password(service, owner)
        except ImportError as error:
            hint = "install it in the same environment as retain, or set `key_file`"
            raise ModelUnavailable(
                "the key is in a keyring, but the package `keyring` is not installed", hint=hint
            ) from error
        except Exception as error:  # each system's keyring fails in its own way
            what = f"the keyring could not be opened: {clean_line(str(error))[:200]}"
            raise ModelUnavailable(what, where=_config_path(), hint="unlock it, or set `key_file`") from error
        if not isinstance(found, str) or not found.strip():
            hint = f"add it: `keyring set {service} {owner}`"
            raise ModelUnavailable(f"the keyring has no key for {self.key_keyring}", where=_config_path(), hint=hint)
        return found.strip()


_HOW = 'in config.toml, set use = "claude" in [engine] and {role} = "NAME OF A MODEL" in [engine.models]'


def _config_path() -> str:
    return str(user.config_folder() / user.CONFIG)


def of_user() -> EngineSettings:
    """Return the engine settings of this user. Raises Damaged."""
    return read_engine(user.config_text(), _config_path())


def read_engine(text: str, path: str) -> EngineSettings:
    """Return the table [engine] of `text`, the settings file at `path`. Raises Damaged, with file and line."""
    table = parsed(text, path).get("engine", {})
    file = TomlFile(text, path)
    if not isinstance(table, dict):
        raise file.wrong("engine", "[engine] must be a table")
    unknown = next((key for key in table if key not in _KNOWN), None)
    if unknown is not None:  # not passed over: a word misspelt here sends words or money elsewhere
        raise file.wrong(unknown, f"unknown setting `{clean_line(unknown)}` in [engine]")
    if table.get("use", "") not in ("", "claude"):
        raise file.wrong("use", '`use` must be "claude" or omitted')
    key_file = _text(file, table, "key_file")
    if key_file and not Path(key_file).is_absolute():
        raise file.wrong("key_file", "key_file must be an absolute path")
    ring = _text(file, table, "key_keyring")
    if ring and not all(ring.partition("/")):
        raise file.wrong("key_keyring", 'key_keyring must be "SERVICE/USER"')
    numbers = {key: file.number(table, key, *limits) for key, limits in _LIMITS.items() if key in table}
    size = file.choice(table, "size", tuple(PART_BYTES), "large")
    command = read_command(file, table, numbers)
    if table.get("compile") == "command" and command is None:
        raise file.wrong("compile", 'compile = "command" needs `command = ["PROGRAM", "ARGUMENT"]` below [engine]')
    return EngineSettings(
        table.get("use", ""),
        _url(file, table),
        _text(file, table, "key_env", KEY_ENV),
        key_file,
        _models(file, table),
        compile=file.choice(table, "compile", COMPILERS),
        key_keyring=ring,
        concurrency=int(numbers.get("concurrency", 4)),
        patience=numbers.get("patience", 120.0),
        prices=_prices(file, table),
        size=size,
        part_bytes=int(numbers.get("part_bytes", PART_BYTES[size])),
        command=command,
    )


def _url(file: TomlFile, table: Mapping[str, Any]) -> str:
    """Return `base_url`. Raises Damaged for anything but https, or http on this machine."""
    url = _text(file, table, "base_url", USUAL).rstrip("/")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not host or not safe or parts.username or parts.query or parts.fragment:
        what = "base_url must be an https address, or http on this machine, without a user name"
        raise file.wrong("base_url", what)
    return url


def _models(file: TomlFile, table: Mapping[str, Any]) -> dict[str, str]:
    """Return the models by role."""
    models = file.table(table, "models", "engine.models")
    unknown = next((role for role in models if role not in (*ROLES, _FORMER)), None)
    if unknown is not None:
        raise file.wrong(unknown, f"unknown role `{clean_line(unknown)}`; roles: {', '.join(ROLES)}")
    named = {role: _text(file, models, role) for role in models}
    former = named.pop(_FORMER, "")
    named["read"] = named.get("read") or former
    return {role: model for role, model in named.items() if model}


def _prices(file: TomlFile, table: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return USD per million tokens, by model and kind of token."""
    prices = file.table(table, "prices", 'engine.prices."MODEL"')
    for model, row in prices.items():
        if not isinstance(row, dict):
            raise file.wrong("prices", '[engine.prices."MODEL"] must be a table')
        unknown = next((key for key in row if key not in PRICED), None)
        if unknown is not None:
            raise file.wrong(unknown, f"valid names for prices: {', '.join(PRICED)}")
        wrong = next((key for key, usd in row.items() if not _is_price(usd)), None)
        wrong = wrong or next((key for key in ("input", "output") if key not in row), None)
        if wrong is not None:
            words = f"{clean_line(model)} needs `{wrong}`: USD per million tokens"
            raise file.wrong(wrong if wrong in row else "prices", words)
    return {model: {key: float(usd) for key, usd in row.items()} for model, row in prices.items()}


def _text(file: TomlFile, table: Mapping[str, Any], key: str, default: str = "") -> str:
    value = file.string(table, key, default)
    if not value.isprintable():
        raise file.wrong(key, f"{key} must be a quoted string")
    return value.strip()


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
