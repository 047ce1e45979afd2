"""Trainings: requests, runs, learning from texts and images; and reading of models."""
