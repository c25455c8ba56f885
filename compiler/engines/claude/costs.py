"""What requests cost: what was paid, and estimates before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compiler.engines.claude.prices import BATCH, Price, guessed, price_of
from compiler.protocol.forms import render
from compiler.protocol.requests import ROLE_OF, ReadRequest, Request, WriteRequest
from compiler.replies.journal import Entry
from compiler.replies.prompts import prompt
from vault.config.engine import USUAL, EngineSettings
from vault.errors import UsageError
from vault.text.formatting import clean_line

# The usual length of an answer, low and high, as a share of its request; measured on lectures (read .24, write 1.0).
_ANSWERED = {
    "read": (0.17, 0.31),
    "settle": (0.1, 0.2),
    "write": (0.6, 1.2),
    "check": (0.03, 0.07),
    "reconcile": (0.05, 0.15),
    "answer": (0.1, 0.3),
}
# What follows from the answers, by type, as shares of the documents shown: sent, and received low and high.
_AFTER_READ = {"settle": (0.07, 0.014, 0.026), "write": (1.4, 0.7, 1.3), "check": (1.0, 0.035, 0.065)}
_AFTER_WRITE = {"check": (0.7, 0.025, 0.045)}
_FEW = 50  # tokens that a request or an answer has at least


@dataclass(frozen=True, slots=True)
class Paid:
    """Tokens (sent, received), and USD, None if the price is unknown."""

    tokens: tuple[int, int] = (0, 0)
    usd: float | None = 0.0

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Paid:
        """Return what a line of the model process says was paid."""
        sent, received = line["tokens"]
        return cls((int(sent), int(received)), None if line["usd"] is None else float(line["usd"]))

    def __add__(self, other: Paid) -> Paid:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Paid((self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1]), usd)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What requests would cost. `received` and `usd` are (low, high); `usd` is None if a price is unknown."""

    questions: Mapping[str, int] = field(default_factory=dict)  # by type
    sent: int = 0
    received: tuple[int, int] = (0, 0)
    usd: tuple[float, float] | None = (0.0, 0.0)


def estimate(requests: Sequence[Request], settings: EngineSettings, *, batch: bool = False) -> Estimate:
    """Return what asking all requests would cost. Raises: ModelUnavailable where no model is named."""
    counts: dict[str, int] = {}
    found = Estimate()
    for request in requests:
        counts[request.type] = counts.get(request.type, 0) + 1
        text = guessed(render(request))
        low, high = (int(text * share) + _FEW for share in _ANSWERED[request.type])
        sent = text + guessed(prompt(request.type).text) + _FEW
        found = _added(found, settings, request.type, (sent, low, high), batch=batch)
    return replace(found, questions=counts)


def estimate_following(requests: Sequence[Request], settings: EngineSettings, *, batch: bool) -> Estimate:
    """Return about what the requests cost that follow from the answers, computed from the length of the documents.

    Raises: ModelUnavailable where no model is named.
    """
    found = Estimate()
    for request in requests:
        if not isinstance(request, ReadRequest | WriteRequest):
            continue
        text = sum(guessed(b.text) for d in request.documents for p in d.passages for b in p.blocks)
        shares = _AFTER_READ if isinstance(request, ReadRequest) else _AFTER_WRITE
        for type_, (sent, low, high) in shares.items():
            found = _added(found, settings, type_, (int(text * sent), int(text * low), int(text * high)), batch=batch)
    return found


def _added(
    estimate: Estimate, settings: EngineSettings, type_: str, tokens: tuple[int, int, int], *, batch: bool
) -> Estimate:
    """Return an estimate with one more request, whose tokens are given as (sent, received low, high)."""
    sent, low, high = tokens
    price = _price(settings, settings.compiling(ROLE_OF[type_]))
    usd: tuple[float, float] | None = None
    if price is not None and estimate.usd is not None:
        share = BATCH if batch else 1.0
        usd = (
            estimate.usd[0] + share * price.plain(sent, low),
            estimate.usd[1] + share * price.plain(sent, high),
        )
    received = estimate.received[0] + low, estimate.received[1] + high
    return Estimate({}, estimate.sent + sent, received, usd)


def _price(settings: EngineSettings, model: str) -> Price | None:
    return price_of(model, settings.prices, usual=settings.base_url == USUAL)


def refuse_unpriced(settings: EngineSettings, models: Iterable[str]) -> None:
    """Raise UsageError for a model whose price is unknown."""
    for model in models:
        if _price(settings, model) is None:
            hint = f'add [engine.prices."{clean_line(model)}"] with its input and output prices to your config.toml'
            raise UsageError(
                f"a budget needs a known price, and the price of {clean_line(model)} is unknown", hint=hint
            )


@dataclass(frozen=True, slots=True)
class Row:
    """The cost of one run, source, article or model. `unpriced`: some of it has no known price."""

    name: str
    questions: int
    sent: int
    received: int
    usd: float
    unpriced: bool


def rows(entries: Iterable[Entry], name: Callable[[Entry], str]) -> list[Row]:
    """Return the costs grouped by `name(entry)`, highest first; "" is left out."""
    grouped: dict[str, Row] = {}
    for entry in entries:
        if not (key := name(entry)):
            continue
        old = grouped.get(key, Row(key, 0, 0, 0, 0.0, False))
        sent, received = entry.tokens
        grouped[key] = Row(
            key,
            old.questions + 1,
            old.sent + sent,
            old.received + received,
            old.usd + (entry.usd or 0.0),
            old.unpriced or entry.usd is None,
        )
    return sorted(grouped.values(), key=lambda row: (-row.usd, -row.sent - row.received, row.name))
