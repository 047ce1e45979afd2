"""The examples of the OpenAPI document, sent to a running stack and compared with its answers."""
