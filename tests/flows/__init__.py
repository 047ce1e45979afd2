"""The whole service over HTTP: real queues, real workers, real encoders."""

TWO_VIEWS_APP = "tests.flows.two_views_app:app"
"""The application with half the views of training images, for models that need not be good."""
