"""Writes the parts of model cards and data reports that are the same for all linear heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.clock import date_text
from chalicelib.engines import metrics
from chalicelib.engines.data_report import MAX_LISTED

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.linear_head.training import LinearHeadTraining

# Confidence level of the card's intervals.
LEVEL = 0.95


@dataclass(frozen=True)
class LinearCardFacts:
    """Facts for the model card that depend on the type of the model."""

    engine: str
    backbones: Sequence[Mapping[str, str]]
    """Name, sha256 and licence of each backbone."""
    artifact_sha256: str
    details: Mapping[str, Any]
    """Settings chosen during the training."""
    limits: str
    """Text about the limitations of the model."""


def backbone_records(backbones: BackbonePool, names: Sequence[str]) -> list[dict[str, str]]:
    """Return the title, the SHA-256 digest and the licence of each backbone.

    Raises:
        BackboneNotInstalled: a backbone is missing.
    """
    facts = [backbones.facts(name) for name in names]
    return [{"name": one.title, "sha256": one.sha256, "licence": one.licence} for one in facts]


def card_document(
    model: Model, training: LinearHeadTraining, facts: LinearCardFacts, now: datetime
) -> dict[str, Any]:
    """Return the model card without its metrics and its data report."""
    pictures = training.data.pictures
    return {
        "modelId": model.model_id,
        "name": model.name,
        "language": model.language,
        "createdAt": date_text(now),
        "trainedOn": {
            "datasetId": model.dataset_id,
            "examples": pictures.examples,
            "labels": len(pictures.labels),
            "feedback": pictures.feedback,
            "pictures": len(pictures.pictures),
        },
        "engine": {
            "name": facts.engine,
            "version": 1,
            "backbones": list(facts.backbones),
            "seed": training.options.seed,
            "isReproducible": training.is_exact,
            **facts.details,
        },
        "artifactSha256": facts.artifact_sha256,
        "metrics": {},
        "calibrationError": None,
        "limits": facts.limits,
        "dataReport": {},
        "object": "card",
    }


def present_labels(training: LinearHeadTraining) -> list[str]:
    """Return the names of the labels that have images; the head predicts only these labels."""
    names = training.data.pictures.labels
    return [names[label] for label in training.targets.present]


def share_record(hits: int, total: int) -> dict[str, float]:
    """Return hits / total as JSON: the value, its 95 % interval and the number `total`."""
    interval = metrics.wilson_interval(hits, total)
    return {
        "value": round(interval.value, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
        "level": LEVEL,
        "examples": total,
    }


def duplicates_record(training: LinearHeadTraining) -> dict[str, Any]:
    """Return the record of near-duplicates for the data report."""
    pairs, held = training.pairs(), training.split.held_out
    pictures = training.data.pictures.pictures
    is_torn = held[pairs.left] != held[pairs.right]
    differing = [
        number
        for number, (left, right) in enumerate(zip(pairs.left, pairs.right, strict=True))
        if set(pictures[left].labels) != set(pictures[right].labels)
    ]
    # The most similar first, because equal files with different labels are certainly wrong.
    differing.sort(key=lambda number: (-pairs.cosines[number], number))
    return {
        "conflictingNearDuplicates": [
            {
                "examples": [
                    _example(training, int(pairs.left[number])),
                    _example(training, int(pairs.right[number])),
                ],
                "similarity": round(float(pairs.cosines[number]), 6),
            }
            for number in differing[:MAX_LISTED]
        ],
        "duplicatesAcrossSplit": int(np.count_nonzero(is_torn)),
        "duplicatesKeptTogether": int(np.count_nonzero(~is_torn)),
    }


def _example(training: LinearHeadTraining, place: int) -> dict[str, Any]:
    image, names = training.data.pictures.pictures[place], training.data.pictures.labels
    return {
        "id": image.example_ids[0],
        "name": image.name,
        "label": ", ".join(names[label] for label in image.labels),
    }
