"""Writes a model: its record, artifact, card, metrics and learning curve."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from chalicelib.container import Container
from chalicelib.domain.common.limits import EPOCHS_RANGE
from chalicelib.domain.models.model import Model
from chalicelib.stores.models.versions import ARTIFACT, CARD, METRICS
from chalicelib.web import describe


def export_model(container: Container, model: Model, place: Path) -> None:
    """Write everything that a model has; one that never succeeded has its record alone."""
    place.mkdir(parents=True)
    _write(place / "model.json", msgspec.to_builtins(describe.model(model)))
    if not model.version:
        return
    files = container.stores.model_files
    content = files.artifact(model.model_id, model.version)
    if content is not None:
        (place / ARTIFACT).write_bytes(content)
    for name in (CARD, METRICS):
        document = files.document(model.model_id, model.version, name)
        if document is not None:
            _write(place / name, document)
    curve = container.stores.curves.page(model, 0, EPOCHS_RANGE[1])
    _write(place / "learningcurve.json", list(curve.items))


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
