"""Judges unlabelled texts with a model, to rank the texts that users should label next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chalicelib.domain.models.judgement import Judgement
from chalicelib.engines.ranking.vectors import short_vectors

if TYPE_CHECKING:
    from chalicelib.engines.interface import Blocks
    from chalicelib.engines.text.classifier import TrainedText


def judge(trained: TrainedText, blocks: Blocks) -> Iterator[Judgement]:
    """Yield a judgement of each text: the suggested label and the uncertainty.

    Args:
        trained: the model.
        blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
    """
    count = min((len(block) for block in blocks.values()), default=0)
    for row in range(count):
        # One at a time, because a product of several rows has other last bits, and a judgement must
        # not depend on other texts.
        one = {name: block[row : row + 1] for name, block in blocks.items()}
        answers = trained.answer(one)
        shares = answers.shares[0]
        best = int(shares.argmax())
        is_rejected = bool(answers.is_rejected[0])
        yield Judgement(
            label=None if is_rejected else trained.labels[best],
            probability=0.0 if is_rejected else float(shares[best]),
            uncertainty=1.0 - float(shares[best]),
            likeness=float(trained.domain_scores(one)[0]),
            vector=short_vectors(trained.features(one))[0],
        )
