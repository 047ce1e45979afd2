"""The application of few views, whose processes run each network once per input.

Commands of many pages read the same two images, and train on the same texts.
"""

from tests.flows.two_views_app import app
from tests.known_outputs import keep_outputs

__all__ = ["app"]

keep_outputs()
