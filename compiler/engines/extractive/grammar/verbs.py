"""English verbs of expository prose: their forms, so that a sentence's verb can be found and put into a question."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from compiler.language.lexicon import IRREGULAR_VERBS

# Rarely or never nouns: a form of one of these is a verb wherever grammar allows one.
_PLAIN = """
abandon abolish absorb abstract accelerate accept accommodate accompany accomplish account accumulate achieve
acknowledge acquire act activate adapt add adhere adjust admit adopt advise affect afford aggregate agree aim
alleviate align allocate allow alter amplify analyze analyse announce annotate anticipate appear append apply
appreciate approximate argue arise arrange arrive ascertain ask assemble assert assess assign assist associate assume
assure attain attach attend attract attribute augment automate avoid award back-propagate backpropagate balance become
begin behave believe belong bind bring broadcast build calculate calibrate capture categorize cease challenge
characterize choose cite claim clarify classify cling cluster coincide collapse collect combine come commit
communicate compare compel compensate compete compile complement complete complicate comprise compress compromise
compute concatenate conceal concentrate concern conclude condense conduct confer confirm conflict conform confuse
connect consider consist consolidate constitute constrain construct consult consume contain contend continue
contradict contribute converge convert convey convince convolve cooperate coordinate cope correct correspond corrupt
couple create criticize cultivate curb customize deal decide declare decline decode decompose decouple decrease deduce
deepen defeat defend define degrade delay delete deliver demand demonstrate denote deny depart depend depict deploy
derive describe deserve designate detach detect deteriorate determine develop deviate devise devote diagnose dictate
die differ differentiate diffuse digest diminish direct disable disambiguate disappear discard discourage discover
discretize discriminate disregard disrupt dissipate dissolve distil distill distinguish distort distribute disturb
diverge divide do dominate double draw drive earn ease eat edit educate elaborate elicit eliminate embed embody
embrace emerge emit emphasize employ empower enable encapsulate encode encompass encounter encourage endure enforce
engage enhance enjoy enlarge enrich ensure entail enter enumerate equal equalize equip eradicate erase escape
establish estimate evaluate evoke evolve examine exceed exchange exclude execute exercise exert exhaust exhibit exist
expand expect experience explain explode exploit explore expose express extend extract extrapolate facilitate factor
factorize fade fail fall favor favour feel fetch fill filter find fine-tune fit flatten flow fluctuate focus follow
forbid force forecast foresee forget formalize formulate foster freeze fulfil fulfill function fuse gain gather gauge
generalize generate get give govern grasp grow guarantee guess guide halve hamper handle happen harm hasten have hear
help hide highlight hinder hold identify ignore illustrate imagine imitate immerse impair impede implement imply
impose improve include incorporate increase incur indicate induce infer inflate inflict influence inform infuse
inhabit inherit inhibit initialize initiate inject insert insist inspect inspire install instantiate instruct insulate
integrate intend intensify interact intercept interfere interleave interpolate interpret intersect intervene introduce
invent invert invest investigate invite invoke involve isolate iterate join judge justify keep know label lack lay
lead learn leave lend lessen let leverage lie limit linearize linger listen locate lose lower magnify maintain make
manage manifest manipulate map marginalize market match materialize matter maximize mean measure mediate memorize
merge migrate mimic minimize mislead mitigate mix mobilize moderate modify modulate monitor motivate multiply mutate
narrow necessitate need neglect negotiate neutralize normalize notice nullify obey obscure observe obstruct obtain
occupy occur offer omit open operate oppose optimize orchestrate organize orient originate oscillate outperform
overcome overfit overlap overlook override overwrite owe own pack pad parallelize parameterize paraphrase parse
participate partition pass penalize perceive perform permit permute perpetuate persist pertain perturb pick pose
possess postpone practise preclude predict prefer prepare prescribe present preserve presume pretend prevail prevent
proceed process produce prohibit project prolong prompt promote propagate propose protect prove provide provoke prune
pursue push put quantify quantize raise range rank reach react realize reappear rearrange reason recall receive
recognize recognise recombine recommend reconcile reconstruct recover recruit rectify recur reduce refer refine
reflect reformulate refresh refuse regard regularize regulate reinforce reject relate relax relearn release relieve
rely remain remedy remember remind remove render reorder reorganize repair repeat replace replicate represent
reproduce require reread resample rescale resemble reserve reset reside resist resolve respect respond rest restore
restrict result resume retain retrieve retrain return reuse reveal reverse revise revisit reweight reward rewrite rise
rotate round run sacrifice sample satisfy saturate save scale scan schedule search secure see seek seem segment select
sell send separate serve settle shape share shift show shrink simplify simulate skip slide slow smooth solve sort span
specialize specify speed spend split spread stabilize stack stand stay stem stimulate stipulate stop store strengthen
strip strive structure struggle study subsume subtract succeed suffer suffice suggest suit sum summarize supervise
supplement supply support suppose suppress surpass surround survive suspend sustain switch symbolize synchronize
synthesize tag tailor take tell tend terminate test tokenize tolerate track train transcribe transfer transform
translate transmit transport traverse treat trigger truncate tune turn uncover undergo underestimate underfit underlie
undermine understand undertake undo unify unlock unroll update upweight utilize validate vanish vary verify view
violate visit visualize wait walk want warn waste watch weaken weigh weight win withhold witness work worry write
yield zip summarise organise optimise normalise generalise minimise maximise utilise regularise specialise stabilise
characterise emphasise visualise memorise initialise realise categorise analyse penalise quantise factorise
parameterise tokenise summarise synthesise rely sparsify downweight precompute recompute reshape preprocess attain
memorize retell revert bypass concentrate outweigh offset grant leak overload interrupt relocate stress calm cram warm
cool dry melt boil evaporate erode repel burn breathe pump circulate float orbit refract vibrate oxidize ionize
ferment germinate pollinate hatch breed hunt graze mate infect vaccinate immunize cure heal bleed clot secrete excrete
borrow subsidize deflate sue prosecute convict legislate elect conquer invade colonize debug dispatch spawn encrypt
decrypt bake roast fry simmer knead live bend blow carve dig dive fly lock swim swing melt rust ripen rot sail sow
spin spit sting stir thaw thicken toughen trickle tumble twist unfold wander wear weave wither descend ascend accrue
amortize depreciate audit insure mortgage nationalize privatize tax outlaw ratify veto secede abdicate depose nourish
overheat overflow pollute purify quench radiate recede recycle replenish sediment soak solidify sour sprout squeeze
starve sterilize submerge swell trap vaporize ventilate voice whisper murmur recite rehearse rhyme
"""
# As often nouns: a verb only where the words around leave no doubt.
_ALSO_NOUNS = frozenset(
    """
act aim abstract account advance aggregate alternative approach attempt attribute award balance back bear benefit bias
bind block boost bound bracket branch break build burst cache call campaign capture care carry cast cause challenge
change charge check chunk claim clip cluster code collapse combat comment compact compound compromise concern
condition conduct conflict contact content contract contrast control convert copy correct cost count couple cover
crash cut cycle date deal decay decline decrease default delay delete demand design desire detail direct discount
display document double doubt draft drain draw drift drive drop echo edit effect embrace end equal error escape
estimate exchange exercise exhibit experience exploit export express extract face factor fail fall favor favour
feature feed feel field figure file fill filter find finish fit fix flag flood flow fly focus fold force forecast form
frame freeze function fuel gain gap gate gauge graph grasp group grow guarantee guess guide halt hand handle harm head
help hide highlight hint hit hold host house hurt impact import impulse increase index influence input insert interest
interface issue join judge jump keep key kick kill label lack land last laugh launch layer lead leak learn level
license lift light like limit line link list listen load lock log look loop loss love lower mail make manifest map
mark market mask master match matter mean measure merge milestone mind minute mirror mistake mix model monitor move
multiple name narrow need network nest note notice number object occasion offer open operate opposite order output
override overlap own pace pack package pad page paint pair panel parallel parse part partition pass patch pattern
pause pay peak penalty people permit phase phrase pick picture pin pipe place plan plant play plot plug point poll
pool port position post pound power practice practise praise predicate present press pressure price prime print
privilege prize probe process produce profile profit program progress project promise prompt proof prospect protest
prune pull pulse pump purchase push query quest question queue quit quiz quote race raise range rank rate ratio reach
read reason rebel recall receipt recess record recruit reference reflex reform refuse regard register reject relapse
release remain remark remedy repair repeat reply report represent request rescue research reserve reset resort
resource respect response rest result return reveal reverse review reward rise risk rival rock role roll root rotate
round route row rule run rush sample save saw scale scan scatter schedule scheme scope score screen script search seat
secure seed segment sense sentence separate sequence series serve service set shape share shift ship shock shop short
shot show sign signal sink size skip slice slide slope slot smell smile smoke sort sound source space span speech
speed spell spend spin split spot spray spread spring square stack staff stage stake stamp stand standard star start
state stay stem step stick stock stop store strain stream strength stress stretch strike string strip structure
struggle study style subject substitute sum summary supply support surge surprise surround survey suspect swap switch
symbol tag tail talk tape target task taste tax teach team tear term test text theme thread threat throw tie time
title token tone tool top total touch trace track trade train transfer transform transition transport trap travel
treat treatment tree trend trial trick trigger trip trust try tune turn twist type update upgrade use value vector
verb version view visit voice volume vote wait walk wall want wash waste watch wave way weight welcome will wind wish
witness wonder word work worry worth wrap zero answer age attack average chain chart claim craft cue cram debate
encounter dispute embed exploit export favour fade flash fork grade grant ground guard heat hook mix motion nudge
offset parameter pass plan plateau queue range rebound reread score separate sequence shape sketch spike stall stress
stretch subset surface sweep swing tilt toggle total trim vary warp yield cool mate cure heal hunt breed float swell
blow dive spit stir wear whisper murmur rhyme rust rot sail squeeze audit veto roast fry trickle tumble
""".split()
)
_COMMON_ALSO_NOUNS_AS_VERBS = """
act aim advance answer approach attempt attack balance bear benefit block boost bound bracket branch break burst cache
call care carry cast cause change charge check chunk clip code combat comment compact contact contrast control copy
cost count cover cut cycle date decay design desire detail discount display document doubt drop echo end error face
feature feed fix flag fold form frame fuel gate graph group halt hand hint hit host hurt impact import index input
interest issue jump kill lack launch layer level lift link list load lock log look loop love mark mask mind mirror
model move name nest note number object order output pair pause pay place plan plant play plot point pool position
post power practice predicate price prime print probe program progress pull query question queue quote race rate read
record reference register remark reply report request rescue research review risk role roll root route rule score
screen seed sense sentence sequence set shock sign signal sink size slice sound source space spell spin spot square
stage start state step stick stock strain stream stretch strike string style subject substitute survey swap talk
target tax teach tear term text thread throw tie time touch trace trade trap travel trend try twist type use value
voice vote wrap fade cue cram grade ground guard spike surface sketch
"""
_DOUBLING = frozenset(
    """
admit begin bet clip commit compel control cram cut defer drop embed emit equip excel fit flag forget get hit incur
infer input log map mar model occur omit outfit overfit overlap pad pin plan plot plug prefer program put quit quiz
recur refer remit reset run scan set shed ship shop skip slip snap span spin split step stem stop strip sum swap tag
tap transfer transmit transfer trap trim trip unwrap win wrap zip regret rebut propel label travel channel signal
cancel distil fulfil underfit
""".split()
)
_BRITISH_DOUBLES = frozenset("model label travel channel signal cancel".split())
_MORE = (
    "go say speak think outgrow excel rebut regret try occur differ refer recommend attend entail opt strive "
    "thrive cause start spoil"
).split()


class Form(NamedTuple):
    """One reading of a verb form: its lemma and its tag (VB, VBZ, VBD, VBN, VBG; VB stands for VBP too)."""

    lemma: str
    tag: str


def _third(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def _stems(lemma: str) -> tuple[str, ...]:
    """What -ing and -ed are put on."""
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return (lemma[:-1],)
    if lemma in _DOUBLING:
        doubled = lemma + lemma[-1]
        return (lemma, doubled) if lemma in _BRITISH_DOUBLES else (doubled,)
    return (lemma,)


def _past(lemma: str, stem: str) -> str:
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return stem + "ed"


@cache
def _table() -> dict[str, tuple[Form, ...]]:
    lemmas = {*_PLAIN.split(), *_COMMON_ALSO_NOUNS_AS_VERBS.split(), *_MORE} - {"be", "have", "do"}
    table: dict[str, dict[Form, None]] = {}

    def enter(word: str, lemma: str, tag: str) -> None:
        table.setdefault(word, {})[Form(lemma, tag)] = None

    for lemma in sorted(lemmas):
        enter(lemma, lemma, "VB")
        enter(_third(lemma), lemma, "VBZ")
        ing = lemma[:-2] + "y" if lemma.endswith("ie") else ""
        for stem in _stems(lemma):
            enter((ing or stem) + "ing", lemma, "VBG")
            if lemma not in IRREGULAR_VERBS:
                enter(_past(lemma, stem), lemma, "VBD")
                enter(_past(lemma, stem), lemma, "VBN")
        if lemma in IRREGULAR_VERBS:
            past, participle = IRREGULAR_VERBS[lemma]
            enter(past, lemma, "VBD")
            enter(participle, lemma, "VBN")
    return {word: tuple(forms) for word, forms in table.items()}


def forms(word: str) -> tuple[Form, ...]:
    """Every reading of a lower-case word as a form of a known verb; () if it is none."""
    return _table().get(word, ())


def lemma(word: str, tag: str) -> str:
    """The base form of a lower-case verb form read as `tag`; "" if it can't be read so."""
    return next((f.lemma for f in forms(word) if f.tag == tag), "")


def may_be_noun(base: str) -> bool:
    """Whether the lemma is as common as a noun, so that its -s and base forms need proof."""
    return base in _ALSO_NOUNS
