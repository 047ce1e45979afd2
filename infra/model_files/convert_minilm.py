"""Quantises all-MiniLM-L6-v2 to 8 bits. Called by infra/model_files/install.py."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the quantiser's advice to run a pre-processing that this graph does not need."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logging.disable(before)


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` (8-bit weights per channel) and `tokenizer.json`.

    The range is reduced to 7 bits because CPUs without VNNI saturate on 8 and would give other
    vectors. Shapes noted in the graph are dropped: they contradict the quantised nodes.

    Args:
        source: folder with `model.onnx`, `model.onnx_data` and `tokenizer.json`.
        target: existing folder to write to.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(str(source / "model.onnx"), load_external_data=True)
    del model.graph.value_info[:]
    with _quiet():
        quantize_dynamic(
            model,
            str(target / "model.onnx"),
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
