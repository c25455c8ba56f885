"""Compares passages with a question by meaning: by the static embeddings of a model that the user chose.

The embeddings of passages are stored in the user's cache folder, by the digests of their texts, so that only new ones
are computed. The package model2vec computes them (the extra `semantic`); it is loaded where a model is set.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import warnings
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.index.entries import texts_of_passages
from compiler.query.search import Likeness
from vault.config.search import embedding_model
from vault.config.user import cache_folder
from vault.errors import Refused, RetainError, UsageError
from vault.files.guard import Guard, Scope
from vault.index.database import Database
from vault.text.formatting import clean_line

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel

    Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]

EMBEDDINGS = "embeddings"  # below the user's cache folder
_DIGEST = 16  # bytes


def chosen_likeness(vault_id: str) -> Likeness | None:
    """Return what compares a question with the passages of a vault by the model that the user chose; None for none.

    Raises: as `likeness_by`; Damaged for settings that cannot be read.
    """
    name = embedding_model()
    return likeness_by(name, vault_id) if name else None


def likeness_by(model: str, vault_id: str) -> Likeness:
    """Return what compares a question with all passages of an index: their numbers, and likeness from -1 to 1.

    `model` is a folder or a name. Raises: UsageError if the package is missing; on use, Refused.
    """
    if importlib.util.find_spec("model2vec") is None:
        raise UsageError("the package model2vec is not installed", hint="`pip install 'retain[semantic]'`")
    return lambda database, question: _compared(_model(model), _file_name(vault_id, model), database, question)


@cache
def _model(name: str) -> StaticModel:
    """Return the model of this name or in this folder. Raises: Refused."""
    with warnings.catch_warnings():  # of libraries, which a restricted process keeps from starting others
        warnings.simplefilter("ignore")
        from model2vec import StaticModel

    try:
        return StaticModel.from_pretrained(name, force_download=False)
    except Exception as error:  # the libraries below raise types of their own, derived from it alone
        reason = clean_line(str(error))[:200]
        hint = "[search] model in your config.toml names a folder with a model of model2vec, or one at its hub"
        raise Refused(f"the embedding model cannot be loaded: {reason}", where=clean_line(name), hint=hint) from error


def embeddings_folder() -> Path:
    """Return the folder for embeddings, which is made if it is missing. Raises: WriteFailed."""
    Guard(cache_folder(""), Scope.STATE).makedirs(EMBEDDINGS)
    return cache_folder(EMBEDDINGS)


def _file_name(vault_id: str, model: str) -> str:
    """Return the name of the file with the embeddings of a vault by a model, as the model's files are now."""
    stamps = []
    with suppress(OSError):
        stamps = sorted((each.name, each.stat().st_mtime_ns) for each in Path(model).iterdir())
    return f"{hashlib.sha256(repr((vault_id, model, stamps)).encode()).hexdigest()[:32]}.npz"


def _compared(model: StaticModel, file: str, database: Database, question: str) -> dict[int, float]:
    texts = texts_of_passages(database)
    digests = {number: hashlib.blake2b(text.encode(), digest_size=_DIGEST).digest() for number, text in texts.items()}
    guard = Guard(cache_folder(EMBEDDINGS), Scope.STATE)
    known = _stored(guard, file)
    missing = {digest: texts[number] for number, digest in digests.items() if digest not in known}
    if missing:
        known |= dict(zip(missing, _embedded(model, list(missing.values())), strict=True))
        with suppress(RetainError):  # computed again next time
            _store(guard, file, {digest: known[digest] for digest in digests.values()})
    asked = _embedded(model, [question])[0]
    return {number: float(known[digest] @ asked) for number, digest in digests.items()}


def _embedded(model: StaticModel, texts: list[str]) -> Vectors:
    """Return the embeddings of texts, each of length 1 (0 for a text without a known word)."""
    import numpy as np

    vectors = np.asarray(model.encode(texts, use_multiprocessing=False), dtype=np.float32)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    unit: Vectors = np.divide(vectors, lengths, dtype=np.float32)
    return unit


def _stored(guard: Guard, file: str) -> dict[bytes, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Return the stored embeddings by the digests of their texts; none if they cannot be read."""
    import numpy as np

    with suppress(RetainError, OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        data = guard.read(file)
        if data is not None:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                digests, vectors = arrays["digests"].tobytes(), arrays["vectors"].astype(np.float32)
            return {digests[n * _DIGEST : (n + 1) * _DIGEST]: vector for n, vector in enumerate(vectors)}
    return {}


def _store(guard: Guard, file: str, known: Mapping[bytes, np.ndarray[tuple[int], np.dtype[np.float32]]]) -> None:
    import numpy as np

    data = io.BytesIO()
    digests = np.frombuffer(b"".join(known), dtype=np.uint8)
    np.savez(data, digests=digests, vectors=np.stack(list(known.values())).astype(np.float16))
    guard.update(file, lambda old: data.getvalue(), tries=3)
