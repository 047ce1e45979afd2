"""The project is written in plain, current engineering English."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.structure.language import NEVER, ROOT, occurrences, remaining, sentences, word_count

# docs/models.md is written from the cards of installed models, whose bytes are digested.
GENERATED = {"docs/models.md"}
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (*ROOT.glob("*.md"), *ROOT.glob("client/*.md"), *ROOT.glob("docs/**/*.md"))
)
MEAN_WORDS = 20
MOST_WORDS = 35


def test_words_of_the_former_dialect_become_fewer() -> None:
    """No folder has more words of the list than its limit, which may only be lowered."""
    found: Counter[str] = Counter()
    for path, words in occurrences().items():
        parts = path.split("/")
        is_deep = parts[0] in {"chalicelib", "tests"} and len(parts) > 2
        found["/".join(parts[: 2 if is_deep else 1])] += words.total()
    more = {folder: count for folder, count in found.items() if count > remaining()[folder]}

    assert more == {}, f"write instead: {NEVER}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED])
def test_sentences_are_short(page: str) -> None:
    """The sentences of a page have at most 20 words on average, and none has more than 35."""
    counted = [(word_count(text), text) for text in sentences((ROOT / page).read_text("utf-8"))]
    long = [text for words, text in counted if words > MOST_WORDS]

    assert long == []
    assert sum(words for words, _ in counted) <= MEAN_WORDS * max(1, len(counted))
