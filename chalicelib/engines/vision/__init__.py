"""Trains image models: frozen networks compute features, and heads are trained on the features.

`registry` selects the engine. `backbone` and the extractors compute features of images, and
`features` stores them. `similarity` finds near-duplicates before the split. `linear_head` trains
models of `classification` and `multi_label`; `detection` has its own stages. `checkpoint` stores
the state of a training that is not finished. `prebuilt` contains models that need no training.
"""
