"""Rules for routes and handlers, without which they cannot be deployed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import app
from chalicelib.routes import OPERATIONS

ROOT = Path(app.__file__).parent
ROUTES = app.app.routes


def test_sibling_path_variables_share_a_name():
    """All path variables at one position have the same name, as API Gateway requires."""
    names: dict[str, set[str]] = {}
    for path in ROUTES:
        parts = path.split("/")
        for position, part in enumerate(parts):
            if part.startswith("{"):
                names.setdefault("/".join(parts[:position]), set()).add(part)

    assert {place: found for place, found in names.items() if len(found) > 1} == {}


def test_every_route_is_declared():
    """Every route of the application is a declared operation."""
    declared = Counter(
        (method, path)
        for op in OPERATIONS
        for _, path in op.served_paths()
        for method in op.methods
    )

    assert max(declared.values()) == 1
    assert set(declared) == {(method, path) for path, found in ROUTES.items() for method in found}


def test_names_are_unique():
    """Names of operations and handlers are unique; Chalice would accept duplicates."""
    operations = [op.name for op in OPERATIONS]
    handlers = [source.name for source in app.app.event_sources]

    assert len(set(operations)) == len(operations)
    assert len(set(handlers)) == len(handlers)
    assert not set(handlers) & set(operations)


def test_handlers_are_defined_in_app():
    """All handlers are defined in app.py, because Chalice deploys only those."""
    assert {s.handler_string.split(".")[0] for s in app.app.event_sources} == {"app"}
    for source in app.app.event_sources:
        assert callable(getattr(app, source.name))


def test_views_are_named_like_their_operation():
    """A view has the name of its operation."""
    for operation in OPERATIONS:
        assert operation.view.__name__ == operation.name


def test_app_is_short():
    """app.py stays short enough to read at a glance."""
    assert len((ROOT / "app.py").read_text().splitlines()) <= 100
