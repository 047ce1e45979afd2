"""Models, their trainings and algorithms. Spec: Model record, Model training status."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL, OUT_OF_DOMAIN_RATE
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FAMILY_TYPES,
    IMAGE,
    LANGUAGE,
    MULTI_LABEL,
    VISION,
)
from chalicelib.domain.models.model_version import KeptVersions
from chalicelib.errors import Conflict, InvalidParameter

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
    """Examples trained on while metrics were measured."""
    test_size: int


@dataclass(frozen=True)
class TrainRequest:
    """The validated options of a train or retrain call."""

    epochs: int | None = None
    learning_rate: float | None = None
    algorithm: str | None = None
    """One of ALGORITHMS; None for types without a choice."""
    params: Mapping[str, object] | None = None
    """The known members of `trainParams` with proper types, as answers show them."""
    adjustment: Mapping[str, object] | None = None
    """Key of the texts, and rate, of a run that adjusts the served version; None to train."""
    imported: Mapping[str, object] | None = None
    """Where the archive of an imported model is; None for a model that is trained here."""

    def param(self, name: str) -> object:
        """Return a member of `trainParams`; None if it was not sent."""
        return None if self.params is None else self.params.get(name)

    @property
    def with_feedback(self) -> bool:
        """Return whether feedback examples are used."""
        return self.param("withFeedback") is True

    @property
    def skips_small_labels(self) -> bool:
        """Return whether labels of a text model with too few examples are left out."""
        return self.param("skipSmallLabels") is True

    @property
    def minimum_examples(self) -> int:
        """Return how many examples each label of a text model needs."""
        asked = self.param("minimumExamples")
        return MIN_EXAMPLES_PER_LABEL if asked is None else int(str(asked))

    @property
    def serves_if_better(self) -> bool:
        """Return whether a new version is served only if it is not worse."""
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
    """0 to 1 within a run."""
    created_at: datetime
    updated_at: datetime
    request: TrainRequest = field(default_factory=TrainRequest)
    """Options of the last train or retrain call."""
    run: int = 1
    """1 for the first training; grows with every retraining."""
    fence: int = 0
    """Grows with every worker that takes the run; one with an older fence cannot publish."""
    attempts: int = 0
    queued_at: datetime | None = None
    is_paid: bool = False
    """Whether the training waits in the queue lane of paid plans."""
    turn: int = 0
    """Order of the training in its queue lane; see chalicelib/domain/jobs/turns.py."""
    lease_until: int = 0
    """End of a worker's lease of the run, in milliseconds since 1970."""
    served_seconds: float = 0
    """Seconds that workers spent on the run before they released it."""
    epochs: int = 0
    """Epochs of the run, as answers show them."""
    failure: str = ""
    """Why the run FAILED."""
    stats: TrainStats | None = None
    """Set once a run SUCCEEDED."""
    version: str = ""
    """Folder of the version that predicts; empty before the first success."""
    versions: KeptVersions = field(default_factory=KeptVersions)
    """The versions that are kept."""
    last_error: str = ""
    """What failed in the last attempt, for the message of a run without attempts left."""
    # Whether `outOfDomainRate` applies with every intent algorithm. Older models were trained while
    # it was ignored, so they must keep answering with labels, retrained or not.
    heeds_rate: bool = False
    mark: str | None = None
    """Identifies the call that requested the run; None for one without an idempotency key."""

    def require_dataset(self, action: str) -> None:
        """Raise an error if the model was imported, so that it has no dataset here.

        Args:
            action: what needs the dataset, for example `retrained`.

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
    def out_of_domain_rate(self) -> float | None:
        """Return the fraction of in-domain texts that may be rejected; None to reject nothing."""
        sent = self.request.param("outOfDomainRate")
        if self.request.algorithm == OUT_OF_DOMAIN:
            return OUT_OF_DOMAIN_RATE if sent is None else float(str(sent))
        if sent is None or not self.heeds_rate or self.request.algorithm is None:
            return None
        return float(str(sent))


@dataclass(frozen=True)
class ModelView:
    """A model with its queue position, as answers show it."""

    model: Model
    queue_position: int | None = None
    """While QUEUED, 1 + the number of trainings in front; otherwise None."""


@dataclass(frozen=True)
class ServedModel:
    """The data of a model that predictions need."""

    model_id: str
    """Id, or name of a prebuilt model."""
    type: str
    status: str
    """Training status, for the message of a refusal."""
    version: str
    """Artifact version; empty when there is none yet."""

    @property
    def family(self) -> str:
        """Return the family of the calls that the model answers."""
        return LANGUAGE if self.type in FAMILY_TYPES[LANGUAGE] else VISION

    def require_type(self, types: Collection[str]) -> None:
        """Raise an error unless the model is of one of these types.

        Raises:
            InvalidParameter: the model is of another type.
        """
        if self.type not in types:
            raise InvalidParameter(
                "modelId",
                f"model {self.model_id} is of type {self.type}; "
                f"this call needs one of type {' or '.join(types)}.",
            )
