"""Defines trained text models, which predict labels from text vectors, and their stored form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chalicelib.domain.datasets.windows import SHORT_CHARACTERS
from chalicelib.domain.models.prediction import Ranked, ranked
from chalicelib.engines import artifact
from chalicelib.engines.artifact import Artifact, ArtifactError
from chalicelib.engines.calibration import fast_energies
from chalicelib.engines.interface import EncoderUse, TextReport
from chalicelib.engines.text.head import stored_neighbours, stored_rejectors
from chalicelib.engines.text.head.domain_score import scores
from chalicelib.engines.text.windows import attention as windows

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Array, Bools, Doubles, Floats, Halves, Singles
    from chalicelib.engines.interface import Blocks
    from chalicelib.engines.text.encoding.pool import EncoderPool
    from chalicelib.engines.text.head.neighbours import NearestTexts
    from chalicelib.engines.text.head.rejector import Rejector
    from chalicelib.engines.text.windows.attention import WindowReading


# Kind in the header of every artifact of this engine.
KIND = "text-linear"
# Increased when older artifacts can no longer be read.
VERSION = 1
_BYTES_OF_LABEL = 200
# Without learned weights, a window's relevance is the model's highest logit times this factor.
_SHARPNESS = 4.0

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class TextParameters:
    """The parameters of a text model: results of a training, stored in an artifact."""

    labels: tuple[str, ...]
    """Label names, in the order of the probabilities."""
    encoders: tuple[EncoderUse, ...]
    """Encoders, in the order of their vectors in the features."""
    weights: Halves
    """Weights for scaled features, float16, shape (dims of all encoders, labels)."""
    biases: Singles
    """Biases, float32, shape (labels,)."""
    means: Singles
    """Means of the raw vectors of the training texts, float32, shape (dims of all encoders,)."""
    norms: tuple[float, ...]
    """Root mean square length of each encoder's centred vectors."""
    temperature: float
    """Divisor of the logits, which calibrates the probabilities."""
    threshold: float
    """Energy (log-sum-exp of the logits) below which a text is rejected; -infinity for none."""
    rejector: Rejector | None = None
    """Rejects out-of-domain texts; None in older models, which use `threshold`."""
    neighbours: NearestTexts | None = None
    """Training texts whose similarity increases the logits; None if unused, as in older models."""
    windows: WindowReading | None = None
    """How texts longer than 128 tokens are encoded; None in older models, which cut them."""


@dataclass(frozen=True, slots=True, eq=False)
class TextAnswers:
    """Predictions of a model for several texts."""

    shares: Singles
    """Probabilities, float32, shape (texts, labels); each row sums to 1."""
    is_rejected: Bools
    """Which texts are out of domain, bool, shape (texts,)."""


class TrainedText:
    """A linear classifier of text vectors. The encoders of the texts are pre-trained and fixed."""

    def __init__(self, parameters: TextParameters, report: TextReport | None = None) -> None:
        self.parameters = parameters
        self.report = report
        self.labels: Sequence[str] = parameters.labels
        self.encoders: Sequence[EncoderUse] = parameters.encoders
        self._names = tuple(encoder.name for encoder in parameters.encoders)
        self._dims = tuple(encoder.dims for encoder in parameters.encoders)
        self._scales = np.repeat(np.asarray(parameters.norms, np.float32), self._dims)
        # Centring, scaling and temperature are part of the matrix, so that a prediction is one
        # product.
        self._matrix = parameters.weights.astype(np.float32)
        self._matrix /= self._scales[:, None] * np.float32(parameters.temperature)
        self._offsets = parameters.biases / np.float32(parameters.temperature)
        self._offsets -= parameters.means @ self._matrix

    @property
    def bytes(self) -> int:
        """Return the number of bytes that the model uses in memory."""
        parts = self.parameters
        arrays: list[Array] = [
            self._matrix,
            self._offsets,
            parts.weights,
            parts.biases,
            parts.means,
        ]
        if parts.rejector is not None:
            # Only large arrays are counted; all others are a few kilobytes.
            arrays += [parts.rejector.domain.anchors, parts.rejector.domain.centre]
        if parts.neighbours is not None:
            arrays.append(parts.neighbours.anchors)
        if parts.windows is not None and parts.windows.attention is not None:
            arrays.append(parts.windows.attention.weights)
        return sum(array.nbytes for array in arrays) + _BYTES_OF_LABEL * len(parts.labels)

    @property
    def is_finite(self) -> bool:
        """Return whether all weights and offsets of the linear layer are finite."""
        return bool(np.isfinite(self._matrix).all() and np.isfinite(self._offsets).all())

    def read(self, texts: Sequence[str], encode: Callable[[Sequence[str]], Blocks]) -> Blocks:
        """Return, for each encoder, one vector per text, float32, shape (texts, dims).

        Args:
            texts: texts of any length. If the model divides long texts into windows, the vector of
                a long text is the weighted mean of the vectors of its windows.
            encode: returns, for each encoder, vectors of the first 128 tokens of texts.
        """
        if self.parameters.windows is None:
            return encode(texts)
        return windows.read_texts(texts, encode, self.window_relevance)

    def window_relevance(self, blocks: Blocks) -> Doubles:
        """Return, for each window of a text, the log-odds that it is evidence for any label.

        Args:
            blocks: for each encoder, vectors of the windows, float32, shape (windows, dims).

        Returns:
            The log-odds, float64, shape (windows,).
        """
        reading = self.parameters.windows
        if reading is not None and reading.attention is not None:
            return reading.attention.relevance(blocks[reading.attention.encoder])
        confidence = self._tempered_logits(self._vectors(blocks)).max(axis=1)
        return np.asarray(_SHARPNESS * confidence, np.float64)

    def answer(self, blocks: Blocks) -> TextAnswers:
        """Return the probabilities of the labels for each text, and which texts are rejected.

        Args:
            blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
        """
        vectors = self._vectors(blocks)
        alone = self._tempered_logits(vectors)
        logits = self._add_nearness(vectors, alone)
        shares = _shares(logits)
        rejector, threshold = self.parameters.rejector, self.parameters.threshold
        if rejector is not None:
            signals = self._signals(rejector, vectors, alone, logits)
            cautious = rejector.scale.cautious(shares, signals)
            return TextAnswers(cautious, rejector.rejects(signals))
        # Minus infinity: this model never rejects.
        if math.isinf(threshold):
            return TextAnswers(shares, np.zeros(len(vectors), bool))
        return TextAnswers(shares, fast_energies(logits) < threshold)

    def predict(self, blocks: Blocks) -> Singles:
        """Return the probability of each label, float32, shape (texts, labels).

        Args:
            blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
        """
        return self.answer(blocks).shares

    def rejects(self, blocks: Blocks) -> Bools:
        """Return whether each text is rejected as out of domain, bool, shape (texts,).

        Args:
            blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
        """
        return self.answer(blocks).is_rejected

    def domain_scores(self, blocks: Blocks) -> Floats:
        """Return domain scores of texts, float, shape (texts,). Training texts have high scores.

        Args:
            blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
        """
        vectors = self._vectors(blocks)
        alone = self._tempered_logits(vectors)
        logits = self._add_nearness(vectors, alone)
        rejector = self.parameters.rejector
        if rejector is None:
            return fast_energies(logits)
        return scores(self._signals(rejector, vectors, alone, logits))

    def logits(self, blocks: Blocks) -> Singles:
        """Return the logits divided by the temperature, float32, shape (texts, labels).

        The softmax of the logits gives probabilities. If the model has a rejector, `predict` moves
        the probabilities of texts that may be out of the domain towards equal values for all
        labels.
        """
        vectors = self._vectors(blocks)
        return self._add_nearness(vectors, self._tempered_logits(vectors))

    def certainty(self, blocks: Blocks) -> Singles:
        """Return the probability that each text is in the domain, float32, shape (texts,).

        It is 1 for models without a rejector.
        """
        rejector, vectors = self.parameters.rejector, self._vectors(blocks)
        if rejector is None:
            return np.ones(len(vectors), np.float32)
        alone = self._tempered_logits(vectors)
        logits = self._add_nearness(vectors, alone)
        return rejector.scale.certainty(self._signals(rejector, vectors, alone, logits))

    def _signals(
        self, rejector: Rejector, vectors: Singles, alone: Singles, logits: Singles
    ) -> Doubles:
        return rejector.signals(alone, logits, self._features(vectors))

    def features(self, blocks: Blocks) -> Singles:
        """Return centred and scaled vectors, float32, shape (texts, dims of all encoders).

        Args:
            blocks: for each encoder, vectors of the texts, float32, shape (texts, dims).
        """
        return self._features(self._vectors(blocks))

    def _features(self, vectors: Singles) -> Singles:
        return np.asarray((vectors - self.parameters.means) / self._scales)

    def _tempered_logits(self, vectors: Singles) -> Singles:
        logits: Singles = vectors @ self._matrix
        logits += self._offsets
        return logits

    def _add_nearness(self, vectors: Singles, logits: Singles) -> Singles:
        neighbours = self.parameters.neighbours
        if neighbours is None:
            return logits
        features, temperature = self._features(vectors), self.parameters.temperature
        return np.asarray(neighbours.add_to(logits, features, temperature), np.float32)

    def _vectors(self, blocks: Blocks) -> Singles:
        """Concatenate the encoders' vectors to float32, shape (texts, dims of all encoders)."""
        parts = []
        for name, dims in zip(self._names, self._dims, strict=True):
            part = np.asarray(blocks[name], np.float32) if name in blocks else None
            if part is None or part.ndim != 2 or part.shape[1] != dims:
                raise ValueError(f"The model needs {dims}-dimensional vectors of encoder {name}.")
            parts.append(part)
        vectors = np.concatenate(parts, axis=1)
        if not np.isfinite(vectors).all():
            # A broken vector holds no information, so it counts as the average training text.
            vectors = np.where(np.isfinite(vectors), vectors, self.parameters.means)
        return vectors


def _shares(logits: Singles) -> Singles:
    shares: Singles = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def encode_texts(
    trained: TrainedText, encoders: EncoderPool, texts: Sequence[str], threads: int = 1
) -> Blocks:
    """Return, for each encoder, the vectors of texts, float32, shape (texts, dims).

    Args:
        trained: the model, which determines the encoding of long texts.
        encoders: the installed encoders.
        texts: texts of any length.
        threads: number of short texts, or parts of long texts, to encode at the same time.
    """
    names = [use.name for use in trained.encoders]
    # Most texts are a sentence, which every model reads whole.
    if len(texts) == 1 and len(texts[0]) <= SHORT_CHARACTERS:
        return encoders.vectors(names, texts[0])

    def encode(parts: Sequence[str]) -> Blocks:
        if len(parts) == 1:
            return encoders.vectors(names, parts[0])
        return {name: encoders.get(name).encode(parts, threads=threads) for name in names}

    return trained.read(texts, encode)


def answer_texts(
    trained: TrainedText,
    encoders: EncoderPool,
    texts: Sequence[str],
    count: int | None = None,
    threads: int = 1,
) -> list[Ranked]:
    """Return the labels of each text, most probable first; none for out-of-domain texts.

    Args:
        trained: the model.
        encoders: the installed encoders.
        texts: texts of any length.
        count: maximum number of labels for each text; None: all labels.
        threads: number of texts that are encoded at the same time.
    """
    blocks, answers = encode_texts(trained, encoders, texts, threads), []
    for row in range(len(texts)):
        # One matrix product per text: its last bits depend on the number of rows.
        own = trained.answer({name: block[row : row + 1] for name, block in blocks.items()})
        shares = own.shares[0].tolist()
        answers.append(() if own.is_rejected[0] else ranked(trained.labels, shares, count))
    return answers


def dump(trained: TrainedText) -> bytes:
    """Return a model as bytes for storage; equal parameters give equal bytes."""
    parameters = trained.parameters
    header = {
        "kind": KIND,
        "version": VERSION,
        "labels": list(parameters.labels),
        "encoders": [[use.name, use.sha256, use.dims] for use in parameters.encoders],
        "norms": list(parameters.norms),
        "temperature": parameters.temperature,
        # JSON has no infinity.
        "threshold": None if math.isinf(parameters.threshold) else parameters.threshold,
    }
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "weights": parameters.weights,
        "biases": parameters.biases,
        "means": parameters.means,
    }
    if parameters.rejector is not None:
        header["rejector"] = stored_rejectors.header(parameters.rejector)
        arrays |= artifact.add_prefix(
            stored_rejectors.PREFIX, stored_rejectors.arrays(parameters.rejector)
        )
    if parameters.neighbours is not None:
        header["neighbours"] = stored_neighbours.header(parameters.neighbours)
        arrays |= artifact.add_prefix(
            stored_neighbours.PREFIX, stored_neighbours.arrays(parameters.neighbours)
        )
    if parameters.windows is not None:
        header[windows.PREFIX] = windows.header(parameters.windows)
        arrays |= artifact.add_prefix(windows.PREFIX, windows.arrays(parameters.windows))
    return artifact.dump(header, arrays)


def load(data: bytes) -> TrainedText:
    """Read a model from the bytes that `dump` returned.

    Raises:
        ArtifactError: the bytes are damaged, or are not a text model.
    """
    parameters = artifact.read(data, KIND, VERSION, _parameters)
    _check_shapes(parameters)
    _check_parts(parameters)
    with np.errstate(all="ignore"):
        trained = TrainedText(parameters)
    if not trained.is_finite:
        raise ArtifactError("The artifact's scales are too small for its weights.")
    return trained


def _parameters(content: Artifact) -> TextParameters:
    header: Mapping[str, Any] = content.header
    threshold = header["threshold"]
    return TextParameters(
        labels=tuple(_names(header["labels"])),
        encoders=tuple(EncoderUse(str(n), str(s), _count(d)) for n, s, d in header["encoders"]),
        weights=_numbers(content, "weights", np.dtype(np.float16)),
        biases=_numbers(content, "biases", np.dtype(np.float32)),
        means=_numbers(content, "means", np.dtype(np.float32)),
        norms=tuple(float(norm) for norm in header["norms"]),
        temperature=float(header["temperature"]),
        threshold=float("-inf") if threshold is None else float(threshold),
        rejector=stored_rejectors.read(content) if "rejector" in header else None,
        neighbours=stored_neighbours.read(content) if "neighbours" in header else None,
        windows=windows.read(content) if windows.PREFIX in header else None,
    )


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("the labels are not a list of names")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number of dimensions")
    return value


def _numbers(content: Artifact, name: str, dtype: np.dtype[Number]) -> npt.NDArray[Number]:
    array = content.arrays[name]
    if array.dtype != dtype:
        raise TypeError(f"{name} holds {array.dtype}, not {dtype}")
    return array.astype(dtype, copy=False)


def _check_shapes(parameters: TextParameters) -> None:
    dims = sum(use.dims for use in parameters.encoders)
    labels = len(parameters.labels)
    arrays = (parameters.weights, parameters.biases, parameters.means)
    if [array.shape for array in arrays] != [(dims, labels), (labels,), (dims,)]:
        raise ArtifactError("The artifact's weights, labels and encoders do not fit together.")
    if len(parameters.norms) != len(parameters.encoders) or not labels:
        raise ArtifactError("The artifact's scales and encoders do not fit together.")
    scales = (*parameters.norms, parameters.temperature)
    if not all(0 < scale < math.inf for scale in scales):
        raise ArtifactError("The artifact's scales are not positive numbers.")
    if not parameters.threshold < math.inf:
        raise ArtifactError("The artifact's threshold is not a number.")
    if not all(np.isfinite(array).all() for array in arrays):
        raise ArtifactError("The artifact holds numbers that are not finite.")


def _check_parts(parameters: TextParameters) -> None:
    uses = {use.name: use.dims for use in parameters.encoders}
    dims, labels = sum(uses.values()), len(parameters.labels)
    if parameters.rejector is not None:
        stored_rejectors.check(parameters.rejector, dims, labels)
    if parameters.neighbours is not None:
        stored_neighbours.check(parameters.neighbours, dims, labels)
    if parameters.windows is not None:
        windows.check(parameters.windows, uses)
