"""The entry point of functions that answer routes loads engines before the first call."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from botocore.session import Session

import app as module
from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID
from chalicelib.engines.text.encoding import pool
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.fetching.model_downloads import ModelFile, write_catalogue
from infra.template.functions import ANSWERING, FUNCTIONS
from tests.builders import TinyEncoder, empty_aws

HOOKS = "snapshot_restore_py"
"""Module of Lambda's runtime."""


class Hooks(ModuleType):
    """Replaces the hooks of SnapStart."""

    def __init__(self) -> None:
        super().__init__(HOOKS)
        self.found: dict[str, Any] = {}

    def register_before_snapshot(self, hook: Any) -> None:
        """Record a function that runs before a snapshot."""
        self.found["leave"] = hook

    def register_after_restore(self, hook: Any) -> None:
        """Record a function that runs in a process started from a snapshot."""
        self.found["come back"] = hook


@pytest.fixture
def container(
    aws_in_memory: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Container]:
    """Services of a function whose model files are in the bucket."""
    empty_aws(settings)
    made = Container(settings)

    described = ModelFile(7, "ab" * 32)
    key, catalogue = write_catalogue({"bge": {"model.onnx": described}})
    made.stores.clients.s3.put_object(Bucket=settings.bucket, Key=key, Body=catalogue)
    monkeypatch.setattr(pool, "load_encoder", lambda _, name: TinyEncoder(name))
    disk = replace(
        settings, models_from_bucket=key, model_dir=str(tmp_path), loads=("bge", "mpnet")
    )
    module.app.container = Container(disk)
    yield module.app.container
    module.app.container = None
    made.stores.clients.bind_tables()


def enter(monkeypatch: pytest.MonkeyPatch, hooks: Hooks | None = None) -> ModuleType:
    """Import the entry point as Lambda does."""
    monkeypatch.setitem(sys.modules, HOOKS, hooks)
    monkeypatch.delitem(sys.modules, "entry", raising=False)
    return importlib.import_module("entry")


def test_entry_loads_what_the_settings_name(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that settings and catalogue name are loaded before the first call; no others are."""
    monkeypatch.setattr(type(container.stores.model_source), "ensure", lambda *_: None)

    entry = enter(monkeypatch)

    assert entry.app is module.app
    assert container.encoders.is_loaded("bge")
    assert not container.encoders.is_loaded("mpnet")


def test_trouble_at_the_start_leaves_a_function_that_answers(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the bucket does not answer, the start succeeds and the first call loads the part."""

    def fail(*_: object) -> None:
        """Raise an error, as an unreachable bucket does."""
        raise StorageUnavailable

    monkeypatch.setattr(type(container.stores.model_source), "ensure", fail)

    assert enter(monkeypatch).app is module.app


def test_image_holds_neither_connections_nor_credentials(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes from one snapshot reconnect with new credentials and have own random numbers."""
    hooks = Hooks()
    # Other tests share one.
    monkeypatch.setattr("chalicelib.stores.aws.clients.Session", Session)
    container.stores.clients.reset()
    monkeypatch.setattr(type(container.stores.model_source), "ensure", lambda *_: None)
    enter(monkeypatch, hooks)
    clients, datasets = container.stores.clients, container.stores.datasets
    before = (clients.dynamodb, clients.s3, clients._session)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-another-process")

    hooks.found["leave"]()
    assert not {"dynamodb", "s3", "_session"} & set(vars(clients))
    random.seed(1)
    hooks.found["come back"]()
    drawn = random.random()
    random.seed(1)

    after = (clients.dynamodb, clients.s3, clients._session)
    assert not any(old is new for old, new in zip(before, after, strict=True))
    assert clients.credentials.access_key == "of-another-process"
    assert drawn != random.random()
    assert list(datasets.of_account(GLOBAL_ACCOUNT_ID, "language")) == []
    assert container.encoders.is_loaded("bge")


def test_defaults_of_the_template_are_parts_that_there_are(container: Container) -> None:
    """Every part that functions load by default exists."""
    known = {"bge", "use", "mpnet", "e5", "lite2", "nanodet", "ppocr", "slanet"}

    assert {name for f in FUNCTIONS for name in f.loads} <= known
    assert all(f.loads == () for f in FUNCTIONS if f.name not in ANSWERING)
