"""Writes a trained model as a single graph, and describes the preprocessing of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib.domain.datasets.dataset import DETECTION, FAMILY_TYPES, IMAGE, LANGUAGE
from chalicelib.engines.artifact import read_parts
from chalicelib.engines.graphs.graph import JoinedGraph
from chalicelib.engines.text.encoding.encoders import WORDS

_TEXT_TYPES = FAMILY_TYPES[LANGUAGE]


class WrittenGraph(NamedTuple):
    """A model that was written as one graph."""

    graph: JoinedGraph
    preprocessing: dict[str, Any]
    """How to convert a text or an image to the inputs of the graph, as JSON."""
    tokenizers: dict[str, bytes]
    """Contents of tokenizer files, by file name."""


def graph_obstacle(model_type: str, header: Mapping[str, Any] | None = None) -> str | None:
    """Return the reason why a model cannot be written as one graph; None if it can.

    Args:
        model_type: type of the model.
        header: header of its artifact; None if only the type is known.
    """
    if model_type == DETECTION:
        return "it detects objects in several steps"
    reading = (header or {}).get("windows") or {}
    if reading.get("attention"):
        # Such a model splits texts into sentences, which ONNX has no operator for.
        return "it was trained on long texts, which it splits into sentences"
    if any(name == WORDS for name, *_ in (header or {}).get("encoders") or ()):
        return (
            "it reads the spelling of words, which ONNX has no operator for (a training with "
            "'trainParams.profile' does not use it)"
        )
    return None


def write_graph(model_type: str, head: bytes, folder: Callable[[str], Path]) -> WrittenGraph:
    """Write a model as one graph.

    Args:
        model_type: type of a model for which `graph_obstacle` returns None.
        head: bytes of the model's artifact.
        folder: returns the folder of a network's files, given the network's name.

    Raises:
        ValueError: a network's files are damaged.
    """
    if model_type in _TEXT_TYPES:
        return _write_text(head, folder)
    from chalicelib.engines.graphs.image_graph import write_image_graph, write_multi_label_graph

    write = write_image_graph if model_type == IMAGE else write_multi_label_graph
    parts = read_parts(head)
    looks = {side: share for share, side in parts.header["preprocessing"].get("looks") or ()}
    graph = write(parts, folder)
    sides = [port.shape[-1] for port in graph.inputs]
    images = [
        {"input": port.name, "side": side, "share": looks.get(side, 1.0), "filter": "bicubic"}
        for port, side in zip(graph.inputs, sides, strict=True)
    ]
    return WrittenGraph(graph, {"images": images}, {})


def _write_text(head: bytes, folder: Callable[[str], Path]) -> WrittenGraph:
    from chalicelib.engines.graphs.text_graph import write_text_graph
    from chalicelib.engines.text.classifier import load
    from chalicelib.engines.text.encoding.encoders import PREFIXES
    from chalicelib.engines.text.encoding.onnx_encoders import MAX_CHARACTERS

    parameters = load(head).parameters
    names = [use.name for use in parameters.encoders]
    graph = write_text_graph(parameters, folder)
    encoders, tokenizers = [], {}
    for place, name in enumerate(names):
        file = "tokenizer.json" if len(names) == 1 else f"{name}-tokenizer.json"
        tokenizers[file] = _tokenizer(name, folder(name))
        ids, mask = graph.inputs[2 * place : 2 * place + 2]
        encoders.append(
            {
                "tokenizer": file,
                "prefix": PREFIXES.get(name, ""),
                "inputIds": ids.name,
                "attentionMask": mask.name,
            }
        )
    reading = {"maxCharacters": MAX_CHARACTERS, "encoders": encoders}
    return WrittenGraph(graph, reading, tokenizers)


def _tokenizer(name: str, folder: Path) -> bytes:
    """Return an encoder's tokenizer; it truncates texts and adds begin and end tokens."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    from chalicelib.engines.text.encoding.onnx_encoders import MAX_TOKENS, USE_ENDS

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    if name == "use":
        begin, end = ((tokenizer.id_to_token(one), one) for one in USE_ENDS)
        # The service adds begin and end tokens outside of the tokenizer.
        tokenizer.post_processor = TemplateProcessing(
            single=f"{begin[0]} $A {end[0]}", special_tokens=[begin, end]
        )
    else:
        tokenizer.enable_truncation(MAX_TOKENS)
    return str(tokenizer.to_str()).encode()
