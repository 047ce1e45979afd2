# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Form templates that are learned from examples."""

from __future__ import annotations

from presage import records
from presage._sync.family import FamilyBase
from presage._sync.transport import Transport
from presage._sync.waiting import wait
from presage._files import open_documents
from presage._records import request_id
from presage._requests import Request
from presage._sources import File
from presage.errors import JobFailedError


class LearnedTemplate(records.LearnedTemplate):
    """The record of a form template that is learned from examples, with the method `wait`."""

    @property
    def family(self) -> FamilyBase:
        """The family `vision`, to which templates belong."""
        found: FamilyBase = self.__dict__["family_of"]
        return found

    def refresh(self) -> LearnedTemplate:
        """Fetch the current state."""
        return Templates(self.family).get(self.id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> LearnedTemplate:
        """Wait until the template is learned; return a record with `template` and `accuracy`.

        Raises:
            JobFailedError: the documents cannot be read, or no value was found in them.
            WaitTimeoutError: the job is still running after `timeout` seconds.
        """
        ended = wait(
            self.refresh,
            lambda seen: seen.status in ("SUCCEEDED", "FAILED"),
            title="Learning a template",
            share=lambda _: None,
            timeout=timeout,
            progress=progress,
        )
        if ended.status == "FAILED":
            raise JobFailedError(
                ended.failure_msg or f"The template {self.id} was not learned.",
                code="template_failed",
                request_id=request_id(self),
            )
        return ended


class Templates:
    """The calls below `/v2/vision/templates`."""

    def __init__(self, family: FamilyBase) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = f"{family.path}/templates/learn"

    def learn(self, file: File, *, progress: bool | None = None) -> LearnedTemplate:
        """Learn a form template from documents and the values that you found in them.

        Example:
            learned = (client.vision.templates.learn("invoices/")).wait()
            found = client.vision.ocr("new.pdf", task="form", form_template=learned.template)

        Args:
            file: a folder or zip archive of at most 20 documents. Its file `values.json` has their
                values: `[{"file": "one.pdf", "values": {"invoice_number": "17"}}]`. An archive can
                also be given by its URL or as bytes.
            progress: whether to show a progress bar; by default only on a terminal.

        Raises:
            FileError: the folder has no `values.json`, or a file cannot be read.
        """
        packed = open_documents(file)
        with self._family.uploads.attached(packed, "data", "path", progress) as part:
            request = Request("POST", self._base, fields=part.fields, files=part.files)
            return self._bound(self._transport.record(request, LearnedTemplate))

    def get(self, template_id: str) -> LearnedTemplate:
        """Fetch the state of a template that is being learned."""
        request = Request("GET", f"{self._base}/{template_id}")
        return self._bound(self._transport.record(request, LearnedTemplate))

    def _bound(self, learned: LearnedTemplate) -> LearnedTemplate:
        learned.__dict__["family_of"] = self._family
        return learned
