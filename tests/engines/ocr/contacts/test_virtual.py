"""Virtual keys find kinds of text anywhere on a page."""

import pytest

from chalicelib.domain.documents.form_template import VIRTUAL_KEYS
from chalicelib.engines.ocr.contacts.virtual import VirtualTexts
from tests.engines.ocr.contacts.cards import page_of, text_line

PAGE = page_of(
    [
        text_line("Patient intake", 60, 20, 30),
        text_line("Patient: Dana Reyes", 60, 100),
        text_line("Employer: Orchid Labs Inc.", 60, 140),
        text_line("Fax 503-555-0143", 60, 180),
        text_line("Phone 503-555-0142", 60, 220),
        text_line("Mail dana@orchid.test", 60, 260),
        text_line("See www.orchid.test", 60, 300),
        text_line("Address: 12 Elm Street", 60, 340),
        text_line("Phoenix, AZ 85001", 160, 367),
        text_line("Visit on July 09, 1991 at 10:15", 60, 420),
        text_line("at noon or 16:30", 60, 460),
    ]
)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("person", "Dana Reyes"),
        ("org", "Orchid Labs Inc."),
        ("phone", "503-555-0142"),
        ("email", "dana@orchid.test"),
        ("website", "www.orchid.test"),
        ("datetime", "July 09, 1991 at 10:15"),
        ("address", "12 Elm Street Phoenix, AZ 85001"),
    ],
)
def test_best_comes_first(kind, text):
    """The most probable text of each kind comes first, without the surrounding words."""
    assert VirtualTexts(PAGE).find(kind)[0].text == text


def test_date_before_time_alone():
    """A date is more probable than a time of day; both are returned."""
    assert [one.text for one in VirtualTexts(PAGE).find("datetime")][1:] == ["16:30"]


def test_every_virtual_key_has_a_finder():
    """Every virtual key of the contract is supported, and an empty page has no value for it."""
    for kind in VIRTUAL_KEYS:
        assert VirtualTexts(page_of([])).find(kind) == ()
    with pytest.raises(KeyError):
        VirtualTexts(PAGE).find("colour")


@pytest.mark.parametrize("step", [20, 27])
@pytest.mark.parametrize(
    ("rows", "addresses"),
    [
        (["Invoice No.: 1735", "Issued: 09/13/2021", "=", "Total: 42.50"], 1),
        (["Table 4", "=", "Invoice 1735", "Springfield"], 1),
        (["22 Mar 2018 18:24", "=", "RM 33.92", "$5"], 1),
        (["=", "Dana Reyes", "="], 2),
        (["Ship to: =", "=", "="], 3),
    ],
)
def test_address_ends_where_it_ends(rows, addresses, step):
    """Keys, dates, amounts and names above or below an address are not part of it."""
    address = "12 Elm Street, Phoenix, AZ 85001"
    lines = [
        text_line(row.replace("=", address), 60, 40 + step * place)
        for place, row in enumerate(rows)
    ]
    found = [one.text for one in VirtualTexts(page_of(lines)).find("address")]
    assert found == [address] * addresses


@pytest.mark.parametrize(
    "rows",
    [
        ["c/o Maple Group", "Suite 5", "12 Elm Street", "Phoenix, AZ 85001", "USA"],
        ["Am Gewerbepark 3a", "70173 Stuttgart", "Germany"],
        ["Harbor House", "14 Church Lane", "Harrogate", "HG1 5AB"],
        ["LOT 2685 JLN GENTING", "TAMAN SERDANG RAYA,", "43300 SERI KEMBANGAN"],
        ["Rm 204, 88 Harbor Road", "Unit 3.02", "Sydney NSW 2000"],
    ],
)
def test_address_without_label_is_whole(rows):
    """Buildings, districts and countries around a street are part of the address."""
    lines = [text_line(row, 60, 40 + 27 * place) for place, row in enumerate(rows)]
    assert [one.text for one in VirtualTexts(page_of(lines)).find("address")] == [" ".join(rows)]


def test_address_behind_its_key():
    """An address's key is removed; the next line may start below the key or the street."""
    for left in (60, 130):
        lines = [
            text_line("Ship to: 12 Elm Street", 60, 40),
            text_line("Phoenix, AZ 85001", left, 67),
        ]
        (found,) = VirtualTexts(page_of(lines)).find("address")
        assert found.text == "12 Elm Street Phoenix, AZ 85001"
