"""Form templates: those of callers, and those that ship with the service."""
