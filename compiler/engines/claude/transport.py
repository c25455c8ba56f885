"""The line to one server: opened late, bounded by the clock, followed nowhere else; what goes over it is not logged."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.engines.claude.errors import Fault, no_answer, refused, whole
from vault.config.engine import USUAL, EngineSettings
from vault.log.grading import Cancelled
from vault.text.redaction import protect

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message

STREAMED_FROM = 4_096  # tokens of the longest answer from which on it is streamed
_LOOK = 0.05  # seconds between two looks at whether somebody still waits
T = TypeVar("T")


class Line:
    """One client of the SDK. Not for two threads at once: who hangs up ends all that is on it."""

    def __init__(self, settings: EngineSettings, key: str) -> None:
        protect(key)
        self._settings, self._key = settings, key
        self._client: anthropic.Anthropic | None = None

    def open(self) -> None:
        """Make the client, which takes seconds the first time. Raises: Fault."""
        self._translated(self._opened)

    def message(self, words: dict[str, Any], until: float, cancelled: Cancelled) -> Message:
        """The whole message that answers. `until` is of the monotonic clock. Raises: Fault."""
        streamed = int(words["max_tokens"]) > STREAMED_FROM
        return self._bounded(
            lambda: whole(self._send(words, until, streamed=streamed), streamed=streamed), until, cancelled
        )

    def call(self, use: Callable[[anthropic.Anthropic], T], until: float) -> T:
        """What `use` makes of the client, for whatever is no message. Raises: Fault."""
        return self._bounded(
            lambda: self._translated(lambda: use(self._opened().with_options(timeout=_left(until)))), until
        )

    def count(self, words: dict[str, Any], until: float) -> int | None:
        """The tokens that the server says `words` take; None where it does not say. It costs nothing."""
        asked = {k: v for k, v in words.items() if k != "max_tokens"}
        try:
            found = self.call(lambda client: client.messages.count_tokens(**asked), until)
        except Fault:
            return None
        tokens = getattr(found, "input_tokens", None)
        return tokens if isinstance(tokens, int) else None

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _send(self, words: dict[str, Any], until: float, *, streamed: bool) -> Any:
        def send() -> Any:
            messages = self._opened().messages
            if not streamed:
                return messages.create(timeout=_left(until), **words)
            with messages.stream(timeout=_left(until), **words) as stream:
                stream.until_done()
                return stream.current_message_snapshot

        return self._translated(send)

    def _translated(self, send: Callable[[], T]) -> T:
        """What `send` gives; what the SDK and what is below it raise, as Fault."""
        import anthropic
        import httpx2

        try:
            return send()
        except anthropic.APIStatusError as error:
            raise refused(error) from error
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
            never = isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError)
            what = "the model cannot be reached" if never else "the line to the model broke off"
            if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException) and not never:
                what = "the model took too long"
            raise Fault(what, "is the address right, and the server up?", 0.0, billed=not never) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, TypeError) as error:
            raise no_answer(type(error).__name__) from error
        except (AssertionError, AttributeError, IndexError, KeyError, RuntimeError) as error:
            raise no_answer(type(error).__name__) from error  # what the SDK does with events in an order of their own

    def _opened(self) -> anthropic.Anthropic:
        if self._client is None:
            import anthropic
            import httpx2

            for name in ("anthropic", "httpx2", "httpcore2"):  # they would tell prompts to whoever asks for debugging
                logging.getLogger(name).setLevel(logging.CRITICAL)
            settings = self._settings
            # A proxy is not asked for this machine's own servers (the SDK takes it from the environment unless it is
            # given a transport), and nobody is followed who sends us elsewhere: the words of the vault would go along.
            direct: dict[str, Any] = {"trust_env": False, "transport": httpx2.HTTPTransport(trust_env=False)}
            http = anthropic.DefaultHttpxClient(follow_redirects=False, **(direct if settings.loopback else {}))
            own = {"x-api-key": self._key} if self._key and settings.base_url != USUAL else {}
            self._client = anthropic.Anthropic(
                api_key=self._key or "none",
                base_url=settings.base_url,
                max_retries=0,
                http_client=http,
                default_headers=own,
            )
        return self._client

    def _bounded(self, call: Callable[[], T], until: float, cancelled: Cancelled = lambda: False) -> T:
        """What `call` gives or raises; given up when the time is over or nobody waits, as a server may dribble on."""
        done: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                done.put((call(), None))
            except BaseException as error:  # noqa: BLE001 (it is raised where it is waited for)
                done.put((None, error))

        threading.Thread(target=run, name="model", daemon=True).start()
        while True:
            try:
                value, error = done.get(timeout=_LOOK)
            except queue.Empty:
                if time.monotonic() >= until or cancelled():
                    self.close()
                    what = "nobody waits any more" if cancelled() else "the model took too long"
                    raise Fault(what, billed=True) from None
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]


def _left(until: float) -> float:
    return max(0.1, until - time.monotonic())
