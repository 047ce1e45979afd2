"""Models, their trainings and algorithms. Spec: Model record, Model training status."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL, OUT_OF_DOMAIN_RATE
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    IMAGE,
    LANGUAGE,
    MULTI_LABEL,
    VISION,
)
from chalicelib.domain.datasets.upload import upload_id_of
from chalicelib.domain.models.model_version import KeptVersions
from chalicelib.errors import Conflict, InvalidParameter, ModelNotReady

QUEUED = "QUEUED"
RUNNING = "RUNNING"
SUCCEEDED = "SUCCEEDED"
FAILED = "FAILED"
OPEN = (QUEUED, RUNNING)

# Type of the OCR models; no dataset has it.
OCR = "ocr"
# Algorithms by dataset type, the default first. Contract section 5.
ALGORITHMS: dict[str, tuple[str, ...]] = {
    "text-intent": ("intent", "multilingual-intent", "multilingual-intent-ood"),
    DETECTION: ("object-detection", "retail-execution"),
}
ALGORITHM_ALIASES = {
    "object-detection-v1": "object-detection",
    "object-detection-v2": "object-detection",
}
# Prebuilt models and their types. Contract section 5.
PREBUILT = {
    "CommunitySentiment": "text-sentiment",
    "GlobalIntentModel": "text-intent",
    "GeneralImageClassifier": IMAGE,
    "FoodImageClassifier": IMAGE,
    "SceneClassifier": IMAGE,
    "MultiLabelImageClassifier": MULTI_LABEL,
    "OCRModel": OCR,
    "tabulatev2": OCR,
}
OUT_OF_DOMAIN = "multilingual-intent-ood"
# Types of imports whose archive is not read yet; they begin like the other types of the family.
UNKNOWN_TYPES = {LANGUAGE: "text-unknown", VISION: "image-unknown"}


@dataclass(frozen=True)
class TrainStats:
    """Figures of a finished training; durations in seconds."""

    labels: int
    examples: int
    total_seconds: float
    training_seconds: float
    save_seconds: float
    load_seconds: float
    early_stopping: bool
    """Whether the optimiser stopped before its last epoch."""
    last_epoch: int
    train_size: int
    """Number of examples on which the model with the reported metrics was trained."""
    test_size: int


@dataclass(frozen=True)
class TrainRequest:
    """The validated options of a train or retrain call."""

    epochs: int | None = None
    learning_rate: float | None = None
    algorithm: str | None = None
    """One of ALGORITHMS; None if the dataset type has only one algorithm."""
    params: Mapping[str, object] | None = None
    """The known members of `trainParams`, converted to their types."""
    adjustment: Mapping[str, object] | None = None
    """Options of a run that adjusts the served version; None for a training.

    Members include the bucket key of the texts, and the fraction of in-domain texts to reject.
    """
    imported: Mapping[str, object] | None = None
    """For an imported model: where its archive is. None for a model trained here."""

    def param(self, name: str) -> object:
        """Return a member of `trainParams`; None if it was not sent."""
        return None if self.params is None else self.params.get(name)

    @property
    def with_feedback(self) -> bool:
        """Return whether the training uses feedback examples."""
        return self.param("withFeedback") is True

    @property
    def skips_small_labels(self) -> bool:
        """Return whether a text training leaves out labels with too few examples."""
        return self.param("skipSmallLabels") is True

    @property
    def minimum_examples(self) -> int:
        """Return how many examples each label needs in a text training."""
        asked = self.param("minimumExamples")
        return MIN_EXAMPLES_PER_LABEL if asked is None else int(str(asked))

    @property
    def unlabelled_upload(self) -> str | None:
        """Return the id of the uploaded file with unlabelled texts for the training, or None."""
        return upload_id_of(str(self.param("unlabelled")))

    @property
    def serves_if_better(self) -> bool:
        """Return whether to serve a new version only if it is not worse than the served version."""
        return self.param("serve") == "if-better"


@dataclass(frozen=True)
class Model:
    """A model as its row stores it."""

    account_id: str
    model_id: str
    name: str
    dataset_id: int
    family: str
    type: str
    language: str
    status: str
    """QUEUED, RUNNING, SUCCEEDED or FAILED."""
    progress: float
    """Progress of the current run, 0 to 1."""
    created_at: datetime
    updated_at: datetime
    request: TrainRequest = field(default_factory=TrainRequest)
    """Options of the latest train or retrain call."""
    run: int = 1
    """Number of the run: 1 for the first training, one more for each retraining."""
    fence: int = 0
    """Fence token, increased by each new worker lease. Writes with an older token are refused."""
    attempts: int = 0
    queued_at: datetime | None = None
    is_paid: bool = False
    """Whether the training waits in the queue of paid plans."""
    turn: int = 0
    """Number that orders the training in its queue; see chalicelib/domain/jobs/turns.py."""
    lease_until: int = 0
    """When the worker's lease on the run ends, in milliseconds since 1970."""
    served_seconds: float = 0
    """Seconds that earlier workers spent on the run."""
    epochs: int = 0
    """Number of finished epochs of the run."""
    failure: str = ""
    """Why the run FAILED."""
    stats: TrainStats | None = None
    """Figures of the last run that SUCCEEDED; None before the first success."""
    version: str = ""
    """Folder of the version that is served; empty before the first success."""
    versions: KeptVersions = field(default_factory=KeptVersions)
    """The stored versions of the model."""
    last_error: str = ""
    """Error of the last attempt, which `failure` includes if no attempts are left."""
    # Whether `outOfDomainRate` applies with every intent algorithm. For older models of algorithms
    # other than multilingual-intent-ood, the parameter was ignored, so they must keep answering
    # with labels, retrained or not.
    heeds_rate: bool = False
    mark: str | None = None
    """Id of the call that requested the run; None for a call without an idempotency key."""

    def require_dataset(self, action: str) -> None:
        """Raise an error if the model was imported, because such a model has no dataset here.

        `action` is what cannot be done without the dataset, for example `retrained`.

        Raises:
            Conflict: the model was imported.
        """
        if self.request.imported is not None:
            raise Conflict(
                f"Model {self.model_id} cannot be {action}: it was imported, and its examples are "
                "not in this account. Train a model from a dataset of this account.",
                "model_imported",
            )

    @property
    def is_adjusting(self) -> bool:
        """Return whether the model waits for an adjustment or is being adjusted."""
        return self.status in OPEN and self.request.adjustment is not None

    @property
    def out_of_domain_rate(self) -> float | None:
        """Return the maximum fraction of in-domain texts to reject; None to reject no text."""
        sent = self.request.param("outOfDomainRate")
        if self.request.algorithm == OUT_OF_DOMAIN:
            return OUT_OF_DOMAIN_RATE if sent is None else float(str(sent))
        if sent is None or not self.heeds_rate or self.request.algorithm is None:
            return None
        return float(str(sent))


@dataclass(frozen=True)
class ModelView:
    """A model with its queue position, as the API returns it."""

    model: Model
    queue_position: int | None = None
    """1 + the number of trainings ahead in the queue; None unless the model is QUEUED."""


@dataclass(frozen=True)
class ServedModel:
    """The attributes of a model that a prediction needs."""

    model_id: str
    """Id, or name of a prebuilt model."""
    type: str
    status: str
    """Status of the training, for the error text if the model cannot predict."""
    version: str
    """Version of the artifact; empty if the model never SUCCEEDED."""

    @property
    def family(self) -> str:
        """Return `language` or `vision`, as in the API path of the model's predictions."""
        # Not a lookup: the type of an import is unknown until its archive is read.
        return LANGUAGE if self.type.startswith("text-") else VISION

    def require_known_type(self) -> None:
        """Raise ModelNotReady if the model is imported and its archive has not been read yet."""
        if self.type in UNKNOWN_TYPES.values():
            raise ModelNotReady(self.model_id, self.status)

    def require_type(self, types: Collection[str]) -> None:
        """Raise an error unless the model has one of these types.

        Raises:
            InvalidParameter: the model is of another type.
            ModelNotReady: the type is unknown, because the imported archive is not read yet.
        """
        self.require_known_type()
        if self.type not in types:
            raise InvalidParameter(
                "modelId",
                f"model {self.model_id} is of type {self.type}; "
                f"this call needs one of type {' or '.join(types)}.",
            )
