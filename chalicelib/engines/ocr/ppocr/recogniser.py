"""Recognises the text of crops. Long crops are split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.ocr.ppocr.crops import HEIGHT
from chalicelib.engines.ocr.ppocr.ctc import NOTHING, RecognisedText, decode

if TYPE_CHECKING:
    from PIL import Image

    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.ocr.interface import CancelCheck

# Widest crop that is read in one piece, in pixels.
LONGEST = 2_400
# Distance before the limit in which a gap is searched, in pixels.
_SEARCHED = 1_200
# Minimum width of a space, in pixels.
_WORD_GAP = 0.2 * HEIGHT
# Minimum contrast of ink, as a fraction of the crop's contrast.
_INK = 0.25

# First column, column behind the last, and whether a space comes before the part.
Cuts = list[tuple[int, int, bool]]


def cut_places(crop: Image.Image) -> Cuts:
    """Return the columns at which to split an RGB crop, so that no part is wider than LONGEST."""
    if crop.width <= LONGEST:
        return [(0, crop.width, False)]
    blank = _blank_columns(crop)
    cuts: Cuts = []
    start, is_spaced = 0, False
    while crop.width - start > LONGEST:
        first, last = _widest_gap(blank, start + LONGEST - _SEARCHED, start + LONGEST)
        middle = (first + last) // 2
        cuts.append((start, middle, is_spaced))
        start, is_spaced = middle, last - first >= _WORD_GAP
    return [*cuts, (start, crop.width, is_spaced)]


def joined(cuts: Cuts, readings: Sequence[RecognisedText], width: int) -> RecognisedText:
    """Join the texts of a split crop, which was `width` pixels wide."""
    text, places, weighted = "", list[float](), 0.0
    for (start, end, is_spaced), reading in zip(cuts, readings, strict=True):
        if not reading.text:
            continue
        if text and is_spaced:
            text += " "
            places.append(start / width)
        text += reading.text
        weighted += reading.probability * len(reading.text)
        places += [(start + place * (end - start)) / width for place in reading.places]
    if not text:
        return NOTHING
    return RecognisedText(text, weighted / sum(len(r.text) for r in readings), tuple(places))


def _blank_columns(crop: Image.Image) -> list[bool]:
    """Return for each column whether it is background from top to bottom."""
    grey = np.asarray(crop.convert("L"), np.float32)
    background = np.median(grey)
    contrast = np.abs(grey - background).max(axis=0)
    blank: list[bool] = (contrast <= _INK * max(float(contrast.max()), 1.0)).tolist()
    return blank


def _widest_gap(blank: list[bool], first: int, last: int) -> tuple[int, int]:
    """Return the widest run of blank columns between two columns.

    If there is none, return an empty run at the second column.
    """
    best = (last, last)
    start = first
    for column in range(first, last):
        if not blank[column]:
            start = column + 1
        elif column + 1 - start >= best[1] - best[0]:
            best = (start, column + 1)
    return best


# Maximum number of crops in a batch, which have similar widths.
BATCH = 6
# Maximum sum of the widths in a batch, in pixels, which limits its memory.
MOST_COLUMNS = 4_800
# The network's input widths are multiples of this number of pixels, so that there are few shapes.
_GRID = 32
# Minimum width of the network's input, in pixels. Narrower inputs are not read better.
_LEAST_WIDTH = 192
_MIDDLE = 127.5
# Minimum sum of the letters' probabilities at a step, to avoid a division by zero.
_LEAST_SUM = np.float32(1e-6)

# Cuts a crop, RGB, HEIGHT pixels high, given its index.
Cut = Callable[[int], "Image.Image"]


class Recogniser:
    """A network that recognises the text of crops, each with one line, from left to right."""

    def __init__(self, session: Any, alphabets: Sequence[Sequence[str]], output: int = 0) -> None:
        """Store the network.

        Args:
            session: session of ONNX Runtime.
            alphabets: the characters of each output: first the blank, last the space.
            output: index of the output to use.
        """
        self._session = session
        self._alphabets = alphabets
        self._output = output

    def with_output(self, output: int) -> Recogniser:
        """Return a recogniser that uses the network's output with index `output`."""
        return Recogniser(self._session, self._alphabets, output)

    def read(self, widths: Sequence[int], cut: Cut, check: CancelCheck) -> list[RecognisedText]:
        """Recognise crops; crops of similar width are processed together.

        Args:
            widths: widths of the crops, in pixels.
            cut: returns a crop, given its index in `widths`; called shortly before it is
                recognised.
            check: called before each batch.

        Returns:
            The recognised texts, in the order of the widths.
        """
        readings: dict[int, RecognisedText] = {}
        order = sorted(range(len(widths)), key=widths.__getitem__)
        short = [index for index in order if widths[index] <= LONGEST]
        for batch in _batches(short, widths):
            check()
            crops = [cut(index) for index in batch]
            readings.update(zip(batch, self._read_batch(crops), strict=True))
        for index in order[len(short) :]:
            readings[index] = self._read_long(cut(index), check)
        return [readings[index] for index in range(len(widths))]

    def score(self, crop: Image.Image, letters: str, check: CancelCheck) -> Singles:
        """Return the probabilities of letters along a crop. See: ScoringEngine.

        Args:
            crop: RGB, HEIGHT pixels high; a crop wider than LONGEST is compressed.
            letters: capitals and signs.
            check: called before the crop is processed.

        Returns:
            The probabilities, shape (steps, 1 + letters): the blank, then each letter. Steps of
            the padding are left out.
        """
        check()
        fitting = crop.resize((min(crop.width, LONGEST), HEIGHT))
        (probabilities,), width = self._probabilities([fitting])
        steps = probabilities[: round(len(probabilities) * fitting.width / width)]
        places = {character: place for place, character in enumerate(self._alphabets[self._output])}
        scores = np.stack(
            [steps[:, 0]]
            + [
                sum(steps[:, places[form]] for form in {letter, letter.lower()} if form in places)
                for letter in letters
            ],
            axis=1,
        )
        shares: Singles = scores / np.maximum(scores.sum(axis=1, keepdims=True), _LEAST_SUM)
        return shares

    def _read_long(self, crop: Image.Image, check: CancelCheck) -> RecognisedText:
        """Recognise a long crop in parts, one after the other."""
        cuts = cut_places(crop)
        parts = []
        for start, end, _ in cuts:
            check()
            parts += self._read_batch([crop.crop((start, 0, end, HEIGHT))])
        return joined(cuts, parts, crop.width)

    def _read_batch(self, crops: list[Image.Image]) -> list[RecognisedText]:
        """Recognise crops of similar width in one run of the network."""
        probabilities, width = self._probabilities(crops)
        alphabet = self._alphabets[self._output]
        return [
            decode(steps, alphabet, crop.width / width)
            for steps, crop in zip(probabilities, crops, strict=True)
        ]

    def _probabilities(self, crops: list[Image.Image]) -> tuple[Singles, int]:
        """Return the network's output for crops of similar width, and their width with padding."""
        width = max(_LEAST_WIDTH, *(crop.width for crop in crops))
        width = -(-width // _GRID) * _GRID
        batch = np.zeros((len(crops), 3, HEIGHT, width), np.float32)
        for row, crop in enumerate(crops):
            batch[row, :, :, : crop.width] = _network_input(crop)
        return self._session.run(None, {"x": batch})[self._output], width


def _batches(order: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
    """Divide crops into batches of at most BATCH crops and MOST_COLUMNS padded columns."""
    batch: list[int] = []
    for index in order:
        if len(batch) == BATCH or (len(batch) + 1) * widths[index] > MOST_COLUMNS:
            if batch:
                yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _network_input(crop: Image.Image) -> Singles:
    """Convert a crop to the network's input: BGR, -1 to 1, float32, shape (3, height, width)."""
    blue_first = np.asarray(crop)[:, :, ::-1].transpose(2, 0, 1)
    return blue_first.astype(np.float32) / np.float32(_MIDDLE) - np.float32(1.0)
