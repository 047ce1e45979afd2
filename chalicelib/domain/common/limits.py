"""Limits from the specification's table and from the contract, each with its source."""

from __future__ import annotations

# Text upload file: 25 MB. Contract section 5, Limits.
MAX_TEXT_FILE_BYTES = 25 * 1024 * 1024
# A text or `document`: 20,000 characters. Contract section 5, Limits.
MAX_TEXT_CHARACTERS = 20_000
# Zip sent in the call: 50 MB. Contract section 5, Limits.
MAX_ARCHIVE_BYTES_IN_CALL = 50 * 1024 * 1024
# Zip by `path`: 2 GB. Contract section 5, Limits.
MAX_ARCHIVE_BYTES_BY_PATH = 2 * 1024**3
# A presigned form and its file: an hour. Contract section 5, uploads.
UPLOAD_FORM_SECONDS = 3600
# Entries of a zip: 100,000. Contract section 5, Limits.
MAX_ARCHIVE_ENTRIES = 100_000
# Dataset image: 1 MB. Contract section 5, Limits.
MAX_IMAGE_BYTES = 1024 * 1024
# Detection image: 5 MB. Spec: Limits, Detection image size.
MAX_DETECTION_IMAGE_BYTES = 5 * 1024 * 1024
# Image to predict: 5 MB. Contract section 5, Limits.
MAX_PREDICTED_IMAGE_BYTES = 5 * 1024 * 1024
# Image or PDF for OCR: 10 MB. Spec: Limits, OCR file size.
MAX_OCR_BYTES = 10 * 1024 * 1024
# Pages of a PDF for OCR, by task. Spec: Limits, OCR pages.
MAX_OCR_PAGES = {"text": 8, "table": 8, "form": 8, "contact": 5}
# Words of an image for OCR; a PDF has no such limit. Spec: Limits, OCR words.
MAX_OCR_WORDS = 600
# Text lines of a page that is searched for contacts or fields. It bounds the search time and is far
# beyond any form.
MAX_OCR_LINES = 1_000
# An answer that is not a list stays below 5 MB, because a function can return only 6 MB.
MAX_ANSWER_BYTES = 5_000_000
# Image file names are cut to 150. Spec: Limits, Image file name length.
MAX_IMAGE_NAME_CHARACTERS = 150
# Temporary image URL: 30 minutes. Spec: Limits.
IMAGE_URL_SECONDS = 1800
# Epochs of image trainings unless sent. Contract section 5.
DEFAULT_EPOCHS = {"image": 30, "image-multi-label": 30, "image-detection": 20}
# Learning rate of image trainings unless sent. Contract section 5.
DEFAULT_LEARNING_RATE = 0.001
# Labels of an image prediction unless `numResults` is sent. Contract section 5.
TOP_LABELS = 5
# Test examples that a learning curve record lists. Contract section 4.
MAX_EPOCH_RESULTS = 1_000
# Maximum dataset size: 2 GB. Spec: Limits.
MAX_DATASET_BYTES = 2 * 1024**3
# Examples of a dataset: 1,000,000. Contract section 5, Limits.
MAX_DATASET_EXAMPLES = 1_000_000
# Labels of a dataset: 1,000. Contract section 5, Limits.
MAX_LABELS = 1_000
# Names of datasets, models and labels: 180 characters. Contract section 5, Limits.
MAX_NAME_CHARACTERS = 180
# A dataset name taken from a file name is cut to 100. Contract section 5, Limits.
MAX_DERIVED_NAME_CHARACTERS = 100
# Words of a text dataset that can be trained. Spec: Limits, Text dataset size.
MAX_TRAINING_WORDS = 3_000_000
# Examples of each label of a text dataset in training. Spec: Limits, Minimum examples.
MIN_EXAMPLES_PER_LABEL = 5
# Texts of `trainParams.unlabelled`. beyond.md, section 15.
MAX_UNLABELLED = 20_000
# Labels that training needs. Contract section 5, Enough examples.
MIN_LABELS = 2
# Fraction of a text dataset that is trained on. Spec: Limits, Default split ratio.
TEXT_SPLIT_RATIO = 0.8
# Fraction of in-domain texts that an out-of-domain model may reject. Contract section 5.
OUT_OF_DOMAIN_RATE = 0.05
# Fraction of an image dataset that is trained on. Contract section 5.
VISION_SPLIT_RATIO = 0.9
# Page size of dataset lists. Spec: Limits.
DATASETS_PAGE = 25
LABELS_PAGE = 100
# Page size of example lists. Spec: Limits.
EXAMPLES_PAGE = 100
# Maximum number of datasets that one call can delete.
DELETIONS_PAGE = 100
# Page size of model lists. Contract section 5.
MODELS_PAGE = 100
# Page size of learning curves. Spec: Limits.
EPOCHS_PAGE = 25
# Page size of receipt lists. Contract section 5.
RECEIPTS_PAGE = 25
# A page of a list stays below 5 MB. Contract section 1, Lists.
MAX_PAGE_BYTES = 5_000_000
# A deployed function may return 6 MiB, including headers and the JSON escaping of the body.
MAX_FUNCTION_BYTES = 6_000_000
# A request body: the largest file that can be sent in a call (50 MB zip) and its fields.
MAX_BODY_BYTES = 52 * 1024 * 1024
# Rejections that a receipt lists. Contract section 5, receipts.
MAX_REJECTIONS = 100
# Longest life of an access token: 30 days. Contract section 2.
MAX_TOKEN_SECONDS = 30 * 24 * 3600
# Life of an access token from a refresh token. Contract section 2.
DEFAULT_REFRESHED_SECONDS = 60
# Allowed `epochs`. Contract section 5.
EPOCHS_RANGE = (1, 1000)
# Allowed `learningRate`. Contract section 5.
LEARNING_RATE_RANGE = (0.0001, 0.01)
