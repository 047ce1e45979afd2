"""Scores whether a line names a company or another organisation."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.span import folded_words, word_set

# Words for the legal form of a company, in lower case, without dots.
LEGAL_FORMS = word_set(
    """
    inc incorporated corp corporation llc llp lp ltd limited plc co company pllc pc pa gmbh ag kg
    ohg ug gbr mbh kgaa ev eg se sa sas sarl sasu eurl snc sci srl spa sapa snc sl slu sau sc sca
    bv nv vof cv oy oyj ab as asa aps is i/s hf ehf kft zrt nyrt doo dd sro ooo oao zao jsc pjsc
    pty pte pvt private sdn bhd kk gk yk ltda eireli sab saic lda unipessoal dba psc & co. lllp
    pbc nonprofit
    """
) - {"&", "is", "as", "pa", "sc", "co."}
_WEAK_FORMS = word_set("se sa ag co sas kg as ab ev eg pc lp dd cv private company limited is sl")
# Words that organisations have in their names.
INDUSTRY = word_set(
    """
    group holdings holding partners associates consulting consultants solutions systems services
    technologies technology tech software labs laboratories laboratory industries industrial
    international global enterprises enterprise ventures capital bank banking insurance financial
    finance investments realty realtors properties estates estate construction contractors
    engineering manufacturing logistics transport transportation shipping freight trading traders
    imports exports supply supplies equipment machinery motors automotive auto energy power
    electric electrical electronics plumbing heating roofing landscaping cleaning security media
    marketing advertising communications communication productions pictures studio studios design
    designs architects architecture interiors graphics printing press publishing publishers books
    bookstore gallery museum theatre theater university college school academy institute
    institution foundation association society council federation union club church ministry
    ministries agency bureau authority commission department hospital clinic medical dental health
    healthcare care pharmacy pharmaceuticals pharma biotech wellness therapy fitness gym yoga spa
    salon beauty hotel hotels resort inn restaurant cafe café coffee bakery catering kitchen grill
    bistro bar brewery winery vineyards farms farm foods food dairy market markets store stores
    shop boutique fashion apparel jewelry jewelers furniture hardware lumber flooring windows tile
    travel tours airlines airways aviation marine telecom wireless networks network digital
    interactive web cloud data analytics research robotics ai dynamics innovations works workshop
    craft creations events entertainment records music photography films law legal attorneys
    accounting bookkeeping tax staffing recruiting recruitment trust fund team company corporation
    bros brothers sons & alliance collective cooperative cooperativa kanzlei praxis apotheke werke
    werk bau versicherung sparkasse hochschule universität klinikum stiftung verein verlag
    druckerei société cabinet groupe banque université laboratoire maison atelier boulangerie
    hôtel compagnia banca università officina ristorante empresa grupo banco universidad
    consultoria engenharia construtora editora infosys infotech softech exports impex textiles
    chemicals plastics steel metals mining petroleum oil gas solar water environmental recycling
    waste wash rental rentals repair repairs garage dealers dealership express depot warehouse
    brands cars packaging nursery gardens pets veterinary kennels childcare daycare preschool
    montessori
    """
) - {"&"}
_LONGEST_WORDS = 10
_LIST_MARK = re.compile(r"[•|·*]|, |\. |! ")
_BODIES = word_set(
    """
    city town county state village township borough university college bank church ministry
    institute museum council embassy consulate society association friends house school
    ministère ministerio ministerium ministero université universidad università universität
    institut instituto istituto musée museo
    """
)
_BODY_LINKS = word_set("of for de des du del di da der für")
_JOINERS = word_set("and & of the for und et y e +")
_AMPERSAND = re.compile(r"\w ?[&+] ?[A-Z]")
# Words of lines that describe a service or a place: `Attorneys at Law`, `Rentals by the lake`.
_DESCRIBING = word_set("at by in with from our")
# Confidence that such a line is nevertheless a name: `Inn at the Lake`.
_DESCRIPTION = 0.4


def organisation_confidence(text: str) -> float:
    """Return the confidence, 0 to 1, that a line names an organisation.

    The confidence is low for a name with neither a legal form nor a word for a trade. The caller
    then compares the name with mail and web addresses.
    """
    words = folded_words(text)
    if not words or len(words) > _LONGEST_WORDS:
        return 0.0
    legal = has_legal_form(text)
    if legal:
        return 0.95 if len(words) > 1 else 0.6
    listed = len(_LIST_MARK.findall(text)) > 1 and not _joins_names(words)
    if listed or _is_sentence(text, words):
        return 0.1
    if len(words) > _SPELT and words[0] in _BODIES and words[1] in _BODY_LINKS:
        return 0.8
    if not _DESCRIBING.isdisjoint(words):
        return _DESCRIPTION
    industry = sum(word in INDUSTRY for word in words)
    capitals = sum(word[:1].isupper() for word in text.split())
    names = sum(word not in _JOINERS for word in words)
    shaped = 2 * capitals >= names
    if industry and shaped:
        return min(0.85, 0.55 + 0.15 * industry) if len(words) > 1 else 0.4
    if shaped and names > 1 and (_joins_names(words) or _AMPERSAND.search(text)):
        return 0.6
    return 0.15 if shaped else 0.05


def _is_sentence(text: str, words: list[str]) -> bool:
    begins_small = len(words) > _SPELT and text.split()[0].islower() and words[0].isalpha()
    return begins_small or not _PROSE.isdisjoint(words)


_PROSE = word_set(
    "will be is are was were has have must you your please thank thanks this that not"
)


def has_legal_form(text: str) -> bool:
    """Return whether a name ends with a legal form, or has an unambiguous legal form inside."""
    words = folded_words(text)
    if len(words) > 1 and words[-1] in LEGAL_FORMS:
        return True
    ends = {"".join(words[-2:]), "".join(words[-3:])} if len(words) > 1 else set()
    if len(words) > _SPELT and ends & (LEGAL_FORMS - _WEAK_FORMS):
        return True
    return any(word in LEGAL_FORMS and word not in _WEAK_FORMS for word in words[:-1])


_SPELT = 2


def _joins_names(words: list[str]) -> bool:
    """Return whether a word for `and` joins names, as in `Moore, Finley and Tucker`."""
    inner = words[1:-1]
    return "and" in inner or "&" in inner or "und" in inner
