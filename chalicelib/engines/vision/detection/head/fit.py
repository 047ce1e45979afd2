"""Trains one dense head batch by batch. The state can be saved between any two batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.head.loss import detection_loss
from chalicelib.engines.vision.detection.head.network import (
    HeadSize,
    TrainingWorkspace,
    decayed,
    first_weights,
    weights_of,
)
from chalicelib.engines.vision.detection.head.optimizer import AdamW
from chalicelib.errors import TrainingFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array, Singles
    from chalicelib.engines.vision.detection.head.dataset import (
        CellTargets,
        DatasetItem,
        DetectionDataset,
    )
    from chalicelib.engines.vision.detection.views.maps import Maps

# Views of a batch.
BATCH = 4
# Highest learning rate of the optimiser at the default `learningRate`.
BEST_RATE = 1e-3


@dataclass(frozen=True)
class DenseFitOptions:
    """Options for training a dense head."""

    epochs: int
    rate: float
    """Highest learning rate."""
    seed: int
    """Seed of the initial weights, and of the order of the images and the views."""
    threads: int
    passes: int = 1
    """How often each image is used in an epoch."""


class DenseFit:
    """The training of one dense head. It can be saved and resumed."""

    def __init__(
        self, dataset: DetectionDataset, places: Sequence[int], options: DenseFitOptions
    ) -> None:
        self._dataset = dataset
        self._places = list(places)
        self._options = options
        self._size = size = HeadSize(dataset.labels)
        self.vector: Singles = first_weights(size, options.seed)
        self._decayed = decayed(size)
        self._optimizer = AdamW.fresh(size.parameters)
        self._drawn: tuple[int, list[tuple[int, int]]] = (-1, [])
        self._idle: SimpleQueue[TrainingWorkspace] = SimpleQueue()
        self._gradients = np.empty((0, size.parameters), np.float32)
        self.epoch = 0
        self._batch = 0
        self._loss_sum = 0.0
        self.loss = 0.0

    @property
    def batches(self) -> int:
        """Return the number of batches in one epoch."""
        views = len(self._places) * self._dataset.rules.views_an_epoch * self._options.passes
        return -(-views // BATCH)

    @property
    def share(self) -> float:
        """Progress of the training, 0 to 1."""
        return (self.epoch + self._batch / self.batches) / self._options.epochs

    @property
    def is_done(self) -> bool:
        """Whether all epochs have ended."""
        return self.epoch >= self._options.epochs

    def advance(self, batches: int) -> bool:
        """Train on `batches` batches, but stop at the end of the epoch.

        Returns:
            Whether the epoch has ended.
        """
        order = self._order()
        last = min(self._batch + batches, self.batches)
        with ThreadPoolExecutor(max(1, self._options.threads)) as pool:
            for number in range(self._batch, last):
                pairs = order[number * BATCH : (number + 1) * BATCH]
                self._learn([self._item(number, pair) for pair in pairs], pool)
        self._batch = last
        if last < self.batches:
            return False
        self.loss = self._loss_sum / self.batches
        self.epoch, self._batch, self._loss_sum = self.epoch + 1, 0, 0.0
        return True

    def arrays(self) -> dict[str, Array]:
        """Return the state of the training as arrays; `restore` resumes from them."""
        # The order of an epoch follows from seed and number, so it is not saved.
        counters = [self.epoch, self._batch, self._optimizer.steps]
        return {
            "vector": self.vector,
            "first": self._optimizer.first,
            "second": self._optimizer.second,
            "counters": np.array(counters, np.int64),
            "losses": np.array([self._loss_sum, self.loss]),
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self.vector = arrays["vector"].copy()
        epoch, batch, steps = (int(number) for number in arrays["counters"])
        self._optimizer = AdamW(arrays["first"].copy(), arrays["second"].copy(), steps)
        self.epoch, self._batch = epoch, batch
        self._loss_sum, self.loss = (float(loss) for loss in arrays["losses"])

    def _order(self) -> list[tuple[int, int]]:
        if self._drawn[0] == self.epoch:
            return self._drawn[1]
        generator = np.random.Generator(np.random.PCG64(self._seed()))
        order: list[tuple[int, int]] = []
        for _ in range(self._options.passes):
            pairs = self._pass(generator)
            order += [pairs[index] for index in generator.permutation(len(pairs))]
        self._drawn = self.epoch, order
        return order

    def _pass(self, generator: np.random.Generator) -> list[tuple[int, int]]:
        pairs: list[tuple[int, int]] = []
        wanted = self._dataset.rules.views_an_epoch
        for place in self._places:
            views = self._dataset.data.features.views(place)
            chosen = generator.choice(views, wanted, replace=views < wanted)
            pairs += [(place, int(view)) for view in chosen]
        return pairs

    def _item(self, number: int, pair: tuple[int, int]) -> DatasetItem:
        seed = [*self._seed(), *pair]
        # With several passes, the batch number is part of the seed, so that each pass draws other
        # shifts.
        return self._dataset.item(*pair, seed if self._options.passes == 1 else [*seed, number])

    def _seed(self) -> list[int]:
        return [self._options.seed, 1, self.epoch]

    def _learn(self, batch: Sequence[DatasetItem], pool: ThreadPoolExecutor) -> None:
        self._make_slots()
        targets = [self._dataset.targets(item) for item in batch]
        # Positive cells are counted over the whole batch, so that a view with one object weighs
        # less than a view with fifty.
        positives = float(max(1, sum(map(len, targets))))

        def learn_one(slot: int) -> float:
            return self._learn_one(slot, batch[slot], targets[slot], positives)

        for loss in pool.map(learn_one, range(len(batch))):
            self._loss_sum += loss
        # Added in the order of the views, because sums of float32 depend on the order.
        gradient = self._gradients[0]
        for slot in range(1, len(batch)):
            gradient += self._gradients[slot]
        last = self._options.epochs * self.batches
        self._optimizer.update(self.vector, gradient, self._decayed, self._options.rate, last)

    def _learn_one(
        self, slot: int, item: DatasetItem, targets: CellTargets, positives: float
    ) -> float:
        """Compute the loss and the gradient of one view; return the loss.

        `slot` is the index of the buffer that receives the gradient. `positives` is the number of
        cells in the whole batch that must predict objects. The loss is divided by this number.
        """
        maps = self._dataset.maps(item)
        weights = weights_of(self._size, self.vector)
        workspace = self._idle.get()
        try:
            outputs = workspace.forward(weights, maps)
            if not np.isfinite(outputs).all():
                raise TrainingFailed(self._diverged(item.place, maps))
            loss, slope = detection_loss(outputs, targets, self._size.labels, positives)
            workspace.backward(weights, maps, slope, weights_of(self._size, self._gradients[slot]))
        finally:
            self._idle.put(workspace)
        return loss

    def _diverged(self, place: int, maps: Maps) -> str:
        image = self._dataset.data.pictures.pictures[place]
        if not all(np.isfinite(part).all() for part in (maps.fine, maps.middle, maps.coarse)):
            return (
                f"The features of {image.name} are not finite. Upload the image again and "
                "train again."
            )
        return (
            f"The head's answers for {image.name} are not finite after {self.epoch} epochs. "
            "Train again with a smaller learningRate."
        )

    def _make_slots(self) -> None:
        if not len(self._gradients):
            # The fewer workspaces, the more of them stays in the processor's cache.
            for _ in range(min(BATCH, max(1, self._options.threads))):
                self._idle.put(TrainingWorkspace(self._size))
            self._gradients = np.empty((BATCH, self._size.parameters), np.float32)
