"""Form templates: those that callers send, and those that ship with the service."""
