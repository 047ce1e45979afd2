"""Trainings and models."""

from chalicelib.routes.models import models, training, versions

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
    *versions.OPERATIONS,
)
