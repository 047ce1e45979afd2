"""Machine-readable zones on pages, and the fields that they confirm or complete."""

from dataclasses import replace
from datetime import date

import pytest

from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.mrz.fields import with_zone
from chalicelib.engines.ocr.mrz.finder import find_zone
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.mrz.zones import (
    CARD,
    EXAMPLES,
    LETTER_WIDTH,
    PASSPORT,
    TWO_ROW_CARD,
    changed,
    page_of,
)

TODAY = date(2026, 11, 23)
PLACE = Rect(1, 2, 3, 4)


def fields(rows, printed=(), form="passport"):
    """Return value and probability by entity of a page with a zone and printed fields."""
    found = [
        FormField(entity, "Key", PLACE, value, PLACE if value else None, 0.8)
        for entity, value in dict(printed).items()
    ]
    answer = with_zone(found, page_of(rows), standard_template(form), today=TODAY)
    return {field.entity: (field.value_text, field.probability) for field in answer}


@pytest.mark.parametrize(("form", "rows"), EXAMPLES)
def test_zone_is_found_below_other_lines(form, rows):
    """A zone of any format is found among the lines of a page."""
    zone = find_zone(page_of(rows, ("Passport", "Surname ERIKSSON", "<< back to page 1")))
    assert zone.decision.rows == rows
    assert zone.decision.format is form


def test_letters_and_digits_stand_where_they_may():
    """Zeros in names become O, and O in dates becomes zero."""
    misread = (PASSPORT[0].replace("UTO", "UT0"), PASSPORT[1].replace("0415", "O415"))
    assert find_zone(page_of(misread)).decision.rows == PASSPORT


@pytest.mark.parametrize(
    "rows",
    [
        (),
        PASSPORT[:1],
        (PASSPORT[0], PASSPORT[1][:-4]),
        ("<" * 44, "<" * 44),
        ("P<" * 22, "0" * 44),
        tuple("<<<<<" * 12 for _ in range(300)),
        ("I" * 30,) * 3,
        changed(PASSPORT, 1, 43, "5"),
    ],
)
def test_what_is_no_zone_changes_nothing(rows):
    """Nonsense, partial zones and wrong check digits leave printed fields unchanged."""
    printed = {"surname": "ERIKSSON", "sex": "F"}
    assert fields(rows, printed) == {"surname": ("ERIKSSON", 0.8), "sex": ("F", 0.8)}


def test_zone_gives_what_is_not_printed():
    """A page with only a zone gets its fields, with dates in passport format."""
    values = {entity: value for entity, (value, _) in fields(PASSPORT).items()}
    assert values == {
        "passport_number": "L898902C3",
        "surname": "ERIKSSON",
        "given_names": "ANNA MARIA",
        "nationality": "UTO",
        "date_of_birth": "12 AUG 1974",
        "sex": "F",
        "date_of_expiration": "15 APR 2012",
    }


def test_dates_are_written_as_on_cards():
    """Card dates are numeric, month first, unless other dates show another format."""
    assert fields(CARD, form="permanentResident")["date_of_birth"][0] == "08/12/1974"
    printed = {"resident_since": "02 MAR 2010"}
    assert fields(CARD, printed, "permanentResident")["card_expires"][0] == "15 APR 2012"


@pytest.mark.parametrize(
    ("entity", "value"),
    [
        ("passport_number", "L898902C3"),
        ("surname", "Eriksson"),
        ("given_names", "ANNA-MARIA"),
        ("nationality", "UTOPIA"),
        ("date_of_birth", "12 AUG/AOUT 74"),
        ("date_of_birth", "1974-08-12"),
        ("sex", "F"),
    ],
)
def test_agreement_raises_the_probability(entity, value):
    """A printed value that agrees with the zone stays as printed and is more probable."""
    text, probability = fields(PASSPORT, {entity: value})[entity]
    assert text == value
    assert probability > 0.95


def test_words_that_were_read_as_one_are_parted():
    """A missing space between printed names is restored from the zone."""
    assert fields(PASSPORT, {"given_names": "ANNAMARIA"})["given_names"][0] == "ANNA MARIA"


@pytest.mark.parametrize(
    ("entity", "value", "better"),
    [
        ("passport_number", "L898902C8", "L898902C3"),
        ("surname", "ERlKSS0N Given", "ERIKSSON"),
        ("date_of_birth", "12 AUG 1971", "12 AUG 1974"),
        ("sex", "M", "F"),
        ("nationality", "USA", "UTO"),
    ],
)
def test_contradiction_lowers_the_probability(entity, value, better):
    """If zone and printed value differ, the zone's value is returned with lower probability."""
    text, probability = fields(PASSPORT, {entity: value})[entity]
    assert text == better
    assert probability < fields(PASSPORT)[entity][1]


def test_nationality_in_words_is_no_contradiction():
    """A country code neither confirms nor contradicts a country name."""
    assert fields(PASSPORT, {"nationality": "SUOMI"})["nationality"] == ("SUOMI", 0.8)


def test_a_name_that_fills_its_row_may_go_on():
    """A printed name longer than the zone's truncated one is kept."""
    row = "I<UTO" + "ERIKSSON<<ANNA<MARIA<WILHELMINA<FRIEDERIKE"[:31]
    printed = {"given_names": "ANNA MARIA WILHELMINA FRIEDERIKE"}
    value, probability = fields((row, TWO_ROW_CARD[1]), printed)["given_names"]
    assert value == printed["given_names"]
    assert probability > 0.8


def test_empty_field_is_filled_where_the_zone_stands():
    """A key without a value gets the zone's value and its box."""
    empty = FormField("sex", "Sex", PLACE, "", None, 0.4)
    answer = with_zone([empty], page_of(PASSPORT), standard_template("passport"), today=TODAY)
    (sex,) = (field for field in answer if field.entity == "sex")
    assert (sex.value_text, sex.key_box) == ("F", PLACE)
    assert sex.value_box.width == pytest.approx(LETTER_WIDTH)


def test_one_number_is_no_second_one():
    """The zone's number is used for the document number only, not for other numbers."""
    found = fields(CARD, {"alien_number": "D23145890"}, "permanentResident")
    assert found["alien_number"][0] == "D23145890"
    assert "uscis_number" not in found
    assert "alien_number" not in fields(CARD, form="permanentResident")


def test_other_templates_are_left_alone():
    """A template without a document number does not use the zone."""
    template = FormTemplate((TemplateKey("surname", ("Surname",)),))
    field = FormField("surname", "Surname", PLACE, "ERICSSON", PLACE, 0.8)
    assert with_zone([field], page_of(PASSPORT), template) == (field,)
    assert with_zone([replace(field)], page_of(()), template) == (field,)
