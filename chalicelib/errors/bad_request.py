"""The request is wrong: 400, and 413 and 415 for what it carries."""

from __future__ import annotations

from chalicelib.errors.base import ServiceError


class BadRequest(ServiceError):
    """The request is wrong; the text says how to mend it."""

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
    """The uploaded file cannot become a dataset; also the text behind `FAILED: `."""

    code = "invalid_upload"


class DownloadFailed(BadRequest):
    """A URL given as `path` or `sampleLocation` cannot be read."""

    code = "download_failed"

    def __init__(self, reason: str = "", what: str = "the dataset") -> None:
        super().__init__(f"Failed to download {what} from the public URL.")
        self.reason = reason
        self.detail = reason

    def __str__(self) -> str:
        return f"{self.message} {self.reason}".rstrip()


class DatasetNotYetAvailable(BadRequest):
    """Data cannot be added while an upload is going on."""

    code = "dataset_busy"

    def __init__(self) -> None:
        super().__init__(
            "The dataset is not yet available for update, try again once the dataset is ready."
        )


class TooFewExamples(BadRequest):
    """A label has fewer examples than training needs."""

    code = "too_few_examples"


class TooLarge(ServiceError):
    """A file or body is over its limit."""

    status = 413
    code = "too_large"


class UnsupportedType(ServiceError):
    """Bytes or content type of no supported kind."""

    status = 415
    code = "unsupported_type"
