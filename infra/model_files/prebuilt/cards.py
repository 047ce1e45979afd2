"""The parts that the cards of all prebuilt models share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from chalicelib.engines.text.encoding.interface import Encoder

INTERVAL_LEVEL = 0.95


@dataclass(frozen=True)
class Card:
    """The content of a model card."""

    name: str
    algorithm: str
    """Dataset type; the model returns predictions like models of this type."""
    trained_on: Mapping[str, Any]
    """The training data, and the licence of the model."""
    engine: Mapping[str, Any]
    """Kind, version and networks of the engine."""
    content: bytes
    """The bytes whose digest is `artifactSha256`."""
    limits: str
    """Sentences about what the model cannot do."""
    language: str = "en_US"
    metrics: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the card, listed after the metrics."""
    created_at: str = field(
        default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    )

    def record(self) -> dict[str, Any]:
        """Return the card in the form of the API's card record."""
        return {
            "modelId": self.name,
            "name": self.name,
            "algorithm": self.algorithm,
            "language": self.language,
            "createdAt": self.created_at,
            "trainedOn": self.trained_on,
            "engine": self.engine,
            "artifactSha256": hashlib.sha256(self.content).hexdigest(),
            "metrics": self.metrics,
            **self.figures,
            "limits": self.limits,
            "object": "card",
        }


def describe_encoder(encoder: Encoder) -> dict[str, Any]:
    """Return the description of an encoder for a card."""
    return {"name": encoder.facts.title, "sha256": encoder.sha256, "licence": encoder.licence}


def metrics_record(card: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's metrics record for a model's card."""
    same = {key: card[key] for key in ("createdAt", "language", "algorithm")}
    return {"id": card["modelId"], "metricsData": data, **same, "object": "metrics"}
