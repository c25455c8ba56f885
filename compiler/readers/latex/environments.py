"""The environments of LaTeX: lists, tables, figures, quotations, theorems, code and displayed formulas."""

from __future__ import annotations

import re

from compiler.readers.latex import commands as names
from compiler.readers.latex.state import Blocks, Group
from vault.text.formatting import clean_line

MAX_LISTS = 12
MAX_VERBATIM = 1_000_000
CODE_LANGUAGE = re.compile(r"language\s*=\s*\{?(?:\[[^\]]*\])?\s*([\w+#-]+)", re.IGNORECASE)
_CELL_NOISE = re.compile(r"\[[^\[\]\n]{0,20}\]")


class Environments(Blocks):
    r"""Handles \begin, \end, \item and the cells of tables."""

    def begin(self) -> None:
        """Begin the environment that the next argument names."""
        name = clean_line(self.input.argument() or "")
        if name == "document":
            self.muted = False
        elif name in names.SKIPPED_ENVIRONMENTS:
            self._verbatim(name)
        elif name in names.CODE_ENVIRONMENTS:
            self._code(name)
        elif name in names.MATH_ENVIRONMENTS:
            if name.startswith("alignat"):
                self.input.argument()
            tex = self._verbatim(name)
            if tex:
                self.math(f"\\begin{{{name}}}{tex}\\end{{{name}}}", name != "math")
        else:
            self._environment(name)

    def _verbatim(self, name: str) -> str:
        """Return the text up to the end of this environment, consumed; "" if it never ends."""
        return self.input.until(f"\\end{{{name}}}", MAX_VERBATIM) or ""

    def _code(self, name: str) -> None:
        """Write the environment's text as a code block."""
        self.flush()
        line = self.input.line
        options = self.input.optional() or ""
        stated = CODE_LANGUAGE.search(options)
        language = (self.input.argument() or "") if name == "minted" else stated[1] if stated else self.code_language
        text = self._verbatim(name)
        if not self.muted:
            self.markup.code(text.strip("\n"), language if name in ("minted", "lstlisting") else "", line)

    def _environment(self, name: str) -> None:
        """Begin an environment whose content is read."""
        group = Group(environment=name or "?")
        if not self.push_group(group):
            return
        if name in names.LISTS and sum(bool(g.listing) for g in self.groups) < MAX_LISTS:
            self.drop(0)
            group.listing = names.LISTS[name]
            self.open_element(group.listing)
            group.after = lambda: self._end_list(group)
        elif name in names.QUOTES:
            self._around(group, "blockquote")
        elif name in ("exe", "xlist"):
            self._around(group, "x-example")
        elif name in names.FIGURES or name.removesuffix("*") == "table":
            self.drop(1 if name == "wrapfigure" else 0)
            self._around(group, "figure")
        elif name in names.TABLES:
            self.drop(2 if name in ("tabular*", "tabularx", "tabulary") else 1)
            self._around(group, "table")
            if not self.muted:
                self.markup.cells("<tr><td>")
        elif name.removesuffix("*") in self.statements:
            self._statement(group)
        else:
            self._other_environment(name, group)

    def _other_environment(self, name: str, group: Group) -> None:
        """Begin an environment that is no list, table, figure, quotation or theorem."""
        self.flush()
        if name in ("abstract", "thebibliography"):
            self.drop(name == "thebibliography")
            if not self.muted:
                heading = "Abstract" if name == "abstract" else "References"
                self.markup.block("h2", heading, self.input.line)
        elif name in ("frame", "block"):
            self.input.optional("<>")
            self.input.optional()
            self.as_block("h3" if name == "frame" else "p")
        elif name in ("minipage", "column", "multicols", "adjustbox"):
            self.drop(1)
        else:
            self.input.optional()
        group.after = self.flush

    def _around(self, group: Group, tag: str) -> None:
        """Make the environment one element around its blocks."""
        self.open_element(tag)
        if not self.muted:
            group.after = lambda: self.close_element(tag)

    def _statement(self, group: Group) -> None:
        """Begin a definition or theorem; its title, if it has one, becomes a term."""
        title = self.input.optional()
        self.flush()
        group.after = self.flush
        if title and not self.muted and self.input.push("{" + title + "}"):
            self.as_block("dt")

    def _end_list(self, group: Group) -> None:
        """Close a list and its last item."""
        self.flush()
        if group.item:
            self.close_element(group.item)
        self.close_element(group.listing)

    def end(self) -> None:
        """End the environment that the next argument names."""
        name = clean_line(self.input.argument() or "")
        if name == "document":
            self.done = True
        self.close_environment(name)

    def close_environment(self, name: str) -> None:
        """End the innermost environment of this name, and all groups opened inside it."""
        opened = next((i for i in range(len(self.groups) - 1, 0, -1) if self.groups[i].environment == name), 0)
        if opened:
            self.too_deep = 0
            while len(self.groups) > opened:
                self.close_group()

    def item(self) -> None:
        """Begin an item of the innermost list."""
        group = next((g for g in reversed(self.groups) if g.listing), None)
        title = self.input.optional() or ""
        self.flush()
        if group is None:
            return
        if group.item:
            self.close_element(group.item)
        is_term = group.listing == "dl"
        group.item = "dd" if is_term else "li"
        pushed = title.strip() and self.input.push("{" + title + "}" + ("\\x@item " if is_term else " "))
        if pushed and is_term:
            self.as_block("dt")
        else:
            self.open_item()

    def open_item(self) -> None:
        """Open the element of a list item's body, after its title if it has one."""
        group = next((g for g in reversed(self.groups) if g.listing), None)
        if group is not None and group.item:
            self.open_element(group.item)

    def bibitem(self) -> None:
        """Begin an entry of the bibliography."""
        self.flush()
        self.drop(1)

    def new_line(self) -> None:
        r"""End a table's row at `\\`; elsewhere write a space."""
        self.input.skip(re.compile(r"\*?"))
        self.input.skip(_CELL_NOISE)
        if not self._next_cell("</td></tr><tr><td>"):
            self.words(" ")

    def _next_cell(self, border: str) -> bool:
        """Write the border of a table cell; return False if no table is open."""
        table = next((g for g in reversed(self.groups) if g.environment), None)
        if table is None or table.environment not in names.TABLES or self.muted or self.capturing:
            return False
        self.flush()
        self.markup.cells(border)
        return True

    def new_theorem(self) -> None:
        r"""Record the name of an environment that \newtheorem defines."""
        name = clean_line(self.input.argument() or "")
        self.drop(1)
        if name:
            self.statements.add(name)
