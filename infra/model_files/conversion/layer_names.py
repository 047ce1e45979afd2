"""Translates the weight names of transformer_graph.py into those of a published file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WeightName:
    """A parsed weight name of transformer_graph.py: a weight of the embedding or of one layer."""

    layer: int | None
    """Number of the layer, from 0; None for the embedding."""
    part: str
    """Part of the layer, such as `query`; empty for the last normalisation of the layer."""
    kind: str
    """`weight` or `bias` of a matrix product, `scale` or `shift` of a normalisation."""

    @property
    def is_matrix(self) -> bool:
        """Return whether the weight is a matrix, not a vector."""
        return self.kind == "weight"

    @property
    def suffix(self) -> str:
        """Return the last part of the weight's name in PyTorch: `weight` or `bias`."""
        return "weight" if self.kind in ("weight", "scale") else "bias"

    def module(self, embedding: str, layer: str, parts: Mapping[str, str]) -> str:
        """Return the name of the module that has the weight in the published file.

        Args:
            embedding: the module of the embedding's normalisation.
            layer: a layer's prefix with `{}` for its number.
            parts: modules below that prefix, by part.
        """
        return embedding if self.layer is None else layer.format(self.layer) + parts[self.part]


def parse(name: str) -> WeightName:
    """Parse a name such as `layer3_ffn_input_bias` or `embedding_scale`."""
    owner, _, kind = name.rpartition("_")
    layer, _, part = owner.partition("_")
    number = None if layer == "embedding" else int(layer.removeprefix("layer"))
    return WeightName(number, part, kind)
