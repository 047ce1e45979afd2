"""Reads exports of other tools: intents with example texts. See beyond.md, section 1."""
