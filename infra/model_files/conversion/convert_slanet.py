"""Repairs the graph of SLANet-1M and writes the list of its tokens.

The published graph declares wrong shapes for values of its loop. ONNX Runtime infers the right
shapes but logs a warning at every step. The wrong shapes are removed; no number is changed.
"""

from __future__ import annotations

import json
from pathlib import Path

import onnx

from infra.downloads.errors import BrokenFile

MODEL = "model.onnx"
TOKENS = "tokens.json"
_BEGIN, _END = "sos", "eos"  # of the sequence of tokens
_OPEN_CELL, _CELL = "<td>", "<td></td>"
_TOKENS = 30


def remove_shapes(graph: onnx.GraphProto) -> None:
    """Remove the declared shapes of values, also of the outputs of loops, in place."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                body = attribute.g
                for value in body.output:
                    value.type.tensor_type.ClearField("shape")
                del body.value_info[:]
                remove_shapes(body)
    del graph.value_info[:]


def tokens_of(model: onnx.ModelProto) -> list[str]:
    """Return the 30 tokens of the structure output; raise BrokenFile for any other number."""
    # The graph lists 28 tokens. The columns also have a token of the beginning, before these, and
    # one of the end, after them. The opening tag of a plain cell is moved to the end, with its
    # closing tag.
    listed = {entry.key: entry.value for entry in model.metadata_props}.get("character", "")
    tokens = [token for token in listed.split("\n") if token != _OPEN_CELL]
    tokens = [_BEGIN, *tokens, _CELL, _END]
    if len(set(tokens)) != _TOKENS:
        raise BrokenFile(f"slanet: the network has {len(set(tokens))} tokens, not {_TOKENS}.")
    return tokens


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` and `tokens.json`; raise BrokenFile if the source is another graph."""
    model = onnx.load(str(source / MODEL))
    tokens = tokens_of(model)
    remove_shapes(model.graph)
    del model.metadata_props[:]
    (target / MODEL).write_bytes(model.SerializeToString(deterministic=True))
    (target / TOKENS).write_text(json.dumps(tokens, indent=1) + "\n", encoding="utf-8")
