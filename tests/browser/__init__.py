"""The page of the API in a real browser, run by `make test-browser`."""
