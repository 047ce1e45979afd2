"""What LocalStack proves beyond moto; run by `make test-localstack` alone."""
