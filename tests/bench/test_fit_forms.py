"""Tests of bench/fit_forms.py."""

from __future__ import annotations

import random

import numpy as np

from bench.fit_forms import (
    MOST_WEIGHT,
    Case,
    UnweighedCase,
    fit,
    left_out,
    report,
    unweighed_shares,
)
from chalicelib.engines.ocr.forms.certainty import INPUTS, Evidence, Surroundings, Unweighed


def _cases(count: int) -> list[Case]:
    """Make up values of which the misread ones are mostly wrong."""
    chance = random.Random(3)
    cases = []
    for number in range(count):
        misread = chance.choice((0.0, 1.0))
        evidence = Evidence(
            Surroundings(rivalry=chance.random()), misread, chance.randint(1, 9), True, 0.5
        )
        is_right = chance.random() < (0.2 if misread else 0.9)
        cases.append(Case("drawn", str(number % 5), evidence, is_right))
    return cases


def test_fit_finds_what_makes_values_wrong() -> None:
    """The decisive input gets the weight, constant ones get none.

    The mean probability is the share of right values.
    """
    cases = _cases(400)

    bias, weights = fit(cases)

    scores = np.array([case.evidence.inputs for case in cases]) @ np.array(weights) + bias
    promised = (1 / (1 + np.exp(-scores))).mean()
    assert len(weights) == len(INPUTS)
    assert weights[INPUTS.index("misread")] < -2
    assert max(abs(weights[place]) for place in range(len(INPUTS)) if place not in (0, 1, 2)) < 1e-6
    assert abs(promised - np.mean([case.is_right for case in cases])) < 0.001


def test_no_input_alone_decides() -> None:
    """An input that is set for wrong values only gets no larger weight than the limit."""
    sure = [Case("drawn", str(at % 5), Evidence(Surroundings(), 0.0, 5), True) for at in range(900)]
    odd = Evidence(Surroundings(heads_column=1.0), 0.0, 5)
    cases = [*sure, *(Case("drawn", str(at % 5), odd, False) for at in range(100))]

    _, weights = fit(cases)

    assert weights[INPUTS.index("headsColumn")] == -MOST_WEIGHT


def test_families_are_judged_by_fits_that_never_saw_them() -> None:
    """Each value is scored once, by a fit that did not see its family, and is calibrated."""
    cases = _cases(2_000)

    scored = left_out(cases)

    assert [len(some) for some in scored.values()] == [2_000]
    (line,) = report(scored)
    assert float(line.split("calibration error ")[1].split(";")[0]) < 0.06


def test_answers_without_inputs_are_as_sure_as_they_are_right() -> None:
    """With add-one smoothing three right of four are four of six."""
    cases = [UnweighedCase(Unweighed.NEAR_TEXT, 1.0, number < 3) for number in range(4)]

    shares = unweighed_shares(cases)

    assert shares[Unweighed.NEAR_TEXT] == 4 / 6
    assert shares[Unweighed.BEHIND_COLON] == 1 / 2
