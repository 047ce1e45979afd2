"""Finds the fields of a form: the keys of a template on a page, and their values.

The contract calls these results key object and value object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.documents.findings import FormField, TickBox
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import ReadPage, around
from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.agreement import PageFormats, agreeing_entities
from chalicelib.engines.ocr.forms.amounts import AmountStyle, with_points
from chalicelib.engines.ocr.forms.certainty import (
    Evidence,
    Unweighed,
    UnweighedEvidence,
    Weigh,
    legibility,
    likelihood,
    misread_characters,
)
from chalicelib.engines.ocr.forms.field_kinds import join_boxed_digits, remove_spaces
from chalicelib.engines.ocr.forms.fragments import UnmatchedText, separate_keys
from chalicelib.engines.ocr.forms.keys.keys import FoundKey, find_keys, keys_alike
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.second_captions import without_second_captions
from chalicelib.engines.ocr.forms.segments import LineSegment, make_segments, tilt
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox, find_boxes
from chalicelib.engines.ocr.forms.tick_boxes.choices import PageBoxes
from chalicelib.engines.ocr.forms.values.holders import find_holders
from chalicelib.engines.ocr.forms.values.line_numbers import NumberedLines
from chalicelib.engines.ocr.forms.values.statements import StatementColumns
from chalicelib.engines.ocr.forms.values.values import Value, find_values
from chalicelib.engines.ocr.forms.virtual_fields import find_virtual_fields
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel


@dataclass(frozen=True)
class _FormPage:
    """The data that all fields of a page share."""

    amounts: AmountStyle
    """Notation of the page's amounts; not determined for a text layer, which is never misread."""
    is_exact: bool
    """Whether the text is from a text layer, so that nothing is misread."""
    weigh: Weigh
    """Function that computes a probability from evidence."""
    formats: PageFormats
    """Counts of the formats of the page's texts."""


def find_fields(
    page: ReadPage,
    template: FormTemplate,
    check: CancelCheck = never_cancel,
    weigh: Weigh = likelihood,
) -> tuple[FormField, ...]:
    """Find the keys of a template on a page, and their values.

    Args:
        page: the page, with lines in any order; pixels are used to find boxes, and may be missing.
        template: the template of the form.
        check: called regularly; may raise an error to stop.
        weigh: computes probabilities; another function is passed only to fit the weights.

    Returns:
        One field for each key that is on the page, in the template's order. The field of a key
        without a value has an empty text and no value box. A virtual key (without a caption) is
        left out if the page has no text of its kind.
    """
    fields = _find_printed(page, template.keys, check, weigh)
    used = [field.value_box for field in fields.values() if field.value_box is not None]
    fields |= find_virtual_fields(template.keys, page, used, frozenset(fields), check)
    return tuple(fields[number] for number in sorted(fields))


def _find_printed(
    page: ReadPage, keys: Sequence[TemplateKey], check: CancelCheck, weigh: Weigh
) -> dict[int, FormField]:
    page = replace(page, lines=tuple(with_points(page.lines)))
    angle = tilt(page.lines)
    segments = make_segments(page.lines, angle)
    rules = PageRules.of_page(page, angle, segments)
    segments, boxes = find_boxes(page, rules.divided(segments), angle)
    rules = rules.without([box.rect for box in boxes])
    check()
    found = find_keys(keys, segments, check)
    check()
    plain = [key for key in found if not key.kind]
    unmatched, columns, values = _values(plain, keys, segments, rules, boxes)
    if len(plain) < len(found):
        # A text that belongs to the value of another key is no caption that lacks a word.
        taken = {id(each.line) for value in values.values() for each in value.segments}
        found = [
            key
            for key in found
            if not key.kind or key.has_colon or id(key.segments[0].line) not in taken
        ]
        unmatched, columns, values = _values(found, keys, segments, rules, boxes)
    check()
    amounts = AmountStyle.of_texts(() if page.is_exact else (line.text for line in page.lines))
    texts = [fragment.segment.text for fragment in unmatched.fragments[: settings.MOST_ALIKE]]
    shared = _FormPage(amounts, page.is_exact, weigh, PageFormats(texts))
    chosen = {n: (found[at], values[at]) for n, at in _choose_places(keys, found, values).items()}
    chosen |= _crossed(keys, chosen, columns, unmatched)
    answers = {keys[n].entity: _text(keys[n], value, shared) for n, (_, value) in chosen.items()}
    agreeing = agreeing_entities(answers)
    fields = {
        n: _field(keys[n], key, value, shared, keys[n].entity in agreeing)
        for n, (key, value) in chosen.items()
    }
    fitting = (each for each in fields.values() if (each.fit or 0.0) >= settings.KEY_SCORE)
    named = {each.entity: each.value_text for each in fitting}
    return fields | _holders(keys, fields, named, unmatched, weigh)


def _values(
    found: Sequence[FoundKey],
    keys: Sequence[TemplateKey],
    segments: Sequence[LineSegment],
    rules: PageRules,
    boxes: Sequence[FoundBox],
) -> tuple[UnmatchedText, StatementColumns, dict[int, Value]]:
    """Return the text without keys, the columns of a statement, and values by index of the key."""
    page_boxes = PageBoxes(boxes, found, separate_keys(found, segments), rules)
    unmatched = without_second_captions(found, page_boxes.with_choices())
    numbered = NumberedLines(segments, unmatched.fragments)
    unmatched = numbered.without_numbers(unmatched)
    columns = StatementColumns(segments, unmatched.fragments)
    values = find_values(found, keys, unmatched, rules, numbered, columns)
    for place, box in page_boxes.of_keys.items():
        if place in page_boxes.labelled or not values[place].segments:
            values[place] = _ticked(values[place], box, has_colon=found[place].has_colon)
    return unmatched, columns, values


def _ticked(value: Value, box: FoundBox, *, has_colon: bool) -> Value:
    """Return the value of a key with a tick box: the mark in the box, or the text after a colon."""
    if has_colon and value.segments:
        return replace(value, box=box)
    return Value((box.mark,) if box.mark else (), 1.0, box=box)


def _holders(
    keys: Sequence[TemplateKey],
    fields: Mapping[int, FormField],
    texts: Mapping[str, str],
    unmatched: UnmatchedText,
    weigh: Weigh,
) -> dict[int, FormField]:
    """Return, by index of the key, fields for names and addresses printed without captions."""
    numbers = {key.entity: number for number, key in enumerate(keys)}
    found = {}
    for entity, parts in find_holders(numbers.keys(), texts, unmatched.fragments).items():
        number = numbers[entity]
        known = fields.get(number) or FormField(entity, "", None, "", None, 1.0, None)
        text = " ".join(part.text for part in parts)
        found[number] = replace(
            known,
            value_text=text,
            value_box=around(part.box for part in parts),
            probability=weigh(UnweighedEvidence(Unweighed.UNCAPTIONED, legibility(parts))),
            normalized=normalized_address(text),
            fit=None,
        )
    return found


def _crossed(
    keys: Sequence[TemplateKey],
    chosen: Mapping[int, tuple[FoundKey, Value]],
    columns: StatementColumns,
    unmatched: UnmatchedText,
) -> dict[int, tuple[FoundKey, Value]]:
    """Return the place and value of keys such as "Overtime Hours", by index of the key.

    The key is a row label and a column header. Its value is where the row and the column cross.
    """
    used = {segment.box for _, value in chosen.values() for segment in value.segments}
    crossed = {}
    for number, key in enumerate(keys):
        if number in chosen and chosen[number][1].segments:
            continue
        for crossing in columns.crossings(key):
            segment = unmatched.fragments[crossing.fragment].segment
            if segment.box not in used:
                place = FoundKey(number, (), (crossing.label,), 1.0, 1.0, False)
                crossed[number] = place, Value((segment,), settings.CROSSED_CERTAINTY)
                break
    return crossed


def _choose_places(
    keys: Sequence[TemplateKey], found: Sequence[FoundKey], values: Mapping[int, Value]
) -> dict[int, int]:
    """Choose for each key the position whose value is most likely; return the indexes in `found`.

    If several keys of the template have the same texts, positions are assigned in reading order.
    """

    def promise(place: int) -> tuple[float, ...]:
        # Weights are fitted on the chosen values, so this choice must not depend on fitted weights.
        # Among likely values, the best caption decides.
        value, key = values[place], found[place]
        sure = min(0.5, value.certainty) * (1 - value.surroundings.heads_column / 2)
        ties = key.text in keys[key.number].variations, value.certainty
        is_found = value.segments or value.box
        return (sure * key.score, key.score, *ties) if is_found else (0.0, key.score)

    chosen: dict[int, int] = {}
    for numbers in keys_alike(keys).values():
        places = [place for place, key in enumerate(found) if key.number == numbers[0]]
        places = [each for each in places if values[each].segments or not found[each].kind]
        best = sorted(places, key=lambda place: [-each for each in promise(place)])
        chosen |= dict(zip(numbers, sorted(best[: len(numbers)]), strict=False))
    return chosen


def _text(template: TemplateKey, value: Value, shared: _FormPage) -> str:
    if value.options:
        return ", ".join(value.options)
    text = join_boxed_digits(" ".join(segment.text for segment in value.segments))
    is_amount = "CURRENCY" in template.types or "$" in text
    return shared.amounts.corrected(remove_spaces(text)) if is_amount else text


def _field(
    template: TemplateKey, key: FoundKey, value: Value, shared: _FormPage, agrees: bool
) -> FormField:
    segments, text = value.segments, _text(template, value, shared)
    if ("CURRENCY" in template.types or "$" in text) and shared.amounts.is_odd(text):
        around_odd = replace(value.surroundings, bound=settings.ODD_AMOUNT_CERTAINTY)
        value = replace(value, surroundings=around_odd)
    # Text layers are not misread, but a caption that lacks a word of its key is always doubtful.
    bound = 1.0 if shared.is_exact else value.surroundings.bound
    bound = min(bound, key.similarity) if key.kind else bound
    evidence = Evidence(
        replace(value.surroundings, bound=bound),
        misread_characters(segments),
        len("".join(text.split())),
        any(map(str.isdecimal, text)),
        value.certainty,
        key.score,
        shared.formats.rarity(template, text),
        agrees,
    )
    emptiness = UnweighedEvidence(value.emptiness, _legibility(key, value))
    return FormField(
        template.entity,
        key.text,
        around(segment.box for segment in key.segments),
        text,
        around(segment.box for segment in segments) if segments else None,
        shared.weigh(evidence if text else emptiness),
        normalized_address(text) if text else None,
        _legibility(key, value) * value.certainty * key.score,
        key.score,
        _tick_of(value),
    )


def _tick_of(value: Value) -> TickBox | None:
    box = value.box
    return None if box is None else TickBox(box.place.box, box.is_ticked, box.value)


def _legibility(key: FoundKey, value: Value) -> float:
    read = min(_probability(key.segments), _probability(value.segments or key.segments))
    return read * key.similarity


def _probability(segments: Sequence[LineSegment]) -> float:
    weight = sum(len(segment.text) for segment in segments)
    return sum(segment.line.probability * len(segment.text) for segment in segments) / weight
