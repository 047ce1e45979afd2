"""Generated calls against the OpenAPI document of the running service."""
