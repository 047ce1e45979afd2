"""The client behaves as documented against the whole service."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

import pytest
from presage import (
    AsyncPresage,
    AuthenticationError,
    JobFailedError,
    NotFoundError,
    Presage,
    RateLimitError,
    WaitTimeoutError,
)
from presage._async import uploads as async_uploads

from tests.flows.pictures import folders_zip
from tests.flows.presage_client import WEATHER
from tests.flows.presage_client.bad_network import answered, dropped


@pytest.fixture(scope="module")
def weather_model_id(world, account):
    """A model that several tests use."""
    with Presage(world.stack.url, *account) as client:
        data = client.language.datasets.upload(WEATHER, type="text-intent", progress=False)
        return data.train("weather").wait(progress=False).model_id


def test_from_a_file_to_a_prediction(presage):
    """Upload, wait, train, wait, predict: each step returns what the next one needs."""
    data = presage.language.datasets.upload(WEATHER, type="text-intent", name="weather")
    assert (data.total_examples, data.num_of_duplicates, len(data.labels)) == (73, 1, 3)
    model = data.train("weather", profile="fast").wait(timeout=60)
    found = model.predict("Will it rain today?")
    assert found.label in {label.name for label in data.labels}
    assert found.probability == found.probabilities[0].probability
    assert model.metrics().metrics_data["labels"]
    assert model.card().trained_on
    assert len(model.curve().list()) == model.epochs
    assert [item.model_id for item in data.models()] == [model.model_id]
    assert model.retrain(epochs=3).wait(timeout=60).model_id == model.model_id
    added = presage.language.feedback.add(model.model_id, "Is it icy?", data.labels[0].name)
    assert added.label.id == data.labels[0].id
    assert presage.language.examples.list_label(data.id, data.labels[0].id).first().object
    assert data.receipts().first().seen == 74
    assert model.delete().type == "MODEL"
    assert presage.deletion(data.delete().id).deleted_object_id == str(data.id)


def test_pictures_are_a_family_of_their_own(presage, tmp_path):
    """Images go from an archive to a prediction with the same methods."""
    archive = tmp_path / "shapes.zip"
    archive.write_bytes(folders_zip())
    data = presage.vision.datasets.upload(archive, type="image", name="shapes", timeout=60)
    assert data.total_labels == 2
    created = presage.vision.datasets.create("empty", labels=["a", "b"], type="image")
    assert [label.name for label in created.labels] == ["a", "b"]
    ids = [item.id for item in presage.vision.datasets.list()]
    assert {data.id, created.id} <= set(ids)
    assert ids == sorted(ids)


def test_asynchronous_client_does_the_same(world, account):
    """The asynchronous client has the same methods, awaited."""

    async def story() -> None:
        async with AsyncPresage(world.stack.url, *account) as client:
            data = await client.language.datasets.upload(WEATHER, type="text-intent")
            model = await (await data.train("weather")).wait(timeout=60)
            assert (await model.predict("Is it hot?")).label
            assert [item.model_id async for item in data.models()] == [model.model_id]
            assert data.id in [item.id async for item in client.language.datasets.list()]

    asyncio.run(story())


def test_files_too_large_for_a_call_go_into_the_bucket(presage, tmp_path, monkeypatch):
    """A large file is sent to the bucket with a form, and gives the same dataset."""
    monkeypatch.setattr("presage._sync.uploads.LARGEST_IN_CALL", 100)
    data = presage.language.datasets.upload(WEATHER, type="text-intent", progress=False)
    assert data.total_examples == 73
    assert async_uploads.LARGEST_IN_CALL == 4_000_000


def test_refusals_are_errors_of_their_status(presage, weather_model_id):
    """An error of the service raises an exception with status, code and message."""
    with pytest.raises(NotFoundError) as caught:
        presage.language.datasets.get(1)
    assert (caught.value.status, caught.value.code) == (404, "dataset_not_found")
    with pytest.raises(JobFailedError, match="label"):
        presage.language.datasets.upload(b"only one column\n", type="text-intent")
    with pytest.raises(WaitTimeoutError):
        presage.language.models.retrain(weather_model_id).wait(timeout=0)


def test_wrong_keys_and_wrong_clocks_are_reported(world, account, monkeypatch):
    """An unknown account raises AuthenticationError; a wrong clock is named in the message."""
    with Presage(world.stack.url, "unknown@flows.example", account[1]) as client:
        with pytest.raises(AuthenticationError):
            client.usage()
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() - 7200)
        with pytest.raises(AuthenticationError, match=r"clock is 7[12]\d\d seconds behind"):
            client.usage()


def test_tokens_are_renewed_when_they_end(presage):
    """An expired token is replaced automatically in the middle of the work."""
    presage.usage()
    presage.transport.credentials.token = "ended"
    assert presage.language.datasets.upload(WEATHER, type="text-intent").total_examples == 73
    presage.transport.credentials.valid_until = 0.0
    assert presage.usage().object == "apiusage"


def test_reads_are_repeated_on_a_network_that_drops(far, network):
    """A read without an answer is repeated."""
    network.faults = [dropped, dropped]
    assert far.usage().object == "apiusage"
    assert network.calls == ["GET /v2/apiusage"] * 3


def test_changes_are_made_once_when_their_answer_is_lost(far, network):
    """A change whose answer is lost is repeated with the same key, so there is one dataset."""
    network.faults = [dropped]
    made = far.language.datasets.create("once?", labels=["a"], type="text-intent")
    assert len(network.calls) == 2
    assert [one.id for one in far.language.datasets.list(name="once?")] == [made.id]


def test_pauses_that_the_service_asks_for_are_kept(far, network):
    """A 429 or 503 with Retry-After is repeated after that time, also for changes."""
    slow = answered(429, b'{"message": "slow", "code": "rate_exceeded"}', Retry_After="0.3")
    busy = answered(503, b'{"message": "busy", "code": "machine_busy"}', Retry_After="0.3")
    network.faults = [slow, busy]
    begun = time.monotonic()
    assert far.language.datasets.create("once", labels=["a"], type="text-intent").id
    assert time.monotonic() - begun > 0.6
    assert len(network.calls) == 3


def test_pauses_too_long_are_left_to_the_caller(far, network):
    """If Retry-After is too long, RateLimitError is raised at once."""
    spent = answered(429, b'{"message": "spent"}', Retry_After="86400")
    network.faults = [spent]
    with pytest.raises(RateLimitError) as caught:
        far.usage()
    assert caught.value.retry_after == 86400


def test_large_files_begin_again_when_the_line_breaks(world, account, network, monkeypatch):
    """An interrupted form upload is repeated from its beginning, without duplicates."""
    monkeypatch.setattr("presage._sync.uploads.LARGEST_IN_CALL", 100)
    with Presage(world.stack.url, *account) as client:
        form = client.uploads.create
        monkeypatch.setattr(client.uploads, "create", lambda name: through(network, form(name)))
        network.faults = [dropped]
        data = client.language.datasets.upload(WEATHER, type="text-intent", progress=False)
    assert data.total_examples == 73
    assert len(network.calls) == 2


def through(network, form):
    """Route the URL of a form or an export through the proxy."""
    parts = urlsplit(form.url)
    network.service, network.is_signed = parts, True
    form.url = parts._replace(netloc=urlsplit(network.url).netloc).geturl()
    return form
