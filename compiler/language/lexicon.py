"""Words that decide what can be a name, and the few endings that make two spellings one."""

from __future__ import annotations

import re
from functools import cache, lru_cache


def _set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


DETERMINERS = _set(
    "a an the this that these those each every either neither some any no all both many much more most few "
    "several another other such what which whose my your his her its our their one's certain various same own"
)
NAME_PREPOSITIONS = _set("of for in on with from to by at as into between through over under without within via per")

# "Attention in transformers" is a theme; "bag of words", "sampling without replacement" are names.
LOOSE_PREPOSITIONS = _set("in on for between into over within as at via from during about across among against")

# A name never begins with one of these ...
NO_NAME_STARTS = (
    DETERMINERS
    | NAME_PREPOSITIONS
    | _set(
        "i you he she it we they me him us them how why when where who whom whose what which whether if because "
        "since while although though unless until and or but nor so yet not then than thus hence therefore "
        "however also only just even still here there now again too very quite rather almost always never often "
        "sometimes usually is are was were be been being am has have had having do does did done doing can "
        "could may might must shall should will would let let's see note recall consider suppose assume imagine "
        "using use used given based understanding implementing visualizing visualising building defining "
        "creating loading installing comparing introducing exploring registering adding putting getting "
        "choosing extending making taking setting going looking moving showing finding coming bringing trying "
        "keeping giving telling saying asking leaving following according preparing reproducing applying "
        "evaluating compute build create define implement add visualize try click install run download open "
        "read write show make find choose explain describe discuss compare prove derive verify draw give get "
        "keep put take start first second third fourth fifth finally next last previous above below different "
        "similar various new good better best bad worse worst easy important useful interesting "
        "possible likely well-known like unlike about against after before around among across beyond during "
        "despite except towards toward upon versus vs numerous countless overall higher lower larger smaller "
        "longer shorter faster slower greater fewer less deeper easier harder stronger weaker closer later "
        "earlier bigger wider richer poorer simpler entire whole main major minor additional further one two "
        "three four five six seven eight nine resulting corresponding remaining proposed obtained ten dozens "
        "hundreds thousands up down out off nothing something anything everything someone anyone everyone "
        "nobody"
    )
)
# ... never ends with one of these ...
NO_NAME_ENDS = (
    DETERMINERS
    | NAME_PREPOSITIONS
    | _set(
        "and or but if is are was were be been has have had do does did can could may might must shall should "
        "will would not it they them he she we you i us then than so too also only well again etc al ie eg "
        "versus vs themselves itself below above here there work works explained revisited question questions "
        "exercise exercises summary overview introduction notes readings resources acknowledgements help"
    )
)
# ... and never holds one of these.
NO_NAME_HOLDS = _set(
    "is are was were be been am has have had does did can cannot could may might must shall should will would "
    "it they them he she we you i us our my your this these those et al etc ie eg e.g i.e vs versus which who "
    "whom whose because therefore however although whereas don't doesn't isn't aren't let's and or figure "
    "uses makes make gives takes allows shows called known using like during before after pros cons "
    "figures fig chapter chapters appendix http https www copyright isbn doi"
)

# Words that are no concept by themselves, alone or together.
GENERIC = _set(
    "model method approach technique example problem solution result idea case way thing part number set type "
    "kind form point step goal section chapter paper figure table book author reader value input output item "
    "element component variable parameter parameters quantity amount degree level size length dimension "
    "position order answer question reason cause effect purpose advantage disadvantage benefit drawback "
    "limitation limit difference similarity relation relationship property feature characteristic aspect factor "
    "detail fact note summary overview introduction conclusion background discussion motivation preliminary "
    "exercise reference bibliography acknowledgement acknowledgment appendix contents content index glossary "
    "preface abstract keyword notation implementation experiment evaluation setup setting configuration "
    "training testing test usage installation requirement license changelog contributing citation faq tip trick "
    "warning recap review resource reading link homework assignment lecture lesson course video slide code "
    "program script function file folder data dataset material information word sentence text term name "
    "definition description explanation explain list line page place time day week month year history future "
    "past work study research researcher finding people person student learner teacher user someone human child "
    "adult expert beginner system process task tool use application practice theory principle concept notion "
    "issue challenge topic subject field area domain world life group member class category sort version "
    "variant variation extension improvement change choice option alternative comparison analysis stuff side "
    "end beginning start middle top bottom left right rest half whole total sum average object source condition "
    "situation event action operation procedure strategy mechanism structure pattern framework architecture "
    "design pipeline block layer unit module stage phase evidence proof claim statement argument assumption "
    "observation measurement measure score rate ratio outcome response performance quality relative limits "
    "recipe formula equation expression symbol letter image picture photo diagram chart plot graph more other "
    "others everything anything nothing something one two three four five first second third latter former "
    "above below next previous further basic basics today tomorrow yesterday pro con pros cons intuition remark "
    "theorem lemma corollary proposition aim objective objectives focus role collection pair tuple sequence "
    "series family chain range variety majority minority lot bit piece portion state-of-the-art progress "
    "success failure mistake trouble ability capability self need demand desire interest attention-grabbing "
    "question-and-answer thanks credit credits footnote footnotes contribution contributions baseline baselines "
    "results experiments related conclusions limitations implementations details remarks examples exercises "
    "solutions references readings resources news update updates roadmap features support requirements"
)
# "An advantage of X", "the idea of X", "types of X": what is meant is X.
TRANSPARENT = _set(
    "idea intuition insight concept notion principle goal aim purpose role use usage application example type "
    "kind form sort class variety family advantage disadvantage benefit drawback limitation limit problem "
    "weakness strength downside upside cost summary overview introduction comparison history definition meaning "
    "importance number amount part aspect property feature characteristic effect impact influence nature case "
    "choice theory task process version variant instance set list collection series pair level degree majority "
    "output result success popularity development computation implementation study field area basis foundation "
    "core essence point risk danger price difficulty value topic landscape world rest"
)
# "The resulting classifier", "underlined words": what a text has at hand, not what it names.
PASSING = _set(
    "resulting underlined trained proposed used given selected chosen predicted observed required obtained "
    "corresponding remaining combined modified computed estimated expected desired generated extracted existing "
    "updated"
)
OF_NAMES = frozenset({"part of speech", "parts of speech", "problem of evil", "cost of capital", "cost of living"})
# Heads that name nothing beside other empty words: "training data", "test set".
WEAK_HEADS = _set(
    "model method approach technique result data dataset system task tool process value number set size input "
    "output item time word sentence text function line sequence step object element length vector"
)
# Heads that name nothing, whatever stands before them.
EMPTY_HEADS = _set(
    "problem idea way thing part kind goal section chapter paper figure author reader reason advantage "
    "disadvantage benefit drawback difference similarity aspect detail fact summary overview introduction "
    "conclusion discussion exercise reference appendix lot bit one other approach result explanation "
    "implementation details"
)
GENERIC_ADJECTIVES = _set(
    "new old good bad better best simple complex large small big long short high low early late main major "
    "minor basic general specific particular special certain different similar same various common typical "
    "usual standard important key original previous next first second third last final initial further "
    "additional entire whole full complete partial single multiple many several few recent modern current "
    "future past present possible potential available useful popular famous classic classical alternative other "
    "resulting given proposed existing known related relevant corresponding respective individual overall total "
    "average real actual true false right wrong practical theoretical empirical experimental mathematical "
    "technical interesting natural obvious clear"
)
GENERIC_PHRASES = frozenset(
    (
        "how it works, why it works, related work, further reading, see also, table of contents, additional "
        "resources, state of the art, end of the day, future work, best practices, key idea, key ideas, main idea, "
        "key takeaways, take home, getting started, quick start, bonus material, next steps, in practice, when not, "
        "learning goals, learning objectives, source code, case study, case studies, point of view, rule of thumb, "
        "real world, open source, problem statement, running example, worked solution, experimental setup, "
        "experimental results, research question, research questions, contact information, release notes, performance "
        "comparison, sanity check, conflict of interest, data availability, author contributions, supplementary "
        "material"
    ).split(", ")
)
NOT_ALONE = (
    GENERIC
    | GENERIC_ADJECTIVES
    | _set(
        "exception exceptions due respectively perhaps indeed moreover furthermore nevertheless otherwise instead "
        "meanwhile together thereby yes no ok true false none null not all any every must never always only both "
        "same different more most less least before after during important necessary sufficient optional required "
        "default global local left right up down forward backward internal external january february march april "
        "may june july august september october november december monday tuesday wednesday thursday friday "
        "saturday sunday english german french chinese google facebook microsoft amazon openai twitter youtube "
        "github wikipedia usa uk eu pdf html csv json xml url api gpu cpu ram http todo note warning tip danger "
        "info caution faq anderer dies das der die ein eine und oder nicht mehr"
    )
)
NOT_ACRONYMS = _set(
    "a.m p.m e.g i.e vs mr ms dr st no ok us uk usa eu id ii iii iv vi vii viii ix xi xii todo wip tba tbd et "
    "al phd bsc msc"
)

# Given names, for "Andrej Karpathy" under a heading or in bold is a person.
GIVEN_NAMES = _set(
    "abigail maynard max fiorello aaron adam alan albert alec alex alexander alice amanda amy andrej andrew "
    "andy angela anna anne anthony arthur ashish barbara ben benjamin bernd bill bob brian carl carol catherine "
    "charles chris christian christopher claude daniel david dennis diana donald dzmitry edward elizabeth emily "
    "emma eric ernst eva frank fred friedrich gary geoffrey george gerald grace hans harold harry heinrich "
    "helen henry hermann howard hugo ian ilya isaac jack jacob jakob james jane jay jason jeff jeffrey jennifer "
    "jeremy jerome jessica jim joan joe johan johann john jonathan joseph judith julia julie jürgen karen karl "
    "kate katherine kevin konrad kyunghyun larry laura lawrence leo leonard linda lisa llion lukasz louis lucy "
    "luke margaret maria marie mark martin mary matthew michael michelene mike minh nancy nate nathan neil "
    "nelson nicholas nick niki noam noah oliver olga oriol oscar patricia patrick paul peter philip pierre "
    "piotr rachel ralph ray rebecca richard robert robin roger ronald rosa ruth ryan sam samuel sandra sara "
    "sarah scott sebastian sepp sharon simon stephen steve steven stuart susan taylor thomas tim timothy tom "
    "tri tony ulrich victor vincent walter werner wilhelm william wolfgang yann yoshua"
)
PROPER = _set(
    "Bayesian Hessian Jacobian Boolean Cartesian Newtonian Darwinian Hebbian Pavlovian Bayes Markov Gaussian "
    "Bernoulli Viterbi Bahdanau Luong Transformer Transformers Turing Shannon Leitner Ebbinghaus Feynman Anki "
    "Python English German French Chinese Latin Greek Penn Brown Euclidean Laplace Monte Carlo Gibbs Zipf Heaps "
    "Pearson Newton Boltzmann Hopfield Cornell Zettelkasten Socratic Bloom Pareto Poisson Dirichlet Chomsky"
)

# lemma, past, past participle
_VERBS = """
blow blew blown, fly flew flown, dig dug dug, swim swam swum, swing swung swung, wear wore worn, weave wove woven,
bleed bled bled, breed bred bred, bend bent bent, sting stung stung, spit spat spat, sow sowed sown, swell swelled
swollen, arise arose arisen, be was been, bear bore borne, become became become, begin began begun, bind bound
bound, break broke broken, bring brought brought, broadcast broadcast broadcast, build built built, burst burst
burst, cast cast cast, choose chose chosen, come came come, cost cost cost, cut cut cut, deal dealt dealt, do did
done, draw drew drawn, drive drove driven, eat ate eaten, fall fell fallen, feed fed fed, feel felt felt, find found
found, fit fit fit, forbid forbade forbidden, forecast forecast forecast, foresee foresaw foreseen, forget forgot
forgotten, freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, have had had, hear
heard heard, hide hid hidden, hit hit hit, hold held held, hurt hurt hurt, keep kept kept, know knew known, lay laid
laid, lead led led, leave left left, lend lent lent, let let let, lie lay lain, lose lost lost, make made made, mean
meant meant, mislead misled misled, overcome overcame overcome, override overrode overridden, overwrite overwrote
overwritten, pay paid paid, put put put, read read read, reread reread reread, reset reset reset, rewrite rewrote
rewritten, rise rose risen, run ran run, say said said, see saw seen, seek sought sought, sell sold sold, send sent
sent, set set set, show showed shown, shrink shrank shrunk, sink sank sunk, slide slid slid, speak spoke spoken,
spend spent spent, spin spun spun, split split split, spread spread spread, stand stood stood, stick stuck stuck,
strike struck struck, strive strove striven, take took taken, teach taught taught, tear tore torn, tell told told,
think thought thought, throw threw thrown, undergo underwent undergone, underlie underlay underlain, understand
understood understood, undertake undertook undertaken, undo undid undone, win won won, withhold withheld withheld,
write wrote written, retell retold retold, offset offset offset, outgrow outgrew outgrown
"""
IRREGULAR_VERBS = {
    words[0]: (words[1], words[2]) for words in map(str.split, _VERBS.split(","))
}  # lemma -> (past, past participle)
# Irregular form -> lemma; a form that is a verb itself ("lay", "fell") keeps its own meaning.
LEMMAS = {form: verb for verb, past in IRREGULAR_VERBS.items() for form in past if form not in IRREGULAR_VERBS}

_IRREGULAR_PLURALS = {
    "matrices": "matrix", "vertices": "vertex", "indices": "index", "appendices": "appendix", "corpora": "corpus",
    "criteria": "criterion", "phenomena": "phenomenon", "children": "child", "people": "person", "men": "man",
    "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse", "lemmata": "lemma", "schemata": "schema",
    "analyses": "analysis", "hypotheses": "hypothesis", "theses": "thesis", "syntheses": "synthesis", "axes": "axis",
    "bases": "basis", "crises": "crisis", "diagnoses": "diagnosis", "parentheses": "parenthesis", "biases": "bias",
    "lives": "life", "halves": "half", "leaves": "leaf", "selves": "self", "heuristics": "heuristic",
    "metrics": "metric",
    "statistics": "statistics", "topics": "topic", "characteristics": "characteristic", "graphics": "graphics",
    "stimuli": "stimulus", "nuclei": "nucleus", "foci": "focus", "loci": "locus", "formulae": "formula",
    "neuroses": "neurosis", "ellipses": "ellipsis", "movies": "movie", "cookies": "cookie", "ties": "tie",
}  # fmt: skip
_UNINFLECTED = _set(
    "bias loss gas lens news series species means process access class pass mass success gloss cross chaos "
    "corpus focus bus plus minus status campus census virus atlas canvas always perhaps towards physics "
    "mathematics linguistics semantics pragmatics phonetics statistics economics dynamics mechanics ethics "
    "politics robotics graphics genetics bayes keras pandas kinetics optics acoustics logistics analytics thus "
    "this his its yes is was has does as us"
)


@cache
def singular(word: str) -> str:
    """Return the singular of an English noun in lower case; a word that looks like no plural comes back as it is."""
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if len(word) < 4 or not word.endswith("s") or word in _UNINFLECTED or word.endswith(("ss", "us", "is", "ics")):
        return (
            word[:-1]
            if len(word) == 3 and word.endswith("s") and word[0] not in "aeiou" and word[1] not in "aeiouy"
            else word
        )
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word in ("caches", "niches", "aches", "headaches", "axes", "psyches"):
        return word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=1 << 15)  # a language has few words, and a library says them over and over
def stem(word: str) -> str:
    """Return `word` without its ending, so that "stores", "store" and "stored" are equal."""
    word = word.replace("’", "'").removesuffix("'s")
    for ending in ("ies", "ing", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_SPELLING = (
    (re.compile(r"is(ation|e|ed|er|ing)(s?)$"), r"iz\1\2"),
    (re.compile(r"(behavi|col|neighb|lab|hum|fav)our"), r"\1or"),
    (re.compile(r"(mod|lab|canc|trav|chann|sign)ell(ed|ing|er)"), r"\1el\2"),
    (re.compile(r"^(cent|met|theat)re$"), r"\1er"),
)
_ISE = _set(
    "noise exercise precise rise wise raise phrase advertise surprise concise promise exercised paraphrase "
    "otherwise likewise praise cruise disease enterprise expertise franchise revise devise supervise supervised "
    "unsupervised revised raised promised surprised supervising supervision comprise compromise improvise "
    "televise excise poise noised raising rising phrasing arise arising merchandise appraise disguise demise "
    "premise treatise tortoise denoise denoised denoising noises noiser wiser promising surprising exercising "
    "advised advise advising adviser stepwise pairwise pointwise elementwise piecewise bitwise self-supervised "
    "bruise braise despise incise devised devising revising comprised comprising advertising disguised "
    "exercises rises"
)


@cache
def american(word: str) -> str:
    """Return the word in American spelling, so that "normalisation" and "normalization" are equal."""
    if len(word) > 5 and word not in _ISE:
        for pattern, to in _SPELLING:
            word = pattern.sub(to, word)
    return word


_ADJECTIVE = re.compile(r"(?:ous|able|ible|less|ful|ical|istic|ional|iest|ish|ly|ed)$")
_NOUNS_LIKE_ADJECTIVES = _set(
    "seed feed speed need embed bed shed reed deed creed breed variable table cable syllable vocabulary supply "
    "reply family anomaly assembly monopoly polynomial fly ally belly bully jelly lily rally tally melancholy "
    "parable constable vegetable crucible mandible nous chemical radical rational professional national fish "
    "dish wish finish polish relish radish weed steed greed blood proceed hundred sled"
)
ADJECTIVES = _set(
    "sequential generative discriminative parallel local global neural linear nonlinear statistical dynamic "
    "static semantic syntactic lexical automatic generic specific explicit implicit intrinsic extrinsic "
    "relative active passive binary primary secondary tertiary ordinary temporary arbitrary elementary "
    "necessary contrary contextual textual visual verbal oral spatial temporal causal formal informal natural "
    "artificial social cultural financial legal moral mental optimal minimal maximal partial total initial "
    "final equal actual usual general special central crucial essential potential digital virtual vertical "
    "horizontal diagonal orthogonal sparse dense deep shallow hidden latent recurrent convergent dependent "
    "independent consistent efficient sufficient frequent recent current different apparent transparent "
    "inherent important relevant significant dominant redundant elegant distant constant abstract concrete "
    "direct indirect exact distinct strict correct perfect compact complex simplex robust random uniform "
    "discrete continuous stochastic probabilistic deterministic atomic basic classic electric organic periodic "
    "symmetric asymmetric symbolic public academic economic historic domestic scientific realistic adaptive "
    "additive cumulative descriptive distributive effective iterative native negative positive objective-free "
    "predictive productive progressive protective recursive reflective selective sensitive successive "
    "supportive transitive intransitive informative exhaustive expensive extensive intensive extractive "
    "abstractive attentive auto-regressive autoregressive bidirectional unidirectional multilingual monolingual "
    "bilingual similar circular regular irregular singular popular particular familiar modular angular solar "
    "polar lunar nuclear"
)


def looks_adjective(word: str) -> bool:
    """Return whether a single lower-case word is an adjective, adverb or participle by its ending or by the list."""
    return word in ADJECTIVES or (bool(_ADJECTIVE.search(word)) and word not in _NOUNS_LIKE_ADJECTIVES)


CHINESE_NOT_NAME = re.compile(
    r"^(?:[我你他她它]|这|那|本|该|此|其|每|各|某|一个|一种|一些|如果|因为|所以|但是|然而|可以|我们|他们|它们|什么|如何|怎么|为什么|小结|练习|总结|"
    r"简介|引言|概述|摘要|目录|参考|附录|例子|例如|比如|通过|使用|基于|在|对|与|和|从|将|把|被|由|为|是|有|也|都|就|还|不|没|图|表|第|下面|上面|接下来|"
    r"首先|其次|最后|更|最|很|非常|当|而|并|或|及|所有|任何|许多|大多数|给定|假设|实验|背景|方法|结果|讨论|结论|问题|答案|习题)"
    r"|[的了吗呢吧啊们]$|[是有能会要]$|我们|他们|它们|这个|那个|什么|可以|因此|所以|但是|然而"
)
GERMAN_GENERIC = _set(  # no name alone
    "modell modelle methode methoden verfahren ansatz ansätze problem probleme aufgabe aufgaben daten text texte wort "
    "wörter satz sätze wert werte zahl zahlen teil teile art arten form formen grund gründe ergebnis ergebnisse "
    "training input inputs output outputs target schritt schritte version versionen prozess prozesse system systeme "
    "darstellung repräsentation begriff begriffe frage fragen antwort antworten mensch menschen person personen jahr "
    "jahre tag tage zeit ziel ziele weg wege thema themen quelle quellen bild bilder seite seiten liste listen"
)
GERMAN_NOT_NAME = _set(
    "der die das den dem des ein eine einer eines einem einen dieser diese dieses jener jene jenes er sie es "
    "wir ihr ich man ist sind war waren wird werden hat haben kann können muss müssen soll sollen wie was warum "
    "wann wo wer und oder aber nicht auch nur noch schon sehr mehr viele alle einige andere beide hier dort "
    "dann so zusammenfassung einleitung einführung überblick übersicht beispiel beispiele fazit abbildung "
    "tabelle kapitel abschnitt quellen literatur inhalt anhang aufgabe aufgaben übung übungen lösung weiteres "
    "allgemeines hinweis hierbei dabei dadurch damit deshalb daher somit zum zur im am vom beim ins unsere "
    "unser mein dein sein ihre geschichte"
)
