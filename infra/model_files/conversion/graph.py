"""Collects the nodes and constants of an ONNX graph that is built here node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from chalicelib.domain.common.arrays import Array

OPSET = 17  # the first operator set with LayerNormalization
IR_VERSION = 8

Attribute = float | int | str | list[int]


class Graph:
    """The nodes and constants of a graph, in the order in which they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Array) -> str:
        """Add a constant, unless it exists, and return its name."""
        array = np.asarray(value, order="C")
        self.constants.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant vector of int64 values and return its name."""
        name = "ints_" + "_".join(str(value) for value in values)
        return self.constant(name, np.array(values, np.int64))

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Attribute) -> str:
        """Add a node with one output and return that output's name."""
        return self.add_many(kind, inputs, [output], **attributes)[0]

    def add_many(
        self, kind: str, inputs: list[str], outputs: list[str], **attributes: Attribute
    ) -> list[str]:
        """Add a node with several outputs; return the names of the outputs.

        The node has the name of the first output.
        """
        node = helper.make_node(kind, inputs, outputs, name=outputs[0])
        node.attribute.extend(
            helper.make_attribute(name, value) for name, value in attributes.items()
        )
        self.nodes.append(node)
        return outputs

    def model(
        self,
        name: str,
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
    ) -> onnx.ModelProto:
        """Return the checked model of all nodes; equal graphs give equal bytes."""
        body = helper.make_graph(self.nodes, name, inputs, outputs)
        model = helper.make_model(
            body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        # The nodes are moved, not copied, because constants can have half a gigabyte.
        for key in list(self.constants):
            model.graph.initializer.append(self.constants.pop(key))
        onnx.checker.check_model(model, full_check=True)
        return model


def tensor(name: str, kind: int, shape: Sequence[int | str]) -> onnx.ValueInfoProto:
    """Describe an input or output. A size that varies is given as a name."""
    return helper.make_tensor_value_info(name, kind, list(shape))
