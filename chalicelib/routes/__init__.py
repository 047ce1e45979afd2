"""Every operation of the interface: one module a resource, views of a few lines."""

from dataclasses import replace

from chalicelib.routes import accounts, datasets, models, predictions, service

_WINGS = {
    "accounts": accounts,
    "datasets": datasets,
    "models": models,
    "predictions": predictions,
    "service": service,
}
OPERATIONS = tuple(
    replace(operation, group=group)
    for group, wing in _WINGS.items()
    for operation in wing.OPERATIONS
)
"""In the order in which one uses them."""
