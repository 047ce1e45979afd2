"""Interfaces between the training engines and the services, and the records they exchange.

Imports nothing native, so that services can name these types without loading numpy.
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
    """An encoder whose vectors a model was trained on."""

    name: str
    sha256: str
    """Digest of its model file, 64 hex digits; empty if unknown."""
    dims: int
    """Length of its vectors."""


@dataclass(frozen=True, slots=True)
class TextTrainingSet:
    """Embedded examples for a training."""

    blocks: Blocks
    """Raw vectors by encoder, float32, shape (examples, dims)."""
    label_indexes: Ints
    """Index into `label_names` of every example, int, shape (examples,)."""
    label_names: Sequence[str]
    """Labels in the dataset's order."""
    digests: Sequence[bytes]
    """Digest of every example's text: equal texts have equal digests."""
    word_digests: Sequence[bytes] | None = None
    """Digest of every text's words, ignoring case and punctuation; None: `digests`."""
    label_blocks: Blocks | None = None
    """Vectors of the labels' phrases, float32, shape (labels, dims); ignored without a phrase."""
    background: Blocks | None = None
    """Vectors of out-of-domain texts, float32, shape (texts, dims); None if unknown."""
    encoder_digests: Mapping[str, str] = field(default_factory=dict)
    """Sha256 of every encoder's model file, by encoder name."""
    reading: WindowReading | None = None
    """How long texts are read; None: only their first 128 tokens."""

    @property
    def words(self) -> Sequence[bytes]:
        """Return one digest per example; texts with the same words have the same digest."""
        return self.word_digests or self.digests


@dataclass(frozen=True, slots=True)
class TextFitOptions:
    """Options of a training."""

    split_ratio: float = 0.8
    """Fraction of the examples to train on while metrics are measured, between 0 and 1."""
    out_of_domain_rate: float | None = None
    """Fraction of in-domain texts that may be rejected; None to reject nothing."""
    max_epochs: int | None = None
    """None: until the loss stops falling."""
    seed: int = 0
    """Chooses the split and the folds."""
    threads: int = 1
    """Threads that share the work; the result does not depend on them."""


@dataclass(frozen=True, slots=True)
class TextMetrics:
    """Quality on the held-out split; lists are in the order of `labels`."""

    labels: list[str]
    """In the dataset's order."""
    f1: list[float]
    """Harmonic mean of precision and recall; 0 for a label that was not tested."""
    precision: list[float]
    """Fraction of the answers with this label that were right."""
    recall: list[float]
    """Fraction of the texts of this label that were found."""
    macro_f1: float
    """Mean f1 of the labels that were tested."""
    test_accuracy: float
    """Fraction of held-out texts answered correctly; a rejected text counts as wrong."""
    training_accuracy: float
    """The same for the training part of the split."""
    test_loss: float
    """Mean log-loss of the held-out texts."""
    training_loss: float
    """Mean log-loss of the training part."""
    confusion_matrix: list[list[int]]
    """Held-out texts by true label (row) and answer (column); with rejection one more of each."""


@dataclass(frozen=True, slots=True)
class TextEpoch:
    """One group of optimiser passes over the training part of the split."""

    epoch: int
    """From 1."""
    metrics: TextMetrics
    """Quality after it."""


@dataclass(frozen=True, slots=True)
class PrecisionRecallCurve:
    """Micro-averaged precision and recall at increasing thresholds; at most 100 points."""

    f1: list[float]
    recall: list[float]
    """Fraction of the true pairs of text and label whose score reaches the threshold."""
    precision: list[float]
    """Fraction of the pairs whose score reaches the threshold that are true."""
    threshold: list[float]
    """Scores, ascending."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval: Wilson's for a fraction, a bootstrap for a mean f1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TextConflict:
    """Two examples with nearly the same text and different labels."""

    left: int
    """Index in the training set."""
    right: int
    similarity: float
    """Cosine of their feature vectors; 1 for texts of the same words."""


@dataclass(frozen=True, slots=True)
class RejectionQuality:
    """How many texts the out-of-domain threshold rejects."""

    held_out: Interval
    """Fraction of the held-out texts that are rejected."""
    out_of_fold: float
    """Fraction of the texts that the threshold was computed from."""
    judged_by: int
    """Number of texts that the served threshold was computed from."""
    background: Interval | None = None
    """Fraction of background texts rejected by models that did not see them; None if unknown."""
    background_texts: int = 0
    withheld_clusters: Interval | None = None
    """Fraction rejected of texts whose cluster was withheld; None if there is no margin."""
    withheld_labels: Interval | None = None
    """Fraction rejected of texts whose label was withheld; None if there is no margin."""


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """Predictions for examples by heads that were not trained on them."""

    examples: Ints
    """Indexes in the training set, int, shape (n,)."""
    probabilities: Singles
    """Of all labels, float32, shape (n, labels)."""
    truth: Ints
    """Label indexes as given, int, shape (n,)."""
    served: Singles | None = None
    """Probabilities as the model serves them, same shape; None: `probabilities`."""
    is_rejected: Bools | None = None
    """Which of them the model rejects, bool, shape (n,); None: none."""


@dataclass(frozen=True, slots=True)
class TextReport:
    """Metrics and other results of a finished training."""

    metrics: TextMetrics
    thresholds: dict[str, float]
    """By label: the score from which its answers have the best f1 on held-out texts."""
    curve: PrecisionRecallCurve
    accuracy_interval: Interval
    """Held-out accuracy with its uncertainty."""
    calibration_error: float
    """Mean gap between probability and accuracy over 15 equally filled bins, out of fold."""
    brier_score: float
    """Mean squared error of the probabilities, out of fold."""
    penalty_inverse: float
    """The chosen C."""
    temperature: float
    """Divisor of the logits."""
    nearness_weight: float
    """Added to a label's logit per cosine to its nearest training text; 0 if unused."""
    epochs: int
    early_stopping: bool
    """Whether the loss stopped falling before the last allowed epoch."""
    training_examples: int
    """Size of the training part of the split."""
    test_examples: int
    """Size of the held-out part."""
    is_exact: bool
    """Whether the artifact has the same bytes on every processor."""
    macro_f1_interval: Interval
    """Held-out macro f1 with its uncertainty."""
    duplicates_kept_together: int
    """Texts beyond the first of every group of near-duplicates of one label."""
    duplicates_across_split: int
    """Held-out texts with a near-duplicate in the training part."""
    conflicts: tuple[TextConflict, ...]
    """Near-duplicates with different labels, the most alike first."""
    rejection: RejectionQuality | None
    """How well the model rejects; None for a model that never rejects."""
    out_of_fold: OutOfFold = field(repr=False, compare=False)
