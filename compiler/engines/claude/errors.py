"""What can go wrong with one call of the Messages API: whose fault it is, and what may help."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from vault.text.formatting import clean_line
from vault.text.redaction import redact

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message, Usage

CUT_OFF = "the answer exceeded the maximum length"
_COMPLETE = ("end_turn", "tool_use", "stop_sequence")
# Messages that concern the account and not the question, whatever the status.
_UNPAID = re.compile(
    r"credit balance|billing|(insufficient|out of|no more|exceeded your) (funds|credits?|balance|quota)"
    r"|(spend(ing)?|usage) limit",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"too (long|large|many tokens)|context (length|window)|maximum", re.IGNORECASE)
_STOP_REASONS = {
    "max_tokens": CUT_OFF,
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the request is too long for the model",
}
# An error in the middle of a stream has the status 200: its type stands for a status.
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
    """A call that failed.

    `passing`: the same call may succeed later. `restart`: an answer broke off after it had begun, which the SDK does
    not retry. `refused`: the server refused the question itself, or a field of it. `final`: no other question will
    fare better. `billed`: it is unknown whether the call was billed. `usage` is what the message took, if there was
    one; `reason` is what the server said, `status` the HTTP status; `text` is what came of an answer that was cut off
    for its length.
    """

    what: str
    hint: str = ""
    passing: bool = False
    restart: bool = False
    refused: bool = False
    final: bool = False
    billed: bool = False
    reason: str = ""
    status: int = 0
    usage: Usage | None = None
    text: str = ""


def status_fault(error: anthropic.APIStatusError) -> Fault:
    """Return the fault that an error status stands for."""
    # Redacted before it is cut as well: half a key would not be recognized any more.
    reason = clean_line(redact(str(getattr(error, "api_message", None) or "")))[:300]
    kind = str(getattr(error, "type", None) or "")
    in_stream = error.status_code < 300
    status = _STATUS.get(kind, 500) if in_stream else error.status_code
    if status in (401, 403):
        return Fault(f"the key was not accepted ({status})", "check the key and its permissions", final=True)
    unpaid = status in (400, 422) and _UNPAID.search(reason) is not None
    if status == 402 or unpaid or "Spend" in type(error).__name__ or kind == "billing_error":
        return Fault("the account's spending limit has been reached", reason, final=True)
    if 300 <= status < 400:
        what = f"the server redirects to another address ({status}); redirects are not followed"
        return Fault(what, "set base_url to the new address", final=True)
    if status in (408, 409, 429) or status >= 500:
        what = f"the model is busy or down ({status})"
        return Fault(what, reason, passing=True, restart=in_stream, billed=in_stream, status=status)
    if status == 404:
        return Fault("there is no such model or address (404)", reason, final=True, status=status)
    refused = status in (400, 422) and not _TOO_LONG.search(reason)
    return Fault(f"the server rejected the request ({status})", reason, refused=refused, reason=reason, status=status)


def retry_after(headers: Any) -> float:
    """Return the seconds that a server asks to wait; 0 where it names none."""
    value = headers.get("retry-after", "0").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def complete_message(message: Any, *, streamed: bool = False) -> Message:
    """Return `message` if it is one, and complete. Raises: Fault."""
    from anthropic.types import Message

    if not isinstance(message, Message) or not isinstance(message.content, list):
        raise invalid_response()
    if message.stop_reason not in _COMPLETE:
        what = _STOP_REASONS.get(str(message.stop_reason), "the answer was cut off")
        if streamed and message.stop_reason is None:  # a proxy that cuts a stream short leaves no error
            raise Fault(what, passing=True, restart=True, billed=True)
        text = "".join(block.text or "" for block in message.content if block.type == "text")
        raise Fault(what, usage=message.usage, text=text if message.stop_reason == "max_tokens" else "")
    return message


def invalid_response(kind: str = "") -> Fault:
    """Return the fault of a response that is no message; `kind` names the exception that it caused."""
    what = "the response is not a Messages API response" + (f" ({kind})" if kind else "")
    return Fault(what, "check that base_url is the address of a server with this API", billed=True)
