"""Which keys may stand in which lines, told fast by the pairs of letters they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.ocr.forms.units import Unit

    Chains = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]

_LETTERS = 37
_RARE = 36
_MOST_PAIRS = 50_000_000
"""Keys times units above which keys over several lines are not looked for."""
_CHUNK = 4_000_000
_ALONE = 0.97
"""Share above which one segment has the whole key."""
_SHARE = 0.45
"""Share of a key's letter pairs that its reading has at the least: two errors in ten letters
touch four of nine pairs."""


def likely_pairs(keys: Sequence[str], units: Sequence[Unit], limit: int) -> list[tuple[int, int]]:
    """Find the pairs of key and unit that are worth a closer look.

    Args:
        keys: folded keys of two letters or more.
        units: of one page; those of one segment come first.
        limit: most pairs to return; those that share the most letters are kept.

    Returns:
        (index of the key, index of the unit), the most promising first.
    """
    if not keys or not units:
        return []
    singles = [unit for unit in units if len(unit.segments) == 1]
    if len(keys) * len(units) > _MOST_PAIRS:
        units = singles
    columns = {unit.segments[0]: column for column, unit in enumerate(singles)}
    chains = _by_length([[columns[number] for number in unit.segments] for unit in units])
    presence = np.zeros((_LETTERS * _LETTERS, len(singles)), dtype=np.uint8)
    for column, unit in enumerate(singles):
        presence[_pairs(unit.folded), column] = 1
    pairs = [_pairs(key) for key in keys]
    step = max(1, _CHUNK // (len(singles) * max(len(each) for each in pairs)))
    found = []
    for begin in range(0, len(keys), step):
        shares = _shares(pairs[begin : begin + step], presence)
        found.append(_best(_of_chains(shares, chains, len(units)), begin, limit))
    every, rows, places = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(-every, kind="stable")[:limit]
    return list(zip(rows[order].tolist(), places[order].tolist(), strict=True))


def _by_length(chains: Sequence[Sequence[int]]) -> Chains:
    """Return for each number of segments the units that have so many, and their columns."""
    lengths = np.array([len(each) for each in chains])
    groups = []
    for length in sorted(set(lengths.tolist())):
        places = np.flatnonzero(lengths == length)
        groups.append(
            (places, np.array([chains[place] for place in places.tolist()], dtype=np.intp))
        )
    return groups


def _of_chains(
    shares: npt.NDArray[np.float32], chains: Chains, count: int
) -> npt.NDArray[np.float32]:
    """Add up the shares of segments that are read as one text.

    Each segment must add something of its own: a key that stands in one of them alone is found
    there.

    Args:
        shares: shape (keys, segments).
        chains: see _by_length.
        count: units.

    Returns:
        Shares of units, 0 to 1, shape (keys, units).
    """
    joined = np.zeros((len(shares), count), dtype=np.float32)
    for places, columns in chains:
        parts = [shares[:, column] for column in columns.T]
        total = np.minimum(sum(parts[1:], start=parts[0]), 1.0)
        for part in parts if len(parts) > 1 else ():
            total[(part <= 0.0) | (part >= _ALONE)] = 0.0
        joined[:, places] = total
    return joined


def _best(
    shares: npt.NDArray[np.float32], begin: int, limit: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the largest shares with their keys, counted from a beginning, and units."""
    rows, columns = np.nonzero(shares >= _SHARE)
    values = shares[rows, columns]
    order = np.argsort(-values, kind="stable")[:limit]
    return values[order], rows[order] + begin, columns[order]


def _shares(
    pairs: Sequence[npt.NDArray[np.intp]], presence: npt.NDArray[np.uint8]
) -> npt.NDArray[np.float32]:
    """Return the share of each key's letter pairs that each text has.

    Args:
        pairs: letter pairs of each key, at least one.
        presence: 0 or 1, shape (letter pairs, texts).

    Returns:
        Shares, 0 to 1, shape (keys, texts).
    """
    sizes = np.array([len(each) for each in pairs])
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    counts = np.add.reduceat(presence[np.concatenate(pairs)], begins, axis=0, dtype=np.uint16)
    shares: npt.NDArray[np.float32] = np.divide(counts, sizes[:, None], dtype=np.float32)
    return shares


def _pairs(text: str) -> npt.NDArray[np.intp]:
    """Return the distinct pairs of neighbouring letters of a folded text as numbers."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.where(points < len(_CODES), _CODES[np.minimum(points, len(_CODES) - 1)], _RARE)
    return np.unique(codes[:-1] * _LETTERS + codes[1:])


def _make_codes() -> npt.NDArray[np.intp]:
    """Return the numbers of the ASCII characters: letters, digits, and one for all others."""
    codes = np.full(128, _RARE, dtype=np.intp)
    codes[ord("a") : ord("z") + 1] = np.arange(26)
    codes[ord("0") : ord("9") + 1] = np.arange(26, 36)
    return codes


_CODES = _make_codes()
