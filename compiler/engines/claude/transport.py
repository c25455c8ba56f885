"""One connection to a server through the SDK: time-bounded, no redirects followed, nothing sent or received is logged.

The SDK retries (408, 409, 429, 5xx, broken connections; Retry-After). A middleware, called before and after each of its
attempts, ends a call that is out of time and reserves money for each attempt.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.engines.claude.errors import Fault, complete_message, invalid_response, retry_after, status_fault
from vault.config.engine import USUAL, EngineSettings
from vault.log.grading import Cancelled
from vault.text.redaction import protect

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message

STREAMED_FROM = 4_096  # max_tokens from which on an answer is streamed
RETRIES = 5  # of one call, while its time lasts
_POLL_S = 0.05
_UNCERTAIN_STATUS = (408, 500, 502, 504)  # that a server may answer although it has done what was asked
T = TypeVar("T")


class Transport:
    """One client of the SDK. Not for two threads at once: giving up one call closes all of its connections."""

    def __init__(self, settings: EngineSettings, key: str) -> None:
        protect(key)
        self._settings, self._key = settings, key
        self._client: anthropic.Anthropic | None = None

    def open(self) -> None:
        """Create the client, which takes seconds the first time. Raises: Fault."""
        _translated(self._opened)

    def message(
        self, fields: dict[str, Any], until: float, cancelled: Cancelled, before_retry: Callable[[], None]
    ) -> Message:
        """Return the complete message that answers. `until` is on the monotonic clock. Raises: Fault.

        `before_retry` is called before an attempt that follows one which may have been billed; what it raises ends it.
        """
        streamed = int(fields["max_tokens"]) > STREAMED_FROM

        def send(client: anthropic.Anthropic) -> Any:
            if not streamed:
                return client.messages.create(**fields)
            with client.messages.stream(**fields) as stream:
                stream.until_done()
                return stream.current_message_snapshot

        message = self.call(send, until, cancelled, before_retry)
        return complete_message(message, streamed=streamed)

    def call(
        self,
        use: Callable[[anthropic.Anthropic], T],
        until: float,
        cancelled: Cancelled = lambda: False,
        before_retry: Callable[[], None] = lambda: None,
        *,
        once: bool = False,
    ) -> T:
        """Return what `use` returns for the client. With `once`, nothing is sent again that may have been done.

        Raises: Fault.
        """

        attempts = _Attempts(until, cancelled, before_retry, once)

        def run() -> T:
            client = self._opened()
            return use(client.with_options(timeout=max(0.1, until - time.monotonic()), middleware=[attempts]))

        return self._bounded(lambda: _translated(run), attempts)

    def count(self, fields: dict[str, Any], until: float) -> int | None:
        """Return the server's count of the tokens of a call, which costs nothing; None where it does not count."""
        counted = {name: value for name, value in fields.items() if name != "max_tokens"}
        try:
            answer = self.call(lambda client: client.messages.count_tokens(**counted), until)
        except Fault:
            return None
        tokens = getattr(answer, "input_tokens", None)
        return tokens if isinstance(tokens, int) else None

    def close(self) -> None:
        """Close all connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> anthropic.Anthropic:
        if self._client is None:
            import anthropic
            import httpx2

            for name in ("anthropic", "httpx2", "httpcore2"):  # their debug logs hold prompts
                logging.getLogger(name).setLevel(logging.CRITICAL)
            settings = self._settings
            # This machine's own servers are not reached through a proxy (the SDK takes one from the environment unless
            # it gets a transport). A redirect could send the words of the vault to another server.
            direct: dict[str, Any] = {"trust_env": False, "transport": httpx2.HTTPTransport(trust_env=False)}
            http = anthropic.DefaultHttpxClient(follow_redirects=False, **(direct if settings.loopback else {}))
            headers = {"x-api-key": self._key} if self._key and settings.base_url != USUAL else {}
            self._client = anthropic.Anthropic(
                api_key=self._key or "none",
                base_url=settings.base_url,
                max_retries=RETRIES,
                http_client=http,
                default_headers=headers,
            )
        return self._client

    def _bounded(self, call: Callable[[], T], attempts: _Attempts) -> T:
        """Return or raise what `call` does; give up when time is over, as a server may send a byte now and then."""
        results: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                results.put((call(), None))
            except BaseException as error:  # noqa: BLE001 (raised again below)
                results.put((None, error))

        threading.Thread(target=run, name="model", daemon=True).start()
        while True:
            try:
                value, error = results.get(timeout=_POLL_S)
            except queue.Empty:
                if attempts.is_over():
                    self.close()
                    raise attempts.out_of_time() from None
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]


@dataclass(slots=True)
class _Attempts:
    """The SDK's middleware of one call, called for each attempt. The SDK does not retry after a Fault."""

    until: float
    cancelled: Cancelled
    before_retry: Callable[[], None]
    once: bool
    last_fault: Fault | None = None
    sending: bool = False

    def __call__(self, request: Any, send: Callable[[Any], Any]) -> Any:
        import anthropic

        if self.is_over():
            raise self.out_of_time()
        if self.last_fault is not None and self.last_fault.billed:
            self.before_retry()
        self.sending = True
        try:
            response = send(request)
        except anthropic.APIConnectionError as error:
            self.sending, self.last_fault = False, _connection_fault(error)
            if self.once and self.last_fault.billed:
                raise self.last_fault from None  # the SDK would look for a retryable cause
            raise
        status = response.status_code
        if status >= 300:
            self.sending, self.last_fault = False, Fault(f"the model is busy or down ({status})", passing=True)
            too_late = time.monotonic() + retry_after(response.headers) >= self.until
            if too_late or (self.once and status in _UNCERTAIN_STATUS):
                response.headers["x-should-retry"] = "false"
        return response

    def is_over(self) -> bool:
        """Return whether the call is out of time or cancelled."""
        return time.monotonic() >= self.until or self.cancelled()

    def out_of_time(self) -> Fault:
        """Return why the call is given up: what the last attempt met, if no other is under way."""
        if self.cancelled():
            return Fault("the request was cancelled", billed=True)
        if self.last_fault is not None and not self.sending:
            return self.last_fault
        return Fault("the model took too long", billed=True)


def _translated(call: Callable[[], T]) -> T:
    """Return what `call` returns. Raises: Fault, for whatever the SDK and the libraries below it raise."""
    import anthropic
    import httpx2

    try:
        return call()
    except anthropic.APIStatusError as error:
        raise status_fault(error) from error
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        raise _connection_fault(error) from error
    except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, TypeError) as error:
        raise invalid_response(type(error).__name__) from error
    except (AssertionError, AttributeError, IndexError, KeyError, RuntimeError) as error:
        raise invalid_response(type(error).__name__) from error  # the SDK's, for stream events in a wrong order


def _connection_fault(error: Exception) -> Fault:
    import anthropic
    import httpx2

    sdk_error = isinstance(error, anthropic.APIConnectionError)
    cause = error.__cause__ if sdk_error else error
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return Fault(
            "the model cannot be reached", "check that the address is right and the server is running", passing=True
        )
    timeout = isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException)
    what = "the model took too long" if timeout else "the connection to the model was lost"
    hint = "check that the address is right and the server is running"
    return Fault(what, hint, passing=True, restart=not sdk_error and not timeout, billed=True)
