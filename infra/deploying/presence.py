"""Asks AWS for things that may be absent."""

from __future__ import annotations

from collections.abc import Callable

from botocore.exceptions import ClientError

_ABSENT = ("404", "NoSuchKey", "NoSuchBucket", "ResourceNotFoundException")


def is_there(call: Callable[[], object]) -> bool:
    """Make a call; tell whether what it names is there.

    Raises:
        ClientError: it failed for another reason.
    """
    try:
        call()
    except ClientError as trouble:
        if trouble.response["Error"]["Code"] in _ABSENT:
            return False
        raise
    return True
