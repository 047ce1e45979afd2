"""One BLAS thread in these tests, as in the workers, which set OPENBLAS_NUM_THREADS.

The head's own threads and those of BLAS would wait for each other in turn.
"""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to the calling thread."""
    with threadpool_limits(1):
        yield
