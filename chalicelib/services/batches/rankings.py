"""Ranks the lines of a batch by how much their labels would improve the model.

First, a judgement of each line is stored: the probability that the model's prediction is wrong, and
a vector that represents the text or image. After the last line, the lines to label are selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.jobs.batch import AnsweredLine, Batch, BatchLine
from chalicelib.domain.jobs.ranking import RANKED_DEFAULT
from chalicelib.domain.models.judgement import Placing
from chalicelib.domain.models.prediction import Probability
from chalicelib.errors import StorageUnavailable

if TYPE_CHECKING:
    from chalicelib.stores.jobs.batch_files import BatchFiles


class RankingWork:
    """Stores the judgements of lines, and selects the lines that the ranking returns."""

    def __init__(self, files: BatchFiles) -> None:
        self._files = files

    def content(self, lines: Iterable[AnsweredLine]) -> bytes:
        """Encode the judgements of a part's lines; lines without a judgement are left out."""
        from chalicelib.engines.ranking.parts import dump_part

        judged = ((place, line.judgement) for place, line in enumerate(lines))
        return dump_part([(place, found) for place, found in judged if found is not None])

    def select_lines(self, batch: Batch, check: Callable[[], None]) -> list[AnsweredLine]:
        """Select the lines whose labels would improve the model most, the best first.

        All parts of the batch must have been answered. `check` is called between parts, and may
        raise an error to stop.

        Raises:
            StorageUnavailable: a part is missing because another worker has finished the batch.
        """
        from chalicelib.engines.ranking.parts import load_part
        from chalicelib.engines.ranking.pool import SamplePool
        from chalicelib.engines.ranking.selection import choose

        pool = SamplePool()
        # In the order of parts, so that a repeated step selects the same lines.
        for number in sorted(batch.numbers_done):
            check()
            pool.add(number, load_part(self._files.answers(batch, number)))
        kept = pool.samples()
        if kept is None:
            return []
        samples, weights = kept
        count = batch.count or RANKED_DEFAULT
        picks = choose(
            samples.vectors, weights, samples.uncertainties, samples.likeness, count, check
        )
        by_part: dict[int, list[tuple[int, Placing]]] = {}
        for rank, pick in enumerate(picks, 1):
            placing = Placing(rank, pick.score, pick.reason)
            rows = by_part.setdefault(int(samples.parts[pick.at]), [])
            rows.append((int(samples.rows[pick.at]), placing))
        # Each part is read once, although its lines are far apart in the ranking.
        found: list[AnsweredLine] = []
        for number, rows in by_part.items():
            check()
            found += self._lines(batch, number, rows)
        return sorted(found, key=lambda line: line.placing.rank if line.placing else 0)

    def _lines(
        self, batch: Batch, number: int, rows: list[tuple[int, Placing]]
    ) -> list[AnsweredLine]:
        """Return the lines of part `number` that `rows` selects, with predicted labels."""
        from chalicelib.engines.ranking.parts import load_part

        lines = self._files.part(batch, number)
        if lines is None:
            raise StorageUnavailable
        judged = load_part(self._files.answers(batch, number))
        return [
            _described(batch, lines[int(judged.lines[row])], placing, judged.suggestion(row))
            for row, placing in rows
        ]


def _described(
    batch: Batch, line: BatchLine, placing: Placing, suggestion: tuple[str | None, float]
) -> AnsweredLine:
    label, probability = suggestion
    items = () if label is None else (Probability(label, probability),)
    if batch.family == LANGUAGE:
        placing = Placing(placing.rank, placing.score, placing.reason, line.text)
    return AnsweredLine(line, items, placing=placing)
