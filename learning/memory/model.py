"""FSRS-6 in 32 bits by `fsrs_rs_python`, the crate inside Anki: for figures over many reviews, forecasts and fits.

The only module that imports it. Its states agree with those of `fsrs` to about 3e-6 of their value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import fsrs_rs_python as crate

from learning.memory.fsrs import HIGHEST, LOWEST, Memory, Parameters, forgetting_curve
from vault.errors import Refused
from vault.log.events import Rating
from vault.log.review_columns import ReviewColumns
from vault.text.formatting import clean_line

Given = tuple[int, int]  # a review: its rating, and the study days since the one before
_COUNTS = (17, 19, 21)  # of the parameters of FSRS 4.5, 5 and 6
_EPOCHS = 8  # as Anki fits: with as many, the same items give the same parameters
_ANY_RETENTION = 0.9  # the crate asks for one, and needs it for intervals only
_CHOICES = ("", "again", "hard", "good", "easy")
_review = lru_cache(100_000)(crate.FSRSReview)


def filled_parameters(parameters: Sequence[float]) -> Parameters:
    """Return the 21 parameters of FSRS-6 that do what these do: 17 of FSRS 4.5 and 19 of FSRS-5 are filled up.

    Raises: ValueError for another number of them.
    """
    if len(parameters) not in _COUNTS:
        raise ValueError(f"FSRS has 17, 19 or (in version 6) 21 parameters, not {len(parameters)}")
    if len(parameters) == _COUNTS[-1]:
        return tuple(parameters)
    return tuple(float(f"{number:.7g}") for number in crate.check_and_fill_parameters(list(parameters)))


class Model:
    """FSRS-6 with one set of parameters. `retrievability` is its forgetting curve, of stability and elapsed days."""

    def __init__(self, parameters: Parameters) -> None:
        self._crate = crate.FSRS(list(parameters))
        self.retrievability = forgetting_curve(parameters)
        self._first = {int(rating): self._next(None, 0, rating) for rating in Rating}

    def first(self, rating: int) -> Memory:
        """Return the memory after the first review of a card."""
        return self._first[rating]

    def after(self, stability: float, difficulty: float, elapsed_days: int, rating: int) -> Memory:
        """Return the memory after a review `elapsed_days` study days after the last one."""
        return self._next(crate.MemoryState(stability, difficulty), elapsed_days, rating)

    def _next(self, memory: crate.MemoryState | None, elapsed_days: int, rating: int) -> Memory:
        """Return the memory after a rating."""
        states = self._crate.next_states(memory, _ANY_RETENTION, elapsed_days)
        new = getattr(states, _CHOICES[rating]).memory
        return new.stability, new.difficulty

    def interval(self, stability: float, retention: float, maximum: int) -> int:
        """Return the whole days, 1 to `maximum`, after which the probability of recall is `retention`."""
        return min(max(round(self._crate.next_interval(stability, retention, Rating.GOOD)), 1), maximum)

    def history(self, reviews: Sequence[Given], start: Memory | None = None) -> list[Memory]:
        """Return the memory after each review of a card, which had the memory `start` before; None: a new card."""
        if start is None:
            return _memories(self._crate.historical_memory_states(_item(reviews)))
        states = self._crate.historical_memory_states(_item(reviews), crate.MemoryState(*start))
        return _memories(states[1:])  # the first is the one to start from

    def histories(self, cards: Iterable[Sequence[Given]]) -> list[list[Memory]]:
        """Return the memory after each review of each of the cards, which were new before."""
        items = [_item(reviews) for reviews in cards]
        return [_memories(states) for states in self._crate.historical_memory_state_batch(items)] if items else []


def _item(reviews: Iterable[Given]) -> crate.FSRSItem:
    """Return the reviews of a card as the crate takes them."""
    return crate.FSRSItem([_review(rating, max(days, 0)) for rating, days in reviews])


def _memories(states: Iterable[crate.MemoryState]) -> list[Memory]:
    """Return stability and difficulty of each state."""
    return [(state.stability, state.difficulty) for state in states]


def fit(
    columns: ReviewColumns, elapsed: Sequence[int], *, before: int | None = None, relearning: int = 1
) -> Parameters:
    """Return the 21 parameters that fit the reviews before row `before` (all without it) best, to four decimals.

    Items are as Anki makes them: for each review at least a day after the last one, the card's history up to it, in
    order of time. `elapsed` are the study days since the card's last review, below 0 for its first; `relearning` counts
    the relearning steps within a day. The interpreter is held meanwhile: a twentieth of a second with 85,000 reviews.
    Raises: Refused where the crate does.
    """
    histories: list[list[crate.FSRSReview]] = [[] for _ in columns.cards]
    items, ids = [], []
    end = len(columns) if before is None else before
    for card, rating, days in zip(columns.card[:end], columns.rating[:end], elapsed[:end], strict=True):
        history = histories[card]
        history.append(_review(rating, max(days, 0)))
        if days > 0:
            items.append(crate.FSRSItem(history))
            ids.append(card)
    training = crate.TrainingConfig(num_epochs=_EPOCHS)
    try:
        fitted = crate.FSRS(crate.DEFAULT_PARAMETERS).compute_parameters(items, ids, True, relearning, training)
    except ValueError as error:
        what = f"no parameters could be fitted to these reviews: {clean_line(str(error))}"
        raise Refused(what, hint="the current parameters are kept") from error
    # The crate computes in 32 bits: a parameter at its bound could lie a little beyond it, and fsrs would refuse it.
    return tuple(min(max(round(p, 4), low), high) for low, p, high in zip(LOWEST, fitted, HIGHEST, strict=True))
