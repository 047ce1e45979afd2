"""Quantises all-MiniLM-L6-v2 to 8 bits."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx

from infra.model_files.conversion.quantise import quantise


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` (8-bit weights per channel) and `tokenizer.json`.

    Args:
        source: folder with `model.onnx`, `model.onnx_data` and `tokenizer.json`.
        target: existing folder to write to.
    """
    model = onnx.load(str(source / "model.onnx"), load_external_data=True)
    quantise(model, target / "model.onnx")
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
