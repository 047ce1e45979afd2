"""Builds the prebuilt image models: a frozen network and a choice among its own labels.

Nothing is learnt: the artifact names the network, the labels and their places in its output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.engines import artifact
from infra.model_files.conversion.backbones import FACTS_FILE, LABELS_FILE
from infra.model_files.errors import BrokenFile
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS, InstallableModel
from infra.model_files.prebuilt.label_subsets import FOOD, SCENE

KIND = "vision-prebuilt"
VERSION = 1
_ANY_LANGUAGE = "N/A"
_IMAGENET = (
    "Trained by its makers on the photographs of ImageNet-1k; other kinds of pictures may be "
    "misjudged. The top-1 accuracy they publish for all 1,000 labels is about 0.776; it was not "
    "measured here. One label a picture: of several things one wins."
)
_SUBSET = (
    "A renormalised subset of ImageNet labels: the probabilities of the {count} {kind} among the "
    "1,000 labels, scaled to sum to 1. It knows no other label and answers with one of these for "
    "every picture, whatever it shows. "
)
_COCO = (
    "Trained by its makers on the photographs of COCO. Every one of the 80 labels is returned with "
    "the greatest score of any place in the picture; a useful threshold is 0.35. Small things are "
    "often missed, and scores are not calibrated probabilities."
)


@dataclass(frozen=True)
class _Choice:
    """What a prebuilt model says."""

    type: str
    """Type of data set it answers like."""
    labels: Mapping[int, str] | None
    """Names of the labels by their place in the network's output; None for all."""
    data: str
    """What the network was trained on."""
    limits: str
    """For the card."""


_CHOICES = {
    "GeneralImageClassifier": _Choice("image", None, "ImageNet-1k", _IMAGENET),
    "FoodImageClassifier": _Choice(
        "image",
        FOOD,
        "ImageNet-1k",
        _SUBSET.format(count=len(FOOD), kind="labels of food") + _IMAGENET,
    ),
    "SceneClassifier": _Choice(
        "image",
        SCENE,
        "ImageNet-1k",
        _SUBSET.format(count=len(SCENE), kind="labels of places") + _IMAGENET,
    ),
    "MultiLabelImageClassifier": _Choice("image-multi-label", None, "COCO", _COCO),
}


def build(model: InstallableModel, directory: Path, result: Path) -> None:
    """Write `artifact.npz` and `card.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with the backbone installed.
        result: existing folder to write to.

    Raises:
        BrokenFile: the backbone's labels are not those that were chosen from.
    """
    choice = _CHOICES[model.name]
    folder = directory / MODELS[model.needs[0]].folder
    facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
    known = json.loads((folder / LABELS_FILE).read_text(encoding="utf-8"))
    indexes = _indexes(model.name, choice, known)
    labels = [known[index] for index in indexes]
    content = artifact.dump(
        {
            "kind": KIND,
            "version": VERSION,
            "model": model.name,
            "type": choice.type,
            "backbone": facts["name"],
            "sha256": facts["sha256"],
            "backbone_sha256": facts["sha256"],
            "labels": labels,
        },
        {"indexes": np.array(indexes, np.int64)},
    )
    (result / "artifact.npz").write_bytes(content)
    card = make_card(model, facts, len(labels), content)
    write_json(result / "card.json", card)


def _indexes(name: str, choice: _Choice, known: Sequence[str]) -> list[int]:
    """Return the places of the chosen labels in the network's output."""
    if choice.labels is None:
        return list(range(len(known)))
    for index, label in choice.labels.items():
        if known[index] != label:
            raise BrokenFile(f"{name}: label {index} is {known[index]}, not {label}.")
    return list(choice.labels)


def make_card(
    model: InstallableModel, facts: Mapping[str, Any], labels: int, content: bytes
) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record."""
    choice = _CHOICES[model.name]
    backbone = {"name": facts["title"], "sha256": facts["sha256"], "licence": facts["licence"]}
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": choice.type,
        "language": _ANY_LANGUAGE,
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "trainedOn": {
            "labels": labels,
            "feedback": 0,
            "source": f"{choice.data}, by the makers of {facts['title']}; fetched as "
            f"{facts['source']}",
            "licence": facts["licence"],
        },
        "engine": {"name": KIND, "version": VERSION, "backbones": [backbone]},
        "artifactSha256": hashlib.sha256(content).hexdigest(),
        "metrics": {},
        "limits": choice.limits,
        "object": "card",
    }
