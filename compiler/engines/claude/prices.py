"""What models cost: USD for a million tokens, as Anthropic published them on 1 November 2026.

Prices change, so `[engine.prices."MODEL"]` of the user's settings overrides this table; for a model in neither, only
tokens are reported. Estimates round up.

Source: https://platform.claude.com/docs/en/about-claude/pricing, and the pages of the models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

BATCH = 0.5  # what a batch costs of the price of single calls
_MILLION = 1_000_000
_DATED = re.compile(r"-20\d{6}$")  # claude-haiku-4-5-20251001 costs what claude-haiku-4-5 does


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call: sent, by kind of price, and received (`output`)."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0

    @property
    def sent(self) -> int:
        """Return the number of tokens sent."""
        return self.input + self.cache_write + self.cache_write_1h + self.cache_read


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens. A question of more than `long_from` tokens costs `long` for all of it."""

    input: float
    output: float
    cache_write: float
    cache_write_1h: float
    cache_read: float
    long_from: int = 0
    long: Price | None = None

    def of(self, tokens: Tokens, *, batch: bool = False) -> float:
        """Return the USD of a call."""
        if self.long is not None and tokens.sent > self.long_from:
            return self.long.of(tokens, batch=batch)
        usd = (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_write * self.cache_write
            + tokens.cache_write_1h * self.cache_write_1h
            + tokens.cache_read * self.cache_read
        )
        return usd / _MILLION * (BATCH if batch else 1.0)

    def plain(self, sent: int, received: int) -> float:
        """Return the USD of a call without caching."""
        return self.of(Tokens(sent, received))

    def at_most(self, sent: int, received: int, *, batch: bool = False) -> float:
        """Return the most USD that a call with at most that many tokens can cost, however they are cached."""
        if self.long is not None and sent > self.long_from:
            return self.long.at_most(sent, received, batch=batch)
        dearest = max(self.input, self.cache_write, self.cache_write_1h, self.cache_read)
        return (sent * dearest + received * self.output) / _MILLION * (BATCH if batch else 1.0)


def _usual(input_: float, output: float, read: float) -> Price:
    """Return a price where writing the cache costs 1.25 times the input, and twice for an hour."""
    return Price(input_, output, input_ * 1.25, input_ * 2, read)


_LONG_HAIKU = _usual(0.5, 2.5, 0.05)
PRICES: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(0.10, 0.50, 0.125, 0.20, 0.01, long_from=100_000, long=_LONG_HAIKU),
    "claude-sonnet-5-5": _usual(2, 10, 0.10),
    "claude-opus-5-5": _usual(4, 20, 0.20),
    "claude-fable-5-1": _usual(10, 50, 0.25),
    "claude-mythos-5-1": _usual(10, 50, 0.25),
    "claude-fable-5": _usual(10, 50, 1),
    "claude-mythos-5": _usual(10, 50, 1),
    "claude-opus-5": _usual(5, 25, 0.50),
    "claude-sonnet-5": _usual(2, 10, 0.20),
    "claude-opus-4-8": _usual(5, 25, 0.50),
    "claude-opus-4-7": _usual(5, 25, 0.50),
    "claude-opus-4-6": _usual(5, 25, 0.50),
    "claude-opus-4-5": _usual(5, 25, 0.50),
    "claude-sonnet-4-6": _usual(3, 15, 0.30),
    "claude-sonnet-4-5": _usual(3, 15, 0.30),
    "claude-haiku-4-5": _usual(1, 5, 0.10),
}


def price_of(model: str, own: Mapping[str, Mapping[str, float]], *, usual: bool = True) -> Price | None:
    """Return the model's price; None if unknown. Without `usual` (another server) only the user's prices count."""
    if model in own:
        row = own[model]
        sent = row["input"]
        writes = row.get("cache_write", sent), row.get("cache_write_1h", row.get("cache_write", sent))
        return Price(sent, row["output"], *writes, row.get("cache_read", sent))
    return PRICES.get(_DATED.sub("", model)) if usual else None


def guessed(text: str) -> int:
    """Return about how many tokens a text is, rounded up: one for 3.5 characters, 1.2 for a Chinese one."""
    wide = sum(1 for c in text if c > "\u2e7f")
    return ceil((len(text) - wide) / 3.5 + wide * 1.2)


def most(text: str) -> int:
    """Return the most tokens that a text can be: one a byte."""
    return len(text.encode("utf-8", "surrogatepass"))
