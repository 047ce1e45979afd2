"""Interfaces between the training engines and the services, and the records they exchange.

The module imports no native code, so that services can name these types without loading numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints, Singles
    from chalicelib.engines.text.windows.attention import WindowReading

    Blocks = Mapping[str, Singles]


@dataclass(frozen=True, slots=True)
class EncoderUse:
    """An encoder that computes the input vectors of a model."""

    name: str
    sha256: str
    """SHA-256 of the encoder's model file, 64 hex digits; empty if unknown."""
    dims: int
    """Length of the encoder's vectors."""


@dataclass(frozen=True, slots=True)
class TextTrainingSet:
    """The examples of a text training, as vectors with labels."""

    blocks: Blocks
    """Raw vectors of the examples by encoder, float32, shape (examples, dims)."""
    label_indexes: Ints
    """Index of each example's label in `label_names`, int, shape (examples,)."""
    label_names: Sequence[str]
    """Label names, in the dataset's order."""
    digests: Sequence[bytes]
    """Digest of each example's text. Equal texts have equal digests."""
    word_digests: Sequence[bytes] | None = None
    """Digest of each text's words, without case and punctuation; None to use `digests`."""
    label_blocks: Blocks | None = None
    """Vectors of label names by encoder, float32, (labels, dims); None if they are not used."""
    background: Blocks | None = None
    """Vectors of out-of-domain texts, float32, shape (texts, dims); None if unknown."""
    encoder_digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each encoder's model file, by encoder name."""
    reading: WindowReading | None = None
    """Method of encoding long texts; None to use only their first 128 tokens."""

    @property
    def words(self) -> Sequence[bytes]:
        """Return `word_digests`; if they are missing, return `digests`."""
        return self.word_digests or self.digests


@dataclass(frozen=True, slots=True)
class TextFitOptions:
    """Options of a text training."""

    split_ratio: float = 0.8
    """Fraction of the examples to train on while metrics are measured, between 0 and 1."""
    out_of_domain_rate: float | None = None
    """Fraction of in-domain texts that may be rejected; None to reject nothing."""
    max_epochs: int | None = None
    """Maximum number of epochs; None to train until the loss stops falling."""
    seed: int = 0
    """Seed of the split and the folds."""
    threads: int = 1
    """Number of threads that share the work. The result does not depend on it."""


@dataclass(frozen=True, slots=True)
class TextMetrics:
    """Metrics on the held-out part of the split. Lists are in the order of `labels`."""

    labels: list[str]
    """Label names, in the dataset's order."""
    f1: list[float]
    """F1 score of each label: harmonic mean of precision and recall; 0 if it was not tested."""
    precision: list[float]
    """Precision of each label: fraction of the predictions of this label that are correct."""
    recall: list[float]
    """Recall of each label: fraction of the texts of this label that are predicted correctly."""
    macro_f1: float
    """Mean F1 score of the labels that were tested."""
    test_accuracy: float
    """Fraction of held-out texts predicted correctly; a rejected text counts as wrong."""
    training_accuracy: float
    """Fraction of training texts predicted correctly; a rejected text counts as wrong."""
    test_loss: float
    """Mean log-loss of the held-out texts."""
    training_loss: float
    """Mean log-loss of the texts in the training part of the split."""
    confusion_matrix: list[list[int]]
    """Number of held-out texts by true label (row) and predicted label (column).

    If the model may reject texts, the last row and column are out of domain.
    """


@dataclass(frozen=True, slots=True)
class TextEpoch:
    """The record of an epoch, which is a group of optimiser iterations on the training part."""

    epoch: int
    """Number of the epoch, from 1."""
    metrics: TextMetrics
    """Metrics after the epoch."""


@dataclass(frozen=True, slots=True)
class PrecisionRecallCurve:
    """Micro-averaged precision and recall at increasing thresholds; at most 100 points."""

    f1: list[float]
    recall: list[float]
    """Of the true pairs of text and label, the fraction whose score is at least the threshold."""
    precision: list[float]
    """Of the pairs whose score is at least the threshold, the fraction that is true."""
    threshold: list[float]
    """Thresholds, ascending."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval.

    Fractions have a Wilson interval, and a mean F1 has a bootstrap interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TextConflict:
    """Two examples with nearly the same text and different labels."""

    left: int
    """Index, in the training set, of the first of the two examples."""
    right: int
    similarity: float
    """Cosine of the two feature vectors; 1 for texts with the same words."""


@dataclass(frozen=True, slots=True)
class RejectionQuality:
    """Fractions of texts that a model rejects as out of domain."""

    held_out: Interval
    """Fraction of the held-out texts that are rejected."""
    out_of_fold: float
    """Fraction rejected among the texts from which the threshold was computed."""
    judged_by: int
    """Number of texts from which the threshold of the finished model was computed."""
    background: Interval | None = None
    """Fraction of background texts rejected by models that were not trained on them.

    None if unknown.
    """
    background_texts: int = 0
    withheld_clusters: Interval | None = None
    """Fraction of training texts that are rejected by models trained without similar texts.

    None if the threshold was chosen without this measurement.
    """
    withheld_labels: Interval | None = None
    """Fraction of training texts that are rejected by models trained without the text's label.

    None if the threshold was chosen without this measurement.
    """


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """Out-of-fold predictions: no head was trained on the examples that it predicts."""

    examples: Ints
    """Indexes of the examples in the training set, int, shape (n,)."""
    probabilities: Singles
    """Probabilities of all labels, float32, shape (n, labels)."""
    truth: Ints
    """Index of each example's label as given, int, shape (n,)."""
    calibrated: Singles | None = None
    """Probabilities as the finished model returns them; None if equal to `probabilities`."""
    is_rejected: Bools | None = None
    """Which examples the model rejects, bool, shape (n,); None if it rejects none."""


@dataclass(frozen=True, slots=True)
class TextReport:
    """Metrics and other results of a finished training."""

    metrics: TextMetrics
    thresholds: dict[str, float]
    """For each label, the threshold with the best F1 score on held-out texts."""
    curve: PrecisionRecallCurve
    accuracy_interval: Interval
    """Held-out accuracy with its 95 % interval."""
    calibration_error: float
    """Mean difference between out-of-fold probability and accuracy, in 15 equally filled bins."""
    brier_score: float
    """Mean squared error of the out-of-fold probabilities."""
    penalty_inverse: float
    """The chosen inverse penalty C."""
    temperature: float
    """Divisor of the logits, which calibrates the probabilities."""
    nearness_weight: float
    """Logit increase for a cosine of 1 to a label's nearest training text; 0 if unused."""
    epochs: int
    early_stopping: bool
    """Whether the loss stopped falling before the last allowed epoch."""
    training_examples: int
    """Number of examples in the training part of the split."""
    test_examples: int
    """Number of examples in the held-out part of the split."""
    is_exact: bool
    """Whether the artifact has the same bytes on every processor."""
    macro_f1_interval: Interval
    """Held-out macro F1 score with its 95 % interval."""
    duplicates_kept_together: int
    """Number of texts in groups of near-duplicates, not counting the first of each group."""
    duplicates_across_split: int
    """Number of held-out texts with a near-duplicate in the training part."""
    conflicts: tuple[TextConflict, ...]
    """Near-duplicates with different labels, the most similar first."""
    rejection: RejectionQuality | None
    """Fractions of texts that the model rejects; None for a model that never rejects."""
    out_of_fold: OutOfFold = field(repr=False, compare=False)
