"""Images in the bucket, and URLs signed as by the AWS client."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from urllib.parse import quote

import pytest
from botocore import auth, signers
from botocore.session import Session

from chalicelib.config import Settings
from chalicelib.domain.common.limits import IMAGE_URL_SECONDS
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.objects import ArtifactStore
from chalicelib.stores.examples.pictures import PictureStore
from tests.builders import World

DIGEST = "0123456789abcdef" * 2


@pytest.fixture(autouse=True, scope="module")
def one_session() -> Iterator[None]:
    """Share one botocore session, which is slow to create."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chalicelib.stores.aws.clients.Session", cache(Session))
        yield


def _store(settings: Settings) -> tuple[Clients, PictureStore]:
    """Make the store of some settings."""
    clients = Clients(settings)
    return clients, PictureStore(settings, clients, ArtifactStore(settings, clients))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"region": "eu-west-1"},
        {"region": "cn-north-1", "bucket": "other.bucket"},
        {"endpoint_url": "http://127.0.0.1:4566"},
        {"endpoint_url": "http://10.0.0.7:1", "public_storage_url": "https://files.example.test"},
    ],
)
@pytest.mark.parametrize("name", ["a.png", "Möwe 1~(2).jpg", "a'\"\\;&=%+#?/b*.png"])
def test_url_is_what_the_client_makes(
    settings: Settings, changes: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fast signature equals botocore's, for every region, host and name."""
    now = datetime(2026, 11, 21, 9, 30)
    for module in (auth, signers):
        if hasattr(module, "get_current_datetime"):
            monkeypatch.setattr(module, "get_current_datetime", lambda *_, **__: now)
    used = replace(settings, **changes)
    clients, pictures = _store(used)
    expected = clients.presigning_s3.generate_presigned_url(
        "get_object",
        Params={
            "Bucket": used.bucket,
            "Key": f"datasets/7/images/{DIGEST}",
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        },
        ExpiresIn=IMAGE_URL_SECONDS,
    )

    assert pictures.url(7, DIGEST, name) == expected


def test_token_of_temporary_credentials_is_signed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A URL signed with temporary credentials includes their token."""
    clients, pictures = _store(settings)
    frozen = clients.credentials._replace(token="a/token+of=time")
    monkeypatch.setattr(Clients, "credentials", property(lambda _: frozen))

    assert "X-Amz-Security-Token=a%2Ftoken%2Bof%3Dtime" in pictures.url(7, DIGEST, "a.png")


def test_without_credentials(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without credentials raises StorageUnavailable."""
    clients, pictures = _store(settings)
    monkeypatch.setattr(clients._session, "get_credentials", lambda: None)

    with pytest.raises(StorageUnavailable):
        pictures.url(7, DIGEST, "a.png")


def test_page_of_urls_is_quick(settings: Settings) -> None:
    """Signing a URL takes at most four fifths of the AWS client's time."""
    clients, pictures = _store(settings)
    sign = clients.s3.generate_presigned_url
    theirs = {"Bucket": settings.bucket, "Key": f"datasets/7/images/{DIGEST}"}
    ours, others = [], []
    for number in range(100):
        began = time.perf_counter()
        pictures.url(7, DIGEST, f"picture {number}.png")
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        sign("get_object", Params=theirs, ExpiresIn=IMAGE_URL_SECONDS)
        others.append(time.perf_counter() - began)

    assert statistics.median(ours) < 0.8 * statistics.median(others)


def test_pictures_of_a_dataset(world: World) -> None:
    """Images are found by dataset and digest, and listed by digest."""
    pictures = world.stores.pictures
    pictures.put(7, DIGEST, b"file", "image/png")
    pictures.put(7, DIGEST, b"file", "image/png")
    pictures.put(71, "f" * 32, b"other", "image/jpeg")

    assert pictures.get(7, DIGEST) == b"file"
    assert pictures.get(7, "f" * 32) is None
    assert pictures.stored(7) == {DIGEST}
