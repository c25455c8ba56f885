"""Words that a rewording may exchange or leave out: synonyms, phrases, irregular forms, empty words.

Everything that is not listed here counts: a word that is exchanged for one that is not its fellow is another fact.
"""

from __future__ import annotations

import re

from compiler.language import quantities
from compiler.language.lexicon import LEMMAS, word_list, words

ORDINALS = {
    word: f"{number}th" for word, number in ({"first": 1, "second": 2, "third": 3} | quantities.ORDINALS).items()
}
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
MONTH_FIRST = re.compile(rf"\b({'|'.join(sorted(quantities.MONTHS, key=len, reverse=True))})\.? {_DAY}\b(?!:)", re.I)

PHRASES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), to.strip())
    for words, _, to in (row.strip().partition(" =>") for row in word_list("phrases").split(" ;"))
)

SYNONYMS = {word: row.split()[0] for row in word_list("synonyms_of_rewordings").split("|") for word in row.split()}

_FORMS = {"be": "is are was were been being am", "have": "has had having", "person": "people", "child": "children"}
IRREGULAR = LEMMAS | {form: base for base, forms in _FORMS.items() for form in forms.split()}

# Articles, possessives, and words that only join one sentence to the next.
EMPTY = words("rewording_words_empty")
GERMAN = frozenset("und nicht ist wird sind oder eine".split())
GERMAN_EMPTY = frozenset("der die das den dem des ein eine einen einem einer eines auch".split())
# Words of a statement that are not what it is about.
NO_SUBJECT = words("rewording_words_no_subject")
PRESENT, PAST = frozenset({"is", "are"}), frozenset({"was", "were"})
# Words with which a part of a sentence begins that may stand before or after the rest.
LEADS = words("rewording_words_leads")
CAPITALS = frozenset({"us", "it", "who", "aids", "or", "and", "not", "if", "may", "polish", "turkey"})
