"""Every error that callers may meet, with its status, code and text.

Import them from here; each lies in the module that is named after its kind:

base            ServiceError, never raised itself
bad_request     BadRequest 400            ├─ MissingParameter  ├─ InvalidParameter
                                          ├─ InvalidUpload  ├─ DownloadFailed
                                          ├─ DatasetNotYetAvailable  └─ TooFewExamples
                TooLarge 413, UnsupportedType 415
unauthorized    Unauthorized 401          ├─ InvalidToken  ├─ InvalidScheme  └─ InvalidGrant
not_found       NotFound 404              ├─ DatasetNotFound  ├─ ModelNotFound  ├─ LabelNotFound
                                          ├─ MetricsNotFound  ├─ DeletionNotFound
                                          ├─ TokenNotFound  ├─ RouteNotFound
                                          └─ PrebuiltNotInstalled
                MethodNotAllowed 405
conflict        Conflict 409              ├─ DatasetInTraining  ├─ DatasetNotReady
                                          ├─ DatasetBeingDeleted  ├─ ExampleNameTaken
                                          ├─ ModelBusy  ├─ ModelNotReady  ├─ ModelUnreadable
                                          ├─ EncoderMissing
                                          │  ├─ EncoderUnreadable  └─ BackboneMissing
                                          └─ ProfileMissing
quota_exceeded  QuotaExceeded 429         ├─ PredictionQuotaExceeded  ├─ ExampleQuotaExceeded
                                          └─ TooManyOpen
unavailable     StorageUnavailable 503, TimedOut 504
internal        TrainingFailed (the engine cannot learn from these examples; becomes the model's
                failure message), LeaseLost (another worker owns the job now)

Raised where the rule is known, translated in two places only: chalicelib/web/endpoint.py (HTTP)
and chalicelib/workers.py (queues). Spec: Errors; contract section 3.
"""

from __future__ import annotations

from chalicelib.errors.bad_request import (
    BadRequest,
    DatasetNotYetAvailable,
    DownloadFailed,
    InvalidParameter,
    InvalidUpload,
    MissingParameter,
    TooFewExamples,
    TooLarge,
    UnsupportedType,
)
from chalicelib.errors.base import ServiceError
from chalicelib.errors.conflict import (
    BackboneMissing,
    Conflict,
    DatasetBeingDeleted,
    DatasetInTraining,
    DatasetNotReady,
    EncoderMissing,
    EncoderUnreadable,
    ExampleNameTaken,
    ModelBusy,
    ModelNotReady,
    ModelUnreadable,
    ProfileMissing,
)
from chalicelib.errors.internal import LeaseLost, TrainingFailed
from chalicelib.errors.not_found import (
    DatasetNotFound,
    DeletionNotFound,
    LabelNotFound,
    MethodNotAllowed,
    MetricsNotFound,
    ModelNotFound,
    NotFound,
    PrebuiltNotInstalled,
    RouteNotFound,
    TokenNotFound,
)
from chalicelib.errors.quota_exceeded import (
    ExampleQuotaExceeded,
    PredictionQuotaExceeded,
    QuotaExceeded,
    TooManyOpen,
)
from chalicelib.errors.unauthorized import InvalidGrant, InvalidScheme, InvalidToken, Unauthorized
from chalicelib.errors.unavailable import StorageUnavailable, TimedOut

__all__ = [
    "BackboneMissing",
    "BadRequest",
    "Conflict",
    "DatasetBeingDeleted",
    "DatasetInTraining",
    "DatasetNotFound",
    "DatasetNotReady",
    "DatasetNotYetAvailable",
    "DeletionNotFound",
    "DownloadFailed",
    "EncoderMissing",
    "EncoderUnreadable",
    "ExampleNameTaken",
    "ExampleQuotaExceeded",
    "InvalidGrant",
    "InvalidParameter",
    "InvalidScheme",
    "InvalidToken",
    "InvalidUpload",
    "LabelNotFound",
    "LeaseLost",
    "MethodNotAllowed",
    "MetricsNotFound",
    "MissingParameter",
    "ModelBusy",
    "ModelNotFound",
    "ModelNotReady",
    "ModelUnreadable",
    "NotFound",
    "PrebuiltNotInstalled",
    "PredictionQuotaExceeded",
    "ProfileMissing",
    "QuotaExceeded",
    "RouteNotFound",
    "ServiceError",
    "StorageUnavailable",
    "TimedOut",
    "TokenNotFound",
    "TooFewExamples",
    "TooLarge",
    "TooManyOpen",
    "TrainingFailed",
    "Unauthorized",
    "UnsupportedType",
]
