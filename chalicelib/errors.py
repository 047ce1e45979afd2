"""All errors that callers can get, each with its status, code and text.

A class without a status inherits the status of its base class: BadRequest 400, Unauthorized 401,
NotFound 404, MethodNotAllowed 405, Conflict 409, TooLarge 413, UnsupportedType 415, QuotaExceeded
429, StorageUnavailable 503, TimedOut 504. TrainingFailed, PartsSent and LeaseLost never reach a
caller. An error is raised where a rule is checked. Only chalicelib/web (HTTP) and
chalicelib/workers.py (queues) convert errors to answers. See spec (Errors) and contract (section
3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.commands import MODELS_COMMAND


class ServiceError(Exception):
    """An error that is an answer to the caller. Subclasses define its status."""

    status: int = 500
    code: str = "internal_error"
    detail: Any = ""
    """The answer's member `detail`: the cause, if the contract prescribes the text."""
    text: str = ""
    """Fixed text of the error; "" if the text is passed when the error is raised."""

    def __init__(self, message: str | None = None, code: str | None = None) -> None:
        self.message = self.text if message is None else message
        super().__init__(self.message)
        if code is not None:
            self.code = code


class BadRequest(ServiceError):
    """The request is not valid. The text says how to correct it."""

    status = 400
    code = "bad_request"


class MissingParameter(BadRequest):
    """A required field is absent."""

    code = "missing_parameter"

    def __init__(self, name: str, message: str | None = None) -> None:
        super().__init__(message or f"The '{name}' parameter is required.")


class InvalidParameter(BadRequest):
    """A field is present but its value is not allowed."""

    code = "invalid_parameter"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The '{name}' parameter is not valid: {reason}")


class InvalidUpload(BadRequest):
    """The uploaded file cannot become a dataset. The dataset's `statusMsg` shows the text."""

    code = "invalid_upload"
    preview: Any = None  # rows, sheets and columns, as far as they were read


class DownloadFailed(BadRequest):
    """The file behind a `path` or `sampleLocation` cannot be read."""

    code = "download_failed"

    def __init__(self, reason: str = "", file_name: str = "the dataset") -> None:
        super().__init__(f"Failed to download {file_name} from the public URL.")
        self.reason = reason
        self.detail = reason

    def __str__(self) -> str:
        return f"{self.message} {self.reason}".rstrip()


class DatasetNotYetAvailable(BadRequest):
    """Data cannot be added while an upload is running."""

    code = "dataset_busy"
    text = "The dataset is not yet available for update, try again once the dataset is ready."


class TooFewExamples(BadRequest):
    """A label has fewer examples than training needs."""

    code = "too_few_examples"


class TooLarge(ServiceError):
    """A file or body is over its limit."""

    status = 413
    code = "too_large"


class UnsupportedType(ServiceError):
    """The type of the file or of the body is not supported."""

    status = 415
    code = "unsupported_type"


class Unauthorized(ServiceError):
    """The caller is not known."""

    status = 401
    code = "unauthorized"


class InvalidToken(Unauthorized):
    """The token is unknown, expired, revoked or of the wrong kind. The text is always the same."""

    code = "invalid_token"
    text = "Invalid access token"


class InvalidScheme(Unauthorized):
    """The Authorization header is missing or is not a well-formed Bearer token."""

    code = "invalid_authentication_scheme"
    text = "Invalid authentication scheme"


class InvalidGrant(Unauthorized):
    """The token endpoint refuses an assertion or a refresh token. The text does not say why."""

    code = "invalid_grant"
    text = "Invalid authorization grant"


class NotFound(ServiceError):
    """The id is unknown or belongs to another account; the answer is the same in both cases."""

    status = 404
    code = "not_found"


class RouteNotFound(NotFound):
    """No operation of the API has this path."""

    code = "route_not_found"
    text = "There is no such path; GET /v2/docs lists the operations."


class EntitiesNotOffered(NotFound):
    """The call is for named entity recognition, which Presage does not offer."""

    code = "not_offered"
    text = (
        "Named entity recognition is not supported. Texts are classified by "
        "POST /v2/language/intent and POST /v2/language/sentiment."
    )


class ObjectNotFound(NotFound):
    """The caller has no object with this id."""

    what = "object"

    def __init_subclass__(cls, what: str = "") -> None:
        if what:
            cls.what, cls.code = what, f"{what}_not_found"

    def __init__(self, object_id: object) -> None:
        super().__init__(f"Unable to find {self.what} {object_id}.")


class DatasetNotFound(ObjectNotFound, what="dataset"):
    """The caller has no dataset with this id."""


class ModelNotFound(ObjectNotFound, what="model"):
    """The caller has no model with this id."""


class MetricsNotFound(NotFound):
    """No training of the model has succeeded yet."""

    code = "metrics_not_found"

    def __init__(self, model_id: object) -> None:
        super().__init__(f"Model {model_id} has no metrics yet. Wait until it is SUCCEEDED.")


class PrebuiltHasCardOnly(ModelNotFound):
    """A prebuilt model has a card, but no training and no feedback, because no account owns it."""

    def __init__(self, model_id: str, family: str) -> None:
        NotFound.__init__(
            self,
            f"Model {model_id} is prebuilt: it has no training, metrics or feedback of its own. "
            "Its training data and quality are in its card: "
            f"GET /v2/{family}/models/{model_id}/card",
        )


class PrebuiltNotInstalled(NotFound):
    """The prebuilt model exists, but its files are not installed."""

    code = "model_not_installed"

    def __init__(self, model_id: str) -> None:
        super().__init__(
            f"Model {model_id} is not installed. Install it with: {MODELS_COMMAND} install"
        )


class LabelNotFound(ObjectNotFound, what="label"):
    """The caller's dataset has no label with this id or position."""


class DeletionNotFound(ObjectNotFound, what="deletion"):
    """The caller has no deletion with this id."""


class ExportNotFound(ObjectNotFound, what="export"):
    """The caller's dataset has no export with this id, or the export has expired."""


class BatchNotFound(ObjectNotFound, what="batch"):
    """The caller has no batch with this id, or the batch has expired."""


class TokenNotFound(NotFound):
    """The refresh token is not valid, or it belongs to another account."""

    code = "token_not_found"
    text = "Unable to find this refresh token."


class MethodNotAllowed(ServiceError):
    """The path exists, but not with this method."""

    status = 405
    code = "method_not_allowed"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        super().__init__(f"{method} is not allowed here; use {' or '.join(sorted(allowed))}.")
        self.allowed = tuple(sorted(allowed))


class Conflict(ServiceError):
    """The request is valid, but the state of the object does not allow it."""

    status = 409
    code = "conflict"


class DatasetInTraining(Conflict):
    """The dataset cannot be deleted, because a model of it is QUEUED or RUNNING."""

    code = "dataset_in_training"

    def __init__(self, dataset_id: object, model_id: str, status: str) -> None:
        super().__init__(
            f"Dataset {dataset_id} cannot be deleted while model {model_id} is {status}. "
            "Wait until its training has finished, then delete it again."
        )


class DatasetNotReady(Conflict):
    """The dataset cannot be used for training, because it is not available."""

    code = "dataset_not_ready"

    def __init__(self, dataset_id: object, status: str) -> None:
        remedy = "Try again once it is SUCCEEDED and available."
        if status.startswith("FAILED"):
            remedy = "Delete it and upload the data again."
        super().__init__(
            f"Dataset {dataset_id} is not available: its status is {status.rstrip('.')}. {remedy}"
        )


class DatasetBeingDeleted(Conflict):
    """The dataset is being deleted, so it accepts no examples and no trainings."""

    code = "dataset_being_deleted"

    def __init__(self, dataset_id: object) -> None:
        super().__init__(f"Dataset {dataset_id} is being deleted; use another dataset.")


class ExampleNameTaken(Conflict):
    """The dataset already has a feedback image with this name, which must be unique."""

    code = "example_name_taken"

    def __init__(self, dataset_id: object, name: str) -> None:
        super().__init__(
            f"Dataset {dataset_id} already has an example with the name '{name}'. "
            "Send another 'name'."
        )


class ModelBusy(Conflict):
    """The model is QUEUED or RUNNING, so it can be neither retrained nor deleted."""

    code = "model_busy"

    def __init__(self, model_id: str, status: str, action: str) -> None:
        super().__init__(
            f"Model {model_id} cannot be {action} while it is {status}. "
            "Wait until its training has finished, then try again."
        )


class ModelNotReady(Conflict):
    """The model cannot predict, because no training has succeeded."""

    code = "model_not_ready"

    def __init__(self, model_id: str, status: str) -> None:
        super().__init__(
            f"Model {model_id} cannot predict: its status is {status}. "
            "Wait until it is SUCCEEDED, or train it again if it FAILED."
        )


class ModelUnreadable(Conflict):
    """The stored model is damaged, or of a version that this service cannot read."""

    code = "model_not_ready"

    def __init__(self, model_id: str, cause: str) -> None:
        super().__init__(f"Model {model_id} cannot predict: {cause.rstrip('.')}. Train it again.")


class SuspectsNotKept(Conflict):
    """The model has no report of suspect labels: it is too old, or no training has succeeded."""

    code = "suspects_not_kept"

    def __init__(self, model_id: str) -> None:
        cause = "it has not SUCCEEDED yet, or is of an older version. Train it again."
        super().__init__(f"The flagged examples of model {model_id} are not stored: {cause}")


class EvaluationNotKept(Conflict):
    """The model has no evaluation, because its type or its version does not store one."""

    code = "evaluation_not_kept"

    def __init__(self, model_id: str) -> None:
        cause = "it has not SUCCEEDED yet, is of an older version, or detects objects"
        super().__init__(f"The evaluation of model {model_id} is not stored: {cause}.")


class EncoderMissing(Conflict):
    """The model needs an encoder that is not installed. Another encoder cannot replace it."""

    code = "encoder_missing"
    what = "encoder"
    remedy = f"is not installed. Run {MODELS_COMMAND} install"

    def __init__(self, model_id: str, name: str) -> None:
        super().__init__(
            f"Model {model_id} needs the {self.what} {name} that it was trained on, which "
            f"{self.remedy}, or train the model again."
        )


class EncoderUnreadable(EncoderMissing):
    """The model needs an encoder whose files are damaged."""

    remedy = f"has damaged files. Run {MODELS_COMMAND} verify, then {MODELS_COMMAND} install"


class BackboneMissing(EncoderMissing):
    """The model needs a backbone (the encoder of images) that is not installed."""

    code = "backbone_missing"
    what = "backbone"


class ProfileMissing(Conflict):
    """The requested training profile cannot be used, because its encoders are not installed."""

    code = "encoder_missing"

    def __init__(self, profile: str, names: Sequence[str]) -> None:
        super().__init__(
            f"The profile {profile} needs the encoder {' and '.join(names)}, which is not "
            f"installed. Run {MODELS_COMMAND} install, or leave trainParams.profile out."
        )


class QuotaExceeded(ServiceError):
    """The account has reached a limit on its use of the service."""

    status = 429
    code = "quota_exceeded"

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class PredictionQuotaExceeded(QuotaExceeded):
    """The monthly predictions of the plan are used up."""

    code = "prediction_quota_exceeded"


class ExampleQuotaExceeded(QuotaExceeded):
    """The account has used up its monthly number of calls that return examples."""

    code = "example_quota_exceeded"


class BrowseQuotaExceeded(QuotaExceeded):
    """The account has browsed the maximum number of examples today."""

    code = "browse_quota_exceeded"


class RateExceeded(QuotaExceeded):
    """The account has made too many calls of a cost class in a short time."""

    code = "rate_exceeded"


class TooManyOpen(QuotaExceeded):
    """The account has too much unfinished work or too much stored data."""

    code = "too_many_open"


class StorageUnavailable(ServiceError):
    """AWS throttled a call, failed or did not answer. The cause is the chained exception."""

    status = 503
    code = "storage_unavailable"

    def __init__(self, retry_after_seconds: int = 2) -> None:
        super().__init__(f"The storage is busy. Try again in {retry_after_seconds} seconds.")
        self.retry_after_seconds = retry_after_seconds


class NothingIsSaved(StorageUnavailable):
    """The storage cannot save changes at present, so no new data is accepted."""

    code = "nothing_is_saved"

    def __init__(self, since: str) -> None:
        super().__init__(retry_after_seconds=60)
        self.message = (
            f"New data is not accepted now: nothing could be saved since {since}. Reading, "
            f"predicting and deleting still work. Try again in {self.retry_after_seconds} seconds."
        )


class MachineBusy(ServiceError):
    """This process has no free thread or processor time. The request itself is valid."""

    status = 503
    code = "machine_busy"

    def __init__(self, subject: str, retry_after_seconds: int = 10) -> None:
        super().__init__(
            f"{subject} was not read: other work keeps this machine busy. "
            f"Try again in {retry_after_seconds} seconds."
        )
        self.retry_after_seconds = retry_after_seconds


class TimedOut(ServiceError):
    """The work took longer than the gateway waits. The text says how far the work came."""

    status = 504
    code = "timed_out"
    retry_after_seconds = 5


class TrainingFailed(Exception):
    """The model cannot be trained on these examples. The text says why and what to do."""


class PartsSent(Exception):
    """A training has delegated parts of its work, and waits until they are done."""

    def __init__(self, stage: str, heads: int) -> None:
        super().__init__(stage)
        self.stage = stage
        self.heads = heads
        """Number of parts, from the first on, whose messages are sent at once."""


class LeaseLost(Exception):
    """The process must not write: another process owns the job or dataset, or the job has ended."""
