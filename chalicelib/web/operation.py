"""One declaration per operation: from it come routing, parsing, validation, and the document.

Declared in chalicelib/routes, run by chalicelib/web/endpoint.py, described by
chalicelib/web/openapi.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.domain.datasets.dataset import LANGUAGE, VISION

if TYPE_CHECKING:
    from chalicelib.web.call import Call

BOTH = (VISION, LANGUAGE)
FAMILY = ":family"
"""Stands for the family in a path."""


@dataclass(frozen=True)
class Operation:
    """Everything there is to know about one call of the interface."""

    name: str
    """Unique; the `operationId` of the document."""
    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path with `:family` where the family stands, and variables in braces."""
    view: Callable[[Call], object]
    """Does the work and returns the answer record."""
    summary: str
    """One sentence for the document."""
    answer: Any = None
    """Type of the answer record, or a union of several; None when there is no body."""
    parts: tuple[Any, ...] = ()
    """Records inside the answer that its type does not name."""
    families: tuple[str, ...] = ()
    """Families it exists for; none when the path has no family."""
    form: Any = None
    """Struct of the body's fields; None when no body is read.

    Its `form_rules` and `json_rules`, where it has them, complete its schema by content type;
    its `media_types` are those that can succeed, where not both can;
    its `missing_texts` are the texts for required fields that are absent.
    """
    files: tuple[str, ...] = ()
    """Names of fields that are files."""
    query: type[msgspec.Struct] | None = None
    """Struct of the query parameters other than `offset` and `count`."""
    page_size: int = 0
    """Default and largest `count` of a paged list; 0 when there are no pages."""
    is_list: bool = False
    """True when `answer` is the type of a list's records."""
    locate: Callable[[Call], object] | None = None
    """Loads what path or body name; runs after the 401 and before the rest of the checks."""
    is_public: bool = False
    """True when no token is needed."""
    is_metered: bool = False
    """True when every answer after the 401 carries the rate-limit headers."""
    status: int = 200
    """Status of success."""
    statuses: tuple[int, ...] = ()
    """Statuses of failure besides those that follow from the members above."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every success."""
    media_type: str = "application/json"
    """Content type of success."""
    aliases: tuple[str, ...] = ()
    """Further paths of the same call."""
    takes_urlencoded: bool = False
    """True when `application/x-www-form-urlencoded` is read too."""
    is_deprecated: bool = False
    """True when another operation has taken its place."""

    def routes(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each path the operation is reached by."""
        for path in (self.path, *self.aliases):
            if FAMILY in path:
                for family in self.families:
                    yield family, path.replace(FAMILY, family)
            else:
                named = [f for f in self.families if f"/{f}/" in path] or self.families
                yield (named[0] if len(named) == 1 else ""), path
