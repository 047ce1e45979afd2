"""A running stack, callers and models that several tests share and none changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import httpx
import pytest
from jwt.algorithms import RSAAlgorithm

from tests.flows import KNOWN_OUTPUTS_APP, TWO_VIEWS_APP
from tests.flows.client import Client
from tests.flows.documented.story import ENVIRONMENT as STORY_ENVIRONMENT
from tests.flows.pictures import basket_files, folders_zip, fruit_scenes, scenes_zip
from tests.flows.world import FileServer, World, listed_operations, weather
from tests.local_stack import LocalStack
from tests.pictures import make_zip


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Read each private key and the certificates once; each client of a test would read both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RSAAlgorithm, "prepare_key", cache(RSAAlgorithm.prepare_key))
        default = httpx._transports.default
        patch.setattr(default, "create_ssl_context", cache(httpx.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def stack(closed_network: None) -> Iterator[LocalStack]:
    """The whole service on free ports; no test kills a process of this stack."""
    environment = {"PRESAGE_DOWNLOAD_ALLOW": "127.0.0.1", "PRESAGE_SWEEP_SECONDS": "4"}
    with LocalStack(TWO_VIEWS_APP, environment=environment) as running:
        yield running


@pytest.fixture(scope="session")
def shipped_stack(closed_network: None) -> Iterator[LocalStack]:
    """A stack with the shipped models and the demo account, for documented calls and guides."""
    environment = {**STORY_ENVIRONMENT, "PRESAGE_NICENESS": "0"}
    arguments = ("--no-demo", "--forget")
    with LocalStack(KNOWN_OUTPUTS_APP, arguments, environment, ready_seconds=240) as running:
        yield running


@pytest.fixture(scope="session")
def world(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Accounts of the stack."""
    made = World(stack, tmp_path_factory.mktemp("flows"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def operations() -> list[tuple[str, str, str]]:
    """Name, method and path of every operation."""
    return listed_operations()


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    """A caller with a new free account."""
    made = world.caller()
    yield made
    made.close()


@pytest.fixture(scope="session")
def owner(world: World) -> Client:
    """The caller who owns the shared dataset and model."""
    return world.caller("GOLD", example_calls=100_000)


@pytest.fixture(scope="session")
def weather_id(owner: Client) -> int:
    """A dataset of weather.csv."""
    return int(owner.dataset(weather())["id"])


@pytest.fixture(scope="session")
def weather_model(owner: Client, weather_id: int) -> str:
    """A model of weather.csv."""
    return owner.model(weather_id, "weather")


@pytest.fixture(scope="session")
def files() -> Iterator[FileServer]:
    """A web server on localhost."""
    with FileServer() as server:
        yield server


@pytest.fixture(scope="session")
def gallery(world: World) -> Client:
    """The caller who owns the shared image datasets and models."""
    return world.photographer(example_calls=100_000)


@pytest.fixture(scope="session")
def shapes_id(gallery: Client) -> int:
    """A dataset of type image: two labels of ten drawn images each."""
    return int(gallery.dataset(folders_zip(), file_name="shapes.zip")["id"])


@pytest.fixture(scope="session")
def shapes_model(gallery: Client, shapes_id: int) -> str:
    """A model of them."""
    return gallery.model(shapes_id, "shapes", epochs=20)


@pytest.fixture(scope="session")
def baskets_id(gallery: Client) -> int:
    """A dataset of type image-multi-label."""
    content = make_zip(basket_files())
    return int(gallery.dataset(content, file_name="b.zip", type="image-multi-label")["id"])


@pytest.fixture(scope="session")
def baskets_model(gallery: Client, baskets_id: int) -> str:
    """A model of it."""
    return gallery.model(baskets_id, "baskets", epochs=10)


@pytest.fixture(scope="session")
def tables_id(gallery: Client) -> int:
    """A dataset of type image-detection: fruits on tables."""
    content = scenes_zip(fruit_scenes(6))
    return int(gallery.dataset(content, file_name="t.zip", type="image-detection")["id"])


@pytest.fixture(scope="session")
def tables_model(gallery: Client, tables_id: int) -> str:
    """A model of it."""
    return gallery.model(tables_id, "tables", epochs=8)
