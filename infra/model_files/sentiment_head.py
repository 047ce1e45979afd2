"""Reads the fitted head of CommunitySentiment and writes the encoder that it works on.

`python -m bench.sentiment` fits the head and writes it into this repository. The encoder is made
from an installed one: it is cut after a middle layer, and its tokeniser reads emoji as words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from chalicelib.domain.common.arrays import Singles
from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion.early_states import write_early_states

# English encoders have one unknown token for all emoji. The words were chosen by the names of the
# emoji and by their usual meaning.
_SIGNS_OF_WORDS = {
    "happy": "😀😃😄😁😆😊🙂☺😺🤗😸😌",
    "very funny": "😂🤣😹",
    "love": "❤♥😍🥰😘💕💖💗💓💘💙💚💛🧡💜🖤💞😻🤍🫶",
    "cool": "😎🤩",
    "great": "👍👌💯🔥⭐🌟✨🏆🥇",
    "celebrate": "🎉🥳🎊🙌👏💪",
    "thanks": "🙏",
    "wink": "😉😜😝😛",
    "sad": "😢😭😞😔😟🙁☹😿😩😫🥺😥😓",
    "broken heart": "💔",
    "angry": "😠😡🤬😤👿",
    "bad": "👎💩🤮🤢😖😣",
    "annoyed": "🙄😒😑😕😬",
    "afraid": "😱😨😰😧",
    "tired": "😴🥱",
    "thinking": "🤔😐😶",
}
"""Emoji by the words that replace them; modifiers of skin colour are dropped."""
_DROPPED = "\ufe0f\ufe0e\u200d🏻🏼🏽🏾🏿"

WORDS: Mapping[str, str] = MappingProxyType(
    {sign: words for words, signs in _SIGNS_OF_WORDS.items() for sign in signs}
)
"""The words that replace each emoji."""


def reading_emoji(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a tokeniser, extended to read emoji as words.

    There is one rule for all emoji with the same words, so that a text is searched only a few
    times.

    Args:
        tokenizer: content of a `tokenizer.json` with a single normaliser.
    """
    rules = [("", _DROPPED), *((f" {words} ", signs) for words, signs in _SIGNS_OF_WORDS.items())]
    replacing = [
        {"type": "Replace", "pattern": {"Regex": f"[{signs}]"}, "content": content}
        for content, signs in rules
    ]
    sequence = {"type": "Sequence", "normalizers": [*replacing, tokenizer["normalizer"]]}
    return {**tokenizer, "normalizer": sequence}


LABELS = ("positive", "negative", "neutral")
FOLDER = Path(__file__).with_name("fitted")
# File with digest, figures and reference answers of the head. If it changes, the model is made
# again.
FIGURES_FILE = FOLDER / "sentiment.json"
HEAD_FILE = FOLDER / "sentiment.npz"
KIND, VERSION = "sentiment-head", 1
# Layers of bge, from 0 to 11, whose token states are averaged. The middle layers are most accurate
# on sources that were left out of training, and two layers are more accurate than one.
LAYERS = (5, 7)


@dataclass(frozen=True)
class SentimentHead:
    """The weights of a linear classifier for vectors of length 1."""

    weights: Singles
    """Float32, shape (dimensions, labels)."""
    biases: Singles
    """Float32, shape (labels,)."""


def dump_head(head: SentimentHead) -> bytes:
    """Return a head as bytes, which are the same for equal heads."""
    arrays = {"weights": head.weights, "biases": head.biases}
    return artifact.dump({"kind": KIND, "version": VERSION}, arrays)


def read_figures(path: Path = FIGURES_FILE) -> dict[str, Any]:
    """Read the measured quality of the sentiment head, such as its accuracy.

    Raises:
        BrokenFile: the file is missing or damaged.
    """
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}. Check the project out again.") from error
    return figures


def read_head(path: Path = HEAD_FILE, figures: Path = FIGURES_FILE) -> SentimentHead:
    """Read the head, and check that its digest is the one in the file of figures.

    Raises:
        BrokenFile: a file is missing or damaged, or the figures belong to another head.
    """
    wanted = read_figures(figures)["sha256"]
    try:
        content = path.read_bytes()
        arrays = artifact.load(content, KIND, VERSION).arrays
    except (OSError, ArtifactError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}. Check the project out again.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise BrokenFile(
            f"{path} has the sha256 {found}, not {wanted}. Check the project out again."
        )
    return SentimentHead(*(arrays[name].astype(np.float32) for name in ("weights", "biases")))


def write_encoder(base: Path, result: Path) -> None:
    """Write `model.onnx`, its weights file, and `tokenizer.json`, all made from a base encoder."""
    write_early_states(base, LAYERS, result)
    tokenizer = json.loads((base / "tokenizer.json").read_text(encoding="utf-8"))
    text = json.dumps(reading_emoji(tokenizer), ensure_ascii=False)
    (result / "tokenizer.json").write_text(text, encoding="utf-8")
