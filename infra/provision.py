"""Installs the global datasets; may be run several times.

Global datasets are uploaded and read like all other datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import ACTIVE, GLOBAL_ACCOUNT_ID, Account
from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields, UploadSource

GLOBAL_FOLDER = Path(__file__).parent.parent / "chalicelib" / "assets" / "global"
# Names of the global datasets by type; each file is named by its type.
GLOBAL_DATASETS = {
    "text-intent": "general intents",
    "text-sentiment": "general sentiments",
    "image": "weather symbols",
    "image-multi-label": "fruit baskets",
    "image-detection": "fruits on a table",
}


def install_globals(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> None:
    """Upload the global datasets that do not exist yet.

    Raises:
        RuntimeError: a shipped file cannot be read.
    """
    container = Container(replace(settings, sync_seconds=0))
    for family, types in FAMILY_TYPES.items():
        found = container.stores.datasets.of_account(GLOBAL_ACCOUNT_ID, family)
        there = {one.type for one in found if not one.is_unfinished}
        for dataset_type in types:
            if dataset_type not in there:
                progress(f"installing the global dataset {GLOBAL_DATASETS[dataset_type]!r}")
                _install(container, family, dataset_type)


def _install(container: Container, family: str, dataset_type: str) -> None:
    name = GLOBAL_DATASETS[dataset_type]
    file = GLOBAL_FOLDER / f"{dataset_type}.{'csv' if family == LANGUAGE else 'zip'}"
    source = UploadSource(content=file.read_bytes(), file_name=file.name)
    fields = UploadFields(name=name, type=dataset_type)
    view = container.uploads.create_sync(_owner(), family, source, fields, math.inf)
    if not view.dataset.available:
        raise RuntimeError(f"Global dataset {name!r}: {view.dataset.status_message}")


def _owner() -> Account:
    """Create the account that owns global datasets; it has no key, so no one can sign in."""
    return Account(
        account_id=GLOBAL_ACCOUNT_ID,
        email="",
        plan="STARTER",
        source="HEROKU",
        status=ACTIVE,
        keys=(),
        license_id="",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
