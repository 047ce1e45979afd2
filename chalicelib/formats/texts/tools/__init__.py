"""Exports of other tools: intents with their utterances. beyond.md, section 1."""
