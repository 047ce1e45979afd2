"""Rules that routes and handlers must keep so that they can be deployed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import app
from chalicelib.routes import OPERATIONS

ROOT = Path(app.__file__).parent
ROUTES = app.app.routes


def test_sibling_path_variables_share_a_name():
    """API Gateway takes one variable name per path position."""
    names: dict[str, set[str]] = {}
    for path in ROUTES:
        parts = path.split("/")
        for position, part in enumerate(parts):
            if part.startswith("{"):
                names.setdefault("/".join(parts[:position]), set()).add(part)

    assert {place: found for place, found in names.items() if len(found) > 1} == {}


def test_every_route_is_declared():
    """No route exists besides the declarations."""
    declared = Counter(
        (method, path) for op in OPERATIONS for _, path in op.served() for method in op.methods
    )

    assert max(declared.values()) == 1
    assert set(declared) == {(method, path) for path, found in ROUTES.items() for method in found}


def test_names_are_unique():
    """Operations and handlers have names of their own; Chalice would accept twins silently."""
    operations = [op.name for op in OPERATIONS]
    handlers = [source.name for source in app.app.event_sources]

    assert len(set(operations)) == len(operations)
    assert len(set(handlers)) == len(handlers)
    assert not set(handlers) & set(operations)


def test_handlers_are_defined_in_app():
    """Chalice deploys the handlers of other modules without this one."""
    assert {s.handler_string.split(".")[0] for s in app.app.event_sources} == {"app"}
    for source in app.app.event_sources:
        assert callable(getattr(app, source.name))


def test_views_are_named_like_their_operation():
    """A view and its operation are found together."""
    for operation in OPERATIONS:
        assert operation.view.__name__ == operation.name


def test_app_is_short():
    """The entry stays readable at a glance."""
    assert len((ROOT / "app.py").read_text().splitlines()) <= 100
