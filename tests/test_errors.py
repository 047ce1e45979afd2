"""All errors have the same base class."""

from __future__ import annotations

import chalicelib.errors
from chalicelib.errors import LeaseLost, PartsSent, ServiceError, TrainingFailed


def test_every_error_is_in_the_one_place() -> None:
    """Every error of the module is listed as one that callers get, or is one of three others."""
    defined = {
        value
        for value in vars(chalicelib.errors).values()
        if isinstance(value, type) and value.__module__ == chalicelib.errors.__name__
    }

    answers = {error for error in defined if issubclass(error, ServiceError)}
    assert defined - answers == {LeaseLost, PartsSent, TrainingFailed}
