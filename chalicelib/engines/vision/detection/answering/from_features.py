"""Answers for pictures of the training data, from their features."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from chalicelib.engines.vision.detection.answering.finder import (
    Candidates,
    Finder,
    Found,
    choose,
    merged,
)
from chalicelib.engines.vision.detection.evaluation.average_precision import Judged, judge
from chalicelib.engines.vision.detection.head.batches import Lessons, Turn, truth_of
from chalicelib.engines.vision.detection.head.network import HeadSize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    Result = TypeVar("Result")


class Examiner:
    """A head that answers for pictures, several at a time."""

    def __init__(self, lessons: Lessons, vector: npt.NDArray[np.float32], threads: int = 1) -> None:
        size = HeadSize(lessons.labels)
        self._lessons = lessons
        self._finders = [Finder(size, vector) for _ in range(max(1, threads))]

    def candidates(self, places: Sequence[int]) -> list[Candidates]:
        """What may be objects in each picture."""
        return self._each(self._candidates, places)

    def found(self, places: Sequence[int]) -> list[Found]:
        """Objects of each picture."""
        rules = self._lessons.rules
        return self._each(
            lambda finder, place: choose(self._candidates(finder, place), rules), places
        )

    def judged(self, places: Sequence[int]) -> list[Judged]:
        """Objects of each picture, compared with the truth."""
        found = self.found(places)
        return [self.judge(place, answer) for place, answer in zip(places, found, strict=True)]

    def judge(self, place: int, found: Found) -> Judged:
        """Compare answers for one picture with the truth."""
        boxes, labels = truth_of(self._lessons.data.pictures.pictures[place])
        return judge(found, boxes, labels, self._lessons.labels)

    def _candidates(self, finder: Finder, place: int) -> Candidates:
        """What may be objects in one picture."""
        width, height = self._lessons.data.features.size(place)
        # Views that found no space are left out.
        count = self._lessons.data.features.views(place)
        views = self._lessons.rules.answered_views(width, height)[:count]
        return merged(
            [
                finder.look(self._lessons.maps(Turn(place, number)), view, width, height)
                for number, view in enumerate(views)
            ]
        )

    def _each(self, work: Callable[[Finder, int], Result], places: Sequence[int]) -> list[Result]:
        """Do something for each place, every thread with a finder of its own, in order."""
        count = len(self._finders)

        def share_of(turn: int) -> list[Result]:
            return [work(self._finders[turn], place) for place in places[turn::count]]

        with ThreadPoolExecutor(count) as pool:
            shares = list(pool.map(share_of, range(count)))
        return [shares[index % count][index // count] for index in range(len(places))]
