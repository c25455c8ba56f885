"""Cue words: what an English sentence does for its subject, as far as its own words show it."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.clauses import Clause
from vault.model.claim import ClaimKind

# "The output of X" is a claim about X.
PROPERTIES = frozenset(
    "output input cost performance accuracy behavior behaviour size number gradient gradients complexity quality "
    "strength weakness training use structure architecture parameter weight result step half side user learner "
    "probability dimension distribution history future origin name term word prototype design version variant "
    "choice set".split()
)

_MECHANISM = re.compile(
    r"\b(?:because|so that|therefore|thus|hence|consequently|as a (?:result|consequence)|in order to|so as to|"
    r"thereby|by (?:\w+ly )?\w+ing|"
    r"which (?:allows?|enables?|makes?|results? in|leads? to|causes?|prevents?|means|helps?|gives?|forces?|lets|"
    r"reduces?|improves?)|"
    r"(?:allow|enable|cause|force|let|prevent|require|help)(?:s|ed)?\b|leads? to|results? in|due to|owing to|"
    r"depends? on|works? by|ensur(?:es?|ing)|"
    r"comput(?:es?|ed)|calculat(?:es?|ed)|consists? of|(?:is|are) (?:composed|made up|computed|obtained|derived|"
    r"trained|formed|determined|driven|built|learned|generated|constructed) |"
    r"stores?|maps?|converts?|transforms?|predicts?|produces?|encodes?|captures?|assigns?|selects?|combines?|"
    r"minimi[sz]es?|maximi[sz]es?|learns?|"
    r"reduces?|increases?|improves?|strengthens?|weakens?|explains? why|activates?|directs?|supports?|splits?|"
    r"divides?|normali[sz]es?|updates?|"
    r"avoids?|eliminates?|removes?|replaces?|provides?|tak(?:es?|ing) place|occurs?|arises?|makes? it|works? "
    r"(?:best|when|because))\b|,\s+since\b|^(?:because|since|by|if|when)\b",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(?:unlike|whereas|in contrast (?:to|with)|as opposed to|compared (?:to|with)|in comparison|differs?|differ|"
    r"distinguish(?:es|ed)?|similar to|"
    r"equivalent to|identical to|analogous|analog(?:y|ue)|opposite of|special case|generali[sz](?:es|ation) of|"
    r"(?:an? )?(?:type|kind|form|variant|instance|extension|family|subset|subclass|part|component) of|"
    r"(?:closely |inversely |directly )?related to|based on|builds? (?:up)?on|belongs? to|extends?|generali[sz]es?|"
    r"derived from|inspired by|"
    r"complement(?:s|ary)?|the same as|rather than|instead of|resembles?|corresponds? to|connect(?:s|ed)|(?:more|"
    r"less|fewer|\w{3,}er) (?:\w+ ){0,4}than|relationship between|relation between|difference between|in common|"
    r"both)\b|,\s+while\b|^while\b",
    re.IGNORECASE,
)
_APPLICATION = re.compile(
    r"\b(?:(?:is|are|be|been|commonly|widely|often|also|typically|was|were) (?:\w+ly )?(?:used|applied|employed|"
    r"useful|helpful|suitable|suited|appropriate|valuable|recommended|preferred|preferable|beneficial|"
    r"well[- ]suited|popular|needed|effective|best)|"
    r"(?:is|are) (?:most |very |especially |particularly |also |often )*(?:useful|helpful|suitable|suited|"
    r"appropriate|valuable|effective|beneficial|popular)|"
    r"useful (?:for|in|when|to)|applications? (?:of|in|include)|applied to|can be (?:used|applied|solved|employed|"
    r"fit(?:ted)?|added|combined|trained|evaluated)|used (?:to|for|in|as|when|by)|when to use|"
    r"advantages?|benefits?|strengths?|helps? (?:with|in|to)|the right choice|a good choice|works? (?:well|best) "
    r"(?:for|when|in|with)|serves? (?:as|to)|purpose of|goal of|aim of|task of|examples? of|in practice)\b",
    re.IGNORECASE,
)
_LIMITATION = re.compile(
    r"\b(?:limitations?|drawbacks?|disadvantages?|downsides?|shortcomings?|weakness(?:es)?|pitfalls?|cannot|can not|"
    r"fails?|failing|suffers?|struggles?|"
    r"(?:is|are|be) (?:\w+ly )?(?:difficult|hard|expensive|costly|slow|limited|prone|sensitive|vulnerable|unable|"
    r"impractical|infeasible|intractable|inefficient|unreliable|unstable|brittle|ineffective|problematic|"
    r"impossible)|"
    r"does (?:little|not (?:work|scale|help|generali[sz]e|capture|account|handle|guarantee|model|take|distinguish|"
    r"know|transfer|mean))|do not (?:work|scale|help|generali[sz]e|capture|account|handle|guarantee|model|take|"
    r"distinguish|transfer)|"
    r"at the (?:cost|expense) of|overfit(?:s|ting)?|breaks? down|unsuitable|not suitable|less suited|problem with|"
    r"problem of|too (?:slow|expensive|large|long|small|short|costly|difficult)|bottleneck|curse of|risk of|harms?|"
    r"loses? its)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(r"\b(?:not|never|no longer)\b", re.IGNORECASE)
_ORDER = (
    (ClaimKind.LIMITATION, _LIMITATION),
    (ClaimKind.RELATION, _RELATION),
    (ClaimKind.APPLICATION, _APPLICATION),
    (ClaimKind.MECHANISM, _MECHANISM),
)


def kind_of(clause: Clause, name: str) -> ClaimKind | None:
    """The kind whose cue the sentence shows; FACT without a cue; None if it says too little to keep."""
    kind = kind_in(clause.text)
    return kind if kind is not ClaimKind.FACT or clause.end - clause.verb >= 4 else None


def kind_in(text: str) -> ClaimKind:
    """The kind whose cue the words show; FACT without a cue."""
    return next((kind for kind, pattern in _ORDER if pattern.search(text)), ClaimKind.FACT)


def is_limitation(clause: Clause) -> bool:
    """Whether the sentence says where its subject fails."""
    return bool(_LIMITATION.search(clause.text))


def weakens(body: str) -> bool:
    """Whether what follows "is" denies rather than defines."""
    return bool(_HEDGE.match(body))
