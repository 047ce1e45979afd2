"""The card of a text model states data, metrics and limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from chalicelib.domain.models.model import SUCCEEDED, Model, TrainRequest
from chalicelib.engines.interface import TextFitOptions, TextReport
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.report.json_documents import card_document
from tests.engines.text.clusters import a_training_set, with_background

NOW = datetime(2024, 3, 4, tzinfo=UTC)
FACTS: dict[str, Any] = {
    "created_at": "2024-03-04T00:00:00.000+0000",
    "artifact_sha256": "0" * 64,
    "profile": "fast",
    "profile_reason": "The request names it.",
    "encoders": [],
    "labels": 3,
    "examples": 90,
    "available": 0,
    "feedback": 0,
    "advice": [],
    "trained_from": "examples",
    "text_limit": {"words": 1000, "cut": 0},
    "data_report": {"examined": 90},
}


@pytest.fixture(scope="module")
def report() -> TextReport:
    """The report of a training on ninety examples that can reject."""
    options = TextFitOptions(out_of_domain_rate=0.05)
    made = fit(a_training_set([30] * 3, spread=1.2), options, [].append).report
    assert made is not None
    return made


def _card(
    report: TextReport, params: dict[str, object] | None = None, **facts: object
) -> dict[str, Any]:
    model = Model(
        account_id="A",
        model_id="M",
        name="intents",
        dataset_id=1,
        family="language",
        type="text-intent",
        language="en_US",
        status=SUCCEEDED,
        progress=1.0,
        created_at=NOW,
        updated_at=NOW,
        request=TrainRequest(algorithm="multilingual-intent-ood", params=params),
    )
    return card_document(model, report, {**FACTS, **facts}, 0)


def test_figures_have_intervals(report: TextReport) -> None:
    """Accuracy, macro F1, fold accuracy and rejection rates are within their intervals."""
    metrics = _card(report)["metrics"]

    for name in ("testAccuracy", "macroF1", "foldAccuracy", "rejectedInDomain"):
        figure = metrics[name]
        assert 0 <= figure["low"] <= figure["value"] <= figure["high"] <= 1, name
        assert figure["low"] < figure["high"]
        assert figure["level"] == 0.95
    assert metrics["foldAccuracy"]["value"] == pytest.approx(
        metrics["testAccuracy"]["value"], abs=0.2
    )
    assert 0 < metrics["brierScore"] < 1
    assert 0 < _card(report)["calibrationError"] < 0.2


def test_thresholds_are_those_of_the_served_answers(report: TextReport) -> None:
    """Coverage falls with the target precision, and rejected texts are not covered."""
    is_rejected = np.arange(90) % 9 == 0
    folds = replace(report.out_of_fold, is_rejected=is_rejected)
    found = _card(replace(report, out_of_fold=folds))["thresholds"]

    assert [one["precision"] for one in found] == [0.9, 0.95, 0.99]
    coverages = [one["coverage"] for one in found]
    assert coverages == sorted(coverages, reverse=True)
    assert 0.5 < coverages[0] < 0.9
    every = replace(folds, is_rejected=np.ones(90, bool))
    for one in _card(replace(report, out_of_fold=every))["thresholds"]:
        assert (one["threshold"], one["coverage"]) == (None, 0.0)


def test_a_model_that_never_rejects_says_nothing_of_it(report: TextReport) -> None:
    """Without a rejection threshold the card has no figure or sentence about it."""
    card = _card(replace(report, rejection=None))

    assert "rejectedInDomain" not in card["metrics"]
    assert "empty list" not in card["limits"]


def test_limits_are_reported(report: TextReport) -> None:
    """The card names few threshold texts, split duplicates, sampling and float32 as limits."""
    usual = _card(report)["limits"]
    assert "only 90 texts" in usual
    assert "whatever rate is requested" in usual
    assert "same artifact on every processor" in usual
    assert "near-duplicate" not in usual

    torn = _card(replace(report, duplicates_across_split=4, is_exact=False), available=1_000)[
        "limits"
    ]

    assert "4 of them have a near-duplicate" in torn
    assert "The dataset has 1000 texts" in torn
    assert "not promised on another processor" in torn


@pytest.mark.parametrize(("params", "share"), [(None, "5%"), ({"outOfDomainRate": 0.125}, "12.5%")])
def test_the_requested_rate_is_reported(
    report: TextReport, params: dict[str, object] | None, share: str
) -> None:
    """The limits name the requested rate only if there are enough texts."""
    assert report.rejection is not None
    many = replace(report, rejection=replace(report.rejection, judged_by=100))

    assert f"is to reject {share} of texts of the domain" in _card(many, params)["limits"]
    assert "is to reject" not in _card(report, params)["limits"]


def test_a_rate_without_effect_is_reported(report: TextReport) -> None:
    """A rate with an algorithm that never rejects is mentioned."""
    never = replace(report, rejection=None)

    assert "never rejects" in _card(never, {"outOfDomainRate": 0.1})["limits"]
    assert "never rejects" not in _card(never)["limits"]


def test_the_card_names_what_it_was_made_of(report: TextReport) -> None:
    """The card has profile, encoders with digests, seed and the artifact's digest."""
    encoders = [{"name": "all-MiniLM-L6-v2", "sha256": "f" * 64, "licence": "Apache-2.0"}]

    card = _card(report, profile="accurate", encoders=encoders)

    engine = card["engine"]
    assert (engine["profile"], engine["encoders"], engine["seed"]) == ("accurate", encoders, 0)
    assert engine["isReproducible"] is True
    assert card["artifactSha256"] == "0" * 64
    assert _card(replace(report, is_exact=False))["engine"]["isReproducible"] is False


def test_the_card_says_whether_the_head_answers_alone(report: TextReport) -> None:
    """The card has the weight of the nearest texts, or 0."""
    changed = replace(report, nearness_weight=8.0)

    assert _card(report)["engine"]["nearestTextWeight"] == 0.0
    assert _card(changed)["engine"]["nearestTextWeight"] == 8.0


def test_labels_without_a_test_are_named(report: TextReport) -> None:
    """Labels without held-out texts are named, up to a number."""
    labels = [f"label {number}" for number in range(14)]
    matrix = [[0] * 15 for _ in range(15)]
    matrix[3][3], matrix[4][5] = 6, 6
    tested = replace(report.metrics, labels=labels, confusion_matrix=matrix)

    limits = _card(replace(report, metrics=tested))["limits"]

    assert "Not tested" in limits
    assert "'label 2', 'label 5'" in limits
    assert "and 2 more labels" in limits
    assert "Not tested" not in _card(report)["limits"]


def test_the_card_says_what_is_rejected_of_the_background() -> None:
    """With background texts the card has both rejection rates and warns of other wordings."""
    options = TextFitOptions(out_of_domain_rate=0.05)
    report = fit(with_background(a_training_set([30] * 3)), options, [].append).report
    assert report is not None
    assert report.rejection is not None
    assert report.rejection.background is not None

    card = _card(report)

    share = report.rejection.background.value
    assert card["metrics"]["rejectedBackground"]["value"] == pytest.approx(share, abs=1e-6)
    assert f"texts on other topics it rejects {share:.1%}" in card["limits"]
    assert "Texts that users word differently" in card["limits"]


def test_the_card_says_what_feedback_did(report: TextReport) -> None:
    """If known, the card has the calibration on feedback."""
    changed = {"examples": 20, "errorBefore": 0.2, "errorAfter": 0.1}

    assert _card(report, feedback_calibration=changed)["feedbackCalibration"] == changed
    assert "feedbackCalibration" not in _card(report, feedback_calibration=None)
