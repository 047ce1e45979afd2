"""Tests of the package as functions of an emulated AWS; `make test-deploy` runs them."""
