"""What Chinese sentences define and explain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive.grammar.standalone import FORMULA
from compiler.engines.extractive.questions.question import Ask, Matter
from compiler.engines.extractive.sentences import sentences
from compiler.engines.extractive.terms import introduced, structure_terms, topics_of
from compiler.language import names
from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.model.claim import ClaimKind

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
    r"我们|他们|读者|本书|此刻|本节|本章|本文|上一?节|下一?节|如图|上图|下图|图\s*\d|表\s*\d|式\s*\d|上述|前面|后面|作者|读者|[`\\=]|https?:|\[…\]"
)
_CJK = re.compile(r"[\u3400-\u9fff]")
# "X是稀缺的" says something of X; "X是一种……", "X是……的方法" say what it is.
_GENUS = re.compile(
    r"(?:一种|一个|一类|一项|一组|一套|一门|一段|一系列|指|用于|用来|将|把)|[^，；]*的[\u3400-\u9fff]{2,10}(?:[，；（(]|$)"
)
_DANGLING_PART = re.compile(r"^(?:这|它|该|此|其|他|她|那)|这个|这些|这种|该方法")


MIN_FACT = 14  # characters: "X is cold." tells too little to keep
_LEAD = re.compile(
    r"^(?:因此|所以|总之|总而言之|具体来说|例如|比如|实际上|事实上|换句话说|也就是说|此外|另外|同样|其次|首先|最后|当然|显然|"
    r"注意|请注意|一般来说|通常来说|通常|更通俗的解释|幸运的是|然而|但是|不过|但)[，,：:]\s*|^(?:但是?|然而|而)(?=[\u3400-\u9fff]{2})"
)
_PAIR = re.compile(
    r"(?P<before>[\u3400-\u9fff·－-]{2,24})[”\"」*]*\s*[（(]\s*(?:英文|英语|简称|缩写|即|又称)?[：:]?\s*"
    r"(?P<other>[A-Za-z][A-Za-z0-9 \-]{1,40}?)(?:[,，、；;][^（）()]*)?\s*[）)]"
)
_ALSO = re.compile(
    rf"(?:称为|叫做|称作)[“\"「*]*(?P<name>{_NAME})[”\"」*]*{_ENGLISH}[，,]?(?:也|又|亦)(?:被)?(?:称为|叫做|称作|称)[“\"「*]*"
    rf"(?P<alias>{_NAME})[”\"」*]*(?:\s*[（(](?P<second>[A-Za-z][A-Za-z \-]{{1,40}})[）)])?$"
)
_NAMED = re.compile(
    rf"(?:因此|所以|就|也|通常|一般)?(?:被)?(?:称为|叫做|称作)[“\"「*]*(?P<term>{_NAME})[”\"」*]*{_ENGLISH}(?=$|[，,。；;])"
)
_QUOTED = re.compile(r"“([\u3400-\u9fff]{3,8})”")
_BOUND = re.compile(
    r"[的地得将把被为是在中对与和或及由从以于用等使让有这该个种些一]|通过|使用|添加|称为|叫做|包含|基于|作为|采用|进行"
)
_SUBJECT = re.compile(
    r"^(?:在[^，。]{2,20}(?:中|里|下|时|上)，)?(?P<name>[\u3400-\u9fff]{2,12}?)(?:则|也|都|还|通常|往往|只|就|不)*"
    r"(?:通过|使用|将|把|能够|能|可以|可|具有|拥有|需要|基于|用于|使|允许|与|和|是|被|由|会|有|包含|处理|输出|放弃|解释|区别)"
)
_KINDS = (
    (ClaimKind.LIMITATION, re.compile(r"缺点|无法|不能|难以|局限|很慢|非常慢|代价|困难|瓶颈|妨碍")),
    (ClaimKind.RELATION, re.compile(r"不同|区别|相比|类似|相同|等价|相反|比较|优于|快于|高于|低于|而.{2,20}则")),
    (ClaimKind.APPLICATION, re.compile(r"用于|应用|适用|用来|可以使用|适合")),
    (ClaimKind.MECHANISM, re.compile(r"通过|因为|由于|从而|使得|以便|使|将|把|为了|因此|所以|基于|计算|允许")),
)


def extract(request: ExtractRequest, without: frozenset[str] = frozenset()) -> ExtractReply:
    """Claims and terms of one Chinese segment."""
    if any(re.fullmatch(r"(?:参考文献|练习|习题|致谢|目录|讨论)", h.strip()) for h in request.headings):
        return ExtractReply()
    given = [t for t in _given(request) if t.signal not in without]
    terms = [*(t for t in structure_terms(request) if t.signal not in without), *given]
    known = {names.key(t.name, request.language): t.name for t in terms if t.signal != "link"}
    topics = () if "section" in without else topics_of(request)
    claims: list[ExtractedClaim] = []
    for found in sentences(request):
        said = found.text
        if not stands_alone(said):
            said = said if "lead-in" in without else _LEAD.sub("", said, count=1)
            if not stands_alone(said):
                continue
        match = None if "definition" in without else definition(_words(said))
        if match:
            name, english = _bare(match["term"]), (match["english"] or "").strip()
            aliases = (english,) if english and names.is_name(english) else ()
            terms.append(Term(name=name, aliases=aliases, signal="definition"))
            kind, about = ClaimKind.DEFINITION, [name]
        else:
            kind = _kind(said)
            about = _about(said, kind, known, topics, without)
        about += [] if "emphasis" in without else introduced(request, found.start, found.end)
        about += [t.name for t in given if any(f"{a}）" in said or f"{a})" in said for a in t.aliases)]
        if about and (kind is not ClaimKind.FACT or len(said) >= MIN_FACT):
            statement = "" if said == found.text else said
            once = tuple(dict.fromkeys(about))[:4]
            claims.append(
                ExtractedClaim(kind=kind, quote=found.text, statement=statement, about=once, start=found.start)
            )
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def _given(request: ExtractRequest) -> Iterator[Term]:
    """Names that the text gives in two languages, "自注意力（self-attention）", or sets in quotation marks."""
    set_off = {t.name for t in structure_terms(request) if _CJK.search(t.name)}
    for match in _PAIR.finditer(request.text):
        name = _last_name(match["before"], set_off)
        other = match["other"].strip()
        if names.is_name(name, "zh") and (names.is_name(other) or names.is_acronym(other)):
            yield Term(name=name, aliases=(other,), signal="alias")
    for found in sentences(request):
        if also := _ALSO.search(_words(found.text)):
            others = tuple(a.strip() for a in (also["alias"], also["english"], also["second"]) if a)
            yield Term(name=_bare(also["name"]), aliases=others, signal="alias")
    for match in _QUOTED.finditer(request.text):
        if names.is_name(match[1], "zh"):
            yield Term(name=match[1], signal="emphasis")


def _last_name(run: str, set_off: set[str]) -> str:
    """The name at the end of a run of characters without blanks: one that is set off, else what no particle parts."""
    longest = max((n for n in set_off if run.endswith(n)), key=len, default="")
    return longest or _BOUND.split(run)[-1]


def _about(
    said: str, kind: ClaimKind, known: dict[str, str], topics: tuple[str, ...], without: frozenset[str]
) -> list[str]:
    """The name the sentence begins with, else what its section is about, if it names that."""
    begins = re.sub(r"^在[^，。]{2,20}(?:中|里|下|时|上)，", "", said.casefold())
    first = max((k for k in known if k and begins.startswith(k)), key=len, default="")
    if first:
        return [known[first]]
    match = _SUBJECT.match(said)
    if match and "verb" not in without and names.is_name(match["name"], "zh") and not _NO_SUBJECT.search(match["name"]):
        return [match["name"]]
    return [t for t in topics if t in said][:1]


def _is_subject(name: str) -> bool:
    return names.is_name(name, "zh") and not (_NO_SUBJECT.search(name) or _NO_NAME.match(name) or "的" in name)


_NO_NAME = re.compile(
    r"^(?:经常|目前|之后|之前|前者|后者|输出|输入|其中|有时|往往|通常|一般|人们|受试者|幸运|随后|许多|大多|结果|方法|模型|问题|过程|部分|情况|时候|只|要想)"
)


def _kind(said: str) -> ClaimKind:
    return next((kind for kind, cue in _KINDS if cue.search(said)), ClaimKind.FACT)


def _words(text: str) -> str:
    return re.sub(r"\s+", "", text).rstrip("。！") if not re.search(r"[A-Za-z] [A-Za-z]", text) else text.rstrip("。！")


_NO_SUBJECT = re.compile(r"^(?:被|会|能|可|需|就|将|把|要|应|必须|只|这|它|该|此|其|他|她|那)|这个|这些|这种|该方法")


def _bare(term: str) -> str:
    return term.strip('“”"「」* ')


def stands_alone(text: str) -> bool:
    """Whether a Chinese sentence can be read without what stood around it."""
    plain = FORMULA.sub("x1", text)
    return (
        10 <= len(plain) <= 160
        and text.endswith("。")
        and not _BAD_START.match(text)
        and not _POINTS.search(plain)
        and "$" not in plain
    )


def definition(words: str) -> re.Match[str] | None:
    """The match of what the sentence defines, with groups term and english, and body unless it only gives a name."""
    for pattern in (_SO_CALLED, _IS, _DENOTES, _CALLED):
        match = pattern.match(words)
        if not match or not names.is_name(_bare(match["term"]), "zh") or _DANGLING_PART.search(match["body"]):
            continue
        if pattern is not _IS or _GENUS.match(match["body"]):
            return match
    named = _NAMED.search(words)
    if named and named.start() >= 8 and names.is_name(_bare(named["term"]), "zh"):
        return named if not re.search(r"这些|这个|这种|它", words[: named.start()]) else None
    return None


def asks(text: str, matter: Matter) -> Iterator[Ask]:
    """The cards one Chinese sentence supports about the matter."""
    words = _words(text)
    match = definition(words)
    if match and match.re is not _NAMED and names.key(_bare(match["term"]), "zh") in matter.keys:
        yield Ask("definitional", f"什么是{_bare(match['term'])}？", match["body"].strip() + "。", 6.0)
    cause = _BECAUSE.match(words) or _LATE_BECAUSE.match(words)
    if (
        cause
        and not _NO_SUBJECT.search(cause["told"])
        and any(k in cause["told"].casefold() for k in matter.keys)
        and not _DANGLING_PART.search(cause["reason"])
    ):
        yield Ask("mechanistic", f"为什么{cause['told'].strip()}？", f"因为{cause['reason'].strip()}。", 5.0)
