"""Models, their trainings and algorithms. Spec: Model record, Model training status."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.common.limits import OUT_OF_DOMAIN_RATE
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FAMILY_TYPES,
    IMAGE,
    LANGUAGE,
    MULTI_LABEL,
    VISION,
)
from chalicelib.errors import InvalidParameter

QUEUED = "QUEUED"
RUNNING = "RUNNING"
SUCCEEDED = "SUCCEEDED"
FAILED = "FAILED"
OPEN = (QUEUED, RUNNING)

# Type of the models that read text; no dataset has it.
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
    """What a finished training did; durations in seconds."""

    labels: int
    """Labels of the model."""
    examples: int
    """Examples it was trained from."""
    total_seconds: float
    """From start to end."""
    training_seconds: float
    """Fitting."""
    save_seconds: float
    """Writing the artifact."""
    load_seconds: float
    """Reading examples and embeddings."""
    early_stopping: bool
    """True when the optimiser stopped before its last epoch."""
    last_epoch: int
    """Epochs really run."""
    train_size: int
    """Examples trained on while metrics were measured."""
    test_size: int
    """Examples held out."""


@dataclass(frozen=True)
class TrainRequest:
    """What a train or retrain call asked for, validated."""

    epochs: int | None = None
    """Longest run, or None for the default."""
    learning_rate: float | None = None
    """Learning rate that was sent."""
    algorithm: str | None = None
    """One of ALGORITHMS, or None where the type has none."""
    params: Mapping[str, object] | None = None
    """The known members of `trainParams` with proper types, as they are echoed."""

    def param(self, name: str) -> object:
        """Return a member of `trainParams`, or None."""
        return None if self.params is None else self.params.get(name)

    @property
    def with_feedback(self) -> bool:
        """Return whether feedback examples are used."""
        return self.param("withFeedback") is True


@dataclass(frozen=True)
class Model:
    """A model as its row holds it."""

    account_id: str
    """Owner."""
    model_id: str
    """String id."""
    name: str
    dataset_id: int
    """Dataset it is trained from."""
    family: str
    """Family of that dataset."""
    type: str
    """Type of that dataset."""
    language: str
    """Inherited from the dataset."""
    status: str
    """QUEUED, RUNNING, SUCCEEDED or FAILED."""
    progress: float
    """0 to 1 within a run."""
    created_at: datetime
    """When it was first trained."""
    updated_at: datetime
    """When its status last changed."""
    request: TrainRequest = field(default_factory=TrainRequest)
    """What the last train or retrain call asked for."""
    run: int = 1
    """1 for the first training, one more for each retraining."""
    fence: int = 0
    """Grows with every worker that takes the run; an older one cannot publish."""
    attempts: int = 0
    """How often the run was taken."""
    queued_at: datetime | None = None
    """When the run was queued."""
    is_paid: bool = False
    """Which queue the run stands in."""
    turn: int = 0
    """Its number in its lane; see chalicelib/domain/jobs/turns.py."""
    lease_until: int = 0
    """Until when a worker owns the run, in milliseconds since 1970."""
    served_seconds: float = 0
    """How long workers that gave the run back had worked on it, in seconds."""
    epochs: int = 0
    """Epochs of the run, as answers show them."""
    failure: str = ""
    """Why the run FAILED."""
    stats: TrainStats | None = None
    """Present once a run SUCCEEDED."""
    version: str = ""
    """Artifact version that predicts; empty before the first success."""
    last_error: str = ""
    """What broke the last attempt, for the failure message of a job out of attempts."""
    heeds_rate: bool = False
    """Whether `outOfDomainRate` counts with every algorithm of intents. It was ignored before, and
    models of that time go on answering labels, retrained or not."""
    mark: str | None = None
    """Tells the call that asked for the run from others; None for one without a key."""

    @property
    def out_of_domain_rate(self) -> float | None:
        """Share of texts of its domain that a text model may reject; None: it rejects nothing."""
        sent = self.request.param("outOfDomainRate")
        if self.request.algorithm == OUT_OF_DOMAIN:
            return OUT_OF_DOMAIN_RATE if sent is None else float(str(sent))
        if sent is None or not self.heeds_rate or self.request.algorithm is None:
            return None
        return float(str(sent))


@dataclass(frozen=True)
class ModelView:
    """A model with its place in the queue, as answers show it."""

    model: Model
    """The row."""
    queue_position: int | None = None
    """1 + the trainings in front while QUEUED; None otherwise."""


@dataclass(frozen=True)
class ServedModel:
    """What a prediction needs to know of a model."""

    model_id: str
    """String id or prebuilt name."""
    type: str
    """Dataset type it was trained from."""
    status: str
    """Training status, for the text of a refusal."""
    version: str
    """Artifact version; empty when there is none yet."""

    @property
    def family(self) -> str:
        """Family of the calls that it answers."""
        return LANGUAGE if self.type in FAMILY_TYPES[LANGUAGE] else VISION

    def require_type(self, types: Collection[str]) -> None:
        """Return when the model is of a type that a call needs.

        Raises:
            InvalidParameter: it is of another type.
        """
        if self.type not in types:
            raise InvalidParameter(
                "modelId",
                f"model {self.model_id} is of type {self.type}; "
                f"this call needs one of type {' or '.join(types)}.",
            )
