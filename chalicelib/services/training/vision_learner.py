"""Trains image models: reads images, computes features, trains step by step, saves checkpoints.

chalicelib/services/training/runs.py calls this module. A worker that is stopped or killed loses
at most one epoch. The state is in a checkpoint, and finished epochs are in the learning curve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import (
    DEFAULT_LEARNING_RATE,
    MAX_DETECTION_IMAGE_BYTES,
    VISION_SPLIT_RATIO,
)
from chalicelib.domain.datasets.dataset import DETECTION, Dataset
from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.learning import LearnedModel, PartDelegation, RunControl
from chalicelib.domain.models.model import ALGORITHMS, Model
from chalicelib.domain.models.training import shown_epochs
from chalicelib.domain.models.training_pictures import (
    LabelledPicture,
    TrainingPictures,
    default_copies,
)
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision import registry
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.checkpoint import (
    Checkpoint,
    dump_checkpoint,
    fingerprint_of,
    load_checkpoint,
)
from chalicelib.engines.vision.interface import Extractor, VisionData, VisionOptions, VisionTraining
from chalicelib.errors import LeaseLost, TimedOut, TrainingFailed
from chalicelib.formats.pictures.reading import read_picture
from chalicelib.stores.models.curves import CurveStore, CurveWriter

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.features.stored import StoredFeatures
    from chalicelib.stores.datasets.training_examples import TrainingExamples
    from chalicelib.stores.examples.pictures import PictureStore
    from chalicelib.stores.models.checkpoints import CheckpointStore

# Remaining time of a function at which the next function continues, in seconds.
RESERVE_SECONDS = 120.0
# Minimum time between a checkpoint and one at the end of an epoch, in seconds.
SAVE_EPOCH_SECONDS = 2.0
# Maximum time between two checkpoints, also within an epoch, in seconds.
SAVE_SECONDS = 20.0
# More than any dataset needs: the number of copies is bounded by their size.
_ALL_COPIES = 10**9
# One seed for all trainings, so that equal data gives equal models.
SEED = 0
# Fractions of the progress; publishing the model takes the rest.
_FEATURES_SHARE, _STEPS_SHARE = 0.3, 0.65


@dataclass(frozen=True, kw_only=True)
class VisionLearnerStores:
    """Stores used by `VisionLearner`."""

    checkpoints: CheckpointStore
    curves: CurveStore
    pictures: PictureStore
    training_examples: TrainingExamples


class Features(Protocol):
    """Computes and stores features; see chalicelib/services/training/features.py."""

    def collect(
        self,
        pictures: Sequence[LabelledPicture],
        extractor: Extractor,
        *,
        copies: int,
        is_default: bool,
        check: Callable[[int, int, int], None],
        delegate: Callable[[str, list[PartWork], tuple[float, float]], None],
    ) -> StoredFeatures:
        """Return the features of images; compute missing features."""
        ...

    def revert(self, account_id: str, family: str, dataset_id: int) -> None:
        """Delete features that were stored after their dataset had been deleted."""
        ...


@dataclass
class _OpenTraining:
    """The state of a training that runs in this process."""

    model: Model
    """Model that is trained."""
    training: VisionTraining
    """State of the training in the engine."""
    curve: CurveWriter
    """Writer of the learning curve."""
    fingerprint: str
    """Digest of data and options. A checkpoint with another digest is not used."""
    earlier_seconds: float
    """Seconds that earlier Lambda invocations spent on this training."""
    begun: float = field(default_factory=time.monotonic)
    """When this Lambda invocation began to train, in seconds of the monotonic clock."""
    saved: float = field(default_factory=time.monotonic)
    """Time of the last checkpoint, in seconds of the monotonic clock."""

    @property
    def seconds(self) -> float:
        """Return the training time so far, summed over all Lambda invocations, in seconds."""
        return self.earlier_seconds + time.monotonic() - self.begun


class VisionLearner:
    """Trains models of the vision family."""

    def __init__(
        self,
        stores: VisionLearnerStores,
        features: Features,
        parts: PartDelegation,
        backbones: BackbonePool,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._stores = stores
        self._features = features
        self._parts = parts
        self._backbones = backbones
        self._clock = clock
        self._settings = settings

    def learn(self, model: Model, dataset: Dataset, control: RunControl) -> LearnedModel:
        """Train a model on images; start at the latest checkpoint of the run, if there is one.

        Raises:
            TrainingFailed: the images cannot be trained on; the message says why and what to do.
            BackboneNotInstalled: the files of a backbone are missing.
            LeaseLost: another worker owns the run.
            TimedOut: the state is saved; another Lambda invocation continues.
            PartsSent: other workers compute the features.
        """
        begun_at, pictures = self._pictures(model, dataset, control)
        copies = _copies(model, len(pictures.pictures))
        options = _options(model, copies, self._settings.threads)
        try:
            features = self._collect(model, pictures, copies, control)
        except LeaseLost:
            self._features.revert(dataset.account_id, dataset.family, dataset.dataset_id)
            raise
        with closing(features):
            # Images that cannot be decoded any more have no features.
            pictures = pictures.keep(features.places)
            if not pictures.pictures:
                raise TrainingFailed(
                    f"None of the images of dataset {dataset.dataset_id} can be read any more. "
                    "Upload them as a new dataset, then train that."
                )
            data = VisionData(pictures, features, self._opener(pictures.pictures))
            run = self._open(model, data, options)
            self._learn(run, control)
            fitted = run.training.finish(model, self._clock())
            control.check()
            run.curve.finish()
        return LearnedModel(
            artifact=fitted.artifact,
            metrics=fitted.metrics,
            card=fitted.card,
            labels=len(pictures.labels),
            examples=pictures.examples,
            training_seconds=run.seconds,
            early_stopping=fitted.early_stopping,
            last_epoch=fitted.epochs,
            train_size=fitted.train_size,
            test_size=fitted.test_size,
            begun_at=begun_at,
            suspects=fitted.suspects,
            evaluation=fitted.evaluation,
        )

    def discard(self, model: Model) -> None:
        """Delete the checkpoints of a run that is over."""
        self._stores.checkpoints.delete(model)

    def _pictures(
        self, model: Model, dataset: Dataset, control: RunControl
    ) -> tuple[datetime, TrainingPictures]:
        """Return the time when the run began, and the images that its datasets had at that time."""
        stores = self._stores
        datasets = stores.training_examples.datasets(model, dataset)
        beginning = stores.checkpoints.beginning(model)
        if beginning is None:
            control.check()
            beginning = stores.checkpoints.begin(model, datasets, self._clock())
        used = [beginning.of(found) for found in datasets]
        return beginning.begun_at, stores.training_examples.pictures(model, used)

    def _collect(
        self,
        model: Model,
        pictures: TrainingPictures,
        copies: int,
        control: RunControl,
    ) -> StoredFeatures:
        """Collect the features of the images; stop if the time of this invocation is nearly up."""
        extractor = self._extractor(model)
        default = registry.extractor_for(model.type, None, self._backbones)

        def check(done: int, total: int, computed: int) -> None:
            control.check()
            control.report(_FEATURES_SHARE * min(1.0, done / max(1, total)))
            if computed and done < total and control.remaining_seconds() < RESERVE_SECONDS:
                raise TimedOut("The features are not finished; the next function continues.")

        def delegate(stage: str, works: list[PartWork], shares: tuple[float, float]) -> None:
            begin, end = (_FEATURES_SHARE * share for share in shares)
            self._parts.delegate(model, stage, works, (begin, end))

        # The total is not known yet, so these parts do not add to the progress.
        self._parts.finish(model, lambda done, total: check(0, total, done))
        return self._features.collect(
            pictures.pictures,
            extractor,
            copies=copies,
            is_default=extractor.name == default.name,
            check=check,
            delegate=delegate,
        )

    def _open(self, model: Model, data: VisionData, options: VisionOptions) -> _OpenTraining:
        """Continue from the latest checkpoint; if none is usable, start from the beginning."""
        fingerprint = fingerprint_of(data, options, self._extractor(model))
        stores = self._stores
        content = stores.checkpoints.get(model)
        saved = load_checkpoint(content, fingerprint) if content else None
        if saved is not None:
            curve = stores.curves.writer(model, saved.epochs)
            # A gap in the stored curve could not be filled later, so the training starts again.
            training = self._restored(model, data, options, saved) if curve.is_complete else None
            if training is not None:
                return _OpenTraining(model, training, curve, fingerprint, saved.seconds)
        if content:
            log.warning("checkpoint_not_used", model=model.model_id, run=model.run)
        training = registry.open_training(model.type, data, options, self._backbones)
        return _OpenTraining(model, training, stores.curves.writer(model), fingerprint, 0.0)

    def _restored(
        self, model: Model, data: VisionData, options: VisionOptions, saved: Checkpoint
    ) -> VisionTraining | None:
        """Resume a training from a checkpoint; return None if the checkpoint is unusable."""
        try:
            training = registry.open_training(
                model.type, data, options, self._backbones, saved.state
            )
        except (ArtifactError, ValueError, KeyError) as damage:
            log.warning("checkpoint_refused", model=model.model_id, cause=str(damage))
            return None
        return training if training.epochs_done == saved.epochs else None

    def _learn(self, run: _OpenTraining, control: RunControl) -> None:
        """Train step by step until the training ends or the time is nearly up."""
        while (step := run.training.step()) is not None:
            control.check()
            if step.record is not None:
                run.curve.add(step.record)
                run.curve.flush()
            control.report(_FEATURES_SHARE + _STEPS_SHARE * step.share, run.curve.epochs)
            # Read once, so that a late step is saved before the function stops.
            is_late = control.remaining_seconds() < RESERVE_SECONDS
            idle = time.monotonic() - run.saved
            ended = step.record is not None and idle >= SAVE_EPOCH_SECONDS
            if is_late or ended or idle >= SAVE_SECONDS:
                self._save(run, control)
            if is_late:
                raise TimedOut("The training is not finished; the next function continues.")

    def _save(self, run: _OpenTraining, control: RunControl) -> None:
        """Save a checkpoint from which another Lambda invocation can resume."""
        saved = Checkpoint(run.training.save(), run.training.epochs_done, run.seconds)
        content = dump_checkpoint(saved, run.fingerprint)
        control.check()
        self._stores.checkpoints.put(run.model, content)
        run.saved = time.monotonic()

    def _extractor(self, model: Model) -> Extractor:
        return registry.extractor_for(model.type, model.request.algorithm, self._backbones)

    def _opener(self, pictures: Sequence[LabelledPicture]) -> Callable[[int, int], Picture]:
        """Return a function that decodes the image at an index of `pictures`."""

        def open_picture(place: int, least_side: int) -> Picture:
            """Decode image `place` so that its shorter side has at least `least_side` pixels."""
            picture = pictures[place]
            content = self._stores.pictures.get(picture.dataset_id, picture.digest.hex())
            if content is None:
                raise TrainingFailed(
                    f"Image {picture.name} disappeared while the training ran. "
                    "Upload the images as a new dataset, then train that."
                )
            return read_picture(content, MAX_DETECTION_IMAGE_BYTES, least_side)

        return open_picture


def _options(model: Model, copies: int, threads: int) -> VisionOptions:
    request = model.request
    ratio = request.param("trainSplitRatio")
    return VisionOptions(
        epochs=shown_epochs(model),
        has_named_epochs=request.epochs is not None,
        learning_rate=request.learning_rate or DEFAULT_LEARNING_RATE,
        split_ratio=VISION_SPLIT_RATIO if ratio is None else float(str(ratio)),
        augment=copies > 0,
        algorithm=request.algorithm or "",
        seed=SEED,
        threads=threads,
    )


def _copies(model: Model, pictures: int) -> int:
    """Return the maximum number of augmented copies, summed over all images.

    If the caller requested augmentation, the number is very large, so there is no limit.
    """
    request = model.request
    asked = request.param("augmentData")
    if asked is not None:
        return _ALL_COPIES if asked is True else 0
    is_whole = model.type == DETECTION and request.algorithm in (None, ALGORITHMS[DETECTION][0])
    return default_copies(pictures) if is_whole and request.epochs is None else 0
