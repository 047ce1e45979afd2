"""HTTP: operations, parsing, records, OpenAPI. Only this folder and routes use Chalice."""
