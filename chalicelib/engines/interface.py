"""Contracts between the learning engines and the services, and the records they exchange.

Holds no native import, so that services may name these types without loading numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints, Singles

    Blocks = Mapping[str, Singles]


@dataclass(frozen=True, slots=True)
class EncoderUse:
    """One encoder whose vectors a model was trained on."""

    name: str
    sha256: str
    """Digest of its model file, 64 hex digits; empty when not known."""
    dims: int
    """Length of its vectors."""


@dataclass(frozen=True, slots=True)
class TextTrainingSet:
    """Embedded examples, ready to learn from."""

    blocks: Blocks
    """Raw vectors by encoder, float32, shape (examples, dims)."""
    label_indexes: Ints
    """Place of every example's label in `label_names`, int, shape (examples,)."""
    label_names: Sequence[str]
    """Labels in the dataset's order."""
    digests: Sequence[bytes]
    """Digest of every example's text: equal texts have equal digests."""
    word_digests: Sequence[bytes] | None = None
    """Digest of every text's words, whatever its capitals and punctuation; None: `digests`."""
    label_blocks: Blocks | None = None
    """Vectors of the labels' phrases by encoder, float32, shape (labels, dims); rows of labels
    without a phrase are ignored."""
    background: Blocks | None = None
    """Vectors of texts that belong to no label, float32, shape (texts, dims); None: not known."""
    encoder_digests: Mapping[str, str] = field(default_factory=dict)
    """Sha256 of every encoder's model file, by encoder name."""

    @property
    def words(self) -> Sequence[bytes]:
        """Digests of what a reader sees, one per example: texts of the same words are equal."""
        return self.word_digests or self.digests


@dataclass(frozen=True, slots=True)
class TextFitOptions:
    """What the caller of a training may choose."""

    split_ratio: float = 0.8
    """Share of the examples to train on before the metrics are taken, between 0 and 1."""
    out_of_domain_rate: float | None = None
    """Share of in-domain texts that may be rejected; None: reject nothing."""
    max_epochs: int | None = None
    """Most epochs to run; None: until the loss stops falling."""
    seed: int = 0
    """Chooses the split and the folds."""
    threads: int = 1
    """Threads that share the work; what comes out does not depend on them."""


@dataclass(frozen=True, slots=True)
class TextMetrics:
    """Quality on the held-out split; lists follow `labels`."""

    labels: list[str]
    """Label names in the dataset's order."""
    f1: list[float]
    """Harmonic mean of precision and recall; 0 for a label that was not tested."""
    precision: list[float]
    """Share of the answers with this label that were right."""
    recall: list[float]
    """Share of the texts of this label that were found."""
    macro_f1: float
    """Mean f1 of the labels that were tested."""
    test_accuracy: float
    """Share of held-out texts answered rightly; a rejected text counts as wrong."""
    training_accuracy: float
    """The same on the training part of the split."""
    test_loss: float
    """Mean log-loss of the held-out texts."""
    training_loss: float
    """Mean log-loss of the training part."""
    confusion_matrix: list[list[int]]
    """Held-out texts by true label (row) and answer (column); one more row and column, out of
    domain, when the model may reject."""


@dataclass(frozen=True, slots=True)
class TextEpoch:
    """One group of optimiser passes over the training part of the split."""

    epoch: int
    """Number of the epoch, from 1."""
    metrics: TextMetrics
    """Quality after it."""


@dataclass(frozen=True, slots=True)
class PrecisionRecallCurve:
    """Micro-averaged quality at rising score thresholds; at most 100 points."""

    f1: list[float]
    """Harmonic mean of precision and recall at the threshold."""
    recall: list[float]
    """Share of the true pairs of text and label whose score reaches it."""
    precision: list[float]
    """Share of the pairs whose score reaches it that are true."""
    threshold: list[float]
    """Scores, ascending."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval: Wilson's for a share, a bootstrap's for a mean of f1."""

    value: float
    """The measured figure."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


@dataclass(frozen=True, slots=True)
class TextConflict:
    """Two examples that say nearly the same under different labels."""

    left: int
    """Place of one example in the training set."""
    right: int
    """Place of the other."""
    similarity: float
    """Cosine of their feature vectors; 1 for texts of the same words."""


@dataclass(frozen=True, slots=True)
class RejectionQuality:
    """What the out-of-domain threshold does to texts that are in the domain."""

    held_out: Interval
    """Share of the held-out texts that are rejected."""
    out_of_fold: float
    """Share of the texts that the threshold was taken from."""
    judged_by: int
    """Texts that the served threshold was taken from."""
    background: Interval | None = None
    """Share of background texts that are rejected by what did not see them; None: not known."""
    background_texts: int = 0
    """How many these are."""


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """Answers to examples by heads that did not see them."""

    examples: Ints
    """Places in the training set, int, shape (n,)."""
    probabilities: Singles
    """Of all labels, float32, shape (n, labels)."""
    truth: Ints
    """Label indexes as given, int, shape (n,)."""
    served: Singles | None = None
    """Probabilities as the model answers with them, same shape; None: they are those."""
    is_rejected: Bools | None = None
    """Which of them the model rejects, bool, shape (n,); None: it never does."""


@dataclass(frozen=True, slots=True)
class TextReport:
    """Metrics and other results of a finished training."""

    metrics: TextMetrics
    """Quality on the held-out split."""
    thresholds: dict[str, float]
    """By label: the score from which its answers have the best f1 on held-out texts."""
    curve: PrecisionRecallCurve
    """Precision and recall over held-out scores."""
    accuracy_interval: Interval
    """Held-out accuracy with its uncertainty."""
    calibration_error: float
    """Mean gap of probability and accuracy over 15 equally filled bins, out of fold."""
    brier_score: float
    """Mean squared error of the probabilities, out of fold."""
    penalty_inverse: float
    """The chosen C."""
    temperature: float
    """The logits are divided by it."""
    nearness_weight: float
    """What a cosine of 1 to the nearest training text of a label adds to its logit; 0: nothing."""
    epochs: int
    """Epochs that were run."""
    early_stopping: bool
    """Whether the loss stopped falling before the last allowed epoch."""
    training_examples: int
    """Size of the training part of the split."""
    test_examples: int
    """Size of the held-out part."""
    is_exact: bool
    """Whether the artifact is the same byte for byte on any processor."""
    macro_f1_interval: Interval
    """Held-out macro f1 with its uncertainty."""
    duplicates_kept_together: int
    """Texts beyond the first of every group of near-duplicates of one label."""
    duplicates_across_split: int
    """Held-out texts with a near-duplicate in the training part."""
    conflicts: tuple[TextConflict, ...]
    """Near-duplicates with different labels, the most alike first."""
    rejection: RejectionQuality | None
    """What the threshold does to texts of the domain; None: the model never rejects."""
    out_of_fold: OutOfFold = field(repr=False, compare=False)
    """Answers by heads that did not see the examples."""
