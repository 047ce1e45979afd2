"""Names and abbreviations of the states of the United States, and of other countries' regions."""

from __future__ import annotations

from chalicelib.engines.ocr.kinds.word_set import word_set

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
"""Lower-case name to the abbreviation of the postal service."""
US_CODES = frozenset(US_STATES.values()) | {"AA", "AE", "AP", "MP"}
"""The abbreviations, those of the armed forces included."""
REGIONS = word_set("NSW VIC QLD TAS ACT ON QC BC AB MB SK NS NB NL PE YT NU")
"""Abbreviations of regions of Australia and Canada that are no English words."""
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
"""Lower-case names of countries as they stand below an address, without dot at the end."""


def state_code(text: str) -> str | None:
    """Return the abbreviation of a state by its name or abbreviation; None for anything else."""
    folded = " ".join(text.replace(".", " ").split())
    if folded.replace(" ", "").upper() in US_CODES:
        return folded.replace(" ", "").upper()
    return US_STATES.get(folded.lower())


def is_country(text: str) -> bool:
    """Return whether a text is the name of a country and nothing else."""
    return text.strip(" .,;-").lower() in COUNTRIES
