"""Warnings about the labels and counts of an upload. See beyond.md, section 1, warnings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL
from chalicelib.domain.datasets.upload_format import (
    BOXES_CUT,
    CONTRADICTING_TEXTS,
    FEW_EXAMPLES,
    FORMAT_GUESSED,
    LABEL_PER_TEXT,
    LABELS_ALMOST_EQUAL,
    MANY_DUPLICATES,
    MAX_PLACES,
    MISSING_LABEL,
    MISSING_TEXT,
    ROTATED_IMAGES,
    SEVERAL_LABELS,
    TEXTS_CUT,
    TINY_BOXES,
    UploadWarning,
)
from chalicelib.domain.datasets.windows import READ_WORDS
from chalicelib.errors import InvalidUpload

_BETWEEN = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
# The semicolon of an HTML entity such as "R&amp;D" does not separate.
_LISTED = re.compile(r"(?<!&amp)(?<!&lt)(?<!&gt)(?<!&quot)(?<!&#39);|\|")
# A list as programs write it, such as ["Billing"].
_LIST = re.compile(r"""\[\s*(["']).+\1\s*\]""")
_SHORTEST_MISTYPED = 5
_FEWEST_DUPLICATES = 5
_FEWEST_TEXTS = 10
# A box with a shorter side, in pixels, gets a warning.
TINY_SIDE = 4
# Fraction of a box's area that should be inside its image. Annotation tools round, also up, so the
# exact area is too strict.
LEAST_INSIDE = 0.9


@dataclass
class OddBoxes:
    """Counts the boxes with one kind of problem, and lists the first few of these boxes."""

    count: int = 0
    places: list[str] = field(default_factory=list)
    """Image and label of the first boxes with the problem, at most MAX_PLACES."""

    def add(self, place: str) -> None:
        """Count a box. List its position `place` if fewer than MAX_PLACES positions are listed."""
        self.count += 1
        if len(self.places) < MAX_PLACES:
            self.places.append(place)


def warn_of_labels(counts: Mapping[str, int]) -> list[UploadWarning]:
    """Return warnings about labels that are nearly equal and about labels with few examples.

    `counts` also includes the examples that are already in the dataset.
    """
    warnings = []
    pairs = _almost_equal(counts)
    if pairs:
        places = tuple(f"{rare} / {common}" for rare, common in pairs[:MAX_PLACES])
        warnings.append(
            UploadWarning(
                LABELS_ALMOST_EQUAL,
                f"Labels are almost equal: {_listed(places)}. Each counts as its own label; give "
                "examples of one kind the same label.",
                len(pairs),
                places,
            )
        )
    few = [name for name, count in counts.items() if 0 < count < MIN_EXAMPLES_PER_LABEL]
    if few:
        places = tuple(f"{name}: {counts[name]}" for name in few[:MAX_PLACES])
        merges = [f"{rare}' into '{common}" for rare, common in pairs if rare in few]
        remedy = f" A merge would help: {_listed(merges)}." if merges else ""
        warnings.append(
            UploadWarning(
                FEW_EXAMPLES,
                f"Labels have fewer than {MIN_EXAMPLES_PER_LABEL} examples: {_listed(places)}. "
                f"Add more, or merge the labels with others.{remedy}",
                len(few),
                places,
            )
        )
    return warnings


def warn_of_missing_labels(rejected: int, accepted: Sequence[str]) -> list[UploadWarning]:
    """Return warnings about labels such as `N/A`, which may stand for a missing label.

    Args:
        rejected: number of rows left out because their label stands for a missing value.
        accepted: labels such as `none` that have enough rows to be real labels.
    """
    warnings = []
    if rejected:
        message = (
            f"{rejected:,} rows have a mark for a missing value as their label, such as #N/A or "
            "null, and were left out. Give them a label and upload them again."
        )
        warnings.append(UploadWarning(MISSING_LABEL, message, rejected))
    if accepted:
        message = (
            f"Labels could stand for a missing value and were kept: {_listed(accepted)}. Remove "
            "the label if its examples have none."
        )
        warnings.append(UploadWarning(MISSING_LABEL, message, len(accepted), tuple(accepted)))
    return warnings


def warn_of_missing_texts(rows: Mapping[str, int]) -> list[UploadWarning]:
    """Return a warning about texts such as `NULL`, which may stand for a missing text.

    Args:
        rows: number of accepted rows by text.
    """
    if not rows:
        return []
    message = (
        f"Texts could stand for a missing value and were kept: {_listed(rows)}. Remove their rows "
        "if they have no text."
    )
    return [UploadWarning(MISSING_TEXT, message, sum(rows.values()), tuple(rows)[:MAX_PLACES])]


def warn_of_several_labels(labels: Iterable[str]) -> list[UploadWarning]:
    """Return a warning if labels look like lists of labels, such as `Account|Urgent`."""
    known = {label: split_labels(label) for label in labels}
    uses = Counter(part for parts in known.values() for part in parts)
    found = [label for label, parts in known.items() if len(parts) > 1]
    found += [label for label in known if _LIST.fullmatch(label)]
    # A single label with a bar is a name, unless it shares a part with another label.
    if len(found) < 2 and not any(uses[part] > 1 for label in found for part in known[label]):
        found = next(filter(None, (_find_lists(known, between) for between in ",/+&")), [])
    if not found:
        return []
    places = tuple(found[:MAX_PLACES])
    message = (
        f"Labels look like several labels each: {_listed(places)}. A text has one label, so each "
        "list is a label. Give every text the one label that matters most."
    )
    return [UploadWarning(SEVERAL_LABELS, message, len(found), places)]


def _find_lists(labels: Iterable[str], between: str) -> list[str]:
    """Return the labels that are lists of other labels, joined by the separator `between`.

    The separator can also be part of a single name, such as `Parts, repairs`. So no label is
    returned if fewer than half of the labels with the separator are lists of other labels.
    """
    known = {label: [part.strip() for part in label.split(between)] for label in labels}
    uses = Counter(part for parts in known.values() for part in parts)
    wide = [label for label, parts in known.items() if len(parts) > 1]
    found = [label for label in wide if all(uses[part] > 1 for part in known[label])]
    return found if 2 <= len(found) >= len(wide) / 2 else []


def split_labels(cell: str) -> list[str]:
    """Split a cell such as `Account|Urgent` into its labels."""
    parts = [part for part in map(str.strip, _LISTED.split(cell)) if part]
    return parts if all(any(map(str.isalnum, part)) for part in parts) else [cell.strip()]


def warn_of_cut_texts(cut: int) -> list[UploadWarning]:
    """Return a warning that `cut` texts have more words than the models read."""
    if not cut:
        return []
    are = "1 text has" if cut == 1 else f"{cut:,} texts have"
    message = (
        f"{are} more than {READ_WORDS:,} words, and models read only the first {READ_WORDS:,}. "
        "Shorten texts whose label depends on what follows."
    )
    return [UploadWarning(TEXTS_CUT, message, cut)]


def warn_of_counts(
    kept_by_label: Mapping[str, int], duplicates: int, *, is_text: bool
) -> list[UploadWarning]:
    """Return warnings about many duplicates, and about too many labels for the number of texts."""
    warnings = []
    kept = sum(kept_by_label.values())
    if duplicates >= _FEWEST_DUPLICATES and duplicates * 10 >= kept + duplicates:
        warnings.append(
            UploadWarning(
                MANY_DUPLICATES,
                f"{duplicates:,} of {kept + duplicates:,} examples were there already with the "
                "same label and were left out. Check that the file is the one that you mean.",
                duplicates,
            )
        )
    labels = len(kept_by_label)
    if is_text and kept >= _FEWEST_TEXTS and labels * 2 > kept:
        warnings.append(
            UploadWarning(
                LABEL_PER_TEXT,
                f"There are {labels:,} labels for {kept:,} texts, nearly one for each. Check that "
                "text and label are not swapped, and name the columns with 'textColumn' and "
                "'labelColumn'.",
                labels,
                tuple(list(kept_by_label)[:MAX_PLACES]),
            )
        )
    return warnings


def warn_of_contradictions(count: int, places: Iterable[str]) -> list[UploadWarning]:
    """Return a warning if the same text occurs with different labels.

    `count` is the number of texts with different labels. `places` has the positions of the first
    of these texts, such as `row 7`.
    """
    if not count:
        return []
    has = "1 text has" if count == 1 else f"{count:,} texts have"
    return [
        UploadWarning(
            CONTRADICTING_TEXTS,
            f"{has} several labels. Keep the label that is right; a model cannot learn both.",
            count,
            tuple(places),
        )
    ]


def warn_of_tiny_boxes(boxes: OddBoxes) -> list[UploadWarning]:
    """Return a warning if boxes are too small to show an object."""
    message = (
        f"{boxes.count:,} boxes are narrower or lower than {TINY_SIDE} pixels, too small to learn "
        "from. Check that their numbers are pixels of the image as displayed."
    )
    return _warning_of_boxes(TINY_BOXES, message, boxes)


def warn_of_cut_boxes(boxes: OddBoxes) -> list[UploadWarning]:
    """Return a warning if large parts of boxes were outside the image and were cut off."""
    message = (
        f"{boxes.count:,} boxes reached far out of their image and were cut at its edge. Check "
        "that their last two numbers are width and height, not the right and the bottom edge, and "
        "that all are pixels of the image as displayed."
    )
    return _warning_of_boxes(BOXES_CUT, message, boxes)


def warn_of_cut_lines(lines: OddBoxes) -> list[UploadWarning]:
    """Return a warning if lines of a YOLO file have more numbers than a box needs."""
    message = (
        f"{lines.count:,} lines have a confidence or a track number after their box, as tools that "
        "detect or track write them. Only the box was used. Check that people have reviewed the "
        "boxes, since predictions are not labels."
    )
    return _warning_of_boxes(FORMAT_GUESSED, message, lines)


def warn_of_guessed_corners(count: int) -> list[UploadWarning]:
    """Return a warning about boxes whose four numbers may mean two corners, or a corner and a size.

    `count` is the number of these boxes. Their numbers were read as two corners.
    """
    message = (
        f"{count:,} boxes have no names for their numbers, which were read as xmin, ymin, xmax and "
        "ymax. They also fit as x, y, width and height. Begin the table with a row of the right "
        "names between filename and class."
    )
    return [UploadWarning(FORMAT_GUESSED, message, count)]


def warn_of_rotated_images(images: OddBoxes) -> list[UploadWarning]:
    """Return a warning about images that have an EXIF rotation and boxes from another tool."""
    message = (
        f"{images.count:,} images are rotated by their EXIF orientation. Check their boxes on the "
        "page of the dataset: boxes refer to the image as displayed, and some tools draw them on "
        "the image as stored. If they are wrong, save the images without EXIF and upload again."
    )
    return _warning_of_boxes(ROTATED_IMAGES, message, images)


def _warning_of_boxes(code: str, message: str, boxes: OddBoxes) -> list[UploadWarning]:
    return [UploadWarning(code, message, boxes.count, tuple(boxes.places))] if boxes.count else []


def refuse_warnings(warnings: Sequence[UploadWarning]) -> None:
    """Raise InvalidUpload if there are warnings. Called only if the caller sent `strict`."""
    if warnings:
        listed = " ".join(f"{warning.code}: {warning.message}" for warning in warnings)
        raise InvalidUpload(
            f"The file has {len(warnings)} warnings, and 'strict' allows none. {listed}"
        )


def _almost_equal(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return pairs of label names that probably mean the same label, the rarer name first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts, key=lambda name: (counts[name], name)):
        groups[_BETWEEN.sub("", name.casefold()) or name].append(name)
    pairs = [(name, names[-1]) for names in groups.values() for name in names[:-1]]
    totals = {key: sum(counts[name] for name in names) for key, names in groups.items()}
    for key, other in _mistyped([key for key in groups if len(key) >= _SHORTEST_MISTYPED]):
        rare, common = sorted((key, other), key=lambda name: (totals[name], name))
        # Two labels of similar size are probably both intended.
        if totals[rare] * 2 <= totals[common]:
            pairs.append((groups[rare][-1], groups[common][-1]))
    return pairs


def _mistyped(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names that differ in one letter, or in two swapped letters."""
    names.sort(key=len)
    for at, name in enumerate(names):
        for other in names[at + 1 :]:
            # The names are sorted by length, so all later ones are longer still.
            if len(other) > len(name) + 1:
                break
            if _is_mistyped(name, other):
                yield name, other


def _is_mistyped(name: str, other: str) -> bool:
    if OSA.distance(name, other, score_cutoff=1) > 1:
        return False
    # "size 1" and "size 2" are meant to differ.
    return _DIGITS.sub("", name) != _DIGITS.sub("", other)


def _listed(places: Iterable[str]) -> str:
    shown = [f"'{place}'" for place in places]
    return ", ".join(shown[:5]) + (" and others" if len(shown) > 5 else "")
