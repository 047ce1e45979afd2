"""Trainings and models."""

from chalicelib.routes.models import exports, models, training, versions

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
    *versions.OPERATIONS,
    *exports.OPERATIONS,
)
