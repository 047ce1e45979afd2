"""Reserves integer ids, which increase and are unique in the service. See contract section 1."""

from __future__ import annotations

from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import CounterRow

# Ids start above these numbers, so that a label's position is never mistaken for its id.
BASES = {"datasets": 1_000_000, "labels": 10_000, "examples": 1_000_000}


@translate_errors
class IdStore:
    """Reserves ranges of integer ids. Ids that the caller does not use are never assigned."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def reserve(self, kind: str, count: int = 1) -> int:
        """Reserve `count` consecutive ids of a kind; return the first."""
        row = CounterRow(kind)
        row.update(actions=[CounterRow.value.add(count)])
        return BASES[kind] + int(row.value) - count + 1
