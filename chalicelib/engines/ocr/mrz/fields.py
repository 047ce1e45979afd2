"""Confirms, corrects and completes form fields by comparison with the machine-readable zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from chalicelib.domain.common.clock import system_clock
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine, never_cancel
from chalicelib.engines.ocr.mrz.agreement import (
    format_day,
    is_same_day,
    is_same_name,
    is_same_number,
    is_same_sex,
    is_same_state,
    is_state_name,
    word_count,
)
from chalicelib.engines.ocr.mrz.finder import Zone, find_zone
from chalicelib.engines.ocr.mrz.zone import (
    BIRTH,
    EXPIRY,
    GIVEN_NAMES,
    NATIONALITY,
    NUMBER,
    SEX,
    SURNAME,
    ZoneField,
    day_of,
    fields_of,
)

# Entities of templates for documents that may have a zone.
NUMBER_ENTITIES = ("passport_number", "uscis_number", "alien_number", "license_number")
# Field of the zone for each entity of the built-in templates.
ENTITIES = dict.fromkeys(NUMBER_ENTITIES, NUMBER) | {
    "surname": SURNAME,
    "last_name": SURNAME,
    "given_names": GIVEN_NAMES,
    "given_name": GIVEN_NAMES,
    "first_name": GIVEN_NAMES,
    "nationality": NATIONALITY,
    "date_of_birth": BIRTH,
    "sex": SEX,
    "date_of_expiration": EXPIRY,
    "card_expires": EXPIRY,
    "expiration_date": EXPIRY,
}
# Documents with this number write months as words; U.S. cards write them as numbers.
_IN_WORDS = "passport_number"


@dataclass(frozen=True, slots=True)
class _Claim:
    """The value that the zone has for one entity."""

    text: str
    """Value from the machine-readable zone, formatted like the values on the page."""
    field: ZoneField
    agrees: Callable[[str], bool]
    """Function that returns whether a printed value equals the zone's value."""


def with_zone(
    fields: Sequence[FormField],
    page: ReadPage,
    template: FormTemplate,
    engine: TextEngine | None = None,
    check: CancelCheck = never_cancel,
    today: date | None = None,
) -> tuple[FormField, ...]:
    """Confirm, correct and complete the fields of a page by comparison with its zone.

    A printed value that agrees with a valid zone gets a higher probability. A different value is
    replaced by the zone's value, with a lower probability. The printed name of a nationality stays,
    because the zone has only a code. A zone with a wrong check digit changes nothing.

    Args:
        fields: fields that were found on the page.
        page: the page as read.
        template: template of a passport or card; with other templates, fields are not changed.
        engine: engine that reads an unclear zone again; None to skip that.
        check: called regularly; may raise an error to stop.
        today: date from which the century of dates is determined; by default the current date.

    Returns:
        The fields in the template's order.
    """
    entities = [key.entity for key in template.keys]
    if not any(entity in NUMBER_ENTITIES for entity in entities):
        return tuple(fields)
    zone = find_zone(page, engine, check)
    if zone is None:
        return tuple(fields)
    known = {field.entity: field for field in fields}
    claims = _claims(zone, known, entities, today or system_clock().date())
    for entity, claim in claims.items():
        known[entity] = _combine(known.get(entity), entity, claim, zone)
    return tuple(known[entity] for entity in entities if entity in known)


def _claims(
    zone: Zone, fields: Mapping[str, FormField], entities: Sequence[str], today: date
) -> dict[str, _Claim]:
    """Return the zone's value for each entity of a template."""
    parts = fields_of(zone.decision)
    printed = [field.value_text for field in fields.values()]
    numbers = [entity for entity in entities if entity in NUMBER_ENTITIES]
    # A zone has only one document number. It belongs to the number fields that were found on the
    # page; if there are none, to the template's first one.
    numbered = [entity for entity in numbers if entity in fields] or numbers[:1]
    claims = {}
    for entity in entities:
        name = ENTITIES.get(entity)
        part = parts.get(name) if name else None
        if name is None or part is None or (name == NUMBER and entity not in numbered):
            continue
        if name in (BIRTH, EXPIRY):
            day = day_of(part.text, today, is_past=name == BIRTH)
            if day is not None:
                text = format_day(day, printed, in_words=_IN_WORDS in entities)
                claims[entity] = _Claim(text, part, _same_day(day))
        else:
            claims[entity] = _Claim(part.text, part, _same(name, part))
    return claims


def _same_day(day: date) -> Callable[[str], bool]:
    return lambda printed: is_same_day(printed, day)


def _same(name: str, part: ZoneField) -> Callable[[str], bool]:
    """Return a function that compares a printed value with an element of the zone."""
    if name in (SURNAME, GIVEN_NAMES):
        return lambda printed: is_same_name(printed, part.text, is_cut=part.is_cut)
    if name == NATIONALITY:
        return lambda printed: is_same_state(printed, part.text)
    if name == SEX:
        return lambda printed: is_same_sex(printed, part.text)
    return lambda printed: is_same_number(printed, part.text)


def _combine(field: FormField | None, entity: str, claim: _Claim, zone: Zone) -> FormField:
    """Combine a printed field, if any, with the zone's value."""
    part = claim.field
    box = zone.box(part.places)
    if field is None:
        return FormField(entity, "", None, claim.text, box, part.probability)
    if not field.value_text:
        return replace(
            field, value_text=claim.text, value_box=box, probability=part.probability, fit=None
        )
    if claim.agrees(field.value_text):
        error = (1 - field.probability) * (1 - part.probability)
        is_joined = word_count(field.value_text) < word_count(claim.text)
        text = claim.text if is_joined else field.value_text
        return replace(field, value_text=text, probability=1 - error)
    if ENTITIES[entity] == NATIONALITY and is_state_name(field.value_text):
        return field
    probability = part.probability * (1 - field.probability / 2)
    return replace(field, value_text=claim.text, value_box=box, probability=probability, fit=None)
