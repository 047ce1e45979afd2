"""Runs the frozen part of the installed encoder: embeddings and first layers, in 8 bits.

What is tuned thus learns on the very numbers that it gets when it is served.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from tokenizers import Tokenizer

from chalicelib.domain.common.arrays import Halves
from chalicelib.engines.text.encoding.onnx_encoders import MAX_TOKENS, clean_text

_REPORT_TEXTS = 4_000


def output_of_layer(layer: int) -> str:
    """Return the name of a layer's output in the graph."""
    return f"/model/layers.{layer}/mlp_output_norm_layernorm/output_0"


def frozen_states(
    folder: Path, layers: int, texts: Sequence[str], progress: Callable[[str], None]
) -> list[Halves]:
    """Return each text's states after the frozen layers.

    Args:
        folder: an encoder's folder with `model.onnx` and `tokenizer.json`.
        layers: how many layers are frozen.
        texts: any strings.
        progress: takes lines for the user.

    Returns:
        One array a text, float16, shape (tokens, dimensions).
    """
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    model = onnx.load(str(folder / "model.onnx"))
    output = output_of_layer(layers - 1)
    kind = onnx.TensorProto.FLOAT
    model.graph.output.append(onnx.helper.make_tensor_value_info(output, kind, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    states = []
    for number, text in enumerate(texts):
        if number % _REPORT_TEXTS == 0:
            progress(f"read {number:,} of {len(texts):,} sentences")
        ids = np.array([tokenizer.encode(clean_text(text)).ids], np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states.append(session.run([output], inputs)[0][0].astype(np.float16))
    return states
