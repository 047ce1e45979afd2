"""Progress bars on stderr, if it is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import IO, Any


class Bar:
    """A progress bar; shows nothing if stderr is not a terminal."""

    def __init__(self, title: str, show: bool | None = None, total: float = 1.0) -> None:
        self._title = title
        self._is_shown = sys.stderr.isatty() if show is None else show
        self._total = total
        self._rich: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        """Open the bar."""
        if self._is_shown:
            from rich.console import Console  # a slow import that only terminals need
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
            from rich.progress import TimeElapsedColumn as Elapsed

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                Elapsed(),
            )
            self._rich = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            self._rich.start()
            self._task = self._rich.add_task(self._title, total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self._rich is not None:
            self._rich.stop()

    def show(self, fraction: float | None) -> None:
        """Show the completed fraction of the work, 0 to 1; None if the fraction is unknown."""
        if self._rich is not None:
            total = None if fraction is None else self._total
            self._rich.update(self._task, completed=fraction or 0, total=total)


class Watched:
    """A file that updates a progress bar while it is read."""

    def __init__(self, stream: IO[bytes], bar: Bar) -> None:
        self._stream = stream
        self._bar = bar

    def read(self, size: int = -1) -> bytes:
        """Read bytes, and update the bar."""
        part = self._stream.read(size)
        self._bar.show(self._stream.tell())
        return part

    def seek(self, offset: int, whence: int = 0) -> int:
        """Change the position, and return the new position."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._stream.tell()
