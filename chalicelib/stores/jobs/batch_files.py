"""The objects of batches: input, parts, the results of parts, and the whole result.

A part is named by its number, and so is its result: whoever does a part again writes the same
bytes to the same place.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from chalicelib.domain.jobs.batch import Batch, BatchLine, line_of
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.objects import ArtifactStore, batch_prefix

_RAW, _TEMPLATE, _PARTS, _RESULTS = "raw", "template", "parts/", "results/"


class BatchFiles:
    """Reads and writes them."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put_input(self, batch: Batch, content: bytes) -> None:
        """Keep the file that was sent in the call."""
        self._artifacts.put(batch_prefix(batch.batch_id) + _RAW, content)

    def read_input(self, batch: Batch, target: BinaryIO) -> bool:
        """Write that file into an open one; False when it is gone."""
        return self._artifacts.get_file(batch_prefix(batch.batch_id) + _RAW, target)

    def put_template(self, batch: Batch, content: bytes) -> None:
        """Keep the form template that was sent in the call."""
        self._artifacts.put(batch_prefix(batch.batch_id) + _TEMPLATE, content)

    def template(self, batch: Batch) -> bytes:
        """Read that template.

        Raises:
            StorageUnavailable: it is gone: the batch is over.
        """
        content = self._artifacts.get(batch_prefix(batch.batch_id) + _TEMPLATE)
        if content is None:
            raise StorageUnavailable
        return content

    def put_part(self, batch: Batch, number: int, lines: Iterable[BatchLine]) -> int:
        """Write the lines of a part, and before them the files that they have.

        Args:
            batch: whose.
            number: of the part, from 0.
            lines: taken one after the other, so that no more than one file is held in memory.

        Returns:
            How many lines there are; a part without lines is not written.
        """
        with tempfile.TemporaryFile() as file:
            kept = [_put_aside(line, file).to_json() for line in lines]
            if file.tell():
                file.seek(0)
                self._artifacts.put_file(_contents_key(batch, number), file)
        if kept:
            content = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
            # Half of a surrogate pair stays what it is: the line is refused, not the part.
            self._artifacts.put(_part_key(batch, number), content.encode("utf-8", "surrogatepass"))
        return len(kept)

    def contents(
        self, batch: Batch, number: int, lines: Iterable[BatchLine]
    ) -> Iterator[tuple[BatchLine, bytes]]:
        """Read the files of some lines of a part, one after the other.

        Raises:
            StorageUnavailable: they are gone: the batch is over.
        """
        with tempfile.TemporaryFile() as file:
            self._artifacts.get_file(_contents_key(batch, number), file)
            for line in lines:
                start, length = map(int, line.text.split("+"))
                file.seek(start)
                content = file.read(length)
                if len(content) < length:
                    raise StorageUnavailable
                yield line, content

    def part(self, batch: Batch, number: int) -> list[BatchLine] | None:
        """Read the lines of a part; None when it is gone."""
        content = self._artifacts.get(_part_key(batch, number))
        if content is None:
            return None
        return [line_of(kept) for kept in json.loads(content.decode("utf-8", "surrogatepass"))]

    def put_answers(self, batch: Batch, number: int, content: bytes) -> None:
        """Write the result of a part."""
        self._artifacts.put(_answers_key(batch, number), content)

    def delete_answers(self, batch: Batch, number: int) -> None:
        """Delete the result of a part that came too late."""
        self._artifacts.delete(_answers_key(batch, number))

    def put_result(self, batch: Batch, name: str, head: bytes, check: Callable[[], None]) -> int:
        """Put the results of all parts that are answered together, in their order.

        Args:
            batch: whose.
            name: of the result.
            head: what stands before the first line.
            check: called now and then; raises to stop.

        Returns:
            The bytes of the result; no more than a piece of it is held in memory.
        """
        pieces = _Pieces(self._answers(batch, head))
        file = io.BufferedReader(pieces, 1 << 20)
        self._artifacts.put_whole(batch_prefix(batch.batch_id) + name, file, check)
        return pieces.taken

    def put_lines(self, batch: Batch, name: str, content: bytes, check: Callable[[], None]) -> int:
        """Put a result that was made of the parts as a whole; returns its bytes."""
        key = batch_prefix(batch.batch_id) + name
        self._artifacts.put_whole(key, io.BytesIO(content), check)
        return len(content)

    def delete_result(self, batch: Batch, name: str) -> None:
        """Delete a result that nobody will see."""
        self._artifacts.delete(batch_prefix(batch.batch_id) + name)

    def url(self, batch: Batch) -> str:
        """Make a URL that gives out the result for 30 minutes."""
        key = batch_prefix(batch.batch_id) + batch.result
        return self._artifacts.url(key, batch.file_name)

    def delete_work(self, batch: Batch, result: str) -> None:
        """Delete everything but the result of this name; results of former attempts go, too."""
        prefix = batch_prefix(batch.batch_id)
        keys = self._artifacts.keys(prefix)
        self._artifacts.delete_keys(key for key in keys if key != prefix + result)

    def delete(self, batch_id: str) -> None:
        """Delete everything of a batch."""
        self._artifacts.delete_prefix(batch_prefix(batch_id))

    def answers(self, batch: Batch, number: int) -> bytes:
        """Read the result of a part.

        Raises:
            StorageUnavailable: it is gone: another worker has cleared away meanwhile.
        """
        content = self._artifacts.get(_answers_key(batch, number))
        if content is None:
            raise StorageUnavailable
        return content

    def _answers(self, batch: Batch, head: bytes) -> Iterator[bytes]:
        """Yield the head and the results of the parts."""
        yield head
        for number in sorted(batch.numbers_done):
            yield self.answers(batch, number)


def result_name(batch: Batch, mark: object) -> str:
    """Return the name of a result, which no other owner writes."""
    return f"result-{mark}.{batch.format}"


def _put_aside(line: BatchLine, file: BinaryIO) -> BatchLine:
    """Write the file of a line to the others, and note where it stands."""
    if line.content is None:
        return line
    place = f"{file.tell()}+{len(line.content)}"
    file.write(line.content)
    return replace(line, text=place, content=None)


def _part_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_PARTS}{number:05d}.json"


def _contents_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_PARTS}{number:05d}.files"


def _answers_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_RESULTS}{number:05d}"


class _Pieces(io.RawIOBase):
    """Byte strings one after the other, as a file to read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")
        self.taken = 0
        """Bytes that were read so far."""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill as much of a buffer as there is; 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        self.taken += count
        return count
