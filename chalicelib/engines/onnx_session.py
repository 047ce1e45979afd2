"""Opens the graphs of all engines: one thread a run, and no memory kept between runs.

Imports ONNX Runtime, so it is imported by modules that do too, or inside functions.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime

_ONLY_ERRORS = 3  # ONNX Runtime's log severity


def open_session(path: Path, *, has_patterns: bool = True) -> onnxruntime.InferenceSession:
    """Open a graph.

    Args:
        path: the graph's file.
        has_patterns: whether memory is planned for each shape of input and the plan kept; not
            for inputs that come in all shapes.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = has_patterns
    options.log_severity_level = _ONLY_ERRORS
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
