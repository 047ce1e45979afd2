"""The tools that agents can call; each is one or two calls of the API.

Labels, texts and model names appear only in answers. In the description of a tool, an agent could
take them for instructions.
"""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError
from pydantic import Field

from presage import AsyncPresage, Detection, Prediction, PresageError
from presage.agents import answers
from presage.agents.allowed_folders import AllowedFolders, FileRefused

ModelId = Annotated[str, Field(description="id of a model, as list_models returns it")]
FileName = Annotated[str, Field(description="path of a file below an allowed folder")]
Maximum = Annotated[int, Field(ge=1, le=100, description="maximum number of labels")]

P = ParamSpec("P")
T = TypeVar("T")


def _explained(call: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Return a function that reports errors and refused files in a form that agents can read.

    It raises ResourceError, because the SDK handles this class both in tools and in resources. The
    SDK does not handle ToolError in resources.
    """

    @wraps(call)
    async def explained(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return await call(*arguments, **options)
        except (PresageError, FileRefused) as error:
            raise ResourceError(str(error)) from error

    return explained


class Tools:
    """The tools of one account.

    Args:
        client: the account's client.
        folders: the folders below which files may be read.
    """

    def __init__(self, client: AsyncPresage, folders: AllowedFolders) -> None:
        self._client = client
        self._folders = folders

    @_explained
    async def list_models(self) -> answers.ModelList:
        """List the trained models of the account, newest first. Needs a key of scope `all`."""
        found = [
            answers.ModelSummary(
                model_id=model.model_id,
                name=model.name,
                type=model.model_type,
                status=model.status,
                created_at=model.created_at,
            )
            async for model in self._client.language.models.list()  # of both families
        ]
        found.sort(key=lambda model: model.created_at, reverse=True)
        return answers.ModelList(models=found)

    @_explained
    async def classify_text(
        self, text: str, model_id: ModelId, num_results: Maximum = 3
    ) -> answers.Labels:
        """Predict the labels of a text with a text model. Counts as one prediction.

        The prebuilt model CommunitySentiment predicts positive, neutral or negative.
        """
        # The training, which holds the type, needs a key of scope `all`; prebuilt models have none.
        found = await self._client.language.predict_sample(model_id, "", text, num_results)
        return _labels(found)

    @_explained
    async def classify_image(
        self, file: FileName, model_id: ModelId, num_results: Maximum = 3
    ) -> answers.Labels:
        """Predict the labels of an image with an image model. Counts as one prediction."""
        image = self._folders.read(file)
        found = await self._client.vision.predict(model_id, image, num_results=num_results)
        return _labels(found)

    @_explained
    async def detect_objects(self, file: FileName, model_id: ModelId) -> answers.Objects:
        """Find objects in an image with a detection model. Counts as one prediction."""
        found = await self._client.vision.detect(model_id, self._folders.read(file))
        return answers.Objects(
            objects=[
                answers.DetectedObject(
                    label=item.label,
                    probability=item.probability,
                    box=(
                        item.bounding_box.min_x,
                        item.bounding_box.min_y,
                        item.bounding_box.max_x,
                        item.bounding_box.max_y,
                    ),
                )
                for item in found.probabilities
            ]
        )

    @_explained
    async def read_document(
        self, file: FileName, output: Literal["markdown", "text"] = "markdown"
    ) -> answers.DocumentText:
        """Read the text of an image or PDF, with its tables, in reading order."""
        found = await self._client.vision.ocr(self._folders.read(file), output=output)
        return answers.DocumentText(text=str(found.raw.get("document", "")))

    @_explained
    async def extract_fields(
        self,
        file: FileName,
        form_type: Annotated[
            str | None, Field(description="a template of the service, for example w2 or passport")
        ] = None,
        template: Annotated[
            dict[str, Any] | None, Field(description="your own template, in place of form_type")
        ] = None,
    ) -> answers.ExtractedFields:
        """Read the fields of a form in an image or PDF."""
        found = await self._client.vision.ocr(
            self._folders.read(file), task="form", form_type=form_type, form_template=template
        )
        return answers.ExtractedFields(
            fields=[
                answers.ExtractedField(
                    name=field.entity,
                    value=field.value,
                    probability=field.probability,
                    page=field.attributes.page_number,
                )
                for field in found.fields
            ]
        )

    @_explained
    async def label_next(
        self,
        model_id: ModelId,
        texts: Annotated[list[str], Field(min_length=1, max_length=1000)],
        count: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> answers.NextTexts:
        """Choose the texts whose labels would help a text model most.

        Each text counts as one prediction. Needs a key of scope `all`.
        """
        # As JSON Lines, because a text may contain line breaks and delimiters.
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        batch = await self._client.language.rankings.create(
            model_id, io.BytesIO(lines.encode()), count=count, name="label_next", progress=False
        )
        chosen = await (await batch.wait(progress=False)).results()
        return answers.NextTexts(
            texts=[
                answers.NextToLabel(
                    rank=line["rank"],
                    text=line["text"],
                    reason=line["reason"],
                    suggestion=line.get("suggestion"),
                )
                for line in chosen
            ]
        )

    @_explained
    async def submit_feedback(
        self, text: str, label: str, model_id: ModelId
    ) -> answers.FeedbackAdded:
        """Add a text with its correct label to a text model's data. Needs a key of scope `all`."""
        added = await self._client.language.feedback.add(model_id, text, label)
        return answers.FeedbackAdded(example_id=added.id, label=added.label.name)

    @_explained
    async def usage(self) -> answers.MonthlyUsage:
        """Return how many predictions of the current month are used and left."""
        found = await self._client.usage()
        return answers.MonthlyUsage(
            used=found.predictions_used,
            remaining=found.predictions_remaining,
            maximum=found.predictions_max,
            ends_at=found.ends_at,
        )

    @_explained
    async def card(self, model_id: str) -> str:
        """Return the card of a model as JSON. Needs a key of scope `all`."""
        model = await self._client.language.models.get(model_id)
        # The card as received, so that agents also see members that are newer than this version.
        return json.dumps((await model.card()).to_dict(), ensure_ascii=False)


def _labels(prediction: Prediction | Detection) -> answers.Labels:
    return answers.Labels(
        probabilities=[
            answers.LabelProbability(label=item.label, probability=item.probability)
            for item in prediction.probabilities
        ]
    )
