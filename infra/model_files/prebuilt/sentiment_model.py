"""Builds the prebuilt model CommunitySentiment: a fine-tuned encoder of its own, and its head.

Nothing is learnt here: layers, head and figures come with the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.engines.interface import EncoderUse
from chalicelib.engines.text import classifier
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import text_encoders
from infra.model_files.errors import WrongOutputs
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS, InstallableModel, Progress
from infra.model_files.prebuilt import text_cards
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.sources import packages
from infra.model_files.tuned_encoder import TunedLayers, compose, read_figures, read_layers

TOLERANCE = 0.05
"""Greatest difference of a probability from its reference: what 8-bit sums differ by between
processors stays well below, another layer goes far beyond."""
_LIMITS = (
    "English only: answers to other languages mean little. Made for one sentence or a few: a "
    "longer text is cut after 128 tokens, and mixed opinions get one label. Learnt from tweets, "
    "movie and product reviews and newspaper editorials of about 2010 to 2014 and from plain "
    "sentences written for this project; irony and the jargon of other fields are often "
    "misjudged, and neutral is the label it finds least surely. The most common emoji are read as "
    "words, others are not understood. The metrics are of held-out sentences of the same sources, "
    "and were taken when the layers were tuned, not on this machine."
)


def build_encoder(
    model: InstallableModel, directory: Path, result: Path, progress: Progress
) -> None:
    """Write the encoder's `model.onnx`, `tokenizer.json` and `encoder.json`, and try them.

    Raises:
        BrokenFile: the project's files or the installed encoder are not those that were tuned.
        WrongOutputs: it answers otherwise than the references.
    """
    layers = read_layers()
    compose(directory / MODELS[model.needs[0]].folder, layers, result)
    text_encoders.write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference answers")
    encoder = text_encoders.load(result)
    check_answers(trained(layers, encoder, read_figures()), encoder, read_figures())


def build(model: InstallableModel, directory: Path, result: Path) -> None:
    """Write `artifact.npz`, `card.json` and `metrics.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with the tuned encoder installed.
        result: existing folder to write to.
    """
    figures = read_figures()
    encoder = text_encoders.load(directory / MODELS[model.needs[0]].folder)
    content = classifier.dump(trained(read_layers(), encoder, figures))
    (result / "artifact.npz").write_bytes(content)
    card = make_card(model, encoder, figures, content)
    write_json(result / "card.json", card)
    write_json(result / "metrics.json", text_cards.metrics_record(card, figures["metrics"]))


def trained(layers: TunedLayers, encoder: Encoder, figures: Mapping[str, Any]) -> TrainedText:
    """Return the head as a model of the text engine on the tuned encoder."""
    use = EncoderUse(encoder.name, encoder.sha256, encoder.dimensions)
    return TrainedText(
        TextParameters(
            labels=LABELS,
            encoders=(use,),
            weights=layers.head.astype(np.float16),
            biases=layers.biases,
            means=np.zeros(encoder.dimensions, np.float32),
            norms=(1.0,),
            temperature=float(figures["temperature"]),
            threshold=float("-inf"),
        )
    )


def check_answers(model: TrainedText, encoder: Encoder, figures: Mapping[str, Any]) -> None:
    """Compare the answers to a few fixed sentences with the references.

    Raises:
        WrongOutputs: a probability differs by more than the tolerance; also when it is no number.
    """
    wanted = figures["references"]
    found = model.predict({encoder.name: encoder.encode(wanted["texts"])})
    worst = float(np.abs(found - np.array(wanted["probabilities"])).max())
    if not worst <= TOLERANCE:
        raise WrongOutputs(
            f"The fine-tuned encoder {encoder.name} answers otherwise than it should (off by "
            f"{worst:.4f}). Check that the packages installed are those of requirements.txt and "
            "requirements-dev.txt."
        )


def make_card(
    model: InstallableModel, encoder: Encoder, figures: Mapping[str, Any], content: bytes
) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record."""
    rated, own = figures["ratedSentences"], figures["ownSentences"]
    vader = packages.VADER
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": "sentiment",
        "language": text_cards.LANGUAGE,
        "createdAt": figures["createdAt"],
        "trainedOn": {
            "examples": rated + own + figures["heldOutSentences"],
            "labels": len(LABELS),
            "feedback": 0,
            "source": f"{vader.package} {vader.version}: {rated:,} sentences with the mean human "
            f"ratings published with VADER, and {figures['heldOutSentences']:,} held out, none of "
            "the Stanford Sentiment Treebank's development and test splits; "
            f"{own:,} sentences written for this project",
            "licence": f"{vader.licence}; those of the project Apache-2.0",
        },
        "engine": {
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [text_cards.describe_encoder(encoder)],
            "finetunedLayers": figures["layers"],
            "finetunedSha256": figures["sha256"],
            "recipe": figures["recipe"],
        },
        "artifactSha256": hashlib.sha256(content).hexdigest(),
        "metrics": {"testAccuracy": figures["testAccuracy"]},
        "macroRecall": figures["macroRecall"],
        "calibrationError": figures["calibrationError"],
        "brierScore": figures["brierScore"],
        "limits": _LIMITS,
        "object": "card",
    }
