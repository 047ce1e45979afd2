"""What all answers that are no success have in common."""

from __future__ import annotations


class ServiceError(Exception):
    """An answer that is not a success; subclasses fix the status."""

    status: int = 500
    code: str = "internal_error"
    detail: str = ""
    """More than a documented text may say; a member of its own in the answer."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
