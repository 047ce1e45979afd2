"""Training requests: errors and their messages, queue, limits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID
from chalicelib.domain.common.limits import MAX_TRAINING_WORDS
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.jobs.messages import encode_job
from chalicelib.domain.models.model import FAILED, QUEUED, SUCCEEDED, TrainRequest
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotReady,
    InvalidParameter,
    ModelBusy,
    ProfileMissing,
    TooFewExamples,
    TooManyOpen,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import AccountRow, DatasetRow, ModelRow
from chalicelib.stores.jobs.queues import TRAIN_FREE, TRAIN_PAID
from tests.builders import World, a_source, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


def test_new_training_is_queued(world: World) -> None:
    """A training starts as QUEUED, at the end of its queue, with the requested parameters."""
    view = world.dataset(ROWS)

    asked = world.train(view, TrainRequest(epochs=7, params={"withFeedback": True}))

    model = asked.model
    assert (model.status, model.progress, asked.queue_position) == (QUEUED, 0, 1)
    assert (model.language, model.type, model.run) == ("en_US", "text-intent", 1)
    assert model.request == TrainRequest(
        epochs=7, algorithm="intent", params={"withFeedback": True}
    )
    assert model == world.container.models.get(model.account_id, model.model_id)


def test_queue_position_counts_paid_ones_first(world: World) -> None:
    """A free training's position counts all paid ones and the earlier free ones."""
    paid = world.new_account("paid@example.com", "GOLD")
    mine = world.dataset(ROWS)
    theirs = world.dataset(ROWS, account=paid)
    free = []
    for _ in range(3):
        world.clock.advance(seconds=1)
        free.append(world.train(mine).model)
    world.clock.advance(seconds=1)
    first = world.train(theirs, account=paid)
    world.clock.advance(seconds=1)
    second = world.train(theirs, account=paid)
    view = world.container.training.view

    assert [first.queue_position, second.queue_position] == [1, 2]
    assert [view(model).queue_position for model in free] == [3, 4, 5]
    assert [queue for queue, _ in world.messages()] == [TRAIN_PAID] * 2 + [TRAIN_FREE] * 3
    world.stores.model_leases.acquire(paid.account_id, first.model.model_id, 1)
    assert [view(model).queue_position for model in free] == [2, 3, 4]
    assert view(replace(first.model, status="RUNNING")).queue_position is None


def test_too_few_examples_names_every_short_label(world: World) -> None:
    """The error has each label with too few examples, its count and the remedy."""
    view = world.dataset(some_rows({"greet": 5, "refund": 3, "cancel-order": 1}))

    with pytest.raises(TooFewExamples) as refusal:
        world.train(view)

    assert refusal.value.message == (
        "Each label needs at least 5 examples: 'refund' has 3, 'cancel-order' has 1. "
        "Add examples to them, then train again."
    )
    assert (refusal.value.status, refusal.value.code) == (400, "too_few_examples")


def test_too_few_labels(world: World) -> None:
    """One label is refused, however many examples it has."""
    with pytest.raises(TooFewExamples, match=r"at least 2 labels; dataset \d+ has 1"):
        world.train(world.dataset(some_rows({"greet": 50})))


def test_feedback_counts_only_where_it_is_used(world: World) -> None:
    """Feedback counts toward the minimum only with `withFeedback`."""
    model = world.model(world.dataset(ROWS))
    view = world.dataset(some_rows({"book": 5, "cancel": 4}))
    model = replace(model, dataset_id=view.dataset.dataset_id)
    world.container.feedback.add_text(world.account, model, "the fifth", "cancel")
    view = world.get(view)

    with pytest.raises(TooFewExamples):
        world.train(view)
    trained = world.model(view, TrainRequest(epochs=2, params={"withFeedback": True}))

    assert trained.stats is not None
    assert (trained.status, trained.stats.examples) == (SUCCEEDED, 10)


@pytest.mark.parametrize(
    ("upload", "feedback", "with_feedback", "is_refused"),
    [
        (MAX_TRAINING_WORDS, 0, False, False),
        (MAX_TRAINING_WORDS + 1, 0, False, True),
        (MAX_TRAINING_WORDS, 1, False, False),
        (MAX_TRAINING_WORDS, 1, True, True),
    ],
)
def test_word_limit(
    world: World, upload: int, feedback: int, with_feedback: bool, is_refused: bool
) -> None:
    """At most 3,000,000 words are trained; feedback counts if it is used."""
    view = world.dataset(ROWS)
    [row] = world.rows(DatasetRow)
    row.update([DatasetRow.words_upload.set(upload), DatasetRow.words_feedback.set(feedback)])
    request = TrainRequest(params={"withFeedback": with_feedback})

    if is_refused:
        with pytest.raises(BadRequest, match="3,000,001 words; at most 3,000,000"):
            world.train(world.get(view), request)
        assert world.rows(ModelRow) == []
    else:
        world.train(world.get(view), request)


def test_sixth_open_training_is_refused(world: World) -> None:
    """Five trainings of an account may be open; a sixth is refused until one ends."""
    view = world.dataset(ROWS)
    other = world.new_account("other@example.com")
    for _ in range(5):
        world.train(view)

    with pytest.raises(TooManyOpen, match="5 trainings of this account are QUEUED or RUNNING"):
        world.train(view)

    assert len(world.get(view).dataset.training) == 5
    world.train(world.dataset(ROWS, account=other), account=other)
    world.train(view)


def test_callers_at_the_limit_of_open_trainings(world: World) -> None:
    """Of many simultaneous requests exactly five are accepted."""
    view = world.dataset(ROWS)
    world.one_call_at_a_time()

    def ask(_: int) -> bool:
        """Request one training."""
        try:
            world.train(view)
        except TooManyOpen:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(ask, range(16)))

    assert sum(accepted) == 5
    assert len(world.rows(ModelRow)) == 5
    assert len(world.messages()) == 5


def test_dataset_that_cannot_be_trained(world: World) -> None:
    """A dataset that is UPLOADING, FAILED or being deleted is refused with its status."""
    uploading = world.upload(ROWS)
    with pytest.raises(DatasetNotReady, match="its status is UPLOADING"):
        world.train(uploading)
    failed = world.dataset([("one cell",)])
    with pytest.raises(DatasetNotReady, match="its status is FAILED: None of the 1 rows") as found:
        world.train(failed)
    assert str(found.value).endswith("Delete it and upload the data again.")
    assert ".." not in str(found.value)
    view = world.get(uploading)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        world.train(world.get(view))
    # A call that had read the dataset before the DELETE.
    with pytest.raises(DatasetNotReady):
        world.train(view)
    account = next(row for row in world.rows(AccountRow) if row.plan)
    assert not account.training


@pytest.mark.parametrize(
    ("dataset_type", "algorithm", "used"),
    [
        ("text-intent", "object-detection", "intent"),
        ("text-sentiment", "intent", None),
        ("text-sentiment", "multilingual-intent", None),
    ],
)
def test_algorithm_of_another_type(
    world: World, dataset_type: str, algorithm: str, used: str | None
) -> None:
    """An algorithm of another type is ignored; an unknown one is refused."""
    rows = some_rows({"positive": 5, "negative": 5})
    view = world.dataset(rows, fields=UploadFields("s", dataset_type))

    assert world.train(view, TrainRequest(algorithm=algorithm)).model.request.algorithm == used
    with pytest.raises(InvalidParameter, match="'nonsense' is not one of"):
        world.train(view, TrainRequest(algorithm="nonsense"))


def test_sentiment_has_no_algorithm(world: World) -> None:
    """A sentiment training has no algorithm at all."""
    rows = some_rows({"positive": 5, "negative": 5})
    view = world.dataset(rows, fields=UploadFields("s", "text-sentiment"))

    assert world.train(view).model.request.algorithm is None


def test_global_dataset_adds_its_labels(world: World) -> None:
    """A training with a global dataset also uses its labels; the caller's dataset is unchanged."""
    owner = replace(world.account, account_id=GLOBAL_ACCOUNT_ID)
    shared = world.dataset(some_rows({"weather": 6, "book": 5}, "global"), account=owner)
    other = world.dataset(
        some_rows({"positive": 5, "negative": 5}),
        account=owner,
        fields=UploadFields("s", "text-sentiment"),
    )
    view = world.dataset(ROWS)
    request = TrainRequest(epochs=2, params={"withGlobalDatasetId": shared.dataset.dataset_id})

    model = world.model(view, request)

    assert model.stats is not None
    assert (model.stats.labels, model.stats.examples) == (3, 21)
    metrics = world.container.models.metrics(model)
    assert metrics.data["labels"] == ["book", "cancel", "weather"]
    assert [label.name for label in world.get(view).labels] == ["book", "cancel"]
    for global_id in (other.dataset.dataset_id, view.dataset.dataset_id, 1):
        with pytest.raises(InvalidParameter, match="not a global dataset of type text-intent"):
            world.train(view, TrainRequest(params={"withGlobalDatasetId": global_id}))
    globals_shown = world.container.datasets.list_global(LANGUAGE, 0, 25).items
    assert [shared.dataset.dataset_id, other.dataset.dataset_id] == [
        shown.dataset.dataset_id for shown in globals_shown
    ]
    assert len(world.container.datasets.list(world.account.account_id, LANGUAGE, 0, 25).items) == 1


def test_retraining_keeps_the_id(world: World) -> None:
    """A retraining is a new run of the same model with its own request."""
    view = world.dataset(ROWS)
    model = world.model(view, TrainRequest(epochs=2, algorithm="multilingual-intent"))
    world.clock.advance(minutes=1)

    asked = world.container.training.retrain(world.account, model, TrainRequest(epochs=3))

    assert asked.model.model_id == model.model_id
    assert (asked.model.status, asked.model.progress, asked.model.run) == (QUEUED, 0, 2)
    assert asked.model.created_at == model.created_at
    assert asked.model.updated_at == world.clock()
    assert asked.model.request == TrainRequest(epochs=3, algorithm="multilingual-intent")
    assert (asked.queue_position, asked.model.stats) == (1, None)


def test_model_that_cannot_be_retrained(world: World) -> None:
    """A busy model, and one without its dataset, cannot be retrained; no guard remains."""
    view = world.dataset(ROWS)
    model = world.model(view)
    retrain = world.container.training.retrain
    retrain(world.account, model, TrainRequest())
    busy = world.container.models.get(model.account_id, model.model_id)
    with pytest.raises(ModelBusy, match="cannot be retrained while it is QUEUED"):
        retrain(world.account, busy, TrainRequest())
    # A call that had read the model before the other one.
    with pytest.raises(ModelBusy):
        retrain(world.account, model, TrainRequest())
    assert len(world.get(view).dataset.training) == 1
    world.work()
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        retrain(world.account, model, TrainRequest())
    world.work()
    with pytest.raises(BadRequest, match="was deleted"):
        retrain(world.account, model, TrainRequest())
    assert world.stores.accounts.training(world.account.account_id) == frozenset()


def test_model_being_deleted_is_not_retrained(world: World) -> None:
    """A retraining after the start of a DELETE is refused."""
    model = world.model(world.dataset(ROWS))
    world.container.deletions.delete_model(world.account, model.model_id)

    with pytest.raises(ModelBusy):
        world.container.training.retrain(world.account, model, TrainRequest())

    assert world.stores.accounts.training(world.account.account_id) == frozenset()


def test_messages_hold_ids_only(world: World) -> None:
    """Queue messages contain ids, no texts or names."""
    view = world.dataset(ROWS)
    world.train(view)
    world.container.datasets.create(world.account, LANGUAGE, NewDataset("n", "text-intent"))
    world.upload([("a secret text", "a secret label")])
    world.container.uploads.add(world.account, view, a_source([("another secret", "book")]))

    sent = "".join(encode_job(job) for _, job in world.messages())

    assert "secret" not in sent
    assert "book" not in sent


def test_failed_training_can_be_requested_again(world: World) -> None:
    """A FAILED model can be retrained, and then shows no failure."""
    view = world.dataset(ROWS)
    model = world.train(view).model
    taken = world.stores.model_leases.acquire(model.account_id, model.model_id, 1)
    assert taken is not None
    world.stores.model_leases.fail(taken, "no luck")
    failed = world.container.models.get(model.account_id, model.model_id)
    assert (failed.status, failed.failure) == (FAILED, "no luck")

    world.container.training.retrain(world.account, failed, TrainRequest(epochs=2))
    world.work()

    done = world.container.models.get(model.account_id, model.model_id)
    assert (done.status, done.failure, done.run) == (SUCCEEDED, "", 2)


def test_profile_that_is_not_installed(world: World, tmp_path: Path) -> None:
    """A profile that is not installed is a 409 with the install command; the default needs none."""
    view = world.dataset(ROWS)
    world.container.encoders._directory = tmp_path

    with pytest.raises(ProfileMissing) as refusal:
        world.train(view, TrainRequest(params={"profile": "accurate"}))

    assert refusal.value.message == (
        "The profile accurate needs the encoder mpnet, which is not installed. "
        "Run python -m infra.models install, or leave trainParams.profile out."
    )
    assert (refusal.value.status, refusal.value.code) == (409, "encoder_missing")
    request = TrainRequest(algorithm="multilingual-intent", params={"profile": "accurate"})
    with pytest.raises(ProfileMissing, match="encoder e5"):
        world.train(view, request)
    assert world.train(view, TrainRequest(params={"profile": "fast"})).model.status == QUEUED
    assert world.train(view).model.status == QUEUED


def test_retraining_checks_the_profile(world: World, tmp_path: Path) -> None:
    """A retraining with a missing profile is refused, and the model still predicts."""
    model = world.model(world.dataset(ROWS))
    world.container.encoders._directory = tmp_path

    with pytest.raises(ProfileMissing):
        world.container.training.retrain(
            world.account, model, TrainRequest(params={"profile": "accurate"})
        )

    assert world.container.models.get(model.account_id, model.model_id) == model
