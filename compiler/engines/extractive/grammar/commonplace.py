"""Ordinary English words that may begin a sentence, so that their capital there says nothing."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar import verbs
from compiler.engines.extractive.grammar.tagger import CLOSED
from compiler.language import lexicon

_WORDS = frozenset(
    """
abbey acid acorn acre actor adult agent air aircraft album alcohol algae alloy altar amber ambush amino anchor angel
anger angle ankle ant antenna anti anvil ape apple apron aquifer arch area arena arm armor army arrow art artery ash
asset atlas atom attention aunt author autumn axis axle axon baby back bacon bacteria bag baker ball ballad bamboo
banana band bandit bank banner bar bark barley barn baron barrel basalt base basin basket batch bath battery battle
bay bazaar beach beak beam bean bear beard beast bed bee beer beetle bell bellows belt bench berry beta bi bias bigram
bile bill bird birth bishop blade blanket blast blocked blood blossom blubber board boat body boiler bolt bond bone
book boot border bottle bottom boulder bow bowl box brain brake branch brass bread breakfast breath breed brick bride
bridge bronze brood broth brother brush bubble bucket bud budget buffer bug bulb bull bullet burden bureau burst bus
bush butter butterfly button byte cabin cable cactus cage cake calcium calf camel camera camp canal cancer candle
cannon canoe canvas canyon cap cape car caravan carbon card cargo carpet carrot cart cartel cash castle cat cattle
cave cedar ceiling cell cello cement censor census cereal chain chair chalk chamber chapel charcoal chart charter
cheese chess chest chicken chief child chimney chin chip chloride choir chorus chunk church cider circle circuit
citizen city civil clan clarinet clause clay clerk cliff climate clinic clock cloth cloud clover clue co coach coal
coast coat cobalt cocoa code coffee coil coin collar colony color colour column comb comet comic compass concrete
context convex copper coral core cork corn corner corona corpus cortex cost cotton couch council county couple court
cousin cow crab cradle craft crater cream creek crew cricket crime crop cross crow crowd crown crust crystal cue cued
cup curb current curtain curve customer cycle cyclone daisy dam dance data dawn day debt deck declarative decoder deep
deer delta demand democracy desert desirable desired desk dew diamond diet dinner disc disease dish divorce doctor dog
dollar dolphin dome donkey door dose dough dove draft dragon drama dream drill dropout drought drum dual duck duke
dune dust duty eager eagle ear earth earthquake east echo eclipse edge eel effect egg elbow elder electron elephant
elite elk elm empire enamel encoder enemy engine enzyme episodic equator error estuary ether ewe expert expertise
explicit export eye fabric face fact factor factory fair fairy faith falcon family famine fan far farm farmer fat
father feather feature feed feedback feedforward felt fence fern fertilizer fever fiber fibre fiction field fig fin
finger finite fir fire firm fish fist fjord flame flashcard flask flax flea flesh flint flood floor flour flower flu
flute fly foam focus fog foil folk food fool foot forest forge fork form fort forward fossil fountain fowl fox frame
free frog front frost fruit fuel fungus fur furnace fuse galaxy gale gallery gamma garden garlic gas gate gear gem
gender gene general genome genus germ germane ghost giant gill ginger giraffe girl glacier gland glass glaze globe
glove glucose glue goal goat god gold golf goose gorge gospel gradient grain grammar granite grape graph grass grave
gravel gravity greedy grid grip groove ground guild guilt guitar gulf gull gum gun gut gymnast habit hail hair hall
halo hammer hammock hand handle harbor hare harp harvest hat hawk hay hazard head heart heat heath hedge heel heir
helium helmet helper hemp hen herb herd hero heron herring hidden hill hip history hive hockey hoe hole holiday home
honey hood hoof hook horizon hormone horn horse hospital host hour house hull human hunger hunter hurricane husband
hut hydrogen hyena hymn ice iceberg idol igneous image implicit inch income index indigo industry infant inflation
influenza ink inn insect insulin inter interest interval invoice ion iris iron island isotope ivory ivy jacket jaguar
jail jam jar jaw jazz jet jewel joint joke journal judge jug juice jungle jury kelp kernel kettle key kidney kiln king
kingdom kite knee knife knight knot labor lace ladder lagoon lake lamb lamp land lane language lantern lapse larva
laser latch latex lathe latitude launch laundry lava law lawn lawyer layer lazy lead leaf learner leather ledger leech
leek leg legend legume lemma lemon lens leopard letter lever lexicon library lice lid light lightning lily limb lime
limestone limit line linear linen lion lip liquid liquor liver lizard llama loan lobby lobster lock locust loft long
loom lord loss lottery lotus lung lute lynx lyric machine magma magnet maid mail maize malaria malt mammal mango
mantle map maple marble margin market marsh mask mass massed mast mathematics matrix maze meadow meal meat melody
melon member membrane memory mental merchant mercury mermaid mesh meta metal meteor meter metre midwife mile milk mill
millet mind mineral mink mint miracle mirror missile mist mite mitten moat mob model moisture molar mold mole molecule
mollusk moment monarch monastery money monk monkey monsoon moon moose moraine morphology mortar mosque mosquito moss
moth mother motor mould mountain mouse mouth mud mule multi mummy muscle museum mushroom music mussel mustard myth
nail nation navy near neck nectar needle neighbor nerve nest net network neural neuron neutron newspaper newt niche
nickel night nitrate nitrogen noble noise nomad non noodle north nose noun novel novice nucleus number nun nurse nut
nylon oak oar oasis oat oath ocean octave octopus offer officer oil olive onion opera orbit orchard orchestra orchid
order ore organ orphan ostrich otter oven over owl owner ox oxygen oyster ozone paint pair palace palm pancreas panda
panel panic paper parade paradise parent parish park parrot parser parsley pasta pastry patent path patient peace
peach peacock peak pear pearl peas peasant peat pebble pedal pelican pelvis pen pencil penguin penicillin pension
pepper peptide percent perfume peril petal petrol pharaoh phase pheasant phosphate phosphorus photo photon phrase
piano pig pigeon pigment pike pilgrim pill pillar pilot pine pipe pirate pistol pit plague plain plaster plastic plate
plateau platform platinum plot plow plum plumage plywood poem poet poison polar pole police polio pollen polymer pond
pony pool pope poppy porcelain pork port porter portrait post potassium potato potter poultry powder prawn prayer pre
prey price priest prime prince princess principle print prism prison prize procedural proof prophet protein proton
province prune psalm pulley pulp pulse pump pumpkin pupa pupil puppet pyramid python quail quarry quartz queen quilt
quinoa quiz quota rabbit raccoon radar radio radius radon raft rail rain rainbow rainforest ram ranch random ransom
raven ray rayon recall recipe reed reef refuge regiment region reindeer religion rent replay reptile reservoir resin
retrieval review revolver rhino rhythm rib rice rider ridge rifle ring riot risk river road robin robot rock rocket
rod rodent roof rook room rooster root rope rose rote rubber ruby rudder rug rule ruler rum runway rye sabre saddle
safety saffron sail saint salad salary salmon salt sand sandal sandstone sap satellite satin sauce sausage savanna
scale scallop scarf schema scissors scorpion scout scribe script sculptor scurvy sea seal seaweed sect seed seismic
self semantic semi senate senator sentence sepal serf sergeant sermon serpent servant sewage sewer shadow shaft shale
shark sheep shell shelter sheriff shield ship shirt shoe shore short shoulder shovel shrew shrimp shrine shrub sibling
sickle siege silica silicon silk silo silver sinew singer sister skeleton skill skin skull sky slate slave sleep sleet
slime slope sloth slug sluice smallpox smog smoke smoothing snail snake snow soap soccer soda sodium softmax soil
solar soldier sonar song sonnet soot soul soup south soy space spacing spade sparrow spear species sperm sphere spice
spider spinach spine spiral spirit sponge spore spring spruce squid squirrel stable stadium staff stag stamen star
starch starfish state statue steam steel steeple stem steppe stew stimulus stoat stomach stone stork storm story stove
straw strawberry stream street student sturgeon sub submarine sugar sulfur sultan summer sun sunflower sunlight supply
surgeon surgery swallow swamp swan swarm sweat sword symbol symphony synapse syndrome syntax syrup table tadpole
tailor talon tank tannin tapestry tar tariff tax tea teacher team tear teeth telegraph telephone telescope temple
tenant tendon tennis tent termite terrace text theater theatre theory thermometer thigh thorax thorn throat throne
thrush thumb thunder thymus tick tide tiger tile timber tin tissue titanium tithe toad tobacco toe tofu token toll
tomato tomb tongue tool tooth top topaz torch tornado tortoise totem toucan tower town toy trachea tractor trade train
tram transformer trap treaty tree trench tri trial triangle tribe tribune trigram trilobite troll trombone troop trout
truck trumpet trunk tsunami tube tuber tulip tumor tuna tundra tungsten tunnel turbine turkey turnip turtle tusk tutor
twig twin typhoon typhus tyrant ulcer umbrella uncle under union universe uranium urban urchin urea urine uterus
vaccine vacuum valley valve vampire vase vault vector vegetable vehicle vein velvet venom verb vessel veteran vicar
villa village vine vinegar viola violet violin viper virgin virus viscount vitamin vodka volcano volt vowel vulture
wage wagon waiter wall walnut walrus war wardrobe warehouse warrior wasp water waterfall watt wax weapon weasel
weather weaver web wedding weed west whale wharf wheat wheel whiskey widow wife wig willow wind windmill window wine
wing winter wire witch wolf woman womb wood wool word worked worker working workshop worm wound wren wrist xylem yacht
yak yarn yeast yogurt yolk youth zebra zero zinc zodiac zone zoo zygote
""".split()
)
_COMMON_END = re.compile(
    r"(?:ing|[tsx]ion|ment|ity|al|ive|ic|ed|or|s|[ae]nce|ness|ism|y|ous|ful|ble|less|age|ure|ist|ent|ant)$"
)


def is_common(low: str) -> bool:
    """Whether a word in lower case is an ordinary word and no name, as far as lists and endings tell."""
    first = low.split("-")[0]
    listed = (_WORDS, CLOSED, lexicon.GENERIC, lexicon.TRANSPARENT)
    if any(first in known or lexicon.singular(first) in known for known in listed):
        return True
    return bool(verbs.forms(first) or _COMMON_END.search(first))
