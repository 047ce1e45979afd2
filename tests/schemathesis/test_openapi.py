"""Generated calls: whatever the OpenAPI document allows or forbids, the answers are as it says.

`PRESAGE_FUZZ_CALLS=2000` sets the number of calls and `PRESAGE_FUZZ_SEED` what they are drawn from;
the same figures give the same calls.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from chalicelib.domain.common.repeats import KEY_HEADER
from tests.live import JWT_BEARER, SHOP, TIMEOUT_SECONDS, Caller, Live
from tests.schemathesis.album import SHAPES, SYNC, Album

CALLS = int(os.environ.get("PRESAGE_FUZZ_CALLS") or 300)
"""Calls in all, at least one of each operation in each mode."""
SEED = int(os.environ.get("PRESAGE_FUZZ_SEED") or 20260101)
"""What the calls are drawn from."""
NEGATIVE_SHARE = 0.2
"""Share of the calls that break the document on purpose."""
REAL_SHARE = 0.85
"""Share of the ids that exist."""
ALWAYS_REAL = ("epochs",)
"""Fields of picture trainings whose generated values would keep the workers busy for hours."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@dataclass
class World:
    """Real things that generated calls may name."""

    live: Live
    caller: Caller
    album: Album
    dataset: dict[str, Any]
    model_id: str
    deletion_id: str
    deleted_model: str
    exports: dict[str, str]
    """One of each family, made before generated calls have made as many as are allowed."""
    batches: dict[str, str] = field(default_factory=dict)
    """One of each family."""
    webhook_id: str = ""
    edited: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of each family a dataset whose examples are changed and deleted."""
    pick: random.Random = field(default_factory=lambda: random.Random(SEED))

    @property
    def labels(self) -> list[dict[str, Any]]:
        """Labels of the dataset."""
        return list(self.dataset["labelSummary"]["labels"])

    def is_real(self) -> bool:
        """Decide whether the next value is a real one."""
        return self.pick.random() < REAL_SHARE

    def written(self, number: object) -> object:
        """Write an id in one of the ways in which clients write whole numbers."""
        if not isinstance(number, int):
            return number
        ways = (number, number, str(number), float(number), f"{number}.0", f"{number}00e-2")
        return self.pick.choice(ways)

    def throw_away(self, family: str) -> int:
        """Make a dataset that may be deleted."""
        fields = {"name": "throw away"} | ({"type": "text-intent"} if family == "language" else {})
        return int(self.caller.json("POST", f"/v2/{family}/datasets", fields).ok()["id"])

    def examples(self, family: str) -> list[dict[str, Any]]:
        """List some examples that may be changed or deleted."""
        path = f"/v2/{family}/datasets/{self.edited[family]['id']}/browse"
        return list(self.caller.get(f"{path}?count=20").ok()["data"])

    def editable(self, family: str) -> int:
        """Name a dataset of examples that may be changed; a new one once all are deleted."""
        if family not in self.edited or not self.examples(family):
            self.edited[family] = (
                self.caller.upload(SHAPES, "image", "edited.zip", SYNC).ok()
                if family == "vision"
                else self.caller.upload(SHOP, name="edited.csv").ok()
            )
        return int(self.edited[family]["id"])

    def example(self, family: str) -> str:
        """Name an example of the dataset that `editable` names."""
        self.editable(family)
        return str(self.pick.choice(self.examples(family))["id"])

    def of(self, family: str) -> dict[str, Any]:
        """Return the dataset of a family that has models."""
        return self.album.shapes if family == "vision" else self.dataset

    def batch(self, family: str) -> str:
        """Begin a batch that may be cancelled."""
        model = self.album.classifier if family == "vision" else self.model_id
        fields = {"modelId": model, "datasetId": self.of(family)["id"]}
        return str(self.caller.json("POST", f"/v2/{family}/batches", fields).ok()["id"])

    def webhook(self) -> str:
        """Make a webhook that may be deleted, unless generated calls have left some."""
        for found in self.caller.get("/v2/webhooks").ok()["data"]:
            if found["id"] != self.webhook_id:
                return str(found["id"])
        fields = {"url": _hook_url(self.live), "events": ["batch.done"]}
        return str(self.caller.json("POST", "/v2/webhooks", fields).ok()["id"])

    def key(self) -> str:
        """Make an API key that may be revoked, unless generated calls have left some."""
        for found in self.caller.get("/v2/keys").ok()["data"]:
            return str(found["id"])
        return str(self.caller.json("POST", "/v2/keys", {"name": "k"}).ok()["id"])

    def refresh_token(self) -> str:
        """Obtain a refresh token that may be revoked."""
        assertion = self.live.assertion(sub="fuzz@example.test")
        answer = self.live.grant(grant_type=JWT_BEARER, assertion=assertion, scope="offline")
        return str(answer.ok()["refresh_token"])


@dataclass
class Tally:
    """What became of the calls."""

    statuses: Counter[int] = field(default_factory=Counter)
    successes: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, label: str, status: int) -> None:
        """Count one answer."""
        self.statuses[status] += 1
        self.calls[label] += 1
        self.successes[label] += 200 <= status < 300

    @property
    def total(self) -> int:
        """Calls in all."""
        return sum(self.calls.values())

    @property
    def success_share(self) -> float:
        """Share of answers of 2xx."""
        return sum(self.successes.values()) / self.total

    def __str__(self) -> str:
        """One line with the figures."""
        errors = sum(count for status, count in self.statuses.items() if status >= 500)
        return (
            f"{self.total} calls, {self.success_share:.1%} answered 2xx, {errors} server errors, "
            f"{len(self.failures)} non-conforming; {dict(sorted(self.statuses.items()))}"
        )


@pytest.fixture(scope="module")
def world(live: Live) -> World:
    """A separate account with a dataset, a model, and deletions that are over."""
    caller = live.caller("fuzz")
    album = Album.of(live, caller)
    dataset = caller.upload(SHOP, name="fuzz.csv").ok()
    first, second = (caller.train(dataset["id"]).ok()["modelId"] for _ in range(2))
    assert caller.trained(first)["status"] == "SUCCEEDED"
    assert caller.trained(second)["status"] == "SUCCEEDED"
    deletion = caller.delete_and_wait(f"/v2/language/models/{second}")
    exports = {
        family: caller.json("POST", f"/v2/{family}/datasets/{made['id']}/exports", fields).ok()[
            "id"
        ]
        for family, made, fields in (
            ("language", dataset, {"format": "csv"}),
            ("vision", album.shapes, {"format": "zip"}),
        )
    }
    made = World(live, caller, album, dataset, first, deletion["id"], second, exports)
    made.batches = {family: made.batch(family) for family in exports}
    made.webhook_id = made.webhook()
    return made


def _hook_url(live: Live) -> str:
    """Return an address to which the stack may send events."""
    return live.tricks.url("/honest.csv")


def path_values(world: World, method: str, path: str) -> dict[str, Callable[[], object]]:
    """Return how to get a real value of each variable of a path."""
    family = "vision" if "/vision/" in path else "language"
    if "{webhook_id}" in path and method != "DELETE":
        return {"webhook_id": lambda: world.webhook_id}
    if "{example_id}" in path:
        return {
            "dataset_id": lambda: world.editable(family),
            "example_id": lambda: world.example(family),
        }
    if method == "DELETE":
        return {
            "dataset_id": lambda: world.throw_away(family),
            "model_id": lambda: world.deleted_model,
            "token": world.refresh_token,
            "batch_id": lambda: world.batch(family),
            "webhook_id": world.webhook,
            "key_id": world.key,
        }
    if family == "vision":
        return world.album.path_values(path) | {
            "deletion_id": lambda: world.deletion_id,
            "export_id": lambda: world.exports[family],
            "batch_id": lambda: world.batches[family],
        }
    return {
        "batch_id": lambda: world.batches[family],
        "export_id": lambda: world.exports[family],
        "dataset_id": lambda: world.dataset["id"],
        "label_id": lambda: world.pick.choice(world.labels)["id"],
        "model_id": lambda: world.model_id,
        "deletion_id": lambda: world.deletion_id,
    }


def body_values(world: World, path: str) -> dict[str, Callable[[], object]]:
    """Return how to get a real value of the fields that must name something."""
    pick = world.pick
    if "/vision/" in path:
        return world.album.body_values(path)
    return {
        "modelId": lambda: world.model_id,
        "datasetId": lambda: world.dataset["id"],
        "labelId": lambda: pick.choice(world.labels)["id"],
        "expectedLabel": lambda: pick.choice(world.labels)["name"],
        "path": lambda: world.live.tricks.url("/honest.csv"),
        "data": lambda: SHOP,
        "grant_type": lambda: pick.choice([JWT_BEARER, "refresh_token"]),
        "assertion": lambda: world.live.assertion(sub="fuzz@example.test"),
        "refresh_token": world.refresh_token,
        "url": lambda: _hook_url(world.live),
    }


def make_real(world: World, case: Case) -> None:
    """Put real ids and files into most of a generated case."""
    found = path_values(world, case.method, case.path)
    for name in case.path_parameters or {}:
        if name in found and world.is_real():
            case.path_parameters[name] = str(world.written(found[name]()))
    renew_key(world, case)
    query = case.query or {}
    is_vision = "/vision/" in case.path
    if "labelId" in query and world.is_real():
        labels = world.album.labels if is_vision else world.labels
        case.query["labelId"] = world.written(world.pick.choice(labels)["id"])
    if "suspectsOf" in query and world.is_real():
        case.query["suspectsOf"] = world.album.classifier if is_vision else world.model_id
    if isinstance(case.body, dict):
        values = body_values(world, case.path)
        for name in case.body:
            if name in values and ((is_vision and name in ALWAYS_REAL) or world.is_real()):
                case.body[name] = world.written(values[name]())


def renew_key(world: World, case: Case) -> None:
    """Put a unique key into most calls: generated ones came with other calls before."""
    if KEY_HEADER in (case.headers or {}) and world.is_real():
        case.headers[KEY_HEADER] = f"{world.pick.getrandbits(64):x}"


def generated(operation: Any, mode: GenerationMode, count: int) -> list[Case]:
    """Generate cases of one operation, the same at every run; none where nothing can be wrong."""
    cases: list[Case] = []
    if not count:
        return cases

    @seed(SEED)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def collect(case: Case) -> None:
        cases.append(case)

    with contextlib.suppress(Unsatisfiable):
        collect()
    return cases[:count]


def is_head(operation: Any) -> bool:
    """Return whether an operation has the method HEAD."""
    return str(operation.method).upper() == "HEAD"


def send(world: World, case: Case, tally: Tally) -> None:
    """Send one case and check its answer against the document."""
    headers = {"Authorization": f"Bearer {world.caller.token}"}
    response = case.call(base_url=world.caller.url, headers=headers, timeout=TIMEOUT_SECONDS)
    tally.add(case.operation.label, response.status_code)
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as group:
        text = "; ".join(str(failure)[:300] for failure in group.exceptions)
        tally.failures[f"{case.operation.label} {response.status_code}"] = (
            f"{text} | {case.as_curl_command()[:400]} | {response.content[:300]!r}"
        )


@pytest.mark.timeout(1800)
def test_every_answer_is_as_the_document_says(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """No server error, nothing outside the document, and at least 40 % of successes."""
    document = world.caller.get("/v2/openapi.json").ok()
    schema = schemathesis.openapi.from_dict(document)
    operations = [result.ok() for result in schema.get_all_operations()]
    # Those without anything to vary have one case only; the others make up for them.
    operations.sort(key=lambda operation: bool(list(operation.iter_parameters()) or operation.body))
    tally = Tally()

    for number, operation in enumerate(operations):
        share = max(2, round((CALLS - tally.total) / (len(operations) - number)))
        # HEAD refuses what GET refuses, so wrong calls are left to GET.
        negative = 0 if is_head(operation) else max(1, round(share * NEGATIVE_SHARE))
        wrong = list(generated(operation, GenerationMode.NEGATIVE, negative))
        right = list(generated(operation, GenerationMode.POSITIVE, share - len(wrong)))
        for case in right:
            make_real(world, case)
            send(world, case, tally)
        for case in wrong:
            send(world, case, tally)

    with capsys.disabled():
        sys.stdout.write(f"\n{tally}\n")
    never = sorted(label for label in tally.calls if not tally.successes[label])
    assert not tally.failures, "\n".join(f"{k}: {v}" for k, v in tally.failures.items())
    assert tally.success_share >= 0.4, (tally, never)
    assert tally.total >= CALLS, tally
