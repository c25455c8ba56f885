"""All the cards that one English sentence supports."""

from __future__ import annotations

from compiler.engines.extractive.grammar.clauses import Clause, parse
from compiler.engines.extractive.grammar.standalone import without_pointers
from compiler.engines.extractive.questions.applied import applied
from compiler.engines.extractive.questions.definitional import definitional
from compiler.engines.extractive.questions.mechanistic import mechanistic
from compiler.engines.extractive.questions.question import Ask, Matter
from compiler.engines.extractive.questions.relational import relational


def asks(words: str, matter: Matter, clause: Clause | None = None) -> list[Ask]:
    """Every card that the sentence supports about the matter; `clause` is its main clause if known already."""
    words = without_pointers(words)
    clause = clause or parse(words)
    found = definitional(words, clause, matter)
    if clause:
        found += [*mechanistic(clause, matter), *relational(clause, matter), *applied(clause, matter)]
    return [a for a in found if a is not None]
