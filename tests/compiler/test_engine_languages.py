"""The embedded engine in the sandboxed process, on documents in English, German and Chinese."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault

pytestmark = pytest.mark.real_workers

ENGLISH = """# Cell division

## Checkpoints

A checkpoint is a point in the cell cycle at which the cell examines internal and external cues and decides whether to
go on with division. Each checkpoint stops the cycle when its conditions are not met. The checkpoint at the end of the
first growth phase responds to damage of the genetic material.

## Spindle

The spindle is a structure of microtubules that separates the chromosomes of a dividing cell. The spindle forms while
the envelope of the nucleus breaks down.
"""
GERMAN = """# Grundlagen der Datensicherung

## Prüfsumme

Eine Prüfsumme ist ein kurzer Wert, der aus den Bytes einer Datei berechnet wird und an dem sich eine Veränderung der
Datei erkennen lässt. Die Prüfsumme wird zusammen mit der Datei gespeichert. Weicht die neu berechnete Prüfsumme von der
gespeicherten ab, ist die Datei beschädigt.
"""
CHINESE = """# 操作系统基础

## 虚拟内存

虚拟内存是一种内存管理技术,它使应用程序认为自己拥有连续可用的内存空间。虚拟内存由页表管理。虚拟内存把暂时不用的数据放到磁盘上。
"""


@pytest.mark.parametrize(
    ("text", "language", "title"),
    [(ENGLISH, "en", "Checkpoint"), (GERMAN, "de", "Prüfsumme"), (CHINESE, "zh", "虚拟内存")],
)
def test_a_defined_term_has_an_article_that_opens_with_its_definition(
    text: str, language: str, title: str, tmp_path: Path
) -> None:
    vault = make_vault(tmp_path / "vault", {"raw/text.md": text.replace(",它", "，它")})
    report = compile_vault(vault, Options(), datetime(2026, 11, 21, 9, tzinfo=UTC), lambda event: None)
    assert not report.failures
    pages = {p.stem: p.read_text() for p in (vault.root / "wiki" / "concepts").glob("*.md")}
    found = [page for page in pages.values() if f"title: {title}" in page]
    assert found, (language, sorted(pages))
    lead = found[0].partition(f"\n# {title}\n")[2].strip()
    assert title.casefold() in lead[:60].casefold()
