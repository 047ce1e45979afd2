"""The records of the interface. Written by python -m infra.docs: do not edit."""

from __future__ import annotations

from typing import Any

from presage._records import Record


class Label(Record, kw_only=True):
    """A label of a dataset."""

    id: int
    dataset_id: int
    name: str
    num_examples: int


class LabelDescription(Record, kw_only=True):
    """A label with its description, which is empty if the label has none."""

    name: str
    description: str
    num_examples: int
    object: str = "labelDescription"


class LabelSummary(Record, kw_only=True):
    """All labels of a dataset, in order of first appearance."""

    labels: list[Label]


class Dataset(Record, kw_only=True):
    """A dataset."""

    id: int
    name: str
    created_at: str
    updated_at: str
    label_summary: LabelSummary
    total_examples: int
    total_labels: int
    available: bool
    status_msg: str
    type: str
    language: str
    num_of_duplicates: int
    object: str = "dataset"


class Example(Record, kw_only=True):
    """An example with its label. For texts, `name` and `location` are both the text."""

    id: int
    name: str
    location: str
    created_at: str
    label: Label
    object: str = "example"


class Box(Record, kw_only=True):
    """A box as in annotation files, in pixels from the top left of the image."""

    x: float
    y: float
    width: float
    height: float


class BrowsedExample(Record, kw_only=True):
    """An example for review.

    Only images have `thumbnail`, `width` and `height`. Only examples of detection datasets have
    `box`. Only flagged examples have `suggestion`, `confidence` and `reason`.
    """

    id: int
    name: str
    location: str
    created_at: str
    label: Label
    source: str
    thumbnail: str | None = None
    width: int | None = None
    height: int | None = None
    box: Box | None = None
    suggestion: str | None = None
    confidence: float | None = None
    reason: str | None = None
    object: str = "browsedexample"


class CorrectedExample(Record, kw_only=True):
    """An example after a correction. `box` is the position of an object in its image."""

    id: int
    name: str
    location: str
    created_at: str
    label: Label
    object: str = "example"
    box: Box | None = None


class Correction(Record, kw_only=True):
    """The result of a correction.

    If the call named one example, `examples` contains this example after the correction, or all
    boxes of its image.
    """

    dataset_id: int
    moved: int
    changed: int
    removed: int
    added: int
    duplicates: int
    skipped: int
    id: int | None = None
    created_at: str | None = None
    examples: list[CorrectedExample] | None = None
    object: str = "correction"


class ChangedLabel(Record, kw_only=True):
    """A label after a change. After a merge, it is the label that remains."""

    id: int
    dataset_id: int
    name: str
    num_examples: int
    moved: int = 0
    duplicates: int = 0


class Upload(Record, kw_only=True):
    """A presigned form, with which a file is sent to the storage of the service."""

    url: str
    fields: dict[str, str]
    path: str
    expires_at: str
    max_bytes: int
    object: str = "upload"


class Rejection(Record, kw_only=True):
    """A rejected row or file."""

    row: int | None = None
    file: str | None = None
    reason: str


class Warning(Record, kw_only=True):
    """Something unusual in a file, and where it was first found."""

    code: str
    message: str
    count: int
    places: list[str]


class Receipt(Record, kw_only=True):
    """The result of an upload, with its rejected rows or files."""

    id: str
    created_at: str
    status: str
    message: str | None
    seen: int
    kept: int
    duplicates: int
    rejected: int
    rejections: list[Rejection]
    warnings: list[Warning]
    object: str = "receipt"


class Format(Record, kw_only=True):
    """The format in which a file was read. Members that this format does not have are null."""

    kind: str
    encoding: str | None
    delimiter: str | None
    header: bool | None
    text_column: int | str | None
    label_column: int | str | None


class FoundLabel(Record, kw_only=True):
    """A label with its number of examples."""

    name: str
    num_examples: int


class PreviewRow(Record, kw_only=True):
    """One of the first rows of a file, or one of the first files of an archive."""

    row: int
    cells: list[str]
    text: str | None
    label: str | None
    reason: str | None


class Sheet(Record, kw_only=True):
    """A sheet of a workbook."""

    name: str
    rows: int


class Rank(Record, kw_only=True):
    """The ranks of a column as text column and as label column. Rank 1 is the best column."""

    text: int
    label: int


class Column(Record, kw_only=True):
    """A column, or a member of JSON objects, described from the first 1,000 rows."""

    position: int
    name: str | None
    samples: list[str]
    distinct: int
    rank: Rank


class Preview(Record, kw_only=True):
    """The first rows, sheets and columns of a refused file."""

    columns: list[Column]
    preview: list[PreviewRow]
    sheets: list[Sheet]


class Validation(Record, kw_only=True):
    """The dataset that an upload of a file would create. Nothing is stored."""

    format: Format
    seen: int
    kept: int
    duplicates: int
    rejected: int
    rejections: list[Rejection]
    warnings: list[Warning]
    labels: list[FoundLabel]
    is_trainable: bool
    reasons: list[str]
    preview: list[PreviewRow] | None = None
    sheets: list[Sheet] | None = None
    columns: list[Column] | None = None
    object: str = "validation"


class Export(Record, kw_only=True):
    """An export of a dataset. Its file can be downloaded once it has SUCCEEDED."""

    id: str
    dataset_id: int
    format: str
    source: str
    status: str
    created_at: str
    updated_at: str
    expires_at: str
    examples: int | None = None
    bytes: int | None = None
    url: str | None = None
    failure_msg: str | None = None
    object: str = "export"


class TrainStats(Record, kw_only=True):
    """Statistics of a finished training. Durations are in the form HH:MM:SS:mmm."""

    labels: int
    examples: int
    total_time: str
    training_time: str
    early_stopping: bool
    last_epoch_done: int
    model_save_time: str
    test_split_size: int
    train_split_size: int
    dataset_load_time: str
    pre_process_stats: None = None
    post_process_stats: None = None


class Training(Record, kw_only=True):
    """A training of a model."""

    dataset_id: int
    dataset_version_id: int
    name: str
    status: str
    progress: float
    created_at: str
    updated_at: str
    learning_rate: float
    epochs: int
    queue_position: int | None = None
    failure_msg: str | None = None
    object: str
    model_id: str
    train_params: dict[str, Any] | None
    train_stats: TrainStats | None
    model_type: str
    algorithm: str | None = None
    language: str


class Model(Record, kw_only=True):
    """A model in a list."""

    dataset_id: int
    dataset_version_id: int
    name: str
    status: str
    progress: float
    created_at: str
    updated_at: str
    failure_msg: str | None = None
    object: str
    model_id: str
    model_type: str
    algorithm: str | None = None
    language: str


class Metrics(Record, kw_only=True):
    """Metrics of a model, measured on its test set."""

    id: str
    metrics_data: dict[str, Any]
    created_at: str
    language: str
    algorithm: str | None = None
    object: str = "metrics"


class ModelVersion(Record, kw_only=True):
    """A version of a model. Each training or adjustment creates one."""

    version: int
    created_at: str
    is_served: bool
    examples: int
    metrics: dict[str, Any]
    algorithm: str | None = None
    not_served_because: str | None = None
    served_because: str | None = None
    object: str = "modelVersion"


class Comparison(Record, kw_only=True):
    """Accuracies of two model versions on the same held-out examples."""

    versions: list[int]
    accuracies: list[float]
    difference_low: float
    difference_high: float
    examples: int
    object: str = "comparison"


class LearningCurve(Record, kw_only=True):
    """Metrics of a model after one epoch."""

    epoch: int
    metrics_data: dict[str, Any]
    epoch_results: dict[str, Any] | list[dict[str, Any]]
    object: str = "learningcurve"


class TargetThreshold(Record, kw_only=True):
    """The threshold of a label at which out-of-fold predictions reach a target precision."""

    precision: float
    threshold: float | None
    coverage: float
    coverage_low: float
    coverage_high: float
    label: str | None = None


class TextLimit(Record, kw_only=True):
    """How many words of a text the model reads. The model ignores the rest."""

    words: int
    cut: int


class Advice(Record, kw_only=True):
    """Advice on how to improve the model."""

    code: str
    message: str
    expected_gain: float


class Card(Record, kw_only=True):
    """The model card, with data, metrics and limitations."""

    model_id: str
    name: str
    language: str
    created_at: str
    trained_on: dict[str, Any]
    engine: dict[str, Any]
    artifact_sha256: str
    metrics: dict[str, Any]
    limits: str
    object: str
    algorithm: str | None = None
    calibration_error: float | None = None
    threshold: float | None = None
    data_report: dict[str, Any] | None = None
    skipped_labels: list[FoundLabel] | None = None
    text_limit: TextLimit | None = None
    thresholds: list[TargetThreshold] | None = None
    advice: list[Advice] | None = None
    trained_from: str | None = None
    adjustment: dict[str, Any] | None = None
    imported: dict[str, Any] | None = None


class Evaluated(Record, kw_only=True):
    """A held-out example with the prediction of a model that was trained without it."""

    example_id: int
    expected_label: str | None
    predicted_label: str | None
    probability: float
    is_right: bool
    object: str = "evaluated"


class Probability(Record, kw_only=True):
    """A label with its probability."""

    label: str
    probability: float


class BoundingBox(Record, kw_only=True):
    """A box in pixels of the image as displayed, from the top left corner of the image."""

    min_x: int
    min_y: int
    max_x: int
    max_y: int


class Explained(Record, kw_only=True):
    """A word of a text or a region of an image, and its influence on the most probable label."""

    share: float
    text: str | None = None
    start: int | None = None
    end: int | None = None
    bounding_box: BoundingBox | None = None
    is_read: bool | None = None


class Prediction(Record, kw_only=True):
    """A prediction: labels, most probable first."""

    probabilities: list[Probability]
    object: str = "predictresponse"
    sample_id: str | None = None
    explanation: list[Explained] | None = None


class Detected(Record, kw_only=True):
    """A detected object."""

    label: str
    probability: float
    bounding_box: BoundingBox


class Detection(Record, kw_only=True):
    """Detected objects, most probable first."""

    probabilities: list[Detected]
    object: str = "predictresponse"
    sample_id: str | None = None


class ModelExport(Record, kw_only=True):
    """An export of a model. Its file can be downloaded once it has SUCCEEDED."""

    id: str
    model_id: str
    model_version: int
    format: str
    status: str
    created_at: str
    updated_at: str
    expires_at: str
    bytes: int | None = None
    url: str | None = None
    failure_msg: str | None = None
    object: str = "export"


class BatchCounts(Record, kw_only=True):
    """How many lines a batch has, how many are processed, and how many of these failed."""

    total: int
    done: int
    failed: int


class Batch(Record, kw_only=True):
    """A batch of predictions. Its result can be downloaded once it has SUCCEEDED."""

    id: str
    name: str
    model_id: str
    kind: str
    format: str
    status: str
    progress: float
    counts: BatchCounts
    created_at: str
    updated_at: str
    expires_at: str
    result_url: str | None = None
    result_bytes: int | None = None
    failure_msg: str | None = None
    warnings: list[Warning] | None = None
    object: str = "batch"


class Deletion(Record, kw_only=True):
    """A deletion that runs in the background."""

    id: str
    organization_id: str
    type: str
    status: str
    progress: float
    message: str | None
    object: str
    deleted_object_id: str


class Webhook(Record, kw_only=True):
    """A webhook. Its secret is returned only when it is created or replaced."""

    id: str
    url: str
    events: list[str]
    description: str
    status: str
    created_at: str
    updated_at: str
    failure_msg: str | None = None
    secret: str | None = None
    object: str = "webhook"


class ApiKey(Record, kw_only=True):
    """An API key. Its secret is returned only when it is created."""

    id: str
    name: str
    scope: str
    prefix: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    secret: str | None = None
    object: str = "key"


class Delivery(Record, kw_only=True):
    """The delivery of an event to a webhook."""

    id: str
    event: str
    status: str
    attempts: int
    response_status: int | None = None
    failure_msg: str | None = None
    next_attempt_at: str | None = None
    created_at: str
    updated_at: str
    object: str = "delivery"


class Plan(Record, kw_only=True):
    """The plan of an account."""

    plan: str
    amount: int
    source: str


class Usage(Record, kw_only=True):
    """The predictions that an account has made in a calendar month."""

    id: str
    organization_id: str
    starts_at: str
    ends_at: str
    plan_data: list[Plan]
    license_id: str
    object: str
    predictions_remaining: int
    predictions_used: int
    predictions_max: int


class Account(Record, kw_only=True):
    """The account that a token or API key belongs to."""

    id: str
    email: str
    plan: str
    scope: str
    object: str


class Token(Record, kw_only=True, rename=None):
    """An access token, and a refresh token if the scope requested one."""

    access_token: str
    refresh_token: str | None = None
    token_type: str
    expires_in: int


class EnginePart(Record, kw_only=True):
    """A network of an engine. Title and digest are null if it is not installed."""

    name: str
    state: str
    title: str | None
    sha256: str | None


class Unsaved(Record, kw_only=True):
    """Changes that cannot be saved, and would be lost if the service stopped now."""

    since: str
    datasets: int
    models: int


class Health(Record, kw_only=True):
    """The health of the service and its engines."""

    status: str
    version: str
    engines: dict[str, str]
    engine_parts: list[EnginePart] | None = None
    unsaved: Unsaved | None = None


class TextAttributes(Record, kw_only=True):
    """The position of a run of words on a page."""

    page_number: int
    language: str = "English"
    block: int | None = None
    line: int | None = None
    order: int | None = None
    role: str | None = None


class TextItem(Record, kw_only=True):
    """A run of words on one line."""

    probability: float
    label: str
    bounding_box: BoundingBox
    attributes: TextAttributes


class ContactAttributes(Record, kw_only=True):
    """The kind of an entity on a business card."""

    tag: str
    page_number: int


class ContactItem(Record, kw_only=True):
    """An entity of a business card. Its text is the member `label`."""

    probability: float
    label: str
    bounding_box: BoundingBox
    attributes: ContactAttributes


class CellPlace(Record, kw_only=True):
    """Row and column of a cell. Both count from 1."""

    row_index: int
    col_index: int


class CellLine(Record, kw_only=True):
    """Number of a row or column, from 1, and the entity of its header."""

    index: int
    entity: str | None = None


class Cell(Record, kw_only=True):
    """A cell of a table."""

    bounding_box: BoundingBox
    text: str
    probability: float
    cell_location: CellPlace
    row_cell_location: CellLine
    col_cell_location: CellLine
    entity: str | None = None
    cell_type: str
    normalized_text: str | None = None


class TableAttributes(Record, kw_only=True):
    """The cells of a table. Its name and block id are unique in the answer."""

    table_name: str
    table_count: str
    cells: list[Cell]
    page_number: int
    block_id: int
    role: str | None = None


class TableItem(Record, kw_only=True):
    """A table. The member `label` has its text, row by row."""

    probability: float
    label: str
    bounding_box: BoundingBox
    attributes: TableAttributes


class FormTableItem(Record, kw_only=True):
    """A table of a form."""

    probability: float
    label: str
    bounding_box: BoundingBox
    attributes: TableAttributes


class FieldPart(Record, kw_only=True):
    """A key or a value. If it is not on the page, its box is 1, 1, 1, 1."""

    entity: str
    text: str
    bounding_box: BoundingBox
    checked: bool | None = None


class PairAttributes(Record, kw_only=True):
    """A key of the form template, and the value that was found for it."""

    block_id: int
    key: FieldPart
    value: FieldPart
    language: str
    page_number: int
    normalized_text: str | None = None
    role: str | None = None


class PairItem(Record, kw_only=True):
    """A key of the form template, with its value and probability."""

    probability: float
    label: str
    bounding_box: BoundingBox
    attributes: PairAttributes


class Unread(Record, kw_only=True):
    """A place with text that was detected but not recognised."""

    bounding_box: BoundingBox
    page_number: int


class Page(Record, kw_only=True):
    """The size of a page as displayed. Boxes are in these pixels."""

    page_number: int
    width: int
    height: int
    image: str | None = None


class PageNote(Record, kw_only=True):
    """A note on a page whose results may be incomplete."""

    page_number: int
    code: str
    message: str


class FormField(Record, kw_only=True):
    """A form field that the PDF itself defines. A field outside its page has the box 1, 1, 1, 1."""

    name: str
    type: str
    value: str
    page_number: int
    bounding_box: BoundingBox
    checked: bool | None = None


class TextResult(Record, kw_only=True):
    """The text of a document.

    The request's option `layout` adds the members `unread` and `pageNotes`, and its option `output`
    adds `document`.
    """

    task: str
    probabilities: list[TextItem]
    object: str = "predictresponse"
    sample_id: str | None = None
    pages: list[Page] | None = None
    form_fields: list[FormField] | None = None
    page_notes: list[PageNote] | None = None
    unread: list[Unread] | None = None
    document: str | None = None


class ContactResult(Record, kw_only=True):
    """The entities found on business cards."""

    task: str
    probabilities: list[ContactItem]
    object: str = "predictresponse"
    sample_id: str | None = None
    pages: list[Page] | None = None
    form_fields: list[FormField] | None = None


class TableResult(Record, kw_only=True):
    """The tables of a document."""

    task: str
    probabilities: list[TableItem]
    object: str = "predictresponse"
    sample_id: str | None = None
    pages: list[Page] | None = None
    form_fields: list[FormField] | None = None
    page_notes: list[PageNote] | None = None


class FormResult(Record, kw_only=True):
    """The fields of a form, and its tables if the form template requests them."""

    task: str
    probabilities: list[Any]
    object: str = "predictresponse"
    sample_id: str | None = None
    pages: list[Page] | None = None
    form_fields: list[FormField] | None = None
    page_notes: list[PageNote] | None = None


class FieldScore(Record, kw_only=True):
    """The number of documents in which the value of one entity was read correctly."""

    entity: str
    right: int
    of: int


class LearnedTemplate(Record, kw_only=True):
    """A form template learned from examples. It has a result once it has SUCCEEDED."""

    id: str
    status: str
    created_at: str
    updated_at: str
    expires_at: str
    failure_msg: str | None = None
    template: dict[str, Any] | None = None
    accuracy: float | None = None
    per_field: list[FieldScore] | None = None
    not_found: list[str] | None = None
    object: str = "learnedTemplate"
