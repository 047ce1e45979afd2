"""Learning from pictures: backbones, features, heads, trainings, served models."""
