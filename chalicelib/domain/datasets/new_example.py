"""Single texts and pictures on their way into a dataset."""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.domain.common.limits import MAX_IMAGE_NAME_CHARACTERS
from chalicelib.domain.common.words import count_words
from chalicelib.domain.datasets.example import picture_digest


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
