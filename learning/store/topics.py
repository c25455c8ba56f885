"""Topics and the concepts that their articles list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches

from learning.store.placed import concept_of
from vault.errors import Damaged, NotFound, Refused
from vault.layout import CONCEPTS, TOPICS
from vault.model.markdown import unescape
from vault.model.wikilink import links
from vault.text.formatting import clean_line, short_title
from vault.vault import Vault

_MEMBER = re.compile(r"- (\[\[wiki/concepts/[^\[\]]*\]\])\s*")


_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)


def topics(vault: Vault) -> dict[str, tuple[str, ...]]:
    """Return the stems of the concepts that each topic's article lists, by its title; one that cannot be read is left
    out.
    """
    out: dict[str, tuple[str, ...]] = {}
    for path in vault.paths(TOPICS, ".md"):
        with suppress(Damaged, Refused):
            text = vault.read_text(path) or ""
            title = _TITLE.search(text)
            name = short_title(unescape(title[1])) if title else concept_of(path)
            out[name] = tuple(_members(text))
    return out


def _members(text: str) -> Iterable[str]:
    """Yield the stems of the concepts that a topic's article lists."""
    for line in text.splitlines():
        found = _MEMBER.fullmatch(line)
        for link in links(found[1]) if found else ():
            yield link.target.removeprefix(f"{CONCEPTS}/")


def topic_named(wanted: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    """Return the one topic that `wanted` names, with its concepts. Raises: NotFound, which suggests similar ones."""

    key = clean_line(wanted).casefold()
    for fits in (lambda t: t == key, lambda t: bool(key) and t.startswith(key), lambda t: bool(key) and key in t):
        found = [name for name in known if fits(name.casefold())]
        if len(found) == 1:
            return found[0], known[found[0]]
    near = found or get_close_matches(key, [name.casefold() for name in known], 3, 0.5)
    shown = " or ".join([name for name in known if name in near or name.casefold() in near][:3])
    hint = f"perhaps {shown}" if shown else "wiki/topics has a page for each topic"
    raise NotFound(
        "there is no topic with that name" if not found else "several topics have that name",
        where=clean_line(wanted)[:60],
        hint=hint,
    )
