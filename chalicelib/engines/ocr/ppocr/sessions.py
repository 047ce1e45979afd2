"""ONNX Runtime sessions that stay small.

Called by chalicelib/engines/ocr/ppocr/engine.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnxruntime

if TYPE_CHECKING:
    from pathlib import Path

_ONLY_ERRORS = 3  # ONNX Runtime's log severity


def open_session(path: Path) -> Any:
    """Open a graph with one thread a run.

    Neither the arena nor the memory patterns, which are kept for each shape seen: lines come
    in all widths.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = _ONLY_ERRORS
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
