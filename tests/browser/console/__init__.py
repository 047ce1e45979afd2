"""The console in a real browser, run by `make test-console`."""
