"""All operations of the API: one module for each resource, with short views."""

from dataclasses import replace

from chalicelib.routes import accounts, datasets, models, predictions, service

_GROUPS = {
    "accounts": accounts,
    "datasets": datasets,
    "models": models,
    "predictions": predictions,
    "service": service,
}
# In the order in which a caller uses them; the documentation lists them so.
OPERATIONS = tuple(
    replace(operation, group=group)
    for group, modules in _GROUPS.items()
    for operation in modules.OPERATIONS
)
