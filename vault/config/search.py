"""The table [search] of the user's `config.toml`: what searches use besides words.

    [search]
    model = "~/models/potion-base-8M"    # a static embedding model of model2vec: a folder, or a name at its hub

None of this is read from a vault, as a vault may come from somebody else.
"""

from __future__ import annotations

from pathlib import Path

from vault.config import user
from vault.config.toml_file import TomlFile, parsed


def embedding_model() -> str:
    """Return the model by which passages are compared by meaning, a path without "~"; "" for none.

    Raises: Damaged, with file and line.
    """
    text, path = user.config_text(), str(user.config_folder() / user.CONFIG)
    if "[search]" not in text:
        return ""
    file = TomlFile(text, path)
    model = file.string(file.table(parsed(text, path), "search"), "model")
    return str(Path(model).expanduser()) if model.startswith("~") else model
