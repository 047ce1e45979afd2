"""Exports of other tools: intents with example texts. beyond.md, section 1."""
