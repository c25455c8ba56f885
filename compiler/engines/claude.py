"""The one room that speaks to a model: the Messages API by Anthropic's SDK, at Anthropic or wherever the user says.

A call takes no longer than its budget, whatever the server does; nothing is followed elsewhere, nothing is logged. What
a server cannot do is found out once: an answer by schema, else by a forced tool, else as JSON in the text, mended once.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.engines.messages import Answer, Ask, NotAsAsked, R, reply_in, shaped
from vault.clean import clean_line
from vault.engine_settings import USUAL, EngineSettings
from vault.errors import ModelUnavailable
from vault.grading import Cancelled, Cost

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message, Usage

VERSION = "claude/1"
SCHEMA, TOOL, TEXT = "schema", "tool", "text"
_FORMS = (SCHEMA, TOOL, TEXT)
_TRIES = 3  # of one call, where trying again may help
_WAITS = (0.5, 2.0)  # seconds before the second and the third
_LOOK = 0.05  # seconds between two looks at whether somebody still waits
_WHOLE = ("end_turn", "tool_use", "stop_sequence")
_TOOL = "reply"
_AGAIN = {408, 409, 429}
_STOPPED = {
    "max_tokens": "the answer was longer than it may be",
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the question is too long for the model",
}
T = TypeVar("T")


@dataclass(eq=False)
class _Failed(Exception):
    """A call that came to nothing. `wait` is None where trying again is no use; `form` whether another form may do."""

    what: str
    hint: str = ""
    wait: float | None = None
    form: bool = False


class Claude:
    """Speaks to one model of one server. `budget` is the most seconds that one question takes, all tries together."""

    def __init__(self, settings: EngineSettings, model: str, key: str, *, budget: float = 90.0) -> None:
        self._settings, self._model, self._key, self._budget = settings, model, key, budget
        self._client: anthropic.Anthropic | None = None
        self._form = 0  # the first of the forms that this server is known to answer

    @property
    def name(self) -> str:
        return f"{VERSION} {clean_line(self._model)}"

    def ask(self, asked: Ask[R], cancelled: Cancelled) -> Answer[R]:
        """Raises: ModelUnavailable, for whatever reason the model gives no answer of that shape."""
        until = time.monotonic() + self._budget
        cost = Cost()
        for n in range(self._form, len(_FORMS)):
            try:
                value, paid = self._in_form(_FORMS[n], asked, until, cancelled)
            except _Unshaped as unshaped:
                cost += unshaped.cost
                continue
            except _Failed as failed:
                if failed.form and _FORMS[n] != TEXT:
                    continue
                raise self._told(failed, cost) from None
            self._form = n
            return Answer(value, cost + paid)
        babble = _Failed("the model's answers have another shape than was asked for", "try a larger model")
        raise self._told(babble, cost)

    def _told(self, failed: _Failed, cost: Cost) -> ModelUnavailable:
        """What went wrong, and what was paid for answers that nobody could use."""
        what, hint = (clean_line(words.replace(self._key or "\0", "…"))[:300] for words in (failed.what, failed.hint))
        spent = f"{cost.input_tokens} tokens were sent and {cost.output_tokens} came back, for nothing"
        told = "; ".join(filter(None, (hint, spent if cost != Cost() else "")))
        return ModelUnavailable(what, where=self._settings.place or self._model, hint=told)

    # --- one question in one form -----------------------------------------------------------------------------------

    def _in_form(self, form: str, asked: Ask[R], until: float, cancelled: Cancelled) -> tuple[R, Cost]:
        """Raises: _Unshaped where the answer is none of that shape; _Failed."""
        words = self._words(form, asked)
        message = self._call(words, until, cancelled)
        cost = _cost(message)
        try:
            return _value(form, message, asked.reply), cost
        except NotAsAsked as wrong:
            if form != TEXT:
                raise _Unshaped(cost) from wrong
            mended = self._call(_mending(words, _text(message), str(wrong)), until, cancelled)
            cost += _cost(mended)
            try:
                return _value(form, mended, asked.reply), cost
            except NotAsAsked as still:
                raise _Unshaped(cost) from still

    def _words(self, form: str, asked: Ask[R]) -> dict[str, Any]:
        """What is sent, but for the model's name."""
        from anthropic import transform_schema

        schema = transform_schema(asked.reply.model_json_schema())
        said = [{"role": each.role, "content": each.words} for each in asked.said]
        words: dict[str, Any] = {"system": asked.system, "messages": said, "max_tokens": asked.most_tokens}
        if form == SCHEMA:
            words["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        elif form == TOOL:
            words["tools"] = [{"name": _TOOL, "description": "Your reply.", "input_schema": schema, "strict": True}]
            words["tool_choice"] = {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}
        else:
            shape = f"Answer with one JSON object of this schema and with nothing else:\n{json.dumps(schema)}"
            words["system"] = f"{asked.system}\n\n{shape}"
        return words

    # --- one call ---------------------------------------------------------------------------------------------------

    def _call(self, words: dict[str, Any], until: float, cancelled: Cancelled) -> Message:
        """A whole message; tries again where that may help and there is time. Raises: _Failed."""
        for wait in (*_WAITS[: _TRIES - 1], None):
            try:
                return _whole(self._bounded(lambda: self._send(words, until), until, cancelled))
            except _Failed as failed:
                pause = None if failed.wait is None else max(failed.wait, wait or 0)
                if wait is None or pause is None or time.monotonic() + pause >= until:
                    raise
                _rest(pause, cancelled)
        raise AssertionError("the last try gives a message or raises")

    def _send(self, words: dict[str, Any], until: float) -> Any:
        import anthropic
        import httpx2

        try:
            client = self._opened()
            left = max(0.1, until - time.monotonic())
            return client.messages.create(model=self._model, timeout=left, **words)
        except anthropic.APIStatusError as error:
            raise _refused(error) from error
        except anthropic.APIConnectionError as error:
            raise _Failed("the model cannot be reached", "is the address right, and the server up?", 0.0) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, TypeError) as error:
            raise _Failed(f"what came was no answer of the Messages API ({type(error).__name__})") from error

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

    def _bounded(self, call: Callable[[], T], until: float, cancelled: Cancelled) -> T:
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
                    self._hang_up()
                    raise _Failed("nobody waits any more" if cancelled() else "the model took too long") from None
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]

    def _hang_up(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


@dataclass(eq=False)
class _Unshaped(Exception):
    """An answer came, and was paid for, and has not the shape."""

    cost: Cost


def _rest(seconds: float, cancelled: Cancelled) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if cancelled():
            raise _Failed("nobody waits any more")
        time.sleep(min(left, _LOOK))


def _refused(error: anthropic.APIStatusError) -> _Failed:
    """What a status says: whose fault it is, and whether to come again."""
    status, reason = error.status_code, clean_line(str(getattr(error, "api_message", None) or ""))[:200]
    kind = str(getattr(error, "type", None) or "")
    if status in (401, 403):
        return _Failed(f"the key was not accepted ({status})", "look at the key, and at what it may be used for")
    if status == 402 or "Spend" in type(error).__name__ or kind == "billing_error":
        return _Failed("the account's limit of spending is reached", reason)
    if 300 <= status < 400:
        return _Failed(
            f"the server sends us elsewhere ({status}), and nothing follows it", "set base_url to where it is"
        )
    if status in _AGAIN or status >= 500 or kind == "overloaded_error":
        return _Failed(f"the model is busy or down ({status})", reason, _retry_after(error))
    if status == 404:
        return _Failed("there is no such model or address (404)", reason)
    return _Failed(f"the question was refused ({status})", reason, form=status in (400, 422))


def _retry_after(error: anthropic.APIStatusError) -> float:
    """The seconds that the server wants us to wait, however many; 0 where it names none."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _whole(message: Any) -> Message:
    """`message`, if it is one and complete. Raises: _Failed."""
    from anthropic.types import Message

    if not isinstance(message, Message) or not isinstance(message.content, list):
        raise _Failed("what came was no answer of the Messages API", "is the address that of such a server?")
    stopped = message.stop_reason
    if stopped not in _WHOLE:
        raise _Failed(_STOPPED.get(str(stopped), "the answer was cut off"))
    return message


def _text(message: Message) -> str:
    return "".join(block.text or "" for block in message.content if block.type == "text")


def _value(form: str, message: Message, shape: type[R]) -> R:
    """Raises: NotAsAsked."""
    for block in message.content:
        if block.type == "tool_use" and block.name == _TOOL:
            return shaped(block.input, shape)
    if form == TOOL:
        raise NotAsAsked("the tool was not used")
    return reply_in(_text(message), shape)


def _mending(words: dict[str, Any], text: str, wrong: str) -> dict[str, Any]:
    """The same question, the answer to it, and what is wrong with that."""
    again = f"That is not the JSON object that was asked for: {wrong}. Answer with the object alone."
    said = [{"role": "assistant", "content": text.strip() or "(nothing)"}, {"role": "user", "content": again}]
    return {**words, "messages": [*words["messages"], *said]}


def _cost(message: Message) -> Cost:
    usage: Usage | None = message.usage  # servers that are not Anthropic's may leave it out, or any part of it
    if usage is None:
        return Cost()
    sent = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    return Cost(sum(n or 0 for n in sent), usage.output_tokens or 0)
