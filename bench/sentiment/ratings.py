"""Reads rated sentences and turns their ratings into soft labels.

There are three kinds of sentences:

- Tweets and snippets of movie reviews, product reviews and editorials, each rated by about twenty
  people from -4 to 4. Source: Hutto and Gilbert, VADER, ICWSM 2014.
- Clearly positive or negative sentences from reviews of products, films and restaurants. Source:
  Kotzias, Denil, De Freitas and Smyth, From Group to Individual Labels using Deep Features, KDD
  2015.
- Sentences written for this project.
"""

from __future__ import annotations

import html
import json
import math
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.model_files.sentiment_head import LABELS as LABELS

# Ratings up to this far from 0 are neutral: the middle fifth of the scale.
NEUTRAL = 0.8
_FOLDER = "hutto_ICWSM_2014"
_MOVIES = "movieReviewSnippets"
_FILES = ("tweets", _MOVIES, "amazonReviewSnippets", "nytEditorialSnippets")
_RATERS = 3
_LEAST_SPREAD = 0.5
# Mean rating that is assumed for a clearly positive sentence.
_CLEAR = 2.0
# Standard deviation that is assumed where none was published; typical of the rated sentences.
USUAL_SPREAD = 1.0
# The movie snippets are in the order of the Stanford Sentiment Treebank. These are the numbers of
# its development and test sentences, which are excluded to keep its test set a fair test.
_TREEBANK_TESTS = (range(1, 1518), range(6603, 8132))


@dataclass(frozen=True)
class RatedSentence:
    """A sentence with the ratings that people gave it."""

    text: str
    source: str
    """Name of the file that the sentence is from."""
    mean: float
    """Mean rating, -4 to 4."""
    spread: float
    """Standard deviation of the ratings."""

    @property
    def label(self) -> int:
        """Return the index in `LABELS` of the label for the sentence's mean rating."""
        return label_index(self.mean)

    @property
    def label_fractions(self) -> tuple[float, float, float]:
        """Return the probability that the mean rating of three random raters gives each label.

        The mean rating is assumed to be normally distributed.
        """
        # So a sentence on which people disagree is trained with an uncertain label.
        deviation = max(self.spread, _LEAST_SPREAD) / math.sqrt(_RATERS)
        positive = _above((NEUTRAL - self.mean) / deviation)
        negative = _above((NEUTRAL + self.mean) / deviation)
        return positive, negative, 1.0 - positive - negative


def _above(score: float) -> float:
    """Return the probability that a standard normal value exceeds `score`."""
    return 0.5 * math.erfc(score / math.sqrt(2.0))


def label_index(rating: float) -> int:
    """Return the index in `LABELS` of the label for a mean rating."""
    if rating > NEUTRAL:
        return 0
    return 1 if rating < -NEUTRAL else 2


def read_sentences(archive: Path) -> list[RatedSentence]:
    """Read the distinct rated sentences.

    Args:
        archive: `hutto_ICWSM_2014.tar.gz`.

    Raises:
        KeyError: the archive lacks a file.
    """
    found: dict[str, RatedSentence] = {}
    with tarfile.open(archive, "r:gz") as packed:
        for name in _FILES:
            spreads = dict(_read_spreads(_lines(packed, f"{name}_anonDataRatings.txt")))
            for number, mean, text in _read_ratings(_lines(packed, f"{name}_GroundTruth.txt")):
                is_test = name == _MOVIES and any(int(number) in some for some in _TREEBANK_TESTS)
                if not is_test:
                    sentence = RatedSentence(text, name, mean, spreads.get(number, 0.0))
                    found.setdefault(text, sentence)
    return list(found.values())


def read_clear_sentences(path: Path, source: str) -> list[RatedSentence]:
    """Read sentences that are clearly positive or negative.

    Args:
        path: file with a JSON list of objects with `text` and `class` (1 for positive sentences).
        source: name of the source, stored with each sentence.
    """
    rows = json.loads(path.read_text(encoding="utf-8"))
    pairs = ((" ".join(row["text"].split()), row["class"]) for row in rows)
    return [
        RatedSentence(text, source, _CLEAR if is_positive else -_CLEAR, USUAL_SPREAD)
        for text, is_positive in pairs
        if text
    ]


def read_own_sentences(path: Path, source: str) -> list[RatedSentence]:
    """Read the project's sentences. Each line is a rating, a tab and a text. `#` begins a comment.

    Args:
        path: text file in UTF-8. Lines in brackets are headings.
        source: name of the source, stored with each sentence.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and line[0] not in "#[")
    return [RatedSentence(text, source, float(mean), USUAL_SPREAD) for mean, text in pairs]


def _lines(packed: tarfile.TarFile, name: str) -> list[str]:
    file = packed.extractfile(f"{_FOLDER}/{name}")
    if file is None:
        raise KeyError(name)
    return file.read().decode("utf-8-sig").splitlines()


def _read_spreads(lines: list[str]) -> Iterator[tuple[str, float]]:
    """Yield the id of a sentence and the standard deviation of its ratings, for each line."""
    for line in lines:
        parts = line.split("\t")
        if len(parts) == 4:
            yield parts[0], float(parts[2])


def _read_ratings(lines: list[str]) -> Iterator[tuple[str, float, str]]:
    """Yield the id, mean rating and text of a sentence, for each complete line."""
    for line in lines:
        parts = line.split("\t")
        if len(parts) == 3:
            yield parts[0], float(parts[1]), html.unescape(parts[2]).strip()
