"""A client of the Anki add-on AnkiConnect, API version 6, on this machine alone.

Whatever answers there is a stranger until it is checked: the size of an answer, the time it takes and its form have
limits. No redirect is followed and no proxy asked, and the key goes nowhere but to the loopback address.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

from vault.errors import RetainError, UsageError
from vault.text.formatting import clean_line

URL = "http://127.0.0.1:8765"
VERSION = 6
MAX_REPLY = 64 * 1024 * 1024  # bytes of one answer
TIMEOUT_S = 60.0  # of one answer as a whole; Anki answers nothing while it shows a dialogue
_BLOCK = 1 << 20
_LOOPBACK = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}  # names are not looked up
_START = (
    "start Anki with the AnkiConnect add-on installed (Tools, Add-ons, Get Add-ons, code 2055492159), then try again"
)
_KEY = "set the environment variable RETAIN_ANKI_KEY to the apiKey in AnkiConnect's settings"


class AnkiNotReached(RetainError):
    """Raised if no AnkiConnect answers at that address."""


class AnkiRefused(RetainError):
    """Raised if AnkiConnect answers with an error."""


@dataclass(frozen=True, slots=True)
class AnkiConnect:
    """The add-on at `host` and `port`; `key` is the one of its settings, "" where it asks for none."""

    host: str
    port: int
    key: str = field(default="", repr=False)
    timeout_s: float = TIMEOUT_S

    def call(self, action: str, **params: Any) -> Any:
        """Return the result of the action. Raises: AnkiNotReached, AnkiRefused."""
        return self._result(action, self._answer(self._request(action, params)))

    def each(self, asked: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Return the results of all (action, parameters), in one request; an AnkiRefused in the place of a
        refused one.
        """
        answers = self.call("multi", actions=[self._request(action, params) for action, params in asked])
        if not isinstance(answers, list) or len(answers) != len(asked):
            raise self._invalid("its response does not contain one result for each request")
        return [self._result_or_refusal(action, said) for (action, _), said in zip(asked, answers, strict=True)]

    def _request(self, action: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON of a request."""
        key = {"key": self.key} if self.key else {}
        return {"action": action, "version": VERSION, "params": params, **key}

    def _result_or_refusal(self, action: str, answer: object) -> Any:
        """Return the result of an action, or the refusal."""
        try:
            return self._result(action, answer)
        except AnkiRefused as refused:
            return refused

    def _result(self, action: str, answer: object) -> Any:
        """Return the result of an action. Raises: AnkiRefused."""
        if not isinstance(answer, dict) or not answer.keys() >= {"result", "error"}:
            raise self._invalid("its response contains neither a result nor an error")
        if answer["error"] is not None:
            said = clean_line(str(answer["error"]))[:300]
            hint = _KEY if "api key" in said else ""
            raise AnkiRefused(f"Anki refused `{action}`: {said}", where=self.shown, hint=hint)
        return answer["result"]

    @property
    def shown(self) -> str:
        """Return the address for a message."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def _answer(self, request: dict[str, Any]) -> object:
        """Return the parsed answer to a request. Raises: AnkiNotReached."""
        words = json.dumps(request, ensure_ascii=False)
        data = self._exchanged(words.encode(errors="replace"))  # half a character pair may have come in a tag
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._invalid("its response is not JSON") from error

    def _exchanged(self, body: bytes) -> bytes:
        """Return the bytes of the answer. Raises: AnkiNotReached."""
        connection = HTTPConnection(self.host, self.port, timeout=self.timeout_s)
        headers = {"Content-Type": "application/json", "Connection": "close"}
        try:
            connection.request("POST", "/", body, headers)
            return self._read(connection.getresponse())
        except TimeoutError as error:
            hint = "close any open dialogs in Anki, and check that a profile is open"
            raise AnkiNotReached("Anki did not answer in time", where=self.shown, hint=hint) from error
        except ConnectionRefusedError as error:
            raise AnkiNotReached(
                "Anki is not running there: nothing is listening at that address", where=self.shown, hint=_START
            ) from error
        except (OSError, HTTPException) as error:
            what = f"the connection to Anki failed: {clean_line(str(error)) or type(error).__name__}"
            raise AnkiNotReached(what, where=self.shown, hint=_START) from error
        finally:
            connection.close()

    def _read(self, response: HTTPResponse) -> bytes:
        """Return the body of a response, up to a limit."""
        if response.status == 403:
            hint = "allow retain in AnkiConnect's settings (webCorsOriginList)"
            raise AnkiRefused("AnkiConnect refused access", where=self.shown, hint=hint)
        if response.status != 200:
            raise self._invalid(f"it responded with status {response.status}")
        read, size, end = [], 0, time.monotonic() + self.timeout_s
        while block := response.read1(_BLOCK):
            read.append(block)
            size += len(block)
            if size > MAX_REPLY:
                raise self._invalid(f"its response is larger than {MAX_REPLY >> 20} MiB")
            if time.monotonic() > end:
                raise TimeoutError
        return b"".join(read)

    def _invalid(self, what: str) -> AnkiNotReached:
        """Return the error of an invalid answer."""
        return AnkiNotReached(f"the program at that address is not AnkiConnect: {what}", where=self.shown, hint=_START)


def connected(url: str, key: str = "", *, timeout_s: float = TIMEOUT_S) -> AnkiConnect:
    """Return the AnkiConnect at `url` once it has granted access.

    Raises: UsageError if `url` is not one of this machine; AnkiNotReached; AnkiRefused.
    """
    anki = AnkiConnect(*_address(url), key, timeout_s)
    asked = anki.call("requestPermission")
    if not isinstance(asked, dict):
        raise anki._invalid("it did not say whether access is allowed")
    if asked.get("permission") != "granted":
        hint = "allow retain in AnkiConnect's settings (webCorsOriginList)"
        raise AnkiRefused("AnkiConnect refused access", where=anki.shown, hint=hint)
    if asked.get("requireApikey") is True and not key:
        raise AnkiRefused("AnkiConnect requires an API key", where=anki.shown, hint=_KEY)
    version = anki.call("version")
    if type(version) is not int or version < VERSION:
        said = version if type(version) is int else "unknown"
        what = f"AnkiConnect uses API version {said}; retain needs version {VERSION}"
        raise AnkiRefused(
            what, where=anki.shown, hint="update the add-on: in Anki, Tools > Add-ons > Check for Updates"
        )
    return anki


def _address(url: str) -> tuple[str, int]:
    """Return host and port of an address on this machine. Raises: UsageError."""
    shown = clean_line(url)[:200]
    try:
        parts = urlsplit(url)
        host, port = _LOOPBACK.get(parts.hostname or ""), parts.port
    except ValueError as error:
        raise UsageError(
            "not a valid AnkiConnect address", where=shown, hint=f"the address should look like {URL}"
        ) from error
    plain = parts.scheme == "http" and parts.path in ("", "/") and not parts.query and not parts.fragment
    if not plain or parts.username is not None or parts.password is not None or port == 0:
        raise UsageError("not a valid AnkiConnect address", where=shown, hint=f"the address should look like {URL}")
    if host is None:
        hint = "use 127.0.0.1, ::1 or localhost: retain sends cards and the key only to this machine"
        raise UsageError("not an address on this machine", where=shown, hint=hint)
    return host, port or 8765
