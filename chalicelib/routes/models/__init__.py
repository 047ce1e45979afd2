"""Trainings and models."""

from chalicelib.routes.models import adjusting, exports, models, training, versions

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
    *versions.OPERATIONS,
    *exports.OPERATIONS,
    *adjusting.OPERATIONS,
)
