"""The rights that a life of the service uses, recorded once for all tests."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import app as module
from chalicelib.config import Settings
from chalicelib.domain.documents.picture import PixelBox
from chalicelib.domain.models.judgement import Judgement
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.engines.text.encoding import pool
from chalicelib.engines.vision import registry
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.fetching.model_downloads import ModelFile, write_catalogue
from infra.resources import provision
from tests import tiny_vision
from tests.builders import TinyEncoder
from tests.conftest import MovableClock
from tests.faults.conftest import learn_once
from tests.held import reset_aws
from tests.policies.asking import questions
from tests.policies.deployed import Deployed
from tests.policies.flows import CLOSED_ADDRESS, live
from tests.policies.recorder import Recorder

SECRET = "signing-key"
MODEL_FILES = {
    "bge": {"model.onnx": b"bge"},
    "use": {"model.onnx": b"use"},
    "mpnet": {"model.onnx": b"mpnet"},
    "lite2": {"model.onnx": b"lite2"},
    "nanodet": {"model.onnx": b"nanodet"},
    "prebuilt/OCRModel": {"card.json": b'{"object": "card"}'},
    "prebuilt/CommunitySentiment": {"card.json": b'{"object": "card"}', "artifact.npz": b"npz"},
}


@pytest.fixture(scope="session")
def recorded(aws_in_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The deployed functions after all recorded calls."""
    reset_aws()
    catalogue, files = _catalogue()
    settings = Settings(
        token_secret_name=SECRET,
        models_from_bucket=catalogue[0],
        log_level="CRITICAL",
        download_allow=(CLOSED_ADDRESS,),
    )
    provision(settings)
    outside = Clients(settings)
    outside.secrets.create_secret(Name=SECRET, SecretString="k" * 64)
    for key, content in (catalogue, *files):
        outside.s3.put_object(Bucket=settings.bucket, Key=key, Body=content)
    clock = MovableClock(datetime(2026, 11, 21, 9, 30, tzinfo=UTC))
    folder: Path = tmp_path_factory.mktemp("disks")
    with pytest.MonkeyPatch.context() as patch:
        tiny_vision.install(patch)
        learn_once(patch)
        patch.setattr(pool, "load_encoder", lambda _, name: TinyEncoder(name))
        patch.setattr(registry, "load", _load)
        deployed = Deployed(settings, clock, Recorder(settings), folder)
        live(deployed, questions)
    # The stand-ins end here: other tests follow within the same session.
    module.app.container = None
    return deployed


def _catalogue() -> tuple[tuple[str, bytes], list[tuple[str, bytes]]]:
    """Make a catalogue of small model files; return it and the files, by key."""
    described, files = {}, []
    for folder, members in MODEL_FILES.items():
        described[folder] = {
            name: ModelFile(len(content), hashlib.sha256(content).hexdigest())
            for name, content in members.items()
        }
        files += [(described[folder][name].key, content) for name, content in members.items()]
    return write_catalogue(described), files


def _load(content: bytes, backbones: Any) -> SimpleNamespace:
    """Read any vision artifact as a model that sees one thing."""
    found = [Probability("car", 0.9), Detection("car", 0.9, PixelBox(0, 0, 9, 9))]
    judged = Judgement("car", 0.9, 0.1, 1.0, np.ones(128, np.float16))
    return SimpleNamespace(
        least_side=32, backbones=(), predict=lambda _: found, judge=lambda _: judged
    )
