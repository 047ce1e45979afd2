"""What the cards of picture models have in common. Contract section 5, card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.domain.common.clock import date_text
from chalicelib.engines import metrics

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.head.training import HeadTraining

LEVEL = 0.95
"""Level of the card's intervals."""


@dataclass(frozen=True)
class CardFacts:
    """What an engine tells of a finished training."""

    engine: str
    """Name of the engine."""
    backbones: Sequence[Mapping[str, str]]
    """Backbones: name, sha256, licence."""
    artifact_sha256: str
    """Digest of the model, 64 hex digits."""
    details: Mapping[str, Any]
    """What was chosen while training."""
    limits: str
    """What the model should not be trusted with."""


def backbone_records(backbones: BackbonePool, names: Sequence[str]) -> list[dict[str, str]]:
    """Describe backbones: title, sha256, licence.

    Raises:
        BackboneNotInstalled: one of them is missing.
    """
    facts = [backbones.facts(name) for name in names]
    return [{"name": one.title, "sha256": one.sha256, "licence": one.licence} for one in facts]


def card_document(
    model: Model, training: HeadTraining, facts: CardFacts, now: datetime
) -> dict[str, Any]:
    """Return the model's card without metrics and data report.

    Args:
        model: the run.
        training: what was learnt from.
        facts: what the engine tells.
        now: date of the card.
    """
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


def share_record(hits: int, total: int) -> dict[str, float]:
    """Return a share with its 95 % interval, and the number of trials."""
    interval = metrics.wilson_interval(hits, total)
    return {
        "value": round(interval.value, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
        "level": LEVEL,
        "examples": total,
    }
