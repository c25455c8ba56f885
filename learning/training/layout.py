"""The layouts of a line: chat messages, prompt and completion, or conversations as ShareGPT has them.

`messages` is read by TRL's SFTTrainer, by Axolotl (`type: chat_template`) and by Unsloth without a conversion. No
column beside it has a name that TRL takes for another type of data (`prompt`, `completion`, `text`, `label` ...).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from learning.training.record import Record

MESSAGES, PROMPT, SHAREGPT = LAYOUTS = ("messages", "prompt", "sharegpt")
COLUMNS = {
    "id": "id of the card or answer, or id of the concept followed by the number of the part",
    "kind": "`card`, `article` or `answer`",
    "title": "title of the page that it comes from",
    "concepts": "names of the concepts that it belongs to",
    "language": "language (ISO 639-1) of most of the cited text, empty if unknown",
    "confidence": "confidence of the article or answer: `high` or `medium`",
    "derived": "whether it contains a sentence inferred from the cited claims rather than stated in a source",
    "claims": "ids of the claims that it cites; `retain trace ID` shows the quote",
    "sources": "titles of the sources of these claims",
    "licenses": "licences that these sources state; `not stated` for those that state none",
    "page": "path of the page in the vault",
}


def _messages(record: Record) -> dict[str, object]:
    asked = {"role": "user", "content": record.prompt}
    return {"messages": [asked, {"role": "assistant", "content": record.answer}]}


def _prompt(record: Record) -> dict[str, object]:
    # A trainer joins the two as they are: without the blank line the answer would continue the question's last word.
    return {"prompt": f"{record.prompt}\n\n", "completion": record.answer}


def _sharegpt(record: Record) -> dict[str, object]:
    return {"conversations": [{"from": "human", "value": record.prompt}, {"from": "gpt", "value": record.answer}]}


_TURNS: Mapping[str, Callable[[Record], dict[str, object]]] = {
    MESSAGES: _messages,
    PROMPT: _prompt,
    SHAREGPT: _sharegpt,
}


def render_lines(records: Iterable[Record], layout: str) -> bytes:
    """Return the records as JSON lines, UTF-8."""
    turns = _TURNS[layout]
    return "".join(_line(turns(record) | _facts(record)) for record in records).encode()


def _line(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _facts(record: Record) -> dict[str, object]:
    """Return the columns of COLUMNS."""
    return {
        "id": record.id,
        "kind": record.kind,
        "title": record.title,
        "concepts": list(record.concepts),
        "language": record.language,
        "confidence": record.confidence,
        "derived": record.derived,
        "claims": list(record.claims),
        "sources": list(record.sources),
        "licenses": list(record.licenses),
        "page": record.page,
    }
