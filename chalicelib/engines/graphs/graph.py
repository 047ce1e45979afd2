"""Builds an ONNX graph from nodes and constants, and can include other graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.graphs.protobuf import (
    Pieces,
    bytes_field,
    number_field,
    text_field,
)
from chalicelib.engines.graphs.source import (
    SourceGraph,
    SourceNode,
    is_old_reduction,
    reduction_axes,
    renamed_tensor,
    renamed_value,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Versions of the operators and of the format; MiniLM's graph needs this operator version.
OPSET, IR_VERSION = 21, 10
# Numbers of the fields in onnx.proto.
_MODEL_IR, _MODEL_PRODUCER, _MODEL_GRAPH, _MODEL_OPSET = 1, 2, 7, 8
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_CONSTANT = 1, 2, 5
_GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_VALUE = 11, 12, 13
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_KIND, _NODE_ATTRIBUTE = 1, 2, 3, 4, 5
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW = 1, 2, 8, 9
_ATTRIBUTE_NAME, _ATTRIBUTE_INTEGER, _ATTRIBUTE_TYPE = 1, 3, 20
_INTEGER = 2  # a type of attribute
# Element types.
TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
}


class Port(NamedTuple):
    """An input or output of a graph."""

    name: str
    type: str
    """Element type: `float32`, `int64` or `bool`."""
    shape: tuple[int | str, ...]
    """Sizes of the dimensions; a dimension of variable size has a name."""
    meaning: str
    """Description for users."""


class JoinedGraph:
    """A graph in construction: its nodes and constants, in the order in which they are added."""

    def __init__(self) -> None:
        self.inputs: list[Port] = []
        self.outputs: list[Port] = []
        self._nodes: list[Pieces] = []
        self._constants: dict[str, Pieces] = {}
        self._values: list[bytes] = []
        self._domains: dict[str, int] = {"": OPSET}
        self._count = 0

    def input(self, port: Port) -> str:
        """Add an input and return its name."""
        self.inputs.append(port)
        return port.name

    def output(self, port: Port, value: str) -> None:
        """Declare that a value is an output of the graph."""
        self.outputs.append(port)
        self._add_node("Identity", [value], [port.name])

    def constant(self, value: ArrayLike, dtype: str | None = None) -> str:
        """Add a constant array and return its name."""
        array = np.asarray(value, dtype, order="C")
        name = self._name("constant")
        dims = b"".join(number_field(_TENSOR_DIMS, size) for size in array.shape)
        facts = number_field(_TENSOR_TYPE, TYPES[str(array.dtype)]) + text_field(_TENSOR_NAME, name)
        # The bytes of the array itself, which may be mapped from a file.
        raw = memoryview(array.reshape(-1).view(np.uint8).data)
        self._constants[name] = [dims + facts, *bytes_field(_TENSOR_RAW, [raw])]
        return name

    def integers(self, *values: int) -> str:
        """Add a constant int64 vector and return its name."""
        return self.constant(np.array(values, np.int64))

    def add(self, kind: str, *inputs: str, **attributes: int) -> str:
        """Add a node with one output, and return the name of this output."""
        return self._add_node(kind, inputs, [self._name(kind)], **attributes)

    def largest(self, values: str, count: int, axis: int) -> str:
        """Add a node that finds the largest values along an axis; return the name of its output."""
        name = self._name("TopK")
        inputs = (values, self.integers(count))
        # The operator also returns the indexes of the values, which no model needs.
        return self._add_node("TopK", inputs, [name, f"{name}_indexes"], axis=axis)

    def cast(self, value: str, dtype: str) -> str:
        """Add a node that converts a value to another type; return the name of its output."""
        return self.add("Cast", value, to=TYPES[dtype])

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def _add_node(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: int
    ) -> str:
        node = b"".join(text_field(_NODE_INPUT, name) for name in inputs)
        node += b"".join(text_field(_NODE_OUTPUT, name) for name in outputs)
        node += text_field(_NODE_NAME, outputs[0])
        node += text_field(_NODE_KIND, kind)
        for name, value in attributes.items():
            attribute = text_field(_ATTRIBUTE_NAME, name)
            attribute += number_field(_ATTRIBUTE_INTEGER, value)
            attribute += number_field(_ATTRIBUTE_TYPE, _INTEGER)
            node += b"".join(bytes_field(_NODE_ATTRIBUTE, [attribute]))
        self._nodes.append([node])
        return outputs[0]

    def include(
        self, content: memoryview, name: str, inputs: Mapping[str, str], outputs: Sequence[str]
    ) -> list[str]:
        """Add the nodes of another graph that are needed for the requested outputs.

        Args:
            content: an ONNX file without external data.
            name: name of the other graph. Two graphs of the same name share their constants.
            inputs: value of this graph to use for each input of the other graph.
            outputs: outputs of the other graph.

        Returns:
            The names of the outputs in this graph.

        Raises:
            ValueError: the file is not an ONNX file without external data.
        """
        source = SourceGraph(content)
        self._domains |= source.domains
        own = self._name(name)

        def renamed(value: str) -> str:
            """Return a value's name in this graph, given its name in the included graph."""
            if not value or value in inputs:
                return inputs.get(value, value)
            return f"{name}/{value}" if value in source.constants else f"{own}/{value}"

        kept = source.nodes_for(outputs)
        self._nodes += [self._upgraded(node, renamed, source.opset) for node in kept]
        used = {value for node in kept for value in node.inputs}
        for constant in sorted(used & source.constants.keys()):
            pieces = renamed_tensor(source.constants[constant], renamed(constant))
            self._constants.setdefault(renamed(constant), pieces)
        made = {output for node in kept for output in node.outputs}
        # ONNX Runtime chooses kernels by these shapes. Without them, other kernels would round
        # differently.
        for value in sorted(made & source.values.keys()):
            self._values.append(renamed_value(source.values[value], renamed(value), own))
        return [renamed(output) for output in outputs]

    def _upgraded(self, node: SourceNode, renamed: Callable[[str], str], opset: int) -> Pieces:
        """Return a renamed copy of a node, with its axes as an input instead of an attribute."""
        inputs = [renamed(name) for name in node.inputs]
        rest: Pieces = []
        for field in node.rest:
            axes = reduction_axes(field) if is_old_reduction(node.kind, opset) else None
            if axes is None:
                rest.append(field.whole)
            else:
                inputs.append(self.integers(*axes))
        names = b"".join(text_field(_NODE_INPUT, name) for name in inputs)
        names += b"".join(text_field(_NODE_OUTPUT, renamed(name)) for name in node.outputs)
        return [names, text_field(_NODE_NAME, renamed(node.outputs[0])), *rest]

    def pieces(self) -> Pieces:
        """Return the ONNX file as byte strings to be concatenated."""
        body: Pieces = []
        for node in self._nodes:
            body += bytes_field(_GRAPH_NODE, node)
        body.append(text_field(_GRAPH_NAME, "presage"))
        for constant in self._constants.values():
            body += bytes_field(_GRAPH_CONSTANT, constant)
        for value in self._values:
            body += bytes_field(_GRAPH_VALUE, [value])
        for port in self.inputs:
            body += bytes_field(_GRAPH_INPUT, [_described(port)])
        for port in self.outputs:
            body += bytes_field(_GRAPH_OUTPUT, [_described(port)])
        head = number_field(_MODEL_IR, IR_VERSION) + text_field(_MODEL_PRODUCER, "presage")
        for domain, version in self._domains.items():
            opset = text_field(1, domain) + number_field(2, version)
            head += b"".join(bytes_field(_MODEL_OPSET, [opset]))
        return [head, *bytes_field(_MODEL_GRAPH, body)]


def _described(port: Port) -> bytes:
    """Encode the name, type and shape of an input or output (ValueInfoProto of onnx.proto)."""
    shape = b""
    for size in port.shape:
        one = number_field(1, size) if isinstance(size, int) else text_field(2, size)
        shape += b"".join(bytes_field(1, [one]))
    tensor = number_field(1, TYPES[port.type]) + b"".join(bytes_field(2, [shape]))
    kind = b"".join(bytes_field(1, [tensor]))
    return text_field(1, port.name) + b"".join(bytes_field(2, [kind]))
