"""How common a word is in general text, as the word lists of wordfreq say.

The English lists are read here: importing wordfreq takes a fifth of a second for what other languages need.
"""

from __future__ import annotations

import gzip
import math
import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

# What wordfreq takes for one word, but for hyphens; "l'amour" are two.
_ENGLISH = re.compile(r"(?!(?:.*-)?[a-z]{1,2}['’][aehiouy])[a-z]+(?:['’-][a-z]+)*")
_LEAST = 1e-9  # the share of text that is 0 on the Zipf scale


@lru_cache(maxsize=100_000)
def frequency(word: str, language: str, wordlist: str = "small") -> float:
    """Return how common a word is in general text, on the Zipf scale: 0 unknown, 3 once in a million, 7 "the".

    The small word list knows no word below 3, the large one none below 1.
    """
    if language in ("", "en") and _ENGLISH.fullmatch(word):
        parts = word.replace("’", "'").split("-")
        return _of_parts([_english(wordlist).get(part, 0.0) for part in parts])
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, language or "en", wordlist=wordlist))


def _of_parts(shares: list[float]) -> float:
    """Return how common a word of these parts is, of each its share of general text; computed as wordfreq does."""
    if 0.0 in shares:
        return 0.0
    share = max(1.0 / sum(1.0 / part for part in shares), _LEAST)
    return round(math.log(round(share, math.floor(-math.log(share, 10)) + 3), 10) + 9, 2)


@cache
def _english(wordlist: str) -> dict[str, float]:
    """Return the share of general text of each English word: they are listed by it, in steps of a hundredth of ten."""
    spec = find_spec("wordfreq")
    assert spec is not None and spec.origin is not None
    data = gzip.decompress((Path(spec.origin).parent / "data" / f"{wordlist}_en.msgpack.gz").read_bytes())
    _, *buckets = msgspec.msgpack.decode(data)
    return {word: 10 ** (-step / 100) for step, bucket in enumerate(buckets) for word in bucket}
