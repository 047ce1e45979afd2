"""Finds U.S. states and ZIP codes, countries, and postcodes of other countries."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.span import Span, word_set

# Lower-case name to the abbreviation of the postal service.
US_STATES = {
    "alabama": "AL", "alaska": "AK", "arizona": "AZ", "arkansas": "AR", "california": "CA",
    "colorado": "CO", "connecticut": "CT", "delaware": "DE", "florida": "FL", "georgia": "GA",
    "hawaii": "HI", "idaho": "ID", "illinois": "IL", "indiana": "IN", "iowa": "IA",
    "kansas": "KS", "kentucky": "KY", "louisiana": "LA", "maine": "ME", "maryland": "MD",
    "massachusetts": "MA", "michigan": "MI", "minnesota": "MN", "mississippi": "MS",
    "missouri": "MO", "montana": "MT", "nebraska": "NE", "nevada": "NV", "new hampshire": "NH",
    "new jersey": "NJ", "new mexico": "NM", "new york": "NY", "north carolina": "NC",
    "north dakota": "ND", "ohio": "OH", "oklahoma": "OK", "oregon": "OR", "pennsylvania": "PA",
    "rhode island": "RI", "south carolina": "SC", "south dakota": "SD", "tennessee": "TN",
    "texas": "TX", "utah": "UT", "vermont": "VT", "virginia": "VA", "washington": "WA",
    "west virginia": "WV", "wisconsin": "WI", "wyoming": "WY", "district of columbia": "DC",
    "puerto rico": "PR", "guam": "GU", "virgin islands": "VI", "american samoa": "AS",
    "ariz": "AZ", "calif": "CA", "colo": "CO", "conn": "CT", "fla": "FL", "ill": "IL",
    "kans": "KS", "mass": "MA", "mich": "MI", "minn": "MN", "miss": "MS", "mont": "MT",
    "nebr": "NE", "okla": "OK", "ore": "OR", "penn": "PA", "tenn": "TN", "tex": "TX",
    "wash": "WA", "wis": "WI", "wyo": "WY",
}  # fmt: skip
# All abbreviations, including those of the armed forces.
US_CODES = frozenset(US_STATES.values()) | {"AA", "AE", "AP", "MP"}
# Abbreviations of regions of Australia and Canada that are not English words.
REGIONS = word_set("NSW VIC QLD TAS ACT ON QC BC AB MB SK NS NB NL PE YT NU")
# Lower-case names of countries as printed below an address, without a final dot.
COUNTRIES = frozenset(
    name.replace("_", " ")
    for name in word_set(
        """
        usa u.s.a us u.s united_states united_states_of_america uk u.k united_kingdom england
        scotland wales northern_ireland ireland germany deutschland france spain españa italy italia
        portugal netherlands the_netherlands nederland belgium belgique luxembourg switzerland
        schweiz suisse austria österreich denmark danmark sweden sverige norway norge finland suomi
        iceland poland polska czech_republic czechia slovakia hungary romania bulgaria greece turkey
        türkiye croatia slovenia serbia ukraine russia estonia latvia lithuania canada mexico méxico
        brazil brasil argentina chile colombia peru ecuador uruguay costa_rica panama australia
        new_zealand india pakistan bangladesh sri_lanka nepal china p.r._china pr_china hong_kong
        taiwan japan korea south_korea republic_of_korea singapore malaysia thailand vietnam
        indonesia philippines israel united_arab_emirates uae u.a.e saudi_arabia qatar kuwait
        bahrain oman jordan lebanon egypt morocco tunisia nigeria ghana kenya tanzania uganda
        south_africa ethiopia rwanda mauritius malta cyprus kazakhstan
        """
    )
)


def state_code(text: str) -> str | None:
    """Return the abbreviation of a U.S. state by its name or abbreviation; None if unknown."""
    folded = " ".join(text.replace(".", " ").split())
    if folded.replace(" ", "").upper() in US_CODES:
        return folded.replace(" ", "").upper()
    return US_STATES.get(folded.lower())


def is_country(text: str) -> bool:
    """Return whether a text is exactly the name of a country."""
    return text.strip(" .,;-").lower() in COUNTRIES


# ZIP codes with their state, and postcodes of other countries.

_STATE_NAMES = "|".join(sorted((name.title() for name in US_STATES), key=len, reverse=True))
_DOTTED = "|".join(f"{code[0]}\\.? ?{code[1]}\\.?" for code in sorted(US_CODES))
_STATE = rf"(?:{_STATE_NAMES}|{_STATE_NAMES.upper()}|{_DOTTED})"
_STATE_ZIP = re.compile(
    rf"(?<![A-Za-z])(?P<state>{_STATE})\.?[ ,.\-]{{0,3}}"
    r"(?P<zip>[\dOlI](?: ?[\dOlI]){3} ?[\dOlI])(?P<plus> ?- ?\d{4})?(?![\d\w])"
)
_LOWER_STATE_ZIP = re.compile(
    rf"(?<=,) {{0,2}}(?P<state>{_STATE})[ ,.]{{1,3}}(?P<zip>\d{{5}})"
    r"(?P<plus> ?- ?\d{4})?(?![\d\w])",
    re.IGNORECASE,
)
_LETTERS = "D|DE|CH|F|FR|A|AT|B|BE|L|LU|I|IT|E|ES|DK|S|SE|N|NO|FI|FIN"
_BRAZIL = r"(?:\d{5}-\d{3}|\d{4}-\d{3}|\d{2}-\d{3})"
_FIVE = r"(?:\d{5}|\d{3} \d{2}|[1-9]\d{3})"
_TOWN = r"[A-ZÀ-Þ][A-Za-zà-ÿ]{2}"
_LOOSE: tuple[tuple[re.Pattern[str], float], ...] = (
    # United Kingdom
    (re.compile(r"\b(?:GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? {0,2}\d[A-Z]{2})\b"), 0.95),
    # Canada
    (re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[A-Z][ \-]?\d[A-Z]\d\b"), 0.95),
    # Australia
    (re.compile(r"\b(?:NSW|VIC|QLD|TAS|ACT|SA|WA|NT),? {0,2}\d{4}\b"), 0.95),
    # With the country's letter in front: D-10115, CH-8001, F-75002, A-1010, L-1234, S-111 22
    (re.compile(rf"\b(?:{_LETTERS})-\d{{3}} ?\d{{1,2}}\b"), 0.9),
    # Netherlands
    (re.compile(r"\b[1-9]\d{3} ?[A-Z]{2}(?= {1,2}[A-Z][A-Za-z])"), 0.85),
    # Japan, Brazil, Portugal, Poland
    (re.compile(r"〒 ?\d{3}-?\d{4}"), 0.95),
    (re.compile(r"(?<![\d\-+.])\d{3}-\d{4}(?= {0,2},? {0,2}(?:Japan|JAPAN)\b)"), 0.9),
    (re.compile(rf"(?<![\d\-+.]){_BRAZIL}(?![\d\-])(?= {{1,2}}[A-Z]|,|$)"), 0.6),
    # India, Singapore, China, Romania: six digits behind a place
    (re.compile(r"(?<=[A-Za-z.)\]]) {0,2}[\-–,:]? {0,2}\d{3} ?\d{3}(?![\d\-])(?=[,. ]|$)"), 0.6),
    # Five or four digits before a place: 75002 Paris, 1010 Wien. Numbers that may be years, such as
    # 1990, count only at the beginning of the line.
    (re.compile(rf"(?:(?<![\d\-+./])(?!19\d\d |20\d\d )|^){_FIVE} {{1,2}}(?={_TOWN})"), 0.5),
    # Four digits behind a place: Auckland 1010, Sydney 2000
    (re.compile(r"(?<=[a-zà-ÿ]),? {1,2}(?!1[89]\d\d\b|20[0-3]\d\b)\d{4,5}(?=$|, ?[A-Z])"), 0.5),
)  # fmt: skip


def find_state_zips(text: str) -> tuple[Span, ...]:
    """Return each U.S. state with its ZIP code in a line; spaces inside the code are removed."""
    return tuple(
        Span(match.start("state"), match.end(), _corrected(match), 0.99)
        for match in (*_STATE_ZIP.finditer(text), *_in_any_case(text))
        if sum(char.isdecimal() for char in match.group("zip")) >= _DIGITS_AT_LEAST
    )


def _in_any_case(text: str) -> list[re.Match[str]]:
    """Return states with ZIP codes that `_STATE_ZIP` misses because of their case.

    A comma must be before the state: `, az 85001` or `, Az 85001`.
    """
    found = _LOWER_STATE_ZIP.finditer(text)
    return [match for match in found if not _STATE_ZIP.match(text, match.start("state"))]


_DIGITS_AT_LEAST = 4


def find_postcodes(text: str) -> tuple[Span, ...]:
    """Return the postcodes in a line; U.S. ZIP codes only together with their state."""
    spans = list(find_state_zips(text))
    for pattern, confidence in _LOOSE:
        for match in pattern.finditer(text):
            span = Span(match.start(), match.end(), match.group().strip(" ,-–:"), confidence)
            if not any(span.overlaps(other) for other in spans):
                spans.append(span)
    return tuple(sorted(spans, key=lambda span: span.start))


def _corrected(match: re.Match[str]) -> str:
    code = match.group("zip").replace(" ", "").translate(_AS_DIGITS)
    plus = (match.group("plus") or "").replace(" ", "")
    between = match.string[match.end("state") : match.start("zip")]
    return match.group("state") + between + code + plus


_AS_DIGITS = str.maketrans("OlI", "011")
