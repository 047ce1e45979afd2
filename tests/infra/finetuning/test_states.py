"""The frozen part of the installed encoder."""

import numpy as np

from chalicelib.engines.text.encoding.encoders import load_encoder
from infra.finetuning.states import frozen_states
from infra.models import default_directory

TEXTS = ["Where is my parcel?", "", "a" * 3_000]
LAYERS = 6


def test_states_after_all_layers_are_the_encoder_s_own():
    """The mean of the last layer's states, scaled to length one, is the encoder's vector."""
    states = frozen_states(default_directory() / "minilm", LAYERS, TEXTS, lambda _: None)
    vectors = load_encoder(default_directory(), "minilm").encode(TEXTS)

    for state, vector in zip(states, vectors, strict=True):
        mean = state.astype(np.float32).mean(axis=0)
        assert np.abs(mean / np.linalg.norm(mean) - vector).max() < 1e-3
        assert len(state) <= 128


def test_states_after_the_first_layers_differ():
    """Fewer frozen layers give other states of the same shape."""
    two, three = (
        frozen_states(default_directory() / "minilm", layers, TEXTS[:1], lambda _: None)[0]
        for layers in (2, 3)
    )

    assert two.shape == three.shape
    assert np.abs(two - three).max() > 0.1
