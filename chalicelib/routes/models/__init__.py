"""Trainings and what they made."""

from chalicelib.routes.models import models, training

OPERATIONS = (
    *training.OPERATIONS,
    *models.OPERATIONS,
)
