"""The tests of the client on the other Pythons that it supports: `make test-pythons`."""
