"""What German sentences define and explain: fewer forms than English, the same rules for what may enter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive.grammar.standalone import is_mathematical, without_pointers
from compiler.engines.extractive.questions.question import Ask, Kind, Matter, sentence, tidy
from compiler.engines.extractive.sentences import Sentence, sentences
from compiler.engines.extractive.terms import introduced, structure_terms
from compiler.language import names
from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.model.claim import ClaimKind

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
_NO_VERBS = (
    "mit|seit|damit|somit|nicht|zuletzt|dort|oft|meist|gut|erst|selbst|jetzt|bereit|nebst|zwischen|neben|hinten|"
    "oben|unten|gegen|wegen|eben|einen|keinen|den|ihren|seinen|allen|beiden|vielen|neuen|großen|bekannt|"
    "genannt|insgesamt"
)
_SAYS = re.compile(
    rf"^(?P<subject>{_NAME}(?:\s+(?:des|der|von|eines|einer)\s+[\wÄÖÜäöüß-]+)?(?:\s+und\s+[A-ZÄÖÜ][\w-]+)?){_ASIDE}"
    rf"(?:,[^,]{{3,60}},)?\s+(?!(?:{_NO_VERBS})\b)(?P<verb>[a-zäöüß]{{2,}}(?:t|en|te|ten)|ist|sind|wird|hat|kann)\s+"
    r"(?P<rest>\S.{12,})$"
)
_IN_PASSING = re.compile(
    rf"(?P<term>{_NAME}(?:\s+und\s+[A-ZÄÖÜ][\w-]*)?), (?P<body>(?P<article>eine?|zwei|drei) "
    r"(?:[\w-]+ |\([^()]*\) ){0,4}"
    r"[A-ZÄÖÜ][\w-]+(?: von [A-Z][\w-]*)?, (?:die|der|das|bei de[rm]) [^.!?\n]{12,200}?)(?=$|[.!?\n])"
)
_LABEL = re.compile(
    rf"^(?P<term>{_NAME}){_ASIDE}:\s+(?:Dies ist|Das ist|Dies sind)\s+(?P<body>(?:eine?|die|der|das)\s+\S.*)$"
)
_GIVEN = re.compile(
    rf"(?P<name>{_NAME})\s*\((?:auch|engl\.|englisch:?|kurz|Abk\.:?|abgekürzt)\s+(?:als\s+)?[*„\"]*"
    r"(?P<other>[A-Za-zÄÖÜ][\w -]{1,40}?)[*“\"]*(?:\s+(?:genannt|bezeichnet|bekannt))?\)"
    rf"|(?P<name2>{_NAME}), auch (?:als\s+)?(?P<other2>[A-ZÄÖÜ][\w-]+) (?:genannt|bezeichnet|bekannt)"
    rf"|(?P<name3>{_NAME}), auch bekannt als (?P<other3>[A-ZÄÖÜ][\w-]+)"
)
_KINDS = (
    (
        ClaimKind.LIMITATION,
        re.compile(r"\b(?:nicht|kein\w*|nur|teuer|kostspielig|schwierig|Nachteil\w*|Grenzen|erfordert|langsam)\b"),
    ),
    (
        ClaimKind.RELATION,
        re.compile(
            r"\b(?:als ein|unterscheid\w+|Gegensatz|Vergleich|Version von|Variante|im Unterschied|ähnlich\w*|während)\b"
        ),
    ),
    (
        ClaimKind.APPLICATION,
        re.compile(
            r"\b(?:verwendet werden|wird \w* ?\w* ?(?:verwendet|eingesetzt|genutzt)|für die|eignet|eignen|hilft|"
            r"geeignet)\b"
        ),
    ),
    (
        ClaimKind.MECHANISM,
        re.compile(
            r"\b(?:weil|da|denn|dadurch|durch|indem|damit|sodass|ermöglicht|um|trainiert|erstellt|berechnet|verhindern)\b"
        ),
    ),
)
_NO_SUBJECT = re.compile(
    r"(?:Leider|Aus|Bei|Beim|In|Im|Für|Am|An|Auf|Nach|Um|Mit|Von|Vor|Zu|Zum|Zur|Durch|Ohne|Seit|Während|Wenn|Da|Weil|"
    r"Obwohl|Heute|Oft|Meist|Alle|Viele|Einige|Ein weiteres|Laut|Trotz|Statt|Genauso|Deshalb|Jede\w*|Welche\w*)\b"
)
_LEANS = re.compile(r"(?:Dies|Das|Diesen? \w+|Dieser \w+|Dieses \w+) (?:nennt|heißt|wird|bezeichnet|ist)\b")
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
    terms = [t for t in (*structure_terms(request), *_given(request.text)) if t.signal not in without]
    claims: list[ExtractedClaim] = []
    last: Sentence | None = None
    for found in sentences(request):
        before, last = last, found
        if "aside" not in without and (passing := _in_passing(found)):
            claims += passing
            terms += [Term(name=n, signal="definition") for c in passing for n in c.about]
        set_off = [] if "emphasis" in without else introduced(request, found.start, found.end)
        set_off += [] if "alias" in without else [t.name for t in _given(found.text)]
        if not (stands_alone(found.text) or _LABEL.match(found.text) or (found.item and _ENTRY.match(found.text))):
            if set_off and before and before.block == found.block and _LEANS.match(found.text) and _reads(before):
                quote = request.text[before.start : found.end]
                once = tuple(dict.fromkeys(set_off))
                claims.append(ExtractedClaim(kind=_cue(quote), quote=quote, about=once, start=before.start))
            continue
        kind, about = _sorted(found.text, without)
        if kind is ClaimKind.DEFINITION:
            terms += [Term(name=n, signal="definition") for n in about]
        about += set_off
        if about:
            claims.append(
                ExtractedClaim(kind=kind, quote=found.text, about=tuple(dict.fromkeys(about)), start=found.start)
            )
    terms = [t for t in terms if t.signal not in without]
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def _reads(sentence: Sentence) -> bool:
    """Whether a sentence may be kept before the one that leans on it."""
    return stands_alone(sentence.text) and len(sentence.text) < 300


def _cue(text: str) -> ClaimKind:
    return next((kind for kind, cue in _KINDS if cue.search(text)), ClaimKind.FACT)


def _given(text: str) -> Iterator[Term]:
    """Names that the text gives twice: "X (engl. Y)", "X, auch Y genannt"."""
    for match in _GIVEN.finditer(text):
        pair = [g.strip() for key, g in sorted(match.groupdict().items()) if g]
        name, other = names.bare(pair[0]), pair[1]
        if names.is_name(name, "de") and names.is_name(other):
            yield Term(name=name, aliases=(other,), signal="alias")


def _in_passing(found: Sentence) -> list[ExtractedClaim]:
    """From "DistilBERT, eine abgespeckte Version von BERT, die ...": what DistilBERT is."""
    match = _IN_PASSING.search(found.text)
    if not match:
        return []
    several = match["article"] in ("zwei", "drei")
    about = [names.bare(n) for n in (match["term"].split(" und ") if several else [match["term"]])]
    said = f"{match['term']} {'sind' if several else 'ist'} {match['body'].rstrip(' .')}."
    said = said[0].upper() + said[1:]
    if not all(names.is_name(n, "de") for n in about) or not stands_alone(said):
        return []
    quote = match[0].rstrip()
    return [
        ExtractedClaim(
            kind=ClaimKind.DEFINITION,
            quote=quote,
            statement=said,
            about=tuple(about),
            start=found.start + match.start(),
        )
    ]


def _sorted(text: str, without: frozenset[str]) -> tuple[ClaimKind, list[str]]:
    """The kind of the sentence and what it is about: what a form of its own says, else its subject before a verb."""
    kind, subject = _kind(text)
    if kind is not None and not (kind is ClaimKind.DEFINITION and "definition" in without):
        return kind, [names.bare(subject)]
    match = _SAYS.match(without_pointers(text).rstrip("."))
    kind = _cue(text)
    if not match or "verb" in without or _NO_SUBJECT.match(match["subject"]):
        return kind, []
    subjects = re.split(r"\s+und\s+", re.sub(r"\s*\([^()]*\)", "", match["subject"]))
    return kind, [names.bare(s) for s in subjects if names.is_name(s, "de")]


def stands_alone(text: str) -> bool:
    """Whether a German sentence can be read without what stood around it."""
    if not 30 <= len(text) <= 350 or not text.endswith((".", ".“", '."')) or not text[0].isupper():
        return False
    return not (_BAD_START.match(text) or _POINTS.search(text) or is_mathematical(text)) and text.count(
        "("
    ) == text.count(")")


def _definition(text: str) -> re.Match[str] | None:
    for pattern in (_UNDER, _AS, _IS, _MEANS, _CALLED, _LABEL, _ENTRY):
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
