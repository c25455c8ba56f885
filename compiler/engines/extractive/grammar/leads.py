"""What an English sentence says behind the words that tie it to its text: "Specifically,", "Note that"."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.standalone import without_pointers

_TIES = (
    r"specifically|concretely|in particular|in other words|put differently|simply put|for (?:example|instance)|"
    r"moreover|furthermore|"
    r"additionally|in addition|also|again|besides|likewise|similarly|conversely|alternatively|instead|however|"
    r"nevertheless|nonetheless|still|therefore|thus|hence|consequently|accordingly|as such|as a (?:result|"
    r"consequence)|to this end|for this reason|in this way|that is|then|next|finally|lastly|first|firstly|second|"
    r"secondly|third|thirdly|now|here|meanwhile|overall|in (?:summary|short|sum|fact|general|contrast|turn|essence|"
    r"practice|principle|theory|effect)|by contrast|on the (?:other|one) hand|at the same time|as it turns out|"
    r"as (?:mentioned|discussed|described|noted|explained|shown|seen|stated)(?: (?:above|before|earlier|previously|"
    r"already))?|as (?:we|you)(?:['’]ve| have| will|['’]ll)? (?:\w+ )?(?:see|seen|saw|know|mentioned|discussed|"
    r"noted|learned)"
    r"(?: (?:above|before|earlier|previously|already|later|next))?|of course|clearly|obviously|actually|indeed|"
    r"intuitively|interestingly|importantly|notably|fortunately|unfortunately|surprisingly|typically|basically|"
    r"essentially|conceptually|to (?:summari[sz]e|recap|conclude)|so far|recently|more (?:precisely|generally|formally|"
    r"specifically|recently|concretely|realistically)|with (?:this|that) in mind|at this point|in the end"
)
_LEAD = re.compile(
    r"(?:"
    rf"(?:(?:and|but|so|yet|or)\s+)?(?:{_TIES}),\s+"
    r"|(?:(?:please|but|also|again),?\s+)?(?:note|notice|recall|remember|observe|recognize|keep in mind)"
    r"(?: (?:also|again|though|however|here))?,? that,?\s+"
    r"|(?:it(?:['’]s| is) (?:also )?(?:important|worth|useful|interesting|crucial|helpful|clear|well[- ]known|easy|"
    r"natural) (?:to (?:note|notice|remember|reali[sz]e|know|understand|mention|point out|see|keep in mind)|noting|"
    r"remembering|mentioning|pointing out)?\s*that\s+)"
    r"|it turns out that\s+|(?:as|according to) \[…\](?: and \[…\])?(?: shows?| illustrates?| indicates?)?,\s+"
    r"|we (?:can |have |now |will |already )?(?:know|knew|see|saw|seen|note|noted|notice|recall|observe|observed|find|"
    r"found|learned|conclude|say|said|mentioned) that\s+"
    r"|(?:and|but|so|yet|or)\s+(?=(?:[A-Z]|the |an? |[a-z]+s\b|in |if |when |for |with |because ))"
    r"|(?:[A-Z][\w ]{2,24}|\w+ \d{4} Update):\s+(?=[A-Z][a-z]*\s)"
    r")",
    re.IGNORECASE,
)
_MOST = 3


def without_lead(sentence: str) -> str:
    """What is left of `sentence` without the openers that lean on what stands before it; as it is without one."""
    rest = sentence
    for _ in range(_MOST):
        match = _LEAD.match(rest)
        if not match:
            break
        rest = rest[match.end() :]
    return rest[:1].upper() + rest[1:] if rest is not sentence else sentence


_HOLE = re.compile(
    r"[=<>≤≥≈∈]\s*[,.;:)](?:\s|$)|\b(?:if|where|when|let|with|by|of|than|the|an?)\s+[,;:](?:\s|$)|\(\s*[,;.]?\s*\)"
    r"|(?<=\s)[=≤≥≈∈]\s+(?:and|or|then|is|are)\b",
    re.IGNORECASE,
)


def has_hole(sentence: str) -> bool:
    """Whether a formula is missing where the text was taken from a page: "If a = , then ..."."""
    return bool(_HOLE.search(sentence))


_OPEN_END = re.compile(r"(?P<told>.*[^\W_][)\]”\"]?)\s*[,:]$", re.DOTALL)
_ANNOUNCES = re.compile(
    r"\b(?:follow\w*|these|below|ways|types|kinds|steps|reasons|cases|parts|things|examples?|including|include[sd]?|namely|such|as|by|is|"
    r"are|be|that|and|or|of|to|with|the|a|an|in|from|for|on|if|when|where|then|which|whether|let|assume|consider|suppose|than|names|"
    r"(?:two|three|four|five|several|many) \w+|like|do|does|so|says?|get|have|has)\)?\W*$",
    re.IGNORECASE,
)


def with_end(sentence: str) -> str:
    """A sentence that a formula or list goes on from ("The unit computes a weighted sum,") as one that ends there.

    As it is where it has an end of its own, or where what comes after is needed.
    """
    match = _OPEN_END.fullmatch(sentence)
    return sentence if match is None or _ANNOUNCES.search(without_pointers(match["told"])) else match["told"] + "."
