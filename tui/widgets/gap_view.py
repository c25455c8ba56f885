"""One gap in full: what is missing, who mentions it, what would fill it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui import text
from vault.agenda import Gap
from vault.wikilink import links

_MOST = 6  # notes named; the file has the rest
_ROWS = {"missing": "missing", "mentions": "mentioned", "fill": "would fill"}


class GapView(Vertical):
    """Nothing is shown while the cursor is on no gap."""

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="gap-what")
        for name, label in _ROWS.items():
            with Horizontal(id=f"gap-{name}"):
                yield Static(label, markup=False, classes="gap-label")
                yield Static(markup=False, classes="gap-words")

    def show(self, gap: Gap | None) -> None:
        self.display = gap is not None
        if gap is None:
            return
        self.query_one("#gap-what", Static).update(text.line(gap.what, "bold"))
        for name, words in (("missing", gap.missing), ("mentions", _mentions(gap)), ("fill", gap.fill)):
            self.query_one(f"#gap-{name}").display = bool(words)
            self.query_one(f"#gap-{name} .gap-words", Static).update(text.line(words))


def _mentions(gap: Gap) -> str:
    names = [next((link.alias or link.target for link in links(mention)), mention) for mention in gap.mentions]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
