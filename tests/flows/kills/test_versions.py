"""Processes are killed while the served version of a model changes."""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
from itertools import cycle
from typing import Any

import pytest

from chalicelib.stores.aws.objects import model_prefix
from chalicelib.stores.models.versions import ARTIFACT
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.killing import ROUNDS, kill, wait, wait_for_moment
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

TEXT = "a refund for the order"
SWITCHES = 5
"""Switches that are answered before a kill."""
KEPT = 10
"""Versions of a model that are stored at most, unless an older one is served."""


class Versions:
    """A model with two versions that answer differently, and its caller."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._dataset = int(client.dataset(csv_file(made_rows(24)))["id"])
        self.model = client.model(self._dataset)
        self._path = f"{LANGUAGE}/models/{self.model}/versions"
        self.begin_training(2)
        self.end_training()

    def begin_training(self, seed: int) -> None:
        """Add texts, so that the new version differs, and start a retraining."""
        path, file = f"{LANGUAGE}/datasets/{self._dataset}/upload", made_rows(6, seed=seed)
        added = self.client.multipart("PUT", path, {}, {"data": ("more.csv", csv_file(file))})
        assert added.status == 200, added.body
        self.client.wait_dataset(self._dataset)
        started = self.client.json("POST", f"{LANGUAGE}/retrain", {"modelId": self.model})
        assert started.status == 200, started.body

    def end_training(self) -> None:
        """Wait until the retraining has succeeded."""
        assert self.client.wait_model(self.model)["status"] == "SUCCEEDED"

    def listed(self) -> list[dict[str, Any]]:
        """Return the records of the versions, newest first."""
        return list(self.client.get(self._path).ok["data"])

    def serve(self, client: Client, number: int) -> bool:
        """Serve a version; return whether the call succeeded."""
        return client.send("PUT", f"{self._path}/{number}/serve").status == 200

    def check(self) -> int:
        """Check that all versions are intact and exactly one is served; return its number."""
        versions = self.listed()
        answers = {one["version"]: self._answer(modelVersion=one["version"]) for one in versions}
        for number in answers:
            card = self.client.get(f"{LANGUAGE}/models/{self.model}/card", modelVersion=number)
            assert card.status == 200, card.body
        [served] = [int(one["version"]) for one in versions if one["isServed"]]
        assert self._answer() == answers[served]
        assert len({str(answer) for answer in answers.values()}) == len(answers)
        return served

    def _answer(self, **fields: object) -> Any:
        return self.client.predict(self.model, TEXT, **fields).ok["probabilities"]


class Switcher:
    """A thread that serves two versions in turn until a call fails."""

    def __init__(self, versions: Versions) -> None:
        self.asked = self.answered = 0
        """Number of the version that was last asked for, and last served."""
        self.count = 0
        self._versions, self._client = versions, versions.client.clone()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until a call has failed."""
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        with self._client, contextlib.suppress(OSError, http.client.HTTPException):
            for self.asked in cycle((1, 2)):
                if not self._versions.serve(self._client, self.asked):
                    return
                self.answered = self.asked
                self.count += 1


@pytest.fixture(scope="module")
def versions(world: World) -> Versions:
    """A model that the tests of this file share."""
    return Versions(world.caller("GOLD", example_calls=1_000_000))


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_a_switch_that_is_killed_is_made_or_not(stack: LocalStack, versions: Versions) -> None:
    """After a kill the served version is that of the last answered or of the interrupted call."""
    chance = random.Random(12)
    for number in range(ROUNDS):
        switcher = Switcher(versions)
        wait(lambda one=switcher: one.count >= SWITCHES)
        wait_for_moment(lambda: True, chance, 0.0, 0.3)
        kill(stack, "front")
        switcher.join()
        wait(lambda: _is_up(versions.client))

        assert versions.check() in (switcher.asked, switcher.answered), number


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_a_killed_end_of_a_training_makes_one_version(
    stack: LocalStack, versions: Versions
) -> None:
    """A worker killed while it publishes leaves a served version; its retry adds exactly one."""
    chance, files = random.Random(13), stack.client("s3")
    prefix = model_prefix(versions.model)

    def artifacts() -> set[str]:
        found = files.list_objects_v2(Bucket=stack.settings.bucket, Prefix=prefix)
        return {one["Key"] for one in found["Contents"] if one["Key"].endswith(ARTIFACT)}

    for number in range(ROUNDS):
        before, newest = artifacts(), versions.listed()[0]["version"]
        served = versions.check()
        versions.begin_training(100 + number)
        # The row points to the version only after its artifact is there.
        wait_for_moment(lambda known=before: bool(artifacts() - known), chance, 0.0, 1.5)
        kill(stack, "train")
        assert versions.check() in (served, newest + 1), number
        versions.end_training()

        assert versions.check() == newest + 1, number
        numbers = [one["version"] for one in versions.listed()]
        assert numbers == list(range(newest + 1, newest + 1 - len(numbers), -1)), number
        assert len(numbers) == min(KEPT, newest + 1), number


def _is_up(client: Client) -> bool:
    try:
        return client.get("/v2/health").status == 200
    except (OSError, http.client.HTTPException):
        return False
