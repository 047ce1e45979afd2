"""Reads the graph of an ONNX file, to include it in another graph."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.engines.graphs.protobuf import (
    Field,
    Pieces,
    bytes_field,
    read_fields,
    text_field,
)

# From this version on, reductions take their axes as an input instead of an attribute.
_AXES_ARE_INPUTS = 18
# Numbers of the fields in onnx.proto.
_MODEL_GRAPH, _MODEL_OPSET = 7, 8
_GRAPH_NODE, _GRAPH_CONSTANT, _GRAPH_VALUE = 1, 5, 13
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_KIND, _NODE_ATTRIBUTE = 1, 2, 3, 4, 5
_TENSOR_NAME, _VALUE_NAME = 8, 1
_ATTRIBUTE_NAME, _ATTRIBUTE_INTEGERS = 1, 8
# In ValueInfoProto: type, tensor_type, shape, dim, dim_param.
_SIZE_NAMES = (2, 1, 2, 1, 2)


class SourceNode:
    """A node of an ONNX graph."""

    def __init__(self, message: memoryview) -> None:
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.kind = ""
        self.rest: list[Field] = []
        """All fields except the names of the node, its inputs and its outputs."""
        for field in read_fields(message):
            if field.number == _NODE_INPUT:
                self.inputs.append(field.text)
            elif field.number == _NODE_OUTPUT:
                self.outputs.append(field.text)
            elif field.number != _NODE_NAME:
                self.rest.append(field)
            if field.number == _NODE_KIND:
                self.kind = field.text


class SourceGraph:
    """The graph of an ONNX file that has no external data."""

    def __init__(self, content: memoryview) -> None:
        """Read the nodes; tensors are not copied.

        Raises:
            ValueError, IndexError: the file is damaged.
        """
        self.opset = 0
        self.domains: dict[str, int] = {}
        """Version of each operator set in addition to the standard one, by name."""
        self.constants: dict[str, memoryview] = {}
        """Tensors by name."""
        self.values: dict[str, memoryview] = {}
        """Types and shapes by name."""
        self._nodes: list[SourceNode] = []
        for field in read_fields(content):
            if field.number == _MODEL_OPSET:
                self._read_opset(field.content)
            elif field.number == _MODEL_GRAPH:
                self._read_graph(field.content)

    def _read_opset(self, message: memoryview) -> None:
        domain, version = "", 0
        for field in read_fields(message):
            if field.number == 1:
                domain = field.text
            else:
                version = field.amount
        if domain:
            self.domains[domain] = version
        else:
            self.opset = version

    def _read_graph(self, message: memoryview) -> None:
        for field in read_fields(message):
            if field.number == _GRAPH_NODE:
                self._nodes.append(SourceNode(field.content))
            elif field.number == _GRAPH_CONSTANT:
                self.constants[_find_text(field.content, _TENSOR_NAME)] = field.content
            elif field.number == _GRAPH_VALUE:
                self.values[_find_text(field.content, _VALUE_NAME)] = field.content

    def nodes_for(self, outputs: Sequence[str]) -> list[SourceNode]:
        """Return the nodes that the given outputs depend on, in the order of execution."""
        needed, kept = set(outputs), []
        # Nodes are in the order of execution, so one pass from the end finds all.
        for node in reversed(self._nodes):
            if needed.intersection(node.outputs):
                needed.update(node.inputs)
                kept.append(node)
        return kept[::-1]


def is_old_reduction(kind: str, opset: int) -> bool:
    """Return whether an operator has its axes as an attribute, as in older operator versions.

    In current versions, the axes are an input.
    """
    # ReduceSum has its axes as an input in older versions, too.
    return opset < _AXES_ARE_INPUTS and kind.startswith("Reduce") and kind != "ReduceSum"


def reduction_axes(field: Field) -> list[int] | None:
    """Return the axes in an attribute of a reduction; None for other attributes."""
    if field.number != _NODE_ATTRIBUTE:
        return None
    fields = list(read_fields(field.content))
    if not any(one.number == _ATTRIBUTE_NAME and one.text == "axes" for one in fields):
        return None
    values = [one.amount for one in fields if one.number == _ATTRIBUTE_INTEGERS]
    # Negative numbers are stored as 64-bit.
    return [value - (1 << 64) if value >> 63 else value for value in values]


def renamed_tensor(message: memoryview, name: str) -> Pieces:
    """Return a copy of a tensor message with the name `name`."""
    rest = [field.whole for field in read_fields(message) if field.number != _TENSOR_NAME]
    return [text_field(_TENSOR_NAME, name), *rest]


def renamed_value(message: memoryview, name: str, prefix: str) -> bytes:
    """Return the description of a value (its type and shape) under another name.

    The prefix is added to the names of variable dimensions, such as the number of tokens. Two
    encoders may read different numbers of tokens. If these dimensions had the same name, the
    runtime could use the same memory for values of both encoders.
    """
    rest = [field.whole for field in read_fields(message) if field.number != _VALUE_NAME]
    described = memoryview(b"".join(rest))
    return text_field(_VALUE_NAME, name) + _with_prefix(described, _SIZE_NAMES, prefix)


def _with_prefix(message: memoryview, path: Sequence[int], prefix: str) -> bytes:
    """Add a prefix to strings in a message; `path` has the field numbers that lead to them."""
    found = b""
    for field in read_fields(message):
        if field.number != path[0]:
            found += field.whole
        elif len(path) == 1:
            found += text_field(path[0], f"{prefix}/{field.text}")
        else:
            inner = _with_prefix(field.content, path[1:], prefix)
            found += b"".join(bytes_field(path[0], [inner]))
    return found


def _find_text(message: memoryview, number: int) -> str:
    return next((field.text for field in read_fields(message) if field.number == number), "")
