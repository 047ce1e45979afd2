"""Reads the images of an archive. On request, scales down images above the limits."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.documents.picture import Box
from chalicelib.errors import ServiceError
from chalicelib.formats.archives.box_cells import clip_box
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipArchive, ZipMember
from chalicelib.formats.pictures.png_exif import standardize_orientation
from chalicelib.formats.pictures.reading import check_picture
from chalicelib.formats.pictures.rules import PictureFacts
from chalicelib.formats.pictures.shrinking import MAX_SHRUNK_BYTES, shrink_picture


@dataclass(frozen=True, slots=True)
class MemberImage:
    """An image of an archive, as it will be stored."""

    content: bytes
    """The image file: as sent, or scaled down."""
    original: PictureFacts | None
    """Type and size of the image as sent; None if it was not scaled down."""

    def place_box(self, box: Box, facts: PictureFacts) -> Box:
        """Return a box in pixels of the stored image, clipped to the image.

        Args:
            box: Box in pixels of the image as sent; may reach outside the image.
            facts: Type and size of the stored image.

        Raises:
            CellFault: the centre of the box is outside the image.
        """
        if self.original is None:
            return clip_box(box, facts.width, facts.height)
        inside = clip_box(box, self.original.width, self.original.height)
        across, down = facts.width / self.original.width, facts.height / self.original.height
        scaled = Box(
            inside.x * across, inside.y * down, inside.width * across, inside.height * down
        )
        return clip_box(scaled, facts.width, facts.height)


class MemberImages:
    """Reads the images of one archive.

    Args:
        archive: The archive.
        max_bytes: Maximum size of an image file in bytes.
        shrinks: Whether images above the limits are scaled down instead of rejected.
    """

    def __init__(self, archive: ZipArchive, max_bytes: int, *, shrinks: bool) -> None:
        self._archive = archive
        self._max_bytes = max_bytes
        self._shrinks = shrinks

    def read(self, member: ZipMember) -> MemberImage:
        """Unpack an image. If it exceeds the limits and `shrinks` is set, scale it down.

        Raises:
            MemberProblem: the image cannot be used.
        """
        if not self._shrinks:
            remedy = "make it smaller, or send shrink=true."
            content = self._archive.read(member, self._max_bytes, remedy)
            return MemberImage(standardize_orientation(content), None)
        content = standardize_orientation(self._archive.read(member, MAX_SHRUNK_BYTES))
        try:
            return MemberImage(*shrink_picture(content, self._max_bytes))
        except ServiceError as problem:
            raise MemberProblem(str(problem)) from None

    def check(self, picture: MemberImage) -> PictureFacts:
        """Check that an image is complete; return its type and size.

        Raises:
            MemberProblem: the image cannot be used.
        """
        try:
            return check_picture(picture.content, self._max_bytes)
        except ServiceError as problem:
            raise MemberProblem(str(problem)) from None
