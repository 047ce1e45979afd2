"""Checks the files (pieces) of a backup repeatedly, a few at a time, to find damaged pieces."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from infra.backups.folder import BackupError, BackupFolder


class DamageScan:
    """Checks the pieces of one folder, least recently checked pieces first."""

    def __init__(self, folder: BackupFolder) -> None:
        self._folder = folder
        self._numbers = count(1)
        # Sequence number of the last check of each piece; the piece with the lowest is checked
        # next.
        self._turns: dict[str, int] = {}

    def check_next(
        self,
        most_bytes: int,
        most_seconds: float,
        may_exceed: bool = True,
        must_end: Callable[[], bool] = lambda: False,
    ) -> list[str]:
        """Check the next pieces; return a message for each damaged one.

        Args:
            most_bytes: maximum number of bytes to read.
            most_seconds: seconds after which no further piece is started.
            may_exceed: whether to check the first piece even if it is larger than `most_bytes`.
            must_end: returns whether to stop reading, also within a piece.
        """
        ended, left, damages = time.monotonic() + most_seconds, most_bytes, []
        names = self._folder.named_pieces()
        self._turns = {name: turn for name, turn in self._turns.items() if name in names}
        for name in sorted(names, key=lambda name: (self._turns.get(name, 0), name)):
            size = self._folder.size(name)
            if size > left and not (may_exceed and left == most_bytes):
                continue
            try:
                self._folder.check(name, from_disk=True, must_end=must_end)
            except BackupError as error:
                self._folder.note_damage(name)
                damages.append(str(error))
            if must_end():
                break
            self._turns[name] = next(self._numbers)
            left -= size
            if left <= 0 or time.monotonic() > ended:
                break
        return damages
