"""Train the models by which the embedded engine chooses titles, definitions and cards, from judgements.

`python -m benchmarks.train_selection [JUDGEMENTS.jsonl.gz]` reads one judged candidate a line (its features, its
verdict, the collection it comes from), prints precision against yield with whole collections left out, and with
`--write` stores the weights. It needs scikit-learn, which the product does not.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compiler.engines.extractive.features import likely as likely_features

WEIGHTS = Path(__file__).parents[1] / "compiler" / "engines" / "extractive" / "weights"
THRESHOLDS = {  # by the curves on collections that are left out
    "title": {"default": 0.5, "de": 0.4, "zh": 0.6},
    "definition": {"default": 0.53, "de": 0.35, "zh": 0.57},
    "card": {"default": 0.6, "de": 0.72, "zh": 0.75, "suggest": 0.35},
}
FOLDS = 9
FIELDS = 4  # in how many collections a feature must occur

Row = dict[str, Any]
Example = tuple[Row, dict[str, float], bool, float]  # judged candidate, features, wanted, weight


def rows_for(name: str, judged: Sequence[Row]) -> list[Example]:
    """Return (row, features, wanted, weight) of the judgements that a model learns from."""
    out = []
    for row in judged:
        features = row["features"]
        if name == "title" and row["sort"] == "page":
            out.append((row, {k: v for k, v in features.items() if k.startswith("term.")}, row["title"] == "yes", 1.0))
        elif name == "definition" and row["sort"] == "page":
            out.append((row, features, row["title"] == "yes" and row["first"] == "yes", 1.0))
        elif name == "card" and row["sort"] == "card":
            out.append((row, features, row["verdict"] == "keep", 0.5 if row["verdict"] == "border" else 1.0))
    return out


def main() -> None:
    """Print the curves of each model; store the weights if asked to."""
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgements", type=Path, nargs="?", default=Path(__file__).with_name("judgements.jsonl.gz"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--without", nargs="*", default=[], help="collections to leave out")
    args = parser.parse_args()
    opened = gzip.open if args.judgements.suffix == ".gz" else open
    with opened(args.judgements, "rt") as lines:
        judged = [json.loads(line) for line in lines]
    judged = [row for row in judged if row["collection"] not in args.without]
    found: dict[str, Fitted] = {}
    for name in ("title", "definition", "card"):
        rows = rows_for(name, judged)
        if name == "card":
            rows = [_with_likely(row, found) for row in rows]
        found[name] = Fitted(rows)
        report(name, rows, found[name].left_out(rows), np.array([wanted for _, _, wanted, _ in rows]))
        found[name].print_importance()
        if args.write:
            WEIGHTS.mkdir(exist_ok=True)
            store(WEIGHTS / f"{name}.json", found[name].whole, found[name].names, THRESHOLDS[name])


class Fitted:
    """A model fitted to all rows, and one for each fold of collections that leaves them out."""

    def __init__(self, rows: Sequence[Example]) -> None:
        import numpy as np
        from sklearn.model_selection import GroupKFold

        self.names = _names(rows)
        matrix = self.matrix([features for _, features, _, _ in rows])
        wanted = np.array([wanted for _, _, wanted, _ in rows])
        weights = np.array([weight for _, _, _, weight in rows])
        groups = np.array([row["collection"] for row, _, _, _ in rows])
        self.whole = _fit(matrix, wanted, weights)
        self.without: dict[str, Any] = {}  # collection -> the model that has not seen it
        for learn, test in GroupKFold(min(FOLDS, len(set(groups)))).split(matrix, wanted, groups):
            model = _fit(matrix[learn], wanted[learn], weights[learn])
            self.without |= dict.fromkeys(groups[test].tolist(), model)

    def matrix(self, rows: Sequence[Mapping[str, float]]) -> Any:
        """Return the features as an array, shape (rows, names)."""
        import numpy as np

        return np.array([[features.get(k, 0.0) for k in self.names] for features in rows])

    def left_out(self, rows: Sequence[Example]) -> Any:
        """Return the probability of each row by a model that has not seen its collection."""
        import numpy as np

        matrix, out = self.matrix([features for _, features, _, _ in rows]), np.zeros(len(rows))
        collections = np.array([row["collection"] for row, _, _, _ in rows])
        for name in set(collections.tolist()):
            mine = collections == name
            out[mine] = self.without.get(name, self.whole).predict_proba(matrix[mine])[:, 1]
        return out

    def print_importance(self) -> None:
        """Print the features that weigh most."""
        top = sorted(zip(self.whole.feature_importances_, self.names, strict=True), reverse=True)[:14]
        print("  weighs most:", ", ".join(f"{k} {v:.2f}" for v, k in top))


def _names(rows: Sequence[Example]) -> list[str]:
    """Return the features that occur often enough, and in enough collections, to learn from."""
    counts = Counter(k for _, features, _, _ in rows for k in features)
    fields: dict[str, set[str]] = defaultdict(set)
    for row, features, *_ in rows:
        for k in features:
            fields[k].add(row["collection"])
    return sorted(k for k, n in counts.items() if n >= 10 and len(fields[k]) >= FIELDS)


def _fit(matrix: Any, wanted: Any, weights: Any) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(
        n_estimators=300, max_depth=2, learning_rate=0.05, subsample=0.7, min_samples_leaf=12, max_features=0.3,
        random_state=7,
    )  # fmt: skip
    return model.fit(matrix, wanted, sample_weight=weights)


def _with_likely(example: Example, models: Mapping[str, Fitted]) -> Example:
    """Return a judged card with what the models of title and definition say that have not seen its collection."""
    row, features, wanted, weight = example
    page = {k.removeprefix("page:"): v for k, v in features.items() if k.startswith("page:")}
    likely = {
        name: float(models[name].left_out([(row, page, False, 1.0)])[0])
        if name == "title" or _is_definition(row)
        else 0.0
        for name in ("title", "definition")
    }
    own = {k: v for k, v in features.items() if not k.startswith("page:")}
    return row, own | likely_features(likely["title"], likely["definition"]), wanted, weight


def _is_definition(row: Row) -> bool:
    return row["form"] in ("definition", "term")


def report(name: str, rows: Sequence[Any], scores: Any, wanted: Any) -> None:
    """Print precision against share found, and what the threshold chooses by form and collection."""
    order = scores.argsort()[::-1]
    total, threshold = int(wanted.sum()), THRESHOLDS[name]["default"]
    print(f"{name}: {len(rows)} judged, {total} wanted ({total / len(rows):.2f})")
    curve = {n: float(wanted[order[:n]].mean()) for n in range(1, len(rows) + 1)}
    for share in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        n = max(int(len(rows) * share), 1)
        precision, found = curve[n], curve[n] * n / total
        print(f"  best {share:.0%}: precision {precision:.2f}, found {found:.2f}, from {scores[order[n - 1]]:.2f}")
    chosen = scores >= threshold
    by_form: dict[str, list[bool]] = defaultdict(list)
    by_collection: dict[str, list[bool]] = defaultdict(list)
    for (row, *_), keep, good_ in zip(rows, chosen, wanted, strict=True):
        if keep:
            by_form[row["form"]].append(bool(good_))
            by_collection[row["collection"]].append(bool(good_))
    print(f"  threshold {threshold:.2f}: {int(chosen.sum())} chosen, {float(wanted[chosen].mean()):.2f} wanted")
    for groups in (by_form, by_collection):
        print("   ", ", ".join(f"{k} {sum(v)}/{len(v)}" for k, v in sorted(groups.items())))


def store(path: Path, found: Any, names: Sequence[str], thresholds: Mapping[str, float]) -> None:
    """Write a trained classifier as plain numbers."""
    import numpy as np

    used: dict[int, int] = {}
    trees = []
    for (estimator,) in found.estimators_:
        tree = estimator.tree_
        nodes = []
        for at in range(tree.node_count):
            feature = int(tree.feature[at])
            if feature >= 0:
                feature = used.setdefault(feature, len(used))
            value = float(tree.value[at][0][0]) * found.learning_rate if feature < 0 else 0
            nodes.append(
                [feature if feature >= 0 else -1, round(float(tree.threshold[at]), 5) if feature >= 0 else 0,
                 int(tree.children_left[at]), int(tree.children_right[at]), round(value, 6)]
            )  # fmt: skip
        trees.append(nodes)
    prior = float(found.init_.class_prior_[1])
    data = {
        "features": [names[i] for i in used],
        "start": round(float(np.log(prior / (1 - prior))), 6),
        "thresholds": dict(thresholds),
        "trees": trees,
    }
    path.write_text(json.dumps(data, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
