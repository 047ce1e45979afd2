"""Rules of a training request: algorithm, enough examples, word limit. Spec: Errors, Limits."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping

from chalicelib.domain.common.limits import (
    DEFAULT_EPOCHS,
    DEFAULT_LEARNING_RATE,
    MAX_TRAINING_WORDS,
    MIN_EXAMPLES_PER_LABEL,
    MIN_LABELS,
)
from chalicelib.domain.datasets.dataset import (
    DELETION_PENDING,
    DETECTION,
    FEEDBACK,
    LANGUAGE,
    UPLOAD,
    VISION,
    Dataset,
    DatasetView,
)
from chalicelib.domain.models.model import ALGORITHM_ALIASES, ALGORITHMS, Model
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotReady,
    InvalidParameter,
    StorageUnavailable,
    TooFewExamples,
)

# Age from which a guard entry (`new_guard`) without an open model is stale. A younger one may
# belong to a model whose row is not written yet.
GUARD_GRACE_MILLISECONDS = 60_000
OUT_OF_MEMORY = "the worker ran out of memory"
_SHOWN_LABELS = 20


def checked_algorithm(
    dataset_type: str, value: str | None, last_algorithm: str | None = None
) -> str | None:
    """Return the algorithm for a training; None if the dataset type has no choice of algorithms.

    Args:
        dataset_type: type of the dataset.
        value: the algorithm in the request; None to use the default.
        last_algorithm: the algorithm of the last training; a retraining uses it by default.

    Raises:
        InvalidParameter: the algorithm does not exist.
    """
    allowed = ALGORITHMS.get(dataset_type, ())
    algorithm = None if value is None else ALGORITHM_ALIASES.get(value, value)
    if algorithm in allowed:
        return algorithm
    known = [name for names in ALGORITHMS.values() for name in names]
    if algorithm is not None and algorithm not in known:
        choice = f"use one of {', '.join(allowed)}" if allowed else "leave it out"
        raise InvalidParameter(
            "algorithm", f"{str(value)[:100]!r} is not one of {', '.join(known)}; {choice}."
        )
    # An algorithm of another type is ignored, because a public client always sends the same one.
    return last_algorithm or next(iter(allowed), None)


def check_trainable(dataset: Dataset) -> None:
    """Raise an error if a dataset is not available for training.

    Raises:
        DatasetBeingDeleted: the dataset is being deleted.
        DatasetNotReady: an upload is running or has failed.
    """
    if dataset.status == DELETION_PENDING:
        raise DatasetBeingDeleted(dataset.dataset_id)
    if not dataset.available:
        raise DatasetNotReady(dataset.dataset_id, dataset.status_message)


def used_sources(*, with_feedback: bool) -> tuple[str, ...]:
    """Return the sources of examples that a training uses."""
    return (UPLOAD, FEEDBACK) if with_feedback else (UPLOAD,)


def _used_counts(view: DatasetView, *, with_feedback: bool) -> dict[int, int]:
    sources = used_sources(with_feedback=with_feedback)
    return {c.label_id: sum(c.count(s) for s in sources) for c in view.dataset.counts}


def check_enough_texts(
    view: DatasetView,
    *,
    with_feedback: bool,
    skips_small: bool = False,
    minimum: int = MIN_EXAMPLES_PER_LABEL,
) -> None:
    """Raise an error if a text dataset has too few labels or examples.

    Spec: Limits, Minimum examples; contract section 5, Enough examples.

    With `skips_small`, labels with too few examples are left out. `minimum` is the number of
    examples that each label needs, 0 to 5.

    Raises:
        TooFewExamples: the text names each label with too few examples, and what to do.
    """
    counts = _used_counts(view, with_feedback=with_feedback)
    if len(view.labels) < MIN_LABELS:
        raise TooFewExamples(
            f"Training needs at least {MIN_LABELS} labels; dataset {view.dataset.dataset_id} has "
            f"{len(view.labels)}. Add examples of another label, then train again."
        )
    short = [
        f"'{label.name}' has {counts[label.label_id]}"
        for label in view.labels
        if counts[label.label_id] < minimum
    ]
    if skips_small:
        _check_remaining(view, short, minimum)
    elif short:
        raise TooFewExamples(
            f"Each label needs at least {_examples(minimum)}: {_listed(short)}. "
            "Add examples to them, then train again."
        )


def _check_remaining(view: DatasetView, short: list[str], minimum: int) -> None:
    remaining = len(view.labels) - len(short)
    if remaining < MIN_LABELS:
        raise TooFewExamples(
            f"Training needs at least {MIN_LABELS} labels with at least "
            f"{_examples(minimum)}; dataset {view.dataset.dataset_id} has {remaining}, and "
            f"'skipSmallLabels' leaves out the others: {_listed(short)}. Add examples to "
            "them, or merge labels, then train again."
        )


def check_enough_pictures(view: DatasetView, *, with_feedback: bool) -> None:
    """Raise an error if an image dataset has too few labels with examples.

    Spec: Limits, Minimum examples; contract section 5, Enough examples.

    Raises:
        TooFewExamples: the text names each label without examples, and what to do.
    """
    counts = _used_counts(view, with_feedback=with_feedback)
    empty = [label.name for label in view.labels if not counts[label.label_id]]
    filled = len(view.labels) - len(empty)
    is_detection = view.dataset.type == DETECTION
    if filled >= (1 if is_detection else MIN_LABELS):
        return
    needed = "1 box" if is_detection else f"{MIN_LABELS} labels that have examples"
    short = [f"'{name}' has 0" for name in empty]
    named = f": {_listed(short)}" if short else ""
    remedy = "boxes" if is_detection else "examples of another label"
    raise TooFewExamples(
        f"Training needs at least {needed}; dataset {view.dataset.dataset_id} has {filled}{named}. "
        f"Add {remedy}, then train again."
    )


def shown_epochs(model: Model) -> int:
    """Return the number of epochs that the API returns. See contract section 4, Training."""
    default = DEFAULT_EPOCHS.get(model.type)
    # For images, the epochs of the request or the default; for texts, those that ran.
    return model.epochs if default is None else model.request.epochs or default


def shown_learning_rate(model: Model) -> float:
    """Return the learning rate that the API returns; 0 for texts."""
    # Texts have no learning rate, and detection shows only one that was sent.
    if model.family == LANGUAGE:
        return 0.0
    default = 0.0 if model.type == DETECTION else DEFAULT_LEARNING_RATE
    return model.request.learning_rate or default


def check_words(dataset: Dataset, *, with_feedback: bool) -> None:
    """Raise BadRequest if a text dataset has too many words to train. Spec: Errors 3."""
    words = dataset.words_upload + (dataset.words_feedback if with_feedback else 0)
    if words > MAX_TRAINING_WORDS:
        raise BadRequest(
            f"Dataset {dataset.dataset_id} has {words:,} words; at most {MAX_TRAINING_WORDS:,} "
            "can be trained. Upload a dataset with fewer or shorter texts.",
            code="too_many_words",
        )


def attempt_cause(family: str, error: Exception) -> str:
    """Describe the error of a failed training attempt in a phrase for users."""
    if family == VISION and isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if family == VISION and isinstance(error, StorageUnavailable):
        return "the dataset's images could not be read from storage"
    return f"{type(error).__name__}: {error}"


def out_of_attempts(attempts: int, cause: str) -> str:
    """Return the error message of a training that has used all of its attempts.

    `cause` is what failed in the last attempt; it may be empty.
    """
    remedy = "Train again; if it fails again, upload the dataset anew."
    if cause == OUT_OF_MEMORY:
        remedy = "Use smaller images or fewer examples, then train again."
    return f"Training stopped after {attempts} attempts{f': {cause}' if cause else ''}. {remedy}"


def new_guard(model_id: str, milliseconds: int) -> str:
    """Return a new guard entry for an open training.

    The rows of the dataset and the account store the entry. A dataset with a guard entry cannot be
    deleted. The guard entries of an account count as its open trainings.
    """
    # The random part distinguishes two requests in the same millisecond.
    return f"{model_id}.{milliseconds}.{secrets.token_hex(4)}"


def guard_model_id(entry: str) -> str:
    """Return the id of the model in an entry that `new_guard` returned."""
    return entry.partition(".")[0]


def guard_moment(entry: str) -> int:
    """Return the time, in milliseconds since 1970, that `new_guard` wrote into an entry."""
    return int(entry.split(".", 2)[1])


def is_left_over(
    entry: str,
    open_models: Iterable[str],
    now_milliseconds: int,
    run_ends: Mapping[str, int] | None = None,
) -> bool:
    """Return whether a guard entry is obsolete: its training has ended or never started.

    `entry` is what `new_guard` returned, and `open_models` are the ids of models that are QUEUED or
    RUNNING. `run_ends` maps each model to the end of its last run, in milliseconds since 1970.
    """
    model_id, moment = guard_model_id(entry), guard_moment(entry)
    # An entry newer than the end of the run belongs to a retraining that is about to be queued.
    is_over = (run_ends or {}).get(model_id, 0) > moment
    # A time far in the future was written before the clock was set back.
    is_old = abs(now_milliseconds - moment) > GUARD_GRACE_MILLISECONDS
    return (is_old or is_over) and model_id not in set(open_models)


def _examples(count: int) -> str:
    return f"{count} example{'' if count == 1 else 's'}"


def _listed(parts: list[str]) -> str:
    shown = ", ".join(parts[:_SHOWN_LABELS])
    rest = len(parts) - _SHOWN_LABELS
    return f"{shown} and {rest} more" if rest > 0 else shown
