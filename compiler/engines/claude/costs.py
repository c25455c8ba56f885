"""What questions cost: shares of what was paid, and estimates before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compiler.engines.claude import prompts_to_messages
from compiler.engines.claude.prices import BATCH, Price, guessed, price_of
from compiler.model.requests import ExtractRequest, Request
from compiler.replies.journal import Entry
from vault.config.engine import USUAL, EngineSettings
from vault.errors import UsageError
from vault.text.formatting import clean_line


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

    def shared(self, among: int) -> list[Paid]:
        """Return equal shares that add up to the whole; the first has the remainder."""
        (sent, more_sent), (received, more_received) = (divmod(n, among) for n in self.tokens)
        usd = None if self.usd is None else self.usd / among
        first = Paid((sent + more_sent, received + more_received), usd)
        return [first, *(Paid((sent, received), usd) for _ in range(among - 1))]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What questions would cost. `received` and `usd` are (low, high); `usd` is None if a price is unknown."""

    questions: Mapping[str, int] = field(default_factory=dict)  # by type
    sent: int = 0
    received: tuple[int, int] = (0, 0)
    usd: tuple[float, float] | None = (0.0, 0.0)


def estimate(requests: Sequence[Request], settings: EngineSettings, *, batch: bool = False) -> Estimate:
    """Return what asking all requests would cost. Raises: ModelUnavailable where no model is named."""
    counts: dict[str, int] = {}
    for request in requests:
        counts[request.type] = counts.get(request.type, 0) + 1
    sent, low, high = 0, 0, 0
    usd: tuple[float, float] | None = (0.0, 0.0)
    for question in prompts_to_messages.questions(requests):
        asked = prompts_to_messages.asked_tokens(question)
        least, most = prompts_to_messages.answered_tokens(question)
        sent, low, high = sent + asked, low + least, high + most
        price = _price(settings, settings.compiling(question.role))
        if price is None or usd is None:
            usd = None
        else:
            share = BATCH if batch else 1.0
            usd = (usd[0] + share * price.plain(asked, least), usd[1] + share * price.plain(asked, most))
    return Estimate(counts, sent, (low, high), usd)


def estimate_following(requests: Sequence[Request], settings: EngineSettings, *, batch: bool) -> Estimate:
    """Return about what the questions cost that follow from the answers: articles, cards and checks of new claims.

    Computed from the usual number of claims in a text of that length.
    """
    text = sum(guessed(r.text) for r in requests if isinstance(r, ExtractRequest))
    low, high = text // 160, text // 50  # claims
    concepts = (low // 6, high // 4)
    usd: tuple[float, float] | None = None
    write, check = (_price(settings, settings.compiling(role)) for role in ("write", "check"))
    written = [
        (claims * 180 + n * 2_600, claims * 60 + n * 400) for claims, n in zip((low, high), concepts, strict=True)
    ]
    checked = [(claims * 120, claims * 60) for claims in (low, high)]
    if write is not None and check is not None:
        share = BATCH if batch else 1.0
        least, most = (share * (write.plain(*w) + check.plain(*c)) for w, c in zip(written, checked, strict=True))
        usd = least, most
    came = written[0][1] + checked[0][1], written[1][1] + checked[1][1]
    return Estimate({}, written[1][0] + checked[1][0], came, usd)


def _price(settings: EngineSettings, model: str) -> Price | None:
    return price_of(model, settings.prices, usual=settings.base_url == USUAL)


def refuse_unpriced(settings: EngineSettings, models: Iterable[str]) -> None:
    """Raise UsageError for a model whose price is unknown."""
    for model in models:
        if _price(settings, model) is None:
            hint = f'set it: [engine.prices."{clean_line(model)}"] with input and output in your config.toml'
            raise UsageError(f"a budget needs a price, and that of {clean_line(model)} is unknown", hint=hint)


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
