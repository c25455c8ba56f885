"""The rule on terms that many pages use and none explains. It is silent on those that are explained in another form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from compiler.language.lexicon import looks_adjective, singular
from compiler.language.mentions import explains
from compiler.language.names import key
from compiler.language.quantities import UNITS
from compiler.lint.wiki import Wiki
from vault.layout import GAPS
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda
from vault.text.formatting import plural

Found = Iterator[tuple[str, int, str, str]]
_MANY = 3  # pages that use a term which none explains
_PREFIXED = re.compile(
    r"(?:nano|micro|milli|centi|kilo|mega|giga|tera)(?:second|met(?:er|re)|byte|bit|gram|hertz|volt|watt|lit(?:er|re)|joule)"
)
_SUPERLATIVE = re.compile(r"\w{3,}most")  # bottommost, rightmost
_OBJECT = r"(?:an?|the|each|every|all|any|it|its|them|their|over)"  # what follows a verb
_BEFORE = r"(?:in [\w ]{1,30}, )?(?:an? |the )?(?:[\w-]+ ){0,2}"  # in mathematics, the greatest
_BETWEEN = r"(?: ?\([^)]*\))?(?: (?:of|for|between|in) [^.;:]{1,80}?)?"  # (gcd) of two numbers
_SAYS = r" (?:(?:is|are) (?:an?|the|one|when|where|how)|means?|refers? to|describes?)\b"


def missing(wiki: Wiki) -> Found:
    """Yield terms that many pages use and none explains, as the agenda of the last compile has them."""
    wanted = [gap for gap in parse_agenda(wiki.agenda) if _is_open(gap) and len(gap.mentions) >= _MANY]
    if not wanted:
        return
    said = [claim.words.replace("`", "") for claim, _, _ in wiki.claims.values()]
    text = "\n".join(" ".join(words.split()) for words in said).casefold()
    titles = [name for page in wiki.pages for name in (page.title, *page.properties.texts("aliases"))]
    covered = {_joined(name) for name in titles}
    for gap in wanted:
        forms = _forms(gap.what)
        using = _lines_with(text, forms)
        if _joined(gap.what) in covered or any(abbreviates(gap.what, page.title) for page in wiki.articles):
            continue
        if not _names_nothing(gap.what.casefold(), using) and not _is_explained(gap.what, forms, using):
            what = f"{plural(len(gap.mentions), 'page')} mention {gap.what}, but none explains it"
            yield GAPS, gap.line, what, f"add a source that explains it: `retain add FILE --fills {gap.id}`"


def _lines_with(text: str, forms: Collection[str]) -> list[str]:
    """Return the lines of a text that have one of some words, each once."""
    found: dict[int, str] = {}
    for form in forms:
        at = text.find(form)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = len(text) if end < 0 else end
            found[start] = text[start:end]
            at = text.find(form, end)
    return list(found.values())


def _is_open(gap: Gap) -> bool:
    return gap.kind is GapKind.STRUCTURAL and gap.status is GapStatus.OPEN


def _joined(name: str) -> str:
    """Return a name without case, plural, hyphens and blanks: BL-Touch is BLTouch."""
    return key(name).replace(" ", "")


def _forms(term: str) -> frozenset[str]:
    """Return the spellings of a term in lower case: its last word in singular, plural too, with hyphens and blanks."""
    *before, last = re.split(r"[\s-]+", term.casefold())
    ends = (last, singular(last), f"{singular(last)}s")
    return frozenset(sign.join((*before, end)) for end in ends for sign in (" ", "-"))


def _is_explained(term: str, forms: Collection[str], using: Collection[str]) -> bool:
    """Return whether one of the texts in lower case says what it is or stands for, be it in brackets."""
    either = f"(?:{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})"
    defined = re.compile(rf"{_BEFORE}{either}{_BETWEEN}{_SAYS}")
    bracketed = re.compile(rf"((?:[\w/-]+ ){{1,6}})\(?\({either}\)|\b{either} \(([^()]+)\)")
    for text in using:
        if explains(text, forms) or defined.match(text):
            return True
        for found in bracketed.finditer(text):
            if found[2] or _stands_for(term, found[1]):
                return True
    return False


def _stands_for(term: str, words: str) -> bool:
    """Return whether a term in brackets stands for the end of the words before it: the sequence length (seqlen)."""
    before = words.split()
    return any(_has_in_order(term.casefold(), " ".join(before[n:])) for n in range(len(before)))


def abbreviates(term: str, title: str) -> bool:
    """Return whether a term in capitals may stand for a title: MLP for multilayer perceptron."""
    letters, words = term.casefold(), title.casefold()
    in_order = term.isupper() and letters.isalpha() and _has_in_order(letters, words)
    return in_order and words.split()[-1][0] == letters[-1]


def _has_in_order(letters: str, words: str) -> bool:
    """Return whether words begin with the first of the letters and have the others in their order."""
    rest = iter(words[1:])
    return words[:1] == letters[0] and all(letter in rest for letter in letters[1:] if letter.isalnum())


def _names_nothing(term: str, using: Collection[str]) -> bool:
    """Return whether a word is no name of a thing: a unit, a word that says how things are, or a verb."""
    word = singular(term)
    if " " in term or not term.isalpha():
        return False
    if word in UNITS or _PREFIXED.fullmatch(word) or _SUPERLATIVE.fullmatch(word) or looks_adjective(word):
        return True
    stem = word.removesuffix("e")
    verb = re.compile(rf"\b(?:{word}|{word}s|{stem}e?d|{stem}ing) {_OBJECT}\b")
    return any(verb.search(text) for text in using)
