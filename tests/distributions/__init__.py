"""The distributions in an empty environment."""
