"""Stores the ids of all valid refresh tokens. The tokens themselves are not stored."""

from __future__ import annotations

from datetime import datetime

from chalicelib.domain.common.clock import to_milliseconds
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.tables import RefreshTokenRow

# Valid refresh tokens per account; with more, the least recently used ones are revoked.
MAX_TOKENS = 1_000


@translate_errors
class RefreshTokenStore:
    """Stores one row per valid refresh token. A token without a row is revoked."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def create(self, account_id: str, token_id: str, key_id: str, now: datetime) -> None:
        """Store a new refresh token and the id of the account key with which it was requested.

        If the account has more than `MAX_TOKENS`, the least recently used tokens are revoked.
        """
        moment = to_milliseconds(now)
        row = RefreshTokenRow(
            account_id, token_id, key_id=key_id, created_at=moment, used_at=moment
        )
        row.save()
        others = [
            other
            for other in RefreshTokenRow.query(account_id, consistent_read=True)
            if other.token_id != token_id
        ]
        others.sort(key=lambda other: int(other.used_at or other.created_at))
        for oldest in others[: max(0, len(others) + 1 - MAX_TOKENS)]:
            oldest.delete()

    def touch(self, account_id: str, token_id: str, now: datetime) -> None:
        """Store when a token was last used. A revoked token is ignored."""
        row = RefreshTokenRow(account_id, token_id)
        is_there = RefreshTokenRow.token_id.exists()
        try_update(row, [RefreshTokenRow.used_at.set(to_milliseconds(now))], is_there)

    def delete(self, account_id: str, token_id: str) -> bool:
        """Revoke a token; return False if the account has no such token."""
        row = RefreshTokenRow(account_id, token_id)
        return try_write(lambda: row.delete(condition=RefreshTokenRow.token_id.exists()))

    def delete_all(self, account_id: str) -> None:
        """Revoke every token of an account."""
        for row in RefreshTokenRow.query(account_id, consistent_read=True):
            row.delete()
