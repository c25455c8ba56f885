"""Whether an English sentence makes sense alone, and is worth keeping: no pointer outside itself, no scrap, no formula."""

from __future__ import annotations

import re

MIN_CHARS, MAX_CHARS = 30, 350
MIN_WORDS = 5

_END = re.compile(r"[.!][\"”’')\]]*$")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BAD_START = re.compile(
    r"""^(?:(?:and|but|so|yet|or|nor)\s+)?(?:
    (?:it|they|he|she|this|these|those|such|that|here|there['’]s|i|you|your|my|our|us|me|his|her|its|their|another|others?|both|neither
      |either|each\ of|all\ of|some\ of|many\ of|most\ of|one\ of|none\ of|the\ (?:former|latter|others?|rest|same|first|second|third|last|next|two|three|four|above|following|previous|preceding|(?:result|results|answer|reason|idea|point|problem|question|key)(?!\ of\ )|figure|table|code|author|authors|reader|book|chapter|section|paper|rest|left|right|top|bottom|remaining|resulting|corresponding|aforementioned)\b
      |first|second|secondly|third|thirdly|fourth|firstly|lastly|finally|next|then|otherwise|instead|likewise|similarly|conversely|thereby|thereafter|afterwards|meanwhile|alternatively|specifically|again|also|too|still
      |for\ (?:example|instance|this|these|that|those|now|more|details?|our)|in\ (?:this|these|that|those|such|other\ words|our|the\ (?:above|following|previous|next|first|second|example|figure|case|former|latter|same\ way|rest)|what\ follows|both|each|either)
      |as\ (?:such|(?:we|you)\ |an?\ example|shown|mentioned|discussed|described|noted|before|above|well|in\ the)|to\ (?:this|that|these|do\ (?:so|this)|see|begin|start|illustrate|summari[sz]e|understand|address\ th)|by\ (?:this|doing\ (?:so|this|that)|contrast)|from\ (?:this|these|here|that)|with\ (?:this|these|that|those)|at\ (?:this|that)|on\ (?:this|that|the\ (?:other|one)\ hand)|under\ th(?:is|ese)|because\ of\ th(?:is|ese)|due\ to\ th(?:is|ese)|like\ (?:this|these|before)|unlike\ (?:this|these|that|it|them)|given\ (?:this|these|that)|after\ (?:this|that|these)|besides\ this|despite\ (?:this|these|that)|since\ (?:this|these|it|they)\b|because\ (?:this|these|it|they)\b|if\ (?:this|these|it|they|so|you|we|not)\b|when\ (?:this|these|it|they|you)\b|while\ (?:this|these|it|they)\b|although\ (?:this|these|it|they)\b|though\ (?:this|these|it|they)\b
      |let(?:['’]s|\ )|recall\ (?:that|how|the|from|our)|consider|suppose|assume|imagine|note|notice|remember|observe|see|look|think|try|now|okay|ok|well|yes|no|sure|thanks|thank|please|what|why|how|who|where|which|whether|click|download|install|run|open|check|show|prove|derive|explain|describe|compute|implement|write|give|find|use|using|take|make|feel\ free|don['’]t|do\ not|can\ we|can\ you|figure|fig\.|table|chapter|section|equation|eq\.|algorithm|listing|appendix|exercise|example\b|left:|right:|top:|bottom:|source:|credit|image|photo|copyright|licen[sc]e|available\ at|arxiv|https?:|www\.|isbn|doi
    )\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTS = re.compile(
    r"""\b(?:figs?\.?|figures?|tables?|tab\.|sections?|sec\.|chapters?|chap\.|ch\.|equations?|eqs?\.?|algorithms?|listings?|appendix|appendices|exercises?|theorems?|lemmas?|parts?|steps?|problems?|examples?|lines?)\ +(?:\(?\d+(?![\d\s,]*\ (?:and|to|percent|%|\w))|(?-i:[A-Z])\d?(?:\.\d+)?\b)
    |§|\b(?:above|below)\b(?!\ (?:zero|average|all|chance|the|a|an|\d|this|that|\w+s\b))|\b(?:shown|seen|mentioned|discussed|described|defined|introduced|noted|given|presented|listed|depicted|illustrated|stated|explained|used)\ (?:above|below|earlier|before|previously|here|next|later|in\ (?:this|chapter|section|figure|fig|table|eq))
    |\b(?:this|next|previous|last|preceding|present|current|remaining|subsequent|our)\ (?:sections?|chapters?|papers?|books?|articles?|posts?|blog|tutorials?|figures?|tables?|diagrams?|pictures?|images?|plots?|listings?|equations?|code|snippets?|paragraphs?|notebooks?|exercises?|appendix|lectures?|lessons?|courses?|videos?|slides?|folders?|repository|repo|website|documents?|texts?|notes|visuali[sz]ations?|animations?|illustrations?|examples?)\b
    |\b(?:the|other|following|later|earlier)\ (?:sections?|chapters?|papers?|posts?|blog|tutorials?|figures?|listings?|equations?|snippets?|notebooks?|appendix|folders?|repository|repo|website|handout|other\ notes|authors?)\b
    |\bthe\ following\b(?!\ (?:day|week|month|year|night|morning|word|token|session))|\bin\ the\ (?:sequel|remainder)\b|\bas\ follow(?:s|ing)\b|\bhere(?:after|in|by)?\b|\bthe\ (?:former|latter|aforementioned|above|below)\b|\brespectively\b|\bfootnote\b|\bthis\ (?:is|was|means|can|will|allows?|makes?|leads?|would|has|requires?|gives?)\b
    |\b(?:see|cf\.?)\ (?:also\b|the\b|e\.g|(?-i:[A-Z])|\[|§|section|chapter)|\b(?:click|button|screenshot|download|github|blog\ post|twitter|tweet|subscribe|youtube|colab|jupyter|pip\ install|import)\b|https?://|www\.|@\w|\b(?:et\ al\.?\s+\(|ibid)|\bso\ far\b|\bearlier\ we\b|\bwe\ (?:will|shall|have|had|now|first|next|then|also|just|introduced?|discuss(?:ed)?|described?|present(?:ed)?|propose[ds]?|show(?:ed)?|saw|see|turn|focus|consider(?:ed)?|assume[ds]?|recall|note[ds]?|return|observe[ds]?|explore[ds]?|conclude[ds]?|begin|start|found|find|report|evaluate[ds]?|conduct(?:ed)?|train(?:ed)?|test(?:ed)?|compared?|implement(?:ed)?|did|were|are|do|used?|plot|visuali[sz]ed?|print|call(?:ed)?\ it|denoted?|write|let|set|get|opt|follow(?:ed)?|think|hope|thank|believe|refer\ (?:the|to\ \w+\ (?:et|for)|readers?)|only|simply|know|provide|employ|adopt|leave|demonstrate|analy[sz]e|study|investigate|review|release|experiment|look|keep)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PERSON = re.compile(
    r"\b(?:I|I['’]\w+|me|my|mine|myself|our|ours|you|your|yours|yourself|let['’]s|we['’]\w+|you['’]\w+)\b(?!-)"
)
_SAID = re.compile(r"\b(?:said|says|asked|argued that|told)\b.*[\"“]")
_THIS = re.compile(
    r"\b(?:this|these|those|such(?! as)(?: an?)?|that|said|same)\s+((?:[a-z-]+\s+){0,2}?[a-z-]+)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:it|they|them|its|their|he|she|his|her|him|itself|themselves)\b", re.IGNORECASE)
_MATH = re.compile(r"[=<>≤≥≈∝∈∉∀∃∑∏∫√∂∇→←↦⇒⇔×·∗†‡⊤⊙⊕⊗∪∩⊂⊆|^_\\{}\u0370-\u03ff\U0001d400-\U0001d7ff\ufffd]|\$")
# A lone symbol in running text ("a $d$-dimensional vector") is read like a word.
_SYMBOL = re.compile(r"\$[^$\\=<>]{1,8}\$")
_SINGLE = re.compile(r"(?<![\w'’.-])[b-hj-zB-HJ-Z](?![\w'’.-])")
_POINTER = re.compile(
    r"\s*[(\[](?:(?:see|see also|e\.g\.,?|i\.e\.,?|cf\.|and|also|or|in|as in|described in|from|for details|,|;|\s)*"
    r"(?:§+|chap(?:ter|\.)s?|sec(?:tion|\.)s?|fig(?:ure|\.)?s?|tab(?:le|\.)s?|eq(?:uation|\.)s?|appendix|part|algorithm|example)\s*~?"
    r"[\dA-Z][\d.A-Za-z–-]*[^()\[\]]{0,40})[)\]]"
    r"|\s*\((?:(?:see|e\.g\.,?|cf\.|i\.e\.,?)\s+)?[^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)|\s*\[\d+(?:[,–-]\s*\d+)*\]|\s*\((?:see|cf\.)[^()]*\)",
    re.IGNORECASE,
)
_CITATION_ONLY = re.compile(r"^\W*(?:\[\d+\]|\([^)]*\d{4}[^)]*\))\W*$")
_CODE = re.compile(
    r"\w\(\)|\w\.\w+\(|::|->|=>|\b\w+_\w+\b|`|\b[a-z]+[A-Z]\w*\b|<\w|\w>|//|\.py\b|\.md\b|\{|\}|\bTODO\b|#\w"
)
_EXERCISE = re.compile(r"^(?:\(?[a-z0-9]{1,2}[.)]\s)|\b(?:homework|exercise|hint:|solution:|answer:)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]")
_TODAY = re.compile(
    r"\b(?:today|yesterday|tomorrow|last (?:year|week|month)|this (?:year|week|month)|recently|nowadays|currently)\b",
    re.I,
)


def stands_alone(sentence: str, *, loose: bool = False) -> bool:
    """Whether the sentence can be read, and kept, without what stood around it.

    `loose` lets a glossary entry pass, which may lack a full stop and a verb.
    """
    sentence = without_pointers(sentence)
    sentence = _SYMBOL.sub("x1", sentence) if sentence.count("$") in (2, 4) else sentence
    if "[…]" in sentence:
        return False
    if not (MIN_CHARS <= len(sentence) <= MAX_CHARS) or _CITATION_ONLY.match(sentence):
        return False
    if not loose and not _END.search(sentence):
        return False
    first = sentence.lstrip("\"“”'‘(*")[:1]
    if not first.isalpha() and not first.isdigit():
        return False
    if not loose and (first.islower() or first.isdigit()):
        return False
    words = _WORD.findall(sentence)
    if len(words) < MIN_WORDS or sum(map(len, words)) < 0.6 * len(sentence):
        return False
    if _BAD_START.match(sentence) or _POINTS.search(sentence) or _PERSON.search(sentence) or _EXERCISE.search(sentence):
        return False
    if _CODE.search(sentence) or _SAID.search(sentence) or not _is_balanced(sentence) or is_mathematical(sentence):
        return False
    if sum(w.isupper() and len(w) > 1 for w in words) * 3 > len(words):
        return False
    return _resolves_inside(sentence)


def without_pointers(sentence: str) -> str:
    """`sentence` less the brackets that only send the reader elsewhere: "(see chapter 5)", "(§ 10.1)", "(Koehn, 2009)"."""
    return _POINTER.sub("", sentence)


def is_mathematical(sentence: str) -> bool:
    """Whether formulas or the scraps of one stand in the sentence."""
    singles = len(_SINGLE.findall(sentence))
    return bool(_MATH.search(sentence)) or singles > 2 or (singles > 1 and len(sentence) < 120)


def _is_balanced(sentence: str) -> bool:
    return (
        sentence.count("(") == sentence.count(")")
        and sentence.count("[") == sentence.count("]")
        and sentence.count('"') % 2 == 0
        and sentence.count("“") == sentence.count("”")
    )


def _resolves_inside(sentence: str) -> bool:
    """Whether each "this X" finds its X earlier in the sentence, and each pronoun a noun before it."""
    low = _QUOTED.sub("quoted words", sentence).casefold()
    for match in _THIS.finditer(low):
        if match[0].startswith(("that ", "same ", "said ", "this moment", "this way of")):
            continue
        head = match[1].split()[-1].rstrip("s")
        if (
            not any(word.rstrip("s") in low[: match.start()] for word in match[1].split() if len(word) > 3)
            and head not in low[: match.start()]
        ):
            return False
    found = _PRONOUN.search(low)
    return not (found and len(_WORD.findall(low[: found.start()])) < 2)
