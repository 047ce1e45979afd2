"""Fixtures that shorten many runs of one scenario."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.config import Settings
from chalicelib.engines.text import training as engine
from chalicelib.stores.accounts import quotas
from tests.builders import ONE_RESULT, World, empty_aws
from tests.conftest import MovableClock


class NoWaiting:
    """Replaces the time module where botocore pauses between attempts."""

    @staticmethod
    def sleep(seconds: float) -> None:
        """Return at once."""


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """The service; its many expected failures are not logged."""
    quiet = replace(settings, log_level="CRITICAL")
    empty_aws(quiet)
    return World(quiet, clock)


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat calls without pauses, and leave unknown outcomes unresolved."""
    monkeypatch.setattr(quotas, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(quotas, "SETTLE_SECONDS", ())
    monkeypatch.setattr("botocore.endpoint.time", NoWaiting)


@pytest.fixture
def quick_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn once; every other training takes its vectors and gets the same result."""
    learn_once(monkeypatch)


def learn_once(patch: pytest.MonkeyPatch) -> None:
    """Replace the text engine by one that learns once for each set of labels."""
    learn = engine.train_text

    def train_text(model, texts, vectors, watchers, now, **options):
        """Make the calls of a training without its arithmetic."""
        key = tuple(texts.labels)
        if key not in ONE_RESULT:
            ONE_RESULT[key] = learn(model, texts, vectors, watchers, now, **options)
        else:
            for encoder in vectors.encoders:
                vectors.texts.of_texts(encoder.name)
            watchers.on_progress(0.5)
            watchers.on_curve(ONE_RESULT[key].curve)
        return ONE_RESULT[key]

    patch.setattr(engine, "train_text", train_text)
