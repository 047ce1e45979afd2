"""Backups of files that were accepted but not read yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.stores.aws.clients import Clients
from infra.backups import objects
from infra.backups.dumping import dump
from infra.backups.folder import BackupFolder
from infra.backups.restoring import restore
from tests.builders import World, a_csv, some_rows
from tests.conftest import MovableClock
from tests.fresh_aws import provide

ROWS = some_rows({"book": 60, "cancel": 50})


def test_an_accepted_upload_outlives_its_stack(
    clients: Clients,
    settings: Settings,
    clock: MovableClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An accepted upload is in the backup and is read after the restore."""
    monkeypatch.setattr(objects, "_IN_PARTS", 1)
    world = World(settings, clock)
    form = world.container.upload_forms.issue(world.account, "mine.csv")
    world.stores.clients.s3.put_object(
        Bucket=settings.bucket, Key=form.fields["key"], Body=a_csv(ROWS)
    )
    source = UploadSource(path=form.path)
    fields = UploadFields(None, "text-intent")
    view = world.container.uploads.create(world.account, LANGUAGE, source, fields)
    dump(settings, BackupFolder(tmp_path / "copy"))
    provide(settings)

    restore(settings, BackupFolder(tmp_path / "copy"))
    clock.advance(minutes=10)
    world.container.sweeping.run()
    world.work()

    assert world.get(view).dataset.status_message == "SUCCEEDED"
    assert world.get(view).dataset.total == len(ROWS)
