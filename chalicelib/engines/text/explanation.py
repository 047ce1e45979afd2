"""Explains a prediction: leaves out each word of the text, to measure the word's contribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.windows import read_end
from chalicelib.domain.models.explanation import ExplainedWord, part_shares, without, word_spans

if TYPE_CHECKING:
    from chalicelib.engines.interface import Blocks
    from chalicelib.engines.text.classifier import TrainedText


def explain(
    trained: TrainedText, encode: Callable[[Sequence[str]], Blocks], document: str, label: str
) -> list[ExplainedWord]:
    """Return how much each word of a text contributes to the prediction of a label.

    Args:
        trained: the model.
        encode: returns, for each encoder, vectors of texts, float32, shape (texts, dims).
        document: the text.
        label: one of the model's labels.

    Returns:
        The words with their contributions, in the order of the text.
    """
    spans = word_spans(document)
    texts = [document, *(without(document, span) for span in spans)]
    column = trained.labels.index(label)
    whole, *variants = trained.predict(encode(texts))[:, column].tolist()
    shares = part_shares(whole, variants)
    # Older models have no setting for how much of a text they read.
    end = len(document) if trained.parameters.windows is None else read_end(document)
    return [
        ExplainedWord(document[span.start : span.end], span, share, span.start < end)
        for span, share in zip(spans, shares, strict=True)
    ]
