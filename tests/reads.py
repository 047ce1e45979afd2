"""All declared GET operations, for tests that apply to every one.

reads("language", dataset_id=7, label_id=1)   those whose variables are among these, filled in
"""

from __future__ import annotations

import re

from chalicelib.routes import OPERATIONS

QUERIES = {"list_label_examples_deprecated": "?labelId={label_id}"}
"""What an operation cannot do without, by its name."""


def reads(family: str, *, is_paged: bool = False, **variables: object) -> list[str]:
    """Return the paths of a family that contain an id, in the order of the declarations.

    Args:
        family: `language` or `vision`.
        is_paged: whether only lists with pages are wanted.
        variables: what to put for each variable; a path that has others is left out, and so is
            one that has none.
    """
    templates = [
        path + QUERIES.get(operation.name, "")
        for operation in OPERATIONS
        for of, path in operation.routes()
        if operation.method == "GET" and of == family and (operation.page_size or not is_paged)
    ]
    return [
        template.format(**variables)
        for template in templates
        if (names := set(re.findall(r"\{(\w+)\}", template))) and names <= set(variables)
    ]
