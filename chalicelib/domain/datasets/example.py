"""Examples as they are stored, listed and received. Spec: Example."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.common.limits import MAX_IMAGE_NAME_CHARACTERS
from chalicelib.domain.datasets.dataset import Label
from chalicelib.domain.datasets.fields import count_words
from chalicelib.domain.documents.picture import Box

# Examples in one row. With a fixed number, position // 100 is the chunk of any position.
CHUNK_EXAMPLES = 100
DIGEST_BYTES = 16


def text_digest(text: str) -> bytes:
    """Return a digest of 16 bytes, by which equal texts are recognised."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


def picture_digest(content: bytes) -> bytes:
    """Return a digest of 16 bytes, by which equal image files are recognised."""
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]


def box_digest(picture: bytes, box: Box) -> bytes:
    """Return a digest of 16 bytes, by which equal boxes of one image are recognised.

    `picture` is the digest of the image file. The sides of the box may be integers or floats.
    """
    # repr gives the shortest text that parses to the same number, so 1 and 1.0 are the same box.
    sides = ",".join(repr(float(side)) for side in (box.x, box.y, box.width, box.height))
    return hashlib.sha256(picture + sides.encode()).digest()[:DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class Example:
    """One text or image with its label."""

    example_id: int
    name: str
    """Language: the text. Vision: the file name."""
    created_at: datetime
    label_id: int = 0
    picture: str = ""
    """Vision: digest of the image file, 32 hex digits; empty for texts."""
    box: Box | None = None

    @property
    def digest(self) -> bytes:
        """Return a digest of 16 bytes, by which duplicates within a label are recognised."""
        if not self.picture:
            return text_digest(self.name)
        picture = bytes.fromhex(self.picture)
        return picture if self.box is None else box_digest(picture, self.box)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """An example with its label, and with its text or a URL of its image."""

    example: Example
    label: Label
    location: str
    """The text of a language example; a presigned URL of a vision example."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of an image."""

    url: str
    width: int
    """Width of the original image as displayed, in pixels. Boxes refer to this width."""
    height: int


@dataclass(frozen=True)
class PictureFile:
    """An image file that a call sent; its content may not be validated yet."""

    content: bytes = field(repr=False)
    file_name: str = ""
    """File name without folders; empty if none was sent."""
    name: str = ""
    """Name for the example from a separate field of the call; empty if none was sent."""


@dataclass(frozen=True)
class NewExample:
    """An example to add to a dataset. If `label_id` is 0, a label named `label` is created."""

    name: str
    """The text, or the image's file name."""
    label: str
    label_id: int
    """Id of an existing label of the dataset; 0 to create the label."""
    source: str
    """`upload` or `feedback`."""
    size_bytes: int
    """Number of bytes that the example adds to the size of the dataset."""
    words: int = 0
    picture: str = ""
    """Digest of the image file, 32 hex digits; empty for texts."""
    content: bytes = field(default=b"", repr=False)
    """The image file; empty for texts."""
    content_type: str = ""
    """Content type under which the image is served; empty for texts."""
    needs_own_name: bool = False
    """Whether no other example of the dataset may have the same name."""


def new_text(text: str, language: str, source: str, label: str, label_id: int = 0) -> NewExample:
    """Return a new example of a validated text; count its words by the rules of `language`."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return NewExample(text, label, label_id, source, size, count_words(text, language))


def new_picture(
    file: PictureFile, content_type: str, source: str, label: str, label_id: int = 0
) -> NewExample:
    """Return a new example of a validated image file."""
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
    name = file.name.strip() or file.file_name.strip() or unnamed
    return name[:MAX_IMAGE_NAME_CHARACTERS].rstrip()
