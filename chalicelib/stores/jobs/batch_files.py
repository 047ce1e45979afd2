"""Stores objects of batches: the input, parts (lists of lines), answers to parts, and the result.

The keys of a part and of its answers contain the part's number. So if a part is repeated, the same
bytes are written to the same key.
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
_COLUMNS = "columns"


class BatchFiles:
    """Reads and writes the objects of batches."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put_input(self, batch: Batch, content: bytes) -> None:
        """Store the file that was sent in the call."""
        self._artifacts.put(batch_prefix(batch.batch_id) + _RAW, content)

    def read_input(self, batch: Batch, target: BinaryIO) -> bool:
        """Copy the stored input into an open file; return False if it was deleted."""
        return self._artifacts.get_file(batch_prefix(batch.batch_id) + _RAW, target)

    def put_template(self, batch: Batch, content: bytes) -> None:
        """Store the form template that was sent in the call."""
        self._artifacts.put(batch_prefix(batch.batch_id) + _TEMPLATE, content)

    def template(self, batch: Batch) -> bytes:
        """Return the stored form template; raise StorageUnavailable if the batch has ended."""
        content = self._artifacts.get(batch_prefix(batch.batch_id) + _TEMPLATE)
        if content is None:
            raise StorageUnavailable
        return content

    def put_part(self, batch: Batch, number: int, lines: Iterable[BatchLine]) -> int:
        """Write the files of a part as one object, then the lines of the part.

        `number` is the number of the part, from 0. The lines are read one at a time, so at most one
        file is in memory.

        Returns:
            The number of lines. A part without lines is not written.
        """
        with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as cells:
            kept = [_move_content(line, file, cells).to_json() for line in lines]
            if file.tell():
                file.seek(0)
                self._artifacts.put_file(_contents_key(batch, number), file)
            if cells.tell():
                cells.seek(0)
                self._artifacts.put_file(_cells_key(batch, number), cells)
        if kept:
            content = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
            # Half of a surrogate pair is written as it is, so that only its line is refused later.
            self._artifacts.put(_part_key(batch, number), content.encode("utf-8", "surrogatepass"))
        return len(kept)

    def contents(
        self, batch: Batch, number: int, lines: Iterable[BatchLine]
    ) -> Iterator[tuple[BatchLine, bytes]]:
        """Yield lines of a part, each with the bytes of its file.

        Raises:
            StorageUnavailable: the lines were deleted, because the batch has ended.
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
        """Return the lines of a part; None if it was deleted."""
        content = self._artifacts.get(_part_key(batch, number))
        if content is None:
            return None
        return [line_of(kept) for kept in json.loads(content.decode("utf-8", "surrogatepass"))]

    def put_answers(self, batch: Batch, number: int, content: bytes) -> None:
        """Write the answers of a part."""
        self._artifacts.put(_answers_key(batch, number), content)

    def delete_answers(self, batch: Batch, number: int) -> None:
        """Delete the answers of a part that was answered after the batch had ended."""
        self._artifacts.delete(_answers_key(batch, number))

    def put_result(self, batch: Batch, name: str, head: bytes, check: Callable[[], None]) -> int:
        """Join the answers of all answered parts in order, and write them as one object.

        `head` is written before the first line. `check` is called before each write, and may raise
        an error to stop.

        Returns:
            The size of the result in bytes.
        """
        # Streamed, because the result may be larger than the memory.
        return self.put_stream(batch, name, self._answers(batch, head), check)

    def put_columns(self, batch: Batch, columns: dict[str, object]) -> None:
        """Store the description of the columns of the input table."""
        self._artifacts.put_json(batch_prefix(batch.batch_id) + _COLUMNS, columns)

    def columns(self, batch: Batch) -> dict[str, Any]:
        """Return the stored column description; raise StorageUnavailable if the batch has ended."""
        content = self._artifacts.get(batch_prefix(batch.batch_id) + _COLUMNS)
        if content is None:
            raise StorageUnavailable
        return dict(json.loads(content))

    def cells(self, batch: Batch, number: int) -> Iterator[list[Any]]:
        """Yield the table cells of each line in a part. One line is in memory at a time.

        Raises:
            StorageUnavailable: the cells were deleted, because the batch has ended.
        """
        with tempfile.TemporaryFile() as file:
            if not self._artifacts.get_file(_cells_key(batch, number), file):
                raise StorageUnavailable
            file.seek(0)
            for line in file:
                yield json.loads(line)

    def put_stream(
        self, batch: Batch, name: str, chunks: Iterable[bytes], check: Callable[[], None]
    ) -> int:
        """Write a result file from a stream of chunks; return its size in bytes."""
        stream = _ChunkStream(chunks)
        file = io.BufferedReader(stream, 1 << 20)
        self._artifacts.put_object(batch_prefix(batch.batch_id) + name, file, check)
        return stream.read_bytes

    def put_lines(self, batch: Batch, name: str, content: bytes, check: Callable[[], None]) -> int:
        """Write a result file from memory; return its size in bytes."""
        key = batch_prefix(batch.batch_id) + name
        self._artifacts.put_object(key, io.BytesIO(content), check)
        return len(content)

    def delete_result(self, batch: Batch, name: str) -> None:
        """Delete a result that will not be published."""
        self._artifacts.delete(batch_prefix(batch.batch_id) + name)

    def url(self, batch: Batch) -> str:
        """Return a URL of the result, valid for 30 minutes."""
        key = batch_prefix(batch.batch_id) + batch.result
        return self._artifacts.url(key, batch.file_name)

    def delete_work(self, batch: Batch, result: str) -> None:
        """Delete all objects of a batch except the result file with the name `result`."""
        prefix = batch_prefix(batch.batch_id)
        keys = self._artifacts.keys(prefix)
        self._artifacts.delete_keys(key for key in keys if key != prefix + result)

    def delete(self, batch_id: str) -> None:
        """Delete all objects of a batch."""
        self._artifacts.delete_prefix(batch_prefix(batch_id))

    def answers(self, batch: Batch, number: int) -> bytes:
        """Return the stored answers of a part; raise StorageUnavailable if the batch has ended."""
        content = self._artifacts.get(_answers_key(batch, number))
        if content is None:
            raise StorageUnavailable
        return content

    def _answers(self, batch: Batch, head: bytes) -> Iterator[bytes]:
        yield head
        for number in sorted(batch.numbers_done):
            yield self.answers(batch, number)


def result_name(batch: Batch, mark: object) -> str:
    """Return the name of a result file. The text `mark` in it differs for each worker."""
    return f"result-{mark}.{batch.format}"


def _move_content(line: BatchLine, file: BinaryIO, cells: BinaryIO) -> BatchLine:
    """Write the content of a line to `file`, and its table cells to `cells`.

    Returns:
        The line, with the position of the content in `file` instead of the content.
    """
    if line.cells is not None:
        row = json.dumps(line.cells, separators=(",", ":"))
        cells.write(row.encode() + b"\n")
    if line.content is None:
        return line
    place = f"{file.tell()}+{len(line.content)}"
    file.write(line.content)
    return replace(line, text=place, content=None)


def _part_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_PARTS}{number:05d}.json"


def _contents_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_PARTS}{number:05d}.files"


def _cells_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_PARTS}{number:05d}.cells"


def _answers_key(batch: Batch, number: int) -> str:
    return f"{batch_prefix(batch.batch_id)}{_RESULTS}{number:05d}"


class _ChunkStream(io.RawIOBase):
    """A readable file that consists of byte strings, one after the other."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")
        self.read_bytes = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        self.read_bytes += count
        return count
