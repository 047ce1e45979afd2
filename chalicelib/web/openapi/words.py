"""Descriptions of members, fields and parameters in the OpenAPI document, by name.

Descriptions in declarations take precedence over this module. The entry `Record.member` takes
precedence over `member`. A test checks that each name has a description, and each entry is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib.domain.datasets.upload_format import ENCODINGS

Schema = dict[str, Any]

_ENCODING = (
    "Encoding of a text file, or of file names in an archive that are not UTF-8; detected if "
    f"absent. One of {', '.join(ENCODINGS)}, or another name of these."
)
_NAME_ENCODING = "Encoding of file names that are not UTF-8, as for texts; detected if absent."

WORDS: Mapping[str, str] = {
    # of every record
    "id": "Its id.",
    "object": "Kind of record; always the same text.",
    "name": "Name; any Unicode characters.",
    "createdAt": "When it was created: ISO 8601 in UTC, with milliseconds.",
    "updatedAt": "When it was last changed: ISO 8601 in UTC, with milliseconds.",
    "expiresAt": "When it expires: ISO 8601 in UTC, with milliseconds.",
    "message": "What happened, in a sentence; null if there is nothing to report.",
    "status": "Current status.",
    "progress": "Fraction that is done, from 0 to 1.",
    "type": "Type of the dataset.",
    "language": "Language of the texts; `N/A` for images.",
    "label": "Name of a label.",
    "labelId": "Id of a label of the dataset.",
    "labels": "Labels, in order of first appearance.",
    "modelId": "Id of the model.",
    "modelType": "Type of the dataset; of an unread import `text-unknown` or `image-unknown`.",
    "datasetId": "Id of the dataset.",
    "datasetVersionId": "Always 0; for clients of the old service.",
    "algorithm": "How the model is trained. The default depends on the dataset's type.",
    "offset": "Number of records to skip before the first one of the page.",
    "count": "Maximum number of records on the page.",
    # errors
    "ErrorRecord.message": "What is wrong and how to fix it, for people.",
    "code": "A stable error code, for programs.",
    "detail": "The cause, where the old service fixes the text of `message`; for a refused "
    "validation with `preview=true` the columns, first rows and sheets of the file.",
    # tokens
    "access_token": "Send it with every call in the header `Authorization: Bearer …`.",
    "refresh_token": "Gets new access tokens without the key; returned if the scope includes "
    "`offline`.",
    "token_type": "Type of the token; always `Bearer`.",
    "expires_in": "Lifetime of the access token in seconds.",
    "grant_type": "How the token is requested: with a signed assertion or a refresh token.",
    "assertion": "A JWT signed with the account's private key by RS256, with `sub`, `aud`, `exp`.",
    "scope": "`offline` also requests a refresh token.",
    "valid_for": "Lifetime of the new access token in seconds.",
    "token": "The refresh token to revoke.",
    # the account
    "AccountRecord.id": "Id of the account; the `organizationId` of other records.",
    "email": "Email address of the account.",
    "AccountRecord.scope": "What the token or API key may do; `all` is everything.",
    # API keys
    "ApiKeyRecord.scope": "What the key may do: `all` calls, or only `predict`.",
    "ApiKeyForm.scope": "What the key may do: `all` calls, or only `predict`: single predictions, "
    "OCR, metrics of a model, and usage.",
    "prefix": "First 8 characters of the key.",
    "lastUsedAt": "When the key was last used, to within a day; null before its first use.",
    "ApiKeyRecord.expiresAt": "When the key expires; null if it does not.",
    "ApiKeyRecord.secret": "The key, which is sent as `Authorization: Bearer pk_…`.",
    "key_id": "Id of an API key.",
    # usage
    "UsageRecord.id": "Id of the month.",
    "organizationId": "Id of the account.",
    "startsAt": "First moment of the month, in UTC.",
    "endsAt": "First moment of the next month, in UTC, when the count restarts.",
    "planData": "The plan of the account.",
    "licenseId": "Id of the plan's licence.",
    "predictionsRemaining": "Predictions left this month.",
    "predictionsUsed": "Predictions counted this month.",
    "predictionsMax": "Predictions that the plan allows per month.",
    "plan": "Name of the plan.",
    "amount": "How many the account has.",
    "source": "Where the plan comes from.",
    # datasets
    "labelSummary": "All labels of the dataset.",
    "totalExamples": "Number of examples.",
    "totalLabels": "Number of labels.",
    "available": "Whether the dataset can be trained.",
    "statusMsg": "`UPLOADING`, `SUCCEEDED`, `FAILED: …` with the cause, or `DELETION_PENDING`.",
    "numOfDuplicates": "Number of duplicate examples that were skipped, in all uploads.",
    "numExamples": "Number of examples with the label.",
    "moved": "Examples that moved to another label.",
    "changed": "Examples whose text changed.",
    "removed": "Examples that were removed.",
    "added": "Boxes that were added.",
    "skipped": "Suspects that were skipped because they were corrected after the training.",
    "CorrectionRecord.id": "Its id in the list of corrections; absent if nothing changed.",
    "CorrectionRecord.createdAt": "When it was made; absent if nothing changed.",
    "CorrectionRecord.examples": "The named example, or all boxes of its image, as they are now.",
    "example_id": "Id of an example of the dataset.",
    "NewDatasetForm.labels": "Names of labels, separated by commas. They start without examples.",
    "NewDatasetForm.type": "Type of the new dataset.",
    "dataset_id": "Id of a dataset.",
    "label_id": "Id of a label of the dataset, or its position among the labels.",
    "global": "Whether to list the datasets that ship with the service instead of the account's.",
    # uploads
    "data": "The file.",
    "path": "URL of the file, or the `path` of `POST /v2/uploads`; instead of `data`.",
    "UploadRecord.url": "URL to which you send the file as a form, by POST.",
    "UploadRecord.fields": "Form fields to send before the file. The file's field is named `file`.",
    "UploadRecord.path": "Reference to the file, for one call that takes `path` or "
    "`sampleLocation`.",
    "IssueForm.name": "File name, for your own use.",
    "maxBytes": "Maximum size of the file in bytes.",
    "ReceiptRecord.status": "How the upload ended: `SUCCEEDED` or `FAILED`.",
    "seen": "Rows, files or boxes that were read, including duplicates and rejected ones.",
    "kept": "Number that became examples.",
    "duplicates": "Number that were already in the dataset.",
    "rejected": "Number that could not be used.",
    "rejections": "The first 100 that could not be used, each with its reason.",
    "row": "Number of the row, line, annotation or object in its file, from 1.",
    "RejectionRecord.file": "Name of the file in the archive.",
    "file": "Name of the file.",
    "asset": "Name of a file of the console.",
    "reason": "Why it could not be used.",
    "format": "Format of the file; detected if absent.",
    "delimiter": "Separator of the cells in a row; detected if absent.",
    "textColumn": "Column or member with the texts, by name or by position from 1.",
    "labelColumn": "Column or member with the labels, by name or by position from 1.",
    "header": "Whether a row names the columns, or that row's number; detected if absent.",
    "UploadForm.encoding": _ENCODING,
    "ValidateForm.encoding": _ENCODING,
    "AddForm.encoding": _ENCODING,
    "OldChangesForm.encoding": _ENCODING,
    "PictureUploadForm.encoding": _NAME_ENCODING,
    "PictureValidateForm.encoding": _NAME_ENCODING,
    "labelSeparator": "Text of 1 to 3 characters between the labels of a cell of a label table; "
    "only for the type image-multi-label.",
    "sheet": "Sheet of a workbook, by name or by position from 1; default: the first one.",
    "strict": "Whether to refuse the file if there is a warning.",
    "shrink": "Whether to scale down images over the limit instead of rejecting them.",
    "warnings": "What looks odd in the file: guesses, almost equal labels, contradictions.",
    "WarningRecord.code": "A stable warning code, for programs.",
    "WarningRecord.message": "What is odd and how to fix it, for people.",
    "WarningRecord.count": "Number of occurrences.",
    "places": "The first 20 occurrences: rows, labels or boxes.",
    "FormatRecord.kind": "Format of the file.",
    "encoding": "Encoding of the texts; null if the format has none.",
    "FormatRecord.delimiter": "Separator of cells; null if the format has no cells.",
    "FormatRecord.header": "Whether a row names the columns; null if there are no columns.",
    "FormatRecord.textColumn": "Name or position of the text column; null if there is none.",
    "FormatRecord.labelColumn": "Name or position of the label column; null if there is none.",
    "ValidationRecord.format": "How the file was read.",
    "ValidationRecord.labels": "Labels of the file, in order of first appearance.",
    "ValidateForm.preview": "Whether to return the first 20 rows, the sheets and the columns, "
    "also in the `detail` of a refusal.",
    "PictureValidateForm.preview": "Whether to return the first 20 files with their labels.",
    "preview": "The first 20 rows, or files of an archive, as they were read.",
    "PreviewRowRecord.row": "Row of the table, object of JSON, or file of the archive, from 1.",
    "PreviewRowRecord.cells": "Cells of the row, members of the object as in `columns`, or parts "
    "of the path. At most 1,000 are shown, and long ones are cut.",
    "PreviewRowRecord.text": "Text of the example, or path of the image; null if it is unknown.",
    "PreviewRowRecord.label": "Label of the example; null if it is unknown.",
    "PreviewRowRecord.reason": "Why the row is rejected; null if it is not.",
    "sheets": "Sheets of a workbook; empty for other files.",
    "SheetRecord.name": "Name of the sheet.",
    "SheetRecord.rows": "Number of the last row with a cell.",
    "columns": "Columns of the table, or members of the objects; at most 1,000.",
    "position": "Position from 1.",
    "ColumnRecord.name": "Name in the header; null without one.",
    "samples": "The three most frequent values, shortened.",
    "distinct": "Number of different values in the first 1,000 rows.",
    "rank": "How well the column fits as text and as label, from 1.",
    "RankRecord.text": "Rank as text column, from 1.",
    "RankRecord.label": "Rank as label column, from 1.",
    "isTrainable": "Whether a model could be trained on the file alone.",
    "reasons": "Why not; empty if it could.",
    # examples, feedback
    "ExampleRecord.name": "The text itself, or the image's file name.",
    "thumbnail": "URL of a JPEG preview of an image, at most 256 pixels a side and turned upright, "
    "valid for 30 minutes. It is made when an upload is read or when the image is first shown, "
    "and may be absent until the next call. `width` and `height` are those of the image itself.",
    "BrowsedExampleRecord.width": "Width of the image as displayed, in pixels.",
    "BrowsedExampleRecord.height": "Height of the image as displayed, in pixels.",
    "location": "The text itself, or a URL of the image, valid for 30 minutes.",
    "ExampleRecord.label": "The example's label.",
    "ExamplesQuery.source": "Whether to list examples of uploads, of feedback, or all.",
    "NewPictureForm.name": "File name of the image; default: that of `data`.",
    "PictureFeedbackForm.name": "File name of the image; default: that of `data`.",
    "expectedLabel": "Name of the correct label.",
    "ExportForm.format": "Format of the file; the dataset's type decides which ones are allowed.",
    "ExportForm.source": "Whether to export examples of uploads, of feedback, or all.",
    "ExportRecord.format": "Format of the file.",
    "ExportRecord.source": "Which examples are exported.",
    "ExportRecord.examples": "Number of examples in the file, once it is written.",
    "bytes": "Size of the file in bytes, once it is written.",
    "ExportRecord.url": "URL of the file, valid for 30 minutes; each call returns a new one.",
    "ExportRecord.failureMsg": "Why the export failed.",
    "ModelExportForm.format": "`bundle` for `presage-runtime`, or `onnx`: one graph; both zipped.",
    "ModelExportRecord.format": "Format of the file.",
    "ModelExportRecord.modelVersion": "Number of the exported version.",
    "ModelExportRecord.url": "URL of the file, valid for 30 minutes; each call returns a new one.",
    "ModelExportRecord.failureMsg": "Why the export failed.",
    "export_id": "Id of an export.",
    "learning_id": "Id of a learned template.",
    "LearnForm.data": "Zip archive of at most 20 documents and 40 pages, with a file values.json: "
    "an array of objects with the name of a `file` and its `values`, the text of each entity.",
    "LearnForm.path": "URL or upload of that archive, instead of `data`.",
    # webhooks
    "WebhookRecord.url": "URL that receives the events.",
    "WebhookChangesForm.url": "New URL; the same rules apply.",
    "events": "Events that the webhook receives.",
    "description": "Your own description of the webhook.",
    "WebhookRecord.status": "`DISABLED` webhooks receive no events; set after 24 hours of "
    "failures.",
    "WebhookRecord.failureMsg": "Why the last attempt failed; absent once one succeeds.",
    "secret": "Signs the events; returned only when the webhook is created or its secret replaced.",
    "enabled": "Whether the webhook receives events; `true` also ends a pause after failures.",
    "DeliveryRecord.id": "Id of the event, equal to the header `webhook-id`.",
    "event": "Type of the event.",
    "DeliveryRecord.status": "`PENDING` while it is retried, then `DELIVERED` or `FAILED`.",
    "attempts": "Number of attempts.",
    "responseStatus": "HTTP status of the last response, if there was one.",
    "DeliveryRecord.failureMsg": "Why the last attempt failed.",
    "nextAttemptAt": "Time of the next attempt, while the delivery is pending.",
    "webhook_id": "Id of a webhook.",
    # batches
    "BatchForm.datasetId": "Dataset whose uploaded texts are predicted.",
    "BatchForm.kind": "What to predict for each text; default: what the model's type predicts.",
    "BatchForm.name": "Name of the batch; default: that of the file.",
    "BatchForm.format": "Format of the result; with `columns=answer`, csv and xlsx have only the "
    "most probable label.",
    "BatchForm.columns": "`input` returns every column of the file before the answer, in csv or "
    "xlsx.",
    "reviewBelow": "Adds a column `review` to csv and xlsx, which is `yes` where the probability "
    "is below this value from 0 to 1.",
    "PictureBatchForm.datasetId": "Dataset whose uploaded images are predicted, each once.",
    "PictureBatchForm.kind": "What to predict for each file; default: what the model's type "
    "predicts. `ocr` reads images and PDFs, and does not count as predictions.",
    "PictureBatchForm.name": "Name of the batch; default: that of the file.",
    "PictureBatchForm.format": "Format of the result; csv and xlsx cannot hold what is read from "
    "documents.",
    "PictureBatchForm.columns": "`input` returns `file`, the labels and `error`, as csv or xlsx.",
    "BatchForm.textColumn": "Columns or members with the texts: a name, a position from 1, or "
    "several as JSON array or with commas, which are joined by a blank line; default: `text`, "
    "else detected.",
    "RankingForm.datasetId": "Dataset whose uploaded texts are ranked; use another one than the "
    "model was trained on.",
    "RankingForm.count": "Maximum number of texts to select, 1 to 1,000.",
    "RankingForm.name": "Name of the batch; default: that of the file.",
    "RankingForm.format": "Format of the result; a csv can be uploaded once its labels are "
    "correct.",
    "RankingForm.textColumn": "Column or member with the texts, by name, or by position from 1 if "
    "no row names the columns; default: `text`.",
    "PictureRankingForm.datasetId": "Dataset whose uploaded images are ranked, each once.",
    "PictureRankingForm.count": "Maximum number of images to select, 1 to 1,000.",
    "PictureRankingForm.name": "Name of the batch; default: that of the file.",
    "PictureRankingForm.format": "Format of the result.",
    "partial": "Whether to predict as many lines as predictions are left. Otherwise all lines or "
    "none.",
    "BatchRecord.kind": "What is predicted for each line; `rank` for rankings.",
    "BatchRecord.format": "Format of the result.",
    "counts": "Numbers of lines.",
    "total": "Lines of the input; 0 until they are counted.",
    "done": "Lines that are finished, including those with an error.",
    "failed": "Lines that ended with an error.",
    "resultUrl": "URL of the result, valid for 30 minutes; each call returns a new one.",
    "resultBytes": "Size of the result in bytes.",
    "BatchRecord.failureMsg": "Why the batch failed.",
    "BatchRecord.warnings": "What was guessed about the file, such as its text column.",
    "batch_id": "Id of a batch.",
    "box": "Position of the object; in detection datasets.",
    "x": "Pixels from the left edge of the image as displayed.",
    "y": "Pixels from the top edge of the image as displayed.",
    "width": "Width in pixels.",
    "height": "Height in pixels.",
    # trainings
    "TrainForm.name": "Name of the model.",
    "learningRate": "Learning rate of the head; null or absent: the service chooses it.",
    "epochs": "Maximum number of epochs. If you set it, each epoch is one pass over the examples.",
    "queuePosition": "Number of trainings before this one, while its status is `QUEUED`.",
    "failureMsg": "Why the training failed.",
    "trainParams": "Further parameters of the training, as an object or as JSON text.",
    "trainStats": "Statistics of the finished training; null before.",
    "trainSplitRatio": "Fraction of the examples used for training; the others test the model.",
    "withFeedback": "Whether feedback examples are used, too.",
    "withGlobalDatasetId": "Id of a dataset of the service to train on in addition.",
    "augmentData": "Whether to train on altered copies of the images, too. If it and `epochs` are "
    "absent, `object-detection` uses such copies of up to 60 images, and mirrored ones of more "
    "than 200.",
    "profile": "Which encoders the text model uses: `fast` or `accurate`.",
    "skipSmallLabels": "Whether to leave out labels with fewer than `minimumExamples` instead of "
    "refusing the training; texts only. At least two labels must remain.",
    "minimumExamples": "Examples that each label needs, 0 to 5; texts only. Below 5 the model is "
    "also trained from the names and descriptions of the labels.",
    "unlabelled": "Up to 20,000 texts that improve a model with few examples: the id of a language "
    "dataset, whose labels are ignored, or the `path` of an upload, whose file is deleted.",
    "trainedFrom": "`examples`, `labelNames` or `both`.",
    "LabelDescriptionRecord.name": "Name of the label.",
    "LabelDescriptionRecord.description": "What the label means; empty without a description.",
    "textLimit": "Words of a text that the model reads, and training texts that have more.",
    "TextLimitRecord.words": "Words of a text that are read; the rest is ignored.",
    "cut": "Training texts that have more words.",
    "isRead": "False for words after the last one that the model reads; absent otherwise.",
    "skippedLabels": "Labels that were left out for `skipSmallLabels`, with their examples.",
    "outOfDomainRate": "Fraction of in-scope texts that an intent model may leave without a label.",
    "TrainStatsRecord.labels": "Number of labels the model was trained on.",
    "examples": "Number of examples.",
    "totalTime": "Duration of the whole training.",
    "trainingTime": "Duration of the training step alone.",
    "earlyStopping": "Whether training stopped before the last epoch because more epochs would not "
    "have improved the model.",
    "lastEpochDone": "Number of the last epoch.",
    "modelSaveTime": "Time to save the model.",
    "testSplitSize": "Number of examples in the test split.",
    "trainSplitSize": "Number of examples in the training split.",
    "datasetLoadTime": "Time to read the examples.",
    "preProcessStats": "Always null; for clients of the old service.",
    "postProcessStats": "Always null; for clients of the old service.",
    # models
    "model_id": "Id of a model.",
    "MetricsRecord.id": "Id of the model.",
    "metricsData": "Metrics by name: accuracy, F1, precision and recall by label, losses.",
    "epoch": "Number of the epoch, from 1.",
    "epochResults": "Prediction for each example of the test split.",
    "trainedOn": "Data that the model was trained on.",
    "engine": "Components of the model: engine, version, networks with digests and licences.",
    "artifactSha256": "SHA-256 of the model's file.",
    "metrics": "Quality of the model, each metric with its confidence interval.",
    "limits": "Limitations of the model.",
    "calibrationError": "Mean difference between predicted probability and observed accuracy.",
    "threshold": "Suggested minimum probability for showing detections.",
    "advice": "What would improve the model most, at most three entries; not for detection.",
    "AdviceRecord.code": "`mergeLabels`, `moreExamples`, `cutTexts`, `userWording` or others.",
    "AdviceRecord.message": "What to do, and why.",
    "expectedGain": "Expected gain, out of fold: accuracy, or multi-label mean average precision.",
    "thresholds": "Thresholds for target precisions, from out-of-fold answers; not for detection.",
    "TargetThresholdRecord.precision": "Target precision of the answers at or above the threshold.",
    "TargetThresholdRecord.threshold": "Lowest probability that reaches it; null if none does.",
    "TargetThresholdRecord.label": "The label, in cards of `image-multi-label` models.",
    "coverage": "Fraction of inputs, or of those with the label, expected to reach the threshold.",
    "coverageLow": "Lower end of its 95 % interval.",
    "coverageHigh": "Upper end of its 95 % interval.",
    "adjustment": "Texts of users that the version was adjusted to, and the effect; or "
    "`startedWithout`: the adjusted version that a training did not continue.",
    "imported": "Digest of the imported archive, and largest difference from its golden answers.",
    "dataReport": "Likely problems in the data: labels, near-duplicates, confused labels.",
    # predictions
    "document": "The text.",
    "numResults": "Maximum number of labels in the answer.",
    "sampleId": "Your own id of the sample, returned unchanged.",
    "sampleContent": "File of the image or document.",
    "sampleLocation": "URL of the file, or the `path` of `POST /v2/uploads`.",
    "sampleBase64Content": "The file's bytes in base64.",
    "probabilities": "Results, the most probable first.",
    "ProbabilityRecord.label": "The label.",
    "probability": "Probability, from 0 to 1.",
    "boundingBox": "Bounding box, in pixels of the image as displayed.",
    "minX": "Left side, in pixels from the left edge.",
    "minY": "Top, in pixels from the top edge.",
    "maxX": "Right side, in pixels from the left edge.",
    "maxY": "Bottom, in pixels from the top edge.",
    # documents
    "task": "What to look for.",
    "TextItem.label": "The text.",
    "ContactItem.label": "The text.",
    "TableItem.label": "The text of the table, row by row.",
    "FormTableItem.label": "Always `table`.",
    "PairItem.label": "Always `key-value`.",
    "attributes": "Further information about the result.",
    "pageNumber": "Page, from 1.",
    "TextRecord.document": "The whole text in reading order, if `output` requests it.",
    "TextRecord.probabilities": "Text runs, in the order of the page.",
    "explanation": "What the first label is based on, if `explain` requests it: words of the text, "
    "or cells of a grid over the image; empty if no label fits.",
    "share": "Change of the first label's log-odds when the part is left out, divided by the sum "
    "of all such changes, from -1 to 1; negative values speak against the label.",
    "ExplainedRecord.text": "The words as they are in the text.",
    "start": "Index of the first character in the text, from 0, in code points.",
    "end": "Index after the last character.",
    "exampleId": "Id of the example. If its image lacks the label: the image's first example.",
    "modelVersion": "Number of a version of the model. Without it, the served one answers.",
    "ModelVersionRecord.version": "Number of the version, from 1; never used again.",
    "ModelVersionRecord.isServed": "Whether predictions without `modelVersion` use it.",
    "ModelVersionRecord.notServedBecause": "Why the training did not serve it (`if-better`).",
    "ModelVersionRecord.servedBecause": "Why `if-better` served it without a comparison.",
    "ModelVersionRecord.metrics": "The metrics of its card, with 95 % intervals.",
    "ComparisonRecord.versions": "The two versions, in the order of the call.",
    "ComparisonRecord.accuracies": "Fraction of the common examples that each version gets right.",
    "ComparisonRecord.differenceLow": "Lower end of the 95 % interval of second minus first.",
    "ComparisonRecord.differenceHigh": "Upper end of that interval.",
    "ComparisonRecord.examples": "Held-out examples that both versions were evaluated on.",
    "EvaluatedRecord.expectedLabel": "Its label when the model was trained; null for an image with "
    "several labels that does not have this one.",
    "predictedLabel": "Predicted label; null if no label fits, or not this one.",
    "EvaluatedRecord.probability": "Probability of the most probable label, or, for images with "
    "several labels, of the label in question.",
    "isRight": "Whether both labels are equal.",
    "low": "Lowest probability of the bin.",
    "high": "Highest probability of the bin.",
    "ReliabilityRecord.count": "Number of predictions in the bin.",
    "ReliabilityRecord.probability": "Mean probability of these predictions; 0 if there are none.",
    "accuracy": "Fraction of these predictions that are correct; 0 if there are none. In a well "
    "calibrated model it is close to the mean probability.",
    "pages": "Size of each page that was read, if `pages` requests it.",
    "PageRecord.image": "URL of a JPEG of the page, valid for 30 minutes, if `pageImages` requests "
    "it.",
    "formFields": "Fields of the PDF's own form, if `formFields` requests them.",
    "FormFieldRecord.name": "Full name of the field in the PDF.",
    "FormFieldRecord.type": "Kind of the field; push buttons are left out.",
    "FormFieldRecord.value": "Value as text, empty without one; chosen options are separated by "
    "line feeds, a ticked button has the value that it exports.",
    "checked": "Whether a tick box or radio button is ticked; only they have it.",
    "pageNotes": "What the answer may lack, by page, if `layout` requests it.",
    "FieldPart.checked": "Whether the tick box of the value, or one of its list of boxes, is "
    "ticked, if `formFields` is true.",
    "PageNoteRecord.code": "What kind of note it is.",
    "PageNoteRecord.message": "The note in a sentence.",
    "unread": "Where text was detected but not read, if `layout` requests it.",
    "tag": "Role of the text on a business card.",
    "tableName": "Name of the table, unique in the answer.",
    "tableCount": "Number of tables in the answer.",
    "cells": "The cells, row by row.",
    "blockId": "Number of the pair or table, unique in the answer.",
    "text": "The text; empty if there is none.",
    "cellLocation": "Row and column where the cell starts.",
    "rowCellLocation": "Row of the cell, with the text of the row's header.",
    "colCellLocation": "Column of the cell, with the text of the column's header.",
    "cellType": "Whether the cell is a row header, a column header, or neither.",
    "normalizedText": "The text as a United States address, if it is one.",
    "rowIndex": "Row, from 1.",
    "colIndex": "Column, from 1.",
    "index": "Number of the row or column, from 1.",
    "entity": "Entity, as named by the form template.",
    "CellLine.entity": "Text of the header, or the name that the form template gives it.",
    "key": "Key of the field on the form.",
    "value": "Value that was filled in.",
    "OcrForm.formTemplate.version": "Version of the template's format.",
    "formTemplate": "What to look for, as an object or as JSON text.",
    "formType": "Name of a template that ships with the service.",
    "keys": "Values to look for, and how forms name them.",
    "headerCells": "Headers of tables.",
    "OcrForm.formTemplate.headerCells.items.text": "Text of the header.",
    "variations": "Other words for the same.",
    "output": "Whether to return the whole text, too, as lines or as Markdown.",
    # the service itself
    "deletion_id": "Id of a deletion.",
    "DeletionRecord.type": "Whether a dataset or a model is deleted.",
    "deletedObjectId": "Id of the deleted object.",
    "HealthRecord.status": "Always `ok`.",
    "version": "Version of the service.",
    "engines": "State of each engine.",
    "engineParts": "The networks that the engines are made of.",
    "unsaved": "What would be lost if the service stopped now; absent if nothing would.",
    "EnginePartRecord.name": "Name of the network.",
    "state": "Whether it is loaded, installed, missing or damaged.",
    "title": "Published name of the network; null if it is not installed.",
    "sha256": "SHA-256 of its file; null if it is not installed.",
    "since": "Time since which saving has failed.",
    "datasets": "Number of datasets that would be lost or be out of date.",
    "models": "Number of models that would be lost or be out of date.",
}


def describe(schemas: Mapping[str, Schema]) -> None:
    """Add a description to every member of every schema, in place."""
    for record, schema in schemas.items():
        for path, name, member in _members(record, schema):
            text = _word(record, path, name)
            if text and "description" not in member:
                member["description"] = text
            elif text and member["description"] == _ONLY_2:
                member["description"] = f"{text} {_ONLY_2}"


_ONLY_2 = "Not below /v1."


def word(owner: str, name: str) -> str:
    """Return the description of a field of the struct `owner`; "" if there is none."""
    return WORDS.get(f"{owner}.{name}") or WORDS.get(name, "")


def _word(record: str, path: str, name: str) -> str:
    return WORDS.get(f"{path}.{name}") or word(record, name)


def _members(path: str, schema: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Yield (owner's path, name, schema) for each member of a schema and of its inner schemas."""
    for name, member in schema.get("properties", {}).items():
        yield path, name, member
        yield from _members(f"{path}.{name}", member)
    if isinstance(schema.get("items"), dict):
        yield from _members(f"{path}.items", schema["items"])
    for kind in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(kind, ()):
            yield from _members(path, choice)
