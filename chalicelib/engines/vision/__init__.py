"""Trains image models: frozen networks compute features, and heads are trained on these.

`registry` selects the engine. `backbone` and the extractors compute features of images, and
`features` stores them. `similarity` finds near-duplicates before the split. `linear_head` trains
models of `classification` and `multi_label`; `detection` has its own stages. `checkpoint` saves a
training between two steps. `prebuilt` predicts without training.
"""
