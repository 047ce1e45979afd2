"""Overlapping attempts at the same batch call."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest

from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.jobs.batch import SUCCEEDED, Batch
from chalicelib.errors import DownloadFailed, StorageUnavailable
from tests.builders import World
from tests.services.batches.conftest import Batches


def _attempt(world: World, number: int) -> AbstractContextManager[None]:
    call = KeyedCall(world.account.account_id, "k", "r", "B" * 26, world.clock(), 0, number)
    return under_key(call)


def test_an_earlier_attempt_that_is_slow_leaves_the_batch_of_the_later_one(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow earlier attempt cannot use the file claimed by the later one, and deletes nothing."""
    world, files = batches.world, batches.world.stores.uploaded_files
    source = UploadSource(path=world.send_file(b"text\nbook it\ncancel it\n"))
    claim, made = files.claim, []

    def claim_after_another(uploaded: Any, user: str) -> None:
        if not made:
            made.append(None)
            with _attempt(world, 2):
                made[0] = batches.create(source)
        claim(uploaded, user)

    monkeypatch.setattr(files, "claim", claim_after_another)
    with _attempt(world, 1), pytest.raises(DownloadFailed):
        batches.create(source)

    kept: Batch = made[0]
    assert world.stores.batches.find(world.account.account_id, kept.batch_id) is not None


def test_a_slow_attempt_that_cannot_store_its_lines_leaves_the_later_batch(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing slow attempt undoes only what it created itself."""
    world, files = batches.world, batches.world.stores.batch_files
    source = UploadSource(content=b"text\nbook it\ncancel it\n", file_name="lines.csv")
    put, made = files.put_input, []

    def put_after_another(*args: Any) -> None:
        if made:
            return put(*args)
        made.append(None)
        world.clock.advance(seconds=1)
        with _attempt(world, 2):
            made[0] = batches.create(source)
        raise StorageUnavailable

    monkeypatch.setattr(files, "put_input", put_after_another)
    with _attempt(world, 1), pytest.raises(StorageUnavailable):
        batches.create(source)
    world.work()

    kept: Batch = made[0]
    found = world.stores.batches.find(world.account.account_id, kept.batch_id)
    assert found is not None
    assert found.status == SUCCEEDED


def test_a_batch_that_another_attempt_prepares_is_returned(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that another attempt is preparing is returned, and its owner finishes it."""
    world = batches.world
    source = UploadSource(content=b"text\nbook it\ncancel it\n", file_name="lines.csv")
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.batches, "acquire", lambda *_: None)
        made = batches.create(source)
    world.settle()

    found = world.stores.batches.find(world.account.account_id, made.batch_id)
    assert found is not None
    assert found.status == SUCCEEDED
