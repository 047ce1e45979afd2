"""Checks the description in an imported model's archive, and creates the card of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.common.limits import MAX_LABELS, MAX_NAME_CHARACTERS
from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE, LANGUAGES
from chalicelib.domain.models.model import ALGORITHMS, Model
from chalicelib.errors import InvalidUpload

_LARGEST = 1e15
_MOST_FIGURES = 50
_MOST_CHARACTERS = 2_000
_INTERVAL = ("value", "low", "high", "level", "examples")


@dataclass(frozen=True, slots=True)
class ImportedDescription:
    """The checked members of `model.json`."""

    type: str
    language: str
    algorithm: str | None
    labels: Sequence[str]


def checked_description(manifest: Mapping[str, Any], family: str) -> ImportedDescription:
    """Check `model.json` and return its description of the model.

    The family is `language` or `vision`, from the path of the call.

    Raises:
        InvalidUpload: a member is missing or not allowed.
    """
    kind, language = str(manifest.get("type")), manifest.get("language")
    if kind not in FAMILY_TYPES[family]:
        others = [name for name, types in FAMILY_TYPES.items() if kind in types]
        remedy = f" Import it by /v2/{others[0]}/models/import." if others else ""
        raise InvalidUpload(
            f"model.json names the type {_shown(kind)}, which is not one of "
            f"{', '.join(FAMILY_TYPES[family])}.{remedy}"
        )
    if language not in (LANGUAGES if family == LANGUAGE else ("N/A",)):
        raise InvalidUpload(f"model.json names the language {_shown(language)}, which is unknown.")
    algorithm = manifest.get("algorithm")
    if algorithm is not None and algorithm not in ALGORITHMS.get(kind, ()):
        raise InvalidUpload(
            f"model.json names the algorithm {_shown(algorithm)}, which is unknown for {kind}."
        )
    return ImportedDescription(kind, str(language), algorithm, _labels(manifest.get("labels")))


def described(model: Model, description: ImportedDescription) -> Model:
    """Return a model with the type, language and algorithm that `description` names."""
    request = replace(model.request, algorithm=description.algorithm)
    return replace(model, type=description.type, language=description.language, request=request)


def _labels(value: object) -> Sequence[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_LABELS:
        raise InvalidUpload(f"model.json must name 1 to {MAX_LABELS:,} labels.")
    for label in value:
        if not isinstance(label, str) or not 1 <= len(label) <= MAX_NAME_CHARACTERS:
            raise InvalidUpload(
                f"model.json names the label {_shown(label)}; labels have 1 to "
                f"{MAX_NAME_CHARACTERS} characters."
            )
    if len(set(value)) < len(value):
        raise InvalidUpload("model.json names a label twice.")
    return tuple(value)


def imported_card(
    card: Mapping[str, Any], description: ImportedDescription, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the card of an imported model. Its metrics come from `card`, the archive's card.

    `facts` are members of the card that this installation determines, such as id, name and engine.

    Raises:
        InvalidUpload: a metric is not a number.
    """
    trained_on = card.get("trainedOn")
    examples = trained_on.get("examples") if isinstance(trained_on, dict) else 0
    made: dict[str, Any] = {
        **facts,
        "language": description.language,
        "trainedOn": {
            "datasetId": 0,
            "examples": examples if _is_count(examples) else 0,
            "labels": len(description.labels),
            "feedback": 0,
        },
        "metrics": _figures(card.get("metrics")),
        "limits": str(card.get("limits", ""))[:_MOST_CHARACTERS],
        "object": "card",
    }
    if description.algorithm is not None:
        made["algorithm"] = description.algorithm
    for name in ("calibrationError", "threshold"):
        if _is_number(card.get(name)):
            made[name] = card[name]
    return made


def imported_metrics(card: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """Return the `metricsData` of an imported model, taken from its card."""
    figures = {
        name: found["value"] if isinstance(found, dict) else found
        for name, found in card["metrics"].items()
    }
    return {"labels": list(labels), **figures}


def _figures(metrics: object) -> dict[str, Any]:
    """Return the metrics of a card: numbers, or objects with a value and confidence interval."""
    figures = metrics if isinstance(metrics, dict) else {}
    if len(figures) > _MOST_FIGURES:
        raise InvalidUpload(f"card.json has more than {_MOST_FIGURES} metrics.")
    made: dict[str, Any] = {}
    for name, figure in figures.items():
        if isinstance(figure, dict) and _is_number(figure.get("value")):
            made[name[:100]] = {
                key: figure[key] for key in _INTERVAL if _is_number(figure.get(key))
            }
        elif _is_number(figure):
            made[name[:100]] = figure
    return made


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _LARGEST  # false for NaN, too


def _is_count(value: object) -> bool:
    return _is_number(value) and isinstance(value, int) and value >= 0


def _shown(value: object) -> str:
    return repr(value)[:100]
