"""Finds the role of each block: page header, page footer, heading or body text.

A short text at the edge of a page is a page header or footer if several pages have the same text
there; page numbers may differ. A heading has larger letters than most text, or is a short bold
block before a block that is not bold.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from chalicelib.domain.documents.layout import (
    BODY,
    HEADING,
    PAGE_FOOTER,
    PAGE_HEADER,
    Role,
    WrittenBlock,
)
from chalicelib.engines.ocr.layout.marks import find_mark
from chalicelib.engines.ocr.order import weighted_median

# Minimum height of a heading's letters, as a multiple of those of most text.
_HEADING = 1.2
# Maximum number of heading levels; headings in smaller letters have the last level.
_LEVELS = 3
# Maximum number of lines of a heading, a page header or a page footer.
_LONGEST = 3
# Maximum number of characters of a bold heading. Maximum fraction of bold text in a document; with
# more, bold text is not a heading.
_MOST_BOLD, _BOLD_SHARE = 100, 0.5
# Height of the edges of a page, and the tolerance of positions, as fractions of its height.
_EDGE, _SHIFT = 0.12, 0.02
# Minimum fraction of the pages that have the same header or footer; those of odd and even pages
# may differ.
_LEAST_PAGES = 0.25
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?i)(?:page|seite|p\.) ?\d+(?: ?(?:of|von|/) ?\d+)?|\d+ ?(?:of|von|/) ?\d+|[-–—] ?\d+ ?[-–—]"
)


def block_roles(
    pages: Sequence[Sequence[WrittenBlock]], heights: Sequence[float]
) -> list[list[Role]]:
    """Return the role of each block of each page.

    Args:
        pages: the blocks of each page.
        heights: height of each page, in the unit of the blocks' boxes.
    """
    levels = iter(heading_levels([block for page in pages for block in page]))
    roles: list[list[Role]] = [[HEADING if next(levels) else BODY for _ in page] for page in pages]
    usual = _usual_height([block for page in pages for block in page])
    edges: dict[tuple[Role, str], list[tuple[int, int]]] = defaultdict(list)
    for page, (blocks, height) in enumerate(zip(pages, heights, strict=True)):
        for number, block in enumerate(blocks):
            role = _edge_role(block, height)
            if role is None or block.height > _HEADING * usual:
                continue
            text = " ".join(block.lines)
            edges[role, _NUMBER.sub("#", text.casefold())].append((page, number))
            if _PAGE_NUMBER.fullmatch(text):
                roles[page][number] = role
    for (role, _), places in edges.items():
        if _are_running([pages[page][number] for page, number in places], places, heights):
            for page, number in places:
                roles[page][number] = role
    return roles


def _edge_role(block: WrittenBlock, height: float) -> Role | None:
    """Return PAGE_HEADER or PAGE_FOOTER for a short block at the edge of its page, else None."""
    if block.box is None or block.table is not None or len(block.lines) > _LONGEST:
        return None
    if block.box.max_y <= _EDGE * height:
        return PAGE_HEADER
    return PAGE_FOOTER if block.box.min_y >= (1 - _EDGE) * height else None


def _are_running(
    blocks: Sequence[WrittenBlock], places: Sequence[tuple[int, int]], heights: Sequence[float]
) -> bool:
    """Return whether blocks with equal words are the header or footer of several pages."""
    pages = [page for page, _ in places]
    if len(set(pages)) < max(2, _LEAST_PAGES * len(heights)):
        return False
    tops = [
        block.box.min_y / heights[page]
        for block, page in zip(blocks, pages, strict=True)
        if block.box
    ]
    if max(tops) - min(tops) > _SHIFT:
        return False
    # Sums at the bottom of each page are not page footers: they differ by more than page numbers.
    numbers = ([int(each) for each in _NUMBER.findall(" ".join(one.lines))] for one in blocks)
    return all(
        len(set(column)) == 1 or len({n - page for n, page in zip(column, pages, strict=True)}) == 1
        for column in zip(*numbers, strict=True)
    )


def heading_levels(blocks: Sequence[WrittenBlock]) -> list[int]:
    """Return the heading level of each block of a document, from 1; 0 if not a heading."""
    by_size = _levels_of_sizes(blocks)
    levels = [by_size.get(block.height, 0) if _may_be_heading(block) else 0 for block in blocks]
    below = max(levels, default=0) + 1
    total = _count_characters(blocks)
    if _count_characters(block for block in blocks if block.is_bold) > _BOLD_SHARE * total:
        return levels
    for number, (block, follower) in enumerate(pairwise(blocks)):
        if not levels[number] and _is_bold_heading(block) and not follower.is_bold:
            levels[number] = below
    return levels


def _may_be_heading(block: WrittenBlock) -> bool:
    """Return whether a block is short, has a letter, and is not a list item with a bullet."""
    text = " ".join(block.lines)
    mark = find_mark(text)
    is_bulleted = mark is not None and mark.is_bullet
    return len(block.lines) <= _LONGEST and any(map(str.isalpha, text)) and not is_bulleted


def _is_bold_heading(block: WrittenBlock) -> bool:
    """Return whether a block is bold and looks like a heading, not like a label or a sentence."""
    text = " ".join(block.lines)
    return (
        block.is_bold
        and _may_be_heading(block)
        and len(text) <= _MOST_BOLD
        and text[-1] not in ".,;:"
    )


def _count_characters(blocks: Iterable[WrittenBlock]) -> int:
    return sum(len(line) for block in blocks for line in block.lines)


def _usual_height(blocks: Sequence[WrittenBlock]) -> float:
    """Return the letter height of most of the text, in pixels."""
    weights: Counter[float] = Counter()
    for block in blocks:
        weights[block.height] += sum(map(len, block.lines))
    return weighted_median([*weights.items()])


def _levels_of_sizes(blocks: Sequence[WrittenBlock]) -> dict[float, int]:
    """Return the heading level of each letter size that is larger than the usual size."""
    least = _HEADING * _usual_height(blocks)
    levels: dict[float, int] = {}
    level, largest = 0, 0.0
    sizes = {block.height for block in blocks if _may_be_heading(block)}
    for size in sorted((size for size in sizes if size > least), reverse=True):
        if size * _HEADING < largest or not level:
            level, largest = min(level + 1, _LEVELS), size
        levels[size] = level
    return levels
