"""Single images: temporary URLs, feedback, and deletion after they were shown."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from botocore import auth
from botocore.credentials import ReadOnlyCredentials

from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.datasets.example import picture_digest
from chalicelib.domain.models.model import SUCCEEDED, Model
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.tables import ModelRow
from tests.flows.client import VISION as PATH
from tests.flows.client import Answer, Client
from tests.flows.world import World
from tests.local_stack import ENDPOINT
from tests.pictures import draw

CAT, DOG = draw("circle"), draw("square", "blue", kind="JPEG")
WAITING = "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"
UNSIGNED = 200 if os.environ.get(ENDPOINT) else 403
"""The answer to a URL without a signature; LocalStack looks at none, and its run says so."""


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    """A caller of the calls below /vision."""
    made = world.caller(example_calls=1000)
    found = made.vision()
    found.email = made.email
    yield found
    found.close()


@pytest.fixture
def album(client: Client) -> dict:
    """A dataset that was created without a file."""
    return client.json("POST", f"{PATH}/datasets", {"name": "album", "labels": "cat,dog"}).ok


def add(client: Client, album: dict, content: bytes, file_name: str, **fields: object) -> Answer:
    """Send a single image."""
    path = f"{PATH}/datasets/{album['id']}/examples"
    return client.multipart("POST", path, fields, {"data": (file_name, content)})


def fetch(url: str) -> Answer:
    """Fetch a URL without credentials, as a browser would."""
    place = urlsplit(url)
    with Client(f"{place.scheme}://{place.netloc}") as browser:
        return browser.get(url[len(browser.url) :])


def a_model(client: Client, world: World, album: dict) -> str:
    """Write the row of a model as a training would, which is enough for feedback."""
    now = datetime.now(UTC)
    account_id, model_id = world.account_id(client), "PICTUREFEEDBACK" + "A" * 11
    Container(world.settings).stores.models.create(
        Model(
            account_id=account_id,
            model_id=model_id,
            name="model",
            dataset_id=album["id"],
            family=VISION,
            type=album["type"],
            language="N/A",
            status=SUCCEEDED,
            progress=1,
            created_at=now,
            updated_at=now,
        )
    )
    # A row begins in the index of open trainings, where it would come before real ones.
    ModelRow(account_id, model_id).update([ModelRow.open.remove()])
    return model_id


def test_empty_dataset_is_filled_by_hand(client, album):
    """Images are added by label id or name; lists show URLs that serve the files."""
    cat = album["labelSummary"]["labels"][0]
    first = add(client, album, CAT, "C:\\pictures\\cat 1.jpg", labelId=cat["id"]).ok
    add(client, album, DOG, "dog.png", label="dog", name="best dog.png")
    add(client, album, DOG, "dog.png", label="wolf")
    done = client.get(f"{PATH}/datasets/{album['id']}").ok

    listed = client.items(f"{PATH}/datasets/{album['id']}/examples")
    by_label = client.items(f"{PATH}/examples/{album['id']}/label/{cat['id']}")
    old = client.items(f"{PATH}/examples", labelId=cat["id"])

    assert (album["type"], album["language"], album["available"]) == ("image", "N/A", True)
    counts = [(x["name"], x["numExamples"]) for x in done["labelSummary"]["labels"]]
    assert counts == [("cat", 1), ("dog", 1), ("wolf", 1)]
    assert [item["name"] for item in listed] == ["cat 1.jpg", "best dog.png", "dog.png"]
    assert [item["id"] for item in by_label] == [item["id"] for item in old] == [first["id"]]
    for item in (first, by_label[0], old[0]):
        found = fetch(item["location"])
        assert (found.status, found.body) == (200, CAT)
        assert found.headers["content-type"] == "image/png"
        assert found.headers["content-disposition"] == "attachment; filename*=UTF-8''cat%201.jpg"
    found = fetch(listed[1]["location"])
    assert (found.status, found.headers["content-type"], found.body) == (200, "image/jpeg", DOG)


def test_picture_needs_a_file(client, album):
    """JSON cannot hold a file; the error explains how to send one."""
    path = f"{PATH}/datasets/{album['id']}/examples"
    sent = client.json("POST", path, {"label": "cat", "data": "aGk="})

    assert sent.status == 400
    assert "multipart/form-data" in sent.data["message"]


@pytest.mark.parametrize(("minutes", "status"), [(0, 200), (29, 200), (31, 403)])
def test_url_dies_after_thirty_minutes(client, album, world, monkeypatch, minutes, status):
    """A URL signed 29 minutes ago serves the image, one signed 31 minutes ago does not."""
    added = add(client, album, CAT, "cat.png", label="cat").ok
    keys = (
        world.stack.environment[f"AWS_{part}"] for part in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")
    )
    credentials = ReadOnlyCredentials(*keys, None)
    monkeypatch.setattr(Clients, "credentials", property(lambda _: credentials))
    moment = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=minutes)
    monkeypatch.setattr(auth, "get_current_datetime", lambda *_, **__: moment)
    pictures = Container(world.settings).stores.pictures

    url = pictures.url(album["id"], picture_digest(CAT).hex(), "cat.png")

    assert fetch(url).status == status
    assert url.partition("?")[0] == added["location"].partition("?")[0]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda url: url.partition("?")[0], UNSIGNED),
        (lambda url: url.replace("X-Amz-Expires=1800", "X-Amz-Expires=604800"), 403),
        (lambda url: url.replace("cat.png", "cat.html"), 403),
        (lambda url: url.replace("attachment", "inline"), 403),
        (lambda url: url + "&response-content-type=text%2Fhtml", 403),
        (lambda url: url.replace("/images/", "/images/0"), 403),
    ],
)
def test_url_allows_nothing_else(client, album, change: Callable[[str], str], status: int):
    """A URL changed in expiry, file or type is refused."""
    url = add(client, album, CAT, "cat.png", label="cat").ok["location"]
    assert fetch(url).status == 200
    assert change(url) != url

    assert fetch(change(url)).status == status


def test_shown_dataset_waits_for_its_urls(client, album, world):
    """Files are deleted at once; the record stays until all URLs have expired."""
    url = add(client, album, CAT, "cat.png", label="cat").ok["location"]
    path = f"{PATH}/datasets/{album['id']}"
    deletion = client.delete(path).ok
    seen = client.wait(
        f"{PATH}/deletion/{deletion['id']}", lambda d: d["status"] == WAITING, seconds=60
    )

    assert (seen[-1]["status"], seen[-1]["progress"]) == (WAITING, 1)
    assert fetch(url).status == 404
    assert client.get(path).status == 404
    assert client.delete(path).ok == seen[-1]
    time.sleep(1.2)
    assert client.get(f"{PATH}/deletion/{deletion['id']}").ok == seen[-1], "a sweep goes by"
    world.stack.client("dynamodb").update_item(
        TableName=f"{world.settings.name}-deletions",
        Key={"account_id": {"S": world.account_id(client)}, "deletion_id": {"S": deletion["id"]}},
        UpdateExpression="SET urls_until = :now",
        ExpressionAttributeValues={":now": {"N": str(round(time.time() * 1000))}},
    )
    ended = client.wait_deletion(deletion["id"])[-1]
    assert ended == {**seen[-1], "status": "SUCCEEDED"}


def test_unseen_dataset_does_not_wait(client, album):
    """A dataset whose images were never shown is deleted completely at once."""
    deletion = client.delete(f"{PATH}/datasets/{album['id']}").ok

    seen = {state["status"] for state in client.wait_deletion(deletion["id"])}

    assert seen <= {"QUEUED", "RUNNING", "SUCCEEDED"}


def test_feedback(client, album, world):
    """Feedback is listed by source; a used name is refused; repeated feedback is stored once."""
    add(client, album, CAT, "cat.png", label="cat")
    model_id = a_model(client, world, album)

    def send(content: bytes, file_name: str, label: str, **more: object) -> Answer:
        """Send feedback."""
        fields = {"modelId": model_id, "expectedLabel": label, **more}
        return client.multipart("POST", f"{PATH}/feedback", fields, {"data": (file_name, content)})

    first = send(DOG, "dog.jpg", "dog").ok
    again = send(DOG, "dog.jpg", "dog").ok
    taken = send(DOG, "cat.png", "cat")
    renamed = send(DOG, "cat.png", "cat", name="no cat.png").ok
    unknown = send(CAT, "x.png", "wolf")

    path = f"{PATH}/datasets/{album['id']}/examples"
    feedback = client.items(path, source="feedback")
    assert [x["name"] for x in client.items(path, source="all")] == [
        "cat.png",
        "no cat.png",
        "dog.jpg",
    ]
    assert [item["id"] for item in feedback] == [renamed["id"], first["id"]]
    assert again["id"] == first["id"]
    assert (taken.status, taken.data["code"]) == (409, "example_name_taken")
    assert unknown.status == 400
    assert fetch(first["location"]).body == DOG
    with world.caller().vision() as other:
        assert other.multipart("POST", f"{PATH}/feedback", {"modelId": model_id}).status == 404


def test_vision_datasets_without_files(client):
    """Every vision type can be created without a file; global datasets are listed separately."""
    for kind in ("image", "image-detection", "image-multi-label"):
        made = client.json("POST", f"{PATH}/datasets", {"name": kind, "type": kind}).ok
        assert (made["type"], made["labelSummary"]["labels"]) == (kind, [])
    wrong = client.json("POST", f"{PATH}/datasets", {"name": "x", "type": "text-intent"})
    shared = client.get(f"{PATH}/datasets", **{"global": "true"}).ok

    assert len(client.items(f"{PATH}/datasets")) == 3
    assert wrong.status == 400
    assert shared["object"] == "list"
    assert all(item["type"].startswith("image") for item in shared["data"])


def test_pictures_are_an_account_s_own(client, album, world):
    """Another account can neither list an album's images nor add one."""
    add(client, album, CAT, "cat.png", label="cat")
    with world.caller(example_calls=100).vision() as other:
        for path in (
            f"{PATH}/datasets/{album['id']}/examples",
            f"{PATH}/examples/{album['id']}/label/0",
        ):
            assert other.get(path).status == 404
        assert add(other, album, DOG, "dog.png", label="dog").status == 404
