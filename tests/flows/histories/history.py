"""A random history of calls of two accounts, and a third that must see none of their data."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from tests.flows.client import LANGUAGE
from tests.flows.histories import correction_operations as corrections
from tests.flows.histories import data_operations as data
from tests.flows.histories import list_operations as lists
from tests.flows.histories import model_operations as models
from tests.flows.histories import other_operations as others
from tests.flows.histories import version_operations as versions
from tests.flows.histories.actor import SHOWN_OPERATIONS, Actor, Divergence, expect, get
from tests.flows.histories.comparisons import deletion_end
from tests.flows.histories.specification import SOURCES, Dataset, TrainedModel
from tests.flows.world import World

MOST_DATASETS = 14
MOST_MODELS = 8
SMALL_ALLOWANCE = 2_000
OF_DATASETS: dict[Callable[[Actor, Dataset], None], float] = {
    data.put_file: 6,
    data.add_example: 16,
    data.read_dataset: 8,
    data.list_examples: 8,
    data.list_label: 6,
    data.browse: 5,
    data.read_receipts: 4,
    data.delete_dataset: 1.5,
    models.list_models: 4,
    corrections.rename_dataset: 1.5,
    corrections.rename_label: 4,
    corrections.merge_label: 1.5,
    corrections.remove_label: 0.8,
    corrections.change_example: 6,
    corrections.remove_example: 3,
    corrections.correct: 4,
    corrections.correct_from_report: 2,
    corrections.lose_correction: 0.7,
    lists.export: 1.5,
    others.lose_put: 0.6,
    others.lose_example: 1.5,
    others.lose_training: 0.3,
    others.lose_deletion: 0.4,
    others.break_off: 0.7,
    others.burst_of_examples: 1,
}
OF_MODELS: dict[Callable[[Actor, TrainedModel], None], float] = {
    models.retrain: 1,
    models.read_training: 6,
    models.read_metrics: 2,
    models.add_feedback: 8,
    models.predict: 18,
    models.delete_model: 1,
}
OF_VERSIONS: dict[Callable[[Actor, TrainedModel], None], float] = {
    versions.list_versions: 3,
    versions.serve_version: 6,
    versions.delete_version: 1.5,
    versions.predict_version: 4,
    versions.compare_versions: 2,
    versions.adjust: 6,
    versions.export_model: 0.7,
}
OF_ACCOUNTS: dict[Callable[[Actor], None], float] = {
    data.create_by_hand: 1.5,
    data.upload: 4,
    data.list_datasets: 6,
    data.read_deletion: 3,
    lists.filter_datasets: 2,
    lists.filter_models: 2,
    lists.delete_failed: 0.5,
    models.predict_prebuilt: 4,
    models.read_usage: 4,
    others.ask_tokens: 2,
    others.lose_new_dataset: 0.7,
    others.lose_prediction: 0.4,
    others.lose_retraining: 0.3,
    others.burst_of_predictions: 0.7,
    versions.import_model: 0.7,
}
OF_TWO: dict[Callable[[Actor, Actor], None], float] = {
    others.ask_for_anothers: 5,
    others.revoke_token: 1,
}
TRAIN_WEIGHT = 3.0


class History:
    """Runs random operations and compares every answer with the model of the specification.

    Args:
        world: makes the accounts.
        seed: gives the same operations again, as far as the background keeps its pace.
        operations: how many; what is polled is not counted.
    """

    def __init__(self, world: World, seed: int, operations: int) -> None:
        self.seed, self.operations = seed, operations
        self.random = random.Random(seed)
        self.done = 0
        self._journal: deque[list[str]] = deque(maxlen=SHOWN_OPERATIONS)
        self.rich = self._actor(world, "rich", "GOLD", 1_000_000, 100_000)
        self.poor = self._actor(world, "poor", "STARTER", SMALL_ALLOWANCE, 60)
        self.third = self._actor(world, "third", "STARTER", SMALL_ALLOWANCE, 30)
        self.poor.used = SMALL_ALLOWANCE - max(10, operations // 5)
        world.set_used(self.poor.client, self.poor.used)
        self._works = {
            **OF_DATASETS,
            **OF_MODELS,
            **OF_VERSIONS,
            **OF_ACCOUNTS,
            **OF_TWO,
            models.train: TRAIN_WEIGHT,
        }

    def _actor(self, world: World, name: str, plan: str, most: int, examples: int) -> Actor:
        """Create an account."""
        client = world.caller(plan, example_calls=examples)
        made = Actor(name, world, client, self.random, self._journal, plan, most, examples)
        made.tokens.append(str(client.token))
        return made

    @property
    def calls(self) -> int:
        """The number of calls, polls excluded."""
        return sum(actor.calls for actor in (self.rich, self.poor, self.third))

    @property
    def refusals(self) -> int:
        """The number of calls that a busy machine refused."""
        return sum(actor.refusals for actor in (self.rich, self.poor, self.third))

    def run(self) -> None:
        """Make all operations, then compare all there is.

        Raises:
            Divergence: the service and the specification differ; the text describes when and how.
        """
        try:
            while self.done < self.operations:
                self._step()
                # A step that had nothing to call about does not count as an operation.
                self.done += len(self._journal[-1]) > 1
            self._journal.append(["the end"])
            for actor in (self.rich, self.poor):
                _compare_all(actor)
            expect("what the third sees", [], self.third.client.items(f"{LANGUAGE}/datasets"))
            models.read_usage(self.third)
        except Exception as error:
            raise Divergence(self._report(error)) from error

    def _step(self) -> None:
        """Run one operation."""
        actor, other = self.rich, self.poor
        if self.random.random() < 0.35:
            actor, other = other, actor
        work = self.random.choices([*self._works], [*self._works.values()])[0]
        self._journal.append([f"{self.done + 1}: {actor.name} {work.__name__}"])
        dataset, model = data.pick_dataset(actor), models.pick_model(actor)
        if work in OF_VERSIONS:
            model = versions.pick_versioned(actor) or model
            work = work if model else models.train
        if work in OF_ACCOUNTS:
            work(actor)
        elif work in OF_TWO:
            caller = self.third if self.random.random() < 0.3 else actor
            work(caller, other)
        elif work is models.train:
            trainable = models.pick_trainable(actor)
            data.upload(actor) if trainable is None else models.train(actor, trainable)
        elif work in OF_MODELS or work in OF_VERSIONS:
            work(actor, model) if model else models.predict_prebuilt(actor)
        else:
            work(actor, dataset) if dataset else data.upload(actor)
        self._clear_away(actor)

    def _clear_away(self, actor: Actor) -> None:
        """Delete the oldest objects, so that the account has few."""
        datasets = [one for one in actor.datasets if not one.deletion_id]
        if len(datasets) > MOST_DATASETS:
            data.delete_dataset(actor, datasets[0])
        trained = [one for one in actor.models if not one.deletion_id]
        if len(trained) > MOST_MODELS:
            models.delete_model(actor, trained[0])

    def _report(self, error: Exception) -> str:
        """Describe how to repeat the run."""
        last = "\n".join("\n    ".join(calls) for calls in self._journal)
        return (
            f"PRESAGE_HISTORY_SEED={self.seed} PRESAGE_HISTORY_OPERATIONS={self.operations}, "
            f"operation {self.done + 1}\n{last}\n{type(error).__name__}: {error}"
        )


def _compare_all(actor: Actor) -> None:
    """Wait until no work is open, then compare everything in the account."""
    for dataset in actor.datasets:
        others.wait_dataset(actor, dataset)
    for model in actor.models:
        models.wait_training(actor, model)
    for dataset in actor.datasets:
        if dataset.deletion_id:
            path = f"{LANGUAGE}/deletion/{dataset.deletion_id}"
            end = deletion_end(dataset)
            actor.settled(path, lambda record, end=end: record["status"] == end)
            dataset.is_gone = True
        data.read_dataset(actor, dataset)
        models.list_models(actor, dataset)
        if not dataset.deletion_id:
            data.read_receipts(actor, dataset)
            _compare_examples(actor, dataset)
    for model in actor.models:
        models.read_training(actor, model)
        models.read_metrics(actor, model)
        versions.list_versions(actor, model)
    data.list_datasets(actor)
    models.read_usage(actor)


def _compare_examples(actor: Actor, dataset: Dataset) -> None:
    """Compare every example of a dataset, unless the monthly example calls are used up."""
    items = dataset.listing(SOURCES)
    for offset in range(0, max(1, len(items)), 100):
        request = get(f"{LANGUAGE}/datasets/{dataset.id}/examples", source="all", offset=offset)
        for records in data.read_examples(actor, dataset, request):
            data.see_page(dataset, items[offset : offset + 100], records)
