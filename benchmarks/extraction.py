"""What a compile makes of a folder of documents, beside a bare definition pattern over the same text."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import ablation
from benchmarks.bare_pattern import Found, read_barely
from benchmarks.compiled import Compiled, compile_folder, copy_of, part_of
from benchmarks.concept_figures import (
    Agreement,
    GapAgreement,
    JudgedPrecision,
    agreement,
    as_json,
    as_markdown,
    gap_agreement,
    judged_precision,
    sample_of,
    to_judge,
)
from benchmarks.concept_key import Key, KeyProblem, only_of, read_judged, read_key
from benchmarks.made_concepts import in_vault, structural_gaps
from benchmarks.measure import machine
from benchmarks.side_by_side import laid, table
from compiler.readers.formats import RECORDED, kind_of
from compiler.readers.read import read_source
from vault.errors import Unreadable, UsageError
from vault.evidence.evidence import EvidenceReader
from vault.layout import CONCEPTS, GAPS, SUMMARIES
from vault.model.card import Card, CardKind, Deck
from vault.model.markdown import unescape
from vault.text.sanitize import fold
from vault.vault import Vault

HERE = Path(__file__).resolve().parent
_CLAIM_LINK = re.compile(r"#\^c-[0-9a-z]{10}[|\\]")
_CLAIM = re.compile(r"^\^c-[0-9a-z]{10}\s*$", re.MULTILINE)


def default_folder() -> Path:
    """The real documents beside the checkout, else the example sources."""
    data = Path(os.environ.get("RETAIN_TEST_DATA", HERE.parents[1] / "shared" / "data"))
    corpus = data / "corpus-attention" / "raw"
    return corpus if corpus.is_dir() else HERE.parent / "examples" / "sources"


def read_folder(folder: Path) -> tuple[Found, float]:
    """What the bare pattern finds in the same documents, by the same readers, and the seconds both took."""
    start = time.perf_counter()
    return read_barely(_texts(folder)), time.perf_counter() - start


def _texts(folder: Path) -> Iterator[str]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if kind_of(path.name, data[:4096]) in RECORDED:
            continue
        try:
            yield read_source(data, path.name).text
        except Unreadable:
            continue


# --- what must hold -------------------------------------------------------------------------------------------------


def articles_without_claim(vault: Vault) -> list[str]:
    """The concept articles that cite nothing."""
    return [p for p in vault.paths(CONCEPTS, ".md") if not _CLAIM_LINK.search(vault.read_text(p) or "")]


def equal_answers(cards: Sequence[tuple[Deck, Card]]) -> list[tuple[str, str]]:
    """The pairs of cards (by id) whose answers are the same but for case, white space and the last full stop."""
    by_answer: dict[str, list[str]] = {}
    for _, card in cards:
        words = fold(unescape(card.answer)).casefold().rstrip(".!?。")
        by_answer.setdefault(words, []).append(str(card.id))
    return [pair for ids in by_answer.values() for pair in itertools.combinations(ids, 2)]


# --- what is printed ------------------------------------------------------------------------------------------------


def comparison(made: Compiled, bare: Found, bare_seconds: float) -> str:
    """The two side by side, as a Markdown table."""
    kinds = Counter(card.kind for _, card in made.cards())
    gaps, claims, cards = made.report["gaps"], made.report["claims"], made.report["cards"]
    lines = [
        ("", "retain", "bare pattern"),
        ("sources read", made.report["sources"]["read"], "the same"),
        ("concepts", len(made.vault.paths(CONCEPTS, ".md")), len(bare.concepts)),
        ("claims", claims["added"] + claims["kept"], bare.claims),
        ("cards", kinds.total(), len(bare.cards)),
        *((f"  {k.value}", kinds[k], len(bare.cards) if k is CardKind.DEFINITIONAL else 0) for k in CardKind),
        *((f"gaps, {kind}", number, "-") for kind, number in gaps.items() if number or kind != "filled"),
        ("claims proposed to the gates", _proposed(made.report, "claims"), "-"),
        ("claims rejected", claims["rejected"], "-"),
        ("cards proposed to the gates", _proposed(made.report, "cards"), "-"),
        ("cards rejected", cards["rejected"], "-"),
        *(
            (f"  by {gate}", n, "-")
            for gate, n in sorted(Counter(r["gate"] for r in made.report["rejections"]).items())
        ),
        ("seconds", f"{made.seconds:.1f}", f"{bare_seconds:.1f}"),
    ]
    return laid([[*map(str, line)] for line in lines])


def checks(made: Compiled) -> str:
    """What must be nought, and what verify counted."""
    bare = articles_without_claim(made.vault)
    pairs = equal_answers(made.cards())
    verdict = made.verdict
    on_disk = sum(len(_CLAIM.findall(made.vault.read_text(p) or "")) for p in made.vault.paths(SUMMARIES, ".md"))
    lines = [
        f"- concepts without a claim: {len(bare)}" + "".join(f"\n  - {path}" for path in bare),
        f"- pairs of cards with equal answers: {len(pairs)}" + "".join(f"\n  - {a} and {b}" for a, b in pairs),
        f"- verify: {verdict['verified']} of {verdict['claims']} claims verified, {len(verdict['unverified'])} not; "
        f"{len(verdict['uncited'])} of {verdict['sentences']} sentences uncited; "
        f"{len(verdict['unsupported'])} of {verdict['cards']} cards unsupported",
        f"- claims in summaries: {on_disk}; gaps on the agenda: {(made.vault.read_text(GAPS) or '').count('- [ ]')}",
        f"- sources that could not be read: {len(made.report['failures'])}"
        + "".join(f"\n  - {found['path']}: {found['reason']}" for found in made.report["failures"]),
    ]
    return "\n".join(lines)


def sample(made: Compiled, number: int, seed: int) -> str:
    """So many cards at random, each with its quotes and room for a verdict, as a Markdown list."""
    cards = sorted(made.cards(), key=lambda pair: (pair[0].path, pair[1].line))
    chosen = random.Random(seed).sample(cards, min(number, len(cards)))
    evidence = EvidenceReader(made.vault)
    head = f"# {len(chosen)} cards of {len(cards)}, chosen with seed {seed}\n"
    return "\n".join(
        [
            head,
            "Judge each by itself: card and quote, no more.\n",
            *(_judged(n, deck, card, evidence) for n, (deck, card) in enumerate(chosen, 1)),
        ]
    )


def _judged(number: int, deck: Deck, card: Card, evidence: EvidenceReader) -> str:
    lines = [
        f"{number}. **Q:** {_inline(card.question)}",
        f"   **A:** {_inline(card.answer)}",
        f"   - {card.kind.value if card.kind else 'no kind'}, {unescape(deck.title)}, card {card.id}",
    ]
    for found in evidence.of(card.support):
        words = f"“{fold(found.claim.quote)}”" if found.claim else found.problem
        lines.append(f"   - quote: {words} ({found.source}, {found.place})")
    return "\n".join([*lines, "   - keep/drop — reason: ", ""])


def _inline(markdown: str) -> str:
    return fold(unescape(markdown))


def main() -> None:
    """Compile, compare, check, count against the key, and print."""
    asked = _arguments()
    key_path, folder = _paths(asked.paths)
    if not folder.is_dir():
        sys.exit(f"{folder} is no folder of documents")
    try:
        key = read_key(key_path, folder) if key_path else None
        verdicts = read_judged(asked.judged) if asked.judged else None
    except KeyProblem as problem:
        sys.exit(str(problem))
    needs_key = [f"--{name}" for name in ("concepts", "judged", "ablate") if getattr(asked, name)]
    if key is None and needs_key:
        sys.exit(f"{needs_key[0]} needs a key: extraction.py KEY FOLDER")
    if asked.ablate and key is not None:
        _ablate(key, folder)
        return
    if asked.engine == "journal":
        _beside(asked, key, folder, verdicts)
        return
    with tempfile.TemporaryDirectory(prefix="retain-extraction-", ignore_cleanup_errors=True) as work:
        try:
            part = part_of(folder, asked.only, None, Path(work))
        except UsageError as error:
            sys.exit(str(error))
        made = compile_folder(part, Path(work))
        key, folder = only_of(key, part) if key is not None else None, part
        found = agreement(key, in_vault(made.vault, folder)) if key is not None else None
        against = _against(found, made, asked, verdicts) if found is not None else None
        if asked.json:
            print(json.dumps(figures_of(made, against), indent=2, ensure_ascii=False))
            return
        bare, bare_seconds = read_folder(folder)
        print(f"{machine()}\n{folder.parent.name}/{folder.name}\n")
        print(comparison(made, bare, bare_seconds), checks(made), sep="\n\n")
        if against is not None:
            print("", as_markdown(*against), sep="\n")
            if asked.concepts:
                print("", _to_judge(against, asked), sep="\n")
        if asked.cards:
            print("", sample(made, asked.cards, asked.seed), sep="\n")


Against = tuple[Agreement, GapAgreement, JudgedPrecision | None]
Verdicts = dict[str, bool] | None


def _beside(asked: argparse.Namespace, key: Key | None, folder: Path, verdicts: Verdicts) -> None:
    """The embedded engine beside a vault, or a journal, whose replies others gave, on the documents that both have."""
    if not (asked.vault or asked.journal):
        sys.exit("--engine journal needs --vault DIR or --journal FILE")
    with tempfile.TemporaryDirectory(prefix="retain-extraction-", ignore_cleanup_errors=True) as work:
        try:
            part = part_of(folder, asked.only, asked.vault, Path(work))
            theirs = (
                copy_of(asked.vault, Path(work)) if asked.vault else compile_folder(part, Path(work), asked.journal)
            )
            made = {"extractive": compile_folder(part, Path(work)), "journal": theirs}
        except (UsageError, RuntimeError) as error:
            sys.exit(str(error))
        of_part = only_of(key, part) if key is not None else None
        columns = {name: _figures(one, of_part, part, asked, verdicts) for name, one in made.items()}
    if asked.json:
        print(json.dumps(columns, indent=2, ensure_ascii=False))
        return
    print(f"{machine()}\n{folder.parent.name}/{folder.name}\n")
    print(table(columns))


def _figures(
    made: Compiled, key: Key | None, part: Path, asked: argparse.Namespace, verdicts: Verdicts
) -> dict[str, Any]:
    """The figures of one engine on the part of the documents that is measured."""
    if key is None:
        return figures_of(made, None)
    concepts = [concept for concept in in_vault(made.vault, part) if concept.files]
    return figures_of(made, _against(agreement(key, concepts), made, asked, verdicts))


def _against(found: Agreement, made: Compiled, asked: argparse.Namespace, verdicts: Verdicts) -> Against:
    judged = None
    if verdicts is not None:
        judged = judged_precision(found, sample_of(found, asked.concepts, asked.seed), verdicts)
    return found, gap_agreement(found.key, structural_gaps(made.vault)), judged


def _to_judge(against: Against, asked: argparse.Namespace) -> str:
    """The sample that was asked for; of a sample with verdicts only what none judged."""
    found, _, judged = against
    chosen = judged.unjudged if judged is not None else sample_of(found, asked.concepts, asked.seed)
    return f"Sample: --concepts {asked.concepts} --seed {asked.seed}\n\n{to_judge(found, chosen)}"


def figures_of(made: Compiled, against: Against | None) -> dict[str, Any]:
    """What the compile made and what the gates refused, and the figures against the key."""
    report = made.report
    kinds = Counter(card.kind for _, card in made.cards())
    return {
        "concepts": len(made.vault.paths(CONCEPTS, ".md")),
        "claims": report["claims"],
        "cards": report["cards"] | {"by_kind": {k.value: kinds[k] for k in CardKind}},
        "gaps": report["gaps"],
        "gates": {
            "proposed": {noun: _proposed(report, noun) for noun in ("claims", "cards")},
            "refused": dict(sorted(Counter(r["gate"] for r in report["rejections"]).items())),
        },
        "unverified": len(made.verdict["unverified"]),
        "verify": {what: len(made.verdict[what]) for what in ("unverified", "uncited", "unsupported")},
        "sentences": report.get("sentences", {}),
        "contradictions": report.get("contradictions", {}),
        "replies": made.replies(),
        "asked": report.get("asked", {}),
        "seconds": made.seconds,
        "key": as_json(*against) if against is not None else None,
    }


def _proposed(report: dict[str, Any], noun: str) -> int:
    """How many claims or cards came before a gate, refused ones among them."""
    return sum(
        report[noun][verb] for verb in ("added", "created", "kept", "updated", "rejected") if verb in report[noun]
    )


def _ablate(key: Key, folder: Path) -> None:
    try:
        found = ablation.rows(key, folder)
    except LookupError as error:
        sys.exit(str(error))
    print(f"{machine()}\n{folder.parent.name}/{folder.name}\n", ablation.table(found), sep="\n")


def _paths(given: list[str]) -> tuple[Path | None, Path]:
    """The key, if one is given, and the folder of documents."""
    paths = [Path(p).resolve() for p in given]
    key = paths.pop(0) if paths and paths[0].suffix == ".toml" else None
    if len(paths) > 1:
        sys.exit(f"{paths[1]}: one folder at a time")
    return key, paths[0] if paths else default_folder()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="[KEY] [FOLDER]",
        help="a key (a .toml file) to count against; a folder of documents, else the shared corpus, else the examples",
    )
    parser.add_argument(
        "--cards", type=int, default=0, metavar="N", help="print N cards at random, to be judged by a human"
    )
    parser.add_argument(
        "--concepts",
        type=int,
        default=0,
        metavar="N",
        help="print N articles that the key lacks, to be judged likewise",
    )
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(10**6), help="which ones; else chance says"
    )
    parser.add_argument(
        "--judged",
        type=Path,
        metavar="FILE",
        help='verdicts on articles that the key lacks: "Title" = "concept" or "not"',
    )
    parser.add_argument(
        "--ablate", action="store_true", help="the engine once without each of its signals, and no vault"
    )
    parser.add_argument(
        "--engine",
        choices=("extractive", "journal"),
        default="extractive",
        help="journal: the embedded engine beside the replies of a model or an agent",
    )
    parser.add_argument(
        "--vault", type=Path, metavar="DIR", help="with --engine journal: a vault that was compiled so; it is copied"
    )
    parser.add_argument(
        "--journal",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="or files of ledger/replies/ of such a vault",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="GLOB", help="only these documents, by their paths below the folder"
    )
    parser.add_argument("--json", action="store_true", help="figures for a program")
    return parser.parse_args()


if __name__ == "__main__":
    main()
