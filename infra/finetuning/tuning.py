"""One run: sentences, frozen states, tuned layers, 8 bits, figures, files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.finetuning.export import read_weights, rounded_layers
from infra.finetuning.figures import measure
from infra.finetuning.network import graph_weights, head_weights, new_network
from infra.finetuning.sentences import Sentences, own_sentences, split_sentences
from infra.finetuning.states import frozen_states
from infra.finetuning.training import TuningRecipe, train
from infra.model_files.conversion import text_encoders
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.tuned_encoder import (
    FIGURES_FILE,
    LAYERS_FILE,
    TunedLayers,
    compose,
    dump_layers,
)

BASE = "minilm"
"""The encoder whose layers are tuned."""
TUNED = "minilm-sentiment"
"""The encoder that comes out."""
LAYERS = range(2, 6)
"""Tuned layers; those before and the embeddings, most of the weights, stay as installed."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """Where a run reads and writes."""

    models: Path
    """The model directory, with the encoder installed."""
    work: Path
    """The encoder in full precision and the ratings; also room for what is made between."""
    target: Path
    """What a run writes to; made when it is missing."""


def tune(folders: Folders, progress: Progress) -> None:
    """Tune, measure and write."""
    sentences = split_sentences(folders.work / "ratings.tar.gz")
    texts = [text for text, _ in sentences.training]
    states = frozen_states(folders.models / BASE, LAYERS.start, texts, progress)
    recipe = TuningRecipe()
    weights = read_weights(folders.work / "model.onnx")
    network = new_network(weights, LAYERS, len(LABELS), recipe.seed)
    train(network, states, [label for _, label in sentences.training], recipe, progress)
    tuned = graph_weights(network)
    constants = rounded_layers(folders.work / "model.onnx", tuned, folders.work)
    layers = TunedLayers(constants, *head_weights(network))
    measured = measure_layers(folders, layers, sentences, progress)
    write_files(folders.target, layers, describe(sentences, recipe) | measured)


def measure_layers(
    folders: Folders, layers: TunedLayers, sentences: Sentences, progress: Progress
) -> dict[str, Any]:
    """Return the figures of tuned layers, served as an installation would."""
    folder = folders.work / TUNED
    folder.mkdir()
    compose(folders.models / BASE, layers, folder)
    text_encoders.write_encoder_facts(MODELS[TUNED], folder)
    progress(f"measuring on {len(sentences.held):,} sentences held out")
    found = measure(text_encoders.load(folder), layers, sentences)
    accuracy, recall = found["testAccuracy"]["value"], found["macroRecall"]
    progress(f"held-out accuracy {accuracy:.4f}, macro recall {recall:.4f}")
    return found


def describe(sentences: Sentences, recipe: TuningRecipe) -> dict[str, Any]:
    """Return what was learnt from and how."""
    own = len(own_sentences())
    return {
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "layers": [number + 1 for number in LAYERS],
        "recipe": asdict(recipe),
        "ratedSentences": len(sentences.training) - own,
        "ownSentences": own,
        "heldOutSentences": len(sentences.held),
    }


def write_files(target: Path, layers: TunedLayers, figures: Mapping[str, Any]) -> None:
    """Write layers and figures; the figures name the layers' digest."""
    content = dump_layers(layers)
    target.mkdir(parents=True, exist_ok=True)
    (target / LAYERS_FILE.name).write_bytes(content)
    digest = {"sha256": hashlib.sha256(content).hexdigest()}
    write_json(target / FIGURES_FILE.name, {**digest, **figures})
