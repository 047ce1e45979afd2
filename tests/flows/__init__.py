"""End-to-end tests of the whole service over HTTP: real queues, workers and encoders."""

TWO_VIEWS_APP = "tests.flows.two_views_app:app"
"""The application with half the views of training images, for models that need not be good."""
KNOWN_OUTPUTS_APP = "tests.flows.known_outputs_app:app"
"""The same with networks that run once per input, for commands that repeat the same inputs."""
