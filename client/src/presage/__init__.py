"""Client of Presage: train on your examples, predict, read documents.

Example:
    from presage import Presage

    client = Presage.from_env()
    data = client.language.datasets.upload("tickets.csv", type="text-intent")
    model = data.train(name="tickets").wait()
    print(model.predict("Where is my parcel?").label)
"""

from presage._async.batches import AsyncBatch
from presage._async.client import AsyncPresage
from presage._async.datasets import AsyncDataset
from presage._async.exports import AsyncExport, AsyncModelExport
from presage._async.models import AsyncModel
from presage._async.pages import AsyncPages
from presage._async.templates import AsyncLearnedTemplate
from presage._sync.batches import Batch
from presage._sync.client import Presage
from presage._sync.datasets import Dataset
from presage._sync.exports import Export, ModelExport
from presage._sync.models import Model
from presage._sync.pages import Pages
from presage._sync.templates import LearnedTemplate
from presage._version import __version__
from presage.errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConflictError,
    FileError,
    GatewayTimeoutError,
    InternalServerError,
    JobFailedError,
    NotFoundError,
    PermissionDeniedError,
    PresageError,
    RateLimitError,
    ServiceUnavailableError,
    SignatureError,
    TooLargeError,
    UnprocessableError,
    UnreachableError,
    UnreadableAnswerError,
    UnsupportedTypeError,
    WaitTimeoutError,
)
from presage.results import (
    Detection,
    FormField,
    FormFields,
    FormResult,
    OcrResult,
    Prediction,
    Table,
    TableResult,
)

__all__ = [
    "ApiError",
    "AsyncBatch",
    "AsyncDataset",
    "AsyncExport",
    "AsyncLearnedTemplate",
    "AsyncModel",
    "AsyncModelExport",
    "AsyncPages",
    "AsyncPresage",
    "AuthenticationError",
    "BadRequestError",
    "Batch",
    "ConfigurationError",
    "ConflictError",
    "Dataset",
    "Detection",
    "Export",
    "FileError",
    "FormField",
    "FormFields",
    "FormResult",
    "GatewayTimeoutError",
    "InternalServerError",
    "JobFailedError",
    "LearnedTemplate",
    "Model",
    "ModelExport",
    "NotFoundError",
    "OcrResult",
    "Pages",
    "PermissionDeniedError",
    "Prediction",
    "Presage",
    "PresageError",
    "RateLimitError",
    "ServiceUnavailableError",
    "SignatureError",
    "Table",
    "TableResult",
    "TooLargeError",
    "UnprocessableError",
    "UnreachableError",
    "UnreadableAnswerError",
    "UnsupportedTypeError",
    "WaitTimeoutError",
    "__version__",
]
