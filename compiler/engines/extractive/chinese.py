"""What Chinese sentences define and explain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler import names
from compiler.engines.extractive.asking import Ask, Matter
from compiler.engines.extractive.sentences import sentences
from compiler.engines.extractive.terms import structure_terms
from compiler.engines.port import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.claim import ClaimKind

_NAME = r"[\u3400-\u9fffA-Za-z0-9\-–·]{2,16}?"
_ENGLISH = r"(?:\s*[（(](?P<english>[A-Za-z][A-Za-z \-]{1,40})(?:[,，][^）)]*)?[）)])?"
_IS = re.compile(
    rf"^(?P<term>{_NAME}){_ENGLISH}\s*(?:通常|一般)?(?:是指|指的是|就是|是)(?P<body>(?!否|不|非|在|由|对|从|如何|为了|通过|基于|因为|有|"
    rf"可)[^。]{{6,}})$"
)
_SO_CALLED = re.compile(
    rf"^所谓(?:的)?[“\"「]?(?P<term>{_NAME})[”\"」]?{_ENGLISH}\s*[，,]?(?:是指|就是指|指的是|就是|是)(?P<body>[^。]{{6,}})$"
)
_DENOTES = re.compile(rf"^(?P<term>{_NAME}){_ENGLISH}(?:表示|指)(?P<body>(?!出|向|导|定|明)[^。]{{6,}})$")
_CALLED = re.compile(
    rf"^(?P<body>[^，。；]{{6,60}}?)(?:，[^，。]{{0,12}})?(?:被称为|称为|叫做|称作|被称作)(?P<term>[“\"「*]?{_NAME}[”\"」*]?){_ENGLISH}$"
)
_BECAUSE = re.compile(r"^(?:由于|因为)(?P<reason>[^，。]{4,60})，(?:所以|因此)?(?P<told>[^。；]{6,60})$")
_LATE_BECAUSE = re.compile(r"^(?P<told>[^，。；]{6,60})，(?:这是)?因为(?P<reason>[^。；]{4,80})$")
_BAD_START = re.compile(
    r"^(?:这|它|该|此|其|他|她|我们|你|您|那|上述|上面|下面|如图|如上|如下|以上|以下|因此|所以|但|然而|而|并且|此外|另外|例如|比如|换句话说|也就是说|接下来|现在|首先|"
    r"其次|最后|假设|给定|考虑|回想|请|让|在这|在本|在上|在下|同样|同时|当然|显然|事实上|不过|于是|那么|然后|本)"
)
_POINTS = re.compile(
    r"我们|本节|本章|本文|上一?节|下一?节|如图|上图|下图|图\s*\d|表\s*\d|式\s*\d|上述|前面|后面|作者|读者|[$`\\=]|https?:|\[…\]"
)
# "X是稀缺的" says something of X; "X是一种……", "X是……的方法" say what it is.
_GENUS = re.compile(
    r"(?:一种|一个|一类|一项|一组|一套|一门|一段|一系列|指|用于|用来|将|把)|[^，；]*的[\u3400-\u9fff]{2,10}(?:[，；（(]|$)"
)
_DANGLING_PART = re.compile(r"^(?:这|它|该|此|其|他|她|那)|这个|这些|这种|该方法")


def extract(request: ExtractRequest, without: frozenset[str] = frozenset()) -> ExtractReply:
    """Claims and terms of one Chinese segment."""
    terms = [t for t in structure_terms(request) if t.signal not in without]
    known = {names.key(t.name, request.language) for t in terms}
    claims: list[ExtractedClaim] = []
    for found in sentences(request):
        if not stands_alone(found.text):
            continue
        words = _words(found.text)
        if match := definition(words):
            name, english = _bare(match["term"]), (match["english"] or "").strip()
            aliases = (english,) if english and names.is_name(english) else ()
            terms.append(Term(name=name, aliases=aliases, signal="definition"))
            claims.append(ExtractedClaim(kind=ClaimKind.DEFINITION, quote=found.text, about=(name,), start=found.start))
        elif (cause := _BECAUSE.match(words) or _LATE_BECAUSE.match(words)) and not _NO_SUBJECT.search(cause["told"]):
            inside = sorted((k for k in known if k and k in cause["told"].casefold()), key=lambda k: (-len(k), k))
            if inside:
                claims.append(
                    ExtractedClaim(
                        kind=ClaimKind.MECHANISM, quote=found.text, about=tuple(inside[:1]), start=found.start
                    )
                )
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def _words(text: str) -> str:
    return re.sub(r"\s+", "", text).rstrip("。！") if not re.search(r"[A-Za-z] [A-Za-z]", text) else text.rstrip("。！")


_NO_SUBJECT = re.compile(r"^(?:被|会|能|可|需|就|将|把|要|应|必须|只|这|它|该|此|其|他|她|那)|这个|这些|这种|该方法")


def _bare(term: str) -> str:
    return term.strip('“”"「」* ')


def stands_alone(text: str) -> bool:
    """Whether a Chinese sentence can be read without what stood around it."""
    return 10 <= len(text) <= 160 and text.endswith("。") and not _BAD_START.match(text) and not _POINTS.search(text)


def definition(words: str) -> re.Match[str] | None:
    """The match of what the sentence defines, with groups term, body and english."""
    for pattern in (_SO_CALLED, _IS, _DENOTES, _CALLED):
        match = pattern.match(words)
        if not match or not names.is_name(_bare(match["term"]), "zh") or _DANGLING_PART.search(match["body"]):
            continue
        if pattern is not _IS or _GENUS.match(match["body"]):
            return match
    return None


def asks(text: str, matter: Matter) -> Iterator[Ask]:
    """The cards one Chinese sentence supports about the matter."""
    words = _words(text)
    if (match := definition(words)) and names.key(_bare(match["term"]), "zh") in matter.keys:
        yield Ask("definitional", f"什么是{_bare(match['term'])}？", match["body"].strip() + "。", 6.0)
    cause = _BECAUSE.match(words) or _LATE_BECAUSE.match(words)
    if (
        cause
        and not _NO_SUBJECT.search(cause["told"])
        and any(k in cause["told"].casefold() for k in matter.keys)
        and not _DANGLING_PART.search(cause["reason"])
    ):
        yield Ask("mechanistic", f"为什么{cause['told'].strip()}？", f"因为{cause['reason'].strip()}。", 5.0)
