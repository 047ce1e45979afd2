"""The caller is not known: 401."""

from __future__ import annotations

from chalicelib.errors.base import ServiceError


class Unauthorized(ServiceError):
    """The caller is not known."""

    status = 401
    code = "unauthorized"


class InvalidToken(Unauthorized):
    """The token is unknown, expired, revoked or of the wrong kind; one text for all."""

    code = "invalid_token"

    def __init__(self) -> None:
        super().__init__("Invalid access token")


class InvalidScheme(Unauthorized):
    """The Authorization header is missing or is no well-formed Bearer."""

    code = "invalid_authentication_scheme"

    def __init__(self) -> None:
        super().__init__("Invalid authentication scheme")


class InvalidGrant(Unauthorized):
    """The token endpoint refuses an assertion or refresh token; one text for all reasons."""

    code = "invalid_grant"

    def __init__(self) -> None:
        super().__init__("Invalid authorization grant")
