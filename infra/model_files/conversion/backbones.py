"""Builds the folders of the frozen vision networks: graph, names of labels, facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from infra.model_files.conversion import convert_lite2, convert_nanodet
from infra.model_files.conversion.label_names import COCO, imagenet_names
from infra.model_files.manifest import InstallableModel
from infra.model_files.sources.fetch import file_sha256
from infra.model_files.verification import vision_references

Progress = Callable[[str], None]

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
    _write(result / LABELS_FILE, imagenet_names(source / "names.json"))


def _convert_nanodet(source: Path, result: Path) -> None:
    convert_nanodet.convert(source, result)
    _write(result / LABELS_FILE, COCO)


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
    _write(folder / FACTS_FILE, facts)


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
