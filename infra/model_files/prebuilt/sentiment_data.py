"""Reads the human ratings published with VADER and turns them into labelled sentences.

Tweets, movie, product and editorial snippets, each with the mean of twenty people's ratings from -4
to 4. Source: Hutto and Gilbert, VADER, ICWSM 2014.
"""

from __future__ import annotations

import html
import tarfile
from collections.abc import Iterator
from pathlib import Path

LABELS = ("positive", "negative", "neutral")
_FOLDER = "hutto_ICWSM_2014"
_MOVIES = "movieReviewSnippets"
_FILES = ("tweets", _MOVIES, "amazonReviewSnippets", "nytEditorialSnippets")
_LEAST_RATING = 0.7
_NEUTRAL_RATING = 0.4
# The movie snippets stand in the order of the Stanford Sentiment Treebank. These numbers are its
# development and test sentences: left out, the treebank's test set stays a fair test.
_TREEBANK_TESTS = (range(1, 1518), range(6603, 8132))


def label_index(rating: float) -> int | None:
    """Return the place in `LABELS` that a mean rating stands for, None between two labels."""
    if rating >= _LEAST_RATING:
        return 0
    if rating <= -_LEAST_RATING:
        return 1
    return 2 if abs(rating) <= _NEUTRAL_RATING else None


def read_sentences(archive: Path) -> list[tuple[str, int]]:
    """Return sentences with the place of their label in `LABELS`, no sentence twice.

    Args:
        archive: `hutto_ICWSM_2014.tar.gz`.
    """
    labels: dict[str, int] = {}
    with tarfile.open(archive, "r:gz") as packed:
        for name in _FILES:
            file = packed.extractfile(f"{_FOLDER}/{name}_GroundTruth.txt")
            if file is None:
                raise KeyError(name)
            for text, label in _read_lines(file.read().decode("utf-8"), name == _MOVIES):
                labels.setdefault(text, label)
    return list(labels.items())


def _read_lines(content: str, are_movies: bool) -> Iterator[tuple[str, int]]:
    """Yield the usable sentences of one file: number, rating and text between tabs."""
    for line in content.splitlines():
        parts = line.split("\t")
        if len(parts) != 3:
            continue
        number, rating, text = parts
        label = label_index(float(rating))
        is_test = are_movies and any(int(number) in numbers for numbers in _TREEBANK_TESTS)
        if label is not None and not is_test:
            yield html.unescape(text).strip(), label
