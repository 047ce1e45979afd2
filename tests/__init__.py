"""The tests of the project. Each file tests the module of the same name."""
