"""Whether an English sentence makes sense alone and is worth keeping: no pointer elsewhere, no scrap, no formula."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.shown import without_shown

MIN_CHARS, MAX_CHARS = 24, 350
MIN_WORDS = 4

_END = re.compile(r"[.!][\"”’')\]]*$")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A sentence that begins so leans on the one before it, orders, asks, or belongs to a figure or a list of references.
_LEANING = (
    r"it|they|he|she|this|these|those|such|that|here|there['’]s|i|you|your|my|our|us|me|his|her|its|their|another|"
    r"others?|"
    r"both(?! \S+(?: \S+){0,6} and )|neither|either|one of (?!the (?:most|main|key|major|best|first|biggest|central|"
    r"core|[a-z]+s (?:of|in|to|with|for)\b))|(?:each|all|some|many|most|none) of|first|second|secondly|"
    r"third|"
    r"thirdly|fourth|firstly|lastly|finally|next|then|otherwise|instead(?! of)|likewise|similarly|conversely|thereby|"
    r"thereafter|"
    r"afterwards|meanwhile|alternatively|specifically|again|also|too|still|what|why|how|who|where|which|whether|"
    r"the (?:former|latter|others?|rest|same|first|second|third|last|next|two|three|four|above|following|previous|"
    r"preceding|"
    r"figure|table|code|authors?|reader|book|chapter|section|paper|left|right|top|bottom|remaining|resulting|"
    r"corresponding|"
    r"aforementioned)|the (?:results?|answer|reason|idea|point|problem|question|key)(?! of )"
)
_LEANING_PHRASES = (
    r"for (?:example|instance|this|these|that|those|now|more|details?|our)|in (?:this|these|that|those|such|other "
    r"words|our|"
    r"what follows|both|each|either|the (?:above|following|previous|next|first|second|example|figure|case|former|"
    r"latter|"
    r"same way|rest))|as (?:such|we|you|an? example|shown|mentioned|discussed|described|noted|before|above|well|in "
    r"the)|"
    r"to (?:this|that|these|do (?:so|this)|see|begin|start|illustrate|summari[sz]e|understand|address th)|"
    r"by (?:this|doing (?:so|this|that)|contrast)|from (?:this|these|here|that)|with (?:this|these|that|those)|"
    r"at (?:this|that)|on (?:this|that|the (?:other|one) hand)|under th(?:is|ese)|(?:because of|due to) th(?:is|ese)|"
    r"like (?:this|these|before)|unlike (?:this|these|that|it|them)|given (?:this|these|that)|after (?:this|that|"
    r"these)|"
    r"besides this|despite (?:this|these|that)|(?:since|because|when|while|although|though) (?:this|these|it|they)|"
    r"if (?:this|these|it|they|so|you|we|not)|when you"
)
_TALK = (
    r"let(?:['’]s)?|recall (?:that|how|the|from|our)|consider|suppose|assume|imagine|note|notice|remember|observe|"
    r"see|look|"
    r"think|try|now|okay|ok|well|yes|no|sure|thanks|thank|please|click|download|install|run|open|check|show|prove|"
    r"derive|"
    r"explain|describe|compute|implement|write|give|find|use|using|take|make|feel free|don['’]t|do not|can we|can you|"
    r"figure|fig\.|table|chapter|section|equation|eq\.|algorithm|listing|appendix|exercise|example|left:|right:|top:|"
    r"bottom:|source:|credit|image|photo|copyright|licen[sc]e|available at|arxiv|https?:|www\.|isbn|doi"
)
_BAD_START = re.compile(
    rf"(?:(?:and|but|so|yet|or|nor)\s+)?(?:{_LEANING}|{_LEANING_PHRASES}|{_TALK})(?:\b(?!-)|(?<=[:.]))", re.IGNORECASE
)
_PARTS = (
    r"(?:figs?\.?|figures?|tables?|tab\.|sections?|sec\.|chapters?|chap\.|ch\.|equations?|eqs?\.?|algorithms?|"
    r"listings?|"
    r"appendix|appendices|exercises?|theorems?|lemmas?|parts?|steps?|problems?|examples?|lines?)"
)
_DOCUMENTS = (
    r"(?:sections?|chapters?|papers?|posts?|blog|tutorials?|figures?|listings?|equations?|snippets?|notebooks?|"
    r"appendix|"
    r"folders?|repository|repo|website|handout|authors?)"
)
_OWN_DOCUMENTS = (
    r"(?:books?|articles?|tables?|diagrams?|pictures?|images?|plots?|code|paragraphs?|exercises?|lectures?|lessons?|"
    r"courses?|"
    r"videos?|slides?|documents?|texts?|notes|visuali[sz]ations?|animations?|illustrations?|examples?)"
)
_TELLING = (  # "we": what the author does, not what one does
    r"will|shall|have|had|now|first|next|then|also|just|introduced?|discuss(?:ed)?|described?|present(?:ed)?|"
    r"propose[ds]?|"
    r"show(?:ed)?|saw|see|turn|focus|consider(?:ed)?|assume[ds]?|recall|note[ds]?|return|observe[ds]?|explore[ds]?|"
    r"conclude[ds]?|begin|start|found|find|report|evaluate[ds]?|conduct(?:ed)?|train(?:ed)?|test(?:ed)?|compared?|"
    r"implement(?:ed)?|did|were|are|do|used|plot|visuali[sz]ed?|print|call(?:ed)? it|denoted?|write|let|set|get|opt|"
    r"follow(?:ed)?|think|hope|thank|believe|refer (?:the|to \w+ (?:et|for)|readers?)|only|simply|know|provide|"
    r"employ|adopt|"
    r"leave|demonstrate|analy[sz]e|study|investigate|review|release|experiment|look|keep"
)
_POINTS = re.compile(
    rf"(?<!for )\b{_PARTS} +(?:\(?\d+(?! ?(?:percent|%))|(?-i:[A-Z])\d?(?:\.\d+)?\b)"
    rf"|\b(?:this|next|previous|last|preceding|present|current|remaining|subsequent|our) (?:{_DOCUMENTS}|"
    rf"{_OWN_DOCUMENTS})\b"
    rf"|\b(?:the|following|later|earlier) {_DOCUMENTS}\b|\b(?:the )?other notes\b"
    r"|\b(?:above|below)\b(?! (?:zero|average|all|chance|the|a|an|\d|this|that|\w+s\b))"
    r"|\b(?:shown|seen|mentioned|discussed|described|defined|introduced|noted|given|presented|listed|depicted|"
    r"illustrated|"
    r"stated|explained|used) (?:above|below|earlier|before|previously|here|next|later|in (?:this|chapter|section|"
    r"figure|fig|"
    r"table|eq))"
    r"|\bthe following\b(?! (?:day|week|month|year|night|morning|word|token|session))|\bin the (?:sequel|remainder)\b"
    r"|\bas follow(?:s|ing)\b|\bhere(?:after|in|by)?\b|\bthe (?:former|latter|aforementioned|above|below)\b|"
    r"\brespectively\b"
    r"|\bfootnote\b|\bthis (?:is|was|means|can|will|allows?|makes?|leads?|would|has|requires?|gives?)\b|§"
    r"|\b(?:see|cf\.?) (?:also\b|the\b|e\.g|(?-i:[A-Z])|\[|section|chapter)|https?://|www\.|@\w|\bet al\.?\s+\(|\bibid"
    r"|\b(?:click|button|screenshot|download|github|blog post|twitter|tweet|subscribe|youtube|colab|jupyter|pip "
    r"install|"
    r"import)\b"
    rf"|\bso far\b|\bearlier we\b|\bwe (?:{_TELLING})\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:I|I['’]\w+|me|my|mine|myself|our|ours|you|your|yours|yourself|let['’]s|we['’]\w+|you['’]\w+)\b(?!-)"
)
_SAID = re.compile(r"\b(?:said|says|asked|argued that|told)\b.*[\"“]")
_THIS = re.compile(
    r"\b(?:this|these|those|such(?! as)(?: an?)?|that|said|same)\s+((?:[a-z-]+\s+){0,2}?[a-z-]+)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:it|they|them|its|their|he|she|his|her|him|itself|themselves)\b", re.IGNORECASE)
_MATH = re.compile(r"[=<>−≤≥≈∝∈∉∀∃∑∏∫√∂∇→←↦⇒⇔×·∗†‡⊤⊙⊕⊗∪∩⊂⊆|^_\\{}\u0370-\u03ff\U0001d400-\U0001d7ff\ufffd]|\$")
# A lone symbol in running text ("a $d$-dimensional vector") is read like a word.
_SYMBOL = re.compile(r"\$[^$\\=<>]{1,8}\$")
FORMULA = re.compile(r"\$(?![\s\d$])[^$\n]{1,90}(?<!\s)\$(?!\d)|\$\d[^$\n]{0,60}[\\^_=+×][^$\n]{0,60}\$")
_FEW = re.compile(  # "α = 0.5", "the quantifier ∀", "a sentence φ"
    r"\(?[\[(]?[\w\u0370-\u03ff]{0,3} ?[=<>−≤≥≈∈∉∀∃→∧¬|\u0370-\u03ff](?: ?[\w.,\u0370-\u03ff∅−]{0,5}[\])]?)?"
    r"(?=[\s,.;:)]|$)"
    r"|(?<![\w'’.-])[b-hj-zB-HJ-Z](?![\w'’.-])"
)
MAX_SYMBOLS = 4
MAX_FORMULAS, MAX_FORMULA_SHARE = 6, 0.4  # in one sentence; of its characters
_SINGLE = re.compile(r"(?<![\w'’.-])[b-hj-zB-HJ-Z](?![\w'’.-])")
_POINTER = re.compile(
    r"\s*[(\[](?:(?:see|see also|e\.g\.,?|i\.e\.,?|cf\.|and|also|or|in|as in|described in|from|for details|,|;|\s)*"
    r"(?:§+|chap(?:ter|\.)s?|sec(?:tion|\.)s?|fig(?:ure|\.)?s?|tab(?:le|\.)s?|eq(?:uation|\.)s?|appendix|part|"
    r"algorithm|example)\s*~?"
    r"[\dA-Z][\d.A-Za-z–-]*[^()\[\]]{0,40})[)\]]"
    r"|\s*\([^()]*\[…\][^()]*\)|,? (?:as )?(?:is |are |was )?(?:shown|described|depicted|illustrated|discussed|"
    r"introduced|presented|defined|given|done|explained)? ?(?:in|by|from) \[…\](?:(?:,| and|, and) \[…\])*(?=[,.;])"
    r"|\s*\((?:(?:see|e\.g\.,?|cf\.|i\.e\.,?)\s+)?[^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)|"
    r"\s*\[\d+(?:[,–-]\s*\d+)*\]|\s*\((?:see|cf\.)[^()]*\)|[;,] see (?:also )?[^.;,]{3,60}(?=\.$)",
    re.IGNORECASE,
)
_CITATION_ONLY = re.compile(r"^\W*(?:\[\d+\]|\([^)]*\d{4}[^)]*\))\W*$")
_CODE = re.compile(
    r"\w\(\)|\w\.\w+\(|::|->|=>|\b\w+_\w+\b|`|\b[a-z]+[A-Z]\w*\b|<\w|\w>|//|\.py\b|\.md\b|\{|\}|\bTODO\b|#\w"
)
_EXERCISE = re.compile(r"^(?:\(?[a-z0-9]{1,2}[.)]\s)|\b(?:homework|exercise|hint:|solution:|answer:)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]")


def stands_alone(sentence: str, *, loose: bool = False, formulas: bool = True, after: bool = False) -> bool:
    """Whether the sentence can be read, and kept, without what stood around it.

    `loose` lets a glossary entry pass, which may lack a full stop and a verb; `formulas` lets short ones stand in it;
    `after` lets it lean on the sentence before it, with which it is kept.
    """
    return _is_readable(without_formulas(without_pointers(sentence), all_=formulas), loose, after)


def introduces_alone(sentence: str, *, after: bool = False) -> bool:
    """The same for a sentence that sets a name off, where a few symbols and "Another ..." do no harm."""
    plain = _FEW.sub("x1", sentence) if len(_FEW.findall(sentence)) <= MAX_SYMBOLS else sentence
    return stands_alone(re.sub(r"^Another (?=[a-z])", "An ", plain), after=after)


def _is_readable(sentence: str, loose: bool, after: bool) -> bool:
    if "[…]" in sentence:
        return False
    if not ((15 if after else MIN_CHARS) <= len(sentence) <= MAX_CHARS) or _CITATION_ONLY.match(sentence):
        return False
    if not loose and not _END.search(sentence):
        return False
    first = sentence.lstrip("\"“”'‘(*")[:1]
    if not first.isalpha() and not first.isdigit():
        return False
    if not loose and (first.islower() or first.isdigit()):
        return False
    words = _WORD.findall(sentence)
    if len(words) < MIN_WORDS - after or sum(map(len, words)) < 0.6 * len(sentence):
        return False
    pointing = sentence if not after else _NEAR.sub("", sentence)
    if (_BAD_START.match(sentence) and not (after and _LEANS.match(sentence))) or _POINTS.search(pointing):
        return False
    if _PERSON.search(sentence) or _EXERCISE.search(sentence):
        return False
    if _CODE.search(sentence) or _SAID.search(sentence) or not _is_balanced(sentence) or is_mathematical(sentence):
        return False
    if sum(w.isupper() and len(w) > 1 for w in words) * 3 > len(words):
        return False
    return after or _resolves_inside(sentence)


# What the sentence right before may mean: "This is ...", "Such a model ...", "In this case ...".
_LEANS = re.compile(
    r"(?:(?:and|but|so),? )?(?:it|they|this|these|those|such|that|another|both|each|the (?:former|latter|result|"
    r"resulting|same|other|idea|reason|goal)|here|then|in (?:this|these|such|that|other words)|by (?:this|doing)|"
    r"with (?:this|these)|for (?:this|these|example|instance)|as such|to (?:this|do|address|see)|unlike (?:this|"
    r"these)|because of this|under this|one such|its|their)\b",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"\bthis (?:is|was|means|can|will|allows?|makes?|leads?|would|has|requires?|gives?)\b|\bhere\b|\bas such\b"
    r"|\bwe (?:first|then|also|only|introduced?|adopt|employ|propose|keep|set|train|follow)\b",
    re.IGNORECASE,
)


def without_formulas(sentence: str, *, all_: bool = True) -> str:
    """`sentence` with a word for each formula that may be read like one; `all_` counts more than lone symbols."""
    if not all_:
        return _SYMBOL.sub("x1", sentence) if sentence.count("$") in (2, 4) else sentence
    found = FORMULA.findall(sentence)
    if len(found) > MAX_FORMULAS or sum(map(len, found)) > MAX_FORMULA_SHARE * len(sentence):
        return sentence
    return FORMULA.sub("x1", sentence)


def has_formula(text: str) -> bool:
    """Whether more than lone symbols of mathematics stand in `text`."""
    return "$" in _SYMBOL.sub("x1", text)


def without_pointers(sentence: str) -> str:
    """`sentence` less what sends the reader elsewhere: "(see chapter 5)", "(Koehn, 2009)", ", as Figure 1 shows"."""
    return without_shown(_POINTER.sub("", sentence))


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
