"""The JSON documents of a trained text model: metrics, learning curve, card.

They are stored beside the artifact in the API's own form, so that an export is readable as it
is. See chalicelib/engines/text/run.py; contract section 4, Metrics; section 5, card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chalicelib.domain.model import Model
    from chalicelib.engines.interface import TextEpoch, TextMetrics, TextReport

LEVEL = 0.95
"""Level of the card's intervals."""


def metrics_data(metrics: TextMetrics) -> dict[str, Any]:
    """Return the members that learning curve and metrics share."""
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
    """Return one record of the learning curve."""
    return {
        "epoch": epoch.epoch,
        "metricsData": metrics_data(epoch.metrics),
        "epochResults": {},
        "object": "learningcurve",
    }


def metrics_document(report: TextReport) -> dict[str, Any]:
    """Return the metricsData of GET models/{id}, its members in the contract's order."""
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
    """Return the model's card.

    Args:
        model: the run.
        report: what the training measured.
        facts: `created_at` (text), `artifact_sha256`, `encoders` [{name, sha256, licence}],
            `labels`, `examples`, `feedback`.
        seed: of the training.
    """
    interval = report.accuracy_interval
    card: dict[str, Any] = {"modelId": model.model_id, "name": model.name}
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
            "encoders": facts["encoders"],
            "seed": seed,
            "isReproducible": report.is_exact,
        },
        "artifactSha256": facts["artifact_sha256"],
        "metrics": {
            "testAccuracy": {
                "value": interval.value,
                "low": interval.low,
                "high": interval.high,
                "level": LEVEL,
            },
            "brierScore": report.brier_score,
        },
        "calibrationError": report.calibration_error,
        "limits": _limits(model, report, facts),
        "object": "card",
    }


def _limits(model: Model, report: TextReport, facts: Mapping[str, Any]) -> str:
    """Say in words what the model should not be trusted with."""
    parts = [
        f"Trained on {facts['examples']} texts of language {model.language}; "
        "texts of another kind may be misjudged.",
        f"Metrics come from {report.test_examples} texts that were held out.",
    ]
    if not report.is_exact:
        parts.append("With this many examples the artifact may differ between processors.")
    if model.request.algorithm == "multilingual-intent-ood":
        parts.append(
            "Texts unlike the training data are answered with an empty list; texts close to one "
            "of its labels, but of an intent it does not know, are often not told apart."
        )
    return " ".join(parts)
