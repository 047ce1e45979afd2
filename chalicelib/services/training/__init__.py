"""Trainings: requests, runs and learners of texts and images. Also reads the models."""
