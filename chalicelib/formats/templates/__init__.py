"""Form templates: templates that callers send, and templates that ship with the service."""
