"""Names for the types of numpy arrays. Docstrings of functions describe the shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.signedinteger[Any]]
# Unless a docstring says otherwise: RGB, shape (height, width, 3), origin at the top left.
Pixels = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Halves = npt.NDArray[np.float16]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
# Floating point numbers of any precision.
Floats = npt.NDArray[np.floating[Any]]
