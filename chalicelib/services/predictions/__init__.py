"""Answers of models: to texts, to images, and readings of documents."""
