"""What the emulated AWS holds in this process; reading it makes no call.

moto, which takes half a second to load, is loaded at the first use: pure tests are in files
and below conftests that need it for others.
"""

from __future__ import annotations

from typing import Any


def held(service: str, region: str = "aws") -> Any:
    """Return what a service holds in a region; that of buckets is called aws."""
    from moto.backends import get_backend
    from moto.core import DEFAULT_ACCOUNT_ID

    return get_backend(service)[DEFAULT_ACCOUNT_ID][region]


def reset_aws() -> None:
    """Remove everything that the emulated AWS holds."""
    from moto.moto_api._internal.models import moto_api_backend

    moto_api_backend.reset()


def answering() -> Any:
    """Return what answers the calls of clients, which they are registered with."""
    from moto.core.models import botocore_stubber

    return botocore_stubber
