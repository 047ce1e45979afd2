"""Opens ONNX graphs for all engines. Each run uses one thread and frees its memory afterwards.

This module imports ONNX Runtime. So import it only inside functions, or in modules that import
ONNX Runtime themselves.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime

_ONLY_ERRORS = 3  # ONNX Runtime's log severity


def open_session(path: Path, *, has_patterns: bool = True) -> onnxruntime.InferenceSession:
    """Open a graph.

    Args:
        path: the graph's file.
        has_patterns: whether to store the memory plan of each input shape; useful only if few
            shapes occur.
    """
    options = onnxruntime.SessionOptions()
    # Threads change the last bits of sums, and the callers run several texts or pages in parallel.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The arena would retain the memory of the largest run until the process ends.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = has_patterns
    options.log_severity_level = _ONLY_ERRORS
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
