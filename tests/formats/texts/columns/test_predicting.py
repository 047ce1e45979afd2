"""The column that texts predict, and columns that they seem to predict."""

from __future__ import annotations

import random
import time

from chalicelib.formats.texts.columns.predicting import MAX_COMPARED, find_predicted

_TOPICS = {
    "Bill": "invoice amount charged refund", "Post": "parcel late courier track",
    "Login": "password reset account locked",
}  # fmt: skip


def _texts(chance: random.Random, topics: list[str]) -> list[str]:
    """Return a text of each topic: one word of the topic between others."""
    sentence = "please can you help with this problem today since monday again hello team"
    others = sentence.split()
    return [
        " ".join((*chance.sample(others, 6), chance.choice(_TOPICS[name].split())))
        for name in topics
    ]


def test_columns_of_chance_are_not_predicted() -> None:
    """Columns with random values are no labels, however few rows there are."""
    chance = random.Random(4)
    found = []
    for _ in range(60):
        texts = _texts(chance, chance.choices([*_TOPICS], k=20))
        found.append(find_predicted(texts, [chance.choices("abc", k=20) for _ in range(5)]))

    assert found == [None] * 60


def test_names_that_the_texts_quote_are_not_predicted() -> None:
    """A column of persons does not become the labels because the texts greet these persons."""
    chance = random.Random(5)
    persons = chance.choices(["Anna Berg", "Tom Fisher", "Lena Stone"], k=120)
    topics = chance.choices([*_TOPICS], k=120)
    texts = _texts(chance, topics)
    greetings = [f"Dear {name}, we reply today" for name in persons]

    assert find_predicted(texts, [persons, topics]) == 1
    assert find_predicted(greetings, [persons, topics]) is None


def test_work_does_not_grow_with_columns_and_values() -> None:
    """More columns than a limit are not compared, and of a column only frequent values are."""
    chance = random.Random(6)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuv", k=6)) for _ in range(300)]
    texts = [" ".join(chance.choices(words, k=40)) for _ in range(MAX_COMPARED)]

    def seconds(columns: int, values: int) -> float:
        cells = [chance.choices(range(values), k=MAX_COMPARED) for _ in range(columns)]
        start = time.process_time()
        find_predicted(texts, [[f"v{cell}" for cell in row] for row in cells])
        return time.process_time() - start

    few = seconds(2, 30)
    assert seconds(2, 180) < 3 * few
    assert seconds(20, 30) < few
