"""Tests of chalicelib/engines/ocr/forms/certainty.py."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench.ocr_document_metrics import SURE, ScoredField
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import ReadPage, TextLine
from chalicelib.engines.ocr.forms.certainty import (
    INPUTS,
    Evidence,
    Surroundings,
    Unweighed,
    UnweighedEvidence,
    fitted_weights,
    likelihood,
)
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm
from tests.engines.ocr.forms.layouts import LAYOUTS

ALIKE = Surroundings(consensus=1.0)
CLEAR = Evidence(ALIKE, 0.02, 9)
"""A date on a clear page, in the same direction from its key as the values around it."""


def test_every_measure_has_a_weight() -> None:
    """The fitted weights and the measured inputs have the same names."""
    assert len(CLEAR.inputs) == len(INPUTS)
    assert set(INPUTS) == set(fitted_weights().weights)
    assert set(Unweighed) == set(fitted_weights().shares)
    assert likelihood(CLEAR) >= 0.95


@pytest.mark.parametrize(
    "worse",
    [
        replace(CLEAR, misread=1.5),
        replace(CLEAR, surroundings=replace(ALIKE, heads_column=True)),
        replace(CLEAR, has_digit=False),
        replace(CLEAR, surroundings=replace(ALIKE, consensus=0.25)),
        replace(CLEAR, surroundings=replace(ALIKE, rivalry=0.9)),
        replace(CLEAR, surroundings=replace(ALIKE, is_joined=True)),
        replace(CLEAR, surroundings=replace(ALIKE, has_text_below=True)),
        replace(CLEAR, surroundings=replace(ALIKE, bound=0.4)),
        replace(CLEAR, rarity=None),
    ],
)
def test_each_sign_of_an_error_lowers_the_probability(worse: Evidence) -> None:
    """Each sign of an error has a negative weight, so that it lowers the probability."""
    assert likelihood(worse) < likelihood(CLEAR)


def test_single_sheets_template_is_never_sure_on_a_bad_scan() -> None:
    """With a one-page template on a bad scan no value reaches .95 without consistent neighbours."""
    best = replace(CLEAR, surroundings=Surroundings(), misread=0.1)

    assert likelihood(best) < 0.95


def test_empty_answer_is_least_sure_next_to_text() -> None:
    """An empty value is least probable if unclaimed text is near the key."""
    nothing, colon, text, _ = (likelihood(UnweighedEvidence(each, 1.0)) for each in Unweighed)

    assert text < min(nothing, colon)
    assert likelihood(UnweighedEvidence(Unweighed.NOTHING_NEAR, 0.5)) == nothing / 2


def _probability(form: DrawnForm) -> float:
    """Return the probability of the only value of a form."""
    key = TemplateKey("job", ("Occupation", "Job"))
    (field,) = find_fields(form.read(), FormTemplate((key,)))
    assert field.value_text == "Carpenter"
    return field.probability


def test_unassigned_text_below_lowers_the_probability() -> None:
    """Unclaimed text below a value lowers its probability; a label there does not."""
    alone, below, labelled = DrawnForm(), DrawnForm(), DrawnForm()
    for form in (alone, below, labelled):
        box = form.write(100, 100, "Occupation: Carpenter")
    below.write(230, box.max_y + 6, "Retired")
    labelled.write(230, box.max_y + 6, "Since:")

    assert _probability(below) < _probability(alone)
    assert _probability(labelled) == _probability(alone)


def _worn(page: ReadPage, blurs: float, chance: random.Random) -> ReadPage:
    """Return a page with misreadings at half the rate that its probabilities imply."""

    def worn(line: TextLine) -> TextLine:
        blur = min(0.6, chance.expovariate(1 / blurs))
        letters = [
            chance.choice("ixo-8") if chance.random() < blur / 2 else one for one in line.text
        ]
        text = "".join(letters)
        shown = text if len(" ".join(text.split())) == len(text) else line.text
        return replace(line, text=shown, probability=1 - blur)

    return replace(page, lines=tuple(map(worn, page.lines)))


def _scored(seeds: Sequence[int]) -> list[ScoredField]:
    """Read all layouts, each clean and with misreadings."""
    scored = []
    for seed in seeds:
        for layout in LAYOUTS:
            form, chance = layout(seed), random.Random(seed)
            for blurs in (0.002, 0.02, 0.06):
                page = _worn(form.read(), blurs, chance)
                for field in find_fields(page, form.template):
                    wanted = form.values[field.entity]
                    scored.append(
                        ScoredField(
                            field.entity,
                            wanted,
                            field.value_text,
                            field.probability,
                            field.value_text == wanted,
                        )
                    )
    return scored


def test_probabilities_hold_on_drawn_forms_that_are_misread() -> None:
    """Values are right at least as often as their probability, also those above .95."""
    values = [field for field in _scored((1,)) if field.read]

    promised = sum(field.probability for field in values) / len(values)
    assert sum(field.is_right for field in values) / len(values) >= promised
    sure = [field.is_right for field in values if field.probability >= SURE]
    assert sum(sure) >= SURE * len(sure)
