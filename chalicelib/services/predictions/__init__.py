"""Answers of models: to texts, to pictures, and what documents say."""
