"""WRITE as it is asked: the concepts to write about, then their passages."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.protocol.documents import lines_of
from compiler.protocol.requests import ConceptTask, WriteRequest
from vault.text.formatting import clean_line


def render(request: WriteRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    out: list[str] = []
    for task in request.concepts:
        out.append(f"WRITE {task.title}" + (f" (also: {'; '.join(task.aliases)})" if task.aliases else ""))
        if task.line:
            out.append(f"  so far: {task.line}")
        length = f"  about {task.words} words, at most {task.most_cards} cards" if task.words else ""
        out += [length] if length else []
        out.append(f"  passages: {', '.join(task.passages)}")
        out += [f"  the user rejected an earlier version: {reason}" for reason in task.reasons]
        if task.present:
            out += list(_present(task))
        out += [f"  card to keep: {clean_line(card.question)}" for card in task.cards]
    if request.neighbours:
        out.append(f"OTHER PAGES, each of which explains its own subject: {'; '.join(request.neighbours)}")
    marked = {label for task in request.concepts for label in task.new} if _is_update(request) else set()
    return "\n".join([*out, "", *lines_of(request.documents, marked)])


def _is_update(request: WriteRequest) -> bool:
    return any(task.present for task in request.concepts)


def _present(task: ConceptTask) -> Iterator[str]:
    """Yield the lines that show the article as it is."""
    yield f"  the article now (new passages: {', '.join(task.new) or 'none'}); `@s 1-3` keeps sentences 1 to 3:"
    last = ""
    for n, one in enumerate(task.present, 1):
        if one.heading != last:
            yield f"    ## {one.heading}"
            last = one.heading
        gone = " (its text is no longer in the source: write it again or leave it out)" if one.gone else ""
        yield f"    s{n}: {clean_line(one.sentence.text) or '(a block included unchanged)'}{gone}"
