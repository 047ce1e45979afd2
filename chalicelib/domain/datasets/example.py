"""Examples: as they are stored, as lists show them, and on their way in. Spec: Example."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.common.limits import MAX_IMAGE_NAME_CHARACTERS
from chalicelib.domain.datasets.dataset import Label
from chalicelib.domain.datasets.texts import count_words
from chalicelib.domain.documents.picture import Box

# Examples in one row; position // 100 is the chunk's number.
CHUNK_EXAMPLES = 100
DIGEST_BYTES = 16


def text_digest(text: str) -> bytes:
    """Digest that decides whether two texts are the same, 16 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


def picture_digest(content: bytes) -> bytes:
    """Digest that decides whether two picture files are the same, 16 bytes."""
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]


def box_digest(picture: bytes, box: Box) -> bytes:
    """Digest that decides whether two boxes of one picture are the same, 16 bytes.

    Args:
        picture: digest of the picture file.
        box: with sides of any precision.
    """
    # repr gives the shortest text that reads as the same number, so 1 and 1.0 are one box.
    sides = ",".join(repr(float(side)) for side in (box.x, box.y, box.width, box.height))
    return hashlib.sha256(picture + sides.encode()).digest()[:DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class Example:
    """One text or image with its label."""

    example_id: int
    """Unique in the service."""
    name: str
    """Language: the text. Vision: the file name."""
    created_at: datetime
    """When it was added."""
    label_id: int = 0
    picture: str = ""
    """Vision: digest of the picture file, 32 hex digits; empty for texts."""
    box: Box | None = None
    """Detection: where the object is."""

    @property
    def digest(self) -> bytes:
        """What makes two examples of one label duplicates, 16 bytes."""
        if not self.picture:
            return text_digest(self.name)
        picture = bytes.fromhex(self.picture)
        return picture if self.box is None else box_digest(picture, self.box)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """An example with its label and where it can be seen."""

    example: Example
    """The stored example."""
    label: Label
    location: str
    """Language: the text. Vision: a temporary URL."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of a picture."""

    url: str
    """Temporary URL."""
    width: int
    """Width of the picture itself as displayed, in pixels; boxes refer to it."""
    height: int


@dataclass(frozen=True)
class PictureFile:
    """A picture file that came in a call, already checked or not."""

    content: bytes = field(repr=False)
    """The file as it came."""
    file_name: str = ""
    """Base name of the file; empty when none was given."""
    name: str = ""
    """Name that was sent beside it; empty when none was."""


@dataclass(frozen=True)
class NewExample:
    """An example to add; `label_id` 0 makes a label of the name `label`."""

    name: str
    """The text, or the picture's file name."""
    label: str
    """Label name."""
    label_id: int
    """Label of the dataset, or 0."""
    source: str
    """`upload` or `feedback`."""
    size_bytes: int
    """Bytes that it adds to the dataset."""
    words: int = 0
    """Words of a text."""
    picture: str = ""
    """Digest of the picture file, 32 hex digits; empty for texts."""
    content: bytes = field(default=b"", repr=False)
    """The picture file; empty for texts."""
    content_type: str = ""
    """Type that the picture is served with; empty for texts."""
    needs_own_name: bool = False
    """Whether no other example of the dataset may have its name."""


def new_text(text: str, language: str, source: str, label: str, label_id: int = 0) -> NewExample:
    """Make an example of a checked text; `language` decides how words are counted."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return NewExample(text, label, label_id, source, size, count_words(text, language))


def new_picture(
    file: PictureFile, content_type: str, source: str, label: str, label_id: int = 0
) -> NewExample:
    """Make an example of a checked picture file."""
    digest = picture_digest(file.content).hex()
    return NewExample(
        name=_picture_name(file, f"{digest}.{content_type.rpartition('/')[2]}"),
        label=label,
        label_id=label_id,
        source=source,
        size_bytes=len(file.content),
        picture=digest,
        content=file.content,
        content_type=content_type,
    )


def _picture_name(file: PictureFile, unnamed: str) -> str:
    """Choose a picture's name: what was sent, else the file's, cut to 150 characters."""
    name = file.name.strip() or file.file_name.strip() or unnamed
    return name[:MAX_IMAGE_NAME_CHARACTERS].rstrip()
