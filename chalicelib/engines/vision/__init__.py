"""Trains on images: frozen networks give features, and heads on them are trained step by step.

In the order of use: `registry` selects the engine; `backbone` and the extractors compute features
of images; `features` stores them; `similarity` finds near-duplicates before the split;
`linear_head` trains for `classification` and `multi_label` (training, pipeline, fit, linear), and
`detection` has its own stages (views, head, training, inference, evaluation, report); `checkpoint`
saves a training between two steps. `prebuilt` answers without training.
"""
