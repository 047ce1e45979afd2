# Written by client/tools/write_sync.py from presage._async: do not edit.
"""The two families of the API: language (texts) and vision (images and documents)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from presage import records
from presage._sync.batches import Batches, BatchList, PictureBatches
from presage._sync.datasets import Datasets, Examples, Feedback
from presage._sync.exports import Exports
from presage._sync.family import FamilyBase
from presage._sync.models import Models
from presage._sync.rankings import PictureRankings, Rankings
from presage._sync.templates import Templates
from presage._sync.transport import Transport
from presage._sync.uploads import Uploads
from presage._files import open_source
from presage._pictures import MAX_EXAMPLE_BYTES, convert, scale_boxes
from presage._records import Record, decode
from presage._requests import Request, decoded, members
from presage._sources import (
    File,
    Files,
    FileT,
    OcrOptions,
    PictureOptions,
    Source,
    Unpack,
    api_fields,
    is_address,
)
from presage.errors import BadRequestError
from presage.results import (
    Detection,
    FormResult,
    OcrResult,
    Prediction,
    ResultT_co,
    TableResult,
)

T = TypeVar("T", bound=Record)

_OCR_RESULTS: dict[str, type[OcrResult]] = {
    "text": records.TextResult,
    "contact": records.ContactResult,
    # These two have methods beyond the members of the record.
    "table": TableResult,
    "form": FormResult,
}


class Family(FamilyBase[ResultT_co]):
    """Base class of the families language and vision, with the calls that both families have."""

    batches: BatchList
    rankings: Rankings | PictureRankings

    def __init__(self, transport: Transport, uploads: Uploads) -> None:
        super().__init__(transport, uploads)
        self.datasets: Datasets[ResultT_co] = Datasets(self)
        self.models: Models[ResultT_co] = Models(self)
        self.examples: Examples = Examples(self)
        self.feedback: Feedback = Feedback(self)
        self.exports: Exports = Exports(self)


class Language(Family[Prediction]):
    """The calls for texts, below `/v2/language`."""

    path = "/v2/language"
    model_types = "text"

    def __init__(self, transport: Transport, uploads: Uploads) -> None:
        super().__init__(transport, uploads)
        self.batches: Batches = Batches(self)
        self.rankings: Rankings = Rankings(self)

    def intent(
        self,
        model_id: str,
        document: str,
        *,
        num_results: int | None = None,
        explain: bool | None = None,
        model_version: int | None = None,
        sample_id: str | None = None,
    ) -> Prediction:
        """Predict the intent of a text. This counts as one prediction.

        Example:
            found = client.language.intent(model.model_id, "Where is it?", num_results=3)
            print(found.label, found.probability)

        Args:
            model_id: id of the model.
            document: the text.
            num_results: maximum number of labels to return.
            explain: whether to return each word's contribution to the prediction.
            model_version: number of a version of the model; by default the served version.
            sample_id: any text; the response contains the same text.
        """
        fields = {"numResults": num_results, "explain": explain, "sampleId": sample_id}
        fields["modelVersion"] = model_version
        return self._predict("intent", model_id, document, fields)

    def sentiment(
        self,
        document: str,
        model_id: str = "CommunitySentiment",
        *,
        num_results: int | None = None,
        explain: bool | None = None,
        model_version: int | None = None,
        sample_id: str | None = None,
    ) -> Prediction:
        """Predict the sentiment of a text; counts as one prediction. Arguments as in `intent`."""
        fields = {"numResults": num_results, "explain": explain, "sampleId": sample_id}
        fields["modelVersion"] = model_version
        return self._predict("sentiment", model_id, document, fields)

    def predict_sample(
        self,
        model_id: str,
        model_type: str,
        sample: File,
        num_results: int | None,
        explain: bool | None = None,
    ) -> Prediction:
        """Predict a sample with the API call that fits the model's type.

        If `model_type` is empty, the calls are tried until one fits the model.
        """
        fields = {"numResults": num_results, "explain": explain}
        if model_type == "text-sentiment":
            return self._predict("sentiment", model_id, str(sample), fields)
        try:
            return self._predict("intent", model_id, str(sample), fields)
        except BadRequestError as refusal:
            if model_type:
                raise
            # The service refuses a model of another type, and counts no prediction.
            try:
                return self._predict("sentiment", model_id, str(sample), fields)
            except BadRequestError:
                raise refusal from None

    def add_sample(
        self, path: str, sample: File, fields: dict[str, Any], name: str | None
    ) -> records.Example:
        """Send the text `sample` and the form fields `fields` to the API path `path`."""
        request = Request("POST", path, fields={**fields, "document": sample})
        return self.transport.record(request, records.Example)

    def _predict(
        self,
        call: str,
        model_id: str,
        document: str,
        fields: Mapping[str, Any],
    ) -> Prediction:
        fields = {"modelId": model_id, "document": document, **fields}
        request = Request("POST", f"{self.path}/{call}", fields=fields, is_counted_once=True)
        return self.transport.record(request, Prediction)


class Vision(Family[Prediction | Detection]):
    """The calls for images and documents, below `/v2/vision`."""

    path = "/v2/vision"
    model_types = "image"

    def __init__(self, transport: Transport, uploads: Uploads) -> None:
        super().__init__(transport, uploads)
        self.batches: PictureBatches = PictureBatches(self)
        self.rankings: PictureRankings = PictureRankings(self)
        self.templates: Templates = Templates(self)

    @overload
    def predict(
        self, model_id: str, picture: File, **options: Unpack[PictureOptions]
    ) -> Prediction: ...
    @overload
    def predict(
        self,
        model_id: str,
        picture: Files[FileT],
        **options: Unpack[PictureOptions],
    ) -> list[Prediction]: ...
    def predict(
        self,
        model_id: str,
        picture: File | Files[FileT],
        **options: Unpack[PictureOptions],
    ) -> Prediction | list[Prediction]:
        """Predict the labels of one or several images; each image counts as one prediction.

        Args:
            model_id: id of the model.
            picture: path, URL, bytes or open file.
            options: `num_results`, the maximum number of labels to return; `explain`, whether to
                return each region's contribution to the prediction; `model_version`, the number of
                a version of the model; `sample_id`, any text, which the response repeats.
        """
        fields = {"modelId": model_id, **api_fields(options, PictureOptions)}
        return self._post_each("predict", picture, fields, Prediction)

    @overload
    def detect(
        self,
        model_id: str,
        picture: File,
        *,
        model_version: int | None = None,
        sample_id: str | None = None,
    ) -> Detection: ...
    @overload
    def detect(
        self,
        model_id: str,
        picture: Files[FileT],
        *,
        model_version: int | None = None,
        sample_id: str | None = None,
    ) -> list[Detection]: ...
    def detect(
        self,
        model_id: str,
        picture: File | Files[FileT],
        *,
        model_version: int | None = None,
        sample_id: str | None = None,
    ) -> Detection | list[Detection]:
        """Find the objects in one or several images; each image counts as one prediction."""
        fields = {"modelId": model_id, "modelVersion": model_version, "sampleId": sample_id}
        return self._post_each("detect", picture, fields, Detection)

    @overload
    def ocr(
        self, document: File, *, task: Literal["text"] = "text", **options: Unpack[OcrOptions]
    ) -> records.TextResult: ...
    @overload
    def ocr(
        self, document: File, *, task: Literal["table"], **options: Unpack[OcrOptions]
    ) -> TableResult: ...
    @overload
    def ocr(
        self, document: File, *, task: Literal["contact"], **options: Unpack[OcrOptions]
    ) -> records.ContactResult: ...
    @overload
    def ocr(
        self, document: File, *, task: Literal["form"], **options: Unpack[OcrOptions]
    ) -> FormResult: ...
    @overload
    def ocr(
        self, document: File, *, task: str, **options: Unpack[OcrOptions]
    ) -> OcrResult: ...
    @overload
    def ocr(
        self,
        document: Files[FileT],
        *,
        task: Literal["text"] = "text",
        **options: Unpack[OcrOptions],
    ) -> list[records.TextResult]: ...
    @overload
    def ocr(
        self, document: Files[FileT], *, task: Literal["table"], **options: Unpack[OcrOptions]
    ) -> list[TableResult]: ...
    @overload
    def ocr(
        self, document: Files[FileT], *, task: Literal["contact"], **options: Unpack[OcrOptions]
    ) -> list[records.ContactResult]: ...
    @overload
    def ocr(
        self, document: Files[FileT], *, task: Literal["form"], **options: Unpack[OcrOptions]
    ) -> list[FormResult]: ...
    @overload
    def ocr(
        self, document: Files[FileT], *, task: str, **options: Unpack[OcrOptions]
    ) -> Sequence[OcrResult]: ...
    def ocr(
        self, document: File | Files[FileT], *, task: str = "text", **options: Unpack[OcrOptions]
    ) -> OcrResult | Sequence[OcrResult]:
        """Read an image or PDF, or a list of images and PDFs. This does not count as a prediction.

        Example:
            found = client.vision.ocr("page.png", output="markdown")
            print(found.document)

        Args:
            document: path, URL, bytes or open file.
            task: `text`, `table`, `contact` or `form`.
            options: options of the API, in snake case.
                All tasks: `model_id` (`OCRModel`, or `tabulatev2` for tables); `alphabet` (`latin`
                recognises letters with accents); `pages` (whether to return the size of each
                page); `page_images` (whether `pages` also has temporary URLs of images of a PDF's
                pages); `form_fields` (whether to list the fields of a PDF's own form); `layout`
                (whether to return roles and page notes, and for texts the reading order);
                `sample_id` (any text, which the response repeats).
                Task text: `output` (`text` or `markdown` returns the whole text);
                `page_furniture` (whether Markdown has running heads and footers).
                Task form: `form_type` (a built-in template, such as `w2`) or `form_template`
                (your own). Tables: `link_tables` (whether to link the parts of a table on several
                pages).
        """
        fields = {"modelId": "OCRModel", "task": task, **api_fields(options, OcrOptions)}
        # For a task that only a later service knows, the members of texts are the least assumption.
        kind = _OCR_RESULTS.get(task, records.TextResult)
        return self._post_each("ocr", document, fields, kind)

    def predict_sample(
        self,
        model_id: str,
        model_type: str,
        sample: File,
        num_results: int | None,
        explain: bool | None = None,
    ) -> Prediction | Detection:
        """Predict a sample with the API call that fits the model's type.

        If `model_type` is empty, the calls are tried until one fits the model.
        """
        if model_type == "image-detection":
            return self.detect(model_id, sample)
        try:
            return self.predict(model_id, sample, num_results=num_results, explain=explain)
        except BadRequestError as refusal:
            # A model of another type is refused with this code, and no prediction is counted.
            if model_type or refusal.code != "invalid_parameter":
                raise
            try:
                return self.detect(model_id, sample)
            except BadRequestError as other:
                raise (refusal if other.code == refusal.code else other) from None

    def add_sample(
        self, path: str, sample: File, fields: dict[str, Any], name: str | None
    ) -> records.Example:
        """Send the image `sample` and the form fields `fields` to the API path `path`."""
        # The service takes only PNG and JPEG, and smaller files as examples than in uploads.
        source = convert(open_source(sample), MAX_EXAMPLE_BYTES)
        try:
            members = {**fields, "name": name}
            request = Request("POST", path, fields=members, files={"data": source})
            return self.transport.record(request, records.Example)
        finally:
            source.close()

    def add_bulk_feedback(self, model_id: str, file: File) -> records.Dataset:
        """Add an archive of images with corrected boxes as feedback."""
        with self.uploads.attached(file, "data", "path") as part:
            fields = {"modelId": model_id, **part.fields}
            path = f"{self.path}/bulkfeedback"
            request = Request("PUT", path, fields=fields, files=part.files)
            return self.transport.record(request, records.Dataset)

    def _post_each(
        self, call: str, sample: File | Files[FileT], fields: dict[str, Any], kind: type[T]
    ) -> T | list[T]:
        if isinstance(sample, (list, tuple)):
            return [self._post_image(call, file, fields, kind) for file in sample]
        return self._post_image(call, sample, fields, kind)

    def _post_image(self, call: str, file: File, fields: dict[str, Any], kind: type[T]) -> T:
        path = f"{self.path}/{call}"
        # Documents do not count as predictions, so repeating the call is harmless.
        is_read = call == "ocr"
        if is_address(file):
            # The service fetches a URL itself, so the file does not pass through this machine.
            sent = {**fields, "sampleLocation": file}
            request = Request(
                "POST", path, fields=sent, is_read=is_read, is_counted_once=not is_read
            )
            return self.transport.record(request, kind)
        source: Source = convert(open_source(file), takes_pdf=call == "ocr")
        with self.uploads.attached(source.stream, "sampleContent", "sampleLocation") as part:
            for item in part.files.values():
                item.name = source.name
            sent = {**fields, **part.fields}
            request = Request(
                "POST",
                path,
                fields=sent,
                files=part.files,
                is_read=is_read,
                is_counted_once=not is_read,
            )
            response = self.transport.send(request)
        # Boxes on a reduced copy are converted back to pixels of the original image.
        if source.scale == 1.0:
            return decoded(response, kind)
        return decode(scale_boxes(members(response), source.scale), kind)
