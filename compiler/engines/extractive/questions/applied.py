"""Cards that ask when and what for, and where the limits are."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar import verbs
from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause, split_clauses
from compiler.engines.extractive.questions.definitional import object_only, shortened
from compiler.engines.extractive.questions.inversion import is_plural, question_of
from compiler.engines.extractive.questions.question import Ask, Matter, ask, instead_of_pronoun


def applied(clause: Clause, matter: Matter) -> list[Ask | None]:
    """The applied cards one sentence supports."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    return [
        *_used(main, matter),
        *_useful(main, matter),
        *_when(main, matter),
        *_trait(clause, matter),
        *_has_trait(clause, matter),
        *_limit(clause, matter),
    ]


_USE = re.compile(
    r"^(?P<verb>(?:is|are|was|were|(?:can|could|may|must|should) be|(?:have|has) been)(?: \w+ly| often| sometimes)?) "
    r"(?P<done>used|applied|employed|recommended|chosen|trained|designed|intended|meant|needed)(?: \w+ly)? "
    r"(?P<link>to|for|in|on|as|when|if|across|throughout)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_BETWEEN_AUX = re.compile(r"^((?:can|could|may|must|should|have|has|is|are)) (?:also|often|since|long|then|still) ")
_WHERE = frozenset({"in", "on", "across", "throughout"})


def _used(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is used to Y": what X is used for."""
    match = _USE.match(_BETWEEN_AUX.sub(r"\1 ", clause.predicate))
    plain_front = not clause.front or clause.fronted.casefold().startswith("as in ")
    if not match or not plain_front or not matter.is_named(clause.subject):
        return []
    link, done, rest = match["link"].casefold(), match["done"].casefold(), shortened(object_only(match["rest"]))
    first = rest.split()[0].casefold()
    if first in ("refer", "mean", "denote", "describe") or (len(rest.split()) < 2 and link not in ("for", "to")):
        return []
    aux, *between = match["verb"].split()
    done_at_all = f"{aux} {matter.lower(clause.subject)} {' '.join([*between, done])}"
    if link in _WHERE and done not in ("used", "applied", "employed"):
        return []
    if link in _WHERE:
        question, answer = f"Where {done_at_all}", f"{link} {rest}"
    elif link in ("when", "if"):
        question, answer = f"When {done_at_all}", f"{link} {rest}"
    elif link == "as":
        question, answer = f"What {done_at_all} as", f"as {rest}"
    elif link == "to" and done == "applied":
        question, answer = f"What {done_at_all} to", rest
    elif link == "to" and done == "trained":
        question, answer = f"What {done_at_all} to do", rest
    else:
        question, answer = f"What {done_at_all} for", f"{link} {rest}"
    return [ask("applied", question, answer, 5.5, matter)]


_GOOD_FOR = re.compile(
    r"^(?P<verb>is|are|can be|may be)(?P<more>(?: (?:most|more|very|especially|particularly|often|also|generally|"
    r"typically|mainly|still|best|less|least|not|only))*) "
    r"(?P<good>useful|helpful|suitable|suited|well[- ]suited|appropriate|effective|valuable|beneficial|recommended|"
    r"ideal|necessary|needed|important|preferable|preferred|better|worse|popular|sufficient|convenient|harmful|"
    r"adequate) "
    r"(?P<link>when|if|for|in|to|whenever|where|because|as long as|at|with)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)


def _useful(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is useful when/for Y": when X is useful, what for."""
    match = _GOOD_FOR.match(clause.predicate)
    if not match or clause.front or not matter.is_named(clause.subject) or match["link"].casefold() == "because":
        return []
    subject, link = matter.lower(clause.subject), match["link"].casefold()
    rest = instead_of_pronoun(shortened(match["rest"], 220), subject, match["verb"] == "are")
    aux, *between = match["verb"].split()
    quality = " ".join([*between, (match["more"].strip() + " " + match["good"]).strip()])
    if link in ("when", "if", "whenever", "where", "as long as"):
        question, answer = f"When {aux} {subject} {quality}", f"{link} {rest}"
    elif link == "to" and not verbs.lemma(rest.split()[0].casefold(), "VB"):
        question, answer = f"What {aux} {subject} {quality} to", rest
    elif link in ("for", "to"):
        question, answer = f"What {aux} {subject} {quality} for", f"{link} {rest}"
    else:
        question, answer = f"Where {aux} {subject} {quality}", f"{link} {rest}"
    return [ask("applied", question, answer, 5.5, matter)]


def _when(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X fails when Y": when X fails."""
    if clause.words[clause.verb].tag == "VBD" or not matter.is_in(clause.subject):
        return []
    if clause.front:
        first = clause.words[clause.front[0]].low
        if first not in ("when", "if", "whenever") or clause.front[1] - clause.front[0] < 4:
            return []
        if split_clauses(clause, frozenset({"when", "if", "because", "since", ";"})):
            return []
        bare = Clause(clause.text, clause.words, None, clause.start, clause.subject_end, clause.verb, clause.end)
        return [ask("applied", question_of("When", bare, matter), clause.fronted, 4.5, matter)]
    marks = split_clauses(clause, frozenset({"when", "if", "whenever", "unless"}))
    if len(marks) != 1 or marks[0] - clause.verb < 1 or split_clauses(clause, frozenset({"because", "since", ";"})):
        return []
    at = marks[0]
    before = clause.words[at - 1]
    if (
        before.low
        in ("as", "than", "like", "even", "especially", "particularly", "only", "of", "about", "decide", "know")
        or clause.words[at].low == "unless"
    ):
        return []
    if clause.words[at + 1].tag in ("VBG", "VBN", "PRON") and clause.words[at + 1].low not in ("it", "they"):
        return []
    if any(w.tag == "WH" or w.low == "that" for w in clause.words[clause.verb : at]) or clause.lemma() in (
        "decide",
        "determine",
        "ask",
        "know",
        "say",
        "predict",
        "see",
    ):
        return []
    cut = at - 1 if before.tag == "COMMA" else at
    plural = is_plural(clause)
    subject = matter.lower(clause.subject)
    condition = clause.slice(at + 1, clause.end)
    answer = f"{clause.words[at].low} {instead_of_pronoun(shortened(condition), subject, plural)}"
    return [
        ask(
            "applied",
            question_of("When", clause.until(cut), matter),
            answer,
            5.0 + (0.5 if matter.is_named(clause.subject) else 0),
            matter,
        )
    ]


_TRAIT = re.compile(
    r"^(?P<art>an?|the|one|another|a further|its) (?:(?P<adj>(?:popular|main|key|major|important|common|potential|"
    r"practical|big|great|obvious|serious|known|chief|primary|clear|significant|general|additional|notable|typical|"
    r"possible|well-known)) )?"
    r"(?P<what>advantage|benefit|strength|drawback|disadvantage|limitation|weakness|problem|shortcoming|downside|"
    r"risk|danger|goal|aim|purpose|objective|application|use|role|challenge|price|difficulty|property|"
    r"requirement)s? (?P<link>of|with|in|for|to) (?P<of>.+)$",
    re.IGNORECASE,
)


def _trait(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "A drawback of X is (that) Y": what a drawback of X is."""
    match = _TRAIT.match(clause.subject)
    if (
        not match
        or clause.front
        or not clause.is_be
        or not matter.is_in(match["of"])
        or clause.words[clause.verb].low != "is"
    ):
        return []
    told = re.sub(r"^that\s+", "", clause.slice(clause.verb + 1, clause.end), flags=re.IGNORECASE)
    if len(told.split()) < 3 or told.split()[0].casefold() in ("not", "also"):
        return []
    of = matter.lower(match["of"])
    told = instead_of_pronoun(told, of, bool(re.search(r"[^s]s$", of)))
    article = (
        "the"
        if match["art"].casefold() == "the"
        else "an"
        if (match["adj"] or match["what"])[0].casefold() in "aeiou"
        else "a"
    )
    if match["what"].casefold() == "use":
        article = "the" if article == "the" else "a"
    adjective = f"{match['adj'].casefold()} " if match["adj"] else ""
    return [
        ask(
            "applied",
            f"What is {article} {adjective}{match['what'].casefold()} {match['link']} {of}",
            shortened(told, 220),
            5.5,
            matter,
        )
    ]


_HAS_TRAIT = re.compile(
    r"^(?:has|have) (?P<art>an?|one|the) (?P<what>(?:(?:main|key|major|important|further|practical|big|great|"
    r"obvious|serious|significant|potential) )?"
    r"(?:advantage|benefit|strength|drawback|disadvantage|limitation|weakness|problem|shortcoming|"
    r"downside))\s*[:—–]\s*(?P<told>.+)$",
    re.IGNORECASE,
)


def _has_trait(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X has a disadvantage: it ...": what a disadvantage of X is."""
    match = _HAS_TRAIT.match(clause.predicate)
    if not match or clause.front or not matter.is_named(clause.subject):
        return []
    subject = matter.lower(clause.subject)
    told = shortened(instead_of_pronoun(match["told"], subject, is_plural(clause)), 220)
    article = "the" if match["art"].casefold() == "the" else "an" if match["what"][0].casefold() in "aeiou" else "a"
    return [ask("applied", f"What is {article} {match['what'].casefold()} of {subject}", told, 5.3, matter)]


_LIMIT = re.compile(
    r"^(?:(?:\w+ly |often |also |still |usually |generally )?(?P<bad>cannot|can not|fails? to|suffers? from|"
    r"struggles? (?:with|to)|(?:is|are|can be) (?:\w+ly )?(?:unable|limited|prone|sensitive|vulnerable|expensive|"
    r"costly|"
    r"intractable|impractical|infeasible|inefficient|(?:difficult|hard) to|too (?:slow|expensive|costly|large|small|"
    r"coarse|weak))|"
    r"does (?:little|not (?:scale|help|generali[sz]e|capture|account|handle|guarantee|model|take|distinguish|know|"
    r"transfer|mean|work))|do not (?:scale|help|generali[sz]e|capture|account|handle|guarantee|model|take|"
    r"distinguish|know|transfer|work)|"
    r"loses?|ignores?|neglects?|overfits?|requires? (?:a lot|large|huge|many|much|more|quadratic)|needs? (?:a|large|"
    r"many|much|more)|takes? (?:time|long)|can (?:lead to|cause|result in|strengthen|harm|overload|overfit|be "
    r"(?:slow|expensive|hard|difficult|misleading|unstable))))\b",
    re.IGNORECASE,
)


def _limit(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X cannot Y": what a limitation of X is."""
    if clause.front or not matter.is_named(clause.subject) or not _LIMIT.match(clause.slice(clause.verb, clause.end)):
        return []
    end = end_of_clause(clause, clause.verb + 1)
    told = shortened(clause.slice(clause.start, end), 220).split(":")[0].replace(" also ", " ")
    if len(told.split()) < 5:
        return []
    return [ask("applied", f"What is a limitation of {matter.lower(clause.subject)}", told, 3.8, matter)]
