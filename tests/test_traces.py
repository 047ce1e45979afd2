"""Exceptions in the log have kinds, codes and places, never messages."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from chalicelib.errors import StorageUnavailable
from chalicelib.traces import MAX_LINKS, MAX_PLACES, describe


def caught(function) -> BaseException:
    """Return the exception that a function raises."""
    with pytest.raises(Exception) as found:  # noqa: PT011 - whatever it is
        function()
    return found.value


def put_item() -> None:
    """Raise the error of a call that AWS refused."""
    answer = {"Error": {"Code": "AccessDenied", "Message": "secret text"}}
    raise ClientError(answer, "PutItem")


def refused() -> None:
    """Raise the error that a store makes of it."""
    try:
        put_item()
    except ClientError as cause:
        raise StorageUnavailable from cause


def test_chain_is_described_with_codes_and_places():
    """Each cause in the chain is described with AWS's code and the name of the call."""
    found = describe(caught(refused))

    assert found["exception"] == "StorageUnavailable (storage_unavailable)"
    first, second = found["trace"]
    assert "tests/test_traces.py" in first
    assert " refused" in first
    assert second.startswith("ClientError (PutItem AccessDenied) at ")
    assert "secret" not in str(found)


def test_operating_system_error_is_described_by_its_code():
    """A full disk is described without the name of the file."""
    found = describe(caught(lambda: open("/no/such/secret", encoding="ascii")))  # noqa: SIM115

    assert found["exception"] == "FileNotFoundError (ENOENT)"
    assert "secret" not in str(found)


def test_places_are_traced_once():
    """An exception that is logged twice has its trace only in the first line."""
    error = caught(refused)

    assert "trace" in describe(error)
    assert describe(error) == {"exception": "StorageUnavailable (storage_unavailable)"}


def test_long_chains_and_deep_calls_are_cut():
    """Long chains and deep calls are cut to few causes and the innermost places."""

    def fall(depth: int) -> None:
        if depth == 0:
            raise ValueError("secret")
        try:
            fall(depth - 1)
        except ValueError as cause:
            raise ValueError("secret") from cause

    trace = describe(caught(lambda: fall(40)))["trace"]

    assert len(trace) == MAX_LINKS
    assert all(link.count(" < ") < MAX_PLACES for link in trace)
    assert "secret" not in str(trace)
