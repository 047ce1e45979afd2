"""Imports models that an installation of Presage has exported. See beyond.md, section 13."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.web.operations.fields import Name, Url
from chalicelib.web.operations.files import upload_source
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records


class ImportForm(msgspec.Struct, rename="camel"):
    """Fields of an import, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": [one]} for one in ("data", "path")]
    }
    # Without `data`: a JSON body cannot hold a file.
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    name: Name
    path: Url | None = None


def recover_import(call: Call, keyed: KeyedCall) -> model_records.ModelRecord:
    """Return the model whose import an earlier attempt at the call queued."""
    return describe.model(call.container.models.get(call.account.account_id, keyed.object_id))


@Operation(
    "POST",
    "/v2/:family/models/import",
    form=ImportForm,
    files=("data",),
    recover=recover_import,
    statuses=(429,),
)
def import_model(call: Call) -> model_records.ModelRecord:
    """Import a model that was exported as a bundle."""
    source = upload_source(call)
    imports = call.container.imports
    return describe.model(imports.request(call.account, call.family, source, call.form.name))
