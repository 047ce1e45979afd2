"""Splitting U.S. addresses: generated, unusual, and foreign ones."""

import itertools
import json
import random

import pytest

from chalicelib.engines.ocr.addresses import normalized_address

STREETS = (
    "Elm Street", "N. Main St.", "Old Mill Rd", "SW 5th Avenue", "Martin Luther King Jr Blvd",
    "County Road 12", "W Bell Road", "Lakeview Drive", "Peachtree Ct NE", "Sunset Pkwy",
)  # fmt: skip
UNITS = ("", "Suite 210", "Apt. 4B", "Unit 7", "Floor 12", "#305")
TOWNS = (
    ("Phoenix", "AZ", "Arizona"), ("Salt Lake City", "UT", "Utah"), ("St. Louis", "MO", "Missouri"),
    ("New York", "NY", "New York"), ("Winston-Salem", "NC", "North Carolina"),
    ("Fort Worth", "TX", "Texas"), ("Coeur d'Alene", "ID", "Idaho"),
    ("Washington", "DC", "District of Columbia"), ("Charleston", "WV", "West Virginia"),
)  # fmt: skip


def generated(count):
    """Return addresses and their parts, drawn with a fixed seed."""
    draw = random.Random(5)
    forms = itertools.cycle((", ", "\n", ", "))
    for _ in range(count):
        street = f"{draw.randint(1, 19999)} {draw.choice(STREETS)}"
        if draw.random() < 0.15:
            street = f"{draw.choice(('PO Box', 'P.O. Box'))} {draw.randint(1, 9999)}"
        unit = draw.choice(UNITS) if "Box" not in street else ""
        town, code, name = draw.choice(TOWNS)
        zipped = f"{draw.randint(501, 99950):05d}"
        zipped += draw.choice(("", "", f"-{draw.randint(1, 9999):04d}"))
        country = draw.choice(("", "", "USA", "United States"))
        state = draw.choice((code, code, name))
        between = next(forms)
        text = f"{street}{', ' + unit if unit else ''}{between}{town}, {state} {zipped}"
        text += f"{draw.choice((', ', ' '))}{country}" if country else ""
        parts = {"Street": f"{street} {unit}".strip(), "City": town, "State": code}
        yield text, parts | {"ZipCode": zipped} | ({"Country": country} if country else {})


def test_generated_addresses():
    """Generated addresses are split into street, unit, box, town, state, ZIP+4 and country."""
    wrong = [
        (text, normalized_address(text), parts)
        for text, parts in generated(400)
        if json.loads(normalized_address(text) or "{}") != parts
    ]
    assert wrong == []


def test_json_is_spaced_as_in_the_contract():
    """The JSON of the contract's example is reproduced byte for byte."""
    assert normalized_address("12 Elm Street Phoenix, AZ 85001") == (
        '{"Street": "12 Elm Street", "City": "Phoenix", "State": "AZ", "ZipCode": "85001"}'
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "742 EVERGREEN TERRACE SPRINGFIELD IL 62704",
            ("742 EVERGREEN TERRACE", "SPRINGFIELD", "IL"),
        ),
        ("12 Elm St, Springfield, Ill. 62704", ("12 Elm St", "Springfield", "IL")),
        ("350 5th Ave, New York 10118", ("350 5th Ave", "New York", "NY")),
        (
            "721 Blankenship Forest Lake Julie, ME 06849",
            ("721 Blankenship Forest", "Lake Julie", "ME"),
        ),
        ("Attn: Dana Reyes, 12 Elm St #4B, Reno, NV 89501", ("12 Elm St #4B", "Reno", "NV")),
        ("RR 2 Box 45, West Fork, AR 72774", ("RR 2 Box 45", "West Fork", "AR")),
        ("12 Elm St, Reno, NV 89 501", ("12 Elm St", "Reno", "NV")),
        ("12 elm st, reno, nv 89501", ("12 elm st", "reno", "NV")),
    ],
)
def test_odd_addresses(text, parts):
    """Capitals, old abbreviations, missing towns, misread spaces and rural routes are handled."""
    found = json.loads(normalized_address(text))
    assert (found["Street"], found["City"], found["State"]) == parts


def test_empty_parts_are_left_out():
    """A state and ZIP code alone are an address without street and city."""
    assert json.loads(normalized_address("NV 89501")) == {"State": "NV", "ZipCode": "89501"}


@pytest.mark.parametrize(
    "text",
    [
        "", "Dana Reyes", "12 Elm Street", "Phoenix, AZ", "10 Downing St, London SW1A 2AA",
        "Toronto, ON M5V 2T6", "Hauptstr. 12, 70173 Stuttgart", "MG Road, Bengaluru 560001",
        "Sydney NSW 2000", "12 Elm St, Reno, NV 89501 and 14 Oak St, Reno, NV 89502",
        "call 503-555-0142", "NV 895012", "12 Elm St Reno NV 89501 " * 40, "OR 12", "\n\n",
    ],
)  # fmt: skip
def test_other_texts_are_none(text):
    """A text without one state and one ZIP code is not a U.S. address."""
    assert normalized_address(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "12 12 Elm St Elm St, Reno, Reno, NV 89501",
        "AZ 85001 12 Elm",
        ", , , NV 89501",
        "# NV 89501",
    ],
)
def test_repeated_and_displaced_parts_do_no_harm(text):
    """Repeated or reordered parts give an answer instead of an error."""
    assert json.loads(normalized_address(text))["ZipCode"] in ("89501", "85001")
