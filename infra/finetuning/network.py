"""The tuned layers and the head, in torch; names of weights are those of the ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from chalicelib.domain.common.arrays import Singles

DIMENSIONS, HEADS = 384, 12
EPSILON = 1e-12
DROPOUT = 0.1
PARTS = {
    "query": "attn.q_proj",
    "key": "attn.k_proj",
    "value": "attn.v_proj",
    "attended": "attn.o_proj",
    "wide": "mlp.fc1",
    "narrow": "mlp.fc2",
}
"""Linear parts of a layer, and their names in the graph."""
NORMS = {
    "attended_norm": "attention_output_norm_layernorm",
    "output_norm": "mlp_output_norm_layernorm",
}
"""Normalisations of a layer, and their names in the graph."""


class Layer(nn.Module):  # type: ignore[misc]  # torch is not installed with the project
    """One layer of the encoder."""

    def __init__(self, weights: Mapping[str, Singles], number: int) -> None:
        super().__init__()
        for part, name in PARTS.items():
            matrix = weights[f"model.layers.{number}.{name}.MatMul.weight"]
            linear = nn.Linear(*matrix.shape)
            linear.weight.data = torch.from_numpy(matrix.T.copy())
            bias = weights[f"model.layers.{number}.{name}.Add.bias"]
            linear.bias.data = torch.from_numpy(bias.copy())
            setattr(self, part, linear)
        for part, name in NORMS.items():
            norm = nn.LayerNorm(DIMENSIONS, EPSILON)
            stem = f"model.layers.{number}.{name}"
            norm.weight.data = torch.from_numpy(weights[f"{stem}.weight"].copy())
            norm.bias.data = torch.from_numpy(weights[f"{stem}.bias"].copy())
            setattr(self, part, norm)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the next states, float32, shape (texts, tokens, dimensions).

        Args:
            states: float32, the same shape.
            mask: bool, shape (texts, tokens), True where a token is.
        """
        query, key, value = (
            part(states).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask[:, None, None, :]
        )
        mixed = self.attended(mixed.transpose(1, 2).flatten(-2))
        states = self.attended_norm(states + self.dropout(mixed))
        wide = functional.gelu(self.wide(states))
        narrow: Tensor = self.output_norm(states + self.dropout(self.narrow(wide)))
        return narrow


class Network(nn.Module):  # type: ignore[misc]  # torch is not installed with the project
    """The last layers, the mean of the tokens scaled to length 1, and a linear head."""

    def __init__(self, weights: Mapping[str, Singles], numbers: range, labels: int) -> None:
        super().__init__()
        self.numbers = numbers
        self.layers = nn.ModuleList(Layer(weights, number) for number in numbers)
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Linear(DIMENSIONS, labels)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return logits, float32, shape (texts, labels).

        Args:
            states: what the frozen layers gave, float32, shape (texts, tokens, dimensions).
            mask: bool, shape (texts, tokens), True where a token is.
        """
        for layer in self.layers:
            states = layer(states, mask)
        counts = mask.sum(dim=1, keepdim=True)
        mean = (states * mask[:, :, None]).sum(dim=1) / counts
        # Of length sqrt(dimensions), so that one learning rate suits head and layers.
        vectors = functional.normalize(mean) * DIMENSIONS**0.5
        logits: Tensor = self.head(self.dropout(vectors))
        return logits


def new_network(weights: Mapping[str, Singles], numbers: range, labels: int, seed: int) -> Network:
    """Return a network that begins with the encoder's own layers.

    Args:
        weights: the encoder's in full precision, by their names in the graph.
        numbers: its layers that are tuned, from 0.
        labels: how many there are.
        seed: of everything random from here on.
    """
    torch.manual_seed(seed)
    return Network(weights, numbers, labels)


def graph_weights(network: Network) -> dict[str, Singles]:
    """Return the tuned layers' weights by their names in the graph."""
    found: dict[str, Singles] = {}
    for number, layer in zip(network.numbers, network.layers, strict=True):
        stem = f"model.layers.{number}"
        state = {name: value.numpy() for name, value in layer.state_dict().items()}
        for part, name in PARTS.items():
            found[f"{stem}.{name}.MatMul.weight"] = state[f"{part}.weight"].T.copy()
            found[f"{stem}.{name}.Add.bias"] = state[f"{part}.bias"]
        for part, name in NORMS.items():
            found[f"{stem}.{name}.weight"] = state[f"{part}.weight"]
            found[f"{stem}.{name}.bias"] = state[f"{part}.bias"]
    return found


def head_weights(network: Network) -> tuple[Singles, Singles]:
    """Return the head for vectors of length 1: float32, (dimensions, labels) and (labels,)."""
    state = {name: value.numpy() for name, value in network.head.state_dict().items()}
    head: Singles = (state["weight"].T * DIMENSIONS**0.5).astype(np.float32)
    return head, state["bias"]
