"""The HTTP door of the local stack: requests become events of API Gateway."""
