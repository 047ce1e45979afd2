"""The encoder of spelling."""

from __future__ import annotations

import hashlib
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from chalicelib.engines.interface import TextTrainingSet
from chalicelib.engines.text import benefit
from chalicelib.engines.text.encoding.encoders import WORDS, is_installed, load_encoder

LABELS = ("play", "find", "rate", "order")
PATTERNS = (
    ("play {} by {}", "put {} on, then {}", "let me hear {} from {}"),
    ("find {} at {}", "where is {} in {}", "search {} near {}"),
    ("rate {} over {}", "give {} more stars than {}", "{} is better than {}"),
    ("order {} with {}", "bring me {} and {}", "i would like {} without {}"),
)


@pytest.fixture(scope="module")
def encoder():
    """The encoder, which needs no folder of files."""
    return load_encoder(Path("/nowhere"), WORDS)


def test_equal_spelling_is_near_and_changed_letters_are_farther(encoder) -> None:
    """Case and spaces are ignored, a typing error changes little, and other words share nothing."""
    texts = ["Cancel my order", "cancel  my ORDER", "cancel my ordr", "where is it"]

    vectors = encoder.encode(texts)

    near = vectors @ vectors[0]
    assert near[1] == pytest.approx(1.0, abs=1e-6)
    assert 0.5 < near[2] < 0.95
    assert abs(near[3]) < 0.2


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud83d", "漢字" * 100, "e\u0301", "x" * 20_000])
def test_odd_texts_have_vectors_of_length_1(encoder, text: str) -> None:
    """Every text has a finite vector, which does not depend on other texts."""
    [vector] = encoder.encode([text])

    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(encoder.encode(["other", text])[1], vector)


@pytest.mark.parametrize("word", ["हिन्दी", "ที่นี่", "cafe\u0301", "שָׁלוֹם"])
def test_vowel_signs_belong_to_their_word(encoder, word: str) -> None:
    """A word with vowel signs or accents is one word, however its accents are encoded."""
    one, composed, letters = encoder.encode([word, normalize("NFC", word), " ".join(word)])

    assert np.array_equal(one, composed)
    assert one @ letters < 0.5


def test_vectors_keep_their_version(encoder) -> None:
    """The hashes are equal in every process; stored models depend on them."""
    [vector] = encoder.encode(["Please cancel order 12, now!"])

    places = np.flatnonzero(vector).astype(np.int64)
    digest = hashlib.sha256(np.append(places, np.sign(vector[places]))).hexdigest()
    assert (len(places), digest[:16]) == (63, "e341754373b634bc")
    assert is_installed(Path("/nowhere"), WORDS)


def test_spelling_is_worth_it_where_patterns_decide(encoder) -> None:
    """Texts of fixed patterns with random names gain; vectors that know the labels do not."""
    dice = np.random.default_rng(0)
    names = ["".join(dice.choice(list("abcdefghijklmnop"), 6)) for _ in range(900)]
    truth = np.arange(400) % len(LABELS)
    texts = [
        dice.choice(PATTERNS[label]).format(*dice.choice(names, 2, replace=False))
        for label in truth
    ]
    noise = dice.normal(size=(400, 16)).astype(np.float32)
    known = noise + 8.0 * np.eye(len(LABELS), 16, dtype=np.float32)[truth]

    def gain(other: np.ndarray) -> benefit.Benefit:
        sample = TextTrainingSet(
            blocks={"bge": other, WORDS: encoder.encode(texts)},
            label_indexes=truth,
            label_names=list(LABELS),
            digests=[text.encode() for text in texts],
        )
        return benefit.measure_benefit(sample, ("bge",), ("bge", WORDS), 0.05, needs_proof=True)

    assert gain(noise).gain > 0.3
    assert not gain(known).is_worth_it
