"""The data card of an export: what Hugging Face `datasets` reads of it, and what to know before using it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from learning.training.layout import COLUMNS, MESSAGES, PROMPT, SHAREGPT
from learning.training.record import KINDS, Record
from learning.training.sources import NOT_STATED
from learning.training.split import SPLITS, TEST, VALIDATION, Split
from vault.model.frontmatter import scalar
from vault.model.markdown import escape
from vault.text.formatting import clean_line, plural

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SMALL_MODELS = """\
## Models below 7 billion parameters

Do not expect a small model to know the subject after training on this data. Fine-tuning teaches a model a way
of answering rather than facts: from a few hundred or thousand short records, a model below about 7 billion parameters
learns tone, length and vocabulary, but few of the facts. It then answers in the style of the wiki and makes up what it
does not know. Larger models do this too, but less. Gekhman et al., [Does Fine-Tuning LLMs on New Knowledge
Encourage Hallucinations?](https://aclanthology.org/2024.emnlp-main.444) (EMNLP 2024), found that examples with new
facts are learnt slowly, and that a model hallucinates more once it has learnt them.

Before using such a model, compare it on the test split with the base model, and with the base model that gets
pages of the wiki along with the question. Where facts have to be right, the last of these is the better choice:
`retain ask` answers with quotes. Answers of a trained model have no citations.
"""
_USES = {
    MESSAGES: """\
TRL's `SFTTrainer` takes the dataset as it is. So does Unsloth, once the chat template is applied to `messages`. For
Axolotl:

```yaml
datasets:
  - path: PATH/OF/THIS/FOLDER
    type: chat_template
    field_messages: messages
    split: train
```
""",
    PROMPT: """\
TRL's `SFTTrainer` takes the dataset as it is, joins prompt and completion, and computes the loss on the completion
alone. No chat template is applied.
""",
    SHAREGPT: """\
Unsloth's `standardize_sharegpt` and TRL's `SFTTrainer` convert the column `conversations` themselves. For Axolotl:

```yaml
datasets:
  - path: PATH/OF/THIS/FOLDER
    type: chat_template
    field_messages: conversations
    message_property_mappings:
      role: from
      content: value
    split: train
```
""",
}
_TURNS = {
    MESSAGES: {"messages": "the question (`user`) and the answer (`assistant`)"},
    PROMPT: {"prompt": "the question and a blank line", "completion": "the answer"},
    SHAREGPT: {"conversations": "the question (`human`) and the answer (`gpt`)"},
}


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose: the layout of a line, the shares of test and validation, the seed of the split."""

    layout: str = MESSAGES
    test_share: float = 0.1
    validation_share: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """An export: its records by split, what was left out by kind and reason, and its sources as (title, licence, number
    of records)."""

    vault: str
    options: Options
    splits: Mapping[str, tuple[Record, ...]]
    left_out: Mapping[str, Mapping[str, int]]
    split: Split
    sources: tuple[tuple[str, str, int], ...]
    warnings: tuple[str, ...]

    @property
    def records(self) -> int:
        return sum(map(len, self.splits.values()))

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages, sorted."""
        return tuple(sorted({r.language for records in self.splits.values() for r in records if r.language}))

    @property
    def used(self) -> tuple[str, ...]:
        """Return the splits that have records."""
        return tuple(side for side in SPLITS if self.splits[side])

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the numbers of records by split and kind."""
        found = {side: Counter(record.kind for record in self.splits[side]) for side in self.used}
        return {side: {kind: counts[kind] for kind in KINDS} for side, counts in found.items()}

    def as_json(self) -> dict[str, object]:
        """Return the report of the export."""
        return {
            "format": self.options.layout,
            "seed": self.options.seed,
            "records": self.records,
            "splits": self.counts(),
            "left_out": self.left_out,
            "languages": list(self.languages),
            "groups": {
                "count": len(self.split.groups),
                "largest": max((len(group.rows) for group in self.split.groups), default=0),
                "oversized": [
                    {"concepts": list(group.concepts), "records": len(group.rows)} for group in self.split.oversized
                ],
            },
            "sources": [{"title": title, "license": name, "records": count} for title, name, count in self.sources],
            "warnings": list(self.warnings),
        }


def render_card(summary: Summary) -> str:
    """Return the text of README.md."""
    title = clean_line(summary.vault) or "A vault"
    parts = [
        _front(summary, title),
        f"# {escape(title)}: training data",
        f"{plural(summary.records, 'record')} that `retain export train` created from a vault: cards, articles and "
        "saved answers, each with the ids of the claims that it cites and the titles of their sources.",
        *(f"- {warning[0].upper()}{warning[1:]}." for warning in summary.warnings),
        _counts(summary),
        _columns(summary.options.layout),
        f"## Use\n\n{_loading(summary)}\n{_USES[summary.options.layout].rstrip()}",
        _split(summary),
        _left_out(summary.left_out),
        _sources(summary),
        _SMALL_MODELS.rstrip(),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _front(summary: Summary, title: str) -> str:
    """Return the YAML header, from which `datasets` takes files and splits."""
    size = next((name for limit, name in _SIZES if summary.records < limit), "n>1M")
    states_all = all(name != NOT_STATED for _, name, _ in summary.sources)
    lines = ["---", f"pretty_name: {scalar(title)}"]
    if summary.languages:
        lines += ["language:", *(f"- {scalar(code)}" for code in summary.languages)]
    lines += [f"license: {'other' if states_all else 'unknown'}"]
    lines += ["task_categories:", "- question-answering", "- text-generation", "size_categories:", f"- {size}"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for side in summary.used:
        lines += [f"  - split: {side}", f"    path: {side}.jsonl"]
    return "\n".join([*lines, "---"])


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table; the cells are Markdown already."""
    names = list(head)
    lines = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _counts(summary: Summary) -> str:
    rows = [(side, *counts.values(), sum(counts.values())) for side, counts in summary.counts().items()]
    known = ", ".join(summary.languages) or "unknown"
    return f"## Records\n\n{_table(('split', *KINDS, 'all'), rows)}\n\nLanguages: {escape(known)}."


def _columns(layout: str) -> str:
    rows = ((f"`{name}`", what) for name, what in {**_TURNS[layout], **COLUMNS}.items())
    return f"## Columns\n\n{_table(('column', 'what it contains'), rows)}"


def _loading(summary: Summary) -> str:
    names = ", ".join(f'data["{side}"]' for side in summary.used)
    return (
        f'```python\nfrom datasets import load_dataset\n\ndata = load_dataset("PATH/OF/THIS/FOLDER")  # {names}\n```\n'
    )


def _split(summary: Summary) -> str:
    """Return how the records were split."""
    options, split = summary.options, summary.split
    shares = f"{options.test_share:g} of the records go to {TEST}"
    if options.validation_share:
        shares += f" and {options.validation_share:g} to {VALIDATION}"
    largest = max((len(group.rows) for group in split.groups), default=0)
    text = (
        "## How it was split\n\n"
        "By concept: a concept's cards and article, everything that cites one of the same claims, and questions or "
        "answers with nearly the same words stay together in one split. "
        f"This gave {plural(len(split.groups), 'group')}, the largest with {plural(largest, 'record')}; with seed "
        f"{options.seed}, up to {shares}. The same vault, options and seed give the same files."
    )
    if split.oversized:
        rows = ((_names(group.concepts), len(group.rows)) for group in split.oversized)
        text += f"\n\nToo large for their split, so placed in train:\n\n{_table(('concepts', 'records'), rows)}"
    return text


def _names(concepts: tuple[str, ...]) -> str:
    """Return the first names of concepts, and how many more there are."""
    more = f" and {len(concepts) - 5} more" if len(concepts) > 5 else ""
    return escape(", ".join(map(clean_line, concepts[:5]))) + more


def _left_out(left_out: Mapping[str, Mapping[str, int]]) -> str:
    rows = [(kind, escape(reason), count) for kind, reasons in left_out.items() for reason, count in reasons.items()]
    if not rows:
        return "## What was left out\n\nNothing."
    return f"## What was left out\n\n{_table(('what', 'why', 'how many'), rows)}"


def _sources(summary: Summary) -> str:
    """Return the sources with the licences that they state."""
    rows = ((escape(title), escape(name), count) for title, name, count in summary.sources)
    table = _table(("source", "licence", "records"), rows)
    return (
        "## Sources and licences\n\n"
        "The licence is the one stated in the document, or set as `license` on its page of the wiki; nobody has "
        f"checked it. Records may contain text from the sources.\n\n{table}"
    )
