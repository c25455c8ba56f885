"""The embedding model that the user chose: a sentence transformer, or a static model.

A sentence transformer is a folder with `model.onnx`, `tokenizer.json`, `tokenizer_config.json` and `config.json`, or
one of the models that fastembed knows by name, stored in the user's cache folder; fastembed runs both. A static model
is a folder or a name of model2vec's. All libraries are loaded here, where a model is set.
"""

from __future__ import annotations

import importlib.util
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vault.config.user import cache_folder
from vault.errors import Refused, UsageError
from vault.text.formatting import clean_line

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from model2vec import StaticModel

_ONNX = ("model.onnx", "onnx/model.onnx")
_POOLING = "1_Pooling/config.json"  # beside the model, where it is not the mean of the tokens' vectors
_BATCH = 16  # texts
_PACKAGES = ("fastembed", "model2vec")
_CACHE = "models"  # below the user's cache folder
_HINT = (
    "set [search] model in your config.toml to a folder with model.onnx, tokenizer.json, tokenizer_config.json and"
    " config.json, the name of a fastembed model, or the folder or name of a model2vec model"
)


class Encoder(Protocol):
    """Computes embeddings: arrays of numbers, of the same length for all texts.

    `leads` says whether its ranking comes before that by words; a static model finds less, and counts as much as words.
    """

    leads: bool

    def passages(self, texts: Sequence[str]) -> Iterator[Sequence[float]]:
        """Yield the embeddings of texts that are searched."""

    def question(self, text: str) -> Sequence[float]:
        """Return the embedding of a query."""


class _Transformer:
    def __init__(self, model: TextEmbedding) -> None:
        from fastembed.text.static_embedding import StaticTextEmbedding

        self._model, self.leads = model, not isinstance(model.model, StaticTextEmbedding)

    def passages(self, texts: Sequence[str]) -> Iterator[Any]:
        yield from self._model.passage_embed(list(texts), batch_size=_BATCH)

    def question(self, text: str) -> Any:
        return next(iter(self._model.query_embed(text)))


class _Static:
    def __init__(self, model: StaticModel) -> None:
        self._model, self.leads = model, False

    def passages(self, texts: Sequence[str]) -> Iterator[Any]:
        yield from self._model.encode(list(texts), use_multiprocessing=False)

    def question(self, text: str) -> Any:
        return self._model.encode([text], use_multiprocessing=False)[0]


def stay_offline() -> None:
    """Have the libraries look for models in the user's cache alone, where this process has no network."""
    os.environ["HF_HUB_OFFLINE"] = "1"


def check_package(name: str) -> None:
    """Raise UsageError if no installed package can run a model with this name or in this folder."""
    packages = ("fastembed",) if _onnx_file(name) else ("model2vec",) if Path(name).is_dir() else _PACKAGES
    if not any(map(importlib.util.find_spec, packages)):
        raise UsageError(
            f"the package {' or '.join(packages)} is not installed",
            where=f"[search] model = {clean_line(name)}",
            hint="run `pip install '.[semantic]'` in the checkout, or delete the [search] model line in config.toml",
        )


@cache
def encoder(name: str) -> Encoder:
    """Return the model of this name or in this folder. Raises: Refused."""
    try:
        with warnings.catch_warnings():  # of libraries, which a restricted process keeps from starting others
            warnings.simplefilter("ignore")
            return _loaded(name)
    except Exception as error:  # the libraries below raise types of their own, derived from it alone
        reason = clean_line(str(error))[:200]
        raise Refused(f"the embedding model cannot be loaded: {reason}", where=clean_line(name), hint=_HINT) from error


def _loaded(name: str) -> Encoder:
    folder = Path(name)
    if file := _onnx_file(name):
        return _Transformer(_in_folder(folder, file))
    if not folder.is_dir() and importlib.util.find_spec("fastembed") is not None:
        from fastembed import TextEmbedding
        from loguru import logger

        logger.disable("fastembed")  # what it would report of a download on standard error, the error here says
        if any(name.lower() == each["model"].lower() for each in TextEmbedding.list_supported_models()):
            return _Transformer(TextEmbedding(name, cache_dir=str(cache_folder(_CACHE))))
    from model2vec import StaticModel

    return _Static(StaticModel.from_pretrained(name, force_download=False))


def _in_folder(folder: Path, file: str) -> TextEmbedding:
    """Return the sentence transformer in a folder, as fastembed takes models that it does not know."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    size = int(_json(folder / "config.json")["hidden_size"])
    pooling = _json(folder / _POOLING) if (folder / _POOLING).is_file() else {}
    kind = PoolingType.CLS if pooling.get("pooling_mode_cls_token") is True else PoolingType.MEAN
    name = str(folder)
    with suppress(ValueError):  # known from an attempt before this one
        TextEmbedding.add_custom_model(name, kind, True, ModelSource(hf=name), size, model_file=file)
    return TextEmbedding(name, specific_model_path=name, cache_dir=name)


def _json(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is not a JSON object")
    return found


def _onnx_file(name: str) -> str:
    """Return the file of a sentence transformer in a folder, below it; "" if there is none."""
    return next((file for file in _ONNX if (Path(name) / file).is_file()), "")


def stamps_of(name: str) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of change of the files of a model in a folder; none for a model by name."""
    files: Iterable[Path] = sorted(Path(name).glob("*")) if Path(name).is_dir() else ()
    found = []
    for file in files:
        with suppress(OSError):
            found.append((file.name, file.stat().st_size, file.stat().st_mtime_ns))
    return found
