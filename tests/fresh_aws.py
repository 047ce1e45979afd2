"""Gives tests an emulated AWS as new, with the service's tables, queues and bucket.

They are made by calls once for some settings, and copied from then on, which takes a twentieth of
the time. So a test may drop or change them: the next one gets other copies.
"""

from __future__ import annotations

from copy import deepcopy
from threading import Condition
from typing import Any

from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.moto_api._internal.models import moto_api_backend

from chalicelib.config import Settings
from infra.resources import provision

_AS_NEW: dict[Settings, list[dict[str, Any]]] = {}
"""Tables, queues and buckets by name, which are only copied."""


def provide(settings: Settings) -> None:
    """Empty the emulated AWS, and create tables, queues and bucket again."""
    moto_api_backend.reset()
    if settings not in _AS_NEW:
        provision(settings)
        _AS_NEW[settings] = _copied(_held(settings))
        return
    for held, new in zip(_held(settings), _copied(_AS_NEW[settings]), strict=True):
        held.update(new)
    for bucket in _held(settings)[-1].values():
        owner = (bucket.partition, bucket.account_id)
        get_backend("s3").bucket_accounts[bucket.name] = owner


def _held(settings: Settings) -> list[dict[str, Any]]:
    """Return the tables, queues and buckets of the emulator by name."""
    return [
        get_backend("dynamodb")[ACCOUNT_ID][settings.region].tables,
        get_backend("sqs")[ACCOUNT_ID][settings.region].queues,
        get_backend("s3")[ACCOUNT_ID]["aws"].buckets,
    ]


def _copied(held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Copy everything; queues get new locks, because locks cannot be copied."""
    locks: dict[int, Any] = {id(queue._messages_lock): Condition() for queue in held[1].values()}
    return deepcopy(held, locks)
