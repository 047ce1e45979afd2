"""What the reader of an uploaded file decides before examples are written.

Readers of texts and of pictures make it, the ingest writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.documents.box import Box


@dataclass(frozen=True, slots=True)
class FoundExample:
    """An example of a file, before it has an id."""

    label: str
    """Label name."""
    name: str
    """Language: the text. Vision: the file name."""
    picture: str = ""
    """Vision: digest of the picture file, 32 hex digits."""
    box: Box | None = None
    """Detection: where the object is."""
    waiting: str = ""
    """Text or picture digest that must be turned into a vector; empty when nothing has to be."""


@dataclass(frozen=True)
class Reading:
    """What becomes of a file; seen = kept + duplicates + rejected."""

    examples: Callable[[], Iterator[FoundExample]]
    """Yields the kept examples in file order; may be called again."""
    new_labels: Sequence[str]
    """Labels that the dataset has not, in order of first appearance."""
    kept: int
    """Examples that are new."""
    duplicates: int
    """Examples left out because they are there already."""
    rejected: int
    """Rows or files that are no examples."""
    rejections: Sequence[RejectedItem]
    """The first of them."""
    bytes: int
    """Bytes that the dataset grows by."""
    words: int = 0
    """Words of the kept texts."""

    @property
    def seen(self) -> int:
        """Examples that were read."""
        return self.kept + self.duplicates + self.rejected

    def fill(self, receipt: Receipt) -> Receipt:
        """Return a receipt with the numbers of this file."""
        return replace(
            receipt,
            seen=self.seen,
            kept=self.kept,
            duplicates=self.duplicates,
            rejected=self.rejected,
            rejections=tuple(self.rejections),
        )
