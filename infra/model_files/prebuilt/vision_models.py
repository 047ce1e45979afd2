"""Builds the prebuilt image models: a published network and a subset of its labels.

Nothing is trained: the artifact names the network, the labels, and each label's output index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chalicelib.engines import artifact
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion.networks import BACKBONE_FACTS, LABELS_FILE
from infra.model_files.description import Conversion
from infra.model_files.installed import write_json
from infra.model_files.label_lists import FOOD, SCENE
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import cards

KIND = "vision-prebuilt"
VERSION = 1
_IMAGENET = (
    "Trained by its authors on the photographs of ImageNet-1k; other kinds of images may be "
    "misjudged. The authors publish a top-1 accuracy of about 0.776 for all 1,000 labels; it was "
    "not measured here. An image that shows several things gets one label."
)
_SUBSET = (
    "The labels are a renormalised subset of ImageNet labels: the probabilities of the {count} "
    "{kind} are scaled to sum to 1. So every image gets one of these labels, whatever it shows. "
)
_COCO = (
    "Trained by its authors on the photographs of COCO. The score of a label is its highest score "
    "at any position in the image. A useful threshold is 0.35. Small objects are often missed, and "
    "scores are not calibrated probabilities."
)


@dataclass(frozen=True)
class _Choice:
    """The subset of a network's labels that a prebuilt model uses, and texts for its card."""

    type: str
    """Dataset type; the model returns predictions like models of this type."""
    labels: Mapping[int, str] | None
    """The used labels by their index in the network's output; None if all are used."""
    data: str
    """The data that the network was trained on."""
    limits: str
    """Sentences for the card."""


def _subset(labels: Mapping[int, str], kind: str) -> _Choice:
    limits = _SUBSET.format(count=len(labels), kind=kind) + _IMAGENET
    return _Choice("image", labels, "ImageNet-1k", limits)


_CHOICES = {
    "GeneralImageClassifier": _Choice("image", None, "ImageNet-1k", _IMAGENET),
    "FoodImageClassifier": _subset(FOOD, "labels of food"),
    "SceneClassifier": _subset(SCENE, "labels of places"),
    "MultiLabelImageClassifier": _Choice("image-multi-label", None, "COCO", _COCO),
}


def build(job: Conversion) -> None:
    """Write `artifact.npz` and `card.json`.

    Raises:
        BrokenFile: the network has another label at an index of the subset.
    """
    name = job.model.name
    choice = _CHOICES[name]
    folder = job.directory / MODELS[job.model.needs[0]].folder
    facts = json.loads((folder / BACKBONE_FACTS).read_text(encoding="utf-8"))
    known = json.loads((folder / LABELS_FILE).read_text(encoding="utf-8"))
    indexes = _find_indexes(name, choice, known)
    content = artifact.dump(
        {
            "kind": KIND,
            "version": VERSION,
            "model": name,
            "type": choice.type,
            "backbone": facts["name"],
            "sha256": facts["sha256"],
            "backbone_sha256": facts["sha256"],
            "labels": [known[index] for index in indexes],
        },
        {"indexes": np.array(indexes, np.int64)},
    )
    (job.result / "artifact.npz").write_bytes(content)
    write_json(job.result / "card.json", _make_card(name, facts, len(indexes), content))


def _find_indexes(name: str, choice: _Choice, labels: Sequence[str]) -> list[int]:
    if choice.labels is None:
        return list(range(len(labels)))
    # If the labels had another order, predictions would get wrong names.
    for index, label in choice.labels.items():
        if labels[index] != label:
            raise BrokenFile(f"{name}: label {index} is {labels[index]}, not {label}.")
    return list(choice.labels)


def _make_card(name: str, facts: Mapping[str, Any], labels: int, content: bytes) -> dict[str, Any]:
    choice = _CHOICES[name]
    backbone = {"name": facts["title"], "sha256": facts["sha256"], "licence": facts["licence"]}
    return cards.Card(
        name=name,
        algorithm=choice.type,
        language="N/A",
        trained_on={
            "labels": labels,
            "feedback": 0,
            "source": f"{choice.data}. The network was trained by its authors and is downloaded "
            f"as {facts['source']}.",
            "licence": facts["licence"],
        },
        engine={"name": KIND, "version": VERSION, "backbones": [backbone]},
        content=content,
        limits=choice.limits,
    ).record()
