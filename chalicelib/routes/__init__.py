"""All operations of the API: one module for each resource, with short views."""

from chalicelib.routes import accounts, datasets, models, predictions, service
from chalicelib.web.operations.operation import Operation

# In the order in which a caller uses them; the documentation lists them so.
OPERATIONS = tuple(
    operation
    for group in (accounts, datasets, models, predictions, service)
    for module in group.MODULES
    for operation in vars(module).values()
    if isinstance(operation, Operation)
)
