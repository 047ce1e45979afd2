"""The application with half the views of each training image, to halve feature cost."""

from app import app
from chalicelib.engines.vision.backbone import square_extractor
from chalicelib.engines.vision.detection.views import extractor

__all__ = ["app"]

square_extractor.VIEWS = 2
extractor.AUGMENTED_VIEWS = 2
