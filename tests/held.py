"""What the emulated AWS holds in this process; reading it makes no call.

moto, which takes half a second to load, is loaded at the first use: pure tests are in files
and below conftests that need it for others.
"""

from __future__ import annotations

from typing import Any


def held(service: str, region: str = "aws") -> Any:
    """Return the emulated data of a service in a region; the region of buckets is `aws`."""
    from moto.backends import get_backend
    from moto.core import DEFAULT_ACCOUNT_ID

    return get_backend(service)[DEFAULT_ACCOUNT_ID][region]


def reset_aws() -> None:
    """Delete everything in the emulated AWS."""
    from moto.moto_api._internal.models import moto_api_backend

    moto_api_backend.reset()


def answering() -> Any:
    """Return the handler of the emulator that is registered with the clients."""
    from moto.core.models import botocore_stubber

    return botocore_stubber
