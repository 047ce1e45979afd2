"""The shipped background texts."""

from __future__ import annotations

import csv

from chalicelib.engines.text.background import TEXTS, background_texts

SAMPLE = TEXTS.parents[1] / "samples" / "shop_intents.csv"


def test_there_are_several_hundred_texts_of_many_kinds_none_twice() -> None:
    """There are several hundred unique texts; headings are not among them."""
    texts = background_texts()

    assert len(texts) > 400
    assert len({text.casefold() for text in texts}) == len(texts)
    assert not any(text.startswith("#") for text in texts)
    assert TEXTS.read_text(encoding="utf-8").count("\n# ") > 10


def test_none_is_a_text_of_the_sample() -> None:
    """No text of the sample dataset is a background text."""
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        own = {text.casefold() for text, _ in csv.reader(stream)}

    assert not own & {text.casefold() for text in background_texts()}
