"""The report of a check, `output/reports/lint-DATE.md`: the same findings on the same day give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby

from vault.diagnostic import Diagnostic
from vault.errors import Refused
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.model.frontmatter import human_edited, render_generated
from vault.model.markdown import escape
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

FOLDER = "output/reports"
_VERSIONS = 99  # of one day, where the user wrote in the earlier ones


def save_report(vault: Vault, found: Sequence[Diagnostic], about: Mapping[str, str], today: date) -> tuple[str, bool]:
    """Write the report of a day; return its path, and whether it is new or has changed.

    A report in which the user wrote stays, and another is made.

    `about` says what each rule finds. Raises: Refused, EditedMeanwhile, WriteFailed.
    """
    guard, data = vault.guard(Scope.PUBLISHER), report_text(found, about, today).encode()
    for number in range(1, _VERSIONS + 1):
        path = f"{FOLDER}/lint-{today.isoformat()}{f'-{number}' if number > 1 else ''}.md"
        old = guard.read(path)
        if old == data:
            return path, False
        if old is None or not human_edited(old.decode("utf-8", "replace")):
            guard.write(path, data, expect=None if old is None else sha256_hex(old))
            return path, True
    raise Refused(
        f"there are already {_VERSIONS} reports for this day",
        where=FOLDER,
        hint="delete some of them, then run the command again",
    )


def report_text(found: Sequence[Diagnostic], about: Mapping[str, str], today: date) -> str:
    """Return the report of what was found: a section a rule, with place, reason and remedy of each finding."""
    parts = [f"# Lint report, {today.isoformat()}", f"{plural(len(found), 'finding', zero='No')}."]
    for code, each in groupby(sorted(found, key=lambda d: (d.code, d)), key=lambda d: d.code):
        lines = [_item(one) for one in each]
        parts += [f"## {escape(code)} ({len(lines)})", *filter(None, [escape(about.get(code, ""))]), "\n".join(lines)]
    properties = {"type": "report", "title": f"Lint report, {today.isoformat()}", "created": today.isoformat()}
    return render_generated(properties, "\n" + "\n\n".join(parts) + "\n", None)


def _item(found: Diagnostic) -> str:
    """Return one finding as an item of a list."""
    place = f"{found.path}:{found.line}" if found.line else found.path
    remedy = f"\n  {escape(clean_line(found.hint))}" if found.hint else ""
    return f"- {escape(clean_line(place))}: {escape(clean_line(found.message))}{remedy}"
