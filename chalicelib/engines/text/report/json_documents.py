"""The JSON documents of a trained text model: metrics, learning curve, model card.

They are stored in the form that the API returns (contract, sections 4 and 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.limits import OUT_OF_DOMAIN_RATE
from chalicelib.engines.metrics import wilson_interval
from chalicelib.engines.target_thresholds import target_thresholds
from chalicelib.engines.text.head.out_of_domain import ENOUGH_FOR_QUANTILE, FEW_TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.interface import (
        Interval,
        OutOfFold,
        RejectionQuality,
        TextEpoch,
        TextMetrics,
        TextReport,
    )

# Confidence level of the card's intervals.
LEVEL = 0.95
_SHOWN_LABELS = 10
# What a model of up to 2,000 texts adds to the log-odds of out-of-fold predictions. On 43 draws of
# BANKING77, CLINC150 and SIB-200, this reduces the error of the coverage from .045 to .004.
_GAIN = 0.25
# Members of the card that are copied from the facts.
_SAME = {"trainedFrom": "trained_from", "advice": "advice", "dataReport": "data_report"}


def metrics_data(metrics: TextMetrics) -> dict[str, Any]:
    """Return metrics as JSON members that the learning curve and the metrics document share."""
    return {
        "f1": metrics.f1,
        "labels": metrics.labels,
        "recall": metrics.recall,
        "macroF1": metrics.macro_f1,
        "testLoss": metrics.test_loss,
        "precision": metrics.precision,
        "testAccuracy": metrics.test_accuracy,
        "trainingLoss": metrics.training_loss,
        "confusionMatrix": metrics.confusion_matrix,
        "trainingAccuracy": metrics.training_accuracy,
    }


def curve_record(epoch: TextEpoch) -> dict[str, Any]:
    """Return the learning curve's record of an epoch."""
    return {
        "epoch": epoch.epoch,
        "metricsData": metrics_data(epoch.metrics),
        "epochResults": {},
        "object": "learningcurve",
    }


def metrics_document(report: TextReport) -> dict[str, Any]:
    """Return the `metricsData` of GET models/{id}, with its members in the contract's order."""
    curve = report.curve
    before = metrics_data(report.metrics)
    names = ("testAccuracy", "trainingLoss", "confusionMatrix", "trainingAccuracy")
    after = {name: before.pop(name) for name in names}
    return {
        **before,
        "threshold": report.thresholds,
        **after,
        "precisionRecallCurve": {
            "f1": curve.f1,
            "recall": curve.recall,
            "precision": curve.precision,
            "threshold": curve.threshold,
        },
    }


def card_document(
    model: Model, report: TextReport, facts: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Return the model card.

    Args:
        model: the trained model.
        report: the training's report.
        facts: a mapping with `created_at` (str), `artifact_sha256`, `profile`, `profile_reason`,
            `encoders` [{name, sha256, licence}], `labels`, `examples`, `feedback`, `skipped` labels
            with their counts, `text_limit`, `trained_from`, `advice`, `data_report`.
        seed: seed of the training.
    """
    card: dict[str, Any] = {"modelId": model.model_id, "name": model.name}
    calibration = facts.get("feedback_calibration")
    if model.request.algorithm is not None:
        card["algorithm"] = model.request.algorithm
    return {
        **card,
        "language": model.language,
        "createdAt": facts["created_at"],
        "trainedOn": {
            "datasetId": model.dataset_id,
            "examples": facts["examples"],
            "labels": facts["labels"],
            "feedback": facts["feedback"],
        },
        "engine": {
            "name": "text-linear",
            "version": 1,
            "profile": facts["profile"],
            "profileReason": facts["profile_reason"],
            "encoders": facts["encoders"],
            "seed": seed,
            "isReproducible": report.is_exact,
            "nearestTextWeight": report.nearness_weight,
        },
        "artifactSha256": facts["artifact_sha256"],
        "metrics": _card_metrics(report),
        "calibrationError": report.calibration_error,
        **({} if calibration is None else {"feedbackCalibration": calibration}),
        "limits": _limits(model, report, facts),
        "textLimit": facts["text_limit"],
        **_skipped(model, facts),
        "thresholds": threshold_records(report.out_of_fold),
        **{name: facts[key] for name, key in _SAME.items()},
        "object": "card",
    }


def _skipped(model: Model, facts: Mapping[str, Any]) -> dict[str, Any]:
    if not model.request.skips_small_labels:
        return {}
    return {
        "skippedLabels": [
            {"name": name, "numExamples": count} for name, count in facts.get("skipped", ())
        ]
    }


def threshold_records(folds: OutOfFold) -> list[dict[str, Any]]:
    """Return, for each target precision, the probability threshold to show on the model card."""
    shares = folds.probabilities if folds.calibrated is None else folds.calibrated
    best = shares.max(axis=1)
    if folds.is_rejected is not None:
        # A rejected text has no prediction, so it counts below every threshold.
        best = np.where(folds.is_rejected, -1.0, best)
    gain = _GAIN if len(best) <= FEW_TEXTS else 0.0
    return target_thresholds(best, shares.argmax(axis=1) == folds.truth, gain=gain)


def _card_metrics(report: TextReport) -> dict[str, Any]:
    folds = report.out_of_fold
    hits = int((folds.probabilities.argmax(axis=1) == folds.truth).sum())
    found: dict[str, Any] = {
        "testAccuracy": _figure(report.accuracy_interval),
        "macroF1": _figure(report.macro_f1_interval),
        "foldAccuracy": _figure(wilson_interval(hits, len(folds.truth))),
        "brierScore": report.brier_score,
    }
    rejection = report.rejection
    if rejection is not None:
        found["rejectedInDomain"] = _figure(rejection.held_out)
        if rejection.background is not None:
            found["rejectedBackground"] = _figure(rejection.background)
        if rejection.withheld_clusters is not None and rejection.withheld_labels is not None:
            found["rejectedWithheldClusters"] = _figure(rejection.withheld_clusters)
            found["rejectedWithheldLabels"] = _figure(rejection.withheld_labels)
    return found


def _figure(interval: Interval) -> dict[str, float]:
    return {
        "value": round(interval.value, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
        "level": LEVEL,
    }


def _limits(model: Model, report: TextReport, facts: Mapping[str, Any]) -> str:
    parts = [
        f"Trained on {facts['examples']} texts of language {model.language}; "
        "texts of another kind may be misjudged."
    ]
    if facts["available"]:
        parts.append(
            f"The dataset has {facts['available']} texts; these were drawn from them, label by "
            "label, because more do not fit into the memory and the time of a training."
        )
    parts.append(f"Metrics come from {report.test_examples} texts that were held out.")
    untested = _untested(report)
    if facts["trained_from"] == "labelNames":
        parts.append("It was trained from names of labels alone, so its accuracy is unknown.")
    elif facts["trained_from"] == "both":
        parts += _of_few_examples(report.test_examples, untested)
    elif untested:
        parts.append(
            f"Not tested, because nothing could be held out without losing it for the training: "
            f"{untested}; f1, precision and recall stand at 0 there."
        )
    if report.duplicates_across_split:
        parts.append(
            f"{report.duplicates_across_split} of them have a near-duplicate among the others, "
            "which flatters the metrics: nothing else could be held out."
        )
    parts.append(_reproducible(report))
    rate = model.request.param("outOfDomainRate")
    if report.rejection is not None:
        asked = OUT_OF_DOMAIN_RATE if rate is None else float(str(rate))
        parts.append(_rejecting(report.rejection, asked))
    elif rate is not None:
        parts.append(
            "It never rejects a text: outOfDomainRate needs an algorithm of intents, and a model "
            "that was first trained when the parameter counted with it. Train a new model."
        )
    return " ".join(parts)


def _of_few_examples(tested_count: int, untested_labels: str) -> list[str]:
    if not tested_count:
        return ["No label has two examples, so its accuracy is unknown."]
    said = ["A model trained without the example predicted it, from fewer examples."]
    if untested_labels:
        said.append(f"Not tested, because they have fewer than two examples: {untested_labels}.")
    return said


def _untested(report: TextReport) -> str:
    rows = zip(report.metrics.labels, report.metrics.confusion_matrix, strict=False)
    names = [name for name, row in rows if not sum(row)]
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN_LABELS])
    rest = len(names) - _SHOWN_LABELS
    return f"{shown} and {rest} more labels" if rest > 0 else shown


def _reproducible(report: TextReport) -> str:
    if not report.is_exact:
        return "With this many examples the same artifact is not promised on another processor."
    return (
        "The same embeddings and seed give the same artifact on every processor; texts that are "
        "embedded again on another one get probabilities within 0.01 of these."
    )


def _margin(rejection: RejectionQuality) -> str:
    clusters, labels = rejection.withheld_clusters, rejection.withheld_labels
    if clusters is None or labels is None:
        return " The threshold has no margin for the wording of users."
    return (
        " The threshold has a margin for the wording of users: models that did not see any text "
        f"of a group of similar ones reject {clusters.value:.1%} of that group, and models that "
        f"did not see a label reject {labels.value:.1%} of its texts."
    )


def _rejecting(rejection: RejectionQuality, rate: float) -> str:
    if rejection.background is not None:
        return (
            "Texts unlike the training data are answered with an empty list. The threshold is to "
            f"reject {100 * rate:.3g}% of texts of the domain, and {rejection.held_out.value:.1%} "
            f"of the held-out ones fall below it; of {rejection.background_texts} English texts "
            f"on other topics it rejects {rejection.background.value:.1%}. Neither was used to "
            "train the head or the threshold. Texts that users word differently are rejected more "
            "often. A text close to a label, but with an unknown intent, is "
            "often not rejected." + _margin(rejection)
        )
    aim = f"The threshold is to reject {100 * rate:.3g}% of texts of the domain"
    if rejection.judged_by < ENOUGH_FOR_QUANTILE:
        aim = (
            f"There are only {rejection.judged_by} texts to set the threshold from. With fewer "
            f"than {ENOUGH_FOR_QUANTILE}, it is below all of them, whatever rate is requested; "
            "it is cautious"
        )
    return (
        "Texts unlike the training data are answered with an empty list. Texts close to a "
        f"label, but with an unknown intent, are often not rejected. {aim} and "
        "was set from such texts alone; "
        f"{rejection.held_out.value:.1%} of the held-out ones fall below it."
    )
