"""Predicts with models that were exported from Presage, without the service.

from presage_runtime import load
model = load("model-7JYVH57NDS3MB7HS76ZPVQQXJA-1")
print(model.predict("Where is my parcel?"))
"""

from __future__ import annotations

from presage_runtime.bundle import BundleError, Model, load

__all__ = ["BundleError", "Model", "load"]
