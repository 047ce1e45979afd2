"""A second client, made from the document by openapi-python-client: `make test-openapi`."""
