"""Trainings and models."""

from chalicelib.routes.models import adjusting, exports, importing, models, training, versions

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
    *versions.OPERATIONS,
    *exports.OPERATIONS,
    *adjusting.OPERATIONS,
    *importing.OPERATIONS,
)
