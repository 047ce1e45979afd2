"""End-to-end tests of the whole service over HTTP: real queues, workers and encoders."""

TWO_VIEWS_APP = "tests.flows.two_views_app:app"
"""The application with half the views of training images, for models that need not be good."""
