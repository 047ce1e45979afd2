"""Converts AWS errors to StorageUnavailable, so that no other layer handles them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from inspect import isfunction, isgeneratorfunction
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model as TableRow

from chalicelib.errors import StorageUnavailable

Store = TypeVar("Store")


def translate_errors(cls: type[Store]) -> type[Store]:
    """Make all public methods of a store class convert AWS errors. Used as a class decorator.

    Refused conditional writes are not converted, because each method handles its own refusals.
    """
    for name, member in list(vars(cls).items()):
        if isfunction(member) and not name.startswith("_"):
            translated = _translated_steps if isgeneratorfunction(member) else _translated
            setattr(cls, name, translated(member))
    return cls


def is_refused(error: PynamoDBException) -> bool:
    """Return whether the error says that the condition of a write was not met."""
    # PynamoDB's `cause_response_code` fails when the connection broke before a response.
    answer = getattr(error.cause, "response", None) or {}
    return bool(answer.get("Error", {}).get("Code") == "ConditionalCheckFailedException")


_THROTTLES = (
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
)


def is_throttled(error: PynamoDBException) -> bool:
    """Return whether the error says that a call was throttled and so was not executed."""
    answer = getattr(error.cause, "response", None) or {}
    return answer.get("Error", {}).get("Code") in _THROTTLES


def try_write(write: Callable[[], Any]) -> bool:
    """Run a conditional write; return False if its condition was not met.

    Raises:
        PynamoDBException: the write failed for another reason.
    """
    try:
        write()
    except PynamoDBException as error:
        if is_refused(error):
            return False
        raise
    return True


def try_update(row: TableRow, actions: Sequence[Action], condition: Condition) -> bool:
    """Update a row; return False if the condition was not met.

    Raises:
        PynamoDBException: the update failed for another reason.
    """
    return try_write(lambda: row.update(list(actions), condition=condition))


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except (ClientError, BotoCoreError, PynamoDBException) as error:
            raise StorageUnavailable from error

    return call


def _translated_steps(method: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    # A generator makes its calls while the caller iterates, so the error is caught there.
    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from method(*args, **kwargs)
        except (ClientError, BotoCoreError, PynamoDBException) as error:
            raise StorageUnavailable from error

    return call
