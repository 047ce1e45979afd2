"""All errors are of one family."""

from __future__ import annotations

import chalicelib.errors
from chalicelib.errors import LeaseLost, PartsSent, ServiceError, TrainingFailed


def test_every_error_is_in_the_one_place() -> None:
    """Every error that the module defines is one that callers meet, or one of three others."""
    defined = {
        value
        for value in vars(chalicelib.errors).values()
        if isinstance(value, type) and value.__module__ == chalicelib.errors.__name__
    }

    answers = {error for error in defined if issubclass(error, ServiceError)}
    assert defined - answers == {LeaseLost, PartsSent, TrainingFailed}
