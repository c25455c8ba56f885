"""What can go wrong with one call of the Messages API, in words of ours: whose fault it is, and what may help."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from vault.text.redaction import redact
from vault.text.sanitize import clean_line

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message, Usage

CUT = "the answer was longer than it may be"
_WHOLE = ("end_turn", "tool_use", "stop_sequence")
_AGAIN = {408, 409, 429}
# What a refusal says that comes of the account and not of the question, whatever its status.
_UNPAID = re.compile(
    r"credit balance|billing|(insufficient|out of|no more|exceeded your) (funds|credits?|balance|quota)"
    r"|(spend(ing)?|usage) limit",
    re.IGNORECASE,
)
_STOPPED = {
    "max_tokens": CUT,
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the question is too long for the model",
}
# An error that comes in the middle of a stream has the status 200: its type tells what it is.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@dataclass(eq=False)
class Fault(Exception):
    """A call that came to nothing.

    `wait` is None where trying again is no use, else seconds; `form` whether another form of asking may do; `final`
    whether no other question will fare better; `busy` whether the server has too much to do; `billed` whether nobody
    knows if it was billed; `usage` is what the message took, if there was one; `reason` is what the server said, and
    `status` how.
    """

    what: str
    hint: str = ""
    wait: float | None = None
    form: bool = False
    final: bool = False
    busy: bool = False
    billed: bool = False
    reason: str = ""
    status: int = 0
    usage: Usage | None = None


def refused(error: anthropic.APIStatusError) -> Fault:
    """What a status says: whose fault it is, and whether to come again."""
    fault = _refused(error)
    fault.status = error.status_code
    return fault


def _refused(error: anthropic.APIStatusError) -> Fault:
    # Redacted before it is cut, too: of a key that is cut in two, the first part would be left.
    reason = clean_line(redact(str(getattr(error, "api_message", None) or "")))[:300]
    kind = str(getattr(error, "type", None) or "")
    status = error.status_code if error.status_code >= 300 else _STATUS.get(kind, 500)
    begun = error.status_code < 300  # an answer had begun, and may be billed
    if status in (401, 403):
        hint = "look at the key, and at what it may be used for"
        return Fault(f"the key was not accepted ({status})", hint, final=True)
    unpaid = status in (400, 422) and _UNPAID.search(reason) is not None
    if status == 402 or unpaid or "Spend" in type(error).__name__ or kind == "billing_error":
        return Fault("the account's limit of spending is reached", reason, final=True)
    if 300 <= status < 400:
        what = f"the server sends us elsewhere ({status}), and nothing follows it"
        return Fault(what, "set base_url to where it is", final=True)
    if status in _AGAIN or status >= 500:
        busy = status in (429, 529)
        return Fault(f"the model is busy or down ({status})", reason, _retry_after(error), busy=busy, billed=begun)
    if status == 404:
        return Fault("there is no such model or address (404)", reason, final=True)
    return Fault(f"the question was refused ({status})", reason, form=status in (400, 422), reason=reason)


def _retry_after(error: anthropic.APIStatusError) -> float:
    """The seconds that the server wants us to wait, however many; 0 where it names none."""
    said = error.response.headers.get("retry-after", "0").strip()
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def whole(message: Any, *, streamed: bool = False) -> Message:
    """`message`, if it is one and complete. Raises: Fault."""
    from anthropic.types import Message

    if not isinstance(message, Message) or not isinstance(message.content, list):
        raise no_answer()
    if message.stop_reason not in _WHOLE:
        what = _STOPPED.get(str(message.stop_reason), "the answer was cut off")
        # A stream that ends early ends without an error: whoever cut it, another may come through.
        again = 0.0 if streamed and message.stop_reason is None else None
        raise Fault(what, wait=again, billed=again is not None, usage=None if again is not None else message.usage)
    return message


def no_answer(kind: str = "") -> Fault:
    """Something came, and it was no message."""
    what = "what came was no answer of the Messages API" + (f" ({kind})" if kind else "")
    return Fault(what, "is the address that of such a server?", billed=True)
