"""Ranks passages by their meaning: by the embeddings of a model that the user chose (`embedding_model.py`).

What is embedded are windows of three sentences with the title of their document before them: the embedding of a whole
passage says little of each sentence in it. A passage is as near to a question as its nearest window. Embeddings are
stored in the vault's index; those of windows that are new are computed when a search needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from compiler.index.embeddings import (
    Embedded,
    all_embedded,
    embedded,
    forget_embedded,
    not_embedded,
    put_embedded,
)
from compiler.index.entries import passages_of
from compiler.index.steps import digest_of
from compiler.search.embedding_model import Encoder, check_package, encoder, stamps_of
from compiler.search.search import WORDS_BESIDE, Ranking
from compiler.sources.segments import passages as sentences
from vault.index.database import Database
from vault.text.formatting import fold

if TYPE_CHECKING:
    pass

_AROUND = 1  # sentences of a window before and after the one in its middle
_MOST = 800  # characters of a window with its title
_NEAREST = 200  # passages that are ranked
_VERSION = 1  # grows when other windows are made of the same text
_DIGEST = 16  # bytes
Progress = Callable[[dict[str, Any]], None]
_LEADING = 1.0  # the weight of a ranking that comes before that by words


def nearest_by(model: str, progress: Progress = lambda event: None) -> Callable[[Database, str], Ranking]:
    """Return what ranks the passages of an index by their nearness to a question.

    `model` is a folder or a name. Raises: UsageError if the package that runs it is missing; on use, Refused.
    """
    check_package(model)
    id_ = digest_of(repr((_VERSION, model, stamps_of(model))))

    def nearest(database: Database, question: str) -> Ranking:
        chosen = encoder(model)
        _bring_up_to_date(database, chosen, id_, progress)
        weight = _LEADING if chosen.leads else WORDS_BESIDE
        return Ranking("passage", _ranked(database, chosen, id_, question), weight)

    return nearest


# --- storing ---------------------------------------------------------------------------------------------------------


def _bring_up_to_date(database: Database, model: Encoder, id_: bytes, progress: Progress) -> None:
    """Embed the windows that are new, source by source, so that little is lost where it is interrupted."""
    forget_embedded(database)
    paths = not_embedded(database, id_)
    windows = {path: list(_windows(database, path)) for path in paths}
    total, done = sum(map(len, windows.values())), 0
    for path, each in windows.items():
        old = embedded(database, path, id_)
        known = _by_digest(old) if old is not None else {}
        missing = {digest: text for _, text in each if (digest := digest_of(text)) not in known}
        in_order = sorted(missing, key=lambda digest: len(missing[digest]))  # texts of one length take least time
        vectors = model.passages([missing[digest] for digest in in_order])
        done += len(each) - len(missing)
        for digest, vector in zip(in_order, vectors, strict=True):
            progress({"event": "embed", "done": done, "of": total, "path": path})
            known[digest] = _as_bytes(vector)
            done += 1
        put_embedded(database, path, id_, _joined(each, known))
    if paths:
        progress({"event": "embed", "done": total, "of": total})


def _windows(database: Database, path: str) -> Iterator[tuple[int, str]]:
    """Yield the windows of a source: the number of the passage in it, from 0, and the text with the title."""
    for number, passage in enumerate(passages_of(database, path)):
        spans = sentences(passage.text)
        for n in range(len(spans)):
            start, end = spans[max(0, n - _AROUND)][0], spans[min(len(spans) - 1, n + _AROUND)][1]
            yield number, f"{passage.title}: {fold(passage.text[start:end])}"[:_MOST]


def _by_digest(windows: Embedded) -> dict[bytes, bytes]:
    """Return the stored vectors by the digests of their texts."""
    count = len(windows.digests) // _DIGEST
    size = len(windows.vectors) // max(1, count)
    return {
        windows.digests[n * _DIGEST : (n + 1) * _DIGEST]: windows.vectors[n * size : (n + 1) * size]
        for n in range(count)
    }


def _joined(windows: Sequence[tuple[int, str]], vectors: dict[bytes, bytes]) -> Embedded:
    import numpy as np

    digests = [digest_of(text) for _, text in windows]
    passages = np.array([number for number, _ in windows], dtype="<u4").tobytes()
    return Embedded(b"".join(digests), passages, b"".join(vectors[digest] for digest in digests))


def _as_bytes(vector: Sequence[float]) -> bytes:
    return bytes(_unit(vector).astype("<f2").tobytes())


def _unit(vector: Sequence[float]) -> Any:
    """Return a vector of length 1; of length 0 for a text without a known word."""
    import numpy as np

    array = np.asarray(vector, dtype=np.float32)
    return array / max(float(np.linalg.norm(array)), 1e-9)


# --- comparing -------------------------------------------------------------------------------------------------------


def _ranked(database: Database, model: Encoder, id_: bytes, question: str) -> list[int]:
    """Return the numbers of the passages with the windows that are nearest to a question, the nearest first."""
    import numpy as np

    rows = all_embedded(database, id_)
    asked = _unit(model.question(question))
    if not rows or not asked.any():
        return []
    owners, likeness = [], []
    for first, passages, vectors in rows:
        owners.append(np.frombuffer(passages, dtype="<u4").astype(np.int64) + first)
        likeness.append(np.frombuffer(vectors, dtype="<f2").reshape(len(owners[-1]), -1).astype(np.float32) @ asked)
    numbers, near = np.concatenate(owners), np.concatenate(likeness)
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))  # the windows of a passage are neighbours
    order = np.argsort(-np.maximum.reduceat(near, starts), kind="stable")[:_NEAREST]
    return [int(number) for number in numbers[starts][order]]
