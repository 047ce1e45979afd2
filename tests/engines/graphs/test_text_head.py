"""The ONNX graph of a text model's head, compared with the numpy implementation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest

from chalicelib.engines.graphs.graph import JoinedGraph, Port
from chalicelib.engines.graphs.text_graph import TextHead
from chalicelib.engines.interface import EncoderUse
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.head.domain import Domain
from chalicelib.engines.text.head.domain_score import DomainScale
from chalicelib.engines.text.head.neighbours import NearestTexts
from chalicelib.engines.text.head.rejector import Rejector

DIMS = (6, 10)
ALL = sum(DIMS)
DRAWS = np.random.default_rng(7)


def parameters(labels: int) -> TextParameters:
    """Return a model of two encoders, without rejection."""
    return TextParameters(
        labels=tuple(f"label {number}" for number in range(labels)),
        encoders=tuple(EncoderUse(f"e{dims}", "", dims) for dims in DIMS),
        weights=DRAWS.normal(size=(ALL, labels)).astype(np.float16),
        biases=DRAWS.normal(size=labels).astype(np.float32),
        means=(0.1 * DRAWS.normal(size=ALL)).astype(np.float32),
        norms=(0.7, 1.3),
        temperature=1.7,
        threshold=float("-inf"),
    )


def neighbours(labels: int) -> NearestTexts:
    """Return anchors; the second label has none, the others have different counts."""
    counts = [0 if label == 1 else 1 + label % 3 for label in range(labels)]
    anchors = DRAWS.integers(-127, 128, (sum(counts), ALL)).astype(np.int8)
    return NearestTexts(anchors, np.cumsum(counts), 8.0)


def rejector(usual: np.ndarray | None, doubt: float = 0.0) -> Rejector:
    """Return a rejector."""
    domain = Domain(
        DRAWS.normal(size=ALL).astype(np.float32),
        DRAWS.integers(-127, 128, (5, ALL)).astype(np.float32),
        DRAWS.normal(size=ALL).astype(np.float32),
        0.3,
    )
    scale = DomainScale((1.0, 0.2, 0.1), (1.5, 0.3, 1.1), (0.4, 0.9, 0.7, 0.5), usual)
    scale = replace(scale, doubt=doubt, heat=1.0 + doubt)
    return Rejector(domain, scale, -3.0)


def blocks_of(vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Return vectors by encoder."""
    return {"e6": vectors[:, :6], "e10": vectors[:, 6:]}


def models() -> dict[str, TextParameters]:
    """Return models with every optional part of a head."""
    few, many = parameters(3), parameters(20)
    usual = (0.1 * DRAWS.normal(size=20)).astype(np.float32)
    return {
        "plain": few,
        "energy": replace(few, threshold=0.6),
        "few neighbours": replace(few, neighbours=neighbours(3)),
        "many neighbours": replace(many, neighbours=neighbours(20)),
        "rejector": replace(many, rejector=rejector(usual)),
        "doubtful rejector": replace(
            many, neighbours=neighbours(20), rejector=rejector(usual, 2.0)
        ),
        "older rejector": replace(few, rejector=rejector(None)),
        "all": replace(many, neighbours=neighbours(20), rejector=rejector(usual)),
    }


@pytest.mark.parametrize("name", list(models()))
def test_the_graph_answers_as_numpy(name: str) -> None:
    """Graph and numpy agree within 1e-5 in probabilities, and in the rejected vectors."""
    own = models()[name]
    vectors = DRAWS.normal(size=(200, ALL)).astype(np.float32)
    if own.rejector is not None:
        median = float(np.median(TrainedText(own).domain_scores(blocks_of(vectors))))
        own = replace(own, rejector=replace(own.rejector, threshold=median))
    graph = JoinedGraph()
    TextHead(graph, own).answer(graph.input(Port("vectors", "float32", (1, ALL), "")))
    session = onnxruntime.InferenceSession(b"".join(graph.pieces()))
    rejected = []
    for vector in vectors:
        found, is_rejected = session.run(None, {"vectors": vector[None]})
        answer = TrainedText(own).answer(blocks_of(vector[None]))
        assert np.abs(found - answer.shares).max() < 1e-5
        assert is_rejected[0] == answer.is_rejected[0]
        rejected.append(bool(is_rejected[0]))
    may_reject = own.rejector is not None or own.threshold > float("-inf")
    assert any(rejected) == may_reject
    assert not all(rejected)
