"""What the cards and metrics of the prebuilt text models have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.engines.text.encoding.interface import Encoder

LANGUAGE = "en_US"
LEVEL = 0.95
"""Of the intervals."""


def describe_encoder(encoder: Encoder) -> dict[str, Any]:
    """Return what a card says of an encoder."""
    return {"name": encoder.facts.title, "sha256": encoder.sha256, "licence": encoder.licence}


def metrics_record(card: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's metrics record of a card's model."""
    same = {key: card[key] for key in ("createdAt", "language", "algorithm")}
    return {"id": card["modelId"], "metricsData": data, **same, "object": "metrics"}
