"""Trains image models: frozen networks compute features, and heads are trained on the features.

`registry` selects the engine; `backbone` and the extractors compute features of images, `features`
stores them; `similarity` finds near-duplicates before the split. `linear_head` trains models of
`classification` and `multi_label`; `detection` has separate stages. `checkpoint` saves a training
between two steps. `prebuilt` predicts without training.
"""
