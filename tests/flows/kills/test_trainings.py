"""Workers are killed during a training whose parts are distributed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chalicelib.stores.aws.objects import dataset_prefix
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import ENVIRONMENT, a_caller
from tests.flows.kills.killing import IS_LONG, ROUNDS, kill, wait
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack

TEXTS, PARTS = (300, 27) if IS_LONG else (100, 9)
"""Parts of these texts: 15 words and 5 more each, 30 ms a word, 5 seconds a part."""
SECONDS = 180.0
"""Longest wait for a part, or for a training."""


@pytest.fixture
def spread(closed_network: None) -> Iterator[LocalStack]:
    """A stack that distributes even small trainings and soon notices a lost worker."""
    environment = {**ENVIRONMENT, "PRESAGE_VISIBILITY_SECONDS": "2"}
    app = "tests.flows.kills.spread_app:app"
    with LocalStack(app, environment=environment) as running:
        yield running


@pytest.fixture
def caller(spread: LocalStack, tmp_path: Path) -> Iterator[Client]:
    """A caller of that stack."""
    with a_caller(spread, tmp_path) as made:
        yield made


class Trainings:
    """Trainings of one dataset, each of which must compute all vectors again."""

    def __init__(self, stack: LocalStack, client: Client) -> None:
        self._client = client
        # One client for all reads: creating one takes longer than a part.
        self._s3, self._bucket = stack.client("s3"), stack.settings.bucket
        self.dataset_id = int(client.dataset(csv_file(made_rows(TEXTS)))["id"])
        self._wait(lambda: not self._keys("parts/"))

    def begin(self) -> str:
        """Delete the vectors, start a training, wait until it has sent parts; return its id."""
        for key in self._keys("embeddings/"):
            self._s3.delete_object(Bucket=self._bucket, Key=key)
        model_id = str(self._client.train(self.dataset_id)["modelId"])
        self._wait(lambda: self.left() > 0)
        return model_id

    def left(self) -> int:
        """Count the unfinished parts."""
        return sum(Path(key).stem.isdigit() for key in self._keys("runs/"))

    def wait_for_less(self) -> int:
        """Wait until another part is finished; return the count of the remaining ones."""
        before = self.left()
        self._wait(lambda: self.left() < max(1, before))
        return self.left()

    def end(self, model_id: str) -> tuple[str, int]:
        """Wait until a training has succeeded; return its digest and its number of vector files.

        A part that is done again writes the same object.
        """
        ended = self._client.wait_model(model_id, SECONDS)
        assert (ended["status"], ended["progress"]) == ("SUCCEEDED", 1), ended
        self._wait(lambda: not self._keys("runs/"))
        card = self._client.get(f"{LANGUAGE}/models/{model_id}/card").ok
        return str(card["artifactSha256"]), len(self._keys("embeddings/"))

    def _keys(self, folder: str) -> list[str]:
        """List a folder of the dataset."""
        prefix = f"{dataset_prefix(self.dataset_id)}{folder}"
        page = self._s3.list_objects_v2(Bucket=self._bucket, Prefix=prefix)
        return [found["Key"] for found in page.get("Contents", ())]

    def _wait(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        wait(holds, SECONDS)


@pytest.mark.timeout(600 + 60 * ROUNDS)
def test_a_training_whose_parts_are_killed_is_the_same(spread: LocalStack, caller: Client) -> None:
    """Killed while sending, running or after its parts, a training ends once with equal bytes."""
    chance, trainings, kills = random.Random(22), Trainings(spread, caller), 0
    asked = [trainings.begin()]
    digest, parts = trainings.end(asked[0])
    assert 1 < parts <= PARTS
    while kills < ROUNDS:
        asked.append(trainings.begin())
        time.sleep(chance.uniform(0.0, 0.3))
        kill(spread, "train")
        while trainings.wait_for_less():
            if kills < ROUNDS:
                time.sleep(chance.uniform(0.0, 0.1))
                kill(spread, "ingest")
                kills += 1
        kill(spread, "train")
        # A training that waits for its parts in vain does the rest itself, in fewer writes.
        assert trainings.end(asked[-1])[0] == digest

    models = caller.items(f"{LANGUAGE}/datasets/{trainings.dataset_id}/models")
    assert sorted(model["modelId"] for model in models) == sorted(asked)
