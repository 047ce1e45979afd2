"""Drawing from more texts than a training can take."""

from __future__ import annotations

from collections import Counter

from chalicelib.domain.models.training_texts import TrainingTexts


def _texts(counts: list[int]) -> TrainingTexts:
    """Texts of one dataset and ten of a global one, some of them feedback."""
    made = TrainingTexts(labels=[str(label) for label in range(len(counts))])
    for label, count in enumerate(counts):
        for number in range(count):
            made.texts.append(f"text {label} {number}")
            made.label_indexes.append(label)
            made.example_ids.append(len(made.texts))
    total = len(made.texts)
    made.spans = [(7, total - 10), (8, 10)]
    made.feedback_places = list(range(0, total, 3))
    return made


def test_few_texts_are_all_taken() -> None:
    """What fits is left as it is."""
    texts = _texts([20, 30])

    assert texts.drawn(50) is texts
    assert (texts.available, texts.feedback) == (0, 17)


def test_every_label_gives_its_share() -> None:
    """A third of each label is drawn, but a rare label is kept whole."""
    texts = _texts([3_000, 600, 40])

    drawn = texts.drawn(1_214)

    assert Counter(drawn.label_indexes) == {0: 1_000, 1: 200, 2: 40}
    assert (drawn.available, drawn.labels) == (3_640, texts.labels)


def test_members_stay_together() -> None:
    """Texts keep their ids, their order, their dataset and whether they are feedback."""
    texts = _texts([500, 500])

    drawn = texts.drawn(300)

    assert drawn.example_ids == sorted(drawn.example_ids)
    assert [texts.texts[number - 1] for number in drawn.example_ids] == drawn.texts
    assert sum(count for _, count in drawn.spans) == len(drawn.texts)
    assert drawn.spans[1] == (8, sum(number > 990 for number in drawn.example_ids))
    feedback = [drawn.example_ids[place] - 1 for place in drawn.feedback_places]
    assert feedback == [n - 1 for n in drawn.example_ids if (n - 1) % 3 == 0]
    assert drawn.feedback == len(feedback)


def test_the_draw_follows_from_the_texts() -> None:
    """Another run, and another order of the labels, draw the same texts."""
    texts = _texts([500, 500])

    assert texts.drawn(300).texts == _texts([500, 500]).drawn(300).texts


def test_small_labels_go_with_all_that_belongs_to_them() -> None:
    """Ids, places of feedback, spans and indexes follow the texts that remain."""
    texts = _texts([6, 2, 10, 4, 12])
    texts.label_ids = [70, 71, 72]
    left = texts.without_small_labels()

    assert (left.labels, left.label_ids, left.skipped) == (
        ["0", "2", "4"],
        [70, 72],
        [("1", 2), ("3", 4)],
    )
    assert Counter(left.label_indexes) == {0: 6, 1: 10, 2: 12}
    assert [texts.texts[number - 1] for number in left.example_ids] == left.texts
    assert left.spans == [(7, 18), (8, 10)]
    feedback = [texts.texts[place] for place in texts.feedback_places]
    assert [left.texts[place] for place in left.feedback_places] == [
        text for text in feedback if text in left.texts
    ]
