"""The service is called as its OpenAPI document says, by generated calls."""
