"""Estimates whether a line is part of a postal address."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.postcode import (
    REGIONS,
    find_postcodes,
    find_state_zips,
    is_country,
    state_code,
)
from chalicelib.engines.ocr.kinds.span import folded_words, insert_spaces, word_set

# Lower-case words that name a kind of street.
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
# Ends of street names that are written as one word.
STREET_ENDINGS = (
    "straße", "strasse", "str", "platz", "allee", "gasse", "damm", "weg", "ring", "ufer",
    "straat", "laan", "plein", "gracht", "kade", "gatan", "vägen", "gade", "vej", "veien", "gata",
    "katu",
)  # fmt: skip
# Words before the name of a street.
STREET_HEADS = word_set(
    """
    rue avenue av boulevard bd place allée impasse chemin quai cours calle c/ avenida avda paseo
    rua via viale piazza corso largo jalan jln lorong plaza plot sector highway hwy route rte ul
    rruga
    """
)
# Words for a building or a part of one.
UNIT_WORDS = word_set(
    """
    suite ste apt apartment unit floor flr fl room rm bldg building tower level lvl office block
    blk wing hall penthouse dept lot space bay shop plot flat house dock warehouse hangar annexe
    stage postfach casilla bte bureau étage etage og stock piso planta scala phase complex campus
    plaza centre center chambers mansion house tower towers
    """
)
# Words that, together with a number, show that a line is part of an address.
STRONG_UNITS = word_set(
    "suite ste apt apartment unit floor flr room rm bldg building level lvl flat plot"
)
# Directions in street names.
DIRECTIONS = word_set("n s e w ne nw se sw north south east west")

_BOX = re.compile(
    r"\b(?:P\.? ?O\.? ?(?:Box|Drawer)|Post(?:al)? (?:Office )?Box|GPO Box|Locked Bag|"
    r"Private Bag|PMB|Postfach|Apartado|Casilla|Boîte postale|B\.?P\.?) ?#?:? ?\d{1,7}",
    re.IGNORECASE,
)
_HOUSE = re.compile(
    r"(?:No\.? ?|# ?)?(?:\d{1,6}(?:[\-/–]\d{1,5})?[A-Za-z]?(?: ?1/2)?|One|Two|Three|Four|Five|Ten)"
    r"(?P<comma>,?) {1,2}(?P<name>[A-Za-zÀ-ÿ0-9][^,]{0,80})"
)
_NUMBER_LAST = re.compile(
    r"(?P<name>[^\d,]{3,60}?),? {1,2}(?:n[°º]\.? ?)?\d{1,5}(?:[ \-/–]?[A-Za-z0-9]{1,4})?\b"
)
_UNIT = re.compile(
    r"\b(?P<unit>[A-Za-z]{2,10})\.?,? {0,2}(?:#|No\.?)? ?(?:\d{1,5}[A-Za-z]?|(?<=[ #.])[A-Z])"
    r"\b(?!['’])(?![.,]\d)"
)
_ORDINAL_UNIT = re.compile(
    r"\b(?:\d{1,3}(?:st|nd|rd|th|er|e|ème)|ground|first|second|third|fourth|fifth|top) "
    r"(?:floor|flr|fl|étage|level|avenue|ave|street|st)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)", re.IGNORECASE)
_CITY_STATE = re.compile(r"[A-Z][A-Za-z.'\- ]{1,40}?, ?(?P<state>[A-Za-z][A-Za-z. ]{1,20})\.?")
_HASH_UNIT = re.compile(r"# ?\d{1,4}[A-Za-z]?(?:-\d{1,4})?\b")
_CARE_OF = re.compile(r"[ci] ?/ ?o\b.{2}|care of \w", re.IGNORECASE)
_PROSE_WORDS = 3
_PROSE = word_set("of the to and or is are was were by with for as per from")
_MAX_NAME_WORDS = 7


def address_confidence(text: str) -> float:
    """Return the confidence, 0 to 1, that a line is part of a postal address."""
    line = text.strip()
    confidence = _confidence(line)
    if confidence >= _FAIR or (loose := insert_spaces(line)) == line:
        return confidence
    return max(confidence, 0.95 * _confidence(loose))


def _confidence(line: str) -> float:
    """Return the confidence that a line with correct spaces is part of a postal address."""
    if find_state_zips(line):
        return 0.97
    if _BOX.search(line):
        return 0.95
    best = max(_street(line), _unit(line))
    codes = find_postcodes(line)
    if codes:
        code = max(one.confidence for one in codes)
        best = max(best, code) if best < _SOME else min(0.97, best + 0.1)
    return max(best, _place(line))


_SOME, _FAIR = 0.3, 0.5


def names_street(text: str) -> bool:
    """Return whether a line contains a street with a house number, or a post office box."""
    line = text.strip()
    return any(
        _BOX.search(one) is not None or _street(one) >= _SURE_STREET
        for one in dict.fromkeys((line, insert_spaces(line)))
    )


def is_unit(text: str) -> bool:
    """Return whether a line names a building, a part of a building, or a recipient of mail."""
    return _unit(text.strip()) > 0.0


_SURE_STREET = 0.85


def _street(line: str) -> float:
    """Return the confidence that a line names a street and a house."""
    house = _HOUSE.match(line)
    if house:
        return _named_street(house.group("name"), has_comma=bool(house.group("comma")))
    words = folded_words(line)
    last = _NUMBER_LAST.match(line)
    if last and _is_prose(line[last.end("name") :]):
        last = None
    if last and line[:1].isupper() and _is_street_name(folded_words(last.group("name"))):
        return 0.9
    if last and _is_short_name(last):
        return 0.3
    if any(char.isdecimal() for char in line):
        numbered = _has_street_word(words) and len(words) <= _MAX_WORDS
        return 0.6 if numbered and _house_inside(line) else 0.0
    ends = bool(words) and words[-1] in _PLAIN_ENDS and 1 < len(words) <= _MAX_PLAIN
    return 0.45 if ends and line[:1].isupper() else 0.0


_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_WORDS = 14
_MAX_PLAIN = 4
_PLAIN_ENDS = word_set(
    "street st road rd avenue ave boulevard blvd lane drive parkway highway terrace crescent"
)
_INSIDE = re.compile(r"(?:^|[ ,])(?:\d{1,6}[A-Za-z]?(?:[\-/]\d{1,5})?)(?:,| {1,2}[A-Z0-9])")


def _is_prose(text: str) -> bool:
    """Return whether `text`, which follows a number, is a sentence and not a street."""
    words = [word for word in text.split() if word.islower() and word.isalpha()]
    return len(words) >= _PROSE_WORDS or not _PROSE.isdisjoint(words)


def _is_short_name(last: re.Match[str]) -> bool:
    """Return whether a few capitalised words before a number are a street: `Am Gewerbepark 3a`."""
    words = last.group("name").split()
    whole = last.end() == len(last.string.rstrip())
    named = whole and len(words) <= _MAX_PLAIN and words[0][:1].isupper()
    return named and words[-1][:1].isupper() and not _YEAR.search(last.group())


def _house_inside(line: str) -> bool:
    """Return whether a house number is in the middle of the line: `Tower B, 12 Hill Road`."""
    return _INSIDE.search(line) is not None


def _named_street(name: str, *, has_comma: bool) -> float:
    """Return the confidence that words after a house number are the name of a street."""
    words = folded_words(name)
    if not words or (name[0].islower() and words[0] not in STREET_HEADS):
        return 0.0
    if _has_street_word(words) or _is_street_name(words):
        return 0.95
    capitals = sum(word[:1].isupper() or word[:1].isdecimal() for word in name.split())
    few = len(words) <= _MAX_NAME_WORDS and 2 * capitals > len(words)
    numbered = bool(_UNIT_BEHIND.search(name)) or words[0] in DIRECTIONS or _is_ordinal(words[0])
    if numbered:
        return 0.85
    return (0.35 if has_comma else 0.5) if few and _NO_STREET.isdisjoint(words) else 0.0


_UNIT_BEHIND = re.compile(
    r"\b(?:suite|ste|apt|unit|floor|room|building|bldg)\b|# ?\d", re.IGNORECASE
)
_NO_STREET = word_set(
    """
    years year hour hr hrs service plan days hours day ans jahre customers clients products
    percent countries people members stars awards group media capital partners studio studios labs
    brands degrees llc inc ltd gmbh
    """
)


def _is_ordinal(word: str) -> bool:
    return _ORDINAL.fullmatch(word) is not None


def _has_street_word(words: list[str]) -> bool:
    return any(word in STREET_WORDS or word in UNIT_WORDS for word in words)


def _is_street_name(words: list[str]) -> bool:
    """Return whether words are the name of a street, as written before a house number."""
    if not words or len(words) > _MAX_NAME_WORDS:
        return False
    # From the second letter on, because an ending alone is not a name.
    ends = any(word[1:].endswith(STREET_ENDINGS) for word in words)
    return ends or words[0] in STREET_HEADS or words[-1] in STREET_WORDS


def _unit(line: str) -> float:
    """Return the confidence that a line names a part of a building."""
    if _CARE_OF.match(line):
        return 0.45
    if _ORDINAL_UNIT.search(line):
        return 0.85
    named = [match.group("unit").lower() for match in _UNIT.finditer(line)]
    if any(name in STRONG_UNITS for name in named):
        return 0.88
    if _HASH_UNIT.match(line):
        return 0.7
    if any(name in UNIT_WORDS for name in named):
        return 0.6
    words = folded_words(line)
    return 0.35 if words and words[-1] in _BUILDINGS and len(words) <= _MAX_PLAIN else 0.0


_BUILDINGS = word_set(
    """
    building tower towers house plaza chambers mansion complex campus chapel barn cottage stables
    granary rectory court mews hall manor mill
    """
)
_JAPAN = re.compile(
    r"\b[A-Z][a-z]{1,20}-(?:ku|shi|cho|machi|ken|fu|gun|dori)\b|\b[Cc]home\b|"
    r"\b(?:Tokyo|Osaka|Kyoto|Yokohama|Nagoya|Kobe|Fukuoka|Sapporo)\b.{0,9}\b\d{3}-\d{4}\b"
)


def _place(line: str) -> float:
    """Return the confidence that a line is a country, or a town with its state or country."""
    if _JAPAN.search(line):
        return 0.85
    if is_country(line):
        return 0.9
    city = _CITY_STATE.fullmatch(line)
    if city:
        state = city.group("state").strip()
        if state_code(state) and (state.isupper() or len(state.replace(".", "")) > _CODE_LENGTH):
            return 0.85
        if is_country(state) or state.upper() in REGIONS:
            return 0.85
    last = line.rpartition(",")[2]
    return 0.75 if "," in line and is_country(last) else 0.0


_CODE_LENGTH = 2
