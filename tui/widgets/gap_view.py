"""One gap in full: what is missing, who mentions it, what would fill it; of what is forgotten, what helps."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui import text
from vault.agenda import Gap, GapKind
from vault.wikilink import links

_MOST = 6  # notes named; the file has the rest
_ROWS = {"missing": "missing", "mentions": "mentioned", "fill": "would fill"}
_LEARNERS = {"missing": "Trouble", "mentions": "See", "fill": "What helps"}  # the words of the page, for its gaps


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
        labels = _LEARNERS if gap.kind is GapKind.LEARNER else _ROWS
        for name, label in labels.items():
            self.query_one(f"#gap-{name} .gap-label", Static).update(label)
        for name, words in (("missing", gap.missing), ("mentions", _mentions(gap)), ("fill", gap.fill)):
            self.query_one(f"#gap-{name}").display = bool(words)
            self.query_one(f"#gap-{name} .gap-words", Static).update(text.line(words))


def _mentions(gap: Gap) -> str:
    names = [next((link.alias or link.target for link in links(mention)), mention) for mention in gap.mentions]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
