"""The request is right, the state of things forbids it now: 409."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.errors.base import ServiceError


class Conflict(ServiceError):
    """The request is right, the state of the thing forbids it now."""

    status = 409
    code = "conflict"


class DatasetInTraining(Conflict):
    """A dataset cannot be deleted while a model of it is queued or running."""

    code = "dataset_in_training"

    def __init__(self, dataset_id: object, model_id: str, status: str) -> None:
        super().__init__(
            f"Dataset {dataset_id} cannot be deleted while model {model_id} is {status}. "
            "Wait until its training has finished, then delete it again."
        )


class DatasetNotReady(Conflict):
    """A dataset that is not available cannot be trained."""

    code = "dataset_not_ready"

    def __init__(self, dataset_id: object, status: str) -> None:
        remedy = "Try again once it is SUCCEEDED and available."
        if status.startswith("FAILED"):
            remedy = "Delete it and upload the data again."
        super().__init__(
            f"Dataset {dataset_id} is not available: its status is {status.rstrip('.')}. {remedy}"
        )


class DatasetBeingDeleted(Conflict):
    """Nothing can be added to, or trained from, what is being deleted."""

    code = "dataset_being_deleted"

    def __init__(self, dataset_id: object) -> None:
        super().__init__(f"Dataset {dataset_id} is being deleted; use another dataset.")


class ExampleNameTaken(Conflict):
    """Feedback pictures are told apart by their names."""

    code = "example_name_taken"

    def __init__(self, dataset_id: object, name: str) -> None:
        super().__init__(
            f"Dataset {dataset_id} has an example of the name '{name}' already. "
            "Send another 'name'."
        )


class ModelBusy(Conflict):
    """A model that is queued or running can be neither retrained nor deleted."""

    code = "model_busy"

    def __init__(self, model_id: str, status: str, action: str) -> None:
        super().__init__(
            f"Model {model_id} cannot be {action} while it is {status}. "
            "Wait until its training has finished, then try again."
        )


class ModelNotReady(Conflict):
    """A model that never succeeded cannot predict."""

    code = "model_not_ready"

    def __init__(self, model_id: str, status: str) -> None:
        super().__init__(
            f"Model {model_id} cannot predict: its status is {status}. "
            "Wait until it is SUCCEEDED, or train it again if it FAILED."
        )


class ModelUnreadable(Conflict):
    """The stored model is damaged, or of a version that this service does not read."""

    code = "model_not_ready"

    def __init__(self, model_id: str, cause: str) -> None:
        super().__init__(f"Model {model_id} cannot predict: {cause.rstrip('.')}. Train it again.")


class EncoderMissing(Conflict):
    """The model needs an encoder that is not installed; others are never used in its place."""

    code = "encoder_missing"
    what = "encoder"
    remedy = "is not installed. Run python -m infra.models install"

    def __init__(self, model_id: str, name: str) -> None:
        super().__init__(
            f"Model {model_id} needs the {self.what} {name} that it was trained on, which "
            f"{self.remedy}, or train the model again."
        )


class EncoderUnreadable(EncoderMissing):
    """The model needs an encoder whose files are damaged."""

    remedy = (
        "has damaged files. Run python -m infra.models verify, then python -m infra.models install"
    )


class BackboneMissing(EncoderMissing):
    """The same of a backbone, the encoder of pictures."""

    code = "backbone_missing"
    what = "backbone"


class ProfileMissing(Conflict):
    """A training asks for a profile whose encoders are not installed."""

    code = "encoder_missing"

    def __init__(self, profile: str, names: Sequence[str]) -> None:
        super().__init__(
            f"The profile {profile} needs the encoder {' and '.join(names)}, which is not "
            "installed. Run python -m infra.models install, or leave trainParams.profile out."
        )
