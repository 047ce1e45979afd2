"""Reads the pieces of a backup again and again, a few at a time, to find out which are damaged."""

from __future__ import annotations

import time
from itertools import count

from infra.backups.folder import BackupError, BackupFolder


class DamageScan:
    """Goes through the pieces of one folder, those first that were read the longest time ago."""

    def __init__(self, folder: BackupFolder) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._turns: dict[str, int] = {}
        """When each piece was read, as a number that grows."""

    def check_next(
        self, most_bytes: int, most_seconds: float, may_exceed: bool = True
    ) -> list[str]:
        """Read the pieces whose turn it is; return what is wrong with those that are damaged.

        Args:
            most_bytes: how much is read.
            most_seconds: after so long no other piece is begun.
            may_exceed: whether the first piece is read although it has more bytes.
        """
        ended, left, damages = time.monotonic() + most_seconds, most_bytes, []
        names = self._folder.named_pieces()
        self._turns = {name: turn for name, turn in self._turns.items() if name in names}
        for name in sorted(names, key=lambda name: (self._turns.get(name, 0), name)):
            size = self._folder.size(name)
            if size > left and not (may_exceed and left == most_bytes):
                continue
            try:
                self._folder.check(name, from_disk=True)
            except BackupError as error:
                self._folder.note_damage(name)
                damages.append(str(error))
            self._turns[name] = next(self._numbers)
            left -= size
            if left <= 0 or time.monotonic() > ended:
                break
        return damages
