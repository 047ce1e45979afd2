"""Trains the head, and measures it after every epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chalicelib.engines.vision.detection.evaluation.average_precision import precision_recall
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.head.fit import DenseFit
from chalicelib.engines.vision.detection.report.json_documents import curve_record, metrics_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.training.context import DetectionContext


# Batches between two chances to save.
BATCHES_A_STEP = 8
# Roughly what learning from a view costs, in seconds of one core.
VIEW_SECONDS = 0.045


class DenseStage:
    """One head on some of the pictures; records of the learning curve only where it is asked."""

    def __init__(
        self, context: DetectionContext, places: Sequence[int], epochs: int, *, has_records: bool
    ) -> None:
        self._context = context
        self._views = len(places) * context.rules.views_an_epoch * epochs * context.passes
        self._has_records = has_records
        self.run = DenseFit(context.dataset, places, context.fit_options(epochs))

    @property
    def seconds(self) -> float:
        """Roughly what the whole stage costs."""
        return self._views * VIEW_SECONDS

    @property
    def share(self) -> float:
        """How much is done."""
        return self.run.share

    @property
    def is_done(self) -> bool:
        """Whether all epochs have ended."""
        return self.run.is_done

    def advance(self) -> dict[str, Any] | None:
        """Learn from some batches.

        Raises:
            TrainingFailed: the head's outputs are not finite any more.
        """
        if not self.run.advance(BATCHES_A_STEP):
            return None
        return self._record() if self._has_records else None

    def arrays(self) -> Mapping[str, Array]:
        """Everything that `restore` needs."""
        return self.run.arrays()

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from what `arrays` returned."""
        self.run.restore(arrays)

    def _record(self) -> dict[str, Any]:
        context = self._context
        evaluator = DetectionEvaluator(context.dataset, self.run.vector, context.options.threads)
        by_label = precision_recall(evaluator.evaluated(context.tested), len(context.labels))
        metrics = metrics_document(context.labels, by_label, self.run.loss)
        return curve_record(self.run.epoch, metrics)
