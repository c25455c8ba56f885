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

WEIGHTS = Path(__file__).parents[1] / "compiler" / "engines" / "extractive" / "weights"
THRESHOLDS = {  # by the curves on collections that are left out
    "title": {"default": 0.5, "de": 0.3},
    "definition": {"default": 0.45, "de": 0.2},
    "card": {"default": 0.5, "de": 0.4, "suggest": 0.25},
}
FOLDS = 9
FIELDS = 4  # in how many collections a feature must occur

Row = dict[str, Any]


def rows_for(name: str, judged: Sequence[Row]) -> list[tuple[Row, dict[str, float], bool, float]]:
    """Return (row, features, wanted, weight) of the judgements that a model learns from."""
    out = []
    for row in judged:
        features = row["features"]
        if name == "title" and row["sort"] == "page":
            out.append((row, {k: v for k, v in features.items() if k.startswith("term.")}, row["title"] == "yes", 1.0))
        elif name == "definition" and row["sort"] == "page":
            out.append((row, features, row["title"] == "yes" and row["first"] == "yes", 1.0))
        elif name == "card" and row["sort"] == "card" and row["form"] != "emphasis cloze":
            out.append((row, features, row["verdict"] == "keep", 0.5 if row["verdict"] == "border" else 1.0))
    return out


def main() -> None:
    """Print the curves of each model; store the weights if asked to."""
    import numpy as np
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import GroupKFold

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgements", type=Path, nargs="?", default=Path(__file__).with_name("judgements.jsonl.gz"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--without", nargs="*", default=[], help="collections to leave out")
    args = parser.parse_args()
    opened = gzip.open if args.judgements.suffix == ".gz" else open
    with opened(args.judgements, "rt") as lines:
        judged = [json.loads(line) for line in lines]
    for name in ("title", "definition", "card"):
        rows = rows_for(name, [row for row in judged if row["collection"] not in args.without])
        counts = Counter(k for _, f, _, _ in rows for k in f)
        fields: dict[str, set[str]] = defaultdict(set)
        for row, found, *_ in rows:
            for k in found:
                fields[k].add(row["collection"])
        names = sorted(k for k, n in counts.items() if n >= 10 and len(fields[k]) >= FIELDS)
        matrix = np.array([[f.get(k, 0.0) for k in names] for _, f, _, _ in rows])
        wanted = np.array([w for _, _, w, _ in rows])
        weights = np.array([w for _, _, _, w in rows])
        groups = np.array([r["collection"] for r, _, _, _ in rows])

        def trained(pick: Any, matrix: Any = matrix, wanted: Any = wanted, weights: Any = weights) -> Any:
            found = GradientBoostingClassifier(
                n_estimators=160, max_depth=3, learning_rate=0.06, subsample=0.7, min_samples_leaf=12, max_features=0.3,
                random_state=7,
            )  # fmt: skip
            return found.fit(matrix[pick], wanted[pick], sample_weight=weights[pick])

        scores = np.zeros(len(rows))
        folds = GroupKFold(min(FOLDS, len(set(groups))))
        for learn, test in folds.split(matrix, wanted, groups):
            scores[test] = trained(learn).predict_proba(matrix[test])[:, 1]
        report(name, rows, scores, wanted)
        final = trained(np.arange(len(rows)))
        top = sorted(zip(final.feature_importances_, names, strict=True), reverse=True)[:14]
        print("  weighs most:", ", ".join(f"{k} {v:.2f}" for v, k in top))
        if args.write:
            WEIGHTS.mkdir(exist_ok=True)
            store(WEIGHTS / f"{name}.json", final, names, THRESHOLDS[name])


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
