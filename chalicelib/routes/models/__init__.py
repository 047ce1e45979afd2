"""Trainings and models."""

from chalicelib.routes.models import models, training

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
)
