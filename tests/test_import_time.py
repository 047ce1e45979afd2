"""What a cold start spends on `import app`."""

from __future__ import annotations

from tests.structure.test_import import run


def test_import_is_quick():
    """A cold start imports the application within half a second."""
    code = "import time; t = time.process_time(); import app; print(time.process_time() - t)"

    assert any(float(run(code)) <= 0.5 for _ in range(3))
