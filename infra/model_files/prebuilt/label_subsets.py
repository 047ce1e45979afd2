"""Labels of ImageNet that are food, and those that are places, by their place in the output.

The names stand beside the places so that a reader can judge the choice and the installation can
refuse another order of labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FOOD: Mapping[int, str] = MappingProxyType(
    {
        923: "plate of food",
        924: "guacamole",
        925: "consomme",
        926: "hot pot",
        927: "trifle",
        928: "ice cream",
        929: "popsicle",
        930: "baguette",
        931: "bagel",
        932: "pretzel",
        933: "cheeseburger",
        934: "hot dog",
        935: "mashed potatoes",
        936: "cabbage",
        937: "broccoli",
        938: "cauliflower",
        939: "zucchini",
        940: "spaghetti squash",
        941: "acorn squash",
        942: "butternut squash",
        943: "cucumber",
        944: "artichoke",
        945: "bell pepper",
        946: "cardoon",
        947: "mushroom",
        948: "Granny Smith apple",
        949: "strawberry",
        950: "orange",
        951: "lemon",
        952: "fig",
        953: "pineapple",
        954: "banana",
        955: "jackfruit",
        956: "cherimoya (custard apple)",
        957: "pomegranate",
        959: "carbonara",
        960: "chocolate syrup",
        961: "dough",
        962: "meatloaf",
        963: "pizza",
        964: "pot pie",
        965: "burrito",
        966: "red wine",
        967: "espresso",
        969: "eggnog",
        987: "corn",
    }
)
"""Dishes, drinks in a cup or glass, fruit, vegetables and what they are made with.

Chosen: what a person eats or drinks as the picture shows it. Left out: living animals that are
eaten (lobster, hen), plants and fungi that are mostly not eaten (acorn, agaric), and vessels,
whose pictures show the vessel (wine bottle, tea cup).
"""

SCENE: Mapping[int, str] = MappingProxyType(
    {
        410: "apiary",
        415: "bakery",
        424: "barbershop",
        425: "barn",
        437: "lighthouse",
        442: "bell tower",
        449: "boathouse",
        454: "bookstore",
        460: "breakwater",
        467: "butcher shop",
        483: "castle",
        497: "church",
        498: "movie theater",
        500: "cliff dwelling",
        509: "candy store",
        525: "dam",
        536: "dock",
        538: "dome",
        540: "drilling rig",
        562: "fountain",
        580: "greenhouse",
        582: "grocery store",
        598: "home theater",
        624: "library",
        634: "sawmill",
        646: "maze",
        649: "megalith",
        660: "mobile home",
        663: "monastery",
        668: "mosque",
        682: "obelisk",
        698: "palace",
        706: "patio",
        718: "pier",
        727: "planetarium",
        743: "prison",
        762: "restaurant",
        788: "shoe store",
        819: "stage",
        821: "through arch bridge",
        832: "stupa",
        839: "suspension bridge",
        853: "thatched roof",
        858: "tile roof",
        860: "tobacco shop",
        865: "toy store",
        873: "triumphal arch",
        884: "vaulted or arched ceiling",
        888: "viaduct",
        900: "water tower",
        915: "yurt",
        970: "mountain",
        972: "cliff",
        973: "coral reef",
        974: "geyser",
        975: "lakeshore",
        976: "promontory",
        977: "sandbar",
        978: "beach",
        979: "valley",
        980: "volcano",
    }
)
"""Landscapes, buildings, shops and rooms.

Chosen: what a picture is taken of when it is taken of a place, so that the label answers "where
is this?". Left out: things that stand in places (park bench, gas pump, tent), parts of walls
(sliding door, stone wall) and vehicles.
"""
