"""The probability that a line is an address, a person, a title or an organisation."""

import time

import pytest

from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.kinds.address import address_confidence
from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.internet import find_mails, find_websites, is_ending, main_label
from chalicelib.engines.ocr.kinds.organisation import organisation_confidence
from chalicelib.engines.ocr.kinds.person import person_confidence
from chalicelib.engines.ocr.kinds.phone import find_phones
from chalicelib.engines.ocr.kinds.postcode import (
    find_postcodes,
    find_state_zips,
    is_country,
    state_code,
)
from chalicelib.engines.ocr.kinds.title import title_confidence

PLAIN_TEXT = (
    "Your partner in growth", "Quality you can trust", "25 Years of Experience", "100% Organic",
    "24 Hour Service", "Member FDIC",
)  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "766 Delgado Port Apt. 814", "Frazierstad, RI 14173", "RI 141 73", "656 Ashley Walks",
        "Hauptstraße 12", "D-70173 Stuttgart", "70173 Stuttgart", "12 rue de la Paix",
        "75002 Paris", "Level 5, 100 George St", "Sydney NSW 2000", "London EC1A 1BB",
        "United Kingdom", "3rd Floor", "Toronto, ON M5V 2T6", "MG Road, Bengaluru 560 001",
        "1-2-3 Marunouchi, Chiyoda-ku, Tokyo 100-0005", "Via Roma 12, 20121 Milano",
        "One Microsoft Way", "Suite 200", "Boston, MA", "P.O. Box 12", "Calle Mayor 5",
        "Keizersgracht 214", "1016 DZ Amsterdam", "88 Parramatta Road", "São Paulo, Brasil",
    ],
)  # fmt: skip
def test_address_line(line):
    """Streets, towns, units and boxes of many countries are likely address lines."""
    assert address_confidence(line) >= 0.5


@pytest.mark.parametrize(
    "line",
    [
        *PLAIN_TEXT, "Dana Reyes", "Senior Consultant", "Orchid Labs Inc.", "Since 1987", "",
        "UNITS UNITS", "Row 3 of the list", "delivering 21-24 mg as a drink",
        "Taken from 1998 Budget",
    ],
)  # fmt: skip
def test_no_address_line(line):
    """Names, slogans and years are not address lines."""
    assert address_confidence(line) < 0.5


@pytest.mark.parametrize(
    "line",
    [
        "Dana Reyes", "DANA REYES", "Glen P. Robles", "J. R. Thornbury", "Dr. Amara Nwosu",
        "Sander de Groot", "Ingrid van der Berg, PhD", "Samuel T. Okonkwo, MD, FACS",
        "Gretchen O'Malley, DVM", "Dipl.-Ing. Markus Ebner", "Hélène Marchetti",
        "Robert \"Bob\" Ames", "Michele Mills CPA",
    ],
)  # fmt: skip
def test_person(line):
    """Initials, honorifics, particles, capitals and credentials make names."""
    assert person_confidence(line) >= 0.6


@pytest.mark.parametrize(
    "line", [*PLAIN_TEXT[:-1], "dana@orchid.test", "Suite 200", "A", "", "x" * 80, "Reyes & Sons"]
)
def test_no_person(line):
    """Sentences, numbers and single letters are not names."""
    assert person_confidence(line) < 0.4


@pytest.mark.parametrize(
    "line",
    [
        "Senior Consultant", "Vice President, Marketing", "CEO & Founder", "Attorney at Law",
        "Head of Sales", "Geschäftsführer", "Directrice commerciale", "SENIOR LOAN OFFICER",
        "Chief Executive Officer", "Human Resources", "co-founder & ceo", "Partner in Charge",
    ],
)  # fmt: skip
def test_title(line):
    """Jobs and offices are titles."""
    assert title_confidence(line) >= 0.5


@pytest.mark.parametrize("line", [*PLAIN_TEXT, "Dana Reyes", "12 Elm Street", ""])
def test_no_title(line):
    """Slogans that contain the word of a job are not titles."""
    assert title_confidence(line) < 0.5


@pytest.mark.parametrize(
    "line",
    [
        "Orchid Labs Inc.", "Brenner Maschinenbau GmbH", "Suryodaya Textiles Pvt. Ltd.",
        "Officine Bertolini S.r.l.", "Grupo Almazara S.L.", "Thornbury, Walsh & Klein, P.C.",
        "Moore, Finley and Tucker", "ROBERTS GROUP", "City of Fairhaven", "Young PLC",
        "Hoshino Precision Co., Ltd.", "University of Valmont", "Merlion Freight Services Pte Ltd",
    ],
)  # fmt: skip
def test_organisation(line):
    """Legal forms of many countries and words of trades make organisations."""
    assert organisation_confidence(line) >= 0.5


@pytest.mark.parametrize("line", [*PLAIN_TEXT, "Dana Reyes", "Hand Wash • Oil Change • Tyres", ""])
def test_no_organisation(line):
    """Names, slogans and lists of services are not organisations without further evidence."""
    assert organisation_confidence(line) < 0.45


def test_states_and_countries():
    """States are recognized by name and abbreviation, countries by name."""
    assert [state_code(one) for one in ("AZ", "n.y.", "Utah", "Ill.", "Bavaria")] == [
        "AZ", "NY", "UT", "IL", None,
    ]  # fmt: skip
    assert is_country("U.S.A.")
    assert not is_country("Utah")


def test_state_and_zip():
    """Spaces and letters in a ZIP code are corrected; other numbers after a state do not match."""
    assert [one.text for one in find_state_zips("RI 141 73 or N.Y. 1O001-0110")] == [
        "RI 14173", "N.Y. 10001-0110",
    ]  # fmt: skip
    assert find_state_zips("CA 555 123 4567 OK 1234 IN 123456") == ()


@pytest.mark.parametrize("code", ["EC1A 1BB", "M5V 2T6", "NSW 2000", "D-70173", "〒100-0005"])
def test_postcodes(code):
    """Postcodes of other countries are found."""
    assert [one.text for one in find_postcodes(f"Town {code}")] == [code]


def test_owner_of_a_domain():
    """The owner's label in a domain is found before endings of one or two labels."""
    assert main_label("www.mail.orchid.co.uk") == "orchid"
    assert main_label("orchid.io") == "orchid"
    assert main_label("") == ""
    assert is_ending("COM")
    assert not is_ending("orchid")


FINDERS = (
    find_phones, find_mails, find_websites, find_dates, find_money, find_numbers,
    find_state_zips, find_postcodes, title_confidence,
    person_confidence, organisation_confidence, address_confidence, normalized_address,
)  # fmt: skip
UNITS = (
    "a", "1", "1 ", "1-", "1.", "@", "a@", "a.", "a@a.", "www.", "www.a.", "Aa ", "A. ", "+1", "(",
    "(1)", "/", "12/", "1:", "May ", "May 1 ", "$1", "1,", "1,111", "AZ ", "New York ", "AZ 1",
    "PO Box ", "12 Main ", "Dr. ", "Inc ", "l1", "1\t", "A1A ", "é", "-", "a-", "00 ", "1 x", "1#",
    "Tokyo ", "(a", '"a', "A'A",
)  # fmt: skip


@pytest.mark.parametrize("finder", FINDERS, ids=lambda one: one.__name__)
def test_time_grows_linearly(finder):
    """A line of five thousand characters takes only a moment."""
    for unit in UNITS:
        line = (unit * 5_000)[:5_000]
        before = time.process_time()
        finder(line)
        assert time.process_time() - before < 0.2, unit
