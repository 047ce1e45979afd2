"""What each member, field and parameter means, said once for wherever the name stands.

A description that a declaration brings itself wins; `Record.member` wins over `member`. A test
holds that nothing is left without a description, and that no word stands here in vain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = dict[str, Any]

WORDS: Mapping[str, str] = {
    # of every record
    "id": "Its id.",
    "object": "Which kind of record this is; always the same text.",
    "name": "Its name, as it was given; any Unicode.",
    "createdAt": "When it was made: ISO 8601 in UTC, with milliseconds.",
    "updatedAt": "When it was last changed: ISO 8601 in UTC, with milliseconds.",
    "expiresAt": "Until when it can be used: ISO 8601 in UTC, with milliseconds.",
    "message": "What happened, in a sentence; null when there is nothing to say.",
    "status": "Where it stands.",
    "progress": "How much is done, from 0 to 1.",
    "type": "What the dataset holds.",
    "language": "Language of the texts; `N/A` for pictures.",
    "label": "Name of a label.",
    "labelId": "Id of a label of the dataset.",
    "labels": "Labels, in order of first appearance.",
    "modelId": "Id of the model.",
    "modelType": "What the model predicts: the type of its dataset.",
    "datasetId": "Id of the dataset.",
    "datasetVersionId": "Always 0; kept for clients of the old service.",
    "algorithm": "How the model is trained; without it the one of the dataset's type.",
    "offset": "How many records are left out before the first one of the page.",
    "count": "How many records the page has at most.",
    # errors
    "ErrorRecord.message": "What is wrong and how to mend it, for people.",
    "code": "A stable name of the error, for programs.",
    "detail": "The cause, where the old service fixes the text of `message`.",
    # tokens
    "access_token": "Goes into the header `Authorization: Bearer …` of every call.",
    "refresh_token": "Gets new access tokens without the key; given when the scope asks for it.",
    "token_type": "How the token is sent; always `Bearer`.",
    "expires_in": "Seconds that the access token lives.",
    "grant_type": "What the token is asked with: a signed assertion, or a refresh token.",
    "assertion": "A JWT signed with the account's private key by RS256, with `sub`, `aud`, `exp`.",
    "scope": "`offline` asks for a refresh token, too.",
    "valid_for": "Seconds that the new access token is to live.",
    "token": "The refresh token that is revoked.",
    # usage
    "UsageRecord.id": "Names the month.",
    "organizationId": "Id of the account.",
    "startsAt": "First moment of the month, in UTC.",
    "endsAt": "First moment of the next month, in UTC; then the count begins anew.",
    "planData": "The plan of the account.",
    "licenseId": "Names the plan's licence.",
    "predictionsRemaining": "Predictions that are left this month.",
    "predictionsUsed": "Predictions that were counted this month.",
    "predictionsMax": "Predictions that the plan allows a month.",
    "plan": "Name of the plan.",
    "amount": "How many of it the account has.",
    "source": "Where the plan comes from.",
    # datasets
    "labelSummary": "All labels of the dataset.",
    "totalExamples": "How many examples it has.",
    "totalLabels": "How many labels it has.",
    "available": "Whether it can be trained.",
    "statusMsg": "`UPLOADING`, `SUCCEEDED`, `FAILED: …` with the cause, or `DELETION_PENDING`.",
    "numOfDuplicates": "How many equal examples were left out, in all uploads.",
    "numExamples": "How many examples have the label.",
    "moved": "Examples that came to another label.",
    "changed": "Examples that have another wording.",
    "removed": "Examples that were taken out.",
    "added": "Boxes that are new.",
    "skipped": "Suspects that were left alone, because they were mended since the training.",
    "CorrectionRecord.id": "Its id in the list of corrections; absent where nothing was changed.",
    "CorrectionRecord.createdAt": "When it was done; absent where nothing was changed.",
    "CorrectionRecord.examples": "The example that was named, or all boxes of its picture, as they "
    "are now.",
    "example_id": "Id of an example of the dataset.",
    "NewDatasetForm.labels": "Names of labels, divided by commas; they have no examples yet.",
    "NewDatasetForm.type": "What the dataset will hold.",
    "dataset_id": "Id of a dataset.",
    "label_id": "Id of a label of the dataset, or its place among the labels.",
    "global": "Whether the datasets that ship with the service are listed, not the account's.",
    # uploads
    "data": "The file.",
    "path": "Address of the file, or the `path` of `POST /v2/uploads`; in place of `data`.",
    "UploadRecord.url": "Where the file is sent by POST, as a form.",
    "UploadRecord.fields": "Fields that go into the form, before the file, which is named `file`.",
    "UploadRecord.path": "Stands for the file where a call takes `path` or `sampleLocation`; once.",
    "IssueForm.name": "File name, for your own use.",
    "maxBytes": "Bytes that the file may have.",
    "ReceiptRecord.status": "How the upload ended: `SUCCEEDED` or `FAILED`.",
    "seen": "Rows, files or boxes that were read: kept, duplicates and rejected together.",
    "kept": "Those that became examples.",
    "duplicates": "Those that were there already.",
    "rejected": "Those that could not be used.",
    "rejections": "The first hundred that could not be used, each with its reason.",
    "row": "Number of the row, line, annotation or object in its file, from 1.",
    "RejectionRecord.file": "Name of the file in the archive.",
    "file": "Name of the file.",
    "asset": "Name of a file of the console.",
    "reason": "Why it could not be used.",
    "format": "What the file is; recognised where it is missing.",
    "delimiter": "What stands between the cells of a row; recognised where it is missing.",
    "textColumn": "Column or member of the texts, by name or position from 1.",
    "labelColumn": "Column or member of the labels, by name or position from 1.",
    "header": "Whether a row names the columns; recognised where it is missing.",
    "sheet": "Sheet of a workbook, by name or position from 1; the first where it is missing.",
    "strict": "Whether a warning is a refusal.",
    "shrink": "Whether pictures over the limit are scaled down instead of rejected.",
    "warnings": "What looks odd in the file: guesses, labels almost equal, contradictions.",
    "WarningRecord.code": "A stable name of what is odd, for programs.",
    "WarningRecord.message": "What is odd and how to mend it, for people.",
    "WarningRecord.count": "How often it was met.",
    "places": "The first 20 places where it was met: rows, labels, boxes.",
    "FormatRecord.kind": "What the file is.",
    "encoding": "Encoding of the texts; null where the kind has none.",
    "FormatRecord.delimiter": "What stands between cells; null where the kind has no cells.",
    "FormatRecord.header": "Whether a row names the columns; null where there are none.",
    "FormatRecord.textColumn": "Name or position of the texts' column; null where there is none.",
    "FormatRecord.labelColumn": "Name or position of the labels' column; null where there is none.",
    "ValidationRecord.format": "How the file was read.",
    "ValidationRecord.labels": "Labels of the file, in order of first appearance.",
    "isTrainable": "Whether a model could be trained from the file alone.",
    "reasons": "Why it could not; empty when it could.",
    # examples, feedback
    "ExampleRecord.name": "The text itself, or the picture's file name.",
    "thumbnail": "Of a picture: an address of a JPEG of at most 256 pixels a side, turned upright, "
    "that lives for 30 minutes. Made when an upload is read, or at the first look, at which it may "
    "be missing until the next one. With `width` and `height` of the picture itself.",
    "BrowsedExampleRecord.width": "Width of the picture as displayed, in pixels.",
    "BrowsedExampleRecord.height": "Its height.",
    "location": "The text itself, or an address of the picture that lives for 30 minutes.",
    "ExampleRecord.label": "The label that the example has.",
    "ExamplesQuery.source": "Whether examples of uploads, of feedback, or all are listed.",
    "NewPictureForm.name": "File name of the picture; that of `data` where it is missing.",
    "PictureFeedbackForm.name": "File name of the picture; that of `data` where it is missing.",
    "expectedLabel": "The right label, by its name.",
    "ExportForm.format": "Format of the file; those of the dataset's type are allowed.",
    "ExportForm.source": "Whether examples of uploads, of feedback, or all are exported.",
    "ExportRecord.format": "Format of the file.",
    "ExportRecord.source": "Which examples are exported.",
    "ExportRecord.examples": "Examples in the file; once it is written.",
    "bytes": "Length of the file; once it is written.",
    "ExportRecord.url": "Address of the file, which lives for 30 minutes; new at each call.",
    "ExportRecord.failureMsg": "Why the export failed.",
    "export_id": "Id of an export.",
    # webhooks
    "WebhookRecord.url": "Where events are posted to.",
    "WebhookChangesForm.url": "Another address, of the same kind.",
    "events": "What it is told of.",
    "description": "What its owner says of it.",
    "WebhookRecord.status": "`DISABLED` is told of nothing: after 24 hours of failures.",
    "WebhookRecord.failureMsg": "Why the last attempt failed; absent once one succeeds.",
    "secret": "Signs what is sent; shown once, when the webhook is made or its secret replaced.",
    "enabled": "Whether it is told of anything; `true` also ends a pause after failures.",
    "DeliveryRecord.id": "Id of the event, as the header `webhook-id` has it.",
    "event": "What happened.",
    "DeliveryRecord.status": "`PENDING` while it is tried, then `DELIVERED` or `FAILED`.",
    "attempts": "How often it was tried.",
    "responseStatus": "Status of the last answer, if there was one.",
    "DeliveryRecord.failureMsg": "Why the last attempt failed.",
    "nextAttemptAt": "When it is tried next; while it is pending.",
    "webhook_id": "Id of a webhook.",
    # batches
    "BatchForm.datasetId": "Dataset whose uploaded texts are answered.",
    "BatchForm.kind": "What is asked of each text; the model's type decides where it is missing.",
    "BatchForm.name": "Name of the batch; that of the file where it is missing.",
    "BatchForm.format": "Format of the result; csv holds the most probable label alone.",
    "PictureBatchForm.datasetId": "Dataset whose uploaded pictures are answered, each once.",
    "PictureBatchForm.kind": "What is asked of each file; the model's type decides where it is "
    "missing. `ocr` reads pictures and PDFs, and is not counted.",
    "PictureBatchForm.name": "Name of the batch; that of the file where it is missing.",
    "PictureBatchForm.format": "Format of the result; csv holds the most probable label alone, "
    "and nothing that is read in documents.",
    "BatchForm.textColumn": "Column or member of the texts, by name, or by position from 1 where "
    "no row names the columns; `text` where it is missing.",
    "RankingForm.datasetId": "Dataset whose uploaded texts are chosen from; the one the model has "
    "learnt has nothing new for it.",
    "RankingForm.count": "How many texts are chosen at most, 1 to 1,000.",
    "RankingForm.name": "Name of the batch; that of the file where it is missing.",
    "RankingForm.format": "Format of the result; csv, once its labels are right, can be uploaded.",
    "RankingForm.textColumn": "Column or member of the texts, by name, or by position from 1 where "
    "no row names the columns; `text` where it is missing.",
    "PictureRankingForm.datasetId": "Dataset whose uploaded pictures are chosen from, each once.",
    "PictureRankingForm.count": "How many pictures are chosen at most, 1 to 1,000.",
    "PictureRankingForm.name": "Name of the batch; that of the file where it is missing.",
    "PictureRankingForm.format": "Format of the result.",
    "partial": "Whether as many lines are answered as predictions are left; else all or none.",
    "BatchRecord.kind": "What is asked of each line; `rank` of rankings.",
    "BatchRecord.format": "Format of the result.",
    "counts": "How many lines there are.",
    "total": "Lines of the input; 0 until they are counted.",
    "done": "Lines that are answered, those with an error too.",
    "failed": "Lines that are answered with an error.",
    "resultUrl": "Address of the result, which lives for 30 minutes; new at each call.",
    "resultBytes": "Length of the result.",
    "BatchRecord.failureMsg": "Why the batch failed.",
    "batch_id": "Id of a batch.",
    "box": "Where the object is; of detection datasets.",
    "x": "Pixels from the left side of the picture as displayed.",
    "y": "Pixels from its top.",
    "width": "Width in pixels.",
    "height": "Height in pixels.",
    # trainings
    "TrainForm.name": "Name of the model.",
    "learningRate": "How fast the head learns; null or absent for the service's own choice.",
    "epochs": "Epochs at most; those that a caller names are one pass over the examples each.",
    "queuePosition": "Accepted trainings that go first; while the status is `QUEUED`.",
    "failureMsg": "Why the training failed.",
    "trainParams": "Further wishes of a training, as an object or as JSON text.",
    "trainStats": "What a training did that has ended; null before.",
    "trainSplitRatio": "Share of the examples that the model learns from; the others test it.",
    "withFeedback": "Whether examples that came as feedback are learnt from, too.",
    "withGlobalDatasetId": "Id of a dataset of the service that is learnt from, too.",
    "augmentData": "Whether altered copies of the pictures are learnt from, too. Without it and "
    "`epochs`, `object-detection` learns from those of up to 60 pictures, and mirrors over 200.",
    "profile": "Which encoders see the texts: `fast`, or `accurate`.",
    "outOfDomainRate": "Share of fitting texts that an intent model may answer with no label.",
    "TrainStatsRecord.labels": "How many labels were learnt.",
    "examples": "How many examples there were.",
    "totalTime": "From the beginning to the end.",
    "trainingTime": "Time that learning took.",
    "earlyStopping": "Whether learning ended before the last epoch, because nothing was gained.",
    "lastEpochDone": "The last epoch.",
    "modelSaveTime": "Time that saving the model took.",
    "testSplitSize": "How many examples tested the model.",
    "trainSplitSize": "How many examples the model learnt from.",
    "datasetLoadTime": "Time that reading the examples took.",
    "preProcessStats": "Always null; kept for clients of the old service.",
    "postProcessStats": "Always null; kept for clients of the old service.",
    # models
    "model_id": "Id of a model.",
    "MetricsRecord.id": "Id of the model.",
    "metricsData": "Figures by name: accuracy, F1, precision and recall by label, losses.",
    "epoch": "Number of the epoch, from 1.",
    "epochResults": "What was predicted for each example that tested the model.",
    "trainedOn": "What the model learnt from.",
    "engine": "What the model is made of: engine, version, networks with digests and licences.",
    "artifactSha256": "Digest of the model's file.",
    "metrics": "How good it is, each figure with its interval.",
    "limits": "What the model cannot do, in words.",
    "calibrationError": "How far probabilities and shares of right answers differ, on average.",
    "threshold": "Probability from which on a detection model's answers are worth showing; a hint.",
    "dataReport": "What is probably wrong in the data: labels, near-duplicates, mixed-up labels.",
    # predictions
    "document": "The text.",
    "numResults": "How many labels the answer has at most.",
    "sampleId": "What the caller sent as such, to match answers with samples.",
    "sampleContent": "The file of the picture or document.",
    "sampleLocation": "Address of the file, or the `path` of `POST /v2/uploads`.",
    "sampleBase64Content": "The file's bytes in base64.",
    "probabilities": "What was found, the most probable first.",
    "ProbabilityRecord.label": "The label.",
    "probability": "How sure the answer is, from 0 to 1.",
    "boundingBox": "Where it is, in pixels of the picture as displayed.",
    "minX": "Left side, in pixels from the left edge.",
    "minY": "Top, in pixels from the top edge.",
    "maxX": "Right side, in pixels from the left edge.",
    "maxY": "Bottom, in pixels from the top edge.",
    # documents
    "task": "What is looked for.",
    "TextItem.label": "The text.",
    "ContactItem.label": "The text.",
    "TableItem.label": "The text of the table, row by row.",
    "FormTableItem.label": "Always `table`.",
    "PairItem.label": "Always `key-value`.",
    "attributes": "What more is known of it.",
    "pageNumber": "Page, from 1.",
    "TextRecord.document": "The whole text in reading order, where `output` asks for it.",
    "TextRecord.probabilities": "Runs of text, in the order of the page.",
    "explanation": "What decided on the first label, where `explain` asks for it: the words of the "
    "text, or the cells of a grid over the picture; empty where no label fits.",
    "share": "What leaving it out changes in the log-odds of the first label, over the sum of all "
    "such changes, from -1 to 1; below 0 it spoke against the label.",
    "ExplainedRecord.text": "The words as they stand in the text.",
    "start": "Place of its first character in the text, from 0, counted in code points.",
    "end": "Place behind its last character.",
    "exampleId": "Id of the example; of a label that its picture lacks, the picture's first one.",
    "EvaluatedRecord.expectedLabel": "Its label when the model was trained; null: several labels a "
    "picture, and it has not this one.",
    "predictedLabel": "What was answered; null: that no label fits, or not this one.",
    "EvaluatedRecord.probability": "Probability of the most probable label; with several labels a "
    "picture, of the label in question.",
    "isRight": "Whether both labels are the same.",
    "low": "Lowest probability of the bin.",
    "high": "Highest probability of the bin.",
    "ReliabilityRecord.count": "Answers in the bin.",
    "ReliabilityRecord.probability": "Mean probability of these answers; 0 without any.",
    "accuracy": "Share of these answers that was right; 0 without any. The nearer to the mean "
    "probability, the better.",
    "pages": "Size of each page that was read, where `pages` asks for it.",
    "unread": "Where text was found but not read, where `layout` asks for it.",
    "tag": "What the text is on a business card.",
    "tableName": "Name of the table, unique in the answer.",
    "tableCount": "Number of tables in the answer.",
    "cells": "The cells, row by row.",
    "blockId": "Number of the pair or table, unique in the answer.",
    "text": "The text; empty when there is none.",
    "cellLocation": "Where the cell begins.",
    "rowCellLocation": "Its row, with what the row's header says.",
    "colCellLocation": "Its column, with what the column's header says.",
    "cellType": "Whether it is a header of its row or column, or neither.",
    "normalizedText": "The text as an address of the United States is written, if it is one.",
    "rowIndex": "Row, from 1.",
    "colIndex": "Column, from 1.",
    "index": "Number of the row or column, from 1.",
    "entity": "What it is, by the form template.",
    "CellLine.entity": "What the header says, or the name that the form template gives it.",
    "key": "What the form calls it.",
    "value": "What was filled in.",
    "OcrForm.formTemplate.version": "Version of the template's format.",
    "formTemplate": "What to look for, as an object or as JSON text.",
    "formType": "A template that ships with the service.",
    "keys": "Which values are looked for, and what forms call them.",
    "headerCells": "What headers of tables are called.",
    "OcrForm.formTemplate.headerCells.items.text": "What the header says.",
    "variations": "Further words for the same.",
    "output": "Whether the whole text is answered, too, as lines or as Markdown.",
    # the service itself
    "deletion_id": "Id of a deletion.",
    "DeletionRecord.type": "Whether a dataset or a model is deleted.",
    "deletedObjectId": "Id of what is deleted.",
    "HealthRecord.status": "Always `ok`: a service that is not does not answer.",
    "version": "Version of the service.",
    "engines": "State of each engine.",
    "engineParts": "The networks that the engines are made of.",
    "unsaved": "What would be lost if the service stopped now; absent when nothing would.",
    "EnginePartRecord.name": "Name of the network.",
    "state": "Whether it is loaded, installed, missing or damaged.",
    "title": "Its published name; null while it is not here.",
    "sha256": "Digest of its file; null while it is not here.",
    "since": "Since when nothing can be saved.",
    "datasets": "How many datasets would be lost or be older.",
    "models": "How many models would be lost or be older.",
}


def describe(schemas: Mapping[str, Schema]) -> None:
    """Give every member of every schema a description, in place."""
    for record, schema in schemas.items():
        for path, name, member in _members(record, schema):
            text = _word(record, path, name)
            if text and "description" not in member:
                member["description"] = text
            elif text and member["description"] == _ONLY_2:
                member["description"] = f"{text} {_ONLY_2}"


_ONLY_2 = "Not below /v1."


def word(owner: str, name: str) -> str:
    """Say what a field or parameter means; empty when nobody has said so."""
    return WORDS.get(f"{owner}.{name}") or WORDS.get(name, "")


def _word(record: str, path: str, name: str) -> str:
    return WORDS.get(f"{path}.{name}") or word(record, name)


def _members(path: str, schema: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Yield every member of a schema, those of inner schemas too, with the path of its owner."""
    for name, member in schema.get("properties", {}).items():
        yield path, name, member
        yield from _members(f"{path}.{name}", member)
    if isinstance(schema.get("items"), dict):
        yield from _members(f"{path}.items", schema["items"])
    for kind in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(kind, ()):
            yield from _members(path, choice)
