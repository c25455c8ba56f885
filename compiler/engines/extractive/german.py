"""What German sentences define and explain: fewer forms than English, the same rules for what may enter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler import names
from compiler.engines.extractive.asking import Ask, Kind, Matter, sentence, tidy
from compiler.engines.extractive.sentences import sentences
from compiler.engines.extractive.standing import is_mathematical, without_pointers
from compiler.engines.extractive.terms import structure_terms
from compiler.engines.port import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.claim import ClaimKind

_ARTICLE = r"(?:(?:[Dd]er|[Dd]ie|[Dd]as|[Ee]ine?|[Dd]en|[Dd]em|[Ee]inen|[Ee]inem|[Ee]iner)\s+)?"
_NAME = rf"{_ARTICLE}(?:[a-zäöüß]+(?:e|es|er|en|em)\s+){{0,2}}[A-ZÄÖÜ][\w-]*(?:[ -][A-ZÄÖÜ][\w-]*){{0,3}}"
_ASIDE = r"(?:\s*\([^()]*\))?(?:,\s+(?:kurz|auch|engl\.|englisch)[^,]*,)?"
_IS = re.compile(
    rf"^(?P<term>{_NAME}){_ASIDE}\s+(?P<verb>ist|sind)\s+(?P<body>(?:eine?|eines|der|die|das|jene|diejenige[nr]?|"
    rf"Verfahren|Methoden|Modelle|Systeme)\s+\S.*)$"
)
_MEANS = re.compile(rf"^(?P<term>{_NAME}){_ASIDE}\s+(?:bezeichnet|bezeichnen|bedeutet|meint)\s+(?P<body>(?!dass)\S.*)$")
_UNDER = re.compile(rf"^Unter\s+(?P<term>{_NAME}){_ASIDE}\s+versteht man\s+(?P<body>\S.*)$")
_CALLED = re.compile(
    rf"^(?P<body>(?:Der|Die|Das|Eine?|Ein)\s+[^,]{{15,}}?(?:,[^,]+,)?)\s+(?:wird|werden|heißt|heißen|nennt man|"
    rf"bezeichnet man als)\s+(?:auch\s+|oft\s+|als\s+)?(?P<term>{_NAME})(?:\s+(?:genannt|bezeichnet))?$"
)
_AS = re.compile(rf"^Als\s+(?P<term>{_NAME})\s+(?:bezeichnet man|wird|werden)\s+(?P<body>\S.*?)(?:\s+bezeichnet)?$")
_ENTRY = re.compile(
    rf"^(?P<term>{_NAME}){_ASIDE}\s*(?::|\s[–—-])\s+(?P<body>(?:[Ee]ine?|[Dd]er|[Dd]ie|[Dd]as)\s+\S.*)$"
)
_VERBS = (
    "ist|sind|wird|werden|kann|können|muss|müssen|darf|dürfen|soll|sollen|hat|haben|benötigt|benötigen|braucht|"
    "brauchen|"
    "verwendet|verwenden|nutzt|nutzen|erlaubt|erlauben|ermöglicht|ermöglichen|erfordert|erfordern|funktioniert|"
    "funktionieren|"
    "verbessert|verbessern|verringert|verringern|erhöht|erhöhen|hilft|helfen|stärkt|stärken|gilt|gelten|eignet|"
    "eignen|führt|führen"
)
_BECAUSE = re.compile(
    rf"^(?P<subject>{_NAME}(?:\s+(?:des|der|von|eines|"
    rf"einer)\s+[\wÄÖÜäöüß-]+)?)\s+(?P<verb>{_VERBS})\s+(?P<rest>[^,;:]{{4,}}),\s+(?P<why>weil|"
    rf"da)\s+(?P<reason>\S.*)$"
)
_USED = re.compile(
    rf"^(?P<subject>{_NAME})\s+(?P<verb>wird|werden)\s+(?:(?:häufig|oft|meist|auch|vor "
    rf"allem)\s+)?(?:(?P<what>(?:für|zum|zur|bei|in)\s+[^,;:]+?)\s+(?:verwendet|eingesetzt|genutzt|benutzt|"
    rf"angewendet|angewandt)|(?:verwendet|eingesetzt|genutzt|benutzt),\s+(?P<aim>um\s+.+))$"
)
_DIFFERS = re.compile(
    rf"^(?P<subject>{_NAME})\s+(?P<verb>unterscheidet|"
    rf"unterscheiden)\s+sich\s+von\s+(?P<other>{_NAME})\s+(?P<how>(?:dadurch|darin),\s+dass\s+.+)$"
)
_BAD_START = re.compile(
    r"^(?:Er|Sie|Es|Dies\w*|Das|Diese\w*|Jene\w*|Solche\w*|Hier\w*|Dabei|Dadurch|Daher|Deshalb|Damit|Danach|Dann|"
    r"Außerdem|Zudem|Allerdings|Jedoch|Aber|Und|"
    r"Oder|Denn|Doch|So|Somit|Folglich|Ebenso|Beide|Alle diese|Wir|Ich|Du|Ihr|Unser\w*|Mein\w*|Man|Stell|Beachte|"
    r"Siehe|Wie|Was|Warum|Wenn wir|Nun|Zum Beispiel|Beispielsweise)\b(?! (?:Lernen|Modell|Verfahren)\w* (?:ist|"
    r"sind))"
)
_POINTS = re.compile(
    r"\b(?:wir|uns|unser\w*|ich|mein\w*|du|dein\w*|oben|unten|siehe|vgl|Abbildung|Abb\.|Kapitel|Abschnitt|Tabelle|"
    r"folgend\w*|obig\w*|hierbei|vorherig\w*|nachfolgend\w*|"
    r"diese[rsmn]? (?:Art|Methode|Verfahren|Modell\w*|Kurs\w*|Abschnitt\w*|Kapitel\w*|Vorgang\w*))\b|https?://|`"
)
_PRONOUN = re.compile(r"^(?:weil |da |dass )?(?:er|sie|es|dies\w*|ihre?\w*|seine?\w*)\b", re.IGNORECASE)


def extract(request: ExtractRequest, without: frozenset[str] = frozenset()) -> ExtractReply:
    """Claims and terms of one German segment."""
    terms = [t for t in structure_terms(request) if t.signal not in without]
    claims: list[ExtractedClaim] = []
    for found in sentences(request):
        if not stands_alone(found.text) and not (found.item and _ENTRY.match(found.text)):
            continue
        kind, subject = _kind(found.text)
        if kind is None:
            continue
        claims.append(ExtractedClaim(kind=kind, quote=found.text, about=(names.bare(subject),), start=found.start))
        if kind is ClaimKind.DEFINITION:
            terms.append(Term(name=names.bare(subject), signal="definition"))
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def stands_alone(text: str) -> bool:
    """Whether a German sentence can be read without what stood around it."""
    if not 30 <= len(text) <= 350 or not text.endswith((".", ".“", '."')) or not text[0].isupper():
        return False
    return not (_BAD_START.match(text) or _POINTS.search(text) or is_mathematical(text)) and text.count(
        "("
    ) == text.count(")")


def _definition(text: str) -> re.Match[str] | None:
    for pattern in (_UNDER, _AS, _IS, _MEANS, _CALLED, _ENTRY):
        match = pattern.match(text)
        if match and names.is_name(match["term"], "de") and len(match["body"].split()) >= 4:
            return match
    return None


def _kind(text: str) -> tuple[ClaimKind | None, str]:
    words = without_pointers(text).rstrip(".")
    for kind, match in (
        (ClaimKind.MECHANISM, _BECAUSE.match(words)),
        (ClaimKind.APPLICATION, _USED.match(words)),
        (ClaimKind.RELATION, _DIFFERS.match(words)),
    ):
        if match and names.is_name(match["subject"], "de"):
            return kind, match["subject"]
    definition = _definition(words)
    return (ClaimKind.DEFINITION, definition["term"]) if definition else (None, "")


def asks(text: str, matter: Matter) -> Iterator[Ask]:
    """The cards one German sentence supports about the matter."""
    words = without_pointers(text).rstrip(".")
    if (match := _definition(words)) and matter.is_named(match["term"]):
        verb = match.groupdict().get("verb") or "ist"
        yield from _card("definitional", f"Was {verb} {_inside(match['term'])}", match["body"], 6.0)
    if (match := _BECAUSE.match(words)) and matter.is_named(match["subject"]):
        question = f"Warum {match['verb']} {_inside(match['subject'])} {match['rest']}"
        yield from _card("mechanistic", question, f"{match['why']} {match['reason']}", 6.0)
    if (match := _USED.match(words)) and matter.is_named(match["subject"]):
        question = f"Wofür {match['verb']} {_inside(match['subject'])} verwendet"
        yield from _card("applied", question, match["what"] or match["aim"], 5.0)
    if (match := _DIFFERS.match(words)) and matter.is_named(match["subject"]):
        question = f"Wie {match['verb']} sich {_inside(match['subject'])} von {match['other']}"
        yield from _card("relational", question, match["how"], 6.0)


_BEFORE_NOUN = re.compile(
    r"(?:der|die|das|den|dem|ein|eine|einen|einem|einer|[a-zäöüß]+(?:e|er|es|en|em))$", re.IGNORECASE
)


def _inside(name: str) -> str:
    """The name as it stands inside a sentence: articles and adjectives in lower case, nouns as they are."""
    first, _, rest = name.partition(" ")
    return f"{first[0].lower()}{first[1:]} {rest}" if rest and _BEFORE_NOUN.match(first) else name


def _card(kind: Kind, question: str, answer: str, score: float) -> Iterator[Ask]:
    question, answer = f"{tidy(question)}?", sentence(answer)
    if len(question) <= 190 and 10 <= len(answer) <= 300 and not _PRONOUN.match(answer) and "?" not in answer:
        yield Ask(kind, question, answer, score - max(0, len(answer) - 140) / 60)
