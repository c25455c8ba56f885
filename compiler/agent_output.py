"""What an agent made for one occasion (reports, slides, figures): free, as long as opening it does nothing."""

from __future__ import annotations

import re

from compiler.agent_inert import Fault, acting_in_output
from compiler.agent_markup import markup_fault
from vault.clean import clean_line

MAX_TEXT = 2 << 20  # bytes of a page that is to be judged
_PAGES = frozenset({"md", "markdown"})
_WEB = frozenset({"html", "htm", "svg", "xhtml", "xml"})
_TABLES = frozenset({"csv", "tsv"})
_OTHER = frozenset(
    "txt json jsonl yaml yml toml tex bib rst org log py r jl ipynb png jpg jpeg gif webp pdf pptx docx xlsx odt odp"
    " ods mp3 mp4 wav webm epub apkg dot mmd puml".split()
)
_FORMULA = re.compile(r"\s*[\"']?\s*(?:=|@|[+-](?![\d.,]+%?[\"']?$))")


def file_fault(path: str, data: bytes | None) -> Fault | None:
    """Why a file cannot stay in `output/`; None if it can. `data` is None for one too large to be looked into."""
    suffix = path.rpartition(".")[2].casefold() if "." in path.rsplit("/", 1)[-1] else ""
    if suffix not in _PAGES | _WEB | _TABLES | _OTHER:
        return 0, f"a kind of file that is not known here: {clean_line(suffix)[:20] or 'without a suffix'}"
    if suffix in _OTHER:
        return None
    if data is None or len(data) > MAX_TEXT:
        return 0, f"a page of more than {MAX_TEXT >> 20} MiB"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return 0, "not UTF-8"
    if suffix in _PAGES:
        return acting_in_output(text.replace("\r\n", "\n"), path)
    if suffix in _TABLES:
        return _formula(text, "," if suffix == "csv" else "\t")
    return markup_fault(text.replace("\r\n", "\n"), suffix, path.count("/"))


def _formula(text: str, mark: str) -> Fault | None:
    """The first cell that a spreadsheet would compute."""
    for number, line in enumerate(text.split("\n"), 1):
        if any(_FORMULA.match(cell) for cell in re.split(f"[{mark};]", line.rstrip("\r"))):
            return number, "a cell that a spreadsheet would take for a formula"
    return None
