"""Generated calls check that the service conforms to its OpenAPI document."""
