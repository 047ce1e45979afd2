"""Examples written as files that upload again: texts, JSON lines, archives of pictures."""
