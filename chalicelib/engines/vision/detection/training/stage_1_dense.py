"""Trains a dense head, and measures its accuracy after every epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chalicelib.engines.vision.detection.evaluation.average_precision import precision_recall
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.head.fit import DenseFit
from chalicelib.engines.vision.detection.report.json_documents import curve_record, metrics_document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.training.context import DetectionContext

# Batches between two opportunities to save.
BATCHES_A_STEP = 8
# Approximate cost of training on a view, in seconds of one core.
VIEW_SECONDS = 0.045


class DenseStage:
    """Trains one dense head on the images `places`."""

    def __init__(
        self,
        context: DetectionContext,
        places: Sequence[int],
        epochs: int,
        *,
        is_needed: Callable[[], bool],
        first_record: int | None = None,
    ) -> None:
        """Prepare the stage.

        Args:
            context: images and options of the training.
            places: indexes of the images to train on.
            epochs: number of epochs.
            is_needed: returns whether this head is needed according to the results so far. It is
                called before each step, because earlier stages can change the result.
            first_record: number of the first learning curve record; None for no records.
        """
        self._context = context
        self._views = len(places) * context.rules.views_an_epoch * epochs * context.passes
        self._is_needed = is_needed
        self._first_record = first_record
        self.run = DenseFit(context.dataset, places, context.fit_options(epochs))

    @property
    def seconds(self) -> float:
        """Return the approximate time of the stage, in seconds on one core."""
        return self._views * VIEW_SECONDS if self._is_needed() else 0.0

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        return self.run.share

    @property
    def is_done(self) -> bool:
        """Whether all epochs have ended, or the head is not needed."""
        return self.run.is_done or not self._is_needed()

    def advance(self) -> dict[str, Any] | None:
        """Train on the next batches; raise TrainingFailed if the outputs are not finite."""
        if not self.run.advance(BATCHES_A_STEP):
            return None
        return None if self._first_record is None else self._record(self._first_record)

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        return self.run.arrays()

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self.run.restore(arrays)

    def _record(self, first: int) -> dict[str, Any]:
        context = self._context
        evaluator = DetectionEvaluator(context.dataset, self.run.vector, context.options.threads)
        by_label = precision_recall(evaluator.evaluated(context.tested), len(context.labels))
        metrics = metrics_document(context.labels, by_label, self.run.loss)
        return curve_record(self.run.epoch + first - 1, metrics)
