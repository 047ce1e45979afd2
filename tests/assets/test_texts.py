"""The texts that ship with the service."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import chalicelib
from chalicelib.formats.texts.language_file import TextRow, read_rows

_ASSETS = Path(chalicelib.__file__).parent / "assets"
_FILES = sorted(path.relative_to(_ASSETS).as_posix() for path in _ASSETS.glob("*/*.csv"))


def test_texts_are_all_there() -> None:
    """The sample and one global dataset for each text type are shipped."""
    assert {
        "global/text-intent.csv",
        "global/text-sentiment.csv",
        "samples/shop_intents.csv",
    } <= set(_FILES)


@pytest.mark.parametrize("name", _FILES)
def test_texts_when_they_are_uploaded(name: str) -> None:
    """Every row becomes an example, no text occurs twice, and each label has at least 15."""
    path = _ASSETS / name
    with path.open("rb") as file:
        rows = list(read_rows(file, sentiment="sentiment" in name))

    examples = [row for row in rows if isinstance(row, TextRow)]
    texts = Counter(row.text.lower().strip(" .!?") for row in examples)
    labels = Counter(row.label for row in examples)
    assert len(examples) == len(rows)
    assert [text for text, count in texts.items() if count > 1] == []
    assert min(labels.values()) >= 15
    assert path.stat().st_size <= 1_000_000


def test_texts_when_their_origin_is_asked() -> None:
    """The file of origins names every text file."""
    origins = (_ASSETS / "README.md").read_text(encoding="utf-8")

    assert [name for name in _FILES if f"`{name}`" not in origins] == []
