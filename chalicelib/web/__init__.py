"""HTTP words: declarations, parsing, records, OpenAPI. Chalice lives here and in routes."""
