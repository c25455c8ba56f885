"""Words that mean little by themselves, in English and German: a comparison of answers ignores them."""

from __future__ import annotations

ARTICLES = frozenset("a an the der die das den dem des ein eine einen einem einer eines".split())
FILLERS = ARTICLES | frozenset(
    """
    about above after again all also am and any are as at be because been before being below between both but by can
    could did do does doing down during each else ever few for from further get gets had has have having he her here
    hers him his how i if in into is it its itself just may me might more most must my of off on once only onto or other
    our ours out over own per same she should so some such than that their theirs them then there these they this those
    through thus to too under until up upon very was we were what when where which while who whom whose why will with
    would you your yours
    aber als also am an auch auf aus bei beim bin bis bist da damit dann dass dazu denn dessen doch dort du durch er es
    etwas für gegen hat hatte haben hier hin ich ihr ihre im in indem ins ist ja jede jeder jedes kann können man mehr
    mit nach noch nun nur ob oder seid sein seine selbst sich sie sind so sobald soll sowie und uns unter vom von vor
    war waren was weil wenn wer werden wie wird wir wo wurde wurden zu zum zur über
    """.split()
)
NEGATIONS = frozenset(
    """
    no not never none nobody nothing neither nor cannot
    nicht nie niemals kein keine keinen keinem keiner keines nichts niemand weder
    """.split()
)
# `one` and `ein` are left out: they are pronouns and articles more often than numbers.
NUMBERS = dict(
    zip("two three four five six seven eight nine ten eleven twelve".split(), map(str, range(2, 13)), strict=True)
) | dict(zip("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), map(str, range(2, 13)), strict=True))
# The longest first, so that `classes` loses all it can.
ENDINGS = ("ingly", "edly", "ings", "ies", "ing", "est", "ern", "ed", "es", "er", "en", "em", "ly", "s", "e", "n", "y")
