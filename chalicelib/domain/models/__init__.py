"""Models, trainings and predictions."""
