"""There is no such thing, path or method: 404 and 405."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.errors.base import ServiceError


class NotFound(ServiceError):
    """The id is unknown, or belongs to somebody else: the two answer alike."""

    status = 404
    code = "not_found"


class RouteNotFound(NotFound):
    """No operation has this path."""

    code = "route_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such path; GET /v2/docs lists the operations.")


class DatasetNotFound(NotFound):
    """No dataset of the caller has this id."""

    code = "dataset_not_found"

    def __init__(self, dataset_id: object) -> None:
        super().__init__(f"Unable to find dataset {dataset_id}.")


class ModelNotFound(NotFound):
    """No model of the caller has this id."""

    code = "model_not_found"

    def __init__(self, model_id: object) -> None:
        super().__init__(f"Unable to find model {model_id}.")


class MetricsNotFound(NotFound):
    """The model has not finished a training yet."""

    code = "metrics_not_found"

    def __init__(self, model_id: object) -> None:
        super().__init__(f"Model {model_id} has no metrics yet; they are there once it SUCCEEDED.")


class PrebuiltNotInstalled(NotFound):
    """A prebuilt model is known but its files are not installed."""

    code = "model_not_installed"

    def __init__(self, model_id: str) -> None:
        super().__init__(
            f"Model {model_id} is not installed. Install it with: python -m infra.models install"
        )


class LabelNotFound(NotFound):
    """No label of the caller's dataset has this id or position."""

    code = "label_not_found"

    def __init__(self, label_id: object) -> None:
        super().__init__(f"Unable to find label {label_id}.")


class DeletionNotFound(NotFound):
    """No deletion of the caller has this id."""

    code = "deletion_not_found"

    def __init__(self, deletion_id: object) -> None:
        super().__init__(f"Unable to find deletion {deletion_id}.")


class TokenNotFound(NotFound):
    """No refresh token of the caller is this one."""

    code = "token_not_found"

    def __init__(self) -> None:
        super().__init__("Unable to find this refresh token.")


class MethodNotAllowed(ServiceError):
    """The path exists, the method does not."""

    status = 405
    code = "method_not_allowed"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        super().__init__(f"{method} is not allowed here; use {' or '.join(sorted(allowed))}.")
        self.allowed = tuple(sorted(allowed))
