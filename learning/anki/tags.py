"""The tags of a note in Anki beside those of its cards here: what was added there and removed comes home."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault.text.formatting import clean_line

OURS = "retain::"  # tags that begin so are written by the export; others are the user's


def vault_tag_of(word: str) -> str:
    """Return a word as a tag of the vault: `a::b` is `a/b` here."""
    return re.sub(r"[^\w/.+:-]+", "-", clean_line(word)).replace("::", "/").strip(":-/")[:100]


def user_tags(words: Iterable[str]) -> dict[str, str]:
    """Return the user's tags among those of a note in Anki, as the vault has them, by their form without case."""
    tags = (vault_tag_of(word) for word in words if not word.startswith(OURS))
    return {tag.casefold(): tag for tag in tags if tag}


def changed_tags(
    theirs: Iterable[str], ours: Iterable[str], given: Iterable[str], synced: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Return the tags that a note got in Anki and those that it lost there.

    `theirs` are its tags there, `ours` those that an export would give it now, `given` all that it was ever given,
    and `synced` those that it had there at the last sync. A tag that was given and removed here since is no new one.
    """
    there, here, before, known = (user_tags(words) for words in (theirs, ours, synced, given))
    added = [tag for key, tag in there.items() if key not in here and key not in known]
    removed = [tag for key, tag in here.items() if key in before and key not in there]
    return sorted(added), sorted(removed)
