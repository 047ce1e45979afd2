"""Builds the folders of the frozen vision networks: graph, names of labels, facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from infra.model_files.conversion import convert_lite2, convert_nanodet
from infra.model_files.errors import BrokenFile
from infra.model_files.installed import write_json
from infra.model_files.manifest import InstallableModel, Progress
from infra.model_files.sources.fetch import file_sha256
from infra.model_files.verification import vision_references

_IMAGENET_COUNT = 1_000
_PLAINER = {
    282: "tiger cat",  # "a cat having a striped coat"
    638: "maillot (tights)",  # "tights for gymnastics, a one-piece leotard, or a sport jersey"
    657: "missile",
    744: "projectile missile",  # "missile", like 657
    836: "sunglass",  # "sunglasses", like 837
    923: "plate of food",  # "plate", in ImageNet the main course
}
_KNOWN = {
    0: "tench",
    145: "king penguin",
    207: "golden retriever",
    281: "tabby cat",
    340: "zebra",
    436: "station wagon",
    508: "computer keyboard",
    665: "moped",
    779: "school bus",
    817: "sports car",
    954: "banana",
    999: "toilet paper",
}
"""Labels of ImageNet whose places are known from elsewhere: another order would move them."""

COCO = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"),
    *("traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat"),
    *("dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "backpack"),
    *("umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball"),
    *("kite", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket"),
    *("bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple"),
    *("sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair"),
    *("couch", "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse"),
    *("remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink"),
    *("refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier"),
    "toothbrush",
)
"""The eighty labels of COCO in the order of their identifiers."""


def imagenet_names(path: Path) -> list[str]:
    """Read the thousand names of ImageNet's labels, each of them once.

    Args:
        path: JSON file with a list of names in the order of the labels.

    Raises:
        BrokenFile: there are fewer or more, two are equal, or the order is another.
    """
    names = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(names, list) or len(names) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} is no list of {_IMAGENET_COUNT:,} names.")
    plain = [_PLAINER.get(place, str(name)) for place, name in enumerate(names)]
    if len({name.casefold() for name in plain}) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} names two labels alike.")
    moved = [name for place, name in _KNOWN.items() if plain[place].casefold() != name]
    if moved:
        raise BrokenFile(f"{path.name} has another order of labels: {', '.join(moved)}.")
    return plain


MODEL_FILE = "model.onnx"
FACTS_FILE = "backbone.json"
LABELS_FILE = "labels.json"


def build(model: InstallableModel, source: Path, result: Path, progress: Progress) -> None:
    """Write `model.onnx`, `labels.json` and, when the graph has been checked, `backbone.json`.

    Args:
        model: the manifest's entry.
        source: folder with the sources' files.
        result: existing folder to write to.
        progress: takes lines for the user.

    Raises:
        BrokenFile: a source's file is not what it should be.
        WrongOutputs: the graph gives other numbers than the references.
    """
    _CONVERSIONS[model.name](source, result)
    progress(f"{model.name}: checking against the reference outputs")
    vision_references.check_model(result / MODEL_FILE, model.name)
    write_facts(model, result)


def _convert_lite2(source: Path, result: Path) -> None:
    convert_lite2.convert(source, result)
    write_json(result / LABELS_FILE, imagenet_names(source / "names.json"))


def _convert_nanodet(source: Path, result: Path) -> None:
    convert_nanodet.convert(source, result)
    write_json(result / LABELS_FILE, COCO)


_CONVERSIONS: dict[str, Callable[[Path, Path], None]] = {
    "lite2": _convert_lite2,
    "nanodet": _convert_nanodet,
}


def write_facts(model: InstallableModel, folder: Path) -> None:
    """Write the facts file of a converted backbone: what cards and artifacts say of it."""
    facts = {
        "name": model.name,
        "title": model.title,
        "sha256": file_sha256(folder / MODEL_FILE),
        "licence": model.source.licence,
        "source": f"{model.source.package} {model.source.version}",
        "changes": model.changes,
    }
    write_json(folder / FACTS_FILE, facts)
