"""Rows that store a list of members of one account, such as all of its webhooks.

One read returns all members, and one condition enforces their maximum number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
from pynamodb.models import Model as TableRow

from chalicelib.domain.common.decoding import prepare
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.rows import find_row

Member = TypeVar("Member")

# Attempts to change the row: each fails only because another change came first.
_TRIES = 20


@dataclass(frozen=True)
class MemberRows(Generic[Member]):
    """Reads and changes the rows of one kind of members, such as webhooks."""

    row_type: type[TableRow]
    """Class of the rows. It has an attribute `revision`."""
    hash_key: str
    """Name of the hash key attribute of the row's class."""
    attribute: str
    """Name of the attribute that stores the members."""
    kind: type
    """Class of the members. Their attribute `account_id` is not stored."""
    member_id: Callable[[Member], str]
    """Returns the id of a member."""

    def read(self, key: str) -> Any:
        """Return the row with a hash key; None if it does not exist."""
        return find_row(self.row_type, key)

    def load(self, account_id: str, row: Any) -> list[Member]:
        """Return the members in a row, in order of creation; [] if `row` is None."""
        members = (getattr(row, self.attribute) if row else None) or []
        prepare(self.kind)
        return [msgspec.convert({**one, "account_id": account_id}, self.kind) for one in members]

    def change(
        self, account_id: str, key: str, change: Callable[[dict[str, Member]], None]
    ) -> tuple[dict[str, Member], dict[str, Member]]:
        """Change the members of a row. Try again if another call has changed the row.

        Args:
            account_id: account of the members.
            key: hash key of the row.
            change: changes the mapping from id to member in place; called at each attempt.

        Returns:
            The members before and after the change, by id.

        Raises:
            StorageUnavailable: other calls changed the row at every attempt.
        """
        row_type: Any = self.row_type
        for _ in range(_TRIES):
            row = self.read(key)
            revision = 0 if row is None else int(row.revision)
            before = {self.member_id(one): one for one in self.load(account_id, row)}
            after = dict(before)
            change(after)
            if after == before:
                return before, after
            stored = [_stored(one) for one in after.values()]
            actions = [
                getattr(row_type, self.attribute).set(stored),
                row_type.revision.set(revision + 1),
            ]
            unchanged = (
                getattr(row_type, self.hash_key).does_not_exist()
                if row is None
                else row_type.revision == revision
            )
            if try_update(row_type(key), actions, unchanged):
                return before, after
        raise StorageUnavailable


def _stored(member: object) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(member)
    del members["account_id"]
    return members
