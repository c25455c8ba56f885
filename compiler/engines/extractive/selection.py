"""Trained models as plain weights: boosted trees that say how likely a blind reader keeps a candidate.

`benchmarks/train_selection.py` trains them and writes the files of `weights/`; nothing of a training library is needed
to run them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Model:
    """Boosted trees over named features. A tree is a list of nodes (feature, threshold, left, right, value).

    `thresholds` are the probabilities from which a candidate is chosen: by language where several collections were
    judged in it, else "default"; and under "suggest" that from which a card is offered to the user.
    """

    features: tuple[str, ...]
    start: float
    trees: tuple[tuple[tuple[int, float, int, int, float], ...], ...]
    thresholds: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return how likely, in [0, 1], a reader keeps a candidate with these features; a missing one is 0."""
        values = [features.get(name, 0.0) for name in self.features]
        total = self.start
        for tree in self.trees:
            at = 0
            while True:
                feature, threshold, left, right, value = tree[at]
                if feature < 0:
                    total += value
                    break
                at = left if values[feature] <= threshold else right
        return 1 / (1 + math.exp(-total))

    def threshold(self, language: str) -> float:
        """Return the probability from which a candidate in this language is chosen."""
        return self.thresholds.get(language, self.thresholds["default"])

    def least(self, language: str) -> float:
        """Return the probability from which a candidate in this language is at least suggested."""
        return min(self.threshold(language), self.thresholds.get("suggest", 1.0))


@lru_cache(maxsize=8)
def model(name: str) -> Model:
    """Return the model "title", "definition" or "card"."""
    data = json.loads((files(__package__) / "weights" / f"{name}.json").read_text())
    trees = tuple(tuple((int(f), t, int(a), int(b), v) for f, t, a, b, v in tree) for tree in data["trees"])
    return Model(tuple(data["features"]), data["start"], trees, data["thresholds"])
