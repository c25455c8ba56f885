"""Extraction of pages as a PDF of their own, for a model that can see them.

The pages are copied by PDFium, in the reading process: a document from outside is parsed nowhere else.
"""

from __future__ import annotations

import io

from vault.errors import Unreadable


def cut_pages(data: bytes, first: int, last: int) -> bytes:
    """Return a PDF of the pages from `first` to `last`, counted from 1. Raises: Unreadable."""
    import pypdfium2 as pdfium

    try:
        whole, leaves = pdfium.PdfDocument(data), pdfium.PdfDocument.new()
        numbers = range(max(0, first - 1), min(last, len(whole)))
        leaves.import_pages(whole, pages=list(numbers))
        out = io.BytesIO()
        leaves.save(out)
    except (pdfium.PdfiumError, ValueError, IndexError) as error:
        raise Unreadable("the pages cannot be extracted from the PDF") from error
    return out.getvalue()
