"""Words that name streets, buildings and parts of them."""

from __future__ import annotations

from chalicelib.engines.ocr.kinds.word_set import word_set

STREET_WORDS = word_set(
    """
    alley aly annex anx arcade arc avenue ave av avn bayou beach bend bluff bluffs blf bottom
    boulevard blvd boul branch br bridge brg brook brooks burg bypass byp camp canyon cape
    causeway cswy center centre ctr circle cir circles cliff cliffs clb club common commons corner
    corners cor course court ct courts cts cove cv creek crk crescent cres crest crossing xing
    crossroad curve dale dam divide dr drive drv drives estate estates est ests expressway expy
    extension ext fall falls ferry fry field fields fld flds flat flats ford fords forest forge
    fork forks fort ft freeway fwy garden gardens gdn gdns gateway glen glens green greens grove
    grv groves harbor harbour harbors haven hvn heights hts highway hwy hill hills hl hls hollow
    holw inlet island islands isle junction jct junctions key keys knoll knolls lake lakes land
    landing lndg lane ln light lights loaf lock locks lodge loop mall manor mnr manors meadow
    meadows mdw mdws mews mill mills mission motorway mount mountain mtn mountains neck orchard
    oval overpass park parks parkway pkwy parkways pass passage path pike pine pines place pl
    plain plains plaza plz point pt points port ports prairie quay radial ramp ranch rapid rapids
    rest ridge rdg ridges river road rd roads route rte row rue run shoal shoals shore shores
    skyway spring springs spg spgs spur spurs square sq squares station sta stravenue stream
    street str st streets summit terrace ter tce throughway trace track trafficway trail trl
    trailer tunnel tnl turnpike tpke underpass union unions valley valleys vly viaduct via view
    views village vlg villages ville vista walk walks wall way ways well wells close gate parade
    pde rise circuit cct esplanade marg nagar salai chowk colony sector layout cross lorong jalan
    jln straße strasse platz allee gasse ring ufer damm weg chaussée allée impasse cours quai
    calle carrer avenida avda paseo plaza rua praça travessa viale piazza corso vicolo straat laan
    plein gracht kade gatan vägen vej gade veien gate katu tie ulica ul aleja estrada rodovia
    autopista carretera carrera cra diagonal
    """
)
"""Lower-case words that name a kind of street."""
STREET_ENDINGS = (
    "straße", "strasse", "str", "platz", "allee", "gasse", "damm", "weg", "ring", "ufer",
    "straat", "laan", "plein", "gracht", "kade", "gatan", "vägen", "gade", "vej", "veien", "gata",
    "katu",
)  # fmt: skip
"""Ends of street names that are written as one word."""
STREET_HEADS = word_set(
    """
    rue avenue av boulevard bd place allée impasse chemin quai cours calle c/ avenida avda paseo
    rua via viale piazza corso largo jalan jln lorong plaza plot sector highway hwy route rte ul
    rruga
    """
)
"""Words that stand in front of the name of a street."""
UNIT_WORDS = word_set(
    """
    suite ste apt apartment unit floor flr fl room rm bldg building tower level lvl office block
    blk wing hall penthouse dept lot space bay shop plot flat house dock warehouse hangar annexe
    stage postfach casilla bte bureau étage etage og stock piso planta scala phase complex campus
    plaza centre center chambers mansion house tower towers
    """
)
"""Words for a building or a part of one."""
STRONG_UNITS = word_set(
    "suite ste apt apartment unit floor flr room rm bldg building level lvl flat plot"
)
"""Those that with a number say that a line is part of an address."""
DIRECTIONS = word_set("n s e w ne nw se sw north south east west")
"""Directions in street names."""
