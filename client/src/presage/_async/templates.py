"""Form templates that are learned from examples."""

from __future__ import annotations

from presage import records
from presage._async.family import AsyncFamilyBase
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._files import open_documents
from presage._records import request_id
from presage._requests import Request
from presage._sources import File
from presage.errors import JobFailedError


class AsyncLearnedTemplate(records.LearnedTemplate):
    """The record of a form template that is learned from examples, with the method `wait`."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family `vision`, to which templates belong."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncLearnedTemplate:
        """Fetch the current state."""
        return await AsyncTemplates(self.family).get(self.id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncLearnedTemplate:
        """Wait until the template is learned; return a record with `template` and `accuracy`.

        Raises:
            JobFailedError: the documents cannot be read, or no value was found in them.
            WaitTimeoutError: the job is still running after `timeout` seconds.
        """
        ended = await wait(
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


class AsyncTemplates:
    """The calls below `/v2/vision/templates`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = f"{family.path}/templates/learn"

    async def learn(self, file: File, *, progress: bool | None = None) -> AsyncLearnedTemplate:
        """Learn a form template from documents and the values that you found in them.

        Example:
            learned = await (await client.vision.templates.learn("invoices/")).wait()
            found = await client.vision.ocr("new.pdf", task="form", form_template=learned.template)

        Args:
            file: a folder or zip archive of at most 20 documents. Its file `values.json` has their
                values: `[{"file": "one.pdf", "values": {"invoice_number": "17"}}]`. An archive can
                also be given by its URL or as bytes.
            progress: whether to show a progress bar; by default only on a terminal.

        Raises:
            FileError: the folder has no `values.json`, or a file cannot be read.
        """
        packed = open_documents(file)
        async with self._family.uploads.attached(packed, "data", "path", progress) as part:
            request = Request("POST", self._base, fields=part.fields, files=part.files)
            return self._bound(await self._transport.record(request, AsyncLearnedTemplate))

    async def get(self, template_id: str) -> AsyncLearnedTemplate:
        """Fetch the state of a template that is being learned."""
        request = Request("GET", f"{self._base}/{template_id}")
        return self._bound(await self._transport.record(request, AsyncLearnedTemplate))

    def _bound(self, learned: AsyncLearnedTemplate) -> AsyncLearnedTemplate:
        learned.__dict__["family_of"] = self._family
        return learned
