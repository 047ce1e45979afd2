"""Types of arguments: files to send, opened files, and options of calls."""

from __future__ import annotations

import json
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypedDict, TypeVar, Union

from presage.records import Dataset

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    # Python 3.10 has no Unpack; Union of one type is that type, so annotations can be evaluated.
    Unpack = getattr(typing, "Unpack", Union)

# A path, a URL, a result of `uploads.send`, bytes, or a file open for reading.
File = str | os.PathLike[str] | bytes | BinaryIO
# The files of a list, which may all have one type: list[str] is not a list[File].
FileT = TypeVar("FileT", bound=File)
Files = list[FileT] | tuple[FileT, ...]
PICTURES = frozenset({".png", ".jpg", ".jpeg"})
# Endings of images that the service does not accept, and that Pillow converts to JPEG.
CONVERTIBLE = frozenset({".heic", ".heif", ".webp", ".tif", ".tiff", ".bmp", ".gif"})
# Models that read documents: images and PDFs.
DOCUMENT_MODELS = frozenset({"OCRModel", "tabulatev2"})


@dataclass
class Source:
    """An open file that can be read more than once."""

    stream: BinaryIO
    """A seekable stream of the file's content."""
    name: str
    """File name that is sent to the service."""
    size: int
    """Size in bytes."""
    scale: float = 1.0
    """Original width divided by the width that is sent."""

    def part(self) -> tuple[str, BinaryIO]:
        """Rewind the stream; return the file's name and the stream as a form part for httpx."""
        self.stream.seek(0)
        return self.name, self.stream

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


def is_address(file: File | Source) -> bool:
    """Return whether `file` is a URL or a path from `uploads.send`, which the service fetches."""
    return isinstance(file, str) and file.startswith(("http://", "https://", "presage:upload/"))


class ReadingOptions(TypedDict, total=False):
    """Options for reading an uploaded file. The service detects values that are not set."""

    format: str | None
    delimiter: str | None
    text_column: str | int | list[str] | list[int] | None
    label_column: str | int | None
    header: bool | int | None
    sheet: str | int | None
    label_separator: str | None
    encoding: str | None
    strict: bool | None
    shrink: bool | None


class TrainParams(TypedDict, total=False):
    """Members of `trainParams`."""

    profile: str | None
    out_of_domain_rate: float | None
    skip_small_labels: bool | None
    minimum_examples: int | None
    unlabelled: int | File | Dataset | None
    serve: str | None
    with_feedback: bool | None
    with_global_dataset_id: int | None
    train_split_ratio: float | None
    augment_data: bool | None


class TrainOptions(TrainParams, total=False):
    """Options of a training."""

    epochs: int | None
    learning_rate: float | None
    algorithm: str | None


class PictureOptions(TypedDict, total=False):
    """Options of a prediction for an image."""

    num_results: int | None
    explain: bool | None
    model_version: int | None
    sample_id: str | None


class DocumentOptions(TypedDict, total=False):
    """Options for reading documents."""

    form_type: str | None
    form_template: Mapping[str, object] | None
    layout: bool | None
    output: str | None
    link_tables: bool | None
    alphabet: str | None
    pages: bool | None
    form_fields: bool | None
    page_furniture: bool | None


class OcrOptions(DocumentOptions, total=False):
    """Options for reading one document."""

    page_images: bool | None
    model_id: str
    sample_id: str | None


class BatchTableOptions(TypedDict, total=False):
    """Options of a batch whose result is a CSV or XLSX file."""

    columns: str | None
    review_below: float | None
    model_version: int | None


class BatchTextOptions(BatchTableOptions, total=False):
    """Options of a batch of texts."""

    encoding: str | None
    text_column: str | int | list[str] | list[int] | None
    delimiter: str | None
    header: bool | int | None
    sheet: str | int | None


class BatchOcrOptions(DocumentOptions, BatchTableOptions, total=False):
    """Options of a batch of images or documents."""

    task: str | None


def api_fields(options: Mapping[str, object], kind: type) -> dict[str, object]:
    """Convert options to form fields of the API. Objects and lists become JSON text.

    Args:
        options: the keyword arguments that a caller passed.
        kind: the TypedDict that declares the options.

    Raises:
        TypeError: an option is unknown.
    """
    known = [*kind.__annotations__]
    for name in options:
        # Python does not refuse unknown arguments of a function that collects them as keywords.
        if name not in known:
            raise TypeError(f"{name} is an unexpected keyword argument. Known: {', '.join(known)}.")
    return {camel(name): _text(value) for name, value in options.items()}


def camel(name: str) -> str:
    """Convert a name from snake case to the API's camel case."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _text(value: object) -> object:
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else value
