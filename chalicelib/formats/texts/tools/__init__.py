"""Reads exports of other tools. They contain intents with texts. See beyond.md, section 1."""
