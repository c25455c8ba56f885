"""Small embedding models in which words of one subject have one direction, as files of the two kinds that are used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

_SUBJECTS = (("thermostat", "warm", "temperature"), ("bedroom", "sleep"), ("rope", "knot"))
_UNKNOWN = "[UNK]"
_WORDS = {word: direction for direction, words in enumerate(_SUBJECTS) for word in words}


def _vectors() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """A row for each word, the first for all others."""
    vectors = np.zeros((1 + len(_WORDS), len(_SUBJECTS)), dtype=np.float32)
    for row, direction in enumerate(_WORDS.values(), 1):
        vectors[row, direction] = 1
    return vectors


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate([_UNKNOWN, *_WORDS])}, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


def static_model(folder: Path) -> Path:
    """Write a model of model2vec."""
    StaticModel(_vectors(), _tokenizer(), normalize=True).save_pretrained(str(folder))
    return folder


def sentence_transformer(folder: Path) -> Path:
    """Write a model that fastembed runs: the vectors of the words, of which it takes the mean."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    size = len(_SUBJECTS)
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", size])
    node = helper.make_node("Gather", ["vectors", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "words", inputs, [output], [numpy_helper.from_array(_vectors(), "vectors")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(folder / "model.onnx"))
    _tokenizer().save(str(folder / "tokenizer.json"))
    settings = {"config.json": {"hidden_size": size}}
    settings["tokenizer_config.json"] = {"model_max_length": 128, "pad_token": _UNKNOWN}  # type: ignore[dict-item]
    for name, values in settings.items():
        (folder / name).write_text(json.dumps(values), encoding="utf-8")
    return folder
