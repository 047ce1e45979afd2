"""A minimal model of the specification of text datasets and their models.

Nothing here calls the service: operations tell it what they did, comparisons ask it what must be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

UPLOAD, FEEDBACK = "upload", "feedback"
SOURCES = (UPLOAD, FEEDBACK)
INTENT, SENTIMENT = "text-intent", "text-sentiment"
SENTIMENTS = ("positive", "negative", "neutral")
MIN_LABELS = 2
MIN_EXAMPLES = 5
KEPT_VERSIONS = 10
Row = tuple[str, str]
"""Text and label, as they are in a file."""
Obstacle = tuple[int, bool]
"""Status of a refusal, and whether its cause is certain; work in the background is not certain."""


def allowed(obstacles: Iterable[Obstacle]) -> set[int]:
    """Return the allowed statuses of a call, given its obstacles in the order of checks.

    The first certain cause ends the list; without one, the call may succeed.
    """
    found = set()
    for status, is_certain in obstacles:
        found.add(status)
        if is_certain:
            return found
    return found | {200}


@dataclass
class Example:
    """A text example of a label."""

    text: str
    place: int
    """How many came to the dataset before it; ids follow this order."""
    id: int = 0
    """0 until an answer has given it."""


@dataclass
class Label:
    """A label of a dataset with its texts."""

    name: str
    id: int = 0
    """0 until an answer has given it."""
    former: list[str] = field(default_factory=list)
    """Names that lead to it where no label bears them, the latest last."""
    examples: dict[str, list[Example]] = field(default_factory=lambda: {UPLOAD: [], FEEDBACK: []})
    """By source, in the order in which they came to the dataset."""

    def count(self, sources: Iterable[str] = SOURCES) -> int:
        """Count the examples from some sources."""
        return sum(len(self.examples[source]) for source in sources)

    def find(self, text: str, source: str) -> Example | None:
        """Find a text among the examples of a source."""
        return next((one for one in self.examples[source] if one.text == text), None)

    def put(self, source: str, example: Example) -> int:
        """Add an example to a source; of equal examples the lower id stays.

        Returns:
            How many are left out.
        """
        equal = self.find(example.text, source)
        if equal is not None:
            if equal.place < example.place:
                return 1
            self.examples[source].remove(equal)
        self.examples[source].append(example)
        self.examples[source].sort(key=lambda one: one.place)
        return int(equal is not None)

    def rename(self, name: str, others: Iterable[str] = ()) -> None:
        """Change the name; former names and `others` keep leading to this label."""
        names = [*self.former, self.name, *others]
        self.former = [one for one in names if one != name]
        self.name = name


Item = tuple[Label, str, Example]
"""An example with its label and source."""


@dataclass
class Receipt:
    """The outcome of a file; seen = kept + duplicates + rejected."""

    status: str = "UPLOADING"
    seen: int = 0
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    rows: list[int] = field(default_factory=list)
    """The rejected rows."""


@dataclass
class Dataset:
    """A text dataset."""

    name: str
    type: str
    is_uploaded: bool
    id: int = 0
    created_at: str = ""
    labels: list[Label] = field(default_factory=list)
    duplicates: int = 0
    has_failed: bool = False
    """The last file was of no use."""
    is_usable: bool = False
    """Made by hand, or a file was read."""
    waiting: Sequence[Row] | None = None
    """Rows of a file that is being read, or was; an answer will tell."""
    receipts: list[Receipt] = field(default_factory=list)
    """Newest first."""
    deletion_id: str = ""
    is_gone: bool = False
    """Its rows were seen to be gone."""
    was_given_out: bool = False
    """A temporary URL of its file was given out, which outlives it for a while."""
    came: int = 0
    """Examples that ever came to it."""

    def begin(self, rows: Sequence[Row]) -> None:
        """Accept a file, whose rows are read in the background."""
        self.waiting = rows
        self.receipts.insert(0, Receipt())

    def finish(self) -> None:
        """Apply the rows of the file that was being read."""
        rows, self.waiting = self.waiting, None
        if rows is None:
            return
        receipt = self.receipts[0]
        kept: dict[Row, None] = {}
        for number, (text, written) in enumerate(rows, 1):
            name = self.present_name(self.label_name(written))
            if not name or not text.strip():
                receipt.rejected += 1
                receipt.rows.append(number)
            elif (text, name) in kept or self.has(text, name):
                receipt.duplicates += 1
            else:
                kept[text, name] = None
        receipt.seen, receipt.kept = len(rows), len(kept)
        self.has_failed = not kept and not receipt.duplicates
        receipt.status = "FAILED" if self.has_failed else "SUCCEEDED"
        self.is_usable = self.is_usable or not self.has_failed
        self.duplicates += receipt.duplicates
        for text, name in kept:
            self.add(text, name, UPLOAD)

    def finished(self) -> Dataset:
        """Return a copy as it will be after its file has been read."""
        other = deepcopy(self)
        other.finish()
        return other

    def label_name(self, written: str) -> str:
        """Return a label name as it is stored; empty if it is invalid."""
        name = written.strip()
        if self.type == INTENT:
            return name
        return name.lower() if name.lower() in SENTIMENTS else ""

    def label(self, name: str) -> Label | None:
        """Find a label by its name, or by a former name that no label has now."""
        former = (label for label in reversed(self.labels) if name in label.former)
        return self.label_called(name) or next(former, None)

    def label_called(self, name: str) -> Label | None:
        """Find the label that has a name now."""
        return next((label for label in self.labels if label.name == name), None)

    def present_name(self, name: str) -> str:
        """Return the current name of the label that a name leads to; an unknown name is new."""
        label = self.label(name)
        return label.name if label else name

    def has(self, text: str, name: str) -> bool:
        """Return whether a text was uploaded or added singly with a label."""
        label = self.label(name)
        return label is not None and label.find(text, UPLOAD) is not None

    def add(self, text: str, name: str, source: str) -> Label:
        """Add an example, and its label if that is new."""
        label = self.label(name)
        if label is None:
            label = Label(name)
            self.labels.append(label)
        if label.find(text, source) is None:
            label.put(source, Example(text, self.came))
            self.came += 1
        return label

    @property
    def total(self) -> int:
        """The number of examples of all sources."""
        return sum(label.count() for label in self.labels)

    @property
    def is_losing_data(self) -> bool:
        """Whether it, or examples removed from it, may still be leaving its models.

        The removal of examples refuses no call, unless a busy machine delays it for ten minutes.
        """
        return self.came > self.total or (bool(self.deletion_id) and not self.is_gone)

    def listing(self, sources: Iterable[str] = SOURCES) -> list[Item]:
        """Return the examples in list order."""
        return [
            (label, source, example)
            for source in SOURCES
            if source in sources
            for label in self.labels
            for example in label.examples[source]
        ]

    def is_enough(self, sources: Iterable[str], minimum: int = MIN_EXAMPLES) -> bool:
        """Return whether a model can be trained with a minimum of examples per label."""
        counts = [label.count(sources) for label in self.labels]
        return len(counts) >= MIN_LABELS and min(counts) >= minimum

    @property
    def missing(self) -> list[Obstacle]:
        """The obstacles to every call that names the dataset."""
        return [(404, self.is_gone)] if self.deletion_id else []

    @property
    def unreadable(self) -> list[Obstacle]:
        """The obstacles to reading its examples."""
        return [(404, True)] if self.deletion_id else []

    @property
    def unready(self) -> list[Obstacle]:
        """The obstacles to adding data."""
        if self.deletion_id:
            return [(409, True)]
        if self.waiting is not None:
            return [(400, False)]
        return [] if self.is_usable else [(400, True)]

    @property
    def untrainable(self) -> list[Obstacle]:
        """The obstacles to training that result from its state."""
        if self.deletion_id:
            return [(409, True)]
        if self.waiting is not None:
            return [(409, False)]
        return [] if self.is_usable else [(409, True)]


@dataclass
class Window:
    """What a training may have seen between two corrections of its dataset."""

    least: int
    """Examples that were there at its beginning."""
    most: int
    """Examples that were there at its end."""
    labels: list[str]
    """Labels that were there at its end."""
    is_enough: bool
    """Whether a model could be trained of what was there at its beginning."""


@dataclass
class Version:
    """The result of one successful training, adjustment or import."""

    number: int
    labels: list[str]
    is_adjusted: bool = False
    is_seen: bool = True
    """Whether an answer has shown the labels; those of a run whose end was not seen are a guess."""


@dataclass
class TrainedModel:
    """A model, trained or in training."""

    id: str
    name: str
    dataset: Dataset
    created_at: str
    is_open: bool = True
    """QUEUED or RUNNING, or it was; an answer will tell."""
    sources: tuple[str, ...] = (UPLOAD,)
    """Of the examples that the last run uses."""
    least: int = 0
    """Examples that were there when the run was asked for, or after the last correction since."""
    is_enough: bool = True
    """Whether they sufficed."""
    past: list[Window] = field(default_factory=list)
    """Before each correction since the run was asked for."""
    asked: list[str] = field(default_factory=list)
    """Labels that were there when the run was asked for."""
    minimum: int | None = None
    """`minimumExamples` of the last run, if it was asked for with one."""
    is_adjusting: bool = False
    """The last run is an adjustment."""
    is_imported: bool = False
    """It came as an archive: `dataset` only has a type, and is not the account's."""
    versions: list[Version] = field(default_factory=list)
    """Those that are kept, oldest first."""
    last_version: int = 0
    served: int = 0
    """Number of the version that predicts; 0 before the first success."""
    served_meanwhile: int = 0
    """Number of a version that was served while the last run was open, or seemed to be."""
    has_failed: bool = False
    """The last run found too little to learn from."""
    deletion_id: str = ""

    @property
    def labels(self) -> list[str] | None:
        """Labels of the served version; None before the first success."""
        served = self.version(self.served)
        return None if served is None else served.labels

    def version(self, number: int) -> Version | None:
        """Find a stored version."""
        return next((one for one in self.versions if one.number == number), None)

    def add_version(self, labels: list[str], *, is_seen: bool = True) -> Version:
        """Add and serve a run's version, and drop the oldest versions above the limit."""
        self.last_version += 1
        made = Version(self.last_version, labels, self.is_adjusting, is_seen)
        stays = self.served
        self.versions.append(made)
        spare = [one for one in self.versions if one.number != stays and one is not made]
        for one in spare[: max(0, len(self.versions) - KEPT_VERSIONS)]:
            self.versions.remove(one)
        self.served, self.served_meanwhile = made.number, 0
        return made

    def ask(self, sources: tuple[str, ...], minimum: int | None = None) -> None:
        """Record an accepted training or retraining."""
        self.is_open, self.has_failed, self.is_adjusting = True, False, False
        self.sources, self.minimum = sources, minimum
        self.asked = [label.name for label in self.dataset.labels]
        self.past = []
        self.begin_window()

    def ask_adjustment(self) -> None:
        """Record an accepted adjustment, which keeps the parameters of the latest training."""
        self.is_open, self.has_failed, self.is_adjusting = True, False, True
        self.past = []
        self.begin_window()

    def begin_window(self) -> None:
        """Start a window whose minimum is the dataset's present content."""
        self.least = sum(label.count(self.sources) for label in self.dataset.labels)
        self.is_enough = self.dataset.is_enough(self.sources, self.least_of_label)

    def end_window(self) -> None:
        """Close the present window before the dataset is corrected."""
        self.past.append(self.window(self.dataset))

    def window(self, dataset: Dataset) -> Window:
        """Return the window of a run while the dataset grows to this content."""
        most = sum(label.count(self.sources) for label in dataset.labels)
        return Window(self.least, most, [one.name for one in dataset.labels], self.is_enough)

    @property
    def least_of_label(self) -> int:
        """The minimum of examples per label of the latest run."""
        return MIN_EXAMPLES if self.minimum is None else self.minimum

    @property
    def windows(self) -> list[Window]:
        """All windows of the run."""
        return [*self.past, self.window(self.dataset.finished())]

    @property
    def missing(self) -> list[Obstacle]:
        """The obstacles to every call that names the model."""
        return [(404, True)] if self.deletion_id else []

    @property
    def datasetless(self) -> list[Obstacle]:
        """The obstacle to calls that need a dataset, which an imported model lacks."""
        return [(409, True)] if self.is_imported else []

    @property
    def busy(self) -> list[Obstacle]:
        """The obstacles to deleting or retraining it."""
        return [(409, False)] if self.is_open else []

    @property
    def silent(self) -> list[Obstacle]:
        """The obstacles to predicting with it."""
        if self.labels is None:
            return [(409, not self.is_open)]
        return []


@dataclass
class Archive:
    """A model version exported as a file."""

    content: bytes
    type: str
    labels: list[str]
    text: str
    """A text, and what the version answered."""
    answer: object = None
    """None where the account had no prediction left."""
