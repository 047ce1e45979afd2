"""Text trainings too long for one function, or too large for memory."""

from __future__ import annotations

import itertools
import json

import pytest

from chalicelib.domain.models.model import FAILED, RUNNING, SUCCEEDED, TrainRequest
from chalicelib.domain.models.suspects import SuspectExample, read_suspects
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.engines.text import cost
from chalicelib.engines.text import training as run
from chalicelib.services.training import text_learner
from chalicelib.stores.datasets.training_examples import TrainingExamples
from chalicelib.stores.models.versions import CARD, SUSPECTS
from tests.builders import TinyEncoder, World, some_rows

ROWS = some_rows({"book": 70, "cancel": 70})


def test_a_long_fit_is_left_to_the_next_function(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the vectors used up a function's time, the next one trains with them."""
    monkeypatch.setattr(run, "expected_seconds", lambda examples, dims, labels: 500.0)
    view, _ = world.unembedded(ROWS)
    model_id = world.train(view).model.model_id
    [first] = world.messages()
    encoder = world.container.encoders.get("bge")
    assert isinstance(encoder, TinyEncoder)

    world.deliver(first, lambda: 400.0)

    halfway = world.container.models.get(world.account.account_id, model_id)
    phrases = 2
    assert (halfway.status, halfway.version) == (RUNNING, "")
    assert encoder.texts == len(ROWS) + phrases
    [second] = world.messages()
    world.deliver(second, lambda: 400.0)
    model = world.container.models.get(world.account.account_id, model_id)
    assert (model.status, model.attempts) == (SUCCEEDED, 1)
    assert encoder.texts == len(ROWS) + 2 * phrases


def test_lost_labels_end_the_training_with_the_cause(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If labels are gone at the start of a training, the failure names the dataset."""
    view, _ = world.unembedded(ROWS)
    model_id = world.train(view).model.model_id
    [training] = world.messages()
    # As after a repair of damaged data, when the rows of all labels were lost.
    monkeypatch.setattr(TrainingExamples, "read", lambda *_: TrainingTexts())

    world.deliver(training, lambda: 800.0)

    model = world.container.models.get(world.account.account_id, model_id)
    assert model.status == FAILED
    assert f"Dataset {view.dataset.dataset_id} has no labels left" in model.failure


def test_slow_steps_need_more_time_in_reserve(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a step takes five minutes, no step starts with five minutes left."""
    view, _ = world.unembedded(ROWS)
    model_id = world.train(view).model.model_id
    [training] = world.messages()
    clock = itertools.count(0.0, 300.0)
    monkeypatch.setattr(text_learner, "monotonic", lambda: next(clock))

    world.deliver(training, lambda: 350.0)

    assert world.container.models.get(world.account.account_id, model_id).status == RUNNING
    [again] = world.messages()
    assert again == training


def test_too_many_texts_are_sampled(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset too large for memory is sampled, and the card says so."""
    monkeypatch.setattr(cost, "LEAST_EXAMPLES", 1)
    monkeypatch.setattr(cost, "MOST_NUMBERS", 16 * 120)

    model = world.model(world.dataset(ROWS))

    assert (model.status, model.stats and model.stats.examples) == (SUCCEEDED, 120)
    card = world.container.models.card(model.account_id, model.model_id)
    assert card["trainedOn"]["examples"] == 120
    assert "The dataset has 140 texts" in card["limits"]


def test_the_card_reports_on_the_data_until_it_is_deleted(world: World) -> None:
    """The card lists contradictory labels with texts, which are deleted with the dataset."""
    twice = [("please do that at once", label) for label in ("book", "cancel")]
    view = world.dataset(some_rows({"book": 20, "cancel": 20}) + twice)
    model = world.model(view)
    key = f"models/{model.model_id}/{model.version}/{CARD}"

    card = world.stores.artifacts.get_json(key)
    assert isinstance(card, dict)
    [pair] = [p for p in card["dataReport"]["conflictingNearDuplicates"] if p["similarity"] == 1]
    assert sorted((one["text"], one["label"]) for one in pair["examples"]) == twice
    row = view.dataset
    world.container.deletions.delete_dataset(world.account, row.family, row.dataset_id)
    world.work()

    assert "at once" not in json.dumps(world.stores.artifacts.get_json(key))


def test_suspects_are_kept_with_the_version_until_the_data_is_deleted(world: World) -> None:
    """The full list of suspects is stored with ids next to the card, and deleted with the data."""
    words = {"book": "reserve room night stay arrive", "cancel": "annul refund call off undo"}
    rows = [
        (" ".join(three), label)
        for label, own in words.items()
        for three in itertools.permutations(own.split(), 3)
    ]
    flipped = [(text, "cancel" if label == "book" else "book") for text, label in rows[:3]]
    view = world.dataset(flipped + rows[3:])
    model = world.model(view)
    row, labels = view.dataset, {label.name: label.label_id for label in view.labels}

    def kept() -> tuple[SuspectExample, ...]:
        return read_suspects(
            world.stores.model_files.document(model.model_id, model.version, SUSPECTS)
        )

    card = world.container.models.card(model.account_id, model.model_id)
    listed = card["dataReport"]["likelyLabelErrors"]
    assert [one.example_id for one in kept()] == [one["id"] for one in listed] != []
    for one in kept():
        assert (labels[one.label], labels[one.suggestion]) == (one.label_id, one.suggestion_id)
    evaluated = world.stores.model_files.evaluation(model)
    assert len(evaluated.examples) == len({one.example_id for one in evaluated.examples})
    mistakes = {one.example_id for one in evaluated.examples if not one.is_right}
    assert {one.example_id for one in kept()} <= mistakes
    world.container.deletions.delete_dataset(world.account, row.family, row.dataset_id)
    world.work()

    assert kept() == ()
    assert world.stores.model_files.evaluation(model).examples == ()


SCRIPTS = [
    "ok",
    "где мой заказ",
    "返品したい",
    "我的包裹",
    "أين طلبي",
    "🙂" * 9,
    "e\u0301" * 300,
    "a" * 20_000,
]
AWKWARD = {
    "labels that are numbers": some_rows({"1": 9, "2": 9, "007": 9}),
    "every script and size": [
        (f"{text} {number}"[-20_000:], f"étiquette {number % 2}")
        for number in range(10)
        for text in SCRIPTS
    ],
    "a label of 99 %": some_rows({"all": 495, "rare": 5}),
    "every text under both labels": [
        (f"contradiction {number}", label) for number in range(12) for label in ("yes", "no")
    ],
    "texts with one vector": [
        (" ".join(["same"] * (number + 1)), "odd" if number % 2 else "even") for number in range(12)
    ],
    "labels that are empty after trimming": [
        *some_rows({"left": 8, "right": 8}),
        ("a text without a label", "   "),
        ("another", ""),
    ],
    "a hundred labels of five": some_rows({f"topic {number}": 5 for number in range(100)}),
}


@pytest.mark.parametrize("rows", AWKWARD.values(), ids=AWKWARD)
@pytest.mark.parametrize("algorithm", ["intent", "multilingual-intent-ood"])
def test_awkward_data_still_trains(
    world: World, rows: list[tuple[str, str]], algorithm: str
) -> None:
    """Any accepted data trains: finite figures, a bounded report, every label."""
    view = world.dataset(rows)
    kept = {label for _, label in rows if label.strip()}

    model = world.model(view, TrainRequest(epochs=3, algorithm=algorithm))

    assert (model.status, model.failure) == (SUCCEEDED, "")
    metrics = world.container.models.metrics(model).data
    card = world.container.models.card(model.account_id, model.model_id)
    json.dumps([metrics, card], allow_nan=False)
    assert set(metrics["labels"]) == kept
    assert len(metrics["confusionMatrix"]) == len(kept) + (algorithm != "intent")
    assert all(len(part) <= 100 for part in card["dataReport"].values() if isinstance(part, list))
    assert ("rejectedInDomain" in card["metrics"]) == (algorithm != "intent")
    answers = world.answer(model.model_id, "\u00ad")
    assert {answer.label for answer in answers} in (kept, set())
