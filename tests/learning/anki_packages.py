"""Packages read in this very process, by all the code that reads them and by all that checks what was read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from learning.anki.import_package import ImportReport, import_package
from learning.anki.package_reader import Package
from learning.anki.worker import Session
from vault.vault import Vault


@contextmanager
def opened(path: Path) -> Iterator[Package]:
    session = Session(path)

    def ask(message: dict[str, Any], decode: Callable[[bytes], Any]) -> Any:
        return decode(json.dumps(session.answer(json.loads(json.dumps(message)))).encode())

    try:
        package = Package(path, ask)
        package.open()
        yield package
    finally:
        session.close()


def brought_in(vault: Vault, path: Path, now: datetime, **options: Any) -> ImportReport:
    """What the import of that file reports."""
    with opened(path) as package:
        return import_package(vault, package, now, **options)
