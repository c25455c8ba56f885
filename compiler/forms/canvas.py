"""An answer as a JSON Canvas (https://jsoncanvas.org/spec/1.0), which Obsidian opens.

From left to right: the articles concerned, the question with what is missing below it, the statements, their sources.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from compiler.forms.material import Material, Source
from vault.model.markdown import escape
from vault.text.formatting import short_line, truncate

GAP, COLUMNS_APART = 40, 260  # pixels
_WIDTH = {"article": 400, "question": 440, "statement": 480, "source": 440}
_FILE_HEIGHT = 220
_LINE, _MARGIN, _LETTER = 28, 48, 8.0  # pixels: height of a line, what the frame takes, width of a narrow letter
_LONGEST = 1_200  # characters of a text node
_LABEL = 32  # characters
_COLORS = {"question": "5", "missing": "1", "statement": "4"}  # presets of the format: cyan, red, green
Node = dict[str, Any]


def canvas(material: Material) -> bytes:
    """Return the canvas."""
    sources = list(material.numbers)
    columns = {
        "article": [_file(f"article-{n}", path) for n, (path, _) in enumerate(material.articles, 1)],
        "question": _middle(material),
        "statement": [_text(f"statement-{n}", each.text, "statement") for n, each in enumerate(material.statements, 1)],
        "source": [_source(n, source) for n, source in enumerate(sources, 1)],
    }
    nodes = [node for column in _placed(columns).values() for node in column]
    return (
        json.dumps({"nodes": nodes, "edges": _edges(material, sources)}, ensure_ascii=False, indent=1) + "\n"
    ).encode()


def _middle(material: Material) -> list[Node]:
    """Return the node of the question, and the one of what is missing."""
    nodes = [_text("question", material.question, "question", heading="# ")]
    return [*nodes, *([_text("missing", material.missing, "missing")] if material.missing else [])]


def _text(id_: str, words: str, kind: str, heading: str = "") -> Node:
    """Return a text node as high as its words need."""
    width = _WIDTH.get(kind, _WIDTH["question"])
    shown = truncate(words, _LONGEST)
    letters = sum(2 if letter > "\u2e7f" else 1 for letter in shown) * (1.6 if heading else 1)
    lines = int(letters * _LETTER / (width - _MARGIN)) + 2
    height = _MARGIN + _LINE * lines
    text = heading + escape(shown)
    return {"id": id_, "type": "text", "text": text, "width": width, "height": height, "color": _COLORS[kind]}


def _file(id_: str, path: str, part: str = "") -> Node:
    """Return a node that shows a file of the vault, or the part of it that begins with #."""
    node = {"id": id_, "type": "file", "file": path, **({"subpath": part} if part else {})}
    return {**node, "width": _WIDTH[id_.partition("-")[0]], "height": _FILE_HEIGHT}


def _source(number: int, source: Source) -> Node:
    """Return a node that shows the block of the claim, or the file in which the words are."""
    if source.claim:
        return _file(f"source-{number}", source.summary, f"#^c-{source.claim}")
    return _file(f"source-{number}", source.path)


def _placed(columns: dict[str, list[Node]]) -> dict[str, list[Node]]:
    """Return the nodes with their places: columns side by side, each centred on the question's height."""
    x = -_WIDTH["article"] - COLUMNS_APART - _WIDTH["question"] // 2
    placed = {}
    for name, nodes in columns.items():
        placed[name] = _column(nodes, x)
        x += _WIDTH[name] + COLUMNS_APART
    return placed


def _column(nodes: Sequence[Node], x: int) -> list[Node]:
    """Return nodes one below the other."""
    height = sum(node["height"] for node in nodes) + GAP * (len(nodes) - 1)
    if nodes and nodes[0]["id"] == "question":
        height = nodes[0]["height"]  # it is the middle, and what is missing is below it
    y, placed = -(height // 2), []
    for node in nodes:
        placed.append({**node, "x": x, "y": y})
        y += node["height"] + GAP
    return placed


def _edges(material: Material, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return the edges: from the question to statements and articles, from statements to their sources."""
    edges = []
    said = "quote" if material.is_quoted else "answer"
    for number, statement in enumerate(material.statements, 1):
        edges.append(_edge("question", f"statement-{number}", said))
        for source in dict.fromkeys(statement.sources):
            place = short_line(source.place or source.path, _LABEL)
            edges.append(_edge(f"statement-{number}", f"source-{sources.index(source) + 1}", place))
    for number, _ in enumerate(material.articles, 1):
        edges.append(_edge("question", f"article-{number}", "see", sides=("left", "right")))
    if material.missing:
        edges.append(_edge("question", "missing", "missing", sides=("bottom", "top")))
    return edges


def _edge(start: str, end: str, label: str, sides: tuple[str, str] = ("right", "left")) -> dict[str, Any]:
    """Return an edge; the id is made of those of its nodes."""
    ends = {"fromNode": start, "fromSide": sides[0], "toNode": end, "toSide": sides[1]}
    return {"id": f"{start}-to-{end}", **ends, "label": label}
