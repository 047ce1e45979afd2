"""Encoders cut after a middle layer, compared with an independent computation."""

from dataclasses import replace

import numpy as np
import onnx
import pytest

from chalicelib.engines.onnx_session import open_session
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import early_states
from infra.model_files.conversion.early_states import WEIGHTS_FILE, write_early_states
from infra.model_files.conversion.transformer_graph import build_graph
from tests.infra.model_files.conversion.tiny_transformer import (
    expected_vector,
    random_weights,
    shape,
)

IDS = [0, 7, 9, 30, 2]


@pytest.fixture
def base(tmp_path):
    """The folder of an encoder of two layers, full precision."""
    folder = tmp_path / "base"
    folder.mkdir()
    model = build_graph(shape(), random_weights().__getitem__)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


def cut(base, layers, name="cut"):
    """Return the folder of what is written of an encoder."""
    folder = base.with_name(name)
    folder.mkdir()
    write_early_states(base, layers, folder)
    return folder


def run(folder):
    """Ask a graph for the vector of one text."""
    return open_session(folder / "model.onnx").run(["vector"], {"ids": np.array(IDS)})[0]


def test_means_of_layers_stand_side_by_side(base):
    """The means of layers are concatenated with equal weight."""
    weights = random_weights()
    first = base.with_name("first")
    first.mkdir()
    short = build_graph(replace(shape(), layers=1), weights.__getitem__)
    (first / "model.onnx").write_bytes(short.SerializeToString())

    found = run(cut(base, (0, 1)))

    assert found.shape == (1, 128)
    assert found @ found.T == pytest.approx(1, abs=1e-5)
    assert found[0, :64] * 2**0.5 == pytest.approx(run(first)[0], abs=2e-5)
    assert found[0, 64:] * 2**0.5 == pytest.approx(expected_vector(weights, IDS), abs=2e-5)


def test_later_layers_are_left_out_and_weights_stay_where_they_are(base):
    """Later layers are removed, and the weights are stored once on disk."""
    folder = cut(base, (0,))
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph

    assert not [node.name for node in graph.node if node.name.startswith("layer1")]
    assert (folder / WEIGHTS_FILE).samefile(base / "model.onnx")
    size = (base / "model.onnx").stat().st_size
    assert (folder / "model.onnx").stat().st_size < size / 4


def test_a_disk_without_links_gets_a_copy(base, monkeypatch):
    """On a file system without links the weights are copied, and answers are the same."""
    linked = cut(base, (0, 1))

    def refuse(*paths):
        raise OSError

    monkeypatch.setattr(early_states.os, "link", refuse)
    copied = cut(base, (0, 1), "copied")

    assert not (copied / WEIGHTS_FILE).samefile(base / "model.onnx")
    assert (copied / "model.onnx").read_bytes() == (linked / "model.onnx").read_bytes()
    assert run(copied).tolist() == run(linked).tolist()


def test_an_encoder_without_such_layers_is_refused(base):
    """A graph of other names or fewer layers is an error, not cut somewhere."""
    with pytest.raises(BrokenFile, match="layer5_normal"):
        cut(base, (1, 5))
