"""Mends the graph of SLANet-1M and writes the list of its tokens.

The source notes wrong shapes for values of its loop: ONNX Runtime works out the right ones and
complains of every step. The notes are removed; no number is changed.
"""

from __future__ import annotations

import json
from pathlib import Path

import onnx

from infra.model_files.errors import BrokenFile

MODEL = "model.onnx"
TOKENS = "tokens.json"
_BEGIN, _END = "sos", "eos"  # of the sequence of tokens
_OPEN_CELL, _CELL = "<td>", "<td></td>"
_TOKENS = 30


def forget_shapes(graph: onnx.GraphProto) -> None:
    """Remove the noted shapes of values, also of what loops give, in place."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                body = attribute.g
                for value in body.output:
                    value.type.tensor_type.ClearField("shape")
                del body.value_info[:]
                forget_shapes(body)
    del graph.value_info[:]


def tokens_of(model: onnx.ModelProto) -> list[str]:
    """Return what each column of the structure output stands for.

    The source lists 28 tokens. In the columns the token for the beginning comes before them and
    that for the end behind; a cell's plain opening tag stands behind the rest, closed at once.

    Raises:
        BrokenFile: the list is not the one expected.
    """
    listed = {entry.key: entry.value for entry in model.metadata_props}.get("character", "")
    tokens = [token for token in listed.split("\n") if token != _OPEN_CELL]
    tokens = [_BEGIN, *tokens, _CELL, _END]
    if len(set(tokens)) != _TOKENS:
        raise BrokenFile(f"slanet: the network has {len(set(tokens))} tokens, not {_TOKENS}.")
    return tokens


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` and `tokens.json`.

    Args:
        source: folder with `model.onnx` as it came.
        target: existing folder to write to.

    Raises:
        BrokenFile: the graph is not what it should be.
    """
    model = onnx.load(str(source / MODEL))
    tokens = tokens_of(model)
    forget_shapes(model.graph)
    del model.metadata_props[:]
    (target / MODEL).write_bytes(model.SerializeToString(deterministic=True))
    (target / TOKENS).write_text(json.dumps(tokens, indent=1) + "\n", encoding="utf-8")
