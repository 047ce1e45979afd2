"""Removes data of deleted examples from the card, learning curve and reports of a model."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from chalicelib.domain.models.evaluation import without_evaluated

_LAST_WORD = re.compile(r"[A-Z]?[a-z]+$")
# Last words of member names that identify examples.
_OF_EXAMPLES = frozenset(("id", "ids", "file", "files", "name", "names", "text", "texts"))


def without_examples(report: Any, labels: Collection[str]) -> Any:
    """Remove all texts, file names and ids from a data report; keep numbers and label names.

    Lists of objects keep their lengths, so that examples can still be counted.
    """
    if isinstance(report, dict):
        return {
            name: without_examples(value, labels)
            for name, value in report.items()
            if _stays(name, value, labels)
        }
    if isinstance(report, list):
        kept = (item for item in report if isinstance(item, dict | list) or item in labels)
        return [without_examples(item, labels) for item in kept]
    return report


def without_names(results: Any) -> Any:
    """Replace the file names in the `epochResults` of a learning curve by the expected labels.

    Each result has `exampleName` and `expectedLabel`.
    """
    if isinstance(results, dict):
        if "exampleName" in results:
            return {**results, "exampleName": results.get("expectedLabel", "")}
        return {name: without_names(value) for name, value in results.items()}
    if isinstance(results, list):
        return [without_names(item) for item in results]
    return results


def _stays(name: str, value: Any, labels: Collection[str]) -> bool:
    """Return whether a member of a report can stay, because it does not identify an example."""
    word = _LAST_WORD.search(name)
    if word is not None and word[0].lower() in _OF_EXAMPLES:
        return False
    return value in labels if isinstance(value, str) else True


def without_some(document: Any, ids: Collection[int], names: Collection[str]) -> Any:
    """Remove some examples from a card, a report of suspects, an evaluation or a learning curve.

    `names` are the texts or file names of the examples, which identify them in learning curves.
    """
    if isinstance(document, list):
        return [without_some(item, ids, names) for item in document]
    if not isinstance(document, dict):
        return document
    if document.get("object") == "suspects":
        remaining = [one for one in document["suspects"] if one["example_id"] not in ids]
        return {**document, "suspects": remaining}
    if document.get("object") == "evaluation":
        return without_evaluated(document, ids)
    if document.get("exampleName") in names:
        return {**document, "exampleName": document.get("expectedLabel", "")}
    named = {document.get("id"), *document.get("ids", ())} if _names_examples(document) else set()
    if named & set(ids):
        left = [number for number in document.get("ids", ()) if number not in ids]
        kept = document if left else {n: v for n, v in document.items() if _is_figure(n)}
        # A record stays if some of its examples stay. Without any of them, only its numbers stay.
        document = {**kept, "ids": left} if left else kept
    return {name: without_some(value, ids, names) for name, value in document.items()}


def _names_examples(record: dict[str, Any]) -> bool:
    return isinstance(record.get("ids", []), list) and not isinstance(record.get("id"), dict | list)


def _is_figure(name: str) -> bool:
    word = _LAST_WORD.search(name)
    return word is None or word[0].lower() not in _OF_EXAMPLES
