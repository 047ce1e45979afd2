"""Every operation of the interface: one module a resource, views of a few lines."""

from chalicelib.routes import accounts, datasets, models, predictions, service

OPERATIONS = (
    *accounts.OPERATIONS,
    *datasets.OPERATIONS,
    *models.OPERATIONS,
    *predictions.OPERATIONS,
    *service.OPERATIONS,
)
