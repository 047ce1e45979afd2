"""Reads a TensorFlow.js graph model: nodes from the JSON file, weights from the binary file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.domain.common.arrays import Array
from infra.downloads.errors import BrokenFile

_TYPES = {"float32": "<f4", "float16": "<f2", "int32": "<i4"}


@dataclass(frozen=True)
class Node:
    """One operation of the graph."""

    name: str
    kind: str
    """The operation, as TensorFlow names it."""
    inputs: tuple[str, ...]
    """Names of nodes or weights; a trailing `:1` means a node's second output."""
    attributes: Mapping[str, Any]

    def integers(self, name: str) -> list[int]:
        """Return an attribute that is a list of integers."""
        return [int(value) for value in self.attributes[name]["list"]["i"]]


@dataclass(frozen=True)
class TfjsModel:
    """A graph and its weights."""

    nodes: tuple[Node, ...]
    """The nodes, ordered so that each follows the nodes whose outputs it uses."""
    weights: Mapping[str, Array]
    """Weights by name. Weights that the file stores as float16 are converted to float32."""


def _read_weights(manifest: list[dict[str, Any]], content: bytes) -> dict[str, Array]:
    weights: dict[str, Array] = {}
    place = 0
    for described in (weight for group in manifest for weight in group["weights"]):
        stored = described.get("quantization", described)["dtype"]
        count = math.prod(described["shape"])
        end = place + count * np.dtype(_TYPES[stored]).itemsize
        if end > len(content):
            raise BrokenFile("The binary file of the TensorFlow.js model is cut short.")
        values = np.frombuffer(content[place:end], _TYPES[stored]).astype(
            _TYPES[described["dtype"]]
        )
        weights[described["name"]] = values.reshape(described["shape"])
        place = end
    if place != len(content):
        raise BrokenFile("The binary file of the TensorFlow.js model is longer than described.")
    return weights


def _read_nodes(described: list[dict[str, Any]]) -> tuple[Node, ...]:
    """Return the nodes other than constants, each after its inputs."""
    waiting = [
        Node(node["name"], node["op"], tuple(node.get("input", ())), node.get("attr", {}))
        for node in described
        if node["op"] != "Const"
    ]
    known = {node["name"] for node in described if node["op"] == "Const"}
    ordered: list[Node] = []
    while waiting:
        ready = [
            node for node in waiting if {name.partition(":")[0] for name in node.inputs} <= known
        ]
        if not ready:
            raise BrokenFile("The TensorFlow.js model's nodes have no order.")
        ordered += ready
        known |= {node.name for node in ready}
        waiting = [node for node in waiting if node.name not in known]
    return tuple(ordered)


def read_model(description: Path, content: Path) -> TfjsModel:
    """Read a graph model from its JSON and binary files.

    Raises:
        BrokenFile: a file is damaged, or the two do not belong together.
    """
    try:
        document = json.loads(description.read_bytes())
        nodes = _read_nodes(document["modelTopology"]["node"])
        weights = _read_weights(document["weightsManifest"], content.read_bytes())
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenFile(f"The TensorFlow.js model cannot be read: {error!r}") from error
    return TfjsModel(nodes, weights)
