"""Tests of bench/fit_forms.py."""

from __future__ import annotations

import random

import numpy as np

from bench.fit_forms import Case, EmptyCase, empty_shares, fit, left_out, report, stored_trees
from chalicelib.engines.ocr.forms.certainty import (
    Emptiness,
    Evidence,
    Surroundings,
    tree_answer,
)


def _cases(count: int) -> list[Case]:
    """Make up values of which the misread ones are mostly wrong."""
    chance = random.Random(3)
    cases = []
    for number in range(count):
        misread = chance.choice((0.0, 1.0))
        evidence = Evidence(
            Surroundings(rival_text=chance.random()), misread, 0.01, chance.randint(1, 9), True
        )
        is_right = chance.random() < (0.2 if misread else 0.9)
        cases.append(Case("drawn", str(number % 5), evidence, is_right))
    return cases


def test_stored_trees_answer_as_fitted() -> None:
    """The service asks the stored questions, and gets what the fit promised."""
    cases = _cases(400)
    fitted = fit(cases)

    bias, trees = stored_trees(fitted)

    rows = [case.evidence.inputs for case in cases]
    scores = [bias + sum(tree_answer(tree, row) for tree in trees) for row in rows]
    promised = 1 / (1 + np.exp(-np.array(scores)))
    assert np.abs(promised - fitted.predict_proba(np.array(rows))[:, 1]).max() < 0.003
    assert abs(promised.mean() - np.mean([case.is_right for case in cases])) < 0.01
    misread, clear = (
        promised[[bool(case.evidence.misread) == wanted for case in cases]].mean()
        for wanted in (True, False)
    )
    assert misread < 0.4 < 0.8 < clear


def test_families_are_judged_by_fits_that_never_saw_them() -> None:
    """Each value is scored once, and such a fit is calibrated."""
    cases = _cases(2_000)

    scored = left_out(cases)

    assert [len(some) for some in scored.values()] == [2_000]
    (line,) = report(scored)
    assert float(line.split("calibration error ")[1].split(";")[0]) < 0.06


def test_empty_answers_are_as_sure_as_they_are_right() -> None:
    """Three right ones of four, one more of each counted, are four of six."""
    cases = [EmptyCase(Emptiness.NEAR_TEXT, number < 3) for number in range(4)]

    shares = empty_shares(cases)

    assert shares[Emptiness.NEAR_TEXT] == 4 / 6
    assert shares[Emptiness.BEHIND_COLON] == 1 / 2
