"""Trains text models: reads the texts, computes their vectors, and fits the model.

chalicelib/services/training/runs.py calls this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.datasets.windows import split_texts
from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.learning import LearnedModel, PartDelegation, RunControl
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.engines.text.encoding.encoders import ACCURATE, FAST, encoder_names
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.text.encoding.profiles import (
    SAMPLE_OF_LABEL,
    Ladder,
    Profile,
    ProfileRequest,
    climb,
    find_ladder,
    needs_proof,
    profile_of_names,
    required_decrease,
    spread_texts,
)
from chalicelib.errors import TimedOut, TrainingFailed
from chalicelib.stores.datasets.training_examples import TrainingExamples
from chalicelib.stores.models.checkpoints import CheckpointStore
from chalicelib.stores.models.curves import CurveStore, CurveWriter
from chalicelib.stores.models.run_files import UserTextStore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from chalicelib.engines.text.benefit import Benefit
    from chalicelib.engines.text.encoding.vector_table import JoinedTables, VectorTable
    from chalicelib.engines.text.training import FittedText, TextVectors

    Floats = npt.NDArray[np.float32]
    Check = Callable[[int, int], None]
    Delegate = Callable[[Sequence[str]], None]
    ReadVectors = Callable[[int | str, str, Sequence[str], Check, Delegate], VectorTable]
    Embed = Callable[[str, Sequence[str]], Floats]
    FinishParts = Callable[[Dataset, Check], None]

# Remaining time of a function at which the next function continues, in seconds.
RESERVE_SECONDS = 60.0
# Fractions of the progress; publishing the model takes the rest.
_EMBED_SHARE, _FIT_SHARE = 0.5, 0.45


@dataclass(frozen=True)
class Embedder:
    """Computes and reads vectors of texts."""

    finish_parts: FinishParts
    """Computes the vectors of upload parts that are still waiting."""
    table: ReadVectors
    """Reads the stored vectors of texts or windows; computes and stores the missing ones."""
    embed: Embed
    """Computes vectors of texts without storing them."""
    encoders: EncoderPool
    """The installed encoders."""
    default_profile: str = ACCURATE
    """Largest set of encoders (profile) that a training chooses if the caller names none."""
    threads: int = 1
    """Number of threads that a fit may use."""


@dataclass(frozen=True, kw_only=True)
class TextLearnerStores:
    """The stores that `TextLearner` uses."""

    checkpoints: CheckpointStore
    curves: CurveStore
    training_examples: TrainingExamples
    user_texts: UserTextStore


class TextLearner:
    """Trains models of the language family."""

    def __init__(
        self, stores: TextLearnerStores, embedder: Embedder, parts: PartDelegation, clock: Clock
    ) -> None:
        self._examples = stores.training_examples
        self._parts = parts
        self._checkpoints = stores.checkpoints
        self._curves = stores.curves
        self._user_texts = stores.user_texts
        self._embedder = embedder
        self._clock = clock

    def learn(self, model: Model, dataset: Dataset, control: RunControl) -> LearnedModel:
        """Train a model on texts. Vectors are stored, so that another invocation can continue.

        Raises:
            TrainingFailed: the texts cannot be trained on; the message says why and what to do.
            EncoderNotInstalled: the files of an encoder are missing.
            LeaseLost: another worker owns the run.
            TimedOut: the time was too short for all vectors.
            PartsSent: other workers compute the vectors.
        """
        begun_at, datasets = self._found(model, dataset, control)
        texts = self._examples.read(model, datasets)
        if not texts.labels:
            raise TrainingFailed(
                f"Dataset {dataset.dataset_id} has no labels left: they were deleted, or lost with "
                "damaged data. Add examples, or upload the dataset again, and train."
            )
        if model.request.skips_small_labels:
            texts = texts.without_small_labels(model.request.minimum_examples)
        progress = _Progress(control, self._curves.writer(model))
        # Compute the parts that no worker has computed while the run was paused.
        self._parts.finish(model, progress.on_sample)
        # Chosen before the sample is drawn, because larger vectors allow fewer texts.
        profile = self._profile(model, dataset, texts, progress)
        texts = self._bounded(texts, profile)
        self._finish_parts(dataset, texts, profile, progress)
        fitted = self._fit(model, texts, profile, progress)
        progress.finish()
        return LearnedModel(
            artifact=fitted.artifact,
            metrics=fitted.metrics,
            card=fitted.card,
            labels=len(texts.labels),
            examples=len(texts.texts),
            training_seconds=fitted.fit_seconds,
            early_stopping=fitted.report.early_stopping,
            last_epoch=fitted.report.epochs,
            train_size=fitted.report.training_examples,
            test_size=fitted.report.test_examples,
            begun_at=begun_at,
            suspects=fitted.suspects,
            evaluation=fitted.evaluation,
        )

    def discard(self, model: Model) -> None:
        """Delete the checkpoint and the uploaded unlabelled texts of an ended run."""
        self._checkpoints.delete(model)
        if model.request.unlabelled_upload:
            self._user_texts.delete_until(model)

    def _found(
        self, model: Model, dataset: Dataset, control: RunControl
    ) -> tuple[datetime, list[Dataset]]:
        """Return the time when the run began, and the run's datasets as they were at that time."""
        datasets = self._examples.datasets(model, dataset)
        # A resumed run trains on the examples of its start, so that an interruption changes no
        # result.
        beginning = self._checkpoints.beginning(model)
        if beginning is None:
            control.check()
            other = self._examples.unlabelled_dataset(model)
            begun = datasets if other is None else [*datasets, other]
            beginning = self._checkpoints.begin(model, begun, self._clock())
        return beginning.begun_at, [beginning.of(found) for found in datasets]

    def _bounded(self, texts: TrainingTexts, profile: Profile) -> TrainingTexts:
        """Return a sample of the texts if all of them need too much memory or time."""
        from chalicelib.engines.text.cost import most_examples

        dims = sum(self._embedder.encoders.get(name).dimensions for name in profile.encoders)
        return texts.drawn(most_examples(dims, len(texts.labels)))

    def _fit(
        self, model: Model, texts: TrainingTexts, profile: Profile, progress: _Progress
    ) -> FittedText:
        """Collect the vectors of the texts, and fit the model on them."""
        from chalicelib.engines.text.training import TrainingCallbacks, train_text

        names = profile.encoders
        vectors = self._text_vectors(
            model,
            texts,
            profile,
            lambda name, read: self._collected_and_shown(model, read, name, names, progress),
        )
        callbacks = TrainingCallbacks(progress.on_curve, progress.on_fit, progress.on_vectors)
        if _uses_names(model, texts):
            vectors = replace(
                vectors, uses_names=True, of_unlabelled=self._unlabelled(model, progress)
            )
        return train_text(
            model, texts, vectors, callbacks, self._clock(), threads=self._embedder.threads
        )

    def _text_vectors(
        self,
        model: Model,
        texts: TrainingTexts,
        profile: Profile,
        collect: Callable[[str, Sequence[tuple[int, Sequence[str]]]], JoinedTables],
    ) -> TextVectors:
        """Return the vectors of texts, computed from the vectors of the texts' windows.

        `collect` returns the vectors of windows. Its arguments are the name of an encoder, and a
        list of dataset ids with their windows.
        """
        from chalicelib.engines.text.training import TextVectors
        from chalicelib.engines.text.windows.training_vectors import TrainingVectors

        split, read, start = split_texts(texts.texts), [], 0
        bounds = [0, *split.ends]
        for dataset_id, count in texts.spans:
            windows = split.windows[bounds[start] : bounds[start + count]]
            read.append((dataset_id, windows))
            start += count
        [base] = encoder_names(model.language, model.request.algorithm, FAST)
        return TextVectors(
            encoders=[self._embedder.encoders.get(name) for name in profile.encoders],
            texts=TrainingVectors(
                split,
                texts.label_indexes,
                len(texts.labels),
                base,
                lambda name: collect(name, read),
            ),
            of_phrases=self._embedder.embed,
            profile=profile.name,
            reason=profile.reason,
        )

    def _unlabelled(self, model: Model, progress: _Progress) -> Callable[[str], Floats] | None:
        """Return a function that embeds unlabelled texts; None if the request has no such texts."""
        found = self._unlabelled_texts(model)
        if found is None:
            return None
        owner, texts = found
        split = split_texts(texts)

        def of_unlabelled(name: str) -> Floats:
            from chalicelib.engines.text.windows.attention import even_weights, join_windows

            table = self._embedder.table(
                owner, name, split.windows, progress.on_sample, lambda missing: None
            )
            # Without labels nothing shows which windows matter, so all count alike.
            return join_windows(table.rows, even_weights(split.ends), split.ends)

        return of_unlabelled

    def _unlabelled_texts(self, model: Model) -> tuple[int | str, list[str]] | None:
        """Return the owner of the unlabelled texts' vectors, and the texts; None without texts.

        The owner is a dataset id, or a key prefix in the bucket.
        """
        if model.request.unlabelled_upload:
            return self._user_texts.unlabelled(model)
        found = self._examples.unlabelled_dataset(model)
        if found is None:
            return None
        beginning = self._checkpoints.beginning(model)
        # Like the labelled examples, these are the texts that existed when the run began.
        dataset = found if beginning is None else beginning.of_unguarded(found)
        return dataset.dataset_id, self._examples.unlabelled(dataset)

    def _profile(
        self, model: Model, dataset: Dataset, texts: TrainingTexts, progress: _Progress
    ) -> Profile:
        """Return the requested or configured profile (set of encoders), or choose a profile."""
        wish, default = model.request.param("profile"), self._embedder.default_profile
        asked = default if wish is None and default != ACCURATE else wish
        wanted = ProfileRequest(
            model.language, model.request.algorithm, None if asked is None else str(asked)
        )
        if asked is not None:
            reason = "The request names it." if wish else "This installation uses it by default."
            return wanted.profile(str(asked), reason)
        if _uses_names(model, texts):
            return profile_of_names(self._ladder(wanted, texts))
        return self._climb(model, dataset, wanted, texts, progress)

    def _ladder(self, request: ProfileRequest, texts: TrainingTexts) -> Ladder:
        return find_ladder(request, texts.texts, self._embedder.encoders.is_installed)

    def _climb(
        self,
        model: Model,
        dataset: Dataset,
        request: ProfileRequest,
        texts: TrainingTexts,
        progress: _Progress,
    ) -> Profile:
        """Choose larger encoders step by step, as long as each step is worth its time."""
        ladder = self._ladder(request, texts)

        def compare(count: int, profile: Profile, step: Profile) -> Benefit:
            self._finish_parts(dataset, texts, profile, progress)
            sample = texts.drawn(count, SAMPLE_OF_LABEL)
            return self._compare(model, sample, profile, step, progress)

        return climb(ladder, texts.texts, model.language, compare)

    def _compare(
        self,
        model: Model,
        sample: TrainingTexts,
        profile: Profile,
        step: Profile,
        progress: _Progress,
    ) -> Benefit:
        """Return the benefit of a larger profile, measured on a sample of the texts.

        The vectors of the sample are stored, so the training uses them again.
        """
        from chalicelib.engines.text import benefit
        from chalicelib.engines.text.training import make_training_set

        both = Profile(step.name, tuple(sorted({*profile.encoders, *step.encoders})))
        vectors = self._text_vectors(
            model,
            sample,
            both,
            lambda name, read: self._collected(read, name, progress.on_sample),
        )
        return benefit.measure_benefit(
            make_training_set(sample, vectors),
            profile.encoders,
            step.encoders,
            required_decrease(step, profile),
            needs_proof=needs_proof(profile),
        )

    def _finish_parts(
        self, dataset: Dataset, texts: TrainingTexts, profile: Profile, progress: _Progress
    ) -> None:
        """Embed an upload's waiting parts, if the training needs all texts and all encoders."""
        of_parts = encoder_names(dataset.language, None)
        # Embedding a part makes vectors of all encoders of the queue, some of which this training
        # may not need.
        if texts.available or not set(of_parts) <= set(profile.encoders):
            return

        def check(done: int, total: int) -> None:
            progress.has_embedded = True
            progress.on_embed(len(of_parts) / len(profile.encoders) * done / total)

        self._embedder.finish_parts(dataset, check)

    def _collected_and_shown(
        self,
        model: Model,
        read: Sequence[tuple[int, Sequence[str]]],
        name: str,
        names: Sequence[str],
        progress: _Progress,
    ) -> JoinedTables:
        """Collect vectors of the encoder `name`; raise PartsSent if other workers compute many."""
        place = names.index(name)

        def check(done: int, total: int) -> None:
            progress.has_embedded |= done < total
            progress.on_embed((place + done / max(1, total)) / len(names))

        def delegate(dataset_id: int, missing: Sequence[str]) -> None:
            parts = spread_texts(name, missing, model.language)
            works = [PartWork(dataset_id, name, part) for part in parts]
            shares = progress.shown, _EMBED_SHARE * (place + 1) / len(names)
            self._parts.delegate(model, f"{name}-{dataset_id}", works, shares)

        return self._collected(read, name, check, delegate)

    def _collected(
        self,
        read: Sequence[tuple[int, Sequence[str]]],
        name: str,
        check: Check,
        delegate: Callable[[int, Sequence[str]], None] = lambda dataset_id, missing: None,
    ) -> JoinedTables:
        """Return the vectors of all windows in `read`, a list of (dataset id, windows of texts)."""
        from chalicelib.engines.text.encoding.vector_table import JoinedTables

        return JoinedTables(
            [
                self._embedder.table(
                    dataset_id, name, windows, check, partial(delegate, dataset_id)
                )
                for dataset_id, windows in read
            ]
        )


def _uses_names(model: Model, texts: TrainingTexts) -> bool:
    """Return whether to use label names for training, because there are few examples."""
    is_allowed = model.request.minimum_examples < MIN_EXAMPLES_PER_LABEL
    return is_allowed and texts.has_few_examples


class _Progress:
    """Reports progress and learning curve of a run, and stops it before the time is up."""

    def __init__(self, control: RunControl, curve: CurveWriter) -> None:
        self._control = control
        self._curve = curve
        self._embed_share = 0.0
        self._checked_at = monotonic()
        self._longest_step = 0.0
        self.has_embedded = False
        """Whether this Lambda invocation computed vectors, which the next invocation can read."""

    @property
    def shown(self) -> float:
        """Return the progress of the run while vectors are computed, 0 to 1."""
        return _EMBED_SHARE * self._embed_share

    def on_vectors(self, seconds: float) -> None:
        """Raise TimedOut if vectors were computed, and less than `seconds` are left for the fit."""
        # Only if this function has computed vectors: otherwise the next function would have no more
        # time for the fit.
        if self.has_embedded and self._control.remaining_seconds() < seconds:
            raise TimedOut("The embeddings are finished; the next function trains on them.")

    def on_embed(self, share: float) -> None:
        """Report the fraction of vectors that are computed; the progress never decreases."""
        now = monotonic()
        self._longest_step = max(self._longest_step, now - self._checked_at)
        self._checked_at = now
        # With long texts and a large encoder, minutes can pass between two checks.
        if self._control.remaining_seconds() < RESERVE_SECONDS + self._longest_step:
            raise TimedOut("The embeddings are not finished; the next function continues.")
        self._embed_share = max(self._embed_share, share)
        self._control.report(self.shown)

    def on_sample(self, done: int, total: int) -> None:
        """Check the time while a sample's vectors are computed. The progress does not change."""
        self.has_embedded |= done < total
        self.on_embed(0.0)

    def on_fit(self, share: float) -> None:
        """Report the fraction of the fit that is done."""
        self._control.report(_EMBED_SHARE + _FIT_SHARE * share, self._curve.epochs)

    def on_curve(self, records: list[dict[str, Any]]) -> None:
        """Add finished epochs to the learning curve."""
        self._control.check()
        for record in records[self._curve.epochs :]:
            self._curve.add(record)
        if self._control.is_due():
            self._curve.flush()

    def finish(self) -> None:
        """Write the remaining points of the learning curve."""
        self._control.check()
        self._curve.finish()
