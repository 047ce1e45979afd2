"""The answers of the MCP tools. Agents receive the JSON schemas of these answers."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ModelSummary(BaseModel):
    """A model of the account."""

    model_id: str
    name: str
    type: str = Field(description="text-intent, text-sentiment, image, image-detection or another")
    status: str
    created_at: str


class ModelList(BaseModel):
    """The models of the account."""

    models: list[ModelSummary]


class LabelProbability(BaseModel):
    """A label with its probability."""

    label: str
    probability: float = Field(description="0 to 1; calibrated")


class Labels(BaseModel):
    """The most probable labels, best first; empty if the model rejects the input."""

    probabilities: list[LabelProbability]


class DetectedObject(LabelProbability):
    """An object in an image."""

    box: tuple[int, int, int, int] = Field(
        description="left, top, right, bottom in pixels; the origin is the top left corner"
    )


class Objects(BaseModel):
    """The objects in an image, most probable first."""

    objects: list[DetectedObject]


class DocumentText(BaseModel):
    """The text of an image or PDF in reading order."""

    text: str


class ExtractedField(BaseModel):
    """A field of a form."""

    name: str
    value: str = Field(description="empty if the document has no value")
    probability: float = Field(description="0 to 1")
    page: int = Field(description="page number from 1")


class ExtractedFields(BaseModel):
    """The fields of a form."""

    fields: list[ExtractedField]


class NextToLabel(BaseModel):
    """A text that is worth labelling."""

    rank: int
    text: str
    reason: str = Field(description="uncertain, unlike or representative")
    suggestion: str | None = Field(description="the label that the model predicts")


class NextTexts(BaseModel):
    """The texts most worth labelling, best first."""

    texts: list[NextToLabel]


class FeedbackAdded(BaseModel):
    """An example that was added to the dataset of a model."""

    example_id: int
    label: str


class MonthlyUsage(BaseModel):
    """The predictions of the current month."""

    used: int
    remaining: int
    maximum: int
    ends_at: str
