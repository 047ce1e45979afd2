"""Trains a model with a linear head. Stages: near-duplicates, split, epochs, folds, final head.

The state can be saved between any two steps, and another process can resume from it. Tables of
features are not saved, but filled again. `places` are indexes of images, int, shape (n,).
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.limits import DEFAULT_LEARNING_RATE, MIN_LABELS
from chalicelib.engines import artifact
from chalicelib.engines.arithmetic import EXACT_EXAMPLES
from chalicelib.engines.artifact import ArtifactError, add_prefix, strip_prefix
from chalicelib.engines.vision.features.table import Rows
from chalicelib.engines.vision.interface import FittedVision, VisionData, VisionOptions, VisionStep
from chalicelib.engines.vision.linear_head.fit import HIGHEST_RATE
from chalicelib.engines.vision.linear_head.pipeline import (
    HeadPipeline,
    HeadSpec,
    HeadTask,
    PipelineInputs,
)
from chalicelib.engines.vision.linear_head.split import ImageSplit, split_images
from chalicelib.engines.vision.linear_head.targets import ImageTargets
from chalicelib.engines.vision.similarity.near_duplicates import DuplicateFinder, Pairs
from chalicelib.errors import TrainingFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from chalicelib.domain.common.arrays import Array, Ints, Singles
    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.backbone.pool import BackbonePool

    Arrays = dict[str, Array]
    Scores = Singles

_KIND, _VERSION = "vision-head-training", 1
_COMPARED_DIMS = 1280
_SERVED_VISITS = 600_000
_LEAST_SERVED_EPOCHS = 3
_SMALL_SET, _SMALL_SET_FOLDS, _FOLDS = 1_000, 5, 3
_MOST_FOLD_SCORES = 10_000_000
_MOST_JUDGED, _LEAST_JUDGED, _JUDGED_WORK = 20_000, 1_000, 5e9


class LinearHeadTraining(ABC):
    """A `VisionTraining` of a model with a linear head. Subclasses define the head."""

    def __init__(
        self,
        data: VisionData,
        options: VisionOptions,
        backbones: BackbonePool,
        checkpoint: bytes | None = None,
    ) -> None:
        """Start a training, or resume a saved one.

        Args:
            data: images and their features.
            options: options of the training.
            backbones: the frozen networks.
            checkpoint: bytes that `save` of the same training returned; None for a new training.

        Raises:
            TrainingFailed: fewer than two labels have images.
            ArtifactError: the checkpoint is damaged or belongs to another training.
        """
        pictures = data.pictures
        targets = ImageTargets([one.labels for one in pictures.pictures], len(pictures.labels))
        _check(targets)
        self.data = data
        self.backbones = backbones
        self.options = options
        self.targets = targets
        self.spec = self.make_spec(targets)
        self.rows = Rows(data.features, [one.name for one in data.pictures.pictures])
        self._finder = DuplicateFinder(
            self.rows, _COMPARED_DIMS, [image.digest for image in data.pictures.pictures]
        )
        self._split: ImageSplit | None = None
        self._tasks: list[HeadTask] = []
        self._done = 0
        self._pipeline: HeadPipeline | None = None
        self._best_share = 0.0
        self._results: Arrays = {}
        self._epochs = 0
        self.last_record: dict[str, Any] = {}
        if checkpoint is not None:
            self._restore(checkpoint)

    @property
    def epochs_done(self) -> int:
        """Return the number of finished epochs."""
        return self._epochs

    def step(self) -> VisionStep | None:
        """Work for about a second; return None when the training is finished.

        Raises:
            TrainingFailed: features are not finite numbers.
        """
        if not self._finder.is_done:
            self._finder.step()
            return VisionStep(self._share())
        pipeline = self._current_pipeline()
        if pipeline is None:
            return None
        record = None
        if pipeline.step() and pipeline.task.purpose == "split":
            self._epochs += 1
            record = self.record(self._epochs, pipeline)
            self.last_record = record
        if pipeline.is_done:
            self._close(pipeline)
        return VisionStep(self._share(), record)

    def save(self) -> bytes:
        """Return the state of the training; another process can resume from it."""
        header = {
            "kind": _KIND,
            "version": _VERSION,
            "training": self._fingerprint(),
            "done": self._done,
            "epochs": self._epochs,
            "share": self._best_share,
            "record": self.last_record,
        }
        arrays = add_prefix("finder", self._finder.save())
        arrays |= add_prefix("result", self._results)
        if self._pipeline is not None:
            arrays |= add_prefix("stage", self._pipeline.save())
        return artifact.dump(header, arrays)

    @abstractmethod
    def make_spec(self, targets: ImageTargets) -> HeadSpec:
        """Return the definition of the head for the labels in `targets`."""

    @abstractmethod
    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Return artifact, metrics and model card. Call this after `step` has returned None."""

    @abstractmethod
    def record(self, epoch: int, pipeline: HeadPipeline) -> dict[str, Any]:
        """Return the learning curve record of an epoch."""

    def choices(self, split: ImageSplit) -> list[HeadTask]:
        """Return tasks whose results compare the penalties; none if there is only one penalty."""
        del split
        return []

    def choose(self, tasks: list[HeadTask]) -> int:
        """Return the index of the penalty to use, given the finished tasks of `choices`."""
        del tasks
        return 0

    @property
    def raw_dims(self) -> int:
        """Length of an image's feature vector."""
        return _COMPARED_DIMS

    @property
    def penalties(self) -> Sequence[float]:
        """The penalties to try. A checkpoint with different penalties is rejected."""
        return ()

    @property
    def split(self) -> ImageSplit:
        """The split and the folds. Near-duplicates must be known before the first use."""
        if self._split is None:
            groups = self._finder.groups()
            self._split = split_images(
                self.targets,
                groups,
                self._keys(),
                self.options.split_ratio,
                self.options.seed,
                self.fold_count,
            )
        return self._split

    @property
    def fold_count(self) -> int:
        """Return the number of folds."""
        # Small sets need every image for training, so their folds are smaller.
        return _SMALL_SET_FOLDS if self.targets.pictures <= _SMALL_SET else _FOLDS

    @property
    def held_out(self) -> Ints:
        """Indexes of the held-out images, int, shape (n,)."""
        return np.flatnonzero(self.split.held_out)

    @property
    def trained(self) -> Ints:
        """Indexes of the images in the training part, int, shape (n,)."""
        return np.flatnonzero(~self.split.held_out)

    @property
    def scored_part(self) -> Ints:
        """Indexes, int, (n,), of training images for measuring training accuracy and loss."""
        trained = self.trained
        work = _COMPARED_DIMS * self.targets.size
        most = min(_MOST_JUDGED, max(_LEAST_JUDGED, int(_JUDGED_WORK / work)))
        order = np.argsort(self.split.ranks[trained], kind="stable")
        return np.sort(trained[order[:most]])

    @property
    def is_exact(self) -> bool:
        """Whether the model is the same byte for byte with any number of threads."""
        return self.targets.pictures <= EXACT_EXAMPLES

    def pairs(self) -> Pairs:
        """Return the pairs of images that are near-duplicates."""
        return self._finder.pairs()

    def scores(self, purpose: str, choice: int | None = None) -> tuple[Ints, Scores]:
        """Return logits from finished tasks, for images on which the heads were not trained.

        Args:
            purpose: only tasks with this purpose are used.
            choice: only tasks with this index of the penalty are used; None: any penalty.

        Returns:
            The indexes of the images, int, shape (n,), in ascending order, and their logits,
            float32, shape (n, labels).
        """
        places, logits = [np.empty(0, np.int64)], [np.empty((0, self.targets.size), np.float32)]
        for number, task in enumerate(self._tasks[: self._done]):
            if task.purpose == purpose and choice in (None, task.choice):
                places.append(task.scored)
                logits.append(self._results[f"{number}"])
        order = np.argsort(np.concatenate(places), kind="stable")
        return np.concatenate(places)[order], np.concatenate(logits)[order]

    def served(self) -> Arrays:
        """Return the arrays of the finished model: transformation and head."""
        return strip_prefix("served", self._results)

    @property
    def choice(self) -> int:
        """Index of the penalty with which the finished model is trained."""
        return self._tasks[-1].choice

    @property
    def rate(self) -> float:
        """Learning rate at the first step."""
        sent = self.options.learning_rate or DEFAULT_LEARNING_RATE
        return HIGHEST_RATE * sent / DEFAULT_LEARNING_RATE

    def _current_pipeline(self) -> HeadPipeline | None:
        self._plan_tasks()
        if self._pipeline is None and self._done < len(self._tasks):
            inputs = PipelineInputs(self.spec, self.rows, self.targets, self.split.ranks)
            seed = (self.options.seed, self._done)
            self._pipeline = HeadPipeline(self._tasks[self._done], inputs, self.rate, seed)
        return self._pipeline

    def _plan_tasks(self) -> None:
        if not self._tasks:
            self._tasks = self.choices(self.split)
        if all(task.purpose == "choice" for task in self._tasks) and self._done == len(self._tasks):
            self._tasks += self._main_tasks(self.choose(self._tasks))

    def _main_tasks(self, choice: int) -> list[HeadTask]:
        options, split = self.options, self.split
        pictures = self.targets.pictures
        dims = self.raw_dims
        epochs = min(options.epochs, max(_LEAST_SERVED_EPOCHS, _SERVED_VISITS // pictures))
        everyone, nothing = np.arange(pictures), np.empty(0, np.int64)
        tasks = [HeadTask("split", self.trained, self.held_out, options.epochs, choice, dims)]
        most = _MOST_FOLD_SCORES // self.targets.size
        for fold in range(self.fold_count):
            out = split.folds == fold
            scored = np.flatnonzero(out & (split.ranks < most))
            if len(scored):
                tasks.append(HeadTask("fold", np.flatnonzero(~out), scored, epochs, choice, dims))
        # Otherwise the head of the split was trained on all images, and is the final head.
        if len(self.held_out) or epochs != options.epochs:
            tasks.append(HeadTask("final", everyone, nothing, epochs, choice, dims))
        return tasks

    def _close(self, pipeline: HeadPipeline) -> None:
        self._results[f"{self._done}"] = pipeline.fit.logits(pipeline.task.scored)
        is_everyone = len(pipeline.task.trained) == self.targets.pictures
        if is_everyone and pipeline.task.purpose in ("split", "final") and pipeline.transform:
            served = {"values": pipeline.fit.head.values, **pipeline.transform.arrays()}
            self._results |= add_prefix("served", served)
        self._pipeline = None
        self._done += 1
        self._plan_tasks()

    def _share(self) -> float:
        if not self._tasks:
            share = 0.02 * self._finder.share
        else:
            costs = self._costs()
            done = sum(costs[: self._done])
            if self._pipeline is not None:
                done += costs[self._done] * self._pipeline.share
            share = 0.02 + 0.98 * done / max(sum(costs), 1.0)
        self._best_share = min(1.0, max(self._best_share, share))
        return self._best_share

    def _costs(self) -> list[float]:
        tasks = self._tasks
        if all(task.purpose == "choice" for task in tasks):
            tasks = [*tasks, *self._main_tasks(tasks[-1].choice)]
        return [task.cost(len(self.rows.places), self.targets.size) for task in tasks]

    def _keys(self) -> list[bytes]:
        names = self.data.pictures.labels
        return [
            image.digest
            + "\n".join(names[label] for label in image.labels).encode("utf-8", "surrogatepass")
            for image in self.data.pictures.pictures
        ]

    def _fingerprint(self) -> str:
        options = self.options
        chosen = (options.epochs, options.learning_rate, options.split_ratio, options.seed)
        settings = [*chosen, self.data.pictures.labels, *self.penalties]
        digest = hashlib.sha256(json.dumps(settings).encode())
        digest.update(self.rows.views.tobytes())
        for key in self._keys():
            digest.update(len(key).to_bytes(4, "big") + key)
        return digest.hexdigest()

    def _restore(self, checkpoint: bytes) -> None:
        saved = artifact.load(checkpoint, _KIND, _VERSION)
        if saved.header.get("training") != self._fingerprint():
            raise ArtifactError("This checkpoint belongs to a training of other images.")
        self._finder.restore(strip_prefix("finder", saved.arrays))
        self._results = strip_prefix("result", saved.arrays)
        done = int(saved.header["done"])
        self._epochs = int(saved.header["epochs"])
        self._best_share = float(saved.header["share"])
        self.last_record = saved.header["record"]
        if not self._finder.is_done:
            return
        self._tasks = self.choices(self.split)
        self._done = min(done, len(self._tasks))
        self._plan_tasks()
        self._done = done
        pipeline = self._current_pipeline()
        if pipeline is not None:
            pipeline.restore(strip_prefix("stage", saved.arrays))


def _check(targets: ImageTargets) -> None:
    if targets.size < MIN_LABELS:
        raise TrainingFailed(
            f"{targets.size} of {targets.names} labels has images, and a model needs "
            f"at least {MIN_LABELS}. Add images of another label and train again."
        )
