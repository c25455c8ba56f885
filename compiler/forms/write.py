"""Makes an answer in the form that is wanted, and writes it below `output/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath

from compiler.forms.brief import brief
from compiler.forms.canvas import canvas
from compiler.forms.chart import chart_note, drawn
from compiler.forms.material import Material, material_of
from compiler.forms.plot import plot
from compiler.forms.report import report
from compiler.forms.slides import slides
from compiler.forms.table import compared, table
from compiler.query.answer import Answer
from vault.errors import EditedMeanwhile, Refused, UsageError
from vault.files.guard import Guard, Scope
from vault.ids import slug
from vault.index.database import Database
from vault.vault import Vault

REPORTS, SLIDES, FIGURES = FOLDERS = ("output/reports", "output/slides", "output/figures")
# The folder of each form, and what its file's name has after the question's: two forms in one folder differ.
_PLACES = {
    "report": (REPORTS, ".md"),
    "table": (REPORTS, "-table.md"),
    "slides": (SLIDES, ".md"),
    "chart": (FIGURES, ".png"),
    "canvas": (REPORTS, ".canvas"),
    "brief": (REPORTS, "-brief.md"),
}
FORMS = tuple(_PLACES)
_ENDINGS = {"chart": (".png", ".svg", ".md"), "canvas": (".canvas",)}  # of the files of a form; else .md alone
_VERSIONS = 99  # files for one question in one form
Files = Mapping[str, bytes]  # by the endings of their names


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form that is wanted; `out` is a vault path for it, "" for a name from the question; the things to compare."""

    form: str
    out: str = ""
    things: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Return the folder to which it is written."""
        return str(PurePosixPath(self.out).parent) if self.out else _PLACES[self.form][0]


def check_out(form: str, out: str) -> str:
    """Return the vault path `out` for a form, with the form's ending. Raises: UsageError."""
    endings = _ENDINGS.get(form, (".md",))
    path = PurePosixPath(out)
    path = path if path.suffix.casefold() in endings else path.with_name(path.name + endings[0])
    if not str(path).startswith(tuple(f"{folder}/" for folder in FOLDERS)):
        hint = f"--out {_PLACES[form][0]}/{path.name}"
        raise UsageError("output is written to output/reports, output/slides or output/figures", where=out, hint=hint)
    return str(path.with_suffix(endings[0]))


def write_form(vault: Vault, database: Database, answer: Answer, wanted: Wanted, today: date) -> list[str]:
    """Write an answer in a form and return the paths of its files, the main one first; equal files are reused.

    Raises: UsageError where there is nothing to write; Refused; WriteFailed; IndexDamaged.
    """
    make = _maker(vault, database, answer, wanted, today)
    if wanted.out:
        stem = wanted.out.removesuffix(PurePosixPath(wanted.out).suffix)
    else:
        folder, ending = _PLACES[wanted.form]
        stem = f"{folder}/{slug(answer.question)}{ending.partition('.')[0]}"
    return _write(vault.guard(Scope.PUBLISHER), stem, make)


def _maker(vault: Vault, database: Database, answer: Answer, wanted: Wanted, today: date) -> Callable[[str], Files]:
    """Return a function that makes the files of a form for a path without ending."""
    material = material_of(database, answer)
    match wanted.form:
        case "table":
            rows = compared(vault, database, answer.question, wanted.things)
            return lambda stem: {".md": table(rows, material, today)}
        case "chart":
            chart = drawn(vault, database, answer.question, answer.claims)
            pictures = plot(chart, material.question)
            return lambda stem: {
                ".png": pictures["png"],
                ".svg": pictures["svg"],
                ".md": chart_note(chart, material, today, f"{stem}.png"),
            }
    _check_not_empty(material)
    match wanted.form:
        case "slides":
            return lambda stem: {".md": slides(material, today, f"{stem}.md")}
        case "canvas":
            return lambda stem: {".canvas": canvas(material)}
        case "brief":
            return lambda stem: {".md": brief(material, today)}
    return lambda stem: {".md": report(material, today)}


def _check_not_empty(material: Material) -> None:
    if not material.statements:
        raise UsageError("no answer to save", hint="the sources do not answer this question")


def _write(guard: Guard, stem: str, make: Callable[[str], Files]) -> list[str]:
    """Write the files under the first number that is free, or has files with the same bytes; return their paths."""
    for number in range(1, _VERSIONS + 1):
        name = f"{stem}-{number}" if number > 1 else stem
        files = {name + ending: data for ending, data in make(name).items()}
        if _is_free(guard, files):
            try:
                for path, data in files.items():
                    guard.write(path, data, expect=None)
            except EditedMeanwhile:
                continue  # another process wrote one of them in this moment
            return list(files)
    folder = stem.rpartition("/")[0]
    raise Refused(
        f"there are already {_VERSIONS} files for this question",
        where=folder,
        hint="delete some of them, then run the command again",
    )


def _is_free(guard: Guard, files: Files) -> bool:
    """Return whether none of the files is there with other bytes."""
    return all(guard.read(path) in (None, data) for path, data in files.items())


def names_of(text: str) -> Sequence[str]:
    """Return the names in a list that commas separate."""
    return [name for part in text.split(",") if (name := part.strip())]
